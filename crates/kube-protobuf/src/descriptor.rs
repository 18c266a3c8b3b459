//! Which messages there are.

use crate::table::{Label, Message, Presence};
use crate::tables::{KINDS, MESSAGES, OPTIONS};
use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

/// A message type of Kubernetes, found by the kind of object that it is or by its name.
///
/// ```
/// use kube_protobuf::Descriptor;
///
/// let deployment = Descriptor::of("apps/v1", "Deployment").unwrap();
/// assert_eq!(deployment.name(), "k8s.io.api.apps.v1.Deployment");
/// assert!(Descriptor::of("example.com/v1", "Widget").is_none());
/// ```
#[derive(Clone, Copy)]
pub struct Descriptor(pub(crate) &'static Message);

impl Descriptor {
    /// The message of a kind, such as `v1` and `Pod`, `apps/v1` and `DeploymentList`, `meta.k8s.io/v1` and
    /// `PartialObjectMetadata`, or `v1` and `Status`.
    ///
    /// `None` for kinds that have no protobuf: custom resources, those of aggregated API servers, and `Table`. The options
    /// of requests (`DeleteOptions` and others) are found in every group and version, as API servers accept them.
    pub fn of(api_version: &str, kind: &str) -> Option<Self> {
        let (group, version) = match (api_version, kind) {
            // What API servers answer at `/api` and `/api/v1` has no apiVersion.
            ("", "APIVersions" | "APIResourceList") => ("", "v1"),
            _ => api_version.split_once('/').unwrap_or(("", api_version)),
        };
        let found = MESSAGES_OF_KINDS.get(&(group, version, kind)).copied();
        found.or_else(|| options(kind)).map(Self)
    }

    /// The message with this full name, such as `k8s.io.apimachinery.pkg.apis.meta.v1.WatchEvent`.
    pub fn named(name: &str) -> Option<Self> {
        MESSAGES
            .iter()
            .find(|message| message.name == name)
            .copied()
            .map(Self)
    }

    /// One event of a watch, which has no envelope: `type`, and an `object` that has one.
    pub fn watch_event() -> Self {
        Self(&crate::tables::meta_v1::WatchEvent)
    }

    /// The full name.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// Whether Go leaves a field out of an object's JSON where it is `false`, 0 or `""`: it is a scalar and no pointer, and its tag
    /// says `omitempty`.
    ///
    /// ```
    /// use kube_protobuf::Descriptor;
    ///
    /// let spec = Descriptor::named("k8s.io.api.core.v1.PodSpec").unwrap();
    /// assert!(spec.omits_zero("hostNetwork"));
    /// assert!(!spec.omits_zero("enableServiceLinks"));
    /// ```
    pub fn omits_zero(self, field: &str) -> bool {
        self.0.fields.iter().any(|known| match known.presence {
            Presence::Inline => known
                .kind
                .message()
                .is_some_and(|message| Self(message).omits_zero(field)),
            Presence::OmitEmpty => {
                known.name == field && known.label == Label::One && known.kind.message().is_none()
            }
            _ => false,
        })
    }
}

impl fmt::Debug for Descriptor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Descriptor").field(&self.0.name).finish()
    }
}

/// The messages of [`KINDS`] by group, version and kind. An object is decoded in a microsecond, and a binary search, which compares
/// some thirty strings, would take a fifth of that.
static MESSAGES_OF_KINDS: LazyLock<HashMap<(&str, &str, &str), &'static Message>> = LazyLock::new(|| {
    let kinds = KINDS.iter();
    kinds
        .map(|one| ((one.group, one.version, one.kind), one.message))
        .collect()
});

/// The message of the options of requests.
fn options(kind: &str) -> Option<&'static Message> {
    let found = OPTIONS.iter().find(|one| one.kind == kind)?;
    Some(found.message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_found_with_their_lists_and_options() {
        let name = |api_version, kind| Descriptor::of(api_version, kind).map(Descriptor::name);
        assert_eq!(name("v1", "Pod"), Some("k8s.io.api.core.v1.Pod"));
        assert_eq!(
            name("rbac.authorization.k8s.io/v1", "RoleList"),
            Some("k8s.io.api.rbac.v1.RoleList")
        );
        let meta = |kind| Some(format!("k8s.io.apimachinery.pkg.apis.meta.v1.{kind}"));
        for (api_version, kind) in [
            ("v1", "Status"),
            ("v1", "APIResourceList"),
            ("", "APIVersions"),
            ("v1", "DeleteOptions"),
            ("apps/v1", "DeleteOptions"),
            ("meta.k8s.io/v1", "PartialObjectMetadata"),
            ("meta.k8s.io/v1beta1", "PartialObjectMetadata"),
        ] {
            assert_eq!(name(api_version, kind).map(str::to_owned), meta(kind));
        }
        assert_eq!(name("apps/v1", "Pod"), None);
        assert_eq!(name("meta.k8s.io/v1", "Table"), None);
        assert_eq!(name("apps/v1", "Status"), None);
    }

    #[test]
    fn messages_are_found_by_name() {
        let name = "k8s.io.api.core.v1.PodSpec";
        assert_eq!(Descriptor::named(name).unwrap().name(), name);
        assert!(Descriptor::named("PodSpec").is_none());
    }

    #[test]
    fn zeros_are_left_out_of_fields_that_go_omits() {
        let omits = |message: &str, field| {
            let name = format!("k8s.io.api.core.v1.{message}");
            Descriptor::named(&name).unwrap().omits_zero(field)
        };
        assert!(omits("PodSpec", "nodeName"));
        assert!(omits("ContainerPort", "hostPort"));
        // A pointer, a list, a field without `omitempty`, an unknown one, and one that an embedded struct has.
        assert!(!omits("PodSpec", "terminationGracePeriodSeconds"));
        assert!(!omits("PodSpec", "containers"));
        assert!(!omits("ContainerPort", "containerPort"));
        assert!(!omits("PodSpec", "hostPort"));
        assert!(omits("EphemeralContainer", "image"));
    }
}
