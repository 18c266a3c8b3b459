//! The messages of `k8s.io.api.apps.v1`.

use super::*;

pub(crate) static ControllerRevision: Message = object("k8s.io.api.apps.v1.ControllerRevision", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "data", Msg(&runtime::RawExtension), Required),
    one(3, "revision", Int64, Required),
]);

pub(crate) static ControllerRevisionList: Message = object("k8s.io.api.apps.v1.ControllerRevisionList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&apps_v1::ControllerRevision), Items),
]);

pub(crate) static DaemonSet: Message = object("k8s.io.api.apps.v1.DaemonSet", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&apps_v1::DaemonSetSpec), OmitEmpty),
    one(3, "status", Msg(&apps_v1::DaemonSetStatus), OmitEmpty),
]);

pub(crate) static DaemonSetCondition: Message = message("k8s.io.api.apps.v1.DaemonSetCondition", &[
    one(1, "type", String, Required),
    one(2, "status", String, Required),
    one(3, "lastTransitionTime", Msg(&meta_v1::Time), OmitEmpty),
    one(4, "reason", String, OmitEmpty),
    one(5, "message", String, OmitEmpty),
]);

pub(crate) static DaemonSetList: Message = object("k8s.io.api.apps.v1.DaemonSetList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&apps_v1::DaemonSet), Items),
]);

pub(crate) static DaemonSetSpec: Message = message("k8s.io.api.apps.v1.DaemonSetSpec", &[
    one(1, "selector", Msg(&meta_v1::LabelSelector), Nullable),
    one(2, "template", Msg(&core_v1::PodTemplateSpec), Required),
    one(3, "updateStrategy", Msg(&apps_v1::DaemonSetUpdateStrategy), OmitEmpty),
    one(4, "minReadySeconds", Int32, OmitEmpty),
    one(6, "revisionHistoryLimit", Int32, Optional),
]);

pub(crate) static DaemonSetStatus: Message = message("k8s.io.api.apps.v1.DaemonSetStatus", &[
    one(1, "currentNumberScheduled", Int32, Required),
    one(2, "numberMisscheduled", Int32, Required),
    one(3, "desiredNumberScheduled", Int32, Required),
    one(4, "numberReady", Int32, Required),
    one(5, "observedGeneration", Int64, OmitEmpty),
    one(6, "updatedNumberScheduled", Int32, OmitEmpty),
    one(7, "numberAvailable", Int32, OmitEmpty),
    one(8, "numberUnavailable", Int32, OmitEmpty),
    one(9, "collisionCount", Int32, Optional),
    many(10, "conditions", Msg(&apps_v1::DaemonSetCondition), OmitEmpty),
]);

pub(crate) static DaemonSetUpdateStrategy: Message = message("k8s.io.api.apps.v1.DaemonSetUpdateStrategy", &[
    one(1, "type", String, OmitEmpty),
    one(2, "rollingUpdate", Msg(&apps_v1::RollingUpdateDaemonSet), Optional),
]);

pub(crate) static Deployment: Message = object("k8s.io.api.apps.v1.Deployment", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&apps_v1::DeploymentSpec), OmitEmpty),
    one(3, "status", Msg(&apps_v1::DeploymentStatus), OmitEmpty),
]);

pub(crate) static DeploymentCondition: Message = message("k8s.io.api.apps.v1.DeploymentCondition", &[
    one(1, "type", String, Required),
    one(2, "status", String, Required),
    one(4, "reason", String, OmitEmpty),
    one(5, "message", String, OmitEmpty),
    one(6, "lastUpdateTime", Msg(&meta_v1::Time), OmitEmpty),
    one(7, "lastTransitionTime", Msg(&meta_v1::Time), OmitEmpty),
]);

pub(crate) static DeploymentList: Message = object("k8s.io.api.apps.v1.DeploymentList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&apps_v1::Deployment), Items),
]);

pub(crate) static DeploymentSpec: Message = message("k8s.io.api.apps.v1.DeploymentSpec", &[
    one(1, "replicas", Int32, Optional),
    one(2, "selector", Msg(&meta_v1::LabelSelector), Nullable),
    one(3, "template", Msg(&core_v1::PodTemplateSpec), Required),
    one(4, "strategy", Msg(&apps_v1::DeploymentStrategy), OmitEmpty),
    one(5, "minReadySeconds", Int32, OmitEmpty),
    one(6, "revisionHistoryLimit", Int32, Optional),
    one(7, "paused", Bool, OmitEmpty),
    one(9, "progressDeadlineSeconds", Int32, Optional),
]);

pub(crate) static DeploymentStatus: Message = message("k8s.io.api.apps.v1.DeploymentStatus", &[
    one(1, "observedGeneration", Int64, OmitEmpty),
    one(2, "replicas", Int32, OmitEmpty),
    one(3, "updatedReplicas", Int32, OmitEmpty),
    one(4, "availableReplicas", Int32, OmitEmpty),
    one(5, "unavailableReplicas", Int32, OmitEmpty),
    many(6, "conditions", Msg(&apps_v1::DeploymentCondition), OmitEmpty),
    one(7, "readyReplicas", Int32, OmitEmpty),
    one(8, "collisionCount", Int32, Optional),
    one(9, "terminatingReplicas", Int32, Optional),
]);

pub(crate) static DeploymentStrategy: Message = message("k8s.io.api.apps.v1.DeploymentStrategy", &[
    one(1, "type", String, OmitEmpty),
    one(2, "rollingUpdate", Msg(&apps_v1::RollingUpdateDeployment), Optional),
]);

pub(crate) static ReplicaSet: Message = object("k8s.io.api.apps.v1.ReplicaSet", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&apps_v1::ReplicaSetSpec), OmitEmpty),
    one(3, "status", Msg(&apps_v1::ReplicaSetStatus), OmitEmpty),
]);

pub(crate) static ReplicaSetCondition: Message = message("k8s.io.api.apps.v1.ReplicaSetCondition", &[
    one(1, "type", String, Required),
    one(2, "status", String, Required),
    one(3, "lastTransitionTime", Msg(&meta_v1::Time), OmitEmpty),
    one(4, "reason", String, OmitEmpty),
    one(5, "message", String, OmitEmpty),
]);

pub(crate) static ReplicaSetList: Message = object("k8s.io.api.apps.v1.ReplicaSetList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&apps_v1::ReplicaSet), Items),
]);

pub(crate) static ReplicaSetSpec: Message = message("k8s.io.api.apps.v1.ReplicaSetSpec", &[
    one(1, "replicas", Int32, Optional),
    one(2, "selector", Msg(&meta_v1::LabelSelector), Nullable),
    one(3, "template", Msg(&core_v1::PodTemplateSpec), OmitEmpty),
    one(4, "minReadySeconds", Int32, OmitEmpty),
]);

pub(crate) static ReplicaSetStatus: Message = message("k8s.io.api.apps.v1.ReplicaSetStatus", &[
    one(1, "replicas", Int32, Required),
    one(2, "fullyLabeledReplicas", Int32, OmitEmpty),
    one(3, "observedGeneration", Int64, OmitEmpty),
    one(4, "readyReplicas", Int32, OmitEmpty),
    one(5, "availableReplicas", Int32, OmitEmpty),
    many(6, "conditions", Msg(&apps_v1::ReplicaSetCondition), OmitEmpty),
    one(7, "terminatingReplicas", Int32, Optional),
]);

pub(crate) static RollingUpdateDaemonSet: Message = message("k8s.io.api.apps.v1.RollingUpdateDaemonSet", &[
    one(1, "maxUnavailable", Msg(&util_intstr::IntOrString), Optional),
    one(2, "maxSurge", Msg(&util_intstr::IntOrString), Optional),
]);

pub(crate) static RollingUpdateDeployment: Message = message("k8s.io.api.apps.v1.RollingUpdateDeployment", &[
    one(1, "maxUnavailable", Msg(&util_intstr::IntOrString), Optional),
    one(2, "maxSurge", Msg(&util_intstr::IntOrString), Optional),
]);

pub(crate) static RollingUpdateStatefulSetStrategy: Message = message("k8s.io.api.apps.v1.RollingUpdateStatefulSetStrategy", &[
    one(1, "partition", Int32, Optional),
    one(2, "maxUnavailable", Msg(&util_intstr::IntOrString), Optional),
]);

pub(crate) static StatefulSet: Message = object("k8s.io.api.apps.v1.StatefulSet", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&apps_v1::StatefulSetSpec), OmitEmpty),
    one(3, "status", Msg(&apps_v1::StatefulSetStatus), OmitEmpty),
]);

pub(crate) static StatefulSetCondition: Message = message("k8s.io.api.apps.v1.StatefulSetCondition", &[
    one(1, "type", String, Required),
    one(2, "status", String, Required),
    one(3, "lastTransitionTime", Msg(&meta_v1::Time), OmitEmpty),
    one(4, "reason", String, OmitEmpty),
    one(5, "message", String, OmitEmpty),
]);

pub(crate) static StatefulSetList: Message = object("k8s.io.api.apps.v1.StatefulSetList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&apps_v1::StatefulSet), Items),
]);

pub(crate) static StatefulSetOrdinals: Message = message("k8s.io.api.apps.v1.StatefulSetOrdinals", &[
    one(1, "start", Int32, Required),
]);

pub(crate) static StatefulSetPersistentVolumeClaimRetentionPolicy: Message = message("k8s.io.api.apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy", &[
    one(1, "whenDeleted", String, OmitEmpty),
    one(2, "whenScaled", String, OmitEmpty),
]);

pub(crate) static StatefulSetSpec: Message = message("k8s.io.api.apps.v1.StatefulSetSpec", &[
    one(1, "replicas", Int32, Optional),
    one(2, "selector", Msg(&meta_v1::LabelSelector), Nullable),
    one(3, "template", Msg(&core_v1::PodTemplateSpec), Required),
    many(4, "volumeClaimTemplates", Object(&CLAIM), OmitEmpty),
    one(5, "serviceName", String, Required),
    one(6, "podManagementPolicy", String, OmitEmpty),
    one(7, "updateStrategy", Msg(&apps_v1::StatefulSetUpdateStrategy), OmitEmpty),
    one(8, "revisionHistoryLimit", Int32, Optional),
    one(9, "minReadySeconds", Int32, OmitEmpty),
    one(10, "persistentVolumeClaimRetentionPolicy", Msg(&apps_v1::StatefulSetPersistentVolumeClaimRetentionPolicy), Optional),
    one(11, "ordinals", Msg(&apps_v1::StatefulSetOrdinals), Optional),
]);

pub(crate) static StatefulSetStatus: Message = message("k8s.io.api.apps.v1.StatefulSetStatus", &[
    one(1, "observedGeneration", Int64, OmitEmpty),
    one(2, "replicas", Int32, Required),
    one(3, "readyReplicas", Int32, OmitEmpty),
    one(4, "currentReplicas", Int32, OmitEmpty),
    one(5, "updatedReplicas", Int32, OmitEmpty),
    one(6, "currentRevision", String, OmitEmpty),
    one(7, "updateRevision", String, OmitEmpty),
    one(9, "collisionCount", Int32, Optional),
    many(10, "conditions", Msg(&apps_v1::StatefulSetCondition), OmitEmpty),
    one(11, "availableReplicas", Int32, Required),
]);

pub(crate) static StatefulSetUpdateStrategy: Message = message("k8s.io.api.apps.v1.StatefulSetUpdateStrategy", &[
    one(1, "type", String, OmitEmpty),
    one(2, "rollingUpdate", Msg(&apps_v1::RollingUpdateStatefulSetStrategy), Optional),
]);
