//! Any body, cut in any way, read as a LIST: chunks make no difference, and what `serde_json` can read has the items
//! that it sees.

#![no_main]

use bytes::Bytes;
use kube_informer::low_level::wire::{Encoding, FrameError, ListMeta, ListReader, RawObject};
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value, value::RawValue};

#[derive(serde::Deserialize)]
struct List<'a> {
    #[serde(borrow)]
    items: Vec<&'a RawValue>,
}

fn read(body: &[u8], chunk: usize) -> Result<(Vec<Bytes>, ListMeta), FrameError> {
    let mut reader = ListReader::new(Encoding::Json);
    let mut items = Vec::new();
    for chunk in body.chunks(chunk) {
        reader.push(Bytes::copy_from_slice(chunk));
        while let Some(item) = reader.next()? {
            items.push(item);
        }
    }
    Ok((items, reader.finish()?))
}

/// A scan that succeeds has found what `serde_json` does, if that can read the object.
fn check_scan(item: &Bytes) {
    let Ok(raw) = RawObject::scan(Encoding::Json, item.clone()) else { return };
    assert!(!raw.name().is_empty());
    let Ok(model) = serde_json::from_slice::<Map<String, Value>>(item) else { return };
    let metadata = &model["metadata"];
    assert_eq!(Some(raw.name()), metadata["name"].as_str());
    assert_eq!(raw.namespace().unwrap_or(""), metadata["namespace"].as_str().unwrap_or(""));
    assert_eq!(raw.uid().unwrap_or(""), metadata["uid"].as_str().unwrap_or(""));
    for (name, _) in raw.labels() {
        assert_eq!(raw.label(&name).as_deref(), metadata["labels"][&*name].as_str());
    }
}

fuzz_target!(|data: &[u8]| {
    let Some((&size, body)) = data.split_first() else { return };
    let whole = read(body, body.len().max(1));
    assert_eq!(read(body, usize::from(size) + 1), whole);
    let Ok((items, _)) = whole else { return };
    items.iter().for_each(check_scan);
    // serde would also take an array for a list.
    let object = body.trim_ascii_start().starts_with(b"{");
    if object && let Ok(model) = serde_json::from_slice::<List<'_>>(body) {
        assert_eq!(items, model.items.iter().map(|item| item.get()).collect::<Vec<_>>());
    }
});
