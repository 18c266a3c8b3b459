//! `exec` and `attach` over a WebSocket of several channels. Most clients show nothing of a refused handshake, so that a real server
//! accepts it and reports on the error channel what went wrong between it and the kubelet.

use futures::SinkExt as _;
use http::Request;
use http::header::SEC_WEBSOCKET_PROTOCOL;
use http_body_util::BodyExt as _;
use hyper::upgrade::OnUpgrade;
use serde_json::Value;
use tokio_tungstenite::tungstenite::protocol::Message;

use super::{Sent, has, normal_end, opened};
use crate::api::options::Query;
use crate::response::{InOrder, SimBody};

/// The only protocol that a real server speaks by itself. It leaves the older ones to kubelets.
pub(super) const PROTOCOL: &str = "v5.channel.k8s.io";
const OUTPUT: u8 = 1;
const ERROR_OUTPUT: u8 = 2;
const STATUS: u8 = 3;

/// A wish to talk to a process.
pub(super) struct RemoteCommand {
    /// The first channel that the server writes to.
    first: u8,
}

impl RemoteCommand {
    pub(super) fn of<B>(request: &Request<B>) -> Option<Self> {
        let (_, last) = request.uri().path().rsplit_once('/')?;
        let is_remote = matches!(last, "exec" | "attach");
        if !is_remote || !has(request.headers(), SEC_WEBSOCKET_PROTOCOL, PROTOCOL) {
            return None;
        }
        let query = request.uri().query().unwrap_or("");
        let query: Vec<_> = form_urlencoded::parse(query.as_bytes()).into_owned().collect();
        let query = Query::of(&query);
        let first = match (query.flag("stdout"), query.flag("stderr")) {
            (Some(true), _) => OUTPUT,
            (_, Some(true)) => ERROR_OUTPUT,
            _ => STATUS,
        };
        Some(Self { first })
    }

    /// Sends an answer's body, a status, on the error channel. An empty message comes first, which says that the connection is there.
    pub(super) async fn refuse(self, upgrade: OnUpgrade, body: SimBody) -> Sent {
        let body = body.collect().await?.to_bytes();
        let mut status: Value = serde_json::from_slice(&body)?;
        if let Some(status) = status.as_object_mut() {
            status.remove("kind");
            status.remove("apiVersion");
        }
        let mut message = vec![STATUS];
        serde_json::to_writer(&mut message, &InOrder::of(&status))?;
        let mut socket = opened(upgrade).await?;
        socket.send(Message::binary(vec![self.first])).await?;
        socket.send(Message::binary(message)).await?;
        socket.close(Some(normal_end())).await?;
        Ok(())
    }
}
