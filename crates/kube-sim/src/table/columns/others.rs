//! Columns of the other groups.

use super::{
    AGE, Column, DEFAULT, GROUPS, NAME, PARAM_KIND, PARAM_REF, POLICY_NAME, ROLE, SERVICE_ACCOUNTS, USERS,
    WEBHOOKS, boolean, integer, string,
};
use crate::table::cells;
use crate::table::row::{or, shown};

pub(super) fn of_networking(plural: &str) -> &'static [Column] {
    match plural {
        "endpointslices" => {
            const {
                &[
                    NAME,
                    string("AddressType", |row| row.text("/addressType").into()),
                    string("Ports", cells::slice_ports),
                    string("Endpoints", cells::slice_endpoints),
                    AGE,
                ]
            }
        }
        "ingressclasses" => {
            const {
                &[
                    string("Name", |row| {
                        cells::name_of_default(row, &["ingressclass.kubernetes.io/is-default-class"])
                    }),
                    string("Controller", |row| row.text("/spec/controller").into()),
                    string("Parameters", cells::class_parameters),
                    AGE,
                ]
            }
        }
        "ingresses" => {
            const {
                &[
                    NAME,
                    string("Class", |row| {
                        shown(row.get("/spec/ingressClassName"), "<none>").into()
                    }),
                    string("Hosts", cells::hosts),
                    string("Address", |row| cells::balancer_addresses(row).join(",").into()),
                    string("Ports", |row| match row.length("/spec/tls") {
                        0 => "80".into(),
                        _ => "80, 443".into(),
                    }),
                    AGE,
                ]
            }
        }
        "ipaddresses" => const { &[NAME, string("ParentRef", cells::parent)] },
        "networkpolicies" => {
            const {
                &[
                    NAME,
                    string("Pod-Selector", |row| {
                        cells::selector(row.get("/spec/podSelector"))
                    }),
                    AGE,
                ]
            }
        }
        "servicecidrs" => {
            const {
                &[
                    NAME,
                    string("CIDRs", |row| cells::joined(row.list("/spec/cidrs")).into()),
                    AGE,
                ]
            }
        }
        _ => DEFAULT,
    }
}

pub(super) fn of_storage(plural: &str) -> &'static [Column] {
    const DEFAULT_CLASS: &[&str] = &[
        "storageclass.kubernetes.io/is-default-class",
        "storageclass.beta.kubernetes.io/is-default-class",
    ];
    match plural {
        "csidrivers" => {
            const {
                &[
                    NAME,
                    boolean("AttachRequired", |row| {
                        row.flag("/spec/attachRequired", true).into()
                    }),
                    boolean("PodInfoOnMount", |row| {
                        row.flag("/spec/podInfoOnMount", false).into()
                    }),
                    boolean("StorageCapacity", |row| {
                        row.flag("/spec/storageCapacity", false).into()
                    }),
                    string("TokenRequests", |row| match row.get("/spec/tokenRequests") {
                        Some(_) => row.each("/spec/tokenRequests", "audience").into(),
                        None => "<unset>".into(),
                    }),
                    boolean("RequiresRepublish", |row| {
                        row.flag("/spec/requiresRepublish", false).into()
                    }),
                    string("Modes", |row| {
                        or(&cells::joined(row.list("/spec/volumeLifecycleModes")), "<none>").into()
                    }),
                    AGE,
                ]
            }
        }
        "csinodes" => {
            const {
                &[
                    NAME,
                    integer("Drivers", |row| row.length("/spec/drivers").into()),
                    AGE,
                ]
            }
        }
        "storageclasses" => {
            const {
                &[
                    string("Name", |row| cells::name_of_default(row, DEFAULT_CLASS)),
                    string("Provisioner", |row| row.text("/provisioner").into()),
                    string("ReclaimPolicy", |row| {
                        shown(row.get("/reclaimPolicy"), "Delete").into()
                    }),
                    string("VolumeBindingMode", |row| {
                        shown(row.get("/volumeBindingMode"), "Immediate").into()
                    }),
                    string("AllowVolumeExpansion", |row| {
                        row.flag("/allowVolumeExpansion", false).into()
                    }),
                    AGE,
                ]
            }
        }
        "volumeattachments" => {
            const {
                &[
                    NAME,
                    string("Attacher", |row| row.text("/spec/attacher").into()),
                    string("PV", |row| row.text("/spec/source/persistentVolumeName").into()),
                    string("Node", |row| row.text("/spec/nodeName").into()),
                    boolean("Attached", |row| row.flag("/status/attached", false).into()),
                    AGE,
                ]
            }
        }
        "volumeattributesclasses" => {
            const {
                &[
                    NAME,
                    string("DriverName", |row| row.text("/driverName").into()),
                    AGE,
                ]
            }
        }
        "deviceclasses" | "resourceclaimtemplates" => const { &[NAME, AGE] },
        "resourceclaims" => const { &[NAME, string("State", cells::claim_state), AGE] },
        "resourceslices" => {
            const {
                &[
                    NAME,
                    string("Node", |row| row.text("/spec/nodeName").into()),
                    string("Driver", |row| row.text("/spec/driver").into()),
                    string("Pool", |row| row.text("/spec/pool/name").into()),
                    AGE,
                ]
            }
        }
        _ => DEFAULT,
    }
}

pub(super) fn of(plural: &str) -> &'static [Column] {
    match plural {
        "apiservices" => {
            const {
                &[
                    NAME,
                    string("Service", |row| match row.get("/spec/service") {
                        Some(_) => format!(
                            "{}/{}",
                            row.text("/spec/service/namespace"),
                            row.text("/spec/service/name")
                        )
                        .into(),
                        None => "Local".into(),
                    }),
                    string("Available", cells::available),
                    AGE,
                ]
            }
        }
        "certificatesigningrequests" => {
            const {
                &[
                    NAME,
                    AGE,
                    string("SignerName", |row| {
                        or(row.text("/spec/signerName"), "<none>").into()
                    }),
                    string("Requestor", |row| row.text("/spec/username").into()),
                    string("RequestedDuration", cells::requested_duration),
                    string("Condition", cells::signing_condition),
                ]
            }
        }
        "clusterrolebindings" | "rolebindings" => {
            const { &[NAME, ROLE, AGE, USERS, GROUPS, SERVICE_ACCOUNTS] }
        }
        "flowschemas" => {
            const {
                &[
                    NAME,
                    string("PriorityLevel", |row| {
                        row.text("/spec/priorityLevelConfiguration/name").into()
                    }),
                    string("MatchingPrecedence", |row| {
                        row.number("/spec/matchingPrecedence").into()
                    }),
                    string("DistinguisherMethod", |row| {
                        or(row.text("/spec/distinguisherMethod/type"), "<none>").into()
                    }),
                    AGE,
                    string("MissingPL", |row| {
                        or(cells::condition(row, "Dangling"), "?").into()
                    }),
                ]
            }
        }
        "leases" => {
            const {
                &[
                    NAME,
                    string("Holder", |row| row.text("/spec/holderIdentity").into()),
                    AGE,
                ]
            }
        }
        "mutatingadmissionpolicies" => {
            const {
                &[
                    NAME,
                    integer("Mutations", |row| row.length("/spec/mutations").into()),
                    PARAM_KIND,
                    AGE,
                ]
            }
        }
        "validatingadmissionpolicies" => {
            const {
                &[
                    NAME,
                    integer("Validations", |row| row.length("/spec/validations").into()),
                    PARAM_KIND,
                    AGE,
                ]
            }
        }
        "mutatingadmissionpolicybindings" | "validatingadmissionpolicybindings" => {
            const { &[NAME, POLICY_NAME, PARAM_REF, AGE] }
        }
        "mutatingwebhookconfigurations" | "validatingwebhookconfigurations" => {
            const { &[NAME, WEBHOOKS, AGE] }
        }
        "priorityclasses" => {
            const {
                &[
                    NAME,
                    integer("Value", |row| row.number("/value").into()),
                    boolean("Global-Default", |row| row.flag("/globalDefault", false).into()),
                    AGE,
                    string("PreemptionPolicy", |row| row.text("/preemptionPolicy").into()),
                ]
            }
        }
        "prioritylevelconfigurations" => {
            const {
                &[
                    NAME,
                    string("Type", |row| row.text("/spec/type").into()),
                    string("NominalConcurrencyShares", |row| {
                        cells::limit(row, "/spec/limited/nominalConcurrencyShares")
                    }),
                    string("Queues", |row| {
                        cells::limit(row, "/spec/limited/limitResponse/queuing/queues")
                    }),
                    string("HandSize", |row| {
                        cells::limit(row, "/spec/limited/limitResponse/queuing/handSize")
                    }),
                    string("QueueLengthLimit", |row| {
                        cells::limit(row, "/spec/limited/limitResponse/queuing/queueLengthLimit")
                    }),
                    AGE,
                ]
            }
        }
        "runtimeclasses" => const { &[NAME, string("Handler", |row| row.text("/handler").into()), AGE] },
        _ => DEFAULT,
    }
}
