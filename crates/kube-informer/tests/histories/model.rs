//! A model of an API server over HTTP: a few objects with their whole history, and random faults.

use bytes::Bytes;
use futures::future::BoxFuture;
use futures::{FutureExt, stream};
use http::{Request, Response};
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody, combinators::UnsyncBoxBody};
use kube_protobuf::{UnknownFields, to_vec, watch_event_to_vec};
use kube_sim::script::{Kind, event, status};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;

/// How far apart the versions before and after a restoration are.
const EPOCH: u64 = 100_000;

/// One state of one object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Object {
    pub(crate) uid: u64,
    pub(crate) version: u64,
    pub(crate) value: u64,
}

pub(crate) type State = BTreeMap<String, Object>;

#[derive(Clone)]
struct Event {
    kind: &'static str,
    key: String,
    object: Object,
}

/// The server. All clones are one.
#[derive(Clone)]
pub(crate) struct Server(Arc<Mutex<Model>>);

struct Model {
    rng: StdRng,
    /// How likely a fault is at each opportunity.
    faults: f64,
    /// Whether lists come in pages of one or two objects.
    small_pages: bool,
    /// Whether there are streaming lists.
    streams: bool,
    /// Whether it answers in protobuf, if it is asked for it.
    protobuf: bool,
    protobuf_answers: usize,
    version: u64,
    next_uid: u64,
    /// The states that can still be listed, by version; the last one is that of now.
    states: BTreeMap<u64, Arc<State>>,
    events: Vec<Event>,
    /// Events up to here are forgotten.
    compacted: u64,
    /// Every state of an object that there ever was.
    ever: HashMap<u64, (String, Object)>,
    /// Counts restorations; watches end when it changes.
    epoch: u64,
    changed: watch::Sender<()>,
    requests: Vec<(Instant, String)>,
}

fn kind() -> Kind {
    Kind::new("v1", "ConfigMap")
}

fn to_json(key: &str, object: &Object) -> Value {
    let mut json = kind().object(key, &object.version.to_string());
    json["metadata"]["uid"] = object.uid.to_string().into();
    json["data"] = json!({"value": object.value.to_string()});
    json
}

impl Server {
    pub(crate) fn new(seed: u64, faults: f64, streams: bool) -> Self {
        let mut rng = StdRng::seed_from_u64(seed);
        let version = 100 * EPOCH;
        Self(Arc::new(Mutex::new(Model {
            faults,
            small_pages: rng.random_bool(0.3),
            streams,
            protobuf: rng.random_bool(0.5),
            protobuf_answers: 0,
            rng,
            version,
            next_uid: 1,
            states: BTreeMap::from([(version, Arc::default())]),
            events: vec![],
            compacted: version,
            ever: HashMap::new(),
            epoch: 0,
            changed: watch::Sender::new(()),
            requests: vec![],
        })))
    }

    fn lock(&self) -> MutexGuard<'_, Model> {
        self.0.lock().unwrap()
    }

    /// Something happens in the cluster.
    pub(crate) fn act(&self) {
        let mut model = self.lock();
        match model.rng.random_range(0..100) {
            0..90 => model.write(),
            90..95 => model.compact(),
            _ if model.faults > 0.0 => model.restore(),
            _ => model.write(),
        }
        model.changed.send_replace(());
    }

    pub(crate) fn write(&self) {
        let mut model = self.lock();
        model.write();
        model.changed.send_replace(());
    }

    /// From now on, there are no faults.
    pub(crate) fn behave(&self) {
        self.lock().faults = 0.0;
    }

    /// What it holds now, in one namespace or in all.
    pub(crate) fn state(&self, namespace: Option<&str>) -> State {
        let state = self.lock().now();
        within(&state, namespace)
    }

    /// Whether an object once had this state.
    pub(crate) fn had(&self, key: &str, object: &Object) -> bool {
        self.lock()
            .ever
            .get(&object.version)
            .is_some_and(|(k, o)| k == key && o == object)
    }

    /// Whether two versions belong to one history, without a restoration between.
    pub(crate) fn comparable(a: u64, b: u64) -> bool {
        a / EPOCH == b / EPOCH
    }

    /// How many answers were in protobuf.
    pub(crate) fn protobuf_answers(&self) -> usize {
        self.lock().protobuf_answers
    }

    pub(crate) fn requests(&self) -> Vec<(Instant, String)> {
        self.lock().requests.clone()
    }

    /// Takes the next of a stream of random numbers, for decisions outside.
    fn decide<T>(&self, decision: impl FnOnce(&mut Model) -> T) -> T {
        decision(&mut self.lock())
    }
}

impl Model {
    fn now(&self) -> Arc<State> {
        self.states.values().next_back().expect("a state").clone()
    }

    /// The encoding of an answer. A server that has protobuf is replaced by one without it at times.
    fn encoding(&mut self, accept: &str) -> Encoding {
        let protobuf = self.protobuf && accept.starts_with(PROTOBUF);
        match protobuf && !self.rng.random_bool(0.02) {
            true => {
                self.protobuf_answers += 1;
                Encoding::Protobuf
            }
            false => Encoding::Json,
        }
    }

    fn fault(&mut self) -> bool {
        let likely = self.faults;
        likely > 0.0 && self.rng.random_bool(likely)
    }

    /// Changes one object: creates, updates or deletes it, or deletes it and creates another one in its place.
    fn write(&mut self) {
        let keys = ["x/a", "x/b", "y/a", "y/c", "z/d"];
        let key = keys[self.rng.random_range(0..keys.len())];
        let held = self.now().get(key).cloned();
        match (held, self.rng.random_range(0..10)) {
            (None, _) => self.create(key),
            (Some(object), 0..6) => self.apply("MODIFIED", key, object),
            (Some(object), 6..8) => self.apply("DELETED", key, object),
            (Some(object), _) => {
                self.apply("DELETED", key, object);
                self.create(key);
            }
        }
    }

    fn create(&mut self, key: &str) {
        self.next_uid += 1;
        let object = Object {
            uid: self.next_uid,
            version: 0,
            value: 0,
        };
        self.apply("ADDED", key, object);
    }

    fn apply(&mut self, kind: &'static str, key: &str, mut object: Object) {
        // Other collections have versions between.
        self.version += self.rng.random_range(1..3);
        object.version = self.version;
        if kind != "DELETED" {
            object.value = self.rng.random();
        }
        let mut state = (*self.now()).clone();
        match kind {
            "DELETED" => state.remove(key),
            _ => state.insert(key.to_owned(), object.clone()),
        };
        self.ever.insert(self.version, (key.to_owned(), object.clone()));
        self.states.insert(self.version, Arc::new(state));
        self.events.push(Event {
            kind,
            key: key.to_owned(),
            object,
        });
    }

    /// Forgets all but the last few events and states.
    fn compact(&mut self) {
        let keep = self.rng.random_range(0..3);
        let Some(oldest) = self.events.len().checked_sub(keep + 1) else {
            return;
        };
        self.compacted = self.events[oldest].object.version;
        self.events.drain(..=oldest);
        self.states = self.states.split_off(&self.compacted);
    }

    /// Restores an earlier state from a backup. Everything gets lower versions than before.
    fn restore(&mut self) {
        let at = self.rng.random_range(0..self.states.len());
        let backup = self.states.values().nth(at).expect("within the length").clone();
        self.epoch += 1;
        self.version = (100 - self.epoch) * EPOCH;
        self.compacted = self.version;
        self.events.clear();
        self.states = BTreeMap::from([(self.version, Arc::default())]);
        for (key, object) in backup.iter() {
            self.apply("ADDED", key, object.clone());
        }
        self.compacted = self.version;
        self.events.clear();
        self.states = self.states.split_off(&self.version);
    }

    /// Some state that is not older than a version.
    fn state_since(&mut self, oldest: u64) -> (u64, Arc<State>) {
        let states: Vec<_> = self.states.range(oldest..).collect();
        // The version moves on with other collections, too.
        let newest = (self.version, self.now());
        match self.rng.random_bool(0.7) || states.is_empty() {
            true => newest,
            false => {
                let at = self.rng.random_range(0..states.len());
                (*states[at].0, states[at].1.clone())
            }
        }
    }
}

/// The part of a state that is in a namespace; `None`: all of it.
fn within(state: &State, namespace: Option<&str>) -> State {
    let inside = |key: &str| namespace.is_none_or(|namespace| is_in(key, namespace));
    let part = state.iter().filter(|(key, _)| inside(key));
    part.map(|(key, object)| (key.clone(), object.clone())).collect()
}

fn is_in(key: &str, namespace: &str) -> bool {
    key.split_once('/').is_some_and(|(first, _)| first == namespace)
}

/// The namespace that a path is about.
fn namespace_in(path: &str) -> Option<String> {
    let rest = path.strip_prefix("/api/v1/namespaces/")?;
    Some(rest.split('/').next()?.to_owned())
}

const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

/// How a body is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Json,
    Protobuf,
}

impl Encoding {
    fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Protobuf => PROTOBUF,
        }
    }

    /// An object or a list, of its JSON.
    fn object(self, json: String) -> Bytes {
        match self {
            Self::Json => json.into(),
            Self::Protobuf => protobuf(&serde_json::from_str(&json).unwrap()).into(),
        }
    }

    /// An event of a watch, of its JSON.
    fn event(self, json: String) -> Bytes {
        if self == Self::Json {
            return json.into();
        }
        let event: Value = serde_json::from_str(&json).unwrap();
        let message = watch_event_to_vec(event["type"].as_str().unwrap(), &protobuf(&event["object"]));
        let length = u32::try_from(message.len()).unwrap().to_be_bytes();
        [&length[..], &message].concat().into()
    }
}

fn protobuf(object: &Value) -> Vec<u8> {
    to_vec(object, UnknownFields::Deny).unwrap()
}

type Body = UnsyncBoxBody<Bytes, io::Error>;
type Chunks = mpsc::Sender<io::Result<Frame<Bytes>>>;

/// The client is gone, or is to get nothing more.
struct Over;

/// The sending end of an answer's body.
struct Sender {
    chunks: Chunks,
    server: Server,
    encoding: Encoding,
}

impl Sender {
    /// Sends bytes, in one chunk or several.
    async fn send(&self, bytes: impl Into<Bytes>) -> Result<(), Over> {
        let mut bytes: Bytes = bytes.into();
        if self.server.decide(|model| model.rng.random_bool(0.2)) && bytes.len() > 1 {
            let at = self.server.decide(|model| model.rng.random_range(1..bytes.len()));
            let first = bytes.split_to(at);
            self.chunks.send(Ok(Frame::data(first))).await.map_err(|_| Over)?;
        }
        self.chunks.send(Ok(Frame::data(bytes))).await.map_err(|_| Over)
    }

    async fn cut(&self, bytes: Bytes) -> Result<(), Over> {
        let at = self.server.decide(|model| model.rng.random_range(1..bytes.len()));
        self.send(bytes.slice(..at)).await
    }

    async fn broken(&self) -> Over {
        let _ = self.chunks.send(Err(io::ErrorKind::ConnectionReset.into())).await;
        Over
    }

    async fn silence(&self) -> Over {
        self.chunks.closed().await;
        Over
    }
}

fn answer(code: u16, encoding: Encoding, body: Body) -> Response<Body> {
    Response::builder()
        .status(code)
        .header("content-type", encoding.media_type())
        .body(body)
        .unwrap()
}

fn whole(code: u16, text: impl Into<Bytes>) -> Response<Body> {
    let body = http_body_util::Full::new(text.into());
    let body = body.map_err(|never| match never {}).boxed_unsync();
    answer(code, Encoding::Json, body)
}

fn refusal(code: u16, reason: &str, message: &str) -> Response<Body> {
    whole(code, status(code, reason, message).to_string())
}

fn too_large() -> Response<Body> {
    refusal(
        504,
        "Timeout",
        "Timeout: Too large resource version: 1000, current: 5",
    )
}

fn expired() -> Response<Body> {
    refusal(410, "Expired", "too old resource version")
}

impl<B: Send + 'static> tower::Service<Request<B>> for Server {
    type Response = Response<Body>;
    type Error = io::Error;
    type Future = BoxFuture<'static, io::Result<Self::Response>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let server = self.clone();
        let query: HashMap<String, String> =
            form_urlencoded::parse(request.uri().query().unwrap_or("").as_bytes())
                .into_owned()
                .collect();
        let namespace = namespace_in(request.uri().path());
        let accept = request.headers()["accept"].to_str().unwrap().to_owned();
        async move { server.respond(query, namespace, &accept).await }.boxed()
    }
}

impl Server {
    async fn respond(
        &self,
        query: HashMap<String, String>,
        namespace: Option<String>,
        accept: &str,
    ) -> io::Result<Response<Body>> {
        let mut words: Vec<_> = query
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        words.sort();
        words.extend(namespace.clone());
        let fault = self.decide(|model| {
            model.requests.push((Instant::now(), words.join("&")));
            model.fault().then(|| model.rng.random_range(0..14))
        });
        match fault {
            Some(0) => return Err(io::ErrorKind::ConnectionRefused.into()),
            Some(1) => std::future::pending().await,
            Some(2) => tokio::time::sleep(Duration::from_secs(20)).await,
            Some(3) => return Ok(refusal(429, "TooManyRequests", "slow down")),
            Some(4) => {
                let mut response = refusal(429, "TooManyRequests", "slow down");
                response.headers_mut().insert("retry-after", 40.into());
                return Ok(response);
            }
            Some(5) => return Ok(refusal(500, "InternalError", "etcd is upset")),
            Some(6) => return Ok(whole(503, "")),
            Some(7) => return Ok(expired()),
            Some(8) => return Ok(whole(200, "<html>sign in</html>")),
            Some(9) => return Ok(whole(200, "")),
            Some(10) => return Ok(too_large()),
            Some(11) => return Ok(refusal(403, "Forbidden", "for now")),
            Some(12) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Some(13) if query.contains_key("continue") => return Ok(expired()),
            _ => {}
        }
        let encoding = self.decide(|model| model.encoding(accept));
        match query.get("watch") {
            Some(_) => Ok(self.watch(&query, namespace, encoding)),
            None => Ok(self.list(&query, namespace.as_deref(), encoding)),
        }
    }

    /// An answer whose body is sent bit by bit.
    fn streamed<F>(&self, encoding: Encoding, send: impl FnOnce(Sender) -> F) -> Response<Body>
    where
        F: Future<Output = Over> + Send + 'static,
    {
        let (chunks, mut receiver) = mpsc::channel(1);
        tokio::spawn(
            send(Sender {
                chunks,
                server: self.clone(),
                encoding,
            })
            .map(drop),
        );
        let frames = stream::poll_fn(move |cx| receiver.poll_recv(cx));
        answer(200, encoding, StreamBody::new(frames).boxed_unsync())
    }

    fn list(
        &self,
        query: &HashMap<String, String>,
        namespace: Option<&str>,
        encoding: Encoding,
    ) -> Response<Body> {
        let mut model = self.lock();
        let found = match (
            query.get("continue"),
            query.get("resourceVersion").map(String::as_str),
        ) {
            (Some(token), _) => {
                let (version, start) = token.split_once('.').unwrap();
                let version = version.parse().unwrap();
                // A page shows the state that the first one did, unless that is forgotten.
                model
                    .states
                    .range(..=version)
                    .next_back()
                    .map(|(_, state)| (version, state.clone(), start.to_owned()))
                    .filter(|_| Self::comparable(version, model.version) && version >= model.compacted)
            }
            (None, None) => Some((model.version, model.now(), String::new())),
            (None, Some("0")) => {
                let (version, state) = model.state_since(0);
                Some((version, state, String::new()))
            }
            (None, Some(version)) => {
                let version: u64 = version.parse().unwrap();
                if version > model.version {
                    return too_large();
                }
                let (version, state) = model.state_since(version);
                Some((version, state, String::new()))
            }
        };
        let Some((version, state, start)) = found else {
            return expired();
        };
        let state = within(&state, namespace);
        let mut rest = state
            .range(start.clone()..)
            .filter(|(key, _)| start.is_empty() || **key > start);
        let size = match model.small_pages && (query.contains_key("limit") || query.contains_key("continue"))
        {
            true => model.rng.random_range(1..3),
            false => usize::MAX,
        };
        let page: Vec<_> = rest.by_ref().take(size).collect();
        let items: Vec<_> = page
            .iter()
            .map(|(key, object)| {
                let mut item = to_json(key, object);
                item.as_object_mut()
                    .unwrap()
                    .retain(|name, _| name != "kind" && name != "apiVersion");
                item
            })
            .collect();
        let version = version.to_string();
        let text = match (rest.next(), page.last()) {
            (Some(_), Some((last, _))) => kind().page(&version, items, &format!("{version}.{last}")),
            _ => kind().list(&version, items),
        };
        let text = encoding.object(text);
        let fault = model.fault().then(|| model.rng.random_range(0..4));
        drop(model);
        self.streamed(encoding, move |sender| async move {
            let sent = match fault {
                None => sender.send(text).await,
                Some(_) => sender.cut(text).await,
            };
            match (sent, fault) {
                (Err(over), _) => over,
                (Ok(()), Some(0)) => sender.broken().await,
                (Ok(()), Some(1)) => sender.silence().await,
                (Ok(()), Some(2)) => sender.send("\0garbage").await.err().unwrap_or(Over),
                _ => Over,
            }
        })
    }

    fn watch(
        &self,
        query: &HashMap<String, String>,
        namespace: Option<String>,
        encoding: Encoding,
    ) -> Response<Body> {
        let mut model = self.lock();
        let version: Option<u64> = query.get("resourceVersion").map(|text| text.parse().unwrap());
        if version.is_some_and(|version| version > model.version) {
            return too_large();
        }
        let streaming = query.contains_key("sendInitialEvents");
        if streaming && !model.streams {
            return refusal(422, "Invalid", "sendInitialEvents is forbidden for watch");
        }
        let initial = streaming.then(|| match version {
            Some(version) => model.state_since(version),
            None => (model.version, model.now()),
        });
        let from = initial
            .as_ref()
            .map_or_else(|| version.expect("a version"), |(version, _)| *version);
        let gone = from < model.compacted;
        if gone && model.rng.random_bool(0.5) {
            return expired();
        }
        let timeout = query["timeoutSeconds"].parse().unwrap();
        let watch = Watch {
            position: from,
            epoch: model.epoch,
            deadline: Instant::now() + Duration::from_secs(timeout),
            sent: vec![],
            namespace,
        };
        drop(model);
        self.streamed(encoding, move |sender| async move {
            let initial = initial.map(|(_, state)| within(&state, watch.namespace.as_deref()));
            watch.run(&sender, initial).await.err().unwrap_or(Over)
        })
    }
}

/// One watch that is being answered.
struct Watch {
    /// Everything up to here has been sent.
    position: u64,
    epoch: u64,
    deadline: Instant,
    /// The events that have been sent.
    sent: Vec<Bytes>,
    /// `None`: all.
    namespace: Option<String>,
}

enum Next {
    Event(Event),
    Nothing,
    Gone,
}

impl Watch {
    async fn run(mut self, sender: &Sender, initial: Option<State>) -> Result<(), Over> {
        if let Some(state) = initial {
            for (key, object) in state.iter() {
                self.send(sender, event("ADDED", &to_json(key, object))).await?;
            }
            // What happens meanwhile may come before the end or after it.
            while sender.server.decide(|model| model.rng.random_bool(0.3)) {
                match self.next(&sender.server)? {
                    Next::Event(event) => self.event(sender, event).await?,
                    _ => break,
                }
            }
            if sender.server.decide(Model::fault) {
                return Err(sender.silence().await);
            }
            let end = kind().initial_events_end(&self.position.to_string());
            sender.send(sender.encoding.event(end)).await?;
        }
        let mut changed = sender.server.decide(|model| model.changed.subscribe());
        loop {
            match self.next(&sender.server)? {
                Next::Event(event) => self.event(sender, event).await?,
                Next::Gone => {
                    let gone = event("ERROR", &status(410, "Expired", "too old resource version"));
                    return sender.send(sender.encoding.event(gone)).await;
                }
                Next::Nothing => {
                    let seconds = sender.server.decide(|model| model.rng.random_range(5..120));
                    tokio::select! {
                        biased;
                        () = sender.chunks.closed() => return Err(Over),
                        _ = changed.changed() => {}
                        () = tokio::time::sleep_until(self.deadline) => return Ok(()),
                        () = tokio::time::sleep(Duration::from_secs(seconds)) => {
                            let version = sender.server.decide(|model| model.version);
                            if let Next::Nothing = self.next(&sender.server)? {
                                self.position = version;
                                self.send(sender, kind().bookmark(&version.to_string())).await?;
                            }
                        }
                    }
                }
            }
        }
    }

    /// What comes after what was sent.
    fn next(&self, server: &Server) -> Result<Next, Over> {
        let model = server.lock();
        if model.epoch != self.epoch {
            return Err(Over);
        }
        if model.compacted > self.position {
            return Ok(Next::Gone);
        }
        let inside = |key: &str| {
            let namespace = self.namespace.as_deref();
            namespace.is_none_or(|namespace| is_in(key, namespace))
        };
        let after = model
            .events
            .iter()
            .find(|event| event.object.version > self.position && inside(&event.key));
        Ok(after.map_or(Next::Nothing, |event| Next::Event(event.clone())))
    }

    async fn event(&mut self, sender: &Sender, Event { kind, key, object }: Event) -> Result<(), Over> {
        self.position = object.version;
        self.send(sender, event(kind, &to_json(&key, &object))).await
    }

    /// Sends a frame, unless something happens to it.
    async fn send(&mut self, sender: &Sender, event: String) -> Result<(), Over> {
        let frame = sender.encoding.event(event);
        let fault = sender
            .server
            .decide(|model| model.fault().then(|| model.rng.random_range(0..14)));
        let error = |code, reason| {
            let error = kube_sim::script::event("ERROR", &status(code, reason, "no more"));
            sender.encoding.event(error)
        };
        match fault {
            Some(0) => return Err(Over),
            Some(1) => return Err(sender.broken().await),
            Some(2) => {
                sender.cut(frame).await?;
                return Err(Over);
            }
            Some(3) => {
                sender.cut(frame).await?;
                return Err(sender.broken().await);
            }
            Some(4) => {
                sender.send(error(410, "Expired")).await?;
                return Err(Over);
            }
            Some(5) => {
                sender.send(error(429, "TooManyRequests")).await?;
                return Err(Over);
            }
            Some(6) => {
                sender.send(error(500, "InternalError")).await?;
                return Err(Over);
            }
            Some(7) => return Err(sender.silence().await),
            Some(8) => {
                sender.send("garbage").await?;
                return Err(Over);
            }
            Some(9) => {
                let seconds = sender.server.decide(|model| model.rng.random_range(1..60));
                tokio::time::sleep(Duration::from_secs(seconds)).await;
            }
            // What was sent before is sent again.
            Some(_) if !self.sent.is_empty() => {
                let last = self.sent.len();
                let again = sender
                    .server
                    .decide(|model| model.rng.random_range(last.saturating_sub(3)..last));
                sender.send(self.sent[again].clone()).await?;
            }
            _ => {}
        }
        self.sent.push(frame.clone());
        sender.send(frame).await
    }
}
