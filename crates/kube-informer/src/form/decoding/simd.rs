//! Objects decoded by `simd_json`, which takes less than half the time of `serde_json`.

use super::{DecodeError, TOO_DEEP, json};
use serde::de::DeserializeOwned;
use simd_json::{Buffers, ErrorType};
use std::cell::Cell;
use std::{panic, thread};

/// Objects nested deeper than this are decoded on a thread with a large stack, because decoding is recursive.
const DEEP: usize = 127;
/// Objects nested deeper than this are rejected, because users clone, compare and drop objects by recursion, on any
/// thread. A `serde_json::Value` of four times this depth can be cloned within a usual stack of 2 MiB, even without
/// optimization.
const DEEPEST: usize = 256;
/// The stack size for the deepest objects. Only the used part takes memory.
const DEEP_STACK: usize = 64 << 20;
/// Buffers larger than this are not kept.
const LARGE: usize = 1 << 20;

/// Buffers for decoding.
struct Scratch {
    body: Vec<u8>,
    buffers: Buffers,
}

thread_local! {
    /// `None` while the buffers are in use.
    static SCRATCH: Cell<Option<Box<Scratch>>> = const { Cell::new(None) };
}

/// `simd_json` gives a `Vec` its exact length in advance, which saves a fifth of a usual object's memory. If it fails
/// (for a `RawValue` or a number beyond 64 bits), `serde_json` decodes the object, and also reports the position of
/// an error.
pub(super) fn json_object<T: DeserializeOwned + Send>(
    write: impl Fn(&mut Vec<u8>),
) -> Result<T, DecodeError> {
    let mut scratch = SCRATCH.take().unwrap_or_else(|| {
        Box::new(Scratch {
            body: Vec::new(),
            buffers: Buffers::with_max_depth(0, DEEP),
        })
    });
    let Scratch { body, buffers } = &mut *scratch;
    write(body);
    let size = body.len();
    let decoded = simd_json::serde::from_slice_with_buffers(body, buffers).or_else(|_| {
        // `simd_json` modifies its input, so write the body again.
        write(body);
        match json(body) {
            Err(error) if error.reason == TOO_DEEP => deep_object(body, error),
            decoded => decoded,
        }
    });
    if size <= LARGE {
        SCRATCH.set(Some(scratch));
    }
    decoded
}

/// Decodes an object that `error` reports as nested too deeply for this thread's stack.
fn deep_object<T: DeserializeOwned + Send>(body: &mut [u8], error: DecodeError) -> Result<T, DecodeError> {
    let decode = || {
        let mut buffers = Buffers::with_max_depth(0, DEEPEST);
        simd_json::serde::from_slice_with_buffers(body, &mut buffers)
    };
    let thread = thread::Builder::new()
        .name("decode-deep".into())
        .stack_size(DEEP_STACK);
    let decoded = thread::scope(|scope| {
        let handle = thread.spawn_scoped(scope, decode).ok()?;
        Some(handle.join().unwrap_or_else(|panic| panic::resume_unwind(panic)))
    });
    let reason = match decoded {
        Some(Ok(object)) => return Ok(object),
        Some(Err(why)) if *why.error() == ErrorType::DepthLimitExceeded => "nested more than 256 levels deep",
        Some(Err(_)) => "invalid data, and nested more than 127 levels deep",
        // The thread could not be spawned.
        None => TOO_DEEP,
    };
    Err(DecodeError {
        reason: reason.to_owned(),
        ..error
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::{decode, error};
    use super::*;
    use k8s_openapi::api::core::v1::Pod;
    use serde::Deserialize;
    use serde_json::Value;

    #[test]
    fn vectors_have_their_exact_capacity() {
        let pod: Pod = decode(
            br#"{"metadata":{"name":"a"},"spec":{"containers":[{"name":"a"}],"volumes":[{"name":"v"},{"name":"w"}]}}"#,
        )
        .unwrap();
        let spec = pod.spec.unwrap();
        assert_eq!((spec.containers.len(), spec.containers.capacity()), (1, 1));
        assert_eq!(spec.volumes.unwrap().capacity(), 2);
    }

    #[test]
    fn the_nesting_depth_is_limited() {
        let nested = |depth| "[".repeat(depth) + &"]".repeat(depth);
        for depth in [127, 128, 256] {
            let value = decode::<Value>(nested(depth).as_bytes()).unwrap();
            assert_eq!(value.clone().to_string(), nested(depth));
        }
        for depth in [257, 10_000, 1_000_000] {
            let message = error::<Value>(&nested(depth));
            assert!(message.contains("nested more than 256 levels deep"), "{message}");
        }
        let message = error::<Value>(&nested(200).replace("[]", "[hunter2]"));
        assert!(
            message.starts_with("invalid data, and nested more than 127 levels deep"),
            "{message}"
        );
        let pod = format!(r#"{{"metadata":{{"name":"a"}},"unread":{}}}"#, nested(100_000));
        assert!(decode::<Pod>(pod.as_bytes()).is_ok());
    }

    #[derive(Debug, Deserialize)]
    struct Chain {
        next: Option<Box<Chain>>,
    }

    #[test]
    fn recursive_types_have_the_same_depth_limit() {
        let nested = |depth| r#"{"next":"#.repeat(depth) + "{}" + &"}".repeat(depth);
        let mut chain = decode::<Chain>(nested(255).as_bytes()).unwrap();
        let mut length = 0;
        while let Some(next) = chain.next {
            (chain, length) = (*next, length + 1);
        }
        assert_eq!(length, 255);
        assert!(decode::<Chain>(nested(256).as_bytes()).is_err());
    }

    #[test]
    fn large_buffers_are_not_kept() {
        let large = format!("[{:?}]", "x".repeat(LARGE));
        decode::<Value>(large.as_bytes()).unwrap();
        let kept = SCRATCH.take();
        assert!(kept.is_none_or(|scratch| scratch.body.capacity() <= LARGE));
    }
}
