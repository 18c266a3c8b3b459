//! Nothing but a reader of the watch's bytes: no object is found, read, kept or told of. What it takes is the server's time and the
//! connection's, which is in every controller's.

use crate::measure::Latencies;
use anyhow::Context as _;
use http::{Request, header};
use http_body_util::BodyExt as _;
use k8s_openapi::api::core::v1::Pod;
use kube::api::ListParams;
use kube::client::Body;
use kube::{Api, Client};
use std::sync::Arc;

/// The encoding that kube-controller asks for.
const PROTOBUF: &str = "application/vnd.kubernetes.protobuf;stream=watch";
/// The annotation that says when a pod was changed: an entry of a map of strings, up to the length of the number.
const AT: &[u8] = b"\x0a\x08bench/at\x12";

pub async fn pods(client: Client, latencies: Arc<Latencies>, objects: u64) -> anyhow::Result<()> {
    let pods = Api::<Pod>::all(client.clone());
    let list = pods.list_metadata(&ListParams::default().limit(1)).await?;
    let version = list.metadata.resource_version.unwrap_or_default();
    let request = Request::get(format!("/api/v1/pods?watch=true&resourceVersion={version}"))
        .header(header::ACCEPT, PROTOBUF)
        .body(Body::empty())?;
    let mut body = client.send(request).await?.into_body();
    latencies.settled(objects);
    let mut unread = Vec::new();
    while let Some(frame) = body.frame().await {
        if let Ok(data) = frame?.into_data() {
            unread.extend_from_slice(&data);
            take_events(&mut unread, &latencies)?;
        }
    }
    Ok(())
}

/// Takes the events that have arrived completely: their length in four bytes, then as many bytes.
fn take_events(unread: &mut Vec<u8>, latencies: &Latencies) -> anyhow::Result<()> {
    let mut left = &unread[..];
    while let Some((length, rest)) = left.split_first_chunk()
        && let Some((event, rest)) = rest.split_at_checked(u32::from_be_bytes(*length) as usize)
    {
        if let Some(at) = event.windows(AT.len()).position(|part| part == AT) {
            let value = event[at + AT.len()..].split_first();
            let value = value.and_then(|(length, text)| text.get(..usize::from(*length)));
            let at = std::str::from_utf8(value.context("an event is cut off")?)?;
            latencies.arrived(at.parse()?);
        }
        left = rest;
    }
    let read = unread.len() - left.len();
    unread.drain(..read);
    Ok(())
}
