//! Which encoding a source asks for, and in which one the server answers.

use super::ApiStatus;
use crate::low_level::wire::{Encoding, FieldPlan};
use http::{HeaderValue, Response, header};
use kube::client::Body;
use kube::core::ApiResource;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

const JSON: &str = "application/json";
#[cfg(feature = "protobuf")]
const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

/// How long it is remembered that the server does not have an encoding: servers are upgraded, and proxies replaced.
const REMEMBERED: Duration = Duration::from_secs(3600);

/// What a source prefers, and what is remembered of the server's answers; shared by the source's clones.
#[derive(Clone, Default)]
pub(super) struct Negotiation {
    /// What the user has chosen; `None`: the best for what is asked for.
    preferred: Option<Encoding>,
    /// When the server last answered in another encoding than the preferred one.
    refused: Arc<Mutex<Option<Instant>>>,
}

/// What is asked for.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(not(feature = "protobuf"), expect(dead_code))]
pub(super) struct Objects<'a> {
    pub(super) resource: &'a ApiResource,
    pub(super) plan: &'a FieldPlan,
    /// Whether they are held with fields that no table has.
    pub(super) keep_unknown_fields: bool,
    /// Whether only their metadata is asked for.
    pub(super) metadata_only: bool,
}

impl Objects<'_> {
    /// Whether a server may have them whole in protobuf: they are of a built-in kind.
    #[cfg(feature = "protobuf")]
    fn have_message(&self) -> bool {
        kube_protobuf::Descriptor::of(&self.resource.api_version, &self.resource.kind).is_some()
    }

    /// Whether a server may have what is asked for in protobuf, which it has of the metadata of any kind, and their scan needs nothing
    /// that it finds in JSON only.
    #[cfg(feature = "protobuf")]
    fn may_be_protobuf(&self) -> bool {
        (self.metadata_only || self.have_message()) && self.plan.prunes_at_most_managed_fields()
    }

    /// The encoding to ask for if the server gives whole objects where this one was asked for.
    #[cfg(feature = "protobuf")]
    fn whole(&self, asked: Encoding) -> Encoding {
        match self.have_message() {
            true => asked,
            false => Encoding::Json,
        }
    }

    #[cfg(not(feature = "protobuf"))]
    fn whole(&self, asked: Encoding) -> Encoding {
        asked
    }

    /// The `Accept` header: what is asked for in `encoding` first, then in JSON. `metadata` is what metadata is
    /// asked for as.
    pub(super) fn accept(&self, encoding: Encoding, metadata: PartialMetadata) -> HeaderValue {
        let parameters = [
            (self.metadata_only).then_some(metadata.parameters()),
            (self.plan.prunes_managed_fields()).then_some(WITHOUT_MANAGED_FIELDS),
        ];
        let parameters: String = parameters.into_iter().flatten().collect();
        accept(encoding, &parameters, self.whole(encoding))
    }
}

/// Objects without managed fields (KEP-5958). A server that does not know the parameter ignores it.
const WITHOUT_MANAGED_FIELDS: &str = ";drop=metadata.managedFields";

/// The kind of an answer that has only metadata.
#[derive(Debug, Clone, Copy)]
pub(super) enum PartialMetadata {
    List,
    /// One object, or the events of a watch.
    Object,
}

impl PartialMetadata {
    /// The parameters of the media type. A server that does not know them gives whole objects.
    pub(super) fn parameters(self) -> &'static str {
        match self {
            Self::List => ";as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
            Self::Object => ";as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
        }
    }
}

impl Negotiation {
    pub(super) fn new(preferred: Encoding) -> Self {
        Self {
            preferred: Some(preferred),
            refused: Arc::default(),
        }
    }

    /// What the user has chosen.
    pub(super) fn chosen(&self) -> Option<Encoding> {
        self.preferred
    }

    /// The encoding to ask for, unless the server has refused it.
    #[cfg(feature = "protobuf")]
    pub(super) fn preferred(&self, objects: &Objects<'_>) -> Encoding {
        let default = match objects.keep_unknown_fields {
            true => Encoding::Json,
            false => Encoding::Protobuf,
        };
        match self.preferred.unwrap_or(default) {
            Encoding::Protobuf if objects.may_be_protobuf() => Encoding::Protobuf,
            _ => Encoding::Json,
        }
    }

    /// The encoding to ask for.
    #[cfg(not(feature = "protobuf"))]
    pub(super) fn preferred(&self, _: &Objects<'_>) -> Encoding {
        self.preferred.unwrap_or_default()
    }

    /// The encoding to ask for.
    pub(super) fn asked(&self, objects: &Objects<'_>) -> Encoding {
        let refused = *self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        match refused.is_some_and(|refused| refused.elapsed() < REMEMBERED) {
            true => Encoding::Json,
            false => self.preferred(objects),
        }
    }

    /// Remembers that the server does not have the encoding that was asked for.
    pub(super) fn refused(&self) {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        *refused = Some(Instant::now());
    }

    /// The encoding of an answer. One in another encoding than was asked for is remembered.
    pub(super) fn answered(&self, asked: Encoding, response: &Response<Body>) -> Encoding {
        let answered = encoding_of(response);
        if answered != asked {
            self.refused();
        }
        answered
    }
}

/// The `Accept` header: `encoding` first, then JSON; objects reduced by `parameters` first, then whole ones, in the encoding
/// `whole` or JSON.
pub(super) fn accept(encoding: Encoding, parameters: &str, whole: Encoding) -> HeaderValue {
    let types = |encoding| -> &[&str] {
        match encoding {
            Encoding::Json => &[JSON],
            #[cfg(feature = "protobuf")]
            Encoding::Protobuf => &[PROTOBUF, JSON],
        }
    };
    let reduced = types(encoding).iter().filter(|_| !parameters.is_empty());
    let reduced = reduced.map(|kind| format!("{kind}{parameters}"));
    let whole = types(whole).iter().map(|kind| (*kind).to_owned());
    let value = reduced.chain(whole).collect::<Vec<_>>().join(",");
    HeaderValue::try_from(value).expect("constants without control characters")
}

/// The encoding that an answer says that it has; JSON if it says nothing.
pub(super) fn encoding_of(response: &Response<Body>) -> Encoding {
    let media_type = response.headers().get(header::CONTENT_TYPE);
    match media_type.map(HeaderValue::as_bytes).unwrap_or_default() {
        #[cfg(feature = "protobuf")]
        kind if kind.starts_with(PROTOBUF.as_bytes()) => Encoding::Protobuf,
        _ => Encoding::Json,
    }
}

/// A `Status` in this encoding.
pub(super) fn status(encoding: Encoding, body: &[u8], code: u16) -> Option<ApiStatus> {
    match encoding {
        Encoding::Json => ApiStatus::from_json(body, code),
        #[cfg(feature = "protobuf")]
        Encoding::Protobuf => {
            let status = kube_protobuf::to_value(body).ok()?;
            ApiStatus::from_json(status.to_string().as_bytes(), code)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "protobuf")]
    #[tokio::test(start_paused = true)]
    async fn a_refused_encoding_is_asked_for_again_after_an_hour() {
        use k8s_openapi::api::core::v1::Pod;
        let negotiation = Negotiation::default();
        let objects = Objects {
            resource: &ApiResource::erase::<Pod>(&()),
            plan: &FieldPlan::default(),
            keep_unknown_fields: false,
            metadata_only: false,
        };
        assert_eq!(negotiation.asked(&objects), Encoding::Protobuf);
        negotiation.refused();
        tokio::time::advance(REMEMBERED - Duration::from_secs(1)).await;
        assert_eq!(negotiation.clone().asked(&objects), Encoding::Json);
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(negotiation.asked(&objects), Encoding::Protobuf);
    }

    #[test]
    fn the_reduced_form_is_asked_for_first() {
        let json = |parameters: &str| accept(Encoding::Json, parameters, Encoding::Json);
        assert_eq!(json(""), "application/json");
        assert_eq!(
            json(WITHOUT_MANAGED_FIELDS),
            "application/json;drop=metadata.managedFields,application/json"
        );
        #[cfg(feature = "protobuf")]
        assert_eq!(
            accept(
                Encoding::Protobuf,
                PartialMetadata::Object.parameters(),
                Encoding::Protobuf
            ),
            "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,\
             application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,\
             application/vnd.kubernetes.protobuf,application/json"
        );
    }
}
