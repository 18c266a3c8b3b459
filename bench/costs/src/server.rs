//! An API server of one collection without a network: it answers lists with prepared bodies, and its watch sends what it is
//! given. The informer's own client reads it, from the response's body on.

use bytes::Bytes;
use futures::channel::mpsc::{UnboundedReceiver, UnboundedSender, unbounded};
use futures::future::BoxFuture;
use futures::{FutureExt as _, StreamExt as _, stream};
use http::{Request, Response, header::CONTENT_TYPE};
use http_body::Frame;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, StreamBody};
use kube::client::Body;
use kube_informer::low_level::wire::Encoding;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use tokio::runtime::{Builder, Runtime};
use tower::service_fn;

type Responses = UnsyncBoxBody<Bytes, Infallible>;

/// What hyper hands out on a fast connection.
const CHUNK: usize = 64 << 10;

/// A runtime on this thread, on a paused clock: when nothing is left to do, time goes on to the next timer.
pub fn runtime() -> Runtime {
    Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime")
}

/// The bodies of the lists in turn; the last one is that of all further lists.
type Lists = Arc<Mutex<VecDeque<Bytes>>>;
type Events = Arc<tokio::sync::Mutex<UnboundedReceiver<Bytes>>>;

/// A client of a server with these lists, and what its watch sends.
pub fn client(encoding: Encoding, lists: Vec<Bytes>) -> (kube::Client, UnboundedSender<Bytes>) {
    let (sender, events) = unbounded();
    let lists: Lists = Arc::new(Mutex::new(lists.into()));
    let events: Events = Arc::new(tokio::sync::Mutex::new(events));
    let content_type = match encoding {
        Encoding::Protobuf => "application/vnd.kubernetes.protobuf",
        _ => "application/json",
    };
    let answer =
        move |request: Request<Body>| -> BoxFuture<'static, Result<Response<Responses>, Infallible>> {
            let query = request.uri().query().unwrap_or_default();
            let (watching, streaming) = (query.contains("watch="), query.contains("sendInitialEvents"));
            let mut response = Response::builder();
            let body = if streaming {
                // As servers do that have no streaming lists.
                response = response.status(422);
                chunked(Bytes::from_static(UNPROCESSABLE.as_bytes()))
            } else if watching {
                let events = events.clone();
                let frames = stream::unfold((), move |()| {
                    let events = events.clone();
                    async move { Some((Ok(Frame::data(events.lock().await.next().await?)), ())) }
                });
                StreamBody::new(frames).boxed_unsync()
            } else {
                let mut lists = lists.lock().expect("not poisoned");
                let list = match lists.len() {
                    1 => lists[0].clone(),
                    _ => lists.pop_front().expect("there is a list"),
                };
                chunked(list)
            };
            let content_type = match (streaming, watching, encoding) {
                (true, ..) => "application/json",
                (_, true, Encoding::Protobuf) => "application/vnd.kubernetes.protobuf;stream=watch",
                _ => content_type,
            };
            let response = response
                .header(CONTENT_TYPE, content_type)
                .body(body)
                .expect("a response");
            async move { Ok(response) }.boxed()
        };
    (kube::Client::new(service_fn(answer), "default"), sender)
}

const UNPROCESSABLE: &str = r#"{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"sendInitialEvents is forbidden","reason":"Invalid","code":422}"#;

fn chunked(body: Bytes) -> Responses {
    let starts = (0..body.len()).step_by(CHUNK);
    let chunks = starts.map(move |start| Ok(Frame::data(body.slice(start..body.len().min(start + CHUNK)))));
    StreamBody::new(stream::iter(chunks)).boxed_unsync()
}
