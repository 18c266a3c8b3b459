//! Watches over WebSockets, by which some clients ask for them (fabric8's, and those in browsers): an event is a message.

use futures::{SinkExt as _, StreamExt as _};
use http::header::{ACCEPT_ENCODING, CONNECTION, CONTENT_TYPE, ORIGIN, UPGRADE};
use http::{HeaderMap, HeaderName, Method, Request, Response, StatusCode};
use http_body_util::BodyExt as _;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Message, Role};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::response::{self, Frames, SimBody};

const KEY: HeaderName = HeaderName::from_static("sec-websocket-key");
const ACCEPT: HeaderName = HeaderName::from_static("sec-websocket-accept");

/// A request's wish to have the answer over a WebSocket.
pub(super) struct Wish {
    accept: String,
    has_origin: bool,
    upgrade: OnUpgrade,
}

impl Wish {
    /// Takes the wish from a request; none if there is no such wish.
    pub(super) fn of<B>(request: &mut Request<B>) -> Option<Self> {
        let headers = request.headers();
        let wants = has(headers, CONNECTION, "upgrade") && has(headers, UPGRADE, "websocket");
        if request.method() != Method::GET || !wants {
            return None;
        }
        let accept = derive_accept_key(headers.get(KEY)?.as_bytes());
        let has_origin = headers.contains_key(ORIGIN);
        let upgrade = hyper::upgrade::on(&mut *request);
        // Messages are not compressed.
        request.headers_mut().remove(ACCEPT_ENCODING);
        Some(Self {
            accept,
            has_origin,
            upgrade,
        })
    }

    /// Turns the answer of a watch into one whose events come as messages. Other answers stay as they are, and so do those in another
    /// format than JSON.
    /// A request that does not say where it comes from is refused, as by a real server.
    pub(super) fn grant(
        self,
        answer: Response<SimBody>,
        tasks: &TaskTracker,
        closing: CancellationToken,
    ) -> Response<SimBody> {
        let content_type = answer.headers().get(CONTENT_TYPE);
        let is_json = content_type.is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
        let Ok(accept) = self.accept.parse() else {
            return answer;
        };
        let is_watch = answer.extensions().get::<Frames>().is_some();
        if !is_watch || !is_json {
            return answer;
        }
        if !self.has_origin {
            return response::text(StatusCode::FORBIDDEN, "");
        }
        let (upgrade, body) = (self.upgrade, answer.into_body());
        tasks.spawn(async move {
            let sent = tokio::select! {
                () = closing.cancelled() => return,
                sent = send(upgrade, body) => sent,
            };
            if let Err(error) = sent {
                tracing::debug!(%error, "a watch over a WebSocket ended with an error");
            }
        });
        let mut switching = response::text(StatusCode::SWITCHING_PROTOCOLS, "");
        let headers = switching.headers_mut();
        headers.clear();
        headers.insert(CONNECTION, "Upgrade".parse().expect("a valid value"));
        headers.insert(UPGRADE, "websocket".parse().expect("a valid value"));
        headers.insert(ACCEPT, accept);
        switching
    }
}

/// Whether a header lists a word, whatever its case.
fn has(headers: &HeaderMap, name: HeaderName, word: &str) -> bool {
    let values = headers
        .get_all(name)
        .into_iter()
        .filter_map(|value| value.to_str().ok());
    values
        .flat_map(|value| value.split(','))
        .any(|part| part.trim().eq_ignore_ascii_case(word))
}

/// Sends the lines of a watch as messages, until it or the client ends.
async fn send(upgrade: OnUpgrade, mut body: SimBody) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let stream = TokioIo::new(upgrade.await?);
    let mut socket = WebSocketStream::from_raw_socket(stream, Role::Server, None).await;
    let mut rest = Vec::new();
    loop {
        let frame = tokio::select! {
            frame = body.frame() => frame,
            // Pings are answered while messages are read; nothing else is expected.
            received = socket.next() => match received {
                Some(Ok(_)) => continue,
                Some(Err(_)) | None => return Ok(()),
            },
        };
        let Some(frame) = frame else { break };
        let Ok(data) = frame?.into_data() else { continue };
        rest.extend_from_slice(&data);
        let Some(end) = rest.iter().rposition(|byte| *byte == b'\n') else {
            continue;
        };
        let lines: Vec<u8> = rest.drain(..=end).collect();
        for line in lines.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            let line = format!("{}\n", String::from_utf8_lossy(line));
            socket.feed(Message::text(line)).await?;
        }
        socket.flush().await?;
    }
    let normal = CloseFrame {
        code: CloseCode::Normal,
        reason: "".into(),
    };
    socket.close(Some(normal)).await?;
    Ok(())
}
