//! Volumes of pods, persistent volumes, and claims.

use std::collections::HashSet;

use super::affinity;
use super::at::{At, Causes};
use super::downward::{self, FILE_FIELDS};
use super::names;
use crate::names::{dns_label_faults, subdomain_faults};
use crate::quantity::Quantity;
use crate::status::{go_json, quoted, shown};

/// Checks the volumes of a pod; returns the names of those that are good: a container finds no other.
pub(super) fn volumes(spec: &At<'_>, causes: &mut Causes) -> HashSet<String> {
    let mut names = HashSet::new();
    for volume in spec.items("volumes") {
        let before = causes.len();
        source(&volume, causes);
        let name = volume.at("name");
        if name.need(causes) {
            name.fits(dns_label_faults, causes);
        }
        if names.contains(name.text()) {
            causes.push(name.duplicate());
        }
        if causes.len() == before {
            names.insert(name.text().to_owned());
        }
    }
    names
}

fn source(volume: &At<'_>, causes: &mut Causes) {
    let mut found = false;
    for name in volume.those(&SOURCES) {
        let source = volume.at(name);
        if found {
            causes.push(source.forbidden("may not specify more than 1 volume type"));
            continue;
        }
        found = true;
        one_source(name, &source, causes);
    }
    if !found {
        causes.push(volume.required("must specify a volume type"));
    }
}

/// Where a volume of a pod comes from, in the order in which a real server looks.
const SOURCES: [&str; 30] = [
    "emptyDir",
    "hostPath",
    "gitRepo",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "secret",
    "nfs",
    "iscsi",
    "glusterfs",
    "flocker",
    "persistentVolumeClaim",
    "rbd",
    "cinder",
    "cephfs",
    "quobyte",
    "downwardAPI",
    "fc",
    "flexVolume",
    "configMap",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "storageos",
    "projected",
    "scaleIO",
    "csi",
    "ephemeral",
    "image",
];

fn one_source(name: &str, source: &At<'_>, causes: &mut Causes) {
    match name {
        "emptyDir" => {
            let size = source.at("sizeLimit");
            if Quantity::read(size.value()).is_some_and(|size| size < Quantity::ZERO) {
                causes.push(size.forbidden("SizeLimit field must be a valid resource quantity"));
            }
        }
        "hostPath" => host_path(source, causes),
        "secret" => {
            source.at("secretName").need(causes);
            files(source, causes);
        }
        "configMap" => {
            source.at("name").need(causes);
            files(source, causes);
        }
        "downwardAPI" => {
            mode(&source.at("defaultMode"), causes);
            for item in source.items("items") {
                described(source, &item, causes);
            }
        }
        "persistentVolumeClaim" => _ = source.at("claimName").need(causes),
        "nfs" => nfs(source, causes),
        "csi" => driver(&source.at("driver"), causes),
        "quobyte" => quobyte(source, causes),
        "flocker" => flocker(source, causes),
        "projected" => projected(source, causes),
        "ephemeral" => match source.has("volumeClaimTemplate") {
            true => claim_spec(&source.at("volumeClaimTemplate").at("spec"), causes),
            false => causes.push(source.at("volumeClaimTemplate").required("")),
        },
        "iscsi" => {
            for name in ["targetPortal", "iqn"] {
                source.at(name).need(causes);
            }
        }
        "image" => source
            .at("pullPolicy")
            .may_be_one_of(&["Always", "IfNotPresent", "Never"], causes),
        _ => {}
    }
}

fn nfs(source: &At<'_>, causes: &mut Causes) {
    source.at("server").need(causes);
    let path = source.at("path");
    if path.need(causes) && !path.text().starts_with('/') {
        causes.push(path.invalid("must be an absolute path"));
    }
}

fn driver(driver: &At<'_>, causes: &mut Causes) {
    if driver.need(causes) {
        if driver.text().len() > 63 {
            causes.push(driver.too_long(63));
        }
        driver.fits(|name| subdomain_faults(&name.to_lowercase()), causes);
    }
}

fn host_path(source: &At<'_>, causes: &mut Causes) {
    const TYPES: [&str; 8] = [
        "",
        "BlockDevice",
        "CharDevice",
        "Directory",
        "DirectoryOrCreate",
        "File",
        "FileOrCreate",
        "Socket",
    ];
    let path = source.at("path");
    if path.need(causes) {
        stays_below(&path, causes);
        source.at("type").may_be_one_of(&TYPES, causes);
    }
}

fn stays_below(path: &At<'_>, causes: &mut Causes) {
    if path.text().split('/').any(|part| part == "..") {
        causes.push(path.invalid("must not contain '..'"));
    }
}

/// A path in a volume.
pub(super) fn relative(path: &At<'_>, causes: &mut Causes) {
    if path.text().starts_with('/') {
        causes.push(path.invalid("must be a relative path"));
    }
    stays_below(path, causes);
}

fn relative_file(path: &At<'_>, causes: &mut Causes) {
    relative(path, causes);
    if path.text().starts_with("..") && !path.text().starts_with("../") && path.text() != ".." {
        causes.push(path.invalid("must not start with '..'"));
    }
}

fn mode(at: &At<'_>, causes: &mut Causes) {
    if at.number().is_some_and(|mode| !(0..=0o777).contains(&mode)) {
        causes.push(at.invalid("must be a number between 0 and 0777 (octal), both inclusive"));
    }
}

fn files(source: &At<'_>, causes: &mut Causes) {
    mode(&source.at("defaultMode"), causes);
    for item in source.items("items") {
        item.at("key").need(causes);
        let path = item.at("path");
        if path.need(causes) {
            relative_file(&path, causes);
        }
        mode(&item.at("mode"), causes);
    }
}

/// A file that says something of the pod; causes name the volume only.
fn described(volume: &At<'_>, item: &At<'_>, causes: &mut Causes) {
    let path = volume.naming("path", item.get("path"));
    if path.need(causes) {
        relative_file(&path, causes);
    }
    let field = volume.naming("fieldRef", item.get("fieldRef"));
    let resource = volume.naming("resourceFieldRef", item.get("resourceFieldRef"));
    if field.is_set() {
        downward::field(&field, &FILE_FIELDS, causes);
        if resource.is_set() {
            let why = "fieldRef and resourceFieldRef can not be specified simultaneously";
            causes.push(volume.invalid_as("\"resource\"", why));
        }
    } else if resource.is_set() {
        downward::resource_field(&resource, true, causes);
    } else {
        causes.push(volume.required("one of fieldRef and resourceFieldRef is required"));
    }
    mode(&volume.naming("mode", item.get("mode")), causes);
}

fn projected(source: &At<'_>, causes: &mut Causes) {
    mode(&source.at("defaultMode"), causes);
    let mut paths = HashSet::new();
    for part in source.items("sources") {
        let members = part.value().as_object().into_iter().flatten();
        let mut found = false;
        for (name, _) in members.filter(|(_, value)| !value.is_null()) {
            let of = part.at(name);
            if found {
                causes.push(part.forbidden("may not specify more than 1 volume type per source"));
                continue;
            }
            found = true;
            match name.as_str() {
                "secret" | "configMap" => {
                    of.at("name").need(causes);
                    files(&of, causes);
                }
                "downwardAPI" => {
                    for item in of.items("items") {
                        described(&of, &item, causes);
                    }
                }
                "serviceAccountToken" => token(source, &of, causes),
                _ => {}
            }
            for item in of.items("items") {
                let path = item.at("path");
                if !path.text().is_empty() && !paths.insert(path.text().to_owned()) {
                    let why = "conflicting duplicate paths";
                    let shown = match name.as_str() {
                        "downwardAPI" => path.text(),
                        _ => of.text_at("name"),
                    };
                    causes.push(source.invalid_as(quoted(shown), why));
                }
            }
        }
    }
}

fn token(volume: &At<'_>, token: &At<'_>, causes: &mut Causes) {
    let seconds = token.at("expirationSeconds");
    if seconds.number().is_some_and(|seconds| seconds < 600) {
        causes.push(seconds.invalid("may not specify a duration less than 10 minutes"));
    }
    let path = volume.naming("path", token.get("path"));
    if path.need(causes) {
        relative_file(&path, causes);
    }
}

/// Where a container finds its volumes.
pub(super) fn mounts(container: &At<'_>, volumes: &HashSet<String>, causes: &mut Causes) {
    let mut paths = HashSet::new();
    for mount in container.items("volumeMounts") {
        let (name, path) = (mount.at("name"), mount.at("mountPath"));
        name.need(causes);
        if !volumes.contains(name.text()) {
            causes.push(name.not_found());
        }
        path.need(causes);
        if !paths.insert(path.text().to_owned()) {
            causes.push(path.invalid("must be unique"));
        }
        // The list has no numbers here.
        let all = container.at("volumeMounts");
        let below = all.naming("subPath", mount.get("subPath"));
        relative(&below, causes);
        let below_by = mount.at("subPathExpr");
        if !below_by.text().is_empty() {
            if !below.text().is_empty() {
                causes.push(below_by.invalid("subPathExpr and subPath are mutually exclusive"));
            }
            relative(&all.naming("subPathExpr", below_by.value()), causes);
        }
        let propagation = all.naming("mountPropagation", mount.get("mountPropagation"));
        propagation.may_be_one_of(&["Bidirectional", "HostToContainer", "None"], causes);
        let context = container.at("securityContext");
        if propagation.text() == "Bidirectional" && !context.is_true_at("privileged") {
            let why = "Bidirectional mount propagation is available only to privileged containers";
            causes.push(propagation.forbidden(why));
        }
    }
    for device in container.items("volumeDevices") {
        let (name, path) = (device.at("name"), device.at("devicePath"));
        name.need(causes);
        path.need(causes);
        if !volumes.contains(name.text()) {
            causes.push(name.not_found());
        }
    }
}

const MODES: [&str; 4] = [
    "ReadOnlyMany",
    "ReadWriteMany",
    "ReadWriteOnce",
    "ReadWriteOncePod",
];

fn access_modes(spec: &At<'_>, missing: &str, causes: &mut Causes) {
    let modes = spec.at("accessModes");
    if spec.count("accessModes") == 0 {
        causes.push(modes.required(missing));
    }
    let mut alone = false;
    for mode in spec.items("accessModes") {
        alone |= mode.text() == "ReadWriteOncePod";
        if !MODES.contains(&mode.text()) {
            causes.push(modes.unsupported_as(&mode.in_json(), &MODES));
        }
    }
    if alone && spec.count("accessModes") > 1 {
        causes.push(modes.forbidden("may not use ReadWriteOncePod with other access modes"));
    }
}

pub(super) fn claim(claim: &At<'_>, causes: &mut Causes) {
    claim_spec(&claim.at("spec"), causes);
}

/// The spec of a claim.
pub(super) fn claim_spec(spec: &At<'_>, causes: &mut Causes) {
    access_modes(spec, "at least 1 access mode is required", causes);
    names::selector(&spec.at("selector"), causes);
    let storage = &spec.get("resources")["requests"]["storage"];
    match Quantity::read(storage) {
        None => causes.push(spec.entry("resources", "storage").required("")),
        Some(size) if size <= Quantity::ZERO => {
            let at = spec.entry("resources", "storage");
            causes.push(at.invalid_as(shown(storage), "must be greater than zero"));
        }
        Some(_) => {}
    }
    spec.at("storageClassName").fits_if_set(subdomain_faults, causes);
    spec.at("volumeMode")
        .may_be_one_of(&["Block", "Filesystem"], causes);
    for name in spec.those(&["dataSource", "dataSourceRef"]) {
        let source = spec.at(name);
        source.at("name").need(causes);
        source.at("kind").need(causes);
        if source.text_at("apiGroup").is_empty() && source.text_at("kind") != "PersistentVolumeClaim" {
            let why = "must be 'PersistentVolumeClaim' when referencing the default apiGroup";
            causes.push(source.naming("apiGroup", source.get("kind")).invalid(why));
        }
    }
}

fn quobyte(source: &At<'_>, causes: &mut Causes) {
    let registry = source.at("registry");
    let why = "must be a host:port pair or multiple pairs separated by commas";
    if registry.text().is_empty() {
        causes.push(registry.required(why));
    } else if source.text_at("tenant").len() > 64 {
        let why = "must be a UUID and may not exceed a length of 64 characters";
        causes.push(source.at("tenant").required(why));
    } else {
        let is_address = |pair: &str| pair.split_once(':').is_some_and(|(_, port)| !port.contains(':'));
        let bad = registry.text().split(',').filter(|pair| !is_address(pair));
        bad.for_each(|_| causes.push(registry.invalid(why)));
    }
    if source.text_at("volume").is_empty() {
        causes.push(source.at("volume").required(""));
    }
}

fn flocker(source: &At<'_>, causes: &mut Causes) {
    let name = source.at("datasetName");
    match (name.text().is_empty(), source.text_at("datasetUUID").is_empty()) {
        (true, true) => causes.push(source.required("one of datasetName and datasetUUID is required")),
        (false, false) => {
            let why = "datasetName and datasetUUID can not be specified simultaneously";
            causes.push(source.invalid_as("\"resource\"", why));
        }
        _ => {}
    }
    if name.text().contains('/') {
        causes.push(name.invalid("must not contain '/'"));
    }
}

/// A volume of the cluster.
pub(super) fn persistent_volume(volume: &At<'_>, causes: &mut Causes) {
    let spec = volume.at("spec");
    access_modes(&spec, "", causes);
    let capacity = spec.at("capacity");
    if spec.count("capacity") == 0 {
        causes.push(capacity.required(""));
    }
    if !capacity.has("storage") || spec.count("capacity") > 1 {
        causes.push(capacity.unsupported_as(&go_json(capacity.value()), &["storage"]));
    }
    for (_, amount) in spec.entries("capacity") {
        if Quantity::read(amount.value()).is_some_and(|amount| amount <= Quantity::ZERO) {
            causes.push(amount.invalid("must be greater than zero"));
        }
    }
    let policy = spec.at("persistentVolumeReclaimPolicy");
    policy.may_be_one_of(&["Delete", "Recycle", "Retain"], causes);
    if spec.has("nodeAffinity") {
        let affinity = spec.at("nodeAffinity");
        match affinity.has("required") {
            true => affinity::node_selector(&affinity.at("required"), causes),
            false => causes.push(
                affinity
                    .at("required")
                    .required("must specify required node constraints"),
            ),
        }
    }
    volume_source(&spec, causes);
    spec.at("storageClassName").fits_if_set(subdomain_faults, causes);
    spec.at("volumeMode")
        .may_be_one_of(&["Block", "Filesystem"], causes);
    if spec.get("hostPath")["path"] == "/" && policy.text() == "Recycle" {
        let why = "may not be 'recycle' for a hostPath mount of '/'";
        causes.push(policy.forbidden(why));
    }
    let metadata = volume.at("metadata");
    let annotations = metadata.at("annotations");
    let options = annotations.at("volume.beta.kubernetes.io/mount-options");
    if options.is_set() && spec.those(&MOUNTED).next().is_none() {
        causes.push(options.forbidden("may not specify mount options for this volume type"));
    }
}

/// The sources that are mounted with options of an annotation.
const MOUNTED: [&str; 13] = [
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "glusterfs",
    "nfs",
    "rbd",
    "quobyte",
    "iscsi",
    "cinder",
    "cephfs",
    "azureFile",
    "vsphereVolume",
    "azureDisk",
    "photonPersistentDisk",
];

/// What is in the spec of a volume beside its source.
pub(super) const NO_SOURCES: [&str; 9] = [
    "accessModes",
    "capacity",
    "claimRef",
    "mountOptions",
    "nodeAffinity",
    "persistentVolumeReclaimPolicy",
    "storageClassName",
    "volumeAttributesClassName",
    "volumeMode",
];

fn volume_source(spec: &At<'_>, causes: &mut Causes) {
    let mut found = false;
    let members = spec.value().as_object().into_iter().flatten();
    for (name, _) in members.filter(|(name, value)| !NO_SOURCES.contains(&name.as_str()) && !value.is_null())
    {
        let source = spec.at(name);
        if found {
            causes.push(source.forbidden("may not specify more than 1 volume type"));
            continue;
        }
        found = true;
        match name.as_str() {
            "hostPath" => host_path(&source, causes),
            "nfs" => nfs(&source, causes),
            "local" => {
                let path = source.at("path");
                if path.need(causes) {
                    stays_below(&path, causes);
                }
                if !spec.has("nodeAffinity") {
                    causes.push(
                        spec.at("nodeAffinity")
                            .required("Local volume requires node affinity"),
                    );
                }
            }
            "csi" => {
                driver(&source.at("driver"), causes);
                source.at("volumeHandle").need(causes);
            }
            _ => {}
        }
    }
    if !found {
        causes.push(spec.required("must specify a volume type"));
    }
}

pub(super) fn storage_class(class: &At<'_>, causes: &mut Causes) {
    let provisioner = class.at("provisioner");
    if provisioner.need(causes) {
        names::label_key(&provisioner, &provisioner.text().to_lowercase(), causes);
    }
    let parameters = class.at("parameters");
    for (key, _) in class.entries("parameters") {
        if key.is_empty() {
            causes.push(parameters.invalid_as("\"\"", "field can not be empty."));
        }
    }
    class
        .at("reclaimPolicy")
        .may_be_one_of(&["Delete", "Retain"], causes);
    let mode = class.at("volumeBindingMode");
    mode.need_one_of(&["Immediate", "WaitForFirstConsumer"], causes);
    for topology in class.items("allowedTopologies") {
        for expression in topology.items("matchLabelExpressions") {
            if expression.count("values") == 0 {
                causes.push(expression.at("values").required(""));
            }
            names::label_key(&expression.at("key"), expression.text_at("key"), causes);
        }
    }
}
