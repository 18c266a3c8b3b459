//! The body of an answer, chunk by chunk.

use super::{ApiError, BoxError};
use async_compression::tokio::bufread::GzipDecoder;
use bytes::Bytes;
use futures::{Stream, StreamExt, TryStreamExt, stream::BoxStream};
use http::{Response, header};
use http_body_util::BodyExt;
use kube::client::Body;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio_util::io::{ReaderStream, StreamReader};

/// How much is decompressed at a time.
const DECOMPRESSED_CHUNK: usize = 64 << 10;

/// Reads a body; gives up on one that is silent for too long.
pub(super) struct Chunks {
    chunks: BoxStream<'static, Result<Bytes, BoxError>>,
    silence: Duration,
}

impl Chunks {
    /// The body of a response, decompressed if need be. What arrives is added to `received`, as it comes over the wire.
    pub(super) fn new(response: Response<Body>, silence: Duration, received: Arc<AtomicU64>) -> Self {
        let gzip = response
            .headers()
            .get(header::CONTENT_ENCODING)
            .is_some_and(|encoding| encoding == "gzip");
        let data = data(response.into_body(), received);
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
        Self { chunks, silence }
    }

    /// The next chunk; `None` at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, ApiError> {
        let next = tokio::time::timeout(self.silence, self.chunks.try_next()).await;
        next.map_err(|_| silent(self.silence))?
            .map_err(ApiError::while_reading)
    }
}

/// The data of a body, without trailers.
fn data(
    body: Body,
    received: Arc<AtomicU64>,
) -> impl Stream<Item = Result<Bytes, BoxError>> + Send + 'static {
    body.into_data_stream()
        .inspect_ok(move |chunk| {
            received.fetch_add(chunk.len() as u64, Ordering::Relaxed);
        })
        .map_err(BoxError::from)
}

/// Nothing came for too long.
pub(super) fn silent(silence: Duration) -> ApiError {
    ApiError::Timeout(format!("nothing came for {} s", silence.as_secs()).into())
}
