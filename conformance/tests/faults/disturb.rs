//! What goes wrong, at random: on the way to the server, in the server, and with the rights to ask it.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use conformance::real_server::{Part, RealServer, ServerError};
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use tokio::time::{Instant, sleep};

use crate::proxy::{Mode, Proxy};
use crate::webhook::Webhook;

/// One thing that goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fault {
    Cut,
    BreakMidFrame,
    Silence,
    SilenceThenCut,
    Refuse,
    Slow,
    SuspendApiServer,
    KillApiServer,
    SuspendEtcd,
    KillEtcd,
    RevokeToken,
    WithdrawRights,
}

/// One round: in random order, each at least once. The two of etcd, which take longest, take turns.
const ROUND: [Fault; 15] = [
    Fault::Cut,
    Fault::Cut,
    Fault::Cut,
    Fault::BreakMidFrame,
    Fault::BreakMidFrame,
    Fault::BreakMidFrame,
    Fault::Silence,
    Fault::SilenceThenCut,
    Fault::Refuse,
    Fault::Slow,
    Fault::SuspendApiServer,
    Fault::KillApiServer,
    Fault::KillApiServer,
    Fault::RevokeToken,
    Fault::WithdrawRights,
];

/// How long etcd is away.
const ETCD_OUTAGE: Duration = Duration::from_secs(20);
/// How long the API server believes what it was told of a token, and a little more.
pub(crate) const TOKEN_CACHE: Duration = Duration::from_millis(500);

/// The user whose rights come and go; also its token.
pub(crate) const USER: &str = "watcher";

/// Whoever disturbs.
pub(crate) struct Disturber<'a> {
    pub(crate) server: &'a RealServer,
    pub(crate) proxy: &'a Proxy,
    pub(crate) webhook: &'a Webhook,
    rng: StdRng,
    done: BTreeMap<Fault, u32>,
}

impl<'a> Disturber<'a> {
    pub(crate) fn new(server: &'a RealServer, proxy: &'a Proxy, webhook: &'a Webhook, seed: u64) -> Self {
        Self {
            server,
            proxy,
            webhook,
            rng: StdRng::seed_from_u64(seed),
            done: BTreeMap::new(),
        }
    }

    /// Disturbs for about so long, but not without a whole round; in the end all is well again.
    pub(crate) async fn disturb(mut self, time: Duration) -> Result<BTreeMap<Fault, u32>, ServerError> {
        let end = Instant::now() + time;
        let mut etcd = [Fault::SuspendEtcd, Fault::KillEtcd];
        etcd.shuffle(&mut self.rng);
        let mut etcd = etcd.into_iter().cycle();
        let mut round = VecDeque::new();
        let mut rounds = 0;
        while rounds == 0 || Instant::now() < end {
            if round.is_empty() {
                let mut next: Vec<_> = ROUND.into_iter().chain(etcd.next()).collect();
                next.shuffle(&mut self.rng);
                round.extend(next);
            }
            let Some(fault) = round.pop_front() else { break };
            rounds += u32::from(round.is_empty());
            self.cause(fault).await?;
            *self.done.entry(fault).or_default() += 1;
            self.time(0, 2500).await;
        }
        self.proxy.set(Mode::Pass);
        Ok(self.done)
    }

    /// Lets some time pass, in milliseconds.
    async fn time(&mut self, least: u64, most: u64) {
        sleep(Duration::from_millis(self.rng.random_range(least..=most))).await;
    }

    async fn cause(&mut self, fault: Fault) -> Result<(), ServerError> {
        match fault {
            Fault::Cut => self.proxy.cut(),
            Fault::BreakMidFrame => {
                self.proxy.set(Mode::BreakAfter(self.rng.random_range(1..20_000)));
                self.time(300, 1500).await;
            }
            Fault::Silence | Fault::SilenceThenCut => {
                self.proxy.set(Mode::Silent);
                self.time(1000, 5000).await;
                if fault == Fault::SilenceThenCut {
                    self.proxy.cut();
                }
            }
            Fault::Refuse => {
                self.proxy.set(Mode::Refuse);
                self.proxy.cut();
                self.time(1000, 4000).await;
            }
            Fault::Slow => {
                self.proxy.set(Mode::Slow);
                self.time(2000, 5000).await;
            }
            Fault::SuspendApiServer => {
                self.server.suspend(Part::ApiServer)?;
                self.time(1000, 5000).await;
                self.server.resume(Part::ApiServer)?;
            }
            Fault::KillApiServer => {
                self.server.kill(Part::ApiServer)?;
                self.time(0, 1000).await;
                self.server.start_again(Part::ApiServer)?;
                self.server.ready().await?;
            }
            Fault::SuspendEtcd | Fault::KillEtcd => self.stop_etcd(fault).await?,
            Fault::RevokeToken | Fault::WithdrawRights => self.withdraw(fault).await?,
        }
        self.proxy.set(Mode::Pass);
        Ok(())
    }

    async fn stop_etcd(&mut self, fault: Fault) -> Result<(), ServerError> {
        if fault == Fault::SuspendEtcd {
            self.server.suspend(Part::Etcd)?;
        } else {
            self.server.kill(Part::Etcd)?;
        }
        // Watches go on; whoever asks again waits, or is told that there is no answer.
        sleep(ETCD_OUTAGE / 2).await;
        self.proxy.cut();
        sleep(ETCD_OUTAGE / 2).await;
        if fault == Fault::SuspendEtcd {
            self.server.resume(Part::Etcd)?;
        } else {
            self.server.start_again(Part::Etcd)?;
        }
        self.server.ready().await
    }

    /// Open watches go on at a real server, so connections are cut too.
    async fn withdraw(&mut self, fault: Fault) -> Result<(), ServerError> {
        let token = fault == Fault::RevokeToken;
        if token {
            self.webhook.set_good(false);
            sleep(2 * TOKEN_CACHE).await;
        } else {
            self.insist(false).await?;
        }
        self.proxy.cut();
        self.time(2500, 5000).await;
        if token {
            self.webhook.set_good(true);
        } else {
            self.insist(true).await?;
        }
        Ok(())
    }

    /// Gives or withdraws the right to watch, also from a server that has just had trouble.
    async fn insist(&self, allow: bool) -> Result<(), ServerError> {
        let mut attempts = 20;
        loop {
            let result = match allow {
                true => self.server.allow(USER, "", "configmaps").await,
                false => self.server.forbid(USER, "", "configmaps").await,
            };
            attempts -= 1;
            if result.is_ok() || attempts == 0 {
                return result;
            }
            sleep(Duration::from_millis(500)).await;
        }
    }
}
