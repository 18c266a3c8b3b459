//! Splits the body of a LIST into items.

use super::{DEFAULT_MAX_OBJECT_SIZE, Encoding, FieldPlan, FrameError, RawObject, ScanError, json};
use crate::object::ResourceVersion;
use bytes::Bytes;

/// Splits the body of a LIST into its items as it arrives.
///
/// [Push](ListReader::push) each chunk, then call [next](ListReader::next) until it returns `None`. Call
/// [finish](ListReader::finish) when the body has ended; only its success means that the list is complete.
///
/// ```
/// use kube_informer::low_level::wire::{Encoding, ListReader};
///
/// let mut reader = ListReader::new(Encoding::Json);
/// reader.push(r#"{"kind":"PodList","items":[{"a":1},{"b""#.into());
/// assert_eq!(reader.next()?, Some(r#"{"a":1}"#.into()));
/// assert_eq!(reader.next()?, None);
///
/// reader.push(r#":2}],"metadata":{"resourceVersion":"9","continue":"x"}}"#.into());
/// assert_eq!(reader.next()?, Some(r#"{"b":2}"#.into()));
/// assert_eq!(reader.next()?, None);
///
/// let end = reader.finish()?;
/// assert_eq!(end.kind.as_deref(), Some("PodList"));
/// assert_eq!(end.continue_token.as_deref(), Some("x"));
/// # Ok::<_, kube_informer::low_level::wire::FrameError>(())
/// ```
///
/// An item can be any JSON value, even one that is not an object. Whether it can be read is determined separately for
/// each item.
#[derive(Debug)]
pub struct ListReader {
    inner: Inner,
    /// The apiVersion and kind of the items, which are nowhere else in protobuf.
    #[cfg(feature = "protobuf")]
    item_types: Option<std::sync::Arc<(String, String)>>,
}

#[derive(Debug)]
enum Inner {
    Json(json::ListReader),
    #[cfg(feature = "protobuf")]
    Protobuf(super::protobuf::ListReader),
}

/// The kind and metadata of a list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListMeta {
    /// The version of the listed collection.
    pub resource_version: Option<ResourceVersion>,
    /// The token for requesting the next page; `None` on the last page.
    pub continue_token: Option<String>,
    /// The approximate number of items on the following pages, if the server reports it.
    pub remaining_item_count: Option<u64>,
    /// The kind of the list, such as `PodList`.
    pub kind: Option<String>,
    /// The group and version of the list's kind.
    pub api_version: Option<String>,
}

impl ListReader {
    /// A reader at the start of a body, for objects up to [`DEFAULT_MAX_OBJECT_SIZE`].
    pub fn new(encoding: Encoding) -> Self {
        Self::with_max_object_size(encoding, DEFAULT_MAX_OBJECT_SIZE)
    }

    /// A reader that rejects objects of more than `max` bytes.
    pub fn with_max_object_size(encoding: Encoding, max: usize) -> Self {
        let inner = match encoding {
            Encoding::Json => Inner::Json(json::ListReader::new(max)),
            #[cfg(feature = "protobuf")]
            Encoding::Protobuf => Inner::Protobuf(super::protobuf::ListReader::new(max)),
        };
        Self {
            inner,
            #[cfg(feature = "protobuf")]
            item_types: None,
        }
    }

    /// Adds the next chunk of the body.
    ///
    /// Read all items before pushing more, because unread chunks are kept in memory.
    pub fn push(&mut self, chunk: Bytes) {
        match &mut self.inner {
            Inner::Json(reader) => reader.push(chunk),
            #[cfg(feature = "protobuf")]
            Inner::Protobuf(reader) => reader.push(chunk),
        }
    }

    /// The bytes of the next item; `None` until more is pushed. Their `Debug` shows them: do not log it.
    ///
    /// # Errors
    /// The body is not a list, or its items cannot be delimited. Every later call returns the same error.
    #[expect(
        clippy::should_implement_trait,
        reason = "None is not the end: more may be pushed"
    )]
    pub fn next(&mut self) -> Result<Option<Bytes>, FrameError> {
        match &mut self.inner {
            Inner::Json(reader) => Ok(reader.next(None)?.map(|(item, _)| item)),
            #[cfg(feature = "protobuf")]
            Inner::Protobuf(reader) => reader.next(),
        }
    }

    /// The next item, scanned for `plan`, in one pass if it has arrived in one piece.
    pub(crate) fn next_scanned(
        &mut self,
        plan: &FieldPlan,
    ) -> Result<Option<Result<RawObject, ScanError>>, FrameError> {
        let (encoding, item) = match &mut self.inner {
            Inner::Json(reader) => (Encoding::Json, reader.next(Some(plan))?),
            #[cfg(feature = "protobuf")]
            Inner::Protobuf(reader) => (Encoding::Protobuf, reader.next()?.map(|item| (item, None))),
        };
        let scanned = item.map(|item| RawObject::scan_split(encoding, item, plan));
        #[cfg(feature = "protobuf")]
        let scanned = scanned.map(|scanned| scanned.map(|raw| self.with_type(raw)));
        Ok(scanned)
    }

    /// Says of what kind an item is, if nothing else does.
    #[cfg(feature = "protobuf")]
    fn with_type(&mut self, raw: RawObject) -> RawObject {
        let Inner::Protobuf(reader) = &self.inner else {
            return raw;
        };
        let types = self.item_types.get_or_insert_with(|| {
            let list = reader.metadata();
            let kind = list.kind.as_deref().unwrap_or_default();
            let kind = kind.strip_suffix("List").unwrap_or(kind);
            let api_version = list.api_version.clone().unwrap_or_default();
            (api_version, kind.to_owned()).into()
        });
        raw.of_types(types)
    }

    /// The metadata received so far. The API server sends it before the items, so it is available with the first
    /// item.
    pub fn metadata(&self) -> &ListMeta {
        match &self.inner {
            Inner::Json(reader) => reader.metadata(),
            #[cfg(feature = "protobuf")]
            Inner::Protobuf(reader) => reader.metadata(),
        }
    }

    /// Ends the body.
    ///
    /// # Errors
    /// The body is truncated, has parts that were not read, or is not a list: it has no items, and its kind does not
    /// end with `List`. Absent or null items of a list are an empty list, as in client-go.
    pub fn finish(self) -> Result<ListMeta, FrameError> {
        match self.inner {
            Inner::Json(reader) => reader.finish(),
            #[cfg(feature = "protobuf")]
            Inner::Protobuf(reader) => reader.finish(),
        }
    }
}
