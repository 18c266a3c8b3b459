//! The body of a LIST in JSON: `{"kind":"PodList","apiVersion":"v1","metadata":{…},"items":[…]}`.

use super::{
    feed::{Feed, Take},
    members::{MAX_ENVELOPE_VALUE, Members, Next},
    text,
};
use crate::low_level::wire::{FieldPlan, FrameError, FrameReason, ListMeta, Split};
use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Map, Value};

/// See [`ListReader`](crate::low_level::wire::ListReader).
#[derive(Debug)]
pub(in crate::low_level::wire) struct ListReader {
    feed: Feed,
    max: usize,
    at: At,
    members: Members,
    items_seen: bool,
    end: ListMeta,
    failed: Option<FrameError>,
}

/// The position in the list.
#[derive(Debug, Clone, Copy)]
enum At {
    Members,
    Value(Member),
    /// At the value of `items`.
    Items,
    FirstItem,
    Item,
    BehindItem,
    End,
}

/// The members of a list that are read.
#[derive(Debug, Clone, Copy)]
enum Member {
    Kind,
    ApiVersion,
    Metadata,
    /// `null` instead of the items.
    NoItems,
    Other,
}

/// `metadata` of a list.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Metadata {
    resource_version: Option<String>,
    #[serde(rename = "continue")]
    continue_token: Option<String>,
    /// Informational only, so any value is accepted.
    remaining_item_count: Value,
}

impl ListReader {
    pub(in crate::low_level::wire) fn new(max: usize) -> Self {
        Self {
            feed: Feed::default(),
            max,
            at: At::Members,
            members: Members::default(),
            items_seen: false,
            end: ListMeta::default(),
            failed: None,
        }
    }

    pub(in crate::low_level::wire) fn push(&mut self, chunk: Bytes) {
        self.feed.push(chunk);
    }

    pub(in crate::low_level::wire) fn metadata(&self) -> &ListMeta {
        &self.end
    }

    /// The next item, scanned for `plan` if there is one; `None` if it has not arrived yet.
    pub(in crate::low_level::wire) fn next(
        &mut self,
        plan: Option<&FieldPlan>,
    ) -> Result<Option<Split>, FrameError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        self.advance(plan)
            .inspect_err(|error| self.failed = Some(error.clone()))
    }

    fn advance(&mut self, plan: Option<&FieldPlan>) -> Result<Option<Split>, FrameError> {
        loop {
            let next = match self.at {
                At::Members => self.member()?,
                At::Value(member) => self.value(member)?,
                At::Item => {
                    let item = self.feed.object(self.max, plan)?;
                    if item.is_some() {
                        self.at = At::BehindItem;
                    }
                    return Ok(item);
                }
                At::Items | At::FirstItem | At::BehindItem | At::End => self.between()?,
            };
            match next {
                Some(next) => self.at = next,
                None => return Ok(None),
            }
        }
    }

    /// Moves to the next member of the list.
    fn member(&mut self) -> Result<Option<At>, FrameError> {
        let name = match self.members.next(&mut self.feed)? {
            None => return Ok(None),
            Some(Next::End) => return Ok(Some(At::End)),
            Some(Next::Member(name)) => name,
        };
        Ok(Some(match &*text::member_name(&name) {
            b"items" if self.items_seen => return Err(self.feed.error(FrameReason::RepeatedItems)),
            b"items" => At::Items,
            b"metadata" => At::Value(Member::Metadata),
            b"kind" => At::Value(Member::Kind),
            b"apiVersion" => At::Value(Member::ApiVersion),
            _ => At::Value(Member::Other),
        }))
    }

    /// Reads the value of a member other than the items.
    fn value(&mut self, member: Member) -> Result<Option<At>, FrameError> {
        let take = match member {
            Member::Other => Take::Nothing,
            _ => Take::UpTo(MAX_ENVELOPE_VALUE),
        };
        let Some(value) = self.feed.value(take)? else {
            return Ok(None);
        };
        match member {
            Member::Kind => self.end.kind = self.read("kind", &value)?,
            Member::ApiVersion => self.end.api_version = self.read("apiVersion", &value)?,
            Member::Metadata => self.set_metadata(&value)?,
            Member::NoItems => _ = self.read::<()>("items", &value)?,
            Member::Other => {}
        }
        Ok(Some(At::Members))
    }

    fn set_metadata(&mut self, value: &[u8]) -> Result<(), FrameError> {
        // Decoded through a map, so that the last of two members with the same name counts.
        let map: Map<String, Value> = self.read("metadata", value)?.unwrap_or_default();
        let metadata = Metadata::deserialize(Value::Object(map))
            .map_err(|_| self.feed.error(FrameReason::Invalid("metadata")))?;
        let given = |text: &String| !text.is_empty();
        self.end.resource_version = metadata
            .resource_version
            .filter(given)
            .map(|text| text.as_str().into());
        self.end.continue_token = metadata.continue_token.filter(given);
        self.end.remaining_item_count = metadata.remaining_item_count.as_u64();
        Ok(())
    }

    fn read<'a, T: Deserialize<'a>>(
        &self,
        member: &'static str,
        value: &'a [u8],
    ) -> Result<Option<T>, FrameError> {
        serde_json::from_slice(value).map_err(|_| self.feed.error(FrameReason::Invalid(member)))
    }

    /// Skips what is between items.
    fn between(&mut self) -> Result<Option<At>, FrameError> {
        let Some(byte) = self.feed.peek() else {
            return Ok(None);
        };
        let next = match (self.at, byte) {
            (At::Items, b'n') => {
                self.items_seen = true;
                return Ok(Some(At::Value(Member::NoItems)));
            }
            (At::FirstItem, byte) if byte != b']' => return Ok(Some(At::Item)),
            (At::Items, b'[') => {
                self.items_seen = true;
                At::FirstItem
            }
            (At::FirstItem | At::BehindItem, b']') => At::Members,
            (At::BehindItem, b',') => At::Item,
            (At::End, _) => return Err(self.feed.error(FrameReason::TrailingData)),
            (At::Items, _) => return Err(self.feed.expected("an array of items")),
            _ => return Err(self.feed.expected("a comma or the end of the items")),
        };
        self.feed.bump();
        Ok(Some(next))
    }

    pub(in crate::low_level::wire) fn finish(mut self) -> Result<ListMeta, FrameError> {
        if self.next(None)?.is_some() || !matches!(self.at, At::End) {
            return Err(self.feed.error(FrameReason::Truncated));
        }
        if self.items_seen {
            return Ok(self.end);
        }
        match self.end.kind {
            Some(kind) if kind == "Table" => Err(self.feed.error(FrameReason::Table)),
            Some(ref kind) if kind.ends_with("List") => Ok(self.end),
            kind => Err(self.feed.error(FrameReason::NotAList { kind })),
        }
    }
}
