//! Watches over WebSockets, by which some clients ask for them (fabric8's, and those in browsers): an event is a message.
//! And `exec` and `attach`, whose clients read why there is no process only on a channel of the WebSocket.

use futures::{SinkExt as _, StreamExt as _};
use http::header::{ACCEPT_ENCODING, CONNECTION, CONTENT_TYPE, ORIGIN, SEC_WEBSOCKET_PROTOCOL, UPGRADE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::BodyExt as _;
use hyper::upgrade::{OnUpgrade, Upgraded};
use hyper_util::rt::TokioIo;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Message, Role};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::response::{self, Frames, SimBody};

use remote_command::RemoteCommand;

mod remote_command;

const KEY: HeaderName = HeaderName::from_static("sec-websocket-key");
const ACCEPT: HeaderName = HeaderName::from_static("sec-websocket-accept");

/// A request's wish to have the answer over a WebSocket.
pub(super) struct Wish {
    accept: String,
    has_origin: bool,
    remote_command: Option<RemoteCommand>,
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
        let remote_command = RemoteCommand::of(request);
        let upgrade = hyper::upgrade::on(&mut *request);
        // Messages are not compressed.
        request.headers_mut().remove(ACCEPT_ENCODING);
        Some(Self {
            accept,
            has_origin,
            remote_command,
            upgrade,
        })
    }

    /// Turns the answer of a watch into one whose events come as messages, and the reason why there is no process into one that
    /// comes on a channel. Other answers stay as they are, and so do those in another format than JSON.
    /// A watch that does not say where it comes from is refused, as by a real server.
    pub(super) fn grant(
        self,
        answer: Response<SimBody>,
        tasks: &TaskTracker,
        closing: CancellationToken,
    ) -> Response<SimBody> {
        let content_type = answer.headers().get(CONTENT_TYPE);
        let is_json = content_type.is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
        let Ok(accept) = HeaderValue::from_str(&self.accept) else {
            return answer;
        };
        let is_watch = answer.extensions().get::<Frames>().is_some();
        if let Some(command) = self.remote_command
            && answer.status() == StatusCode::NOT_IMPLEMENTED
            && is_json
        {
            let sent = command.refuse(self.upgrade, answer.into_body());
            spawn(sent, tasks, closing);
            return switching(accept, Some(remote_command::PROTOCOL));
        }
        if !is_watch || !is_json {
            return answer;
        }
        if !self.has_origin {
            return response::text(StatusCode::FORBIDDEN, "");
        }
        spawn(send(self.upgrade, answer.into_body()), tasks, closing);
        switching(accept, None)
    }
}

type Sent = Result<(), Box<dyn std::error::Error + Send + Sync>>;

fn spawn(sent: impl Future<Output = Sent> + Send + 'static, tasks: &TaskTracker, closing: CancellationToken) {
    tasks.spawn(async move {
        let sent = tokio::select! {
            () = closing.cancelled() => return,
            sent = sent => sent,
        };
        if let Err(error) = sent {
            tracing::debug!(%error, "a WebSocket ended with an error");
        }
    });
}

fn switching(accept: HeaderValue, protocol: Option<&'static str>) -> Response<SimBody> {
    let mut switching = response::text(StatusCode::SWITCHING_PROTOCOLS, "");
    let headers = switching.headers_mut();
    headers.clear();
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(ACCEPT, accept);
    if let Some(protocol) = protocol {
        headers.insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(protocol));
    }
    switching
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
async fn send(upgrade: OnUpgrade, mut body: SimBody) -> Sent {
    let mut socket = opened(upgrade).await?;
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
    socket.close(Some(normal_end())).await?;
    Ok(())
}

async fn opened(upgrade: OnUpgrade) -> Result<WebSocketStream<TokioIo<Upgraded>>, hyper::Error> {
    let stream = TokioIo::new(upgrade.await?);
    Ok(WebSocketStream::from_raw_socket(stream, Role::Server, None).await)
}

fn normal_end() -> CloseFrame {
    CloseFrame {
        code: CloseCode::Normal,
        reason: "".into(),
    }
}
