//! The way from a client to the server and back.
//!
//! A request travels on a task of its own: once it is sent, it arrives, whether or not its sender still waits for
//! it. Only one that takes long is lost when nobody waits any more: the connection has been closed, and a server drops what it has
//! not begun. The sender of an incarnation that has ended waits for ever.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use futures::future::BoxFuture;
use futures::{FutureExt as _, StreamExt as _, stream};
use http::header::{ACCEPT, ACCEPT_ENCODING};
use http::{HeaderValue, Request, Response};
use http_body_util::{BodyDataStream, BodyExt as _, Full};
use kube_client::client::Body;
use tokio::sync::oneshot;
use tokio::time::Instant;
use tower::Service as _;

use super::chance::millis;
use super::request::{Asked, Seen, answered};
use super::schedule::{Effect, RequestSite, Site};
use super::trace::Who;
use super::world::{Incarnation, World};
use crate::faults::Decided;
use crate::response::{BoxError, SimBody, frames, whole};

type Answered = io::Result<Response<SimBody>>;

/// Where an answer is waited for.
type Answer = oneshot::Sender<Answered>;

/// A service for one client.
#[derive(Clone)]
pub(super) struct Link {
    world: Arc<World>,
    /// None: the workload, for which nothing goes wrong.
    program: Option<Arc<Incarnation>>,
}

impl Link {
    pub(super) fn of_program(world: Arc<World>, incarnation: Arc<Incarnation>) -> Self {
        Self {
            world,
            program: Some(incarnation),
        }
    }

    pub(super) fn of_workload(world: Arc<World>) -> Self {
        Self { world, program: None }
    }

    fn is_over(&self) -> bool {
        self.program
            .as_ref()
            .is_some_and(|program| program.over.is_cancelled())
    }

    fn who(&self) -> Who {
        self.program
            .as_ref()
            .map_or(Who::Workload, |program| Who::Program(program.life))
    }

    fn tell(&self, what: String) {
        self.world.tell(self.who(), what);
    }
}

impl tower::Service<Request<Body>> for Link {
    type Response = Response<SimBody>;
    type Error = io::Error;
    type Future = BoxFuture<'static, io::Result<Self::Response>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let link = self.clone();
        if link.is_over() {
            return std::future::pending().boxed();
        }
        let (answer, answered) = oneshot::channel();
        tokio::spawn(async move {
            if let Some(result) = link.exchange(request, &answer).await
                && !link.is_over()
            {
                // Nobody may wait for it any more.
                let _ = answer.send(result);
            }
        });
        async move {
            match answered.await {
                Ok(result) => result,
                // The program is over.
                Err(_) => std::future::pending().await,
            }
        }
        .boxed()
    }
}

impl Link {
    /// Sends a request and brings its answer back. None: the program ends before that.
    async fn exchange(&self, request: Request<Body>, answer: &Answer) -> Option<Answered> {
        let (mut parts, body) = request.into_parts();
        let body = match body.collect().await {
            Ok(body) => body.to_bytes(),
            Err(error) => return Some(Err(io::Error::other(error))),
        };
        in_json(&mut parts.headers);
        let asked = Asked::of(&parts, &body);
        let request = Request::from_parts(parts, Full::new(body));
        match &self.program {
            Some(program) => self.of_program_sent(program, request, &asked, answer).await,
            None => {
                let nth = self.world.next_of_workload();
                self.world.travel(self.world.plan.pause(nth)).await;
                let answer = self.answer(request, &asked, None).await;
                let (_, back) = self.world.plan.transit(&format!("workload {nth}"));
                self.world.travel(back).await;
                Some(answer)
            }
        }
    }

    async fn of_program_sent(
        &self,
        program: &Arc<Incarnation>,
        mut request: Request<Full<Bytes>>,
        asked: &Asked,
        waiting: &Answer,
    ) -> Option<Answered> {
        let (world, life) = (&self.world, program.life);
        let site = world.site(life, asked);
        let chosen = match world.is_calm() {
            true => None,
            false => world.plan.at_request(&site, asked),
        };
        let happens = |effect| world.happens(Site::Request(site.clone()), effect);
        let (mut there, mut back) = world.plan.transit(&site.to_string());
        if let Some(effect @ Effect::SlowRequest(late)) = chosen {
            happens(effect);
            self.tell(format!("sends slowly: {}", asked.line));
            there += late;
        }
        world.travel(there).await;
        if let Some(Effect::SlowRequest(_)) = chosen
            && (program.over.is_cancelled() || waiting.is_closed())
        {
            self.tell(format!("{} -> lost, nobody waits for it any more", asked.line));
            return None;
        }
        if let Some(until) = world.cut_off_until(life) {
            tokio::time::sleep_until(until).await;
            self.tell(format!("{} -> lost, the program was cut off", asked.line));
            return Some(Err(reset()));
        }
        let mut decided = Decided::default();
        match chosen {
            Some(effect @ Effect::CrashBefore(down)) if !program.over.is_cancelled() => {
                happens(effect);
                world.crash(program, down, &format!("before: {}", asked.line));
                return None;
            }
            Some(effect @ Effect::LoseRequest) => {
                happens(effect);
                self.tell(format!("{} -> lost before the server has seen it", asked.line));
                return Some(Err(reset()));
            }
            Some(Effect::Conflict) => decided.refused = Some(409),
            Some(Effect::Refuse(code)) => decided.refused = Some(code),
            Some(effect @ Effect::Lag(changes, time)) => {
                happens(effect);
                let version = world.lag(life, changes, time);
                let seconds = millis(time).as_secs_f64();
                self.tell(format!(
                    "is connected to a server that stays at {version} for {seconds:.3} s"
                ));
            }
            _ => {}
        }
        if let (Some(_), Some(effect)) = (decided.refused, chosen) {
            happens(effect);
        }
        let stuck = world.lagging(life).map(|(version, _)| version);
        decided.stale = stuck.filter(|stuck| asked.not_older.is_some_and(|version| version <= *stuck));
        request.extensions_mut().insert(decided);
        let answer = self.answer(request, asked, Some((program, &site))).await;
        match chosen {
            Some(effect @ Effect::CrashAfter(down)) if !program.over.is_cancelled() => {
                happens(effect);
                world.crash(program, down, "before that answer");
                return None;
            }
            Some(effect @ Effect::LoseAnswer) => {
                happens(effect);
                world.travel(back).await;
                self.tell(format!("loses the answer to: {}", asked.line));
                return Some(Err(reset()));
            }
            Some(effect @ Effect::SlowAnswer(late)) => {
                happens(effect);
                back += late;
            }
            _ => {}
        }
        world.travel(back).await;
        if let Some(until) = world.cut_off_until(life) {
            tokio::time::sleep_until(until).await;
        }
        if back > NOTABLE && !program.over.is_cancelled() {
            self.tell(format!("gets the answer to: {}", asked.line));
        }
        Some(answer)
    }

    /// Has the server act.
    async fn answer(
        &self,
        request: Request<Full<Bytes>>,
        asked: &Asked,
        watch: Option<(&Arc<Incarnation>, &RequestSite)>,
    ) -> Answered {
        let answer = self.world.sim.service().call(request).await;
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) => {
                self.tell(format!("{} -> {error}", asked.line));
                self.world.look();
                return Err(error);
            }
        };
        let (parts, body) = answer.into_parts();
        if asked.verb == "watch" && parts.status.is_success() {
            self.tell(format!("{} -> {}", asked.line, parts.status.as_u16()));
            let body = self.watched(body, &asked.resource, watch);
            return Ok(Response::from_parts(parts, body));
        }
        let body = match body.collect().await {
            Ok(body) => body.to_bytes(),
            Err(error) => {
                self.tell(format!("{} -> breaks off: {error}", asked.line));
                self.world.look();
                return Err(io::Error::other(error));
            }
        };
        self.tell(format!("{} -> {}", asked.line, answered(parts.status, &body)));
        self.world.look();
        Ok(Response::from_parts(parts, whole(body)))
    }

    /// The events of a watch, as they reach the program or the workload.
    fn watched(
        &self,
        body: SimBody,
        resource: &str,
        watch: Option<(&Arc<Incarnation>, &RequestSite)>,
    ) -> SimBody {
        let number = self.world.next_watch();
        let events = Events {
            link: self.clone(),
            program: watch.map(|(program, site)| (program.clone(), site.clone())),
            resource: resource.to_owned(),
            name: watch.map_or_else(
                || format!("workload watch {number}"),
                |(_, site)| site.to_string(),
            ),
            number,
            chunks: body.into_data_stream(),
            partial: BytesMut::new(),
            waiting: VecDeque::new(),
            queued: 0,
            delivered: 0,
            over: false,
        };
        frames(stream::unfold(events, |mut events| async {
            let item = events.next().await?;
            Some((item, events))
        }))
    }
}

/// An answer that takes longer than this is told of when it comes, in milliseconds.
const NOTABLE: u64 = 100;

/// A watch on its way to the program or the workload.
struct Events {
    link: Link,
    /// None: the workload, for which nothing goes wrong.
    program: Option<(Arc<Incarnation>, RequestSite)>,
    resource: String,
    /// By which its times are chosen.
    name: String,
    number: u64,
    chunks: BodyDataStream<SimBody>,
    /// The start of an event.
    partial: BytesMut,
    /// Events that are on their way, and when they arrive if nothing delays them.
    waiting: VecDeque<(Instant, Bytes)>,
    queued: u32,
    delivered: u32,
    over: bool,
}

impl Events {
    async fn next(&mut self) -> Option<Result<Bytes, BoxError>> {
        loop {
            if self.over {
                return None;
            }
            if self.link.is_over() {
                return std::future::pending().await;
            }
            if let Some((at, event)) = self.waiting.pop_front() {
                return self.deliver(at, event).await;
            }
            match self.chunks.next().await {
                Some(Ok(chunk)) => self.take(&chunk),
                ending => {
                    self.over = true;
                    self.link.world.travel_to_watch(1, self.number).await;
                    let resource = &self.resource;
                    let how = if ending.is_some() { "breaks" } else { "ends" };
                    self.link.tell(format!("watch of {resource} {how}"));
                    return ending;
                }
            }
        }
    }

    /// Puts the events of a chunk on their way, each of its own.
    fn take(&mut self, chunk: &[u8]) {
        self.partial.extend_from_slice(chunk);
        while let Some(end) = self.partial.iter().position(|byte| *byte == b'\n') {
            let event = self.partial.split_to(end + 1).freeze();
            self.queued = self.queued.saturating_add(1);
            let time = self.link.world.plan.event_transit(&self.name, self.queued);
            self.waiting.push_back((Instant::now() + millis(time), event));
        }
    }

    async fn deliver(&mut self, mut at: Instant, event: Bytes) -> Option<Result<Bytes, BoxError>> {
        let world = self.link.world.clone();
        self.delivered = self.delivered.saturating_add(1);
        let seen = Seen::of(&event);
        let resource = self.resource.clone();
        let program = self.program.clone();
        let chosen = program
            .as_ref()
            .filter(|_| !world.is_calm())
            .and_then(|(program, site)| {
                let effect = world.plan.at_event(site, self.delivered)?;
                world.happens(Site::Event(site.clone(), self.delivered), effect);
                Some((program, effect))
            });
        match chosen {
            Some((_, Effect::Hold(time))) => {
                let seconds = millis(time).as_secs_f64();
                self.link
                    .tell(format!("watch of {resource} falls silent for {seconds:.3} s"));
                at += millis(time);
            }
            Some((program, Effect::Crash(down))) => {
                world.crash(
                    program,
                    down,
                    &format!("before it gets {} of {resource}", seen.line),
                );
                return std::future::pending().await;
            }
            Some((_, effect @ (Effect::Cut | Effect::End))) => {
                self.over = true;
                let breaks = effect == Effect::Cut;
                let how = if breaks { "breaks" } else { "ends" };
                self.link
                    .tell(format!("watch of {resource} {how} before {}", seen.line));
                return breaks.then(|| Err(reset().into()));
            }
            _ => {}
        }
        // What is behind another event comes right after it.
        if let Some(time) = at
            .checked_duration_since(Instant::now())
            .filter(|time| !time.is_zero())
        {
            let time = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
            world.travel_to_watch(time, self.number).await;
        }
        while let Some(until) = self.held_until(&world, seen.version) {
            tokio::time::sleep_until(until).await;
        }
        if self.link.is_over() {
            return std::future::pending().await;
        }
        self.link.tell(format!("gets {} of {resource}", seen.line));
        Some(Ok(event))
    }

    /// Until when an event is held back, if it is.
    fn held_until(&self, world: &World, version: Option<u64>) -> Option<Instant> {
        let life = self.program.as_ref()?.0.life;
        let cut_off = world.cut_off_until(life);
        let ahead = |stuck: u64| version.is_some_and(|version| version > stuck);
        let lag = world.lagging(life).filter(|(stuck, _)| ahead(*stuck));
        cut_off.or(lag.map(|(_, until)| until))
    }
}

/// Asks for JSON, as it is, where something else is preferred.
fn in_json(headers: &mut http::HeaderMap) {
    headers.remove(ACCEPT_ENCODING);
    let accept = headers
        .get(ACCEPT)
        .and_then(|accept| accept.to_str().ok())
        .unwrap_or("");
    if !accept.contains("protobuf") {
        return;
    }
    let others: Vec<_> = accept
        .split(',')
        .filter(|offer| !offer.contains("protobuf"))
        .collect();
    let json = match others.is_empty() {
        true => "application/json".to_owned(),
        false => others.join(","),
    };
    if let Ok(json) = HeaderValue::try_from(json) {
        headers.insert(ACCEPT, json);
    }
}

fn reset() -> io::Error {
    io::ErrorKind::ConnectionReset.into()
}
