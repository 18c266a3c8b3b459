//! Connections that read what arrives in a burst in large pieces.

use futures::TryFutureExt as _;
use futures::future::MapOk;
use http::Uri;
use http::uri::Scheme;
use hyper::rt::{Read, ReadBuf, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection};
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Instant, Sleep};
use tower::Service;

/// More bytes than this within [`WINDOW`] are a burst.
const BURST: usize = 256 << 10;
const WINDOW: Duration = Duration::from_millis(10);
/// How long a connection is left alone in a burst when all that had arrived has been read. Tokio's timers have this resolution.
const PAUSE: Duration = Duration::from_millis(1);
/// The size of the buffer: the first, which is doubled whenever it has been filled, and the largest.
const BUFFERS: (usize, usize) = (16 << 10, 256 << 10);

/// Connects as another connector does. Only connections with TLS are paced: others hyper reads in large pieces by itself, and what is read
/// is copied once less.
#[derive(Debug, Clone)]
pub(super) struct PacedConnector<C>(pub(super) C);

impl<C: Service<Uri>> Service<Uri> for PacedConnector<C> {
    type Response = Paced<C::Response>;
    type Error = C::Error;
    type Future = MapOk<C::Future, fn(C::Response) -> Paced<C::Response>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), C::Error>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let made = match uri.scheme() == Some(&Scheme::HTTPS) {
            true => Paced::new,
            false => Paced::unpaced,
        };
        self.0.call(uri).map_ok(made)
    }
}

/// A connection that is left alone for a moment in a burst.
pub(super) struct Paced<S> {
    inner: S,
    /// Whether it is: if not, all else is unused.
    is_paced: bool,
    /// What was read from it, of which what begins at `start` and ends at `end` is left.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// The beginning of the window, and what has arrived in it.
    window: Instant,
    arrived: usize,
    /// Whether there was a burst in the window before.
    burst: bool,
    /// While it is left alone.
    pause: Option<Pin<Box<Sleep>>>,
}

impl<S> Paced<S> {
    fn new(inner: S) -> Self {
        Self {
            inner,
            is_paced: true,
            buffer: Vec::new(),
            start: 0,
            end: 0,
            window: Instant::now(),
            arrived: 0,
            burst: false,
            pause: None,
        }
    }

    fn unpaced(inner: S) -> Self {
        Self {
            is_paced: false,
            ..Self::new(inner)
        }
    }

    /// Notes that so much has arrived. Returns whether it is part of a burst.
    fn note(&mut self, bytes: usize, now: Instant) -> bool {
        let elapsed = now.saturating_duration_since(self.window);
        if elapsed > WINDOW {
            self.burst = self.arrived > BURST && elapsed < 2 * WINDOW;
            self.window = now;
            self.arrived = 0;
        }
        self.arrived = self.arrived.saturating_add(bytes);
        self.burst || self.arrived > BURST
    }
}

impl<S: Read + Unpin> Paced<S> {
    /// Fills the empty buffer with what there is. It stays empty at the end.
    fn poll_fill(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let Some(pause) = &mut self.pause {
            ready!(pause.as_mut().poll(cx));
            self.pause = None;
        }
        let (first, most) = BUFFERS;
        if self.end == self.buffer.len() {
            // It was full, or there was none. A new one is not copied, and large ones come from the system as zeros.
            let length = (self.end * 2).clamp(first, most);
            if length != self.end {
                self.buffer = vec![0; length];
            }
        }
        (self.start, self.end) = (0, 0);
        let mut buffer = ReadBuf::new(&mut self.buffer);
        let read = Pin::new(&mut self.inner).poll_read(cx, buffer.unfilled());
        let length = buffer.filled().len();
        if read.is_pending() {
            // A connection that waits, which most do most of the time, needs no large buffer.
            if self.buffer.len() > first {
                self.buffer = Vec::new();
            }
            return Poll::Pending;
        }
        ready!(read)?;
        self.end = length;
        let now = Instant::now();
        if self.note(length, now) && length < self.buffer.len() {
            self.pause = Some(Box::pin(tokio::time::sleep_until(now + PAUSE)));
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: Read + Unpin> Read for Paced<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        mut buf: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if !this.is_paced {
            return Pin::new(&mut this.inner).poll_read(cx, buf);
        }
        if this.start == this.end {
            ready!(this.poll_fill(cx))?;
        }
        let length = buf.remaining().min(this.end - this.start);
        buf.put_slice(&this.buffer[this.start..this.start + length]);
        this.start += length;
        Poll::Ready(Ok(()))
    }
}

impl<S: Write + Unpin> Write for Paced<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, data)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        data: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write_vectored(cx, data)
    }
}

impl<S: Connection> Connection for Paced<S> {
    fn connected(&self) -> Connected {
        self.inner.connected()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hyper_util::rt::TokioIo;
    use proptest::prelude::*;
    use std::future::poll_fn;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    /// Reads as hyper does: as much as fits.
    async fn read(stream: &mut Paced<impl Read + Unpin>, most: usize) -> Vec<u8> {
        let mut data = vec![0; most];
        let mut buffer = ReadBuf::new(&mut data);
        poll_fn(|cx| Pin::new(&mut *stream).poll_read(cx, buffer.unfilled()))
            .await
            .unwrap();
        buffer.filled().to_vec()
    }

    #[tokio::test(start_paused = true)]
    async fn what_comes_slowly_is_read_at_once() {
        let (near, mut far) = duplex(1 << 20);
        let mut near = Paced::new(TokioIo::new(near));
        for _ in 0..100 {
            far.write_all(&[7; 20 << 10]).await.unwrap();
            let sent = Instant::now();
            let mut left = 20 << 10;
            while left > 0 {
                left -= read(&mut near, 4096).await.len();
            }
            assert_eq!(Instant::now(), sent);
            tokio::time::sleep(WINDOW).await;
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_burst_is_read_in_large_pieces() {
        let (near, mut far) = duplex(8 << 20);
        let mut near = Paced::new(TokioIo::new(near));
        // 40 MB a second, in pieces of 2 KB.
        const PIECES: usize = 10_000;
        let sent = tokio::spawn(async move {
            for piece in 0..PIECES {
                far.write_all(&[7; 2000]).await.unwrap();
                match piece % 20 {
                    0 => tokio::time::sleep(Duration::from_millis(1)).await,
                    _ => tokio::task::yield_now().await,
                }
            }
            far
        });
        let (mut received, mut times) = (0, 0);
        while received < PIECES * 2000 {
            received += read(&mut near, 1 << 20).await.len();
            times += 1;
        }
        assert!(times * 10 < PIECES, "{times}");
        let far = sent.await.unwrap();
        // What waits keeps no large buffer, however it was filled.
        assert!(near.buffer.len() > BUFFERS.0);
        let silence = tokio::time::timeout(Duration::from_secs(1), read(&mut near, 1));
        assert!(silence.await.is_err());
        assert!(near.buffer.len() <= BUFFERS.0);
        drop(far);
        assert!(read(&mut near, 1).await.is_empty(), "the end");
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

        /// Whatever the sizes, and however long it takes, all bytes are read, in their order.
        #[test]
        fn nothing_is_lost(
            pieces in proptest::collection::vec((1_usize..300_000, 0_u64..20), 1..30),
            most in 1_usize..200_000,
        ) {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_time()
                .start_paused(true)
                .build()
                .unwrap();
            runtime.block_on(async {
                let (near, mut far) = duplex(1 << 20);
                let mut near = Paced::new(TokioIo::new(near));
                let all: Vec<u8> = (0..pieces.iter().map(|(length, _)| length).sum()).map(|n| n as u8).collect();
                let data = all.clone();
                tokio::spawn(async move {
                    let mut rest = &data[..];
                    for (length, pause) in pieces {
                        let (piece, others) = rest.split_at(length);
                        far.write_all(piece).await.unwrap();
                        rest = others;
                        tokio::time::sleep(Duration::from_millis(pause)).await;
                    }
                });
                let mut received = Vec::new();
                loop {
                    let piece = read(&mut near, most).await;
                    if piece.is_empty() {
                        break;
                    }
                    received.extend(piece);
                }
                assert!(received == all);
            });
        }
    }

    #[tokio::test]
    async fn only_connections_with_tls_are_paced() {
        let (near, mut far) = duplex(64);
        let mut near = Some(TokioIo::new(near));
        let connector = tower::service_fn(move |_: Uri| std::future::ready(near.take().ok_or(())));
        let mut connector = PacedConnector(connector);
        let mut near = connector.call("http://server".parse().unwrap()).await.unwrap();
        far.write_all(b"hello").await.unwrap();
        assert_eq!(read(&mut near, 64).await, b"hello");
        assert!(near.buffer.is_empty());
        let connector = tower::service_fn(move |_: Uri| std::future::ready(Ok::<_, ()>(())));
        let made = PacedConnector(connector)
            .call("https://server".parse().unwrap())
            .await;
        assert!(made.unwrap().is_paced);
    }

    #[tokio::test]
    async fn what_is_written_arrives() {
        let (near, mut far) = duplex(64);
        let mut near = Paced::new(TokioIo::new(near));
        let length = poll_fn(|cx| Pin::new(&mut near).poll_write(cx, b"hello"))
            .await
            .unwrap();
        poll_fn(|cx| Pin::new(&mut near).poll_flush(cx)).await.unwrap();
        poll_fn(|cx| Pin::new(&mut near).poll_shutdown(cx)).await.unwrap();
        let mut received = String::new();
        far.read_to_string(&mut received).await.unwrap();
        assert_eq!((length, &*received), (5, "hello"));
    }
}
