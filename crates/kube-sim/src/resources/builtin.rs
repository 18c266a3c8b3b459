//! The kinds that are built in.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Resource;
use super::definition::ScalePaths;

impl Resource {
    pub(super) fn builtin(row: &Row) -> Self {
        let &(group, version, plural, singular, kind, flags, short_names, categories) = row;
        let owned = |names: &[&str]| names.iter().map(|&n| n.to_owned()).collect();
        Self {
            group: group.into(),
            versions: version.split(' ').map(str::to_owned).collect(),
            version: Arc::default(),
            plural: plural.into(),
            singular: singular.into(),
            kind: kind.into(),
            list_kind: format!("{kind}List"),
            short_names: owned(short_names),
            categories: owned(categories),
            namespaced: flags & NAMESPACED != 0,
            status: flags & STATUS != 0,
            scale: (flags & SCALE != 0).then(|| ScalePaths {
                wanted: "spec.replicas".into(),
                found: "status.replicas".into(),
                selector: String::new(),
            }),
            review: flags & REVIEW != 0,
            report: flags & REPORT != 0,
            custom: false,
            deprecations: match (group, plural) {
                ("", "endpoints") => {
                    let why = "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice";
                    BTreeMap::from([("v1".into(), why.into())])
                }
                _ => BTreeMap::new(),
            },
            fields: owned(selectable_fields(group, plural)),
            definition: Arc::default(),
            since: 0,
            terminating: false,
            established: true,
        }
    }
}

const NAMESPACED: u8 = 1;

const STATUS: u8 = 2;

const SCALE: u8 = 4;

const REVIEW: u8 = 8;

const REPORT: u8 = 16;

/// Group, versions (the preferred one first), plural, singular, kind, flags, short names, categories.
type Row = (
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    &'static str,
    u8,
    &'static [&'static str],
    &'static [&'static str],
);

/// The built-in resources of a kube-apiserver 1.36 that can be listed and watched, and what is asked or reported.
#[rustfmt::skip]
pub(super) const BUILTIN: &[Row] = &[
    ("", "v1", "bindings", "binding", "Binding", NAMESPACED | REVIEW, &[], &[]),
    ("", "v1", "componentstatuses", "componentstatus", "ComponentStatus", REPORT, &["cs"], &[]),
    ("", "v1", "configmaps", "configmap", "ConfigMap", NAMESPACED, &["cm"], &[]),
    ("", "v1", "endpoints", "endpoints", "Endpoints", NAMESPACED, &["ep"], &[]),
    ("", "v1", "events", "event", "Event", NAMESPACED, &["ev"], &[]),
    ("", "v1", "limitranges", "limitrange", "LimitRange", NAMESPACED, &["limits"], &[]),
    ("", "v1", "namespaces", "namespace", "Namespace", STATUS, &["ns"], &[]),
    ("", "v1", "nodes", "node", "Node", STATUS, &["no"], &[]),
    ("", "v1", "persistentvolumeclaims", "persistentvolumeclaim", "PersistentVolumeClaim", NAMESPACED | STATUS, &["pvc"], &[]),
    ("", "v1", "persistentvolumes", "persistentvolume", "PersistentVolume", STATUS, &["pv"], &[]),
    ("", "v1", "pods", "pod", "Pod", NAMESPACED | STATUS, &["po"], &["all"]),
    ("", "v1", "podtemplates", "podtemplate", "PodTemplate", NAMESPACED, &[], &[]),
    ("", "v1", "replicationcontrollers", "replicationcontroller", "ReplicationController", NAMESPACED | STATUS | SCALE, &["rc"], &["all"]),
    ("", "v1", "resourcequotas", "resourcequota", "ResourceQuota", NAMESPACED | STATUS, &["quota"], &[]),
    ("", "v1", "secrets", "secret", "Secret", NAMESPACED, &[], &[]),
    ("", "v1", "serviceaccounts", "serviceaccount", "ServiceAccount", NAMESPACED, &["sa"], &[]),
    ("", "v1", "services", "service", "Service", NAMESPACED | STATUS, &["svc"], &["all"]),
    ("apiregistration.k8s.io", "v1", "apiservices", "apiservice", "APIService", STATUS, &[], &["api-extensions"]),
    ("apps", "v1", "controllerrevisions", "controllerrevision", "ControllerRevision", NAMESPACED, &[], &[]),
    ("apps", "v1", "daemonsets", "daemonset", "DaemonSet", NAMESPACED | STATUS, &["ds"], &["all"]),
    ("apps", "v1", "deployments", "deployment", "Deployment", NAMESPACED | STATUS | SCALE, &["deploy"], &["all"]),
    ("apps", "v1", "replicasets", "replicaset", "ReplicaSet", NAMESPACED | STATUS | SCALE, &["rs"], &["all"]),
    ("apps", "v1", "statefulsets", "statefulset", "StatefulSet", NAMESPACED | STATUS | SCALE, &["sts"], &["all"]),
    ("authentication.k8s.io", "v1", "selfsubjectreviews", "selfsubjectreview", "SelfSubjectReview", REVIEW, &[], &[]),
    ("authentication.k8s.io", "v1", "tokenreviews", "tokenreview", "TokenReview", REVIEW, &[], &[]),
    ("authorization.k8s.io", "v1", "localsubjectaccessreviews", "localsubjectaccessreview", "LocalSubjectAccessReview", NAMESPACED | REVIEW, &[], &[]),
    ("authorization.k8s.io", "v1", "selfsubjectaccessreviews", "selfsubjectaccessreview", "SelfSubjectAccessReview", REVIEW, &[], &[]),
    ("authorization.k8s.io", "v1", "selfsubjectrulesreviews", "selfsubjectrulesreview", "SelfSubjectRulesReview", REVIEW, &[], &[]),
    ("authorization.k8s.io", "v1", "subjectaccessreviews", "subjectaccessreview", "SubjectAccessReview", REVIEW, &[], &[]),
    ("autoscaling", "v2 v1", "horizontalpodautoscalers", "horizontalpodautoscaler", "HorizontalPodAutoscaler", NAMESPACED | STATUS, &["hpa"], &["all"]),
    ("batch", "v1", "cronjobs", "cronjob", "CronJob", NAMESPACED | STATUS, &["cj"], &["all"]),
    ("batch", "v1", "jobs", "job", "Job", NAMESPACED | STATUS, &[], &["all"]),
    ("certificates.k8s.io", "v1", "certificatesigningrequests", "certificatesigningrequest", "CertificateSigningRequest", STATUS, &["csr"], &[]),
    ("events.k8s.io", "v1", "events", "event", "Event", NAMESPACED, &["ev"], &[]),
    ("networking.k8s.io", "v1", "ingressclasses", "ingressclass", "IngressClass", 0, &[], &[]),
    ("networking.k8s.io", "v1", "ingresses", "ingress", "Ingress", NAMESPACED | STATUS, &["ing"], &[]),
    ("networking.k8s.io", "v1", "ipaddresses", "ipaddress", "IPAddress", 0, &["ip"], &[]),
    ("networking.k8s.io", "v1", "networkpolicies", "networkpolicy", "NetworkPolicy", NAMESPACED, &["netpol"], &[]),
    ("networking.k8s.io", "v1", "servicecidrs", "servicecidr", "ServiceCIDR", STATUS, &[], &[]),
    ("policy", "v1", "poddisruptionbudgets", "poddisruptionbudget", "PodDisruptionBudget", NAMESPACED | STATUS, &["pdb"], &[]),
    ("rbac.authorization.k8s.io", "v1", "clusterrolebindings", "clusterrolebinding", "ClusterRoleBinding", 0, &[], &[]),
    ("rbac.authorization.k8s.io", "v1", "clusterroles", "clusterrole", "ClusterRole", 0, &[], &[]),
    ("rbac.authorization.k8s.io", "v1", "rolebindings", "rolebinding", "RoleBinding", NAMESPACED, &[], &[]),
    ("rbac.authorization.k8s.io", "v1", "roles", "role", "Role", NAMESPACED, &[], &[]),
    ("storage.k8s.io", "v1", "csidrivers", "csidriver", "CSIDriver", 0, &[], &[]),
    ("storage.k8s.io", "v1", "csinodes", "csinode", "CSINode", 0, &[], &[]),
    ("storage.k8s.io", "v1", "csistoragecapacities", "csistoragecapacity", "CSIStorageCapacity", NAMESPACED, &[], &[]),
    ("storage.k8s.io", "v1", "storageclasses", "storageclass", "StorageClass", 0, &["sc"], &[]),
    ("storage.k8s.io", "v1", "volumeattachments", "volumeattachment", "VolumeAttachment", STATUS, &[], &[]),
    ("storage.k8s.io", "v1", "volumeattributesclasses", "volumeattributesclass", "VolumeAttributesClass", 0, &["vac"], &[]),
    ("admissionregistration.k8s.io", "v1", "mutatingadmissionpolicies", "mutatingadmissionpolicy", "MutatingAdmissionPolicy", 0, &[], &["api-extensions"]),
    ("admissionregistration.k8s.io", "v1", "mutatingadmissionpolicybindings", "mutatingadmissionpolicybinding", "MutatingAdmissionPolicyBinding", 0, &[], &["api-extensions"]),
    ("admissionregistration.k8s.io", "v1", "mutatingwebhookconfigurations", "mutatingwebhookconfiguration", "MutatingWebhookConfiguration", 0, &[], &["api-extensions"]),
    ("admissionregistration.k8s.io", "v1", "validatingadmissionpolicies", "validatingadmissionpolicy", "ValidatingAdmissionPolicy", STATUS, &[], &["api-extensions"]),
    ("admissionregistration.k8s.io", "v1", "validatingadmissionpolicybindings", "validatingadmissionpolicybinding", "ValidatingAdmissionPolicyBinding", 0, &[], &["api-extensions"]),
    ("admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations", "validatingwebhookconfiguration", "ValidatingWebhookConfiguration", 0, &[], &["api-extensions"]),
    ("apiextensions.k8s.io", "v1", "customresourcedefinitions", "customresourcedefinition", "CustomResourceDefinition", STATUS, &["crd", "crds"], &["api-extensions"]),
    ("scheduling.k8s.io", "v1", "priorityclasses", "priorityclass", "PriorityClass", 0, &["pc"], &[]),
    ("coordination.k8s.io", "v1", "leases", "lease", "Lease", NAMESPACED, &[], &[]),
    ("node.k8s.io", "v1", "runtimeclasses", "runtimeclass", "RuntimeClass", 0, &[], &[]),
    ("discovery.k8s.io", "v1", "endpointslices", "endpointslice", "EndpointSlice", NAMESPACED, &[], &[]),
    ("resource.k8s.io", "v1", "deviceclasses", "deviceclass", "DeviceClass", 0, &[], &[]),
    ("resource.k8s.io", "v1", "resourceclaims", "resourceclaim", "ResourceClaim", NAMESPACED | STATUS, &[], &[]),
    ("resource.k8s.io", "v1", "resourceclaimtemplates", "resourceclaimtemplate", "ResourceClaimTemplate", NAMESPACED, &[], &[]),
    ("resource.k8s.io", "v1", "resourceslices", "resourceslice", "ResourceSlice", 0, &[], &[]),
    ("flowcontrol.apiserver.k8s.io", "v1", "flowschemas", "flowschema", "FlowSchema", STATUS, &[], &[]),
    ("flowcontrol.apiserver.k8s.io", "v1", "prioritylevelconfigurations", "prioritylevelconfiguration", "PriorityLevelConfiguration", STATUS, &[], &[]),
];

/// Kinds with a status whose generation a real server leaves alone.
pub(super) const NO_GENERATION: [&str; 12] = [
    "apiservices",
    "horizontalpodautoscalers",
    "resourceclaims",
    "servicecidrs",
    "namespaces",
    "nodes",
    "persistentvolumeclaims",
    "persistentvolumes",
    "resourcequotas",
    "services",
    "certificatesigningrequests",
    "volumeattachments",
];

/// Kinds without a status whose generation a real server counts.
pub(super) const OWN_GENERATION: [&str; 12] = [
    "deviceclasses",
    "endpointslices",
    "ingressclasses",
    "mutatingadmissionpolicies",
    "mutatingadmissionpolicybindings",
    "mutatingwebhookconfigurations",
    "networkpolicies",
    "podtemplates",
    "priorityclasses",
    "resourceslices",
    "validatingadmissionpolicybindings",
    "validatingwebhookconfigurations",
];

pub(super) fn selectable_fields(group: &str, plural: &str) -> &'static [&'static str] {
    match (group, plural) {
        ("", "pods") => &[
            "spec.nodeName",
            "spec.restartPolicy",
            "spec.schedulerName",
            "spec.serviceAccountName",
            "spec.hostNetwork",
            "status.phase",
            "status.podIP",
            "status.podIPs",
            "status.nominatedNodeName",
        ],
        ("", "nodes") => &["spec.unschedulable"],
        ("", "namespaces") => &["status.phase"],
        ("", "secrets") => &["type"],
        ("", "services") => &["spec.clusterIP", "spec.type"],
        ("", "replicationcontrollers") => &["status.replicas"],
        ("", "events") => &[
            "involvedObject.kind",
            "involvedObject.namespace",
            "involvedObject.name",
            "involvedObject.uid",
            "involvedObject.apiVersion",
            "involvedObject.resourceVersion",
            "involvedObject.fieldPath",
            "reason",
            "reportingComponent",
            "source",
            "type",
        ],
        // In the order of the fields of the core group.
        ("events.k8s.io", "events") => &[
            "regarding.kind",
            "regarding.namespace",
            "regarding.name",
            "regarding.uid",
            "regarding.apiVersion",
            "regarding.resourceVersion",
            "regarding.fieldPath",
            "reason",
            "reportingController",
            "deprecatedSource",
            "type",
        ],
        ("batch", "jobs") => &["status.successful"],
        ("certificates.k8s.io", "certificatesigningrequests") => &["spec.signerName"],
        _ => &[],
    }
}

/// What a selectable field counts as when the object does not have it.
pub(crate) fn default_field(path: &str) -> &'static str {
    match path {
        "spec.unschedulable" | "spec.hostNetwork" => "false",
        "status.replicas" => "0",
        _ => "",
    }
}
