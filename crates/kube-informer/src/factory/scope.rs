//! The built-in resources without namespaces, because an [`ApiResource`] does not contain its scope.

use kube::core::ApiResource;
use kube::core::discovery::Scope;

/// The groups and plural names of the resources of a kube-apiserver 1.36 that can be watched and have no namespaces.
const CLUSTER: &[(&str, &[&str])] = &[
    ("", &["namespaces", "nodes", "persistentvolumes"]),
    (
        "admissionregistration.k8s.io",
        &[
            "mutatingadmissionpolicies",
            "mutatingadmissionpolicybindings",
            "mutatingwebhookconfigurations",
            "validatingadmissionpolicies",
            "validatingadmissionpolicybindings",
            "validatingwebhookconfigurations",
        ],
    ),
    ("apiextensions.k8s.io", &["customresourcedefinitions"]),
    ("apiregistration.k8s.io", &["apiservices"]),
    (
        "certificates.k8s.io",
        &["certificatesigningrequests", "clustertrustbundles"],
    ),
    (
        "flowcontrol.apiserver.k8s.io",
        &["flowschemas", "prioritylevelconfigurations"],
    ),
    ("internal.apiserver.k8s.io", &["storageversions"]),
    (
        "networking.k8s.io",
        &["ingressclasses", "ipaddresses", "servicecidrs"],
    ),
    ("node.k8s.io", &["runtimeclasses"]),
    (
        "rbac.authorization.k8s.io",
        &["clusterrolebindings", "clusterroles"],
    ),
    (
        "resource.k8s.io",
        &["deviceclasses", "devicetaintrules", "resourceslices"],
    ),
    ("scheduling.k8s.io", &["priorityclasses"]),
    (
        "storage.k8s.io",
        &[
            "csidrivers",
            "csinodes",
            "storageclasses",
            "volumeattachments",
            "volumeattributesclasses",
        ],
    ),
    ("storagemigration.k8s.io", &["storageversionmigrations"]),
];

/// The scope of a built-in resource; any other resource is taken for namespaced.
pub(super) fn scope_of(resource: &ApiResource) -> Scope {
    let is_cluster = CLUSTER
        .iter()
        .any(|(group, plurals)| *group == resource.group && plurals.contains(&&*resource.plural));
    match is_cluster {
        true => Scope::Cluster,
        false => Scope::Namespaced,
    }
}
