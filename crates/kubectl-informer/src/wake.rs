//! What a machine that has slept does not see: that its connections are gone.
//!
//! A laptop that sleeps for an hour wakes with connections that its peers and routers have given up. Nothing is received on them,
//! not even an error, and a watch would wait for minutes. So each answer that is being read ends with an error when the machine has
//! woken, and is asked for again at once. Time that the machine has slept is time of the wall clock in which the monotonic clock
//! stood still.

use bytes::Bytes;
use futures::{StreamExt as _, TryStreamExt as _};
use http_body::Frame;
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, StreamBody};
use kube::Client;
use kube::client::Body;
use std::time::{Duration, SystemTime};
use tokio::sync::watch;
use tokio::time::Instant;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// How often the clocks are compared.
const TICK: Duration = Duration::from_secs(5);
/// The sleep from which connections may be gone. Clocks that are set differ by less.
const LONG: Duration = Duration::from_secs(20);

/// A client whose answers end when the machine has slept.
pub(crate) fn client(client: Client) -> Client {
    let (told, slept) = watch::channel(Duration::ZERO);
    tokio::spawn(notice(told));
    breaking(client, slept)
}

/// Tells how long the machine has slept whenever it has, until nobody wants to know.
async fn notice(told: watch::Sender<Duration>) {
    let mut before = (SystemTime::now(), Instant::now());
    loop {
        tokio::select! {
            () = told.closed() => return,
            () = tokio::time::sleep(TICK) => {}
        }
        let now = (SystemTime::now(), Instant::now());
        if let Some(slept) = slept(before, now) {
            told.send_replace(slept);
        }
        before = now;
    }
}

/// How long the machine has slept between two times, if that was long.
fn slept(before: (SystemTime, Instant), now: (SystemTime, Instant)) -> Option<Duration> {
    // A clock that was set back tells nothing.
    let passed = now.0.duration_since(before.0).unwrap_or_default();
    let slept = passed.saturating_sub(now.1.saturating_duration_since(before.1));
    (slept >= LONG).then_some(slept)
}

/// A client whose answers end when it is told of a sleep.
fn breaking(client: Client, slept: watch::Receiver<Duration>) -> Client {
    let service = tower::service_fn(move |request| {
        let (client, slept) = (client.clone(), slept.clone());
        async move {
            let response = client.send(request).await?;
            Ok::<_, kube::Error>(response.map(|body| until_slept(body, slept)))
        }
    });
    Client::new(service, "")
}

fn until_slept(body: Body, mut slept: watch::Receiver<Duration>) -> UnsyncBoxBody<Bytes, BoxError> {
    // What was slept before the answer began does not matter.
    slept.mark_unchanged();
    let chunks = body.into_data_stream().map_err(|error| match error {
        // The other client puts its wrapper around it again.
        kube::Error::Service(cause) => cause,
        error => BoxError::from(error),
    });
    let chunks = futures::stream::unfold((chunks, slept), |(mut chunks, mut slept)| async move {
        let chunk = tokio::select! {
            chunk = chunks.next() => chunk?,
            Ok(()) = slept.changed() => {
                let seconds = slept.borrow().as_secs();
                Err(format!("this machine has slept for {seconds} s, so the connection may be lost").into())
            }
        };
        Some((chunk.map(Frame::data), (chunks, slept)))
    });
    StreamBody::new(chunks).boxed_unsync()
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::{Request, Response};

    #[test]
    fn a_sleep_is_wall_clock_time_without_monotonic_time() {
        let start = (SystemTime::now(), Instant::now());
        let after = |wall: u64, monotonic: u64| {
            let (wall, monotonic) = (Duration::from_secs(wall), Duration::from_secs(monotonic));
            slept(start, (start.0 + wall, start.1 + monotonic))
        };
        assert_eq!(after(5, 5), None);
        // A busy machine, and one that was stopped by a debugger: both clocks run.
        assert_eq!(after(600, 600), None);
        assert_eq!(after(24, 5), None);
        assert_eq!(after(605, 5), Some(Duration::from_secs(600)));
        // A clock that was set back.
        let back = (
            start.0 - Duration::from_secs(600),
            start.1 + Duration::from_secs(5),
        );
        assert_eq!(slept(start, back), None);
    }

    #[tokio::test]
    async fn an_answer_ends_when_the_machine_has_slept() {
        let (told, slept) = watch::channel(Duration::ZERO);
        // As of an earlier sleep.
        told.send_replace(Duration::from_secs(1));
        let server = tower::service_fn(|_: Request<Body>| async {
            let chunks =
                futures::stream::iter([Ok::<_, BoxError>(Frame::data(Bytes::from_static(b"first")))]);
            let body = StreamBody::new(chunks.chain(futures::stream::pending()));
            Ok::<_, BoxError>(Response::new(body))
        });
        let client = breaking(Client::new(server, ""), slept);
        let response = client.send(Request::new(Body::empty())).await.unwrap();
        let mut chunks = response.into_body().into_data_stream();
        assert_eq!(chunks.next().await.unwrap().unwrap(), "first");
        told.send_replace(Duration::from_secs(600));
        let error = chunks.next().await.unwrap().unwrap_err();
        assert!(error.to_string().contains("slept for 600 s"), "{error}");
    }
}
