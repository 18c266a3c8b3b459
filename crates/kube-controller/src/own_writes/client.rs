//! The client that notes the answers to writes.

use super::answer::{Target, condition, written};
use super::{ECHO, OwnWrites, RUN};
use http::header::CONTENT_TYPE;
use http::{Request, Response};
use kube::Client;
use kube::client::Body;

pub(super) fn noting(writes: OwnWrites, client: Client) -> Client {
    let namespace = client.default_namespace().to_owned();
    let valid_until = *client.valid_until();
    let service = tower::service_fn(move |request: Request<Body>| {
        let (writes, client) = (writes.clone(), client.clone());
        // It is polled in the task that makes the request, where the run is known.
        async move { send(&writes, &client, request).await }
    });
    Client::new(service, namespace).with_valid_until(valid_until)
}

async fn send(
    writes: &OwnWrites,
    client: &Client,
    request: Request<Body>,
) -> Result<Response<Body>, kube::Error> {
    let Some(target) = Target::of(request.method(), request.uri()) else {
        return client.send(request).await;
    };
    let caches = writes
        .lock()
        .caches_of(&target.resource, target.namespace.as_deref());
    if caches.is_empty() {
        return client.send(request).await;
    }
    let (parts, body) = request.into_parts();
    let sent = body.collect_bytes().await?;
    let condition = condition(&sent);
    let request = Request::from_parts(parts, Body::from(sent));
    let response = client.send(request).await?;
    let is_json = response.headers().get(CONTENT_TYPE).is_some_and(|content| {
        let content = content.to_str().unwrap_or_default();
        content.split(';').next().unwrap_or_default().ends_with("json")
    });
    if !response.status().is_success() || !is_json {
        return Ok(response);
    }
    let (parts, body) = response.into_parts();
    let bytes = body.collect_bytes().await?;
    let run = RUN.try_with(Clone::clone).ok();
    let with_echo = ECHO.try_with(|()| ()).is_ok();
    let mut state = writes.lock();
    for written in written(&target, condition.as_deref(), parts.status, &bytes) {
        state.note(&caches, &written, run.as_ref(), with_echo);
    }
    drop(state);
    Ok(Response::from_parts(parts, Body::from(bytes)))
}
