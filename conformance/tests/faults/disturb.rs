//! What goes wrong, at random: on the way to the server, in the server, and with the rights to ask it.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use conformance::real_server::{Part, RealServer, ServerError};
use kube_informer::source::ErrorClass;
use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use tokio::time::{Instant, sleep};

use crate::follower::Errors;
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
/// Within which time an informer notices that its watch has ended and that it is not welcome: when watches ended early
/// again and again, the next one comes half a minute after the last.
const NOTICE: Duration = Duration::from_secs(45);

/// The user whose rights come and go; also its token.
pub(crate) const USER: &str = "watcher";

/// Whoever disturbs.
pub(crate) struct Disturber<'a> {
    server: &'a RealServer,
    proxy: &'a Proxy,
    webhook: &'a Webhook,
    /// A client with the token, past the proxy.
    user: kube::Client,
    /// Those who must notice when they are not welcome.
    informers: Vec<Errors>,
    rng: StdRng,
    done: BTreeMap<Fault, u32>,
}

impl<'a> Disturber<'a> {
    pub(crate) fn new(
        server: &'a RealServer,
        proxy: &'a Proxy,
        webhook: &'a Webhook,
        user: kube::Client,
        informers: Vec<Errors>,
        seed: u64,
    ) -> Self {
        Self {
            server,
            proxy,
            webhook,
            user,
            informers,
            rng: StdRng::seed_from_u64(seed),
            done: BTreeMap::new(),
        }
    }

    /// Disturbs for about so long, but not without a whole round; in the end all is well again.
    #[allow(clippy::print_stdout)]
    pub(crate) async fn disturb(mut self, time: Duration) -> Result<BTreeMap<Fault, u32>, ServerError> {
        let start = Instant::now();
        let end = start + time;
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
            let before = Instant::now();
            self.cause(fault).await?;
            let (from, to) = (before - start, start.elapsed());
            println!(
                "{:5.1} to {:5.1} s: {fault:?}",
                from.as_secs_f64(),
                to.as_secs_f64()
            );
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
        let class = match token {
            true => ErrorClass::Unauthorized,
            false => ErrorClass::Forbidden,
        };
        let met_before: Vec<_> = self.informers.iter().map(|errors| errors.count(class)).collect();
        if token {
            self.webhook.set_good(false);
            self.wait_for_token(false).await;
        } else {
            self.insist(false).await?;
        }
        self.proxy.cut();
        self.time(1000, 4000).await;
        let deadline = Instant::now() + NOTICE;
        while let Some((errors, _)) =
            (self.informers.iter().zip(&met_before)).find(|(errors, before)| errors.count(class) == **before)
        {
            assert!(Instant::now() < deadline, "{errors:?} lack a new {class:?}");
            sleep(Duration::from_millis(50)).await;
        }
        if token {
            self.webhook.set_good(true);
            self.wait_for_token(true).await;
        } else {
            self.insist(true).await?;
        }
        Ok(())
    }

    /// Waits until the server thinks so of the token.
    async fn wait_for_token(&self, good: bool) {
        let request = || http::Request::get("/api").body(vec![]).expect("a request");
        let unauthorized = |answer: Result<String, kube::Error>| match answer {
            Ok(_) => Some(false),
            Err(kube::Error::Api(status)) => Some(status.code == 401),
            Err(_) => None,
        };
        while unauthorized(self.user.request_text(request()).await) != Some(!good) {
            sleep(Duration::from_millis(100)).await;
        }
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
