//! The messages of `k8s.io.api.apps.v1beta1`.

use super::*;

pub(crate) static ControllerRevision: Message = object("k8s.io.api.apps.v1beta1.ControllerRevision", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "data", Msg(&runtime::RawExtension), Required),
    one(3, "revision", Int64, Required),
]);

pub(crate) static ControllerRevisionList: Message = object("k8s.io.api.apps.v1beta1.ControllerRevisionList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&apps_v1beta1::ControllerRevision), Items),
]);

pub(crate) static Deployment: Message = object("k8s.io.api.apps.v1beta1.Deployment", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&apps_v1beta1::DeploymentSpec), OmitEmpty),
    one(3, "status", Msg(&apps_v1beta1::DeploymentStatus), OmitEmpty),
]);

pub(crate) static DeploymentCondition: Message = message("k8s.io.api.apps.v1beta1.DeploymentCondition", &[
    one(1, "type", String, Required),
    one(2, "status", String, Required),
    one(4, "reason", String, OmitEmpty),
    one(5, "message", String, OmitEmpty),
    one(6, "lastUpdateTime", Msg(&meta_v1::Time), OmitEmpty),
    one(7, "lastTransitionTime", Msg(&meta_v1::Time), OmitEmpty),
]);

pub(crate) static DeploymentList: Message = object("k8s.io.api.apps.v1beta1.DeploymentList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&apps_v1beta1::Deployment), Items),
]);

pub(crate) static DeploymentRollback: Message = object("k8s.io.api.apps.v1beta1.DeploymentRollback", &[
    one(1, "name", String, Required),
    map(2, "updatedAnnotations", String, OmitEmpty),
    one(3, "rollbackTo", Msg(&apps_v1beta1::RollbackConfig), Required),
]);

pub(crate) static DeploymentSpec: Message = message("k8s.io.api.apps.v1beta1.DeploymentSpec", &[
    one(1, "replicas", Int32, Optional),
    one(2, "selector", Msg(&meta_v1::LabelSelector), Optional),
    one(3, "template", Msg(&core_v1::PodTemplateSpec), Required),
    one(4, "strategy", Msg(&apps_v1beta1::DeploymentStrategy), OmitEmpty),
    one(5, "minReadySeconds", Int32, OmitEmpty),
    one(6, "revisionHistoryLimit", Int32, Optional),
    one(7, "paused", Bool, OmitEmpty),
    one(8, "rollbackTo", Msg(&apps_v1beta1::RollbackConfig), Optional),
    one(9, "progressDeadlineSeconds", Int32, Optional),
]);

pub(crate) static DeploymentStatus: Message = message("k8s.io.api.apps.v1beta1.DeploymentStatus", &[
    one(1, "observedGeneration", Int64, OmitEmpty),
    one(2, "replicas", Int32, OmitEmpty),
    one(3, "updatedReplicas", Int32, OmitEmpty),
    one(4, "availableReplicas", Int32, OmitEmpty),
    one(5, "unavailableReplicas", Int32, OmitEmpty),
    many(6, "conditions", Msg(&apps_v1beta1::DeploymentCondition), OmitEmpty),
    one(7, "readyReplicas", Int32, OmitEmpty),
    one(8, "collisionCount", Int32, Optional),
    one(9, "terminatingReplicas", Int32, Optional),
]);

pub(crate) static DeploymentStrategy: Message = message("k8s.io.api.apps.v1beta1.DeploymentStrategy", &[
    one(1, "type", String, OmitEmpty),
    one(2, "rollingUpdate", Msg(&apps_v1beta1::RollingUpdateDeployment), Optional),
]);

pub(crate) static RollbackConfig: Message = message("k8s.io.api.apps.v1beta1.RollbackConfig", &[
    one(1, "revision", Int64, OmitEmpty),
]);

pub(crate) static RollingUpdateDeployment: Message = message("k8s.io.api.apps.v1beta1.RollingUpdateDeployment", &[
    one(1, "maxUnavailable", Msg(&util_intstr::IntOrString), Optional),
    one(2, "maxSurge", Msg(&util_intstr::IntOrString), Optional),
]);

pub(crate) static RollingUpdateStatefulSetStrategy: Message = message("k8s.io.api.apps.v1beta1.RollingUpdateStatefulSetStrategy", &[
    one(1, "partition", Int32, Optional),
    one(2, "maxUnavailable", Msg(&util_intstr::IntOrString), Optional),
]);

pub(crate) static Scale: Message = object("k8s.io.api.apps.v1beta1.Scale", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&apps_v1beta1::ScaleSpec), OmitEmpty),
    one(3, "status", Msg(&apps_v1beta1::ScaleStatus), OmitEmpty),
]);

pub(crate) static ScaleSpec: Message = message("k8s.io.api.apps.v1beta1.ScaleSpec", &[
    one(1, "replicas", Int32, OmitEmpty),
]);

pub(crate) static ScaleStatus: Message = message("k8s.io.api.apps.v1beta1.ScaleStatus", &[
    one(1, "replicas", Int32, Required),
    map(2, "selector", String, OmitEmpty),
    one(3, "targetSelector", String, OmitEmpty),
]);

pub(crate) static StatefulSet: Message = object("k8s.io.api.apps.v1beta1.StatefulSet", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&apps_v1beta1::StatefulSetSpec), OmitEmpty),
    one(3, "status", Msg(&apps_v1beta1::StatefulSetStatus), OmitEmpty),
]);

pub(crate) static StatefulSetCondition: Message = message("k8s.io.api.apps.v1beta1.StatefulSetCondition", &[
    one(1, "type", String, Required),
    one(2, "status", String, Required),
    one(3, "lastTransitionTime", Msg(&meta_v1::Time), OmitEmpty),
    one(4, "reason", String, OmitEmpty),
    one(5, "message", String, OmitEmpty),
]);

pub(crate) static StatefulSetList: Message = object("k8s.io.api.apps.v1beta1.StatefulSetList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&apps_v1beta1::StatefulSet), Items),
]);

pub(crate) static StatefulSetOrdinals: Message = message("k8s.io.api.apps.v1beta1.StatefulSetOrdinals", &[
    one(1, "start", Int32, Required),
]);

pub(crate) static StatefulSetPersistentVolumeClaimRetentionPolicy: Message = message("k8s.io.api.apps.v1beta1.StatefulSetPersistentVolumeClaimRetentionPolicy", &[
    one(1, "whenDeleted", String, OmitEmpty),
    one(2, "whenScaled", String, OmitEmpty),
]);

pub(crate) static StatefulSetSpec: Message = message("k8s.io.api.apps.v1beta1.StatefulSetSpec", &[
    one(1, "replicas", Int32, Optional),
    one(2, "selector", Msg(&meta_v1::LabelSelector), Optional),
    one(3, "template", Msg(&core_v1::PodTemplateSpec), Required),
    many(4, "volumeClaimTemplates", Object(&CLAIM), OmitEmpty),
    one(5, "serviceName", String, Required),
    one(6, "podManagementPolicy", String, OmitEmpty),
    one(7, "updateStrategy", Msg(&apps_v1beta1::StatefulSetUpdateStrategy), OmitEmpty),
    one(8, "revisionHistoryLimit", Int32, Optional),
    one(9, "minReadySeconds", Int32, OmitEmpty),
    one(10, "persistentVolumeClaimRetentionPolicy", Msg(&apps_v1beta1::StatefulSetPersistentVolumeClaimRetentionPolicy), Optional),
    one(11, "ordinals", Msg(&apps_v1beta1::StatefulSetOrdinals), Optional),
]);

pub(crate) static StatefulSetStatus: Message = message("k8s.io.api.apps.v1beta1.StatefulSetStatus", &[
    one(1, "observedGeneration", Int64, Optional),
    one(2, "replicas", Int32, Required),
    one(3, "readyReplicas", Int32, OmitEmpty),
    one(4, "currentReplicas", Int32, OmitEmpty),
    one(5, "updatedReplicas", Int32, OmitEmpty),
    one(6, "currentRevision", String, OmitEmpty),
    one(7, "updateRevision", String, OmitEmpty),
    one(9, "collisionCount", Int32, Optional),
    many(10, "conditions", Msg(&apps_v1beta1::StatefulSetCondition), OmitEmpty),
    one(11, "availableReplicas", Int32, Required),
]);

pub(crate) static StatefulSetUpdateStrategy: Message = message("k8s.io.api.apps.v1beta1.StatefulSetUpdateStrategy", &[
    one(1, "type", String, OmitEmpty),
    one(2, "rollingUpdate", Msg(&apps_v1beta1::RollingUpdateStatefulSetStrategy), Optional),
]);
