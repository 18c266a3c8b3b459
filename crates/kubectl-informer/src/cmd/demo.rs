//! `demo`: shows what an informer does, on a simulated cluster in this process.
//!
//! On a terminal it is played on a [`stage`]. Elsewhere it starts the simulator, then informers that reach it over HTTP, and
//! prints the initial sync, some lookups, and a line each second while objects change. Then it stops the changes, waits until
//! all have been processed, and compares each copy of the cluster with the server's: the caches, the index, and the workers'
//! records.

mod compare;
mod follower;
mod screen;
mod stage;
mod workers;

use crate::args::DemoArgs;
use crate::connection::Connection;
use crate::process::Memory;
use crate::progress;
use crate::signals::{Meaning, Stop};
use anyhow::{Context as _, bail};
use compare::Comparison;
use k8s_openapi::api::core::v1::{Node, Pod};
use kube_informer::store::Index;
use kube_informer::{ResourceVersion, SharedInformer, SharedInformerFactory};
use kube_sim::{SimBuilder, SimServer};
use screen::Screen;
use std::io::IsTerminal as _;
use std::process::ExitCode;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;
use workers::Workers;

/// The interval of the simulator's bookmarks. A real server sends them every minute; here the nodes' informer should
/// soon learn of a version at which only a pod has changed.
const BOOKMARKS: Duration = Duration::from_millis(250);
/// The interval of the lines while objects change.
const TICK: Duration = Duration::from_secs(1);
/// The time limit for steps that usually take no time, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(300);
/// What has gone wrong if there is no server.
const CANNOT_START: &str = "cannot start the simulated API server";

pub(crate) use follower::run as follow;

pub(crate) async fn run(args: DemoArgs) -> anyhow::Result<ExitCode> {
    let stop = Stop::on_signal(Meaning::End, None)?.token;
    // It takes some seconds of one thread.
    let starting = tokio::spawn(builder(&args).start());
    if has_screen() {
        return Ok(exit_code(stage::play(&args, starting, &stop).await?));
    }
    let server = tokio::select! {
        server = progress::during("making the simulated cluster", starting) => server?,
        () = stop.cancelled() => return Ok(ExitCode::SUCCESS),
    };
    let server = server.context(CANNOT_START)?;
    let screen = Screen::new();
    introduce(&screen, &args, &server)?;
    let demo = Demo::new(&server)?;
    let outcome = tokio::select! {
        outcome = demo.play(&args, &screen, &server, &stop) => outcome,
        failure = demo.factory.failed() => Err(failure.into()),
    };
    let stopped = demo.factory.shutdown().await;
    server.shutdown().await;
    let differs = outcome?;
    stopped?;
    Ok(exit_code(differs))
}

fn exit_code(differs: bool) -> ExitCode {
    match differs {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    }
}

/// Whether the output is a terminal that can be a screen.
fn has_screen() -> bool {
    let dumb = std::env::var("TERM").is_ok_and(|term| term == "dumb");
    std::io::stdout().is_terminal() && !dumb
}

/// The simulated cluster, before it is started.
fn builder(args: &DemoArgs) -> SimBuilder {
    SimServer::builder()
        .nodes(args.nodes)
        .pods(args.pods)
        .churn(args.churn)
        .seed(args.seed)
        .bookmark_interval(BOOKMARKS)
}

fn introduce(screen: &Screen, args: &DemoArgs, server: &SimServer) -> anyhow::Result<()> {
    let DemoArgs {
        nodes,
        pods,
        churn,
        seed,
        ..
    } = args;
    screen.say(&format!(
        "kube-informer demo: a simulated Kubernetes API server, and informers that follow it over HTTP.\n\n  \
         server      {}: {nodes} nodes, {pods} pods, {churn} changes a second (seed {seed})\n  \
         informers   nodes and pods, kept in memory as Rust types; an index of pods by node\n  \
         handlers    add the key of whatever changed to a work queue, from which two workers take it\n",
        server.url()
    ))
}

/// The informers and their users.
struct Demo {
    factory: SharedInformerFactory,
    nodes: SharedInformer<Node>,
    pods: SharedInformer<Pod>,
    by_node: Index<String>,
    workers: Workers,
    connection: Connection,
}

impl Demo {
    fn new(server: &SimServer) -> anyhow::Result<Self> {
        let connection = Connection::with_config(kube::Config::new(server.url().parse()?))?;
        let factory = SharedInformerFactory::new(connection.client.clone());
        let (nodes, pods) = (factory.informer::<Node>(), factory.informer::<Pod>());
        let by_node = pods
            .store()
            .add_index("by-node", |pod| pod.spec.as_ref()?.node_name.clone())?;
        let workers = Workers::start(&nodes, &pods)?;
        Ok(Self {
            factory,
            nodes,
            pods,
            by_node,
            workers,
            connection,
        })
    }

    /// Runs the whole demo. Returns whether anything differs at the end.
    async fn play(
        &self,
        args: &DemoArgs,
        screen: &Screen,
        server: &SimServer,
        stop: &CancellationToken,
    ) -> anyhow::Result<bool> {
        self.sync(screen, stop).await?;
        if self.nodes.has_synced() && self.pods.has_synced() {
            self.look_up(screen)?;
            self.follow(args.period, screen, stop).await?;
        } else {
            bail!("stopped before the informers had synced");
        }
        let version = self.settle(screen, server).await?;
        self.judge(screen, &version).await
    }

    /// Starts the informers and waits until they are full.
    async fn sync(&self, screen: &Screen, stop: &CancellationToken) -> anyhow::Result<()> {
        let started = Instant::now();
        screen.say("initial sync ...")?;
        self.factory.start();
        tokio::select! {
            synced = self.factory.wait_for_sync(PATIENCE) => synced?,
            () = stop.cancelled() => return Ok(()),
        };
        screen.say(&format!(
            "synced: {} nodes and {} pods in {:.2} s\n",
            self.nodes.store().len(),
            self.pods.store().len(),
            started.elapsed().as_secs_f64()
        ))
    }

    /// Shows how the cache is read.
    fn look_up(&self, screen: &Screen) -> anyhow::Result<()> {
        screen.say("A lookup now reads memory; nothing is asked of the server:")?;
        let (lister, store) = (self.pods.lister(), self.pods.store());
        let Some(key) = store.list_keys().into_iter().min() else {
            return screen.say("  (there are no pods to look up)\n");
        };
        let say = |call: String, answer: String, took: Duration| {
            screen.say(&format!("  {call:<56} {answer:<14} {took:.1?}"))
        };
        let (pod, took) = timed(|| lister.get(&key));
        let node = pod?
            .spec
            .as_ref()
            .and_then(|spec| spec.node_name.clone())
            .unwrap_or_default();
        say(format!("pods.get({:?})", &*key), format!("on {node}"), took)?;
        let namespace = key.namespace().unwrap_or_default();
        let (found, took) = timed(|| lister.namespace(namespace).list());
        say(
            format!("pods.namespace({namespace:?}).list()"),
            format!("{} pods", found.len()),
            took,
        )?;
        let (found, took) = timed(|| store.by_index(&self.by_node, &*node));
        say(
            format!("pods.by_index(by_node, {node:?})"),
            format!("{} pods", found?.len()),
            took,
        )?;
        screen.say("\nNow the cluster changes, and the informers follow:")
    }

    /// Shows changes as they arrive, until the time is over.
    async fn follow(
        &self,
        period: Duration,
        screen: &Screen,
        stop: &CancellationToken,
    ) -> anyhow::Result<()> {
        let end = tokio::time::sleep(period);
        tokio::pin!(end);
        let mut ticks = tokio::time::interval(TICK);
        ticks.tick().await;
        let (started, mut seen, mut last) = (Instant::now(), self.workers.events(), Instant::now());
        for round in 0.. {
            tokio::select! {
                () = &mut end => break,
                () = stop.cancelled() => break,
                _ = ticks.tick() => {}
            }
            let events = self.workers.events();
            let rate = (events - seen) as f64 / last.elapsed().as_secs_f64();
            (seen, last) = (events, Instant::now());
            screen.show(
                &self.live_line(started.elapsed(), rate),
                &self.lookup_line(round)?,
            )?;
        }
        Ok(())
    }

    fn live_line(&self, elapsed: Duration, rate: f64) -> String {
        let (nodes, pods) = (self.nodes.status(), self.pods.status());
        let handlers = [self.nodes.handlers(), self.pods.handlers()].concat();
        let waiting: usize = handlers.iter().map(|(_, waiting)| waiting).sum();
        format!(
            "{:>3} s  {} objects  {rate:>4.0} events/s  queued: informers {}, handlers {waiting}, work {}  version {}  \
             memory {:.0} MiB (simulator included)",
            elapsed.as_secs(),
            nodes.objects + pods.objects,
            nodes.queued + pods.queued,
            self.workers.queued(),
            pods.applied
                .map(|version| version.to_string())
                .unwrap_or_default(),
            Memory::now().rss_mib,
        )
    }

    /// Looks up another node each time, and the number of pods that the index has for it.
    fn lookup_line(&self, round: usize) -> anyhow::Result<String> {
        let mut nodes = self.nodes.store().list_keys();
        nodes.sort();
        let Some(node) = nodes.get(round % nodes.len().max(1)) else {
            return Ok(String::new());
        };
        let (pods, took) = timed(|| self.pods.store().by_index(&self.by_node, &**node));
        let pods = pods?;
        let running = |pod: &&std::sync::Arc<Pod>| {
            pod.status.as_ref().and_then(|s| s.phase.as_deref()) == Some("Running")
        };
        Ok(format!(
            "       by-node {:?}: {} pods, {} running, found in {took:.1?}; the workers have reconciled {}",
            &**node,
            pods.len(),
            pods.iter().filter(running).count(),
            self.workers.reconciled()
        ))
    }

    /// Stops the changes and waits until all have been processed. Returns the version of the cluster.
    async fn settle(&self, screen: &Screen, server: &SimServer) -> anyhow::Result<ResourceVersion> {
        server.stop_churn().await;
        let version = ResourceVersion::from(server.store().resource_version());
        let started = Instant::now();
        self.nodes.store().wait_until(&version).timeout(PATIENCE).await?;
        self.pods.store().wait_until(&version).timeout(PATIENCE).await?;
        let caught_up = started.elapsed();
        self.workers.drain().await?;
        screen.say(&format!(
            "the changes have stopped at resource version {version} after {} changes; \
             the informers were there {:.0} ms later, the workers after {:.0} ms",
            server.changes(),
            caught_up.as_secs_f64() * 1000.0,
            started.elapsed().as_secs_f64() * 1000.0,
        ))?;
        Ok(version)
    }

    /// Compares everything and prints the result. Returns whether anything differs.
    async fn judge(&self, screen: &Screen, version: &ResourceVersion) -> anyhow::Result<bool> {
        let mut comparison = Comparison::default();
        let nodes = comparison
            .cache(&self.connection, "/api/v1/nodes", self.nodes.store())
            .await?;
        let pods = comparison
            .cache(&self.connection, "/api/v1/pods", self.pods.store())
            .await?;
        comparison.index(self.pods.store(), &self.by_node, &pods)?;
        comparison.ledger(&self.workers.ledger(), &nodes, &pods);
        for difference in comparison.differences().iter().take(20) {
            screen.say(&format!("DIFFERENT: {difference}"))?;
        }
        let found = comparison.differences().len();
        screen.say(&format!(
            "\nat version {version}, compared with an independent LIST, each object whole:\n  \
             nodes {:>6}   pods {:>6}   index entries {:>6}   objects as the workers last saw them {:>6}\n  {}\n  \
             events {} (initial {}, add {}, update {}, delete {})   peak memory {:.0} MiB (simulator included)",
            nodes.len(),
            pods.len(),
            comparison.indexed,
            comparison.in_ledger,
            match found {
                0 => "everything is equal".to_owned(),
                found => format!("{found} DIFFERENCES"),
            },
            self.workers.events(),
            self.workers.counts.initial(),
            self.workers.counts.added(),
            self.workers.counts.updated(),
            self.workers.counts.deleted(),
            Memory::now().peak_mib,
        ))?;
        Ok(found > 0)
    }
}

fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let started = Instant::now();
    let result = work();
    (result, started.elapsed())
}
