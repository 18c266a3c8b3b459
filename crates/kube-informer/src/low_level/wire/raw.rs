//! One object as the server sent it.

use super::meta::{self, Meta, Span};
use super::{Encoding, FieldPlan, ScanError, Split, json};
use crate::object::{Fingerprint, ObjectKey, ResourceVersion};
use bytes::Bytes;
use std::{borrow::Cow, fmt};

/// One object as the server sent it, with what a single pass over its bytes found.
///
/// The name, namespace, uid and labels are read from the bytes themselves: a scan allocates nothing, unless one of
/// them is written with escapes (the names of some ClusterRoles are).
///
/// ```
/// use kube_informer::low_level::wire::{Encoding, RawObject};
///
/// let body = r#"{"metadata":{"name":"web-0","namespace":"shop","uid":"u1","resourceVersion":"7",
///     "labels":{"app":"web"}},"spec":{}}"#;
/// let raw = RawObject::scan(Encoding::Json, body.into())?;
/// assert_eq!((raw.namespace(), raw.name(), raw.uid()), (Some("shop"), "web-0", Some("u1")));
/// assert_eq!(raw.resource_version(), Some("7".into()));
/// assert_eq!(raw.label("app").as_deref(), Some("web"));
/// assert_eq!(raw.bytes(), body);
///
/// // The same object as an event of a watch carries it, with kind and apiVersion, has the same fingerprint.
/// let event = body.replacen('{', r#"{"kind":"Pod","apiVersion":"v1","#, 1);
/// let event = RawObject::scan(Encoding::Json, event.into())?;
/// assert_eq!(event.kind(), Some("Pod"));
/// assert_eq!(event.fingerprint(), raw.fingerprint());
/// # Ok::<_, kube_informer::low_level::wire::ScanError>(())
/// ```
#[derive(Clone)]
pub struct RawObject {
    encoding: Encoding,
    meta: Meta,
    bytes: Bytes,
    /// The apiVersion and kind of all items of a list in protobuf, which do not say it themselves.
    #[cfg(feature = "protobuf")]
    types: Option<std::sync::Arc<(String, String)>>,
}

impl RawObject {
    /// Goes over an object once and finds key, uid, resource version, labels, kind, apiVersion and fingerprint.
    ///
    /// # Errors
    /// The bytes are not one object with a name, or something that is read has the wrong type. Parts that are not read
    /// are not checked; see [Validity](super#validity).
    pub fn scan(encoding: Encoding, bytes: Bytes) -> Result<Self, ScanError> {
        Self::scan_with(encoding, bytes, &FieldPlan::default())
    }

    /// The same, and finds what `plan` asks for in the same pass.
    ///
    /// # Errors
    /// As [`scan`](Self::scan).
    pub fn scan_with(encoding: Encoding, bytes: Bytes, plan: &FieldPlan) -> Result<Self, ScanError> {
        Self::scan_split(encoding, (bytes, None), plan)
    }

    /// The same for an object that was split off a body, which may have been scanned in the same pass.
    pub(super) fn scan_split(
        encoding: Encoding,
        (bytes, meta): Split,
        plan: &FieldPlan,
    ) -> Result<Self, ScanError> {
        let meta = match (meta, encoding) {
            (Some(meta), _) => meta,
            (None, Encoding::Json) => json::scan(&bytes, plan)?,
            #[cfg(feature = "protobuf")]
            (None, Encoding::Protobuf) => super::protobuf::scan(&bytes, plan)?,
        };
        Ok(Self {
            encoding,
            meta,
            bytes,
            #[cfg(feature = "protobuf")]
            types: None,
        })
    }

    /// The key under which the object is stored.
    pub fn key(&self) -> ObjectKey {
        ObjectKey::new(self.namespace(), self.name())
    }

    /// Writes the key over what `buffer` holds: for looking it up without an allocation for each object.
    ///
    /// ```
    /// # use kube_informer::low_level::wire::{Encoding, RawObject};
    /// # let raw = RawObject::scan(Encoding::Json, r#"{"metadata":{"name":"web-0","namespace":"shop"}}"#.into())?;
    /// let mut buffer = String::new();
    /// raw.write_key(&mut buffer);
    /// assert_eq!(buffer, "shop/web-0");
    /// # Ok::<_, kube_informer::low_level::wire::ScanError>(())
    /// ```
    pub fn write_key(&self, buffer: &mut String) {
        buffer.clear();
        if let Some(namespace) = self.namespace() {
            buffer.push_str(namespace);
            buffer.push('/');
        }
        buffer.push_str(self.name());
    }

    /// The object's name; never empty.
    pub fn name(&self) -> &str {
        self.meta.name.of(&self.bytes).unwrap_or_default()
    }

    /// The object's namespace; `None` for cluster-scoped kinds.
    pub fn namespace(&self) -> Option<&str> {
        self.meta.namespace.of(&self.bytes)
    }

    /// The object's unique id.
    pub fn uid(&self) -> Option<&str> {
        self.meta.uid.of(&self.bytes)
    }

    /// The version of this state of the object.
    pub fn resource_version(&self) -> Option<ResourceVersion> {
        self.meta.resource_version.clone()
    }

    /// The object's kind. The items of a list of a built-in kind do not say it in JSON.
    pub fn kind(&self) -> Option<&str> {
        let kind = self.meta.kind.of(&self.bytes);
        #[cfg(feature = "protobuf")]
        let kind = kind.or_else(|| self.types.as_ref().map(|types| &*types.1));
        kind
    }

    /// The group and version of the object's kind. The items of a list of a built-in kind do not say it in JSON.
    pub fn api_version(&self) -> Option<&str> {
        let api_version = self.meta.api_version.of(&self.bytes);
        #[cfg(feature = "protobuf")]
        let api_version = api_version.or_else(|| self.types.as_ref().map(|types| &*types.0));
        api_version
    }

    /// The object's labels in the order in which they were sent, read while iterating.
    ///
    /// No server sends a label twice. If one did, both would come, and the last one counts.
    pub fn labels(&self) -> impl Iterator<Item = (Cow<'_, str>, Cow<'_, str>)> {
        let span = self.meta.labels.map(|span| span.of(&self.bytes));
        let json = span.filter(|_| self.encoding == Encoding::Json);
        let labels = json.map(json::labels).into_iter().flatten();
        #[cfg(feature = "protobuf")]
        let labels = labels.chain({
            let protobuf = span.filter(|_| self.encoding == Encoding::Protobuf);
            protobuf.map(super::protobuf::labels).into_iter().flatten()
        });
        labels
    }

    /// The value of one label.
    pub fn label(&self, name: &str) -> Option<Cow<'_, str>> {
        self.labels()
            .filter(|(key, _)| key == name)
            .map(|(_, value)| value)
            .last()
    }

    /// The value of `metadata.ownerReferences`, an array of objects, as it was written. The scan has not looked into it. In
    /// protobuf it is the records of the owners.
    ///
    /// ```
    /// use kube_informer::low_level::wire::{Encoding, RawObject};
    ///
    /// let body = r#"{"metadata":{"name":"web-0","ownerReferences":[{"uid":"u1"}]}}"#;
    /// let raw = RawObject::scan(Encoding::Json, body.into())?;
    /// assert_eq!(raw.owner_references(), Some(&br#"[{"uid":"u1"}]"#[..]));
    /// # Ok::<_, kube_informer::low_level::wire::ScanError>(())
    /// ```
    pub fn owner_references(&self) -> Option<&[u8]> {
        let span = self.meta.owners?;
        Some(span.of(&self.bytes)).filter(|value| match self.encoding {
            Encoding::Json => value.starts_with(b"["),
            #[cfg(feature = "protobuf")]
            Encoding::Protobuf => true,
        })
    }

    /// Identifies this state of the object: a hash of all of the body, except for `kind` and `apiVersion` at its top.
    ///
    /// An object has the same fingerprint whether it came in a list or in a watch, and another one in another process.
    pub fn fingerprint(&self) -> Fingerprint {
        self.meta.fingerprint
    }

    /// The encoding of [`bytes`](RawObject::bytes).
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// The object as it was sent.
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The object without what the [`FieldPlan`] of its scan leaves out; not copied if that is nothing. In protobuf it is
    /// the bare message, without an envelope.
    pub fn body(&self) -> Cow<'_, [u8]> {
        if self.meta.cuts.is_empty() {
            return Cow::Borrowed(&self.bytes);
        }
        let mut body = Vec::new();
        self.write_body(&mut body);
        Cow::Owned(body)
    }

    /// Writes the [`body`](Self::body) over what `buffer` holds.
    pub fn write_body(&self, buffer: &mut Vec<u8>) {
        self.write_body_without(None, buffer);
    }

    /// The same without the uid, whose place in the body is returned. With none if the body does not contain it, or with
    /// escapes.
    #[cfg(any(test, feature = "packed"))]
    pub(crate) fn write_body_without_uid(&self, buffer: &mut Vec<u8>) -> Option<usize> {
        let uid = match self.meta.uid {
            meta::Text::Plain(span) => Some(span),
            _ => None,
        };
        self.write_body_without(uid, buffer)
    }

    fn write_body_without(&self, uid: Option<Span>, buffer: &mut Vec<u8>) -> Option<usize> {
        buffer.clear();
        let cuts = &self.meta.cuts;
        #[cfg(feature = "protobuf")]
        if self.encoding == Encoding::Protobuf && !cuts.is_empty() {
            return super::protobuf::write_body(&self.bytes, cuts, uid, buffer);
        }
        meta::write_without(&self.bytes, 0..self.bytes.len(), cuts, uid, buffer)
    }

    /// The values, as they were written, of the field with this number in the [`FieldPlan`] of the scan; at most one, unless
    /// the path has a wildcard. A field can be found in a part that is left out.
    ///
    /// If a member occurs twice, only values in the last one are found.
    pub fn extracted(&self, number: u16) -> impl Iterator<Item = &[u8]> {
        let fields = self.meta.fields.iter().filter(move |(field, _)| *field == number);
        fields.map(|(_, span)| span.of(&self.bytes))
    }

    /// Whether the fingerprint stands for uid and version, not for the body.
    pub(crate) fn is_identified_by_version(&self) -> bool {
        self.meta.by_version
    }

    /// Says of what apiVersion and kind it is, if it does not say it itself.
    #[cfg(feature = "protobuf")]
    pub(super) fn of_types(mut self, types: &std::sync::Arc<(String, String)>) -> Self {
        self.types = Some(types.clone());
        self
    }

    /// The object as it was sent, without the rest.
    pub fn into_bytes(self) -> Bytes {
        self.bytes
    }

    /// The same object with bytes of its own, which no longer keep the buffer alive that it was read from.
    #[must_use = "the original still keeps its buffer alive"]
    pub fn into_owned(self) -> Self {
        Self {
            bytes: Bytes::copy_from_slice(&self.bytes),
            ..self
        }
    }
}

/// The key and the size, never the body.
impl fmt::Debug for RawObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawObject")
            .field("key", &self.key())
            .field("resource_version", &self.meta.resource_version)
            .field("encoding", &self.encoding)
            .field("size", &self.bytes.len())
            .finish()
    }
}
