//! What an informer asks of an API server, request by request, and what it makes of each answer, byte by byte.
//!
//! Where the outcome differs from client-go's on purpose, the test says so.

mod asked;
#[path = "../common/backoff.rs"]
mod backoff;
mod odd;
mod others;
mod requests;
#[path = "../common/told.rs"]
mod told;
mod traces;

use backoff::{FIRST_PAUSE, SECOND_PAUSE, THIRD_PAUSE, assert_they_grow};
use futures::StreamExt;
use instances as _;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kube_informer::form::Decode;
use kube_informer::informer::RunError;
use kube_informer::low_level::wire::Encoding;
use kube_informer::reflector::{Backoff, InitialState, LastError, Phase, ReflectorOptions};
use kube_informer::source::{ClientSource, ErrorClass, Selection};
use kube_informer::{Notification, Notifications, SharedInformer};
use kube_sim::script::{Answer, Expected, Kind, ScriptedServer, event, status};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use told::told_within;

const PATH: &str = "/api/v1/configmaps";
/// The first list.
const ANY: &str = "limit=500&resourceVersion=0";
/// A list of the newest state.
const NEWEST: &str = "limit=500";

fn maps() -> Kind {
    Kind::new("v1", "ConfigMap")
}

/// The config map `ns/name`.
fn map(name: &str, version: u32) -> Value {
    let mut object = maps().object(&format!("ns/{name}"), &version.to_string());
    object["data"] = json!({"version": version.to_string()});
    object
}

/// A config map that its type cannot hold; what it says is nobody's business.
fn bad(name: &str, version: u32) -> Value {
    let mut object = map(name, version);
    object["data"] = json!({"password": ["hunter2"]});
    object
}

/// `a@1 b@2`: these config maps.
fn objects(texts: &str) -> Vec<Value> {
    let object = |text: &str| {
        let (name, version) = text.split_once('@').unwrap();
        map(name, version.parse().unwrap())
    };
    texts.split_whitespace().map(object).collect()
}

/// `+a@1`: added; `*a@1`: modified; `-a@1`: deleted; `=7`: a bookmark; `|7`: the end of the initial events.
fn frames(texts: &str) -> Vec<String> {
    let frame = |text: &str| {
        let (sign, rest) = text.split_at(1);
        let of = |kind| event(kind, &objects(rest)[0]);
        match sign {
            "+" => of("ADDED"),
            "*" => of("MODIFIED"),
            "-" => of("DELETED"),
            "=" => maps().bookmark(rest),
            "|" => maps().initial_events_end(rest),
            _ => panic!("{text}"),
        }
    };
    texts.split_whitespace().map(frame).collect()
}

fn request(query: &str) -> Expected {
    let query = if query.is_empty() {
        String::new()
    } else {
        format!("?{query}")
    };
    Expected::from(format!("GET {PATH}{query}")).header("accept", "application/json")
}

/// A list at this version or a newer one, in one piece.
fn list_at(version: u32) -> Expected {
    request(&format!(
        "resourceVersion={version}&resourceVersionMatch=NotOlderThan"
    ))
}

const WATCH: &str = "watch=true&allowWatchBookmarks=true&timeoutSeconds=300..=600";

fn watch(version: u32) -> Expected {
    request(&format!("{WATCH}&resourceVersion={version}"))
}

/// A streaming list of the newest state, or one that is not older than a version.
fn stream(version: Option<u32>) -> Expected {
    let version = version.map_or(String::new(), |version| format!("&resourceVersion={version}"));
    request(&format!(
        "{WATCH}&sendInitialEvents=true&resourceVersionMatch=NotOlderThan{version}"
    ))
}

fn listed(version: u32, texts: &str) -> Answer {
    Answer::json(maps().list(&version.to_string(), objects(texts)))
}

fn watched(texts: &str) -> Answer {
    Answer::watch(frames(texts))
}

fn error_event(code: u16, reason: &str, message: &str) -> String {
    event("ERROR", &status(code, reason, message))
}

fn expired() -> Answer {
    Answer::status(410, "Expired", "too old resource version: 1 (90)")
}

fn expired_event() -> String {
    error_event(410, "Expired", "too old resource version: 1 (90)")
}

/// Makes the same answer again and again.
type Make = fn() -> Answer;

/// An informer at work on a script.
struct Scene<K: Decode = ConfigMap> {
    server: ScriptedServer,
    informer: SharedInformer<K>,
    notifications: Notifications<K>,
    stop: CancellationToken,
    running: JoinHandle<Result<(), RunError>>,
}

impl Scene {
    /// An informer that starts with a list.
    fn lists(script: impl IntoIterator<Item = (Expected, Answer)>) -> Self {
        Self::starts(script, InitialState::List)
    }

    /// An informer that starts with a streaming list.
    fn streams(script: impl IntoIterator<Item = (Expected, Answer)>) -> Self {
        Self::starts(script, InitialState::Auto)
    }

    fn starts(script: impl IntoIterator<Item = (Expected, Answer)>, initial: InitialState) -> Self {
        let expect = |server: ScriptedServer, (request, answer)| server.expect(request, answer);
        let server = script.into_iter().fold(ScriptedServer::new(), expect);
        let resource = ApiResource::erase::<ConfigMap>(&());
        Self::of(server, resource, Selection::default(), initial)
    }
}

impl<K: Decode> Scene<K> {
    fn of(
        server: ScriptedServer,
        resource: ApiResource,
        selection: Selection,
        initial: InitialState,
    ) -> Self {
        let client = kube::Client::new(server.service(), "default");
        let options = ReflectorOptions {
            initial,
            bookmark_timeout: Some(Duration::from_secs(180)),
            ..Default::default()
        };
        let source = ClientSource::new(client, resource, selection).encoding(Encoding::Json);
        let (informer, runner) = SharedInformer::builder(source).reflector_options(options).build();
        let notifications = informer.subscribe("test").unwrap();
        let stop = CancellationToken::new();
        let running = tokio::spawn(runner.run(stop.clone()));
        Self {
            server,
            informer,
            notifications,
            stop,
            running,
        }
    }

    /// Lets happen what happens within this (paused) time, and returns what was told until then.
    async fn after(&mut self, time: Duration) -> Vec<String> {
        told_within(&mut self.notifications, time).await
    }

    /// Plays the script and compares what was told, separated by commas. The time is too short for a watch to end,
    /// also for want of bookmarks.
    async fn plays(mut self, expected: &str) -> Self {
        let told = self.after(Duration::from_secs(175)).await;
        self.server.assert_finished();
        assert_eq!(told.join("; "), expected);
        self
    }

    /// The pauses between the requests, in milliseconds.
    fn pauses(&self) -> Vec<u128> {
        let requests = self.server.requests();
        requests
            .windows(2)
            .map(|pair| pair[1].at.duration_since(pair[0].at).as_millis())
            .collect()
    }

    fn last_error(&self) -> LastError {
        self.informer.status().reflector.last_error.expect("an error")
    }

    fn names(&self) -> String {
        let keys = self.informer.store().list_keys().into_iter();
        let mut names: Vec<_> = keys.map(|key| key.name().to_owned()).collect();
        names.sort();
        names.join(" ")
    }

    async fn stop(self) {
        self.stop.cancel();
        self.running.await.unwrap().unwrap();
    }
}
