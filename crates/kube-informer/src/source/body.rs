//! Reads the body of a response in chunks.

use super::{ApiError, BoxError};
use async_compression::tokio::bufread::GzipDecoder;
use bytes::Bytes;
use futures::{Stream, StreamExt, TryStreamExt, stream::BoxStream};
use http::{Response, header};
use http_body_util::BodyExt;
use kube::client::Body;
use std::io;
use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::io::{ReaderStream, StreamReader};

/// The size of a decompressed chunk in bytes.
const DECOMPRESSED_CHUNK: usize = 64 << 10;

/// The time limits for reading a body. Only time spent waiting for the network counts.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    /// The longest time without data.
    pub(super) silence: Duration,
    /// The longest time for the whole body.
    pub(super) total: Duration,
    /// Every this many bytes extend `total` by one second.
    pub(super) bytes_per_second: Option<NonZeroU64>,
}

impl Patience {
    /// Limits for a body that must be complete after this time.
    pub(super) fn of(total: Duration) -> Self {
        Self {
            silence: total,
            total,
            bytes_per_second: None,
        }
    }
}

/// Reads a body; fails if it is silent for too long or too slow.
pub(super) struct Chunks {
    chunks: BoxStream<'static, Result<Bytes, BoxError>>,
    patience: Patience,
    waited: Duration,
    /// The number of bytes received, before decompression.
    came: Arc<AtomicU64>,
}

impl Chunks {
    /// Reads the body of a response and decompresses it if necessary. Adds the size of the received data, before
    /// decompression, to `received`.
    pub(super) fn new(response: Response<Body>, patience: Patience, received: Arc<AtomicU64>) -> Self {
        let gzip = response
            .headers()
            .get(header::CONTENT_ENCODING)
            .is_some_and(|encoding| encoding == "gzip");
        let came = Arc::<AtomicU64>::default();
        let data = data(response.into_body(), [received, came.clone()]);
        let chunks = if gzip {
            let compressed = StreamReader::new(data.map_err(io::Error::other));
            let mut decoder = GzipDecoder::new(compressed);
            decoder.multiple_members(true);
            ReaderStream::with_capacity(decoder, DECOMPRESSED_CHUNK)
                .map_err(BoxError::from)
                .boxed()
        } else {
            data.boxed()
        };
        Self {
            chunks,
            patience,
            waited: Duration::ZERO,
            came,
        }
    }

    /// The next chunk; `None` at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, ApiError> {
        let (silence, left) = (self.patience.silence, self.left());
        let started = Instant::now();
        // Data that has arrived already is read even after the time limit.
        let next = tokio::time::timeout(silence.min(left), self.chunks.try_next()).await;
        self.waited = self.waited.saturating_add(started.elapsed());
        next.map_err(|_| match left < silence {
            true => self.too_slow(),
            false => silent(silence),
        })?
        .map_err(ApiError::while_reading)
    }

    /// The remaining time for the rest of the body.
    fn left(&self) -> Duration {
        let came = self.came.load(Ordering::Relaxed);
        let earned = self.patience.bytes_per_second.map_or(0, |rate| came / rate);
        let total = self.patience.total.saturating_add(Duration::from_secs(earned));
        total.saturating_sub(self.waited)
    }

    fn too_slow(&self) -> ApiError {
        let came = self.came.load(Ordering::Relaxed);
        let text = format!("only {came} bytes came within {} s", self.waited.as_secs());
        ApiError::Timeout(text.into())
    }
}

/// The data of a body, without trailers.
fn data(
    body: Body,
    counters: [Arc<AtomicU64>; 2],
) -> impl Stream<Item = Result<Bytes, BoxError>> + Send + 'static {
    body.into_data_stream()
        .inspect_ok(move |chunk| {
            for counter in &counters {
                counter.fetch_add(chunk.len() as u64, Ordering::Relaxed);
            }
        })
        .map_err(BoxError::from)
}

/// The error for a body without data for too long.
pub(super) fn silent(silence: Duration) -> ApiError {
    ApiError::Timeout(format!("nothing came for {} s", silence.as_secs()).into())
}
