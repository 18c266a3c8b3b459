//! Which fields nobody owns, because a request cannot write them.

use crate::resources::Resource;

/// The fields that a request cannot write, and so not own: others of the object stay as they are.
pub(crate) fn reset_fields(
    resource: &Resource,
    subresource: Option<&str>,
) -> &'static [&'static [&'static str]] {
    const WITHOUT_METADATA: [&str; 9] = [
        "admissionregistration.k8s.io",
        "apiregistration.k8s.io",
        "flowcontrol.apiserver.k8s.io",
        "internal.apiserver.k8s.io",
        "networking.k8s.io",
        "resource.k8s.io",
        "scheduling.k8s.io",
        "storage.k8s.io",
        "storagemigration.k8s.io",
    ];
    const CERTIFICATES: &str = "certificatesigningrequests.certificates.k8s.io";
    match (subresource, resource.id().as_str()) {
        (Some("status"), CERTIFICATES) => &[&["spec"], &["status", "conditions"]],
        (Some("approval"), CERTIFICATES) => &[&["spec"], &["status", "certificate"]],
        (Some("status"), _) if resource.custom => &[&["spec"], &["metadata"]],
        (Some("status"), "deployments.apps") => &[&["spec"], &["metadata", "labels"]],
        (Some("status"), "pods") => &[
            &["spec"],
            &["metadata", "deletionTimestamp"],
            &["metadata", "ownerReferences"],
        ],
        (Some("status"), "ingresses.networking.k8s.io") => &[&["spec"]],
        (Some("status"), _) if WITHOUT_METADATA.contains(&&*resource.group) => &[&["spec"], &["metadata"]],
        (Some("status"), _) => &[&["spec"]],
        (_, CERTIFICATES) => &[&["spec"], &["status"]],
        _ if resource.status => &[&["status"]],
        _ => &[],
    }
}
