//! Answers that are whole: objects and lists.

use bytes::{Buf as _, Bytes, BytesMut};
use futures::stream;
use http_body_util::BodyExt as _;
use kube_protobuf::{Descriptor, Envelope, UnknownFields, message_to_vec, to_vec};
use serde_json::Value;

use super::{parsed, unwritable};
use crate::nesting;
use crate::response::{BoxError, SimBody, frames, whole};
use crate::status::StatusError;

/// A list's items come after this, and this comes within the first chunk.
const ITEMS: &[u8] = br#""items":["#;
const HEAD: usize = 64 * 1024;

/// An object or a list in protobuf. A list is read item by item as it is put together, so that it is never there in JSON.
pub(super) async fn protobuf(mut body: SimBody) -> Result<SimBody, StatusError> {
    let mut json = BytesMut::new();
    let mut list: Option<List> = None;
    while let Some(frame) = body.frame().await {
        match frame {
            Ok(frame) => json.extend_from_slice(&frame.into_data().unwrap_or_default()),
            Err(error) => return Ok(broken(error)),
        }
        if list.is_none() && json.len() <= 2 * HEAD {
            list = List::open(&mut json)?;
        }
        if let Some(list) = &mut list {
            list.read(&mut json)?;
        }
    }
    Ok(whole(match list {
        Some(list) => list.close(),
        None => object(&json)?,
    }))
}

/// An object or a list in YAML.
pub(super) async fn yaml(body: SimBody) -> Result<SimBody, StatusError> {
    let json = match body.collect().await {
        Ok(body) => body.to_bytes(),
        Err(error) => return Ok(broken(error)),
    };
    nesting::with_room(nesting::of_json(&json), || {
        let yaml = serde_saphyr::to_string(&parsed(&json)?);
        let yaml = yaml.map_err(|error| StatusError::internal(error.to_string()))?;
        Ok(whole(yaml.into()))
    })
}

/// A body that breaks off, as the one in JSON does.
fn broken(error: BoxError) -> SimBody {
    frames(stream::once(async { Err(error) }))
}

fn object(json: &[u8]) -> Result<Bytes, StatusError> {
    nesting::with_room(nesting::of_json(json), || {
        let object = Value::Object(parsed(json)?);
        let bytes = to_vec(&object, UnknownFields::Ignore).map_err(unwritable)?;
        Ok(bytes.into())
    })
}

/// A list of which some items have been read.
struct List {
    api_version: String,
    kind: String,
    item: Descriptor,
    raw: Vec<u8>,
    scan: Scan,
}

impl List {
    /// Takes what comes before the items, if it is there.
    fn open(json: &mut BytesMut) -> Result<Option<Self>, StatusError> {
        let found = json.windows(ITEMS.len()).position(|part| part == ITEMS);
        let Some(at) = found.filter(|_| json.starts_with(br#"{"kind":""#)) else {
            return Ok(None);
        };
        let head = [&json[..at + ITEMS.len()], b"]}"].concat();
        let head = Value::Object(parsed(&head)?);
        let text = |name: &str| head[name].as_str().unwrap_or_default().to_owned();
        let (api_version, kind) = (text("apiVersion"), text("kind"));
        let item = kind
            .strip_suffix("List")
            .and_then(|item| Descriptor::of(&api_version, item));
        let (Some(list), Some(item)) = (Descriptor::of(&api_version, &kind), item) else {
            return Ok(None);
        };
        json.advance(at + ITEMS.len());
        Ok(Some(Self {
            raw: message_to_vec(list, &head, UnknownFields::Ignore).map_err(unwritable)?,
            api_version,
            kind,
            item,
            scan: Scan::default(),
        }))
    }

    /// Takes the items that are there as a whole.
    fn read(&mut self, json: &mut BytesMut) -> Result<(), StatusError> {
        while let Some(item) = self.scan.next(json) {
            let bytes = nesting::with_room(nesting::of_json(&item), || {
                let item = Value::Object(parsed(&item)?);
                message_to_vec(self.item, &item, UnknownFields::Ignore).map_err(unwritable)
            })?;
            self.raw.push(2 << 3 | 2); // the items of every list have the number 2
            let mut length = bytes.len();
            while length >= 0x80 {
                self.raw.push(length as u8 | 0x80);
                length >>= 7;
            }
            self.raw.push(length as u8);
            self.raw.extend(bytes);
        }
        Ok(())
    }

    fn close(self) -> Bytes {
        Envelope::new(&self.api_version, &self.kind, &self.raw)
            .to_vec()
            .into()
    }
}

/// Where the scan for the end of an item is.
#[derive(Default)]
struct Scan {
    at: usize,
    depth: usize,
    in_string: bool,
    is_escaped: bool,
}

impl Scan {
    /// Takes the next item, if its end is there.
    fn next(&mut self, json: &mut BytesMut) -> Option<Bytes> {
        while let Some(byte) = json.get(self.at) {
            self.at += 1;
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' if self.in_string => self.is_escaped = true,
                b'"' => self.in_string = !self.in_string,
                _ if self.in_string => {}
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' if self.depth > 1 => self.depth -= 1,
                b'}' if self.depth == 1 => {
                    let item = json.split_to(self.at).freeze();
                    *self = Self::default();
                    return Some(item);
                }
                b',' if self.depth == 0 => {
                    json.advance(self.at);
                    self.at = 0;
                }
                _ => {}
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_found_however_the_list_is_cut() {
        let text = br#"{"a":"}\"{"},{"b":[{}]},{}]}"#;
        for cut in 1..text.len() {
            let mut scan = Scan::default();
            let (mut json, mut found) = (BytesMut::new(), Vec::new());
            for part in text.chunks(cut) {
                json.extend_from_slice(part);
                while let Some(item) = scan.next(&mut json) {
                    found.push(item);
                }
            }
            assert_eq!(found, [&br#"{"a":"}\"{"}"#[..], br#"{"b":[{}]}"#, b"{}"]);
        }
    }
}
