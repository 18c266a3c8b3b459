//! Any body, cut in any way, read as a WATCH: chunks make no difference, and as long as `serde_json` can read the
//! frames, they are the same.

#![no_main]

use bytes::Bytes;
use kube_informer::low_level::wire::{Encoding, EventType, FrameError, RawObject, WatchReader, parse_bookmark};
use libfuzzer_sys::fuzz_target;
use serde_json::{Deserializer, value::RawValue};

#[derive(serde::Deserialize)]
struct Frame<'a> {
    r#type: String,
    #[serde(borrow)]
    object: &'a RawValue,
}

fn read(body: &[u8], chunk: usize) -> (Vec<(EventType, Bytes)>, Result<(), FrameError>) {
    let mut reader = WatchReader::new(Encoding::Json);
    let mut frames = Vec::new();
    for chunk in body.chunks(chunk) {
        reader.push(Bytes::copy_from_slice(chunk));
        loop {
            match reader.next() {
                Ok(Some(frame)) => frames.push(frame),
                Ok(None) => break,
                Err(error) => return (frames, Err(error)),
            }
        }
    }
    (frames, reader.finish())
}

fuzz_target!(|data: &[u8]| {
    let Some((&size, body)) = data.split_first() else { return };
    let whole = read(body, body.len().max(1));
    assert_eq!(read(body, usize::from(size) + 1), whole);
    let (frames, _) = whole;
    for (_, object) in &frames {
        let _ = parse_bookmark(Encoding::Json, object);
        let _ = RawObject::scan(Encoding::Json, object.clone());
    }
    // serde would also take an array for a frame.
    let model = Deserializer::from_slice(body).into_iter::<&RawValue>().map_while(Result::ok);
    let model = model.map_while(|frame| {
        let frame = Some(frame.get()).filter(|text| text.starts_with('{'))?;
        serde_json::from_str::<Frame<'_>>(frame).ok()
    });
    for (n, model) in model.enumerate() {
        assert_eq!(frames[n].0, EventType::from(&*model.r#type));
        assert_eq!(frames[n].1, model.object.get());
    }
});
