//! What client-go does on scripted answers, recorded as data, and what we do on the same.
//!
//! Each file of `recorded/` has a script: the answers that a server gives, one after the other, to whatever it is asked.
//! With it, what client-go's informer asked and told its handler; and, where we do something else on purpose, what that
//! is and why. The first test replays all of them against ours, and needs nothing. The second runs client-go again and
//! compares; with `CONFORMANCE_RECORD=1`, it writes what client-go did into the files instead.
//!
//! Not compared are pauses' lengths, the order of initial adds (client-go's is that of a hash map), and two things
//! in which all requests differ without meaning something else: client-go's typed clients say `timeout` beside
//! `timeoutSeconds`, and it leaves out `resourceVersionMatch=NotOlderThan` where that is the default.
//!
//! # The scripts
//! | answer | what it is |
//! |---|---|
//! | `list 10: a@1 b@2` | a list at version 10; `page 10 next: a@1` has more behind it |
//! | `watch: +a@1 *a@2 -a@3 =4 \|5` | added, modified, deleted; a bookmark; the end of the initial events |
//! | `watch: … !410:Expired` | an ERROR event; `?a@3` is of a type that nobody knows, `~a@3` is of another kind |
//! | `watch: … close` | the watch ends; `broken`: its connection does; else it stays open |
//! | `status 500 InternalError` | a refusal; `refused`: no connection |
//!
//! `a#2` is an object of the name `a` with another uid. A request that came after a pause of the backoff has `(pause)`
//! before it.

use instances as _;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use conformance::program::{Line, Program};
use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::core::ApiResource;
use kube_informer::reflector::{InitialState, ReflectorOptions};
use kube_informer::source::{ClientSource, Selection};
use kube_informer::{CachedObject, Notification, SharedInformer};
use kube_sim::script::{Answer, Kind, Received, ScriptedServer, event, status};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

/// A file of `recorded/`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Trace {
    /// What happens, in a sentence.
    about: String,
    /// Where the initial state comes from.
    initial: Initial,
    /// The script.
    answers: Vec<String>,
    client_go: Did,
    /// What we do, if that is not the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    here: Option<Here>,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Initial {
    List,
    Stream,
}

/// What an informer did.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
struct Did {
    /// What it asked.
    requests: Vec<String>,
    /// What it told its handler.
    told: Vec<String>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct Here {
    /// Why.
    because: String,
    /// None: as client-go.
    #[serde(skip_serializing_if = "Option::is_none")]
    requests: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    told: Option<Vec<String>>,
}

impl Trace {
    /// What we should do.
    fn expected(&self) -> Did {
        let mut did = self.client_go.clone();
        for request in &mut did.requests {
            let at_least = !request.contains("watch=true") && !request.contains("resourceVersion=0");
            if at_least && request.contains("resourceVersion=") {
                request.push_str("&resourceVersionMatch=NotOlderThan");
            }
        }
        if let Some(here) = &self.here {
            did.requests = here.requests.clone().unwrap_or(did.requests);
            did.told = here.told.clone().unwrap_or(did.told);
        }
        did
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("recorded")
}

fn traces() -> Vec<(PathBuf, Trace)> {
    let entries = std::fs::read_dir(folder()).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    let read = |path: PathBuf| {
        let text = std::fs::read_to_string(&path).unwrap();
        let trace = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        (path, trace)
    };
    paths.into_iter().map(read).collect()
}

fn maps() -> Kind {
    Kind::new("v1", "ConfigMap")
}

fn object(kind: &Kind, text: &str) -> Value {
    let (name, version) = text.split_once('@').expect("an object at a version");
    kind.object(&format!("ns/{name}"), version)
}

fn objects(texts: &str) -> Vec<Value> {
    texts
        .split_whitespace()
        .map(|text| object(&maps(), text))
        .collect()
}

/// The code that the oracle takes for a refused connection: behind a socket, no single request can be refused.
const REFUSED: u16 = 599;

fn answer(text: &str, refused: fn() -> Answer) -> Answer {
    let (what, rest) = text.split_once(':').unwrap_or((text, ""));
    let words: Vec<_> = what.split(' ').collect();
    match words[..] {
        ["list", version] => Answer::json(maps().list(version, objects(rest))),
        ["page", version, next] => Answer::json(maps().page(version, objects(rest), next)),
        ["watch"] => rest
            .split_whitespace()
            .fold(Answer::watch([""; 0]), then_in_watch),
        ["status", code, reason] => Answer::status(code.parse().unwrap(), reason, "no"),
        ["refused"] => refused(),
        _ => panic!("{text}"),
    }
}

fn then_in_watch(answer: Answer, text: &str) -> Answer {
    let (sign, rest) = text.split_at(1);
    let of = |kind| event(kind, &object(&maps(), rest));
    match (text, sign) {
        ("close", _) => answer.close(),
        ("broken", _) => answer.chunk("{\"type\":\"ADD").broken(),
        (_, "+") => answer.chunk(of("ADDED")),
        (_, "*") => answer.chunk(of("MODIFIED")),
        (_, "-") => answer.chunk(of("DELETED")),
        (_, "?") => answer.chunk(of("RENAMED")),
        (_, "~") => answer.chunk(event("ADDED", &object(&Kind::new("v1", "Pod"), rest))),
        (_, "=") => answer.chunk(maps().bookmark(rest)),
        (_, "|") => answer.chunk(maps().initial_events_end(rest)),
        (_, "!") => {
            let (code, reason) = rest.split_once(':').unwrap();
            answer.chunk(event("ERROR", &status(code.parse().unwrap(), reason, "no")))
        }
        _ => panic!("{text}"),
    }
}

/// A server that gives these answers to whatever it is asked, then none.
fn server(answers: &[String], refused: fn() -> Answer) -> (ScriptedServer, Arc<Mutex<VecDeque<String>>>) {
    let left = Arc::new(Mutex::new(VecDeque::from(answers.to_vec())));
    let next = left.clone();
    let server = ScriptedServer::new().otherwise(move |_| {
        let next = next.lock().unwrap().pop_front();
        next.map_or_else(Answer::never, |text| answer(&text, refused))
    });
    (server, left)
}

/// The requests that came, with the pauses between them.
fn asked(server: &ScriptedServer) -> Vec<String> {
    let requests = server.requests();
    let mut before = requests.first().map(|request| request.at);
    let show = |request: &Received| {
        let pause = before.replace(request.at).map(|before| request.at - before);
        // The shortest of the backoff has 800 ms.
        let paused = pause.is_some_and(|pause| pause > Duration::from_millis(600));
        let told = request.query.iter().filter(|(name, _)| name != "timeout");
        let parameters = told.map(|(name, value)| match name.as_str() {
            "timeoutSeconds" if (300..=600).contains(&value.parse().unwrap_or(0)) => {
                format!("{name}=300..=600")
            }
            _ => format!("{name}={value}"),
        });
        let parameters: Vec<_> = parameters.collect();
        let pause = if paused { "(pause) " } else { "" };
        format!("{pause}GET {}?{}", request.path, parameters.join("&"))
    };
    requests.iter().map(show).collect()
}

/// What client-go's informer does.
async fn client_go(trace: &Trace) -> Did {
    let (server, _) = server(&trace.answers, || Answer::code(REFUSED));
    let listener = server.listen().await.unwrap();
    let initial = match trace.initial {
        Initial::List => "list",
        Initial::Stream => "auto",
    };
    let url = listener.url();
    let mut program = Program::oracle(&["--server", &url, "--initial", initial]).unwrap();
    let mut told = vec![];
    // Over when nothing has happened for a while; two steps of the backoff have less than five seconds. Where we ask
    // more than client-go does, there are answers left.
    let mut asked_before = 0;
    loop {
        match tokio::time::timeout(Duration::from_secs(6), program.next()).await {
            Ok(line) => told.extend(line_told(&line.unwrap().expect("it runs until it is ended"))),
            Err(_) if server.requests().len() == asked_before => break,
            Err(_) => asked_before = server.requests().len(),
        }
    }
    let requests = asked(&server);
    sort_initial(&mut told);
    Did { requests, told }
}

/// Sorts each run of initial adds.
fn sort_initial(told: &mut [String]) {
    let runs = told.chunk_by_mut(|a, b| a.ends_with(", initial") && b.ends_with(", initial"));
    runs.for_each(<[String]>::sort);
}

fn line_told(line: &Line) -> Option<String> {
    let (key, version) = (&line.key, &line.resource_version);
    match line.event.as_str() {
        "add" if line.initial => Some(format!("add {key}@{version}, initial")),
        "add" => Some(format!("add {key}@{version}")),
        "update" => Some(format!("update {key}@{}->{version}", line.old_resource_version)),
        "delete" if line.tombstone => Some(format!("delete {key}@{version}, missed")),
        "delete" => Some(format!("delete {key}@{version}")),
        _ => None,
    }
}

fn told(notification: &Notification<ConfigMap>) -> String {
    let version = |object| ConfigMap::resource_version_of(object).unwrap();
    let (key, object) = (notification.key(), notification.object().unwrap());
    let at = format!("{key}@{}", version(object));
    match notification {
        Notification::Add { initial: true, .. } => format!("add {at}, initial"),
        Notification::Add { .. } => format!("add {at}"),
        Notification::Update { old, new } => format!("update {key}@{}->{}", version(old), version(new)),
        Notification::Delete(deleted) if deleted.is_tombstone() => format!("delete {at}, missed"),
        Notification::Delete(_) => format!("delete {at}"),
    }
}

/// What our informer does, on the paused clock, before it asks a server that is silent for its version, which client-go does not.
async fn ours(trace: &Trace) -> Did {
    let (server, left) = server(&trace.answers, Answer::refused);
    let client = kube::Client::new(server.service(), "default");
    let options = ReflectorOptions {
        initial: match trace.initial {
            Initial::List => InitialState::List,
            Initial::Stream => InitialState::Auto,
        },
        ..ReflectorOptions::default()
    };
    let source = ClientSource::new(client, ApiResource::erase::<ConfigMap>(&()), Selection::default());
    let (informer, runner) = SharedInformer::<ConfigMap>::builder(source)
        .reflector_options(options)
        .build();
    let mut notifications = informer.subscribe("test").unwrap();
    let stop = CancellationToken::new();
    let running = tokio::spawn(runner.run(stop.clone()));
    let mut did = Did::default();
    let _ = tokio::time::timeout(Duration::from_secs(70), async {
        while let Some(notification) = notifications.next().await {
            did.told.push(told(&notification));
        }
    })
    .await;
    did.requests = asked(&server);
    sort_initial(&mut did.told);
    assert!(
        left.lock().unwrap().is_empty(),
        "the script was not played: {did:#?}"
    );
    stop.cancel();
    running.await.unwrap().unwrap();
    did
}

#[tokio::test(start_paused = true)]
async fn we_do_what_client_go_did_or_say_why_not() {
    let traces = traces();
    assert!(!traces.is_empty());
    let mut wrong = vec![];
    for (path, trace) in traces {
        let (name, did) = (path.display(), ours(&trace).await);
        let expected = trace.expected();
        if did != expected {
            wrong.push(format!("{name}: did {did:#?}, expected {expected:#?}"));
        }
        if let Some(Here { requests, told, .. }) = &trace.here {
            let same = |here: &Option<Vec<String>>, there| here.as_ref() == Some(there);
            let there = &trace.client_go;
            assert!(requests.is_some() || told.is_some(), "{name}: no difference");
            assert!(
                !same(requests, &there.requests) && !same(told, &there.told),
                "{name}: no difference"
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs client-go: conformance/run"]
async fn client_go_does_what_is_recorded() {
    let record = std::env::var_os("CONFORMANCE_RECORD").is_some();
    // Programs mostly wait here.
    let results = futures::stream::iter(traces())
        .map(|(path, trace)| async move { (path, client_go(&trace).await, trace) })
        .buffer_unordered(24);
    let mut results: Vec<_> = results.collect().await;
    results.sort_by(|a, b| a.0.cmp(&b.0));
    for (path, did, mut trace) in results {
        if record {
            trace.client_go = did;
            let text = serde_json::to_string_pretty(&trace).unwrap() + "\n";
            std::fs::write(path, text).unwrap();
        } else {
            assert_eq!(did, trace.client_go, "{}", path.display());
        }
    }
}
