//! Large answers in gzip, for clients that take it: kubectl and client-go do.
//!
//! As in a real server: at the level that costs least, no answers that are small, no watches, and requests never.

use std::io::Write as _;

use bytes::{Bytes, BytesMut};
use flate2::Compression;
use flate2::write::GzEncoder;
use futures::stream;
use http::header::{ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, VARY};
use http::{HeaderMap, HeaderValue, Response};
use http_body::Body as _;
use http_body_util::BodyExt as _;

use crate::response::Frames;
use crate::response::{BoxError, SimBody, frames};

/// Answers with more bytes are compressed.
const LARGE: usize = 128 * 1024;

/// Whether a client takes gzip.
pub(crate) fn is_accepted(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(ACCEPT_ENCODING).into_iter().next();
    let accepted = accepted.and_then(|value| value.to_str().ok()).unwrap_or_default();
    accepted.split(',').any(|encoding| encoding.trim() == "gzip")
}

/// Compresses a response, if it is large and no watch. It waits until it is known to be large, or has ended.
pub(crate) async fn compressed(response: Response<SimBody>) -> Response<SimBody> {
    let is_watch = response.extensions().get::<Frames>().is_some();
    let is_small = response
        .body()
        .size_hint()
        .upper()
        .is_some_and(|most| most <= LARGE as u64);
    if is_watch || is_small {
        return response;
    }
    let (mut parts, mut body) = response.into_parts();
    let mut head = BytesMut::new();
    while head.len() <= LARGE {
        let ended = match body.frame().await {
            Some(Ok(frame)) => {
                head.extend_from_slice(&frame.into_data().unwrap_or_default());
                continue;
            }
            Some(Err(error)) => Some(error),
            None => None,
        };
        let chunks = std::iter::once(Ok(head.freeze())).chain(ended.map(Err));
        let chunks: Vec<Result<Bytes, BoxError>> = chunks.collect();
        return Response::from_parts(parts, frames(stream::iter(chunks)));
    }
    parts.headers.remove(CONTENT_LENGTH);
    parts
        .headers
        .insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    parts
        .headers
        .append(VARY, HeaderValue::from_static("Accept-Encoding"));
    let encoder = GzEncoder::new(Vec::new(), Compression::fast());
    Response::from_parts(
        parts,
        frames(stream::unfold(Some((encoder, head.freeze(), body)), next)),
    )
}

type Encoding = (GzEncoder<Vec<u8>>, Bytes, SimBody);

/// The next compressed chunk. A body that breaks off breaks off compressed, too.
async fn next(state: Option<Encoding>) -> Option<(Result<Bytes, BoxError>, Option<Encoding>)> {
    let (mut encoder, mut plain, mut body) = state?;
    loop {
        if let Err(error) = encoder.write_all(&plain) {
            return Some((Err(error.into()), None));
        }
        let written = std::mem::take(encoder.get_mut());
        if !written.is_empty() {
            return Some((Ok(written.into()), Some((encoder, Bytes::new(), body))));
        }
        plain = match body.frame().await {
            Some(Ok(frame)) => frame.into_data().unwrap_or_default(),
            Some(Err(error)) => return Some((Err(error), None)),
            None => {
                let rest = encoder.finish().map(Bytes::from);
                return Some((rest.map_err(BoxError::from), None));
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;
    use crate::response::{streamed, whole};

    fn unzipped(bytes: &[u8]) -> Vec<u8> {
        let mut plain = Vec::new();
        flate2::read::GzDecoder::new(bytes)
            .read_to_end(&mut plain)
            .unwrap();
        plain
    }

    #[tokio::test]
    async fn large_bodies_are_compressed_and_small_ones_are_not() {
        for (size, chunk) in [
            (10, 3),
            (LARGE, 1000),
            (LARGE + 1, 1000),
            (1_000_000, 70_000),
            (1_000_000, 1_000_000),
        ] {
            let text: Vec<u8> = (0..size).map(|n| b'a' + (n % 7) as u8).collect();
            let chunks: Vec<_> = text.chunks(chunk).map(Bytes::copy_from_slice).collect();
            let bodies = [whole(text.clone().into()), streamed(stream::iter(chunks))];
            for body in bodies {
                let response = compressed(Response::new(body)).await;
                let is_zipped = response.headers().contains_key(CONTENT_ENCODING);
                assert_eq!(is_zipped, size > LARGE);
                let body = response.into_body().collect().await.unwrap().to_bytes();
                let plain = if is_zipped { unzipped(&body) } else { body.to_vec() };
                assert!(plain == text);
            }
        }
    }

    #[tokio::test]
    async fn a_body_that_breaks_off_breaks_off_compressed() {
        for size in [10, LARGE * 3] {
            let chunks = [Ok(Bytes::from(vec![b'a'; size])), Err(BoxError::from("broken"))];
            let response = compressed(Response::new(frames(stream::iter(chunks)))).await;
            assert!(response.into_body().collect().await.is_err());
        }
    }

    #[test]
    fn gzip_is_one_of_the_accepted_encodings() {
        for (accepted, expected) in [
            ("gzip", true),
            ("deflate, gzip", true),
            ("gzip;q=1", false),
            ("identity", false),
        ] {
            let headers = HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static(accepted))]);
            assert_eq!(is_accepted(&headers), expected, "{accepted}");
        }
        assert!(!is_accepted(&HeaderMap::new()));
    }
}
