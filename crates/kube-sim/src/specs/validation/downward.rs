//! What a pod tells its containers of itself ([downward API](https://kubernetes.io/docs/concepts/workloads/pods/downward-api/)).

use super::at::{At, Causes};
use crate::names::label_key_faults;
use crate::status::quoted;

/// The fields of a pod that a variable can have as its value.
pub(super) const VARIABLE_FIELDS: [&str; 9] = [
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
    "spec.nodeName",
    "spec.serviceAccountName",
    "status.hostIP",
    "status.hostIPs",
    "status.podIP",
    "status.podIPs",
];

/// The fields of a pod that a file can have as its content.
pub(super) const FILE_FIELDS: [&str; 5] = [
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
];

/// A field of the pod itself, which has to be one of these.
pub(super) fn field(reference: &At<'_>, fields: &[&str], causes: &mut Causes) {
    if !reference.at("apiVersion").need(causes) {
        return;
    }
    let path = reference.at("fieldPath");
    if !path.need(causes) {
        return;
    }
    let of_map = path
        .text()
        .strip_suffix("']")
        .and_then(|text| text.split_once("['"));
    match of_map {
        Some(("metadata.labels" | "metadata.annotations", key)) => {
            let key = match path.text().starts_with("metadata.annotations") {
                true => key.to_lowercase(),
                false => key.to_owned(),
            };
            let faults = label_key_faults(&key);
            causes.extend(
                faults
                    .iter()
                    .map(|fault| reference.invalid_as(quoted(&key), fault)),
            );
        }
        Some(_) => causes.push(path.invalid(&format!("{} does not support subscript", path.text()))),
        None if is_internal(path.text()) => path.text_one_of(fields, causes),
        None => {
            let why = format!(
                "error converting fieldPath: field label not supported: {}",
                path.text()
            );
            causes.push(path.invalid(&why));
        }
    }
}

/// Whether a pod can be selected by a field.
fn is_internal(path: &str) -> bool {
    const FIELDS: [&str; 16] = [
        "metadata.annotations",
        "metadata.labels",
        "metadata.name",
        "metadata.namespace",
        "metadata.uid",
        "spec.hostNetwork",
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "status.hostIP",
        "status.hostIPs",
        "status.nominatedNodeName",
        "status.phase",
        "status.podIP",
        "status.podIPs",
    ];
    FIELDS.contains(&path)
}

/// What a container asks for, or may use.
pub(super) fn resource_field(reference: &At<'_>, of_volume: bool, causes: &mut Causes) {
    const RESOURCES: [&str; 6] = [
        "limits.cpu",
        "limits.ephemeral-storage",
        "limits.memory",
        "requests.cpu",
        "requests.ephemeral-storage",
        "requests.memory",
    ];
    if of_volume {
        reference.at("containerName").need(causes);
    }
    let resource = reference.at("resource");
    if resource.need(causes) {
        let huge = ["limits.hugepages-", "requests.hugepages-"];
        if !huge.iter().any(|prefix| resource.text().starts_with(prefix)) {
            resource.text_one_of(&RESOURCES, causes);
        }
    }
}
