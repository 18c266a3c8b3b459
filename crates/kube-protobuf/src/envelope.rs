//! What is around every object in protobuf: four bytes, then a `runtime.Unknown`.

use crate::Error;
use crate::wire::{Reader, put_bytes, put_tag, put_varint};

/// The first bytes of every object in protobuf.
pub const MAGIC: &[u8; 4] = b"k8s\0";

/// What `content_type` is of JSON.
pub(crate) const APPLICATION_JSON: &str = "application/json";

/// An object in protobuf, unopened: what it is, and the bytes of its message.
///
/// The format is described in [Kubernetes' API concepts](https://kubernetes.io/docs/reference/using-api/api-concepts/#protobuf-encoding).
///
/// ```
/// let object = serde_json::json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}});
/// let bytes = kube_protobuf::to_vec(&object, kube_protobuf::UnknownFields::Deny)?;
/// let envelope = kube_protobuf::Envelope::parse(&bytes)?;
/// assert_eq!((envelope.api_version, envelope.kind), ("v1", "Namespace"));
/// # Ok::<(), kube_protobuf::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Envelope<'a> {
    /// Group and version, such as `apps/v1`, or `v1`.
    pub api_version: &'a str,
    /// The kind, such as `Deployment`.
    pub kind: &'a str,
    /// The message.
    pub raw: &'a [u8],
    /// What `raw` is encoded with, such as gzip; empty if with nothing. Kubernetes never sets it.
    pub content_encoding: &'a str,
    /// What `raw` is; empty if it is protobuf. Kubernetes never sets it for what it has a message for.
    pub content_type: &'a str,
}

impl<'a> Envelope<'a> {
    /// An envelope for a message that was written before, such as an item of a list.
    pub fn new(api_version: &'a str, kind: &'a str, raw: &'a [u8]) -> Self {
        Self {
            api_version,
            kind,
            raw,
            content_encoding: "",
            content_type: "",
        }
    }

    /// The bytes that [`parse`](Self::parse) reads.
    pub fn to_vec(&self) -> Vec<u8> {
        let (before, after) = self.around(self.raw.len());
        [&before, self.raw, &after].concat()
    }

    /// The bytes before and after a message of `length` bytes, in place of `raw`: for one that is sent in parts, such as
    /// a long list.
    ///
    /// ```
    /// use kube_protobuf::Envelope;
    ///
    /// let (before, after) = Envelope::new("v1", "PodList", &[]).around(5);
    /// let sent = [&before[..], b"\x12", b"\x03\x0a\x01x", &after].concat();
    /// assert_eq!(Envelope::parse(&sent)?.raw, b"\x12\x03\x0a\x01x");
    /// # Ok::<(), kube_protobuf::Error>(())
    /// ```
    pub fn around(&self, length: usize) -> (Vec<u8>, Vec<u8>) {
        let mut type_meta = Vec::new();
        put_bytes(&mut type_meta, 1, self.api_version.as_bytes());
        put_bytes(&mut type_meta, 2, self.kind.as_bytes());
        let (mut before, mut after) = (MAGIC.to_vec(), Vec::new());
        put_bytes(&mut before, 1, &type_meta);
        put_tag(&mut before, 2, 2);
        put_varint(&mut before, length as u64);
        put_bytes(&mut after, 3, self.content_encoding.as_bytes());
        put_bytes(&mut after, 4, self.content_type.as_bytes());
        (before, after)
    }

    /// Opens it as far as needed to see what is in it. Nothing is copied.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Envelope`](crate::ErrorKind::Envelope) for anything else.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        let rest = bytes.strip_prefix(MAGIC).ok_or_else(|| {
            Error::envelope("this is no Kubernetes protobuf: it does not start with \"k8s\\0\"")
        })?;
        let mut envelope = Self::new("", "", &[]);
        let mut reader = Reader::new(rest);
        while let Some(record) = reader.read().map_err(broken)? {
            match record.number {
                1 => envelope.read_type(record.value.bytes().map_err(broken)?)?,
                2 => envelope.raw = record.value.bytes().map_err(broken)?,
                3 => envelope.content_encoding = text(record.value.bytes().map_err(broken)?)?,
                4 => envelope.content_type = text(record.value.bytes().map_err(broken)?)?,
                _ => {}
            }
        }
        Ok(envelope)
    }

    /// What `raw` is, if it is protobuf and its kind is known.
    #[cfg(feature = "k8s-openapi")]
    pub(crate) fn message(&self) -> Option<crate::Descriptor> {
        let is_protobuf = self.content_encoding.is_empty() && self.content_type != APPLICATION_JSON;
        // `/v1` is the version of a kind, but not what its type says.
        let is_plain = !self.api_version.starts_with('/');
        (is_protobuf && is_plain).then(|| crate::Descriptor::of(self.api_version, self.kind))?
    }

    fn read_type(&mut self, bytes: &'a [u8]) -> Result<(), Error> {
        let mut reader = Reader::new(bytes);
        while let Some(record) = reader.read().map_err(broken)? {
            match record.number {
                1 => self.api_version = text(record.value.bytes().map_err(broken)?)?,
                2 => self.kind = text(record.value.bytes().map_err(broken)?)?,
                _ => {}
            }
        }
        Ok(())
    }
}

fn broken(error: Error) -> Error {
    Error::envelope(format!("the envelope is broken: {error}"))
}

fn text(bytes: &[u8]) -> Result<&str, Error> {
    std::str::from_utf8(bytes).map_err(|_| Error::envelope("the envelope has a string that is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    #[test]
    fn what_is_no_envelope_is_an_error() {
        for bytes in [
            &b""[..],
            b"k8s",
            b"{}",
            b"k8s\0\x0a\x05",
            b"k8s\0\x08\x01",
            b"k8s\0\x1a\x01\xff",
        ] {
            assert_eq!(Envelope::parse(bytes).unwrap_err().kind(), ErrorKind::Envelope);
        }
    }
}
