//! Defaults by the definition that they are of.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde_json::{Map, Value};

use super::fixes;
use crate::resources::Resource;
use crate::schema::{self, Additional, Definition, Node, Schema};

type Object = Map<String, Value>;
type Fix = fn(&mut Object);

/// A definition without what its name begins with, a field, and its default in JSON.
const FIELDS: &[(&str, &str, &str)] = &[
    (
        "admissionregistration.v1.MatchResources",
        "matchPolicy",
        r#""Equivalent""#,
    ),
    (
        "admissionregistration.v1.MatchResources",
        "namespaceSelector",
        "{}",
    ),
    ("admissionregistration.v1.MatchResources", "objectSelector", "{}"),
    (
        "admissionregistration.v1.MutatingAdmissionPolicySpec",
        "failurePolicy",
        r#""Fail""#,
    ),
    (
        "admissionregistration.v1.MutatingWebhook",
        "failurePolicy",
        r#""Fail""#,
    ),
    (
        "admissionregistration.v1.MutatingWebhook",
        "matchPolicy",
        r#""Equivalent""#,
    ),
    (
        "admissionregistration.v1.MutatingWebhook",
        "namespaceSelector",
        "{}",
    ),
    ("admissionregistration.v1.MutatingWebhook", "objectSelector", "{}"),
    (
        "admissionregistration.v1.MutatingWebhook",
        "reinvocationPolicy",
        r#""Never""#,
    ),
    ("admissionregistration.v1.MutatingWebhook", "timeoutSeconds", "10"),
    (
        "admissionregistration.v1.NamedRuleWithOperations",
        "scope",
        r#""*""#,
    ),
    ("admissionregistration.v1.RuleWithOperations", "scope", r#""*""#),
    ("admissionregistration.v1.ServiceReference", "port", "443"),
    (
        "admissionregistration.v1.ValidatingAdmissionPolicySpec",
        "failurePolicy",
        r#""Fail""#,
    ),
    (
        "admissionregistration.v1.ValidatingWebhook",
        "failurePolicy",
        r#""Fail""#,
    ),
    (
        "admissionregistration.v1.ValidatingWebhook",
        "matchPolicy",
        r#""Equivalent""#,
    ),
    (
        "admissionregistration.v1.ValidatingWebhook",
        "namespaceSelector",
        "{}",
    ),
    (
        "admissionregistration.v1.ValidatingWebhook",
        "objectSelector",
        "{}",
    ),
    (
        "admissionregistration.v1.ValidatingWebhook",
        "timeoutSeconds",
        "10",
    ),
    ("apiregistration.v1.ServiceReference", "port", "443"),
    ("apps.v1.DaemonSetSpec", "revisionHistoryLimit", "10"),
    ("apps.v1.DaemonSetUpdateStrategy", "type", r#""RollingUpdate""#),
    ("apps.v1.DeploymentSpec", "progressDeadlineSeconds", "600"),
    ("apps.v1.DeploymentSpec", "replicas", "1"),
    ("apps.v1.DeploymentSpec", "revisionHistoryLimit", "10"),
    ("apps.v1.DeploymentStrategy", "type", r#""RollingUpdate""#),
    ("apps.v1.ReplicaSetSpec", "replicas", "1"),
    (
        "apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy",
        "whenDeleted",
        r#""Retain""#,
    ),
    (
        "apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy",
        "whenScaled",
        r#""Retain""#,
    ),
    (
        "apps.v1.StatefulSetSpec",
        "persistentVolumeClaimRetentionPolicy",
        "{}",
    ),
    (
        "apps.v1.StatefulSetSpec",
        "podManagementPolicy",
        r#""OrderedReady""#,
    ),
    ("apps.v1.StatefulSetSpec", "replicas", "1"),
    ("apps.v1.StatefulSetSpec", "revisionHistoryLimit", "10"),
    ("autoscaling.v2.HorizontalPodAutoscalerSpec", "minReplicas", "1"),
    (
        "autoscaling.v2.HorizontalPodAutoscalerStatus",
        "currentMetrics",
        "null",
    ),
    ("batch.v1.CronJobSpec", "concurrencyPolicy", r#""Allow""#),
    ("batch.v1.CronJobSpec", "failedJobsHistoryLimit", "1"),
    ("batch.v1.CronJobSpec", "successfulJobsHistoryLimit", "3"),
    ("batch.v1.CronJobSpec", "suspend", "false"),
    (
        "batch.v1.PodFailurePolicyOnPodConditionsPattern",
        "status",
        r#""True""#,
    ),
    ("core.v1.AzureDiskVolumeSource", "cachingMode", r#""ReadWrite""#),
    ("core.v1.AzureDiskVolumeSource", "fsType", r#""ext4""#),
    ("core.v1.AzureDiskVolumeSource", "kind", r#""Shared""#),
    ("core.v1.AzureDiskVolumeSource", "readOnly", "false"),
    ("core.v1.ConfigMapVolumeSource", "defaultMode", "420"),
    (
        "core.v1.Container",
        "terminationMessagePath",
        r#""/dev/termination-log""#,
    ),
    ("core.v1.Container", "terminationMessagePolicy", r#""File""#),
    ("core.v1.ContainerPort", "protocol", r#""TCP""#),
    ("core.v1.DownwardAPIVolumeSource", "defaultMode", "420"),
    (
        "core.v1.EphemeralContainer",
        "terminationMessagePath",
        r#""/dev/termination-log""#,
    ),
    (
        "core.v1.EphemeralContainer",
        "terminationMessagePolicy",
        r#""File""#,
    ),
    ("core.v1.GRPCAction", "service", r#""""#),
    ("core.v1.HTTPGetAction", "path", r#""/""#),
    ("core.v1.HTTPGetAction", "scheme", r#""HTTP""#),
    ("core.v1.HostPathVolumeSource", "type", r#""""#),
    ("core.v1.ISCSIVolumeSource", "iscsiInterface", r#""default""#),
    ("core.v1.ObjectFieldSelector", "apiVersion", r#""v1""#),
    (
        "core.v1.PersistentVolumeClaimSpec",
        "volumeMode",
        r#""Filesystem""#,
    ),
    ("core.v1.PersistentVolumeClaimStatus", "phase", r#""Pending""#),
    (
        "core.v1.PersistentVolumeSpec",
        "persistentVolumeReclaimPolicy",
        r#""Retain""#,
    ),
    ("core.v1.PersistentVolumeSpec", "volumeMode", r#""Filesystem""#),
    ("core.v1.PersistentVolumeStatus", "phase", r#""Pending""#),
    ("core.v1.PodSpec", "dnsPolicy", r#""ClusterFirst""#),
    ("core.v1.PodSpec", "restartPolicy", r#""Always""#),
    ("core.v1.PodSpec", "schedulerName", r#""default-scheduler""#),
    ("core.v1.PodSpec", "securityContext", "{}"),
    ("core.v1.PodSpec", "terminationGracePeriodSeconds", "30"),
    ("core.v1.Probe", "failureThreshold", "3"),
    ("core.v1.Probe", "periodSeconds", "10"),
    ("core.v1.Probe", "successThreshold", "1"),
    ("core.v1.Probe", "timeoutSeconds", "1"),
    ("core.v1.ProjectedVolumeSource", "defaultMode", "420"),
    ("core.v1.RBDVolumeSource", "keyring", r#""/etc/ceph/keyring""#),
    ("core.v1.RBDVolumeSource", "pool", r#""rbd""#),
    ("core.v1.RBDVolumeSource", "user", r#""admin""#),
    ("core.v1.ReplicationControllerSpec", "replicas", "1"),
    ("core.v1.ResourceFieldSelector", "divisor", r#""0""#),
    ("core.v1.ScaleIOVolumeSource", "fsType", r#""xfs""#),
    (
        "core.v1.ScaleIOVolumeSource",
        "storageMode",
        r#""ThinProvisioned""#,
    ),
    ("core.v1.Secret", "type", r#""Opaque""#),
    ("core.v1.SecretVolumeSource", "defaultMode", "420"),
    (
        "core.v1.ServiceAccountTokenProjection",
        "expirationSeconds",
        "3600",
    ),
    ("core.v1.ServicePort", "protocol", r#""TCP""#),
    ("core.v1.ServiceSpec", "sessionAffinity", r#""None""#),
    ("core.v1.ServiceSpec", "type", r#""ClusterIP""#),
    ("core.v1.EndpointPort", "protocol", r#""TCP""#),
    ("discovery.v1.EndpointPort", "name", r#""""#),
    ("discovery.v1.EndpointPort", "protocol", r#""TCP""#),
    (
        "networking.v1.IngressClassParametersReference",
        "scope",
        r#""Cluster""#,
    ),
    ("networking.v1.NetworkPolicyPort", "protocol", r#""TCP""#),
    (
        "flowcontrol.v1.LimitedPriorityLevelConfiguration",
        "lendablePercent",
        "0",
    ),
    (
        "flowcontrol.v1.LimitedPriorityLevelConfiguration",
        "nominalConcurrencyShares",
        "30",
    ),
    (
        "scheduling.v1.PriorityClass",
        "preemptionPolicy",
        r#""PreemptLowerPriority""#,
    ),
    ("scheduling.v1.PriorityClass", "value", "0"),
    ("storage.v1.CSIDriverSpec", "attachRequired", "true"),
    (
        "storage.v1.CSIDriverSpec",
        "fsGroupPolicy",
        r#""ReadWriteOnceWithFSType""#,
    ),
    ("storage.v1.CSIDriverSpec", "podInfoOnMount", "false"),
    ("storage.v1.CSIDriverSpec", "requiresRepublish", "false"),
    ("storage.v1.CSIDriverSpec", "seLinuxMount", "false"),
    ("storage.v1.CSIDriverSpec", "storageCapacity", "false"),
    (
        "storage.v1.CSIDriverSpec",
        "volumeLifecycleModes",
        r#"["Persistent"]"#,
    ),
    ("storage.v1.StorageClass", "reclaimPolicy", r#""Delete""#),
    ("storage.v1.StorageClass", "volumeBindingMode", r#""Immediate""#),
];

/// The times that Go writes as null if they are not there: they are no pointers.
const TIMES: &[(&str, &[&str])] = &[
    ("apps.v1.DaemonSetCondition", &["lastTransitionTime"]),
    (
        "apps.v1.DeploymentCondition",
        &["lastUpdateTime", "lastTransitionTime"],
    ),
    ("apps.v1.ReplicaSetCondition", &["lastTransitionTime"]),
    ("apps.v1.StatefulSetCondition", &["lastTransitionTime"]),
    (
        "autoscaling.v2.HorizontalPodAutoscalerCondition",
        &["lastTransitionTime"],
    ),
    ("batch.v1.JobCondition", &["lastProbeTime", "lastTransitionTime"]),
    (
        "certificates.v1.CertificateSigningRequestCondition",
        &["lastUpdateTime", "lastTransitionTime"],
    ),
    ("core.v1.ContainerStateRunning", &["startedAt"]),
    ("core.v1.ContainerStateTerminated", &["startedAt", "finishedAt"]),
    ("core.v1.NamespaceCondition", &["lastTransitionTime"]),
    (
        "core.v1.NodeCondition",
        &["lastHeartbeatTime", "lastTransitionTime"],
    ),
    (
        "core.v1.PersistentVolumeClaimCondition",
        &["lastProbeTime", "lastTransitionTime"],
    ),
    ("core.v1.PodCondition", &["lastProbeTime", "lastTransitionTime"]),
    ("core.v1.ReplicationControllerCondition", &["lastTransitionTime"]),
    ("flowcontrol.v1.FlowSchemaCondition", &["lastTransitionTime"]),
    (
        "flowcontrol.v1.PriorityLevelConfigurationCondition",
        &["lastTransitionTime"],
    ),
    ("storage.v1.VolumeError", &["time"]),
];

/// What depends on other fields, and is filled in before the fields of the parts.
const FIXES: &[(&str, Fix)] = &[
    ("apps.v1.DaemonSet", fixes::daemon_set),
    ("apps.v1.DaemonSetUpdateStrategy", fixes::daemon_set_strategy),
    ("apps.v1.DeploymentStrategy", fixes::deployment_strategy),
    ("apps.v1.StatefulSetSpec", fixes::stateful_set),
    ("apps.v1.StatefulSetUpdateStrategy", fixes::stateful_set_strategy),
    ("autoscaling.v2.HorizontalPodAutoscalerSpec", fixes::autoscaler),
    ("batch.v1.Job", fixes::job),
    ("core.v1.Container", fixes::container),
    ("core.v1.EphemeralContainer", fixes::container),
    ("core.v1.LimitRangeItem", fixes::limit_range_item),
    ("core.v1.Node", fixes::node),
    ("core.v1.NodeSpec", fixes::node_spec),
    ("core.v1.Pod", fixes::pod),
    ("core.v1.PodSpec", fixes::pod_spec),
    ("core.v1.PodStatus", fixes::pod_status),
    ("core.v1.Event", fixes::event),
    ("resource.v1.DeviceSubRequest", fixes::device_request),
    ("resource.v1.ExactDeviceRequest", fixes::device_request),
    ("flowcontrol.v1.FlowSchemaSpec", fixes::flow_schema),
    ("core.v1.ReplicationController", fixes::replication_controller),
    ("core.v1.Service", fixes::service),
    ("core.v1.ServiceSpec", fixes::service_spec),
    ("core.v1.Volume", fixes::volume),
    ("networking.v1.NetworkPolicySpec", fixes::network_policy),
    ("rbac.v1.RoleRef", fixes::role_ref),
    ("rbac.v1.Subject", fixes::subject),
];

#[derive(Default)]
struct OfDefinition {
    fields: Vec<(&'static str, Value)>,
    fix: Option<Fix>,
}

static TABLE: LazyLock<HashMap<&'static str, OfDefinition>> = LazyLock::new(|| {
    let mut table: HashMap<_, OfDefinition> = HashMap::new();
    for (definition, field, json) in FIELDS {
        let value = serde_json::from_str(json).expect("the table has JSON");
        table.entry(*definition).or_default().fields.push((field, value));
    }
    for (definition, times) in TIMES {
        let of = table.entry(*definition).or_default();
        of.fields.extend(times.iter().map(|time| (*time, Value::Null)));
    }
    for (definition, fix) in FIXES {
        table.entry(*definition).or_default().fix = Some(*fix);
    }
    table
});

/// Fills in what a real server fills in, in an object of a built-in kind.
pub(crate) fn fill_in(resource: &Resource, version: &str, object: &mut Object) {
    if !resource.custom
        && let Some(definition) = schema::of_kind(&resource.group, version, &resource.kind)
    {
        in_definition(object, definition);
    }
}

fn in_definition(object: &mut Object, definition: &'static Definition) {
    const PREFIXES: [&str; 2] = ["io.k8s.api.", "io.k8s.kube-aggregator.pkg.apis."];
    let name = PREFIXES
        .iter()
        .find_map(|prefix| definition.name.strip_prefix(prefix));
    let of = name.and_then(|name| TABLE.get(name));
    if let Some(of) = of {
        for (field, default) in &of.fields {
            if object.get(*field).is_none_or(Value::is_null) {
                object.insert((*field).to_owned(), default.clone());
            }
        }
        if let Some(fix) = of.fix {
            fix(object);
        }
    }
    for (name, default) in definition.defaults() {
        // Go leaves out the zero of a ReplicationController.
        if !object.contains_key(*name) && *name != "minReadySeconds" {
            object.insert((*name).to_owned(), (*default).clone());
        }
    }
    in_members(object, definition.schema());
}

fn in_members(object: &mut Object, schema: &'static Schema) {
    for (name, value) in object {
        match (schema.properties.get(name), &schema.additional) {
            // The metadata is the server's own.
            (Some(Node::There { definition, .. }), _) if definition.name == schema::METADATA => {}
            (Some(node), _) | (None, Additional::Values(node)) => in_node(value, node),
            _ => {}
        }
    }
}

fn in_node(value: &mut Value, node: &'static Node) {
    match (value, node) {
        (Value::Object(object), Node::There { definition, .. }) => in_definition(object, definition),
        (Value::Object(object), Node::Here(schema)) => in_members(object, schema),
        (Value::Array(items), node) => {
            if let Some(of_items) = &node.get().items {
                items.iter_mut().for_each(|item| in_node(item, of_items));
            }
        }
        _ => {}
    }
}
