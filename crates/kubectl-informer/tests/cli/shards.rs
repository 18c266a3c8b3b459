//! `watch --shard-group`: processes that divide the objects among them. The server is a simulated one, which has sharded lists, but for one
//! test: a real one has none by default.

use crate::config_map;
use crate::process::{Running, run};
use conformance::cluster::Cluster;
use conformance::real_server::RealServer;
use kube_sim::SimServer;
use nix::sys::signal::Signal;
use serde_json::Value;
use std::collections::BTreeSet;
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout};

/// A lease, two seconds, and the time of a busy machine.
const MOVED: Duration = Duration::from_secs(60);

async fn server(sharded: bool) -> SimServer {
    let server = SimServer::builder().sharded_lists(sharded).start().await.unwrap();
    for number in 0..100 {
        create(&server, number);
    }
    server
}

fn create(server: &SimServer, number: u32) {
    let name = format!("m-{number:03}");
    server
        .store()
        .create(config_map("default", &name, "web"))
        .unwrap();
}

/// What a process has printed.
#[derive(Default)]
struct Seen {
    ranges: BTreeSet<String>,
    keys: BTreeSet<String>,
}

impl Seen {
    fn line(&mut self, line: &Value) {
        let key = || line["key"].as_str().unwrap().to_owned();
        match line["event"].as_str().unwrap() {
            "shards" => {
                let ranges = line["ranges"].as_array().unwrap().iter();
                self.ranges = ranges.map(|range| range.as_str().unwrap().to_owned()).collect();
            }
            "add" => assert!(self.keys.insert(key()), "{line}"),
            "delete" => assert!(self.keys.remove(&key()), "{line}"),
            "update" | "synced" | "unsynced" => {}
            other => panic!("{other}: {line}"),
        }
    }
}

/// Some processes of a group, and what they have printed.
struct Group {
    seen: Vec<Seen>,
    lines: mpsc::UnboundedReceiver<(usize, Value)>,
    print: mpsc::UnboundedSender<(usize, Value)>,
    running: Vec<mpsc::UnboundedSender<Signal>>,
    /// How the server is reached.
    arguments: String,
}

impl Group {
    fn of_sim(server: &SimServer) -> Self {
        Self::new(format!("--server {}", server.url()))
    }

    fn new(arguments: String) -> Self {
        let (print, lines) = mpsc::unbounded_channel();
        Self {
            seen: Vec::new(),
            lines,
            print,
            running: Vec::new(),
            arguments,
        }
    }

    fn start(&mut self, name: &str) -> usize {
        let number = self.seen.len();
        let mut process = Running::start(&format!(
            "watch configmaps -o json {} --shard-group g --shard-namespace kube-system --shard-identity {name}",
            self.arguments
        ));
        let (signals, mut asked) = mpsc::unbounded_channel();
        let print = self.print.clone();
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    line = process.json() => {
                        let _ = print.send((number, line));
                    }
                    signal = asked.recv() => match signal {
                        Some(Signal::SIGKILL) | None => return drop(process),
                        Some(signal) => {
                            process.signal(signal);
                            let ended = process.end().await;
                            assert_eq!(ended.code, Some(0), "{ended:?}");
                            return;
                        }
                    },
                }
            }
        });
        self.seen.push(Seen::default());
        self.running.push(signals);
        number
    }

    fn signal(&mut self, process: usize, signal: Signal) {
        self.running[process].send(signal).unwrap();
        self.seen[process] = Seen::default();
    }

    /// Waits until these processes have all objects and ranges, each once.
    async fn divide(&mut self, processes: &[usize], objects: usize) {
        let deadline = Instant::now() + MOVED;
        loop {
            let seen: Vec<_> = processes.iter().map(|process| &self.seen[*process]).collect();
            let keys: usize = seen.iter().map(|seen| seen.keys.len()).sum();
            let ranges: usize = seen.iter().map(|seen| seen.ranges.len()).sum();
            let all_keys: BTreeSet<_> = seen.iter().flat_map(|seen| &seen.keys).collect();
            let all_ranges: BTreeSet<_> = seen.iter().flat_map(|seen| &seen.ranges).collect();
            let share = 64 / processes.len();
            let even = seen
                .iter()
                .all(|seen| (share..=share + 1).contains(&seen.ranges.len()));
            let each_once = (keys, ranges) == (all_keys.len(), all_ranges.len());
            if each_once && even && (keys, ranges) == (objects, 64) {
                return;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            let next = timeout(left, self.lines.recv()).await;
            let (process, line) = next
                .unwrap_or_else(|_| panic!("{keys} objects, {ranges} ranges, each once: {each_once}"))
                .unwrap();
            if processes.contains(&process) {
                self.seen[process].line(&line);
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn processes_divide_the_objects_also_when_one_dies() {
    let server = server(true).await;
    let mut group = Group::of_sim(&server);
    let (a, b, c) = (group.start("a"), group.start("b"), group.start("c"));
    group.divide(&[a, b, c], 100).await;
    (100..140).for_each(|number| create(&server, number));
    group.divide(&[a, b, c], 140).await;
    group.signal(b, Signal::SIGKILL);
    group.divide(&[a, c], 140).await;
    group.signal(c, Signal::SIGINT);
    group.divide(&[a], 140).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a real API server: conformance/run"]
async fn four_processes_divide_a_real_servers_objects() {
    for sharded in [true, false] {
        let server = RealServer::builder().gate("ShardedListAndWatch", sharded);
        let cluster = Cluster::real(server.start().await.unwrap()).await;
        let create = async |number: u32| {
            let map = config_map("default", &format!("m-{number:03}"), "web");
            cluster.create(map).await
        };
        for number in 0..100 {
            create(number).await;
        }
        let mut group = Group::new(cluster.arguments());
        let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| group.start(name));
        group.divide(&[a, b, c, d], 100).await;
        group.signal(b, Signal::SIGKILL);
        // Some come before their shards have a new owner.
        for number in 100..140 {
            create(number).await;
        }
        group.divide(&[a, c, d], 140).await;
        for number in 140..160 {
            create(number).await;
        }
        group.divide(&[a, c, d], 160).await;
        group.signal(d, Signal::SIGINT);
        group.divide(&[a, c], 160).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_shards_is_divided_too() {
    let server = server(false).await;
    let mut group = Group::of_sim(&server);
    let (a, b) = (group.start("a"), group.start("b"));
    group.divide(&[a, b], 100).await;
    (100..120).for_each(|number| create(&server, number));
    group.divide(&[a, b], 120).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_share_is_there_at_once_with_a_cache() {
    let (server, directory) = (server(true).await, TempDir::new().unwrap());
    let watch = || {
        let group = "--shard-group g --shard-namespace kube-system";
        let directory = directory.path().display();
        let server = server.url();
        Running::start(&format!(
            "watch configmaps -o json {group} --cache {directory} --server {server}"
        ))
    };
    let mut first = watch();
    first.until("synced").await;
    first.signal(Signal::SIGINT);
    let ended = first.end().await;
    assert_eq!((ended.code, &*ended.err), (Some(0), ""));
    create(&server, 100);
    let mut second = watch();
    let lines = second.until("synced").await;
    let added = lines.iter().filter(|line| line["event"] == "add");
    let (restored, new): (Vec<_>, Vec<_>) = added.partition(|line| line["restored"] == true);
    assert_eq!((restored.len(), new.len()), (100, 1), "{new:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_group_needs_a_valid_name() {
    let server = server(true).await;
    for (args, problem) in [
        (
            "--shard-group A_b",
            "--shard-group: the group name \"A_b\" is no DNS label",
        ),
        ("--shard-namespace x", "--shard-group <NAME>"),
        ("--shard-group a --until delete", "cannot be used with"),
    ] {
        let ended = run(&format!("watch configmaps --server {} {args}", server.url())).await;
        assert_eq!(ended.code, Some(2), "{ended:?}");
        assert!(ended.err.contains(problem), "{ended:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn why_a_group_cannot_be_joined_is_said() {
    let server = server(true).await;
    let url = server.url();
    let mut watch = Running::start(&format!(
        "watch configmaps --shard-group g --shard-namespace nowhere --server {url}"
    ));
    watch.said("namespaces \"nowhere\" not found (404)").await;
    watch.signal(Signal::SIGINT);
    assert_eq!(watch.end().await.code, Some(0));
}
