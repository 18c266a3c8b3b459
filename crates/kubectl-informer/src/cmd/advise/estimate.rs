//! What a cache takes in each form, from a sample.
//!
//! Packed objects are measured: the sample is packed. Decoded objects are estimated by factors that were measured with pods
//! (`bench/RESULTS.md`, "A real API server"): bytes of memory for each byte of JSON. Long strings are not multiplied.

use super::sample::{Sample, Sizes};
use serde::Serialize;

/// What holds the objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Form {
    ClientGo,
    KubeRs,
    Typed,
    Pruned,
    Metadata,
    Projection,
    Packed,
}

/// The memory that a cache of a kind takes.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Estimate {
    pub(super) form: Form,
    pub(super) bytes: u64,
}

/// Bytes of memory for a byte of JSON: pods of 12.3 KB, 6.7 KB of them without managedFields, on kube-apiserver.
mod factors {
    /// 40.80 KB for a pod: client-go asks for protobuf, as it does for built-in kinds.
    pub(super) const CLIENT_GO: f64 = 40.80 / 12.3;
    /// 40.88 KB for a pod of 10.8 KB in JSON, which client-go asks for if the kind is a custom resource ("Forms, kube-rs and
    /// client-go on one server").
    pub(super) const CLIENT_GO_JSON: f64 = 40.88 / 10.8;
    /// 101.36 KB for a pod.
    pub(super) const KUBE_RS: f64 = 101.36 / 12.3;
    /// It holds the same type as kube-rs: 80.66 and 80.68 KB for a pod on one server.
    pub(super) const TYPED: f64 = KUBE_RS;
    /// 38.76 KB for a pod, of which 6.7 KB of JSON are decoded.
    pub(super) const PRUNED: f64 = 38.76 / 6.7;
    /// 2.95 KB for a pod, of which 0.88 KB of JSON are metadata without managedFields: names and strings.
    pub(super) const METADATA: f64 = 2.95 / 0.88;
}

impl Form {
    pub(super) const ALL: [Self; 7] = [
        Self::ClientGo,
        Self::KubeRs,
        Self::Typed,
        Self::Pruned,
        Self::Metadata,
        Self::Projection,
        Self::Packed,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::ClientGo => "client-go",
            Self::KubeRs => "kube-rs",
            Self::Typed => "typed",
            Self::Pruned => "pruned",
            Self::Metadata => "metadata",
            Self::Projection => "projection",
            Self::Packed => "packed",
        }
    }

    /// What it is, and how its estimate is made.
    pub(super) fn made(self) -> String {
        let factor = |what: &str, factor: f64| {
            format!(
                "{what}: {factor:.1} bytes for each byte of JSON, as measured with pods; long strings count once"
            )
        };
        match self {
            Self::ClientGo => format!(
                "client-go's informer: {:.1} bytes for each byte of JSON (custom resources {:.1}), as measured with pods; long strings count once",
                factors::CLIENT_GO,
                factors::CLIENT_GO_JSON
            ),
            Self::KubeRs => factor("kube-rs's reflector", factors::KUBE_RS),
            Self::Typed => factor("an informer of the type, such as Pod", factors::TYPED),
            Self::Pruned => factor("the type without managedFields (FieldPlan)", factors::PRUNED),
            Self::Metadata => format!(
                "PartialObjectMeta, without managedFields: {:.1} bytes for each byte of metadata, as measured with pods; long strings count once",
                factors::METADATA
            ),
            Self::Projection => {
                "a struct of name, namespace, uid, version and labels: its strings in the sample, 40 bytes beside each, and \
                 200 beside each object"
                    .into()
            }
            Self::Packed => {
                "Packed, without managedFields: the sample was packed, each further object as its last ones; at most that, if \
                 fewer than 65 were sampled"
                    .into()
            }
        }
    }

    /// The memory that all objects of a kind take.
    pub(super) fn estimate(self, sample: &Sample, custom: bool) -> Estimate {
        let sizes = sample.sizes;
        let bytes = match self {
            Self::Packed => sample.packed(),
            Self::Projection => {
                let beside = 40 * sizes.identity_strings + 200 * sample.sampled;
                sample.of_all(sizes.identity + beside)
            }
            decoded => sample.of_all(decoded.of_sample(&sizes, custom)),
        };
        Estimate { form: self, bytes }
    }

    /// The memory that the decoded objects of a sample take.
    fn of_sample(self, sizes: &Sizes, custom: bool) -> u64 {
        let (bytes, long, factor) = match self {
            Self::ClientGo if custom => (sizes.all, sizes.long, factors::CLIENT_GO_JSON),
            Self::ClientGo => (sizes.all, sizes.long, factors::CLIENT_GO),
            Self::KubeRs => (sizes.all, sizes.long, factors::KUBE_RS),
            Self::Pruned => (
                sizes.all.saturating_sub(sizes.managed_fields),
                sizes.long,
                factors::PRUNED,
            ),
            Self::Metadata => (
                sizes.metadata.saturating_sub(sizes.managed_fields),
                sizes.long_metadata,
                factors::METADATA,
            ),
            Self::Typed | Self::Packed | Self::Projection => (sizes.all, sizes.long, factors::TYPED),
        };
        (bytes.saturating_sub(long) as f64 * factor).round() as u64 + long
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_strings_are_not_multiplied() {
        let sizes = Sizes {
            all: 1_000_100,
            long: 1_000_000,
            ..Sizes::default()
        };
        let typed = Form::Typed.of_sample(&sizes, false);
        assert!((1_000_500..1_001_500).contains(&typed), "{typed}");
    }

    #[test]
    fn metadata_is_held_without_managed_fields() {
        let sizes = Sizes {
            all: 12_300,
            metadata: 4_880,
            managed_fields: 4_000,
            ..Sizes::default()
        };
        assert_eq!(Form::Metadata.of_sample(&sizes, false), 2_950);
    }

    #[test]
    fn custom_resources_are_json_for_client_go() {
        let sizes = Sizes {
            all: 12_300,
            ..Sizes::default()
        };
        assert_eq!(Form::ClientGo.of_sample(&sizes, false), 40_800);
        assert_eq!(Form::ClientGo.of_sample(&sizes, true), 46_558);
    }
}
