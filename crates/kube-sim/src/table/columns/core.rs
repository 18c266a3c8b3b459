//! Columns of the core group.

use serde_json::Value;

use super::{AGE, CONTAINERS, CURRENT, Column, DEFAULT, DESIRED, IMAGES, NAME, READY, string, wide};
use crate::table::row::{or, shown};
use crate::table::{cells, pod};

pub(super) fn of(plural: &str) -> &'static [Column] {
    match plural {
        "configmaps" => {
            const {
                &[
                    NAME,
                    string("Data", |row| {
                        (row.length("/data") + row.length("/binaryData")).into()
                    }),
                    AGE,
                ]
            }
        }
        "componentstatuses" => {
            const {
                &[
                    NAME,
                    string("Status", cells::component_status),
                    string("Message", |row| cells::component(row, "message")),
                    string("Error", |row| cells::component(row, "error")),
                ]
            }
        }
        "endpoints" => const { &[NAME, string("Endpoints", cells::endpoints), AGE] },
        "events" => {
            const {
                &[
                    string("Last Seen", cells::last_seen),
                    string("Type", |row| row.text("/type").into()),
                    string("Reason", |row| row.text("/reason").into()),
                    string("Object", cells::involved),
                    wide("Subobject", |row| row.text("/involvedObject/fieldPath").into()),
                    wide("Source", cells::event_source),
                    string("Message", |row| row.text("/message").trim().into()),
                    wide("First Seen", |row| cells::first_seen(row).into()),
                    wide("Count", cells::event_count),
                    Column {
                        is_wide: true,
                        ..NAME
                    },
                ]
            }
        }
        "namespaces" => {
            const {
                &[
                    NAME,
                    string("Status", |row| row.text("/status/phase").into()),
                    AGE,
                ]
            }
        }
        "nodes" => {
            const {
                &[
                    NAME,
                    string("Status", cells::node_status),
                    string("Roles", cells::node_roles),
                    AGE,
                    string("Version", |row| {
                        row.text("/status/nodeInfo/kubeletVersion").into()
                    }),
                    wide("Internal-IP", |row| cells::node_address(row, "InternalIP")),
                    wide("External-IP", |row| cells::node_address(row, "ExternalIP")),
                    wide("OS-Image", |row| {
                        or(row.text("/status/nodeInfo/osImage"), "<unknown>").into()
                    }),
                    wide("Kernel-Version", cells::kernel_version),
                    wide("Container-Runtime", |row| {
                        or(row.text("/status/nodeInfo/containerRuntimeVersion"), "<unknown>").into()
                    }),
                ]
            }
        }
        "persistentvolumeclaims" => {
            const {
                &[
                    NAME,
                    string("Status", cells::volume_phase),
                    string("Volume", |row| row.text("/spec/volumeName").into()),
                    string("Capacity", |row| match row.text("/spec/volumeName") {
                        "" => "".into(),
                        _ => shown(row.get("/status/capacity/storage"), "0").into(),
                    }),
                    string("Access Modes", |row| match row.text("/spec/volumeName") {
                        "" => "".into(),
                        _ => cells::access_modes(row.list("/status/accessModes")),
                    }),
                    string("StorageClass", cells::storage_class),
                    string("VolumeAttributesClass", |row| {
                        shown(row.get("/spec/volumeAttributesClassName"), "<unset>").into()
                    }),
                    AGE,
                    wide("VolumeMode", |row| {
                        shown(row.get("/spec/volumeMode"), "<unset>").into()
                    }),
                ]
            }
        }
        "persistentvolumes" => {
            const {
                &[
                    NAME,
                    string("Capacity", |row| {
                        shown(row.get("/spec/capacity/storage"), "0").into()
                    }),
                    string("Access Modes", |row| {
                        cells::access_modes(row.list("/spec/accessModes"))
                    }),
                    string("Reclaim Policy", |row| {
                        row.text("/spec/persistentVolumeReclaimPolicy").into()
                    }),
                    string("Status", cells::volume_phase),
                    string("Claim", |row| match row.get("/spec/claimRef") {
                        Some(_) => format!(
                            "{}/{}",
                            row.text("/spec/claimRef/namespace"),
                            row.text("/spec/claimRef/name")
                        )
                        .into(),
                        None => "".into(),
                    }),
                    string("StorageClass", cells::storage_class),
                    string("VolumeAttributesClass", |row| {
                        shown(row.get("/spec/volumeAttributesClassName"), "<unset>").into()
                    }),
                    string("Reason", |row| row.text("/status/reason").into()),
                    AGE,
                    wide("VolumeMode", |row| {
                        shown(row.get("/spec/volumeMode"), "<unset>").into()
                    }),
                ]
            }
        }
        "pods" => PODS,
        "podtemplates" => {
            const {
                &[
                    NAME,
                    string("Containers", |row| {
                        row.each("/template/spec/containers", "name").into()
                    }),
                    string("Images", |row| {
                        row.each("/template/spec/containers", "image").into()
                    }),
                    string("Pod Labels", |row| {
                        cells::labels(row.get("/template/metadata/labels"))
                    }),
                ]
            }
        }
        "replicationcontrollers" => {
            const {
                &[
                    NAME,
                    DESIRED,
                    CURRENT,
                    READY,
                    AGE,
                    CONTAINERS,
                    IMAGES,
                    wide("Selector", |row| cells::labels(row.get("/spec/selector"))),
                ]
            }
        }
        "resourcequotas" => {
            const {
                &[
                    NAME,
                    string("Request", |row| cells::quota(row, false)),
                    string("Limit", |row| cells::quota(row, true)),
                    AGE,
                ]
            }
        }
        "secrets" => {
            const {
                &[
                    NAME,
                    string("Type", |row| row.text("/type").into()),
                    string("Data", |row| row.length("/data").into()),
                    AGE,
                ]
            }
        }
        "serviceaccounts" => const { &[NAME, AGE] },
        "services" => {
            const {
                &[
                    NAME,
                    string("Type", |row| row.text("/spec/type").into()),
                    string("Cluster-IP", |row| {
                        let first = row.list("/spec/clusterIPs").first().and_then(Value::as_str);
                        first.unwrap_or("<none>").into()
                    }),
                    string("External-IP", cells::external_addresses),
                    string("Port(s)", cells::service_ports),
                    AGE,
                    wide("Selector", |row| cells::labels(row.get("/spec/selector"))),
                ]
            }
        }
        _ => DEFAULT,
    }
}

const PODS: &[Column] = &[
    NAME,
    string("Ready", |row| pod::Summary::of(row).ready.into()),
    string("Status", |row| pod::Summary::of(row).reason.into()),
    string("Restarts", |row| pod::Summary::of(row).restarts.into()),
    AGE,
    wide("IP", |row| {
        let first = row.list("/status/podIPs").first();
        or(first.and_then(|ip| ip["ip"].as_str()).unwrap_or(""), "<none>").into()
    }),
    wide("Node", |row| or(row.text("/spec/nodeName"), "<none>").into()),
    wide("Nominated Node", |row| {
        or(row.text("/status/nominatedNodeName"), "<none>").into()
    }),
    wide("Readiness Gates", pod::readiness_gates),
];
