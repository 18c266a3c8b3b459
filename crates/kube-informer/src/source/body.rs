//! The body of an answer, chunk by chunk.

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

/// How much is decompressed at a time.
const DECOMPRESSED_CHUNK: usize = 64 << 10;

/// How long a body is waited for. Time in which nobody reads it does not count.
#[derive(Debug, Clone, Copy)]
pub(super) struct Patience {
    /// How long nothing may come.
    pub(super) silence: Duration,
    /// How long all of it may take.
    pub(super) total: Duration,
    /// So many bytes make `total` a second longer.
    pub(super) bytes_per_second: Option<NonZeroU64>,
}

impl Patience {
    /// For a body that has to be complete after this time.
    pub(super) fn of(total: Duration) -> Self {
        Self {
            silence: total,
            total,
            bytes_per_second: None,
        }
    }
}

/// Reads a body; gives up on one that is silent for too long, or too slow.
pub(super) struct Chunks {
    chunks: BoxStream<'static, Result<Bytes, BoxError>>,
    patience: Patience,
    waited: Duration,
    /// How many bytes have come, as they came over the wire.
    came: Arc<AtomicU64>,
}

impl Chunks {
    /// The body of a response, decompressed if need be. What arrives is added to `received`, as it comes over the wire.
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
        // What has come already is read in any case.
        let next = tokio::time::timeout(silence.min(left), self.chunks.try_next()).await;
        self.waited = self.waited.saturating_add(started.elapsed());
        next.map_err(|_| match left < silence {
            true => self.too_slow(),
            false => silent(silence),
        })?
        .map_err(ApiError::while_reading)
    }

    /// How long the rest may be waited for.
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

/// Nothing came for too long.
pub(super) fn silent(silence: Duration) -> ApiError {
    ApiError::Timeout(format!("nothing came for {} s", silence.as_secs()).into())
}
