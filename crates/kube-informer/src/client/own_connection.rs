//! A connection for one request, read by whoever reads the answer.

use crate::source::ConnectError;
use bytes::Bytes;
use futures::future::BoxFuture;
use futures::{FutureExt as _, TryFutureExt as _};
use http::uri::Scheme;
use http::{HeaderValue, Request, Response, Uri, header};
use http_body::{Frame, SizeHint};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::rt::{Read, Write};
use kube::client::Body;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use tower::{BoxError, Service, ServiceExt as _};

/// What reads and writes the connection whenever it is polled, until the connection ends.
type Driver = BoxFuture<'static, hyper::Result<()>>;

/// Connects, sends a request, and returns the beginning of the answer.
pub(super) async fn send<C>(connector: C, mut request: Request<Body>) -> Result<Response<Answer>, BoxError>
where
    C: Service<Uri, Error: Into<BoxError>>,
    C::Response: Read + Write + Unpin + Send + 'static,
{
    let target = origin_form(&mut request)?;
    let connected = connector
        .oneshot(target)
        .map_err(|error| ConnectError(error.into()));
    let (mut sender, connection) = http1::handshake(connected.await?).await?;
    let mut driver = Some(connection.boxed());
    let response = {
        let mut response = pin!(sender.send_request(request));
        poll_fn(|cx| {
            if let Poll::Ready(response) = response.as_mut().poll(cx) {
                return Poll::Ready(response);
            }
            // Why it ended is what the request fails with.
            if let Some(running) = &mut driver
                && running.as_mut().poll(cx).is_ready()
            {
                driver = None;
            }
            response.as_mut().poll(cx)
        })
        .await?
    };
    Ok(response.map(|incoming| Answer { incoming, driver }))
}

/// Makes the request's target what a server expects, which is no proxy, and returns what it was.
fn origin_form(request: &mut Request<Body>) -> Result<Uri, BoxError> {
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
    let path = path.parse()?;
    let target = std::mem::replace(request.uri_mut(), path);
    let host = target.host().ok_or("a request without a host")?;
    let usual = if target.scheme() == Some(&Scheme::HTTPS) {
        443
    } else {
        80
    };
    let host = match target.port_u16().filter(|port| *port != usual) {
        Some(port) => HeaderValue::try_from(format!("{host}:{port}"))?,
        None => HeaderValue::try_from(host)?,
    };
    request.headers_mut().entry(header::HOST).or_insert(host);
    Ok(target)
}

/// The body of an answer, which reads its connection while it is read. The connection is closed at the end of the body, or when it is
/// dropped.
pub(super) struct Answer {
    incoming: Incoming,
    /// `None`: the connection has ended.
    driver: Option<Driver>,
}

impl http_body::Body for Answer {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let this = &mut *self;
        let mut frame = Pin::new(&mut this.incoming).poll_frame(cx);
        if frame.is_pending()
            && let Some(driver) = &mut this.driver
        {
            // Hyper tells the body why a connection ended before it. What happens to the connection after its end is of no
            // interest.
            if driver.as_mut().poll(cx).is_ready() {
                this.driver = None;
            }
            frame = Pin::new(&mut this.incoming).poll_frame(cx);
        }
        match frame {
            Poll::Ready(None) => this.driver = None,
            Poll::Pending if this.driver.is_none() => {
                return Poll::Ready(Some(Err("the connection has ended".into())));
            }
            _ => {}
        }
        frame.map_err(BoxError::from)
    }

    fn is_end_stream(&self) -> bool {
        self.incoming.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.incoming.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body::Body as _;
    use http_body_util::BodyExt as _;
    use hyper_util::rt::TokioIo;
    use std::io;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};

    #[test]
    fn requests_name_the_path_and_the_host() {
        for (uri, path, host) in [
            ("https://server:6443/api?watch=1", "/api?watch=1", "server:6443"),
            ("https://user:password@server:443/api", "/api", "server"),
            ("https://server:80/", "/", "server:80"),
            ("http://[::1]:80", "/", "[::1]"),
            ("http://[::1]:443/a", "/a", "[::1]:443"),
        ] {
            let mut request = Request::get(uri).body(Body::empty()).unwrap();
            assert_eq!(origin_form(&mut request).unwrap(), *uri);
            assert_eq!(request.uri(), path);
            assert_eq!(request.headers()[header::HOST], host);
        }
        let mut request = Request::get("/nowhere").body(Body::empty()).unwrap();
        assert!(origin_form(&mut request).is_err());
    }

    const CHUNKED: &str = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n";

    /// The beginning of an answer of a server that sends this, and the server's end of the connection.
    async fn answer(text: &'static str) -> Result<(Response<Answer>, DuplexStream), BoxError> {
        let (client, mut server) = duplex(1024);
        let mut client = Some(TokioIo::new(client));
        let connector = tower::service_fn(move |_: Uri| {
            let client = client.take();
            async move { client.ok_or_else(|| io::Error::other("a second connection")) }
        });
        let serve = async {
            let mut request = Vec::new();
            while !request.ends_with(b"\r\n\r\n") {
                request.push(server.read_u8().await.unwrap());
            }
            assert!(request.starts_with(b"GET /api HTTP/1.1\r\nhost: server\r\n"));
            server.write_all(text.as_bytes()).await.unwrap();
            match text {
                "" => None,
                _ => Some(server),
            }
        };
        let request = Request::get("http://server/api").body(Body::empty())?;
        let (response, server) = tokio::join!(send(connector, request), serve);
        Ok((response?, server.expect("a server that answers")))
    }

    /// Whether the other end is closed.
    async fn is_closed(server: &mut DuplexStream) -> bool {
        server.read_to_end(&mut Vec::new()).await.is_ok()
    }

    #[tokio::test]
    async fn a_connection_is_closed_at_the_end_of_the_answer() {
        let whole = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello";
        let (response, mut server) = answer(whole).await.unwrap();
        let mut body = response.into_body();
        assert_eq!(body.size_hint().exact(), Some(5));
        let frame = body.frame().await.unwrap().unwrap();
        assert_eq!(frame.into_data().unwrap(), "hello");
        assert!(body.frame().await.is_none());
        assert!(is_closed(&mut server).await);

        let (response, mut server) = answer(CHUNKED).await.unwrap();
        let mut body = response.into_body();
        body.frame().await.unwrap().unwrap();
        let (frame, ()) = tokio::join!(body.frame(), async {
            server.write_all(b"0\r\n\r\n").await.unwrap();
        });
        assert!(frame.is_none());
        assert!(is_closed(&mut server).await);
    }

    /// What a server sends after an answer, or how it closes the connection, does not matter to those who have the answer.
    #[tokio::test]
    async fn a_connection_that_fails_after_the_answer_does_not_matter() {
        let (response, mut server) = answer(CHUNKED).await.unwrap();
        let mut body = response.into_body();
        body.frame().await.unwrap().unwrap();
        server.write_all(b"5\r\nagain\r\n0\r\n\r\nstray").await.unwrap();
        let frame = body.frame().await.unwrap().unwrap();
        assert_eq!(frame.into_data().unwrap(), "again");
        assert!(body.frame().await.is_none());
    }

    #[tokio::test]
    async fn a_connection_is_closed_with_an_answer_that_is_dropped() {
        let (response, mut server) = answer(CHUNKED).await.unwrap();
        drop(response);
        assert!(is_closed(&mut server).await);
    }

    #[tokio::test]
    async fn an_answer_that_is_cut_has_no_end() {
        for text in [CHUNKED, "HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nhello"] {
            let (response, server) = answer(text).await.unwrap();
            drop(server);
            let mut body = response.into_body();
            let frame = body.frame().await.unwrap().unwrap();
            assert_eq!(frame.into_data().unwrap(), "hello");
            assert!(body.frame().await.unwrap().is_err(), "{text}");
        }
    }

    #[tokio::test]
    async fn a_connection_that_ends_before_the_answer_is_an_error() {
        let error = answer("").await.err().unwrap();
        assert!(
            error
                .downcast_ref::<hyper::Error>()
                .unwrap()
                .is_incomplete_message()
        );
    }

    #[tokio::test]
    async fn the_reason_why_there_is_no_connection_is_told() {
        let refused = tower::service_fn(|_: Uri| async {
            Err::<TokioIo<DuplexStream>, _>(io::Error::other("no route"))
        });
        let request = Request::get("http://server/api").body(Body::empty()).unwrap();
        let error = send(refused, request).await.err().unwrap();
        let error = error.downcast_ref::<ConnectError>().unwrap();
        assert_eq!(error.0.to_string(), "no route");
    }
}
