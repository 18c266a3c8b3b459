//! A scripted source: answers requests in order, and complains about any that the script does not expect.

#![allow(dead_code, unreachable_pub)] // each test uses a part of it

use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, stream};
use k8s_openapi::api::core::v1::ConfigMap;
use kube_informer::source::*;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::Instant;

/// A config map with this version, in the namespace `ns` unless the name says otherwise: `x/a` is in `x`. The uid is the
/// name unless that says otherwise: `a#2` is `a` with uid `a#2`.
pub fn object(name: &str, version: u64) -> Arc<ConfigMap> {
    let (namespace, last) = name.split_once('/').unwrap_or(("ns", name));
    Arc::new(ConfigMap {
        metadata: kube::core::ObjectMeta {
            name: Some(last.split('#').next().unwrap().into()),
            namespace: Some(namespace.into()),
            uid: Some(name.into()),
            resource_version: Some(version.to_string()),
            ..Default::default()
        },
        ..Default::default()
    })
}

/// What the script says to one request.
pub enum Answer {
    /// A list at a version.
    List(u64, Vec<(&'static str, u64)>),
    /// One page of a list: version, objects, token of the next.
    Page(u64, Vec<(&'static str, u64)>, &'static str),
    /// A list whose stream breaks after these objects.
    BrokenList(Vec<(&'static str, u64)>),
    /// A list with objects that cannot be read: key, or none.
    BadList(u64, Vec<(&'static str, u64)>, Vec<Option<&'static str>>),
    /// A watch with these events; it stays open unless they end it.
    Watch(Vec<Event>),
    /// A list that does not say its version.
    Unversioned(Vec<(&'static str, u64)>),
    /// No stream.
    Error(ApiError),
    /// No answer at all.
    Hang,
}

pub enum Event {
    Added(&'static str, u64),
    Modified(&'static str, u64),
    Deleted(&'static str, u64),
    /// A modified object that cannot be read.
    Bad(&'static str),
    Bookmark(u64),
    /// The end of the initial events.
    End(u64),
    Status(ApiStatus),
    /// Time passes.
    After(Duration),
    /// Time has passed when the next event is there, as if the process had been suspended or busy.
    Jump(Duration),
    /// The stream fails.
    Break(ApiError),
    /// The stream ends.
    Close,
}

pub fn status(code: u16, message: &str) -> ApiError {
    ApiStatus::from_code(code, message).into()
}

pub fn expired() -> ApiError {
    status(410, "too old resource version")
}

pub fn refused() -> ApiError {
    ApiError::Unreachable("connection refused".into())
}

/// Answers requests from a script and keeps a log of them.
#[derive(Clone)]
pub struct Script {
    steps: Arc<Mutex<VecDeque<(&'static str, Answer)>>>,
    /// Whether streaming lists are worth trying.
    streaming: Arc<Mutex<bool>>,
    log: Arc<Mutex<Vec<(String, Instant)>>>,
}

impl Script {
    /// A script of expected requests, like `LIST 0 500` or `WATCH 10`, and their answers.
    pub fn new(steps: impl IntoIterator<Item = (&'static str, Answer)>) -> Self {
        Self {
            steps: Arc::new(Mutex::new(steps.into_iter().collect())),
            streaming: Arc::default(),
            log: Arc::default(),
        }
    }

    /// The same for a source with streaming lists.
    pub fn streaming(steps: impl IntoIterator<Item = (&'static str, Answer)>) -> Self {
        let script = Self::new(steps);
        *script.streaming.lock().unwrap() = true;
        script
    }

    /// The pauses between the requests so far, in milliseconds.
    pub fn pauses(&self) -> Vec<u128> {
        let log = self.log.lock().unwrap();
        log.windows(2)
            .map(|pair| pair[1].1.duration_since(pair[0].1).as_millis())
            .collect()
    }

    pub fn requests(&self) -> Vec<String> {
        self.log
            .lock()
            .unwrap()
            .iter()
            .map(|(request, _)| request.clone())
            .collect()
    }

    pub fn is_over(&self) -> bool {
        self.steps.lock().unwrap().is_empty()
    }

    fn next(&self, request: String) -> Option<Answer> {
        self.log.lock().unwrap().push((request.clone(), Instant::now()));
        let (expected, answer) = self.steps.lock().unwrap().pop_front()?;
        assert_eq!(request, expected, "after {:?}", self.requests());
        Some(answer)
    }
}

fn list_name(request: &ListRequest) -> String {
    let version = match &request.version {
        ListVersion::MostRecent => "newest".to_owned(),
        ListVersion::Any => "any".to_owned(),
        ListVersion::NotOlderThan(version) => version.to_string(),
        other => format!("{other:?}"),
    };
    let limit = request.limit.map_or("all".to_owned(), |limit| limit.to_string());
    let token = request
        .continue_token
        .as_ref()
        .map_or(String::new(), |token| format!(" {token}"));
    format!("LIST {version} {limit}{token}")
}

fn watch_name(request: &WatchRequest) -> String {
    let seconds = request.timeout.as_secs();
    assert!((300..=600).contains(&seconds), "watch for {seconds} s");
    match &request.from {
        WatchFrom::Version(version) => format!("WATCH {version}"),
        WatchFrom::InitialEvents { not_older_than: None } => "STREAM newest".into(),
        WatchFrom::InitialEvents {
            not_older_than: Some(version),
        } => format!("STREAM {version}"),
        other => format!("WATCH {other:?}"),
    }
}

fn item(name: &str, version: u64) -> Item<ConfigMap> {
    Item::Object(object(name, version))
}

fn bad(key: Option<&str>) -> Item<ConfigMap> {
    Item::Invalid(InvalidObject {
        key: key.map(Into::into),
        reason: "scripted".into(),
    })
}

impl ListerWatcher<ConfigMap> for Script {
    fn resource(&self) -> String {
        "configmaps".into()
    }

    fn supports_watch_list(&self) -> bool {
        *self.streaming.lock().unwrap()
    }

    fn watch_list_failed(&self) {
        *self.streaming.lock().unwrap() = false;
    }

    fn list(&self, request: ListRequest) -> BoxFuture<'_, Result<ListStream<ConfigMap>, ApiError>> {
        let answer = self.next(list_name(&request));
        async move {
            let mut versioned = true;
            let (version, objects, bads, token) = match answer {
                Some(Answer::Unversioned(objects)) => {
                    versioned = false;
                    (Some(0), objects, vec![], None)
                }
                Some(Answer::List(version, objects)) => (Some(version), objects, vec![], None),
                Some(Answer::Page(version, objects, token)) => (Some(version), objects, vec![], Some(token)),
                Some(Answer::BadList(version, objects, bads)) => (Some(version), objects, bads, None),
                Some(Answer::BrokenList(objects)) => (None, objects, vec![], None),
                Some(Answer::Error(error)) => return Err(error),
                Some(Answer::Watch(_)) => panic!("the script has a watch for a list"),
                None | Some(Answer::Hang) => return futures::future::pending().await,
            };
            let objects = objects.into_iter().map(|(name, version)| item(name, version));
            let items = objects
                .chain(bads.into_iter().map(bad))
                .map(|item| Ok(ListPart::Item(item)));
            let end = match version {
                Some(version) => Ok(ListPart::End(ListMeta {
                    resource_version: versioned.then(|| version.into()),
                    continue_token: token.map(Into::into),
                    ..ListMeta::default()
                })),
                None => Err(ApiError::Interrupted("scripted".into())),
            };
            Ok(stream::iter(items.chain([end]).collect::<Vec<_>>()).boxed())
        }
        .boxed()
    }

    fn watch(&self, request: WatchRequest) -> BoxFuture<'_, Result<WatchStream<ConfigMap>, ApiError>> {
        let answer = self.next(watch_name(&request));
        async move {
            let events = match answer {
                Some(Answer::Watch(events)) => events,
                Some(Answer::Error(error)) => return Err(error),
                None | Some(Answer::Hang) => return futures::future::pending().await,
                Some(_) => panic!("the script has a list for a watch"),
            };
            Ok(stream::unfold(VecDeque::from(events), next_event).boxed())
        }
        .boxed()
    }
}

async fn next_event(
    mut events: VecDeque<Event>,
) -> Option<(Result<WatchEvent<ConfigMap>, ApiError>, VecDeque<Event>)> {
    loop {
        let event = match events.pop_front() {
            Some(Event::Added(name, version)) => WatchEvent::Added(item(name, version)),
            Some(Event::Modified(name, version)) => WatchEvent::Modified(item(name, version)),
            Some(Event::Deleted(name, version)) => WatchEvent::Deleted(item(name, version)),
            Some(Event::Bad(key)) => WatchEvent::Modified(bad(Some(key))),
            Some(Event::Bookmark(version)) => WatchEvent::Bookmark {
                resource_version: Some(version.into()),
                initial_events_end: false,
            },
            Some(Event::End(version)) => WatchEvent::Bookmark {
                resource_version: Some(version.into()),
                initial_events_end: true,
            },
            Some(Event::Status(status)) => WatchEvent::Error(status),
            Some(Event::Break(error)) => return Some((Err(error), events)),
            Some(Event::After(time)) => {
                tokio::time::sleep(time).await;
                continue;
            }
            Some(Event::Jump(time)) => {
                tokio::time::advance(time).await;
                continue;
            }
            Some(Event::Close) => return None,
            None => return futures::future::pending().await,
        };
        return Some((Ok(event), events));
    }
}
