//! Times, which are messages in protobuf and strings in JSON.

use crate::Error;
use crate::text::ZERO_TIME;
use crate::wire::integer;

/// The seconds of a time; `None` for Go's zero time.
pub(crate) fn time(bytes: &[u8]) -> Result<Option<i64>, Error> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let seconds = integer(bytes, 1)?.unwrap_or_default();
    Ok(Some(seconds).filter(|seconds| *seconds != ZERO_TIME))
}

/// The seconds and microseconds of a time; `None` for Go's zero time.
pub(crate) fn micro_time(bytes: &[u8]) -> Result<Option<(i64, u32)>, Error> {
    if bytes.is_empty() {
        return Ok(None);
    }
    let seconds = integer(bytes, 1)?.unwrap_or_default();
    let nanoseconds = integer(bytes, 2)?.unwrap_or_default() as i32;
    let microseconds = i64::from(nanoseconds / 1000);
    let seconds = seconds.saturating_add(microseconds.div_euclid(1_000_000));
    let microseconds = microseconds.rem_euclid(1_000_000) as u32;
    Ok(Some((seconds, microseconds)).filter(|time| *time != (ZERO_TIME, 0)))
}
