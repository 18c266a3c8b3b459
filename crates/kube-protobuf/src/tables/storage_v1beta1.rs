//! The messages of `k8s.io.api.storage.v1beta1`.

use super::*;

pub(crate) static CSIDriver: Message = object("k8s.io.api.storage.v1beta1.CSIDriver", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&storage_v1beta1::CSIDriverSpec), Required),
]);

pub(crate) static CSIDriverList: Message = object("k8s.io.api.storage.v1beta1.CSIDriverList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&storage_v1beta1::CSIDriver), Items),
]);

pub(crate) static CSIDriverSpec: Message = message("k8s.io.api.storage.v1beta1.CSIDriverSpec", &[
    one(1, "attachRequired", Bool, Optional),
    one(2, "podInfoOnMount", Bool, Optional),
    many(3, "volumeLifecycleModes", String, OmitEmpty),
    one(4, "storageCapacity", Bool, Optional),
    one(5, "fsGroupPolicy", String, Optional),
    many(6, "tokenRequests", Msg(&storage_v1beta1::TokenRequest), OmitEmpty),
    one(7, "requiresRepublish", Bool, Optional),
    one(8, "seLinuxMount", Bool, Optional),
    one(9, "nodeAllocatableUpdatePeriodSeconds", Int64, Optional),
    one(10, "serviceAccountTokenInSecrets", Bool, Optional),
    one(11, "preventPodSchedulingIfMissing", Bool, Optional),
]);

pub(crate) static CSINode: Message = object("k8s.io.api.storage.v1beta1.CSINode", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&storage_v1beta1::CSINodeSpec), Required),
    one(3, "status", Msg(&storage_v1beta1::CSINodeStatus), OmitEmpty),
]);

pub(crate) static CSINodeDriver: Message = message("k8s.io.api.storage.v1beta1.CSINodeDriver", &[
    one(1, "name", String, Required),
    one(2, "nodeID", String, Required),
    many(3, "topologyKeys", String, Required),
    one(4, "allocatable", Msg(&storage_v1beta1::VolumeNodeResources), Optional),
]);

pub(crate) static CSINodeList: Message = object("k8s.io.api.storage.v1beta1.CSINodeList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&storage_v1beta1::CSINode), Items),
]);

pub(crate) static CSINodeSpec: Message = message("k8s.io.api.storage.v1beta1.CSINodeSpec", &[
    many(1, "drivers", Msg(&storage_v1beta1::CSINodeDriver), Required),
]);

pub(crate) static CSINodeStatus: Message = message("k8s.io.api.storage.v1beta1.CSINodeStatus", &[
    many(1, "storageHealth", Msg(&storage_v1beta1::StorageHealth), OmitEmpty),
]);

pub(crate) static CSIStorageCapacity: Message = object("k8s.io.api.storage.v1beta1.CSIStorageCapacity", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "nodeTopology", Msg(&meta_v1::LabelSelector), Optional),
    one(3, "storageClassName", String, Required),
    one(4, "capacity", Msg(&api_resource::Quantity), Optional),
    one(5, "maximumVolumeSize", Msg(&api_resource::Quantity), Optional),
]);

pub(crate) static CSIStorageCapacityList: Message = object("k8s.io.api.storage.v1beta1.CSIStorageCapacityList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&storage_v1beta1::CSIStorageCapacity), Items),
]);

pub(crate) static StorageClass: Message = object("k8s.io.api.storage.v1beta1.StorageClass", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "provisioner", String, Required),
    map(3, "parameters", String, OmitEmpty),
    one(4, "reclaimPolicy", String, Optional),
    many(5, "mountOptions", String, OmitEmpty),
    one(6, "allowVolumeExpansion", Bool, Optional),
    one(7, "volumeBindingMode", String, Optional),
    many(8, "allowedTopologies", Msg(&core_v1::TopologySelectorTerm), OmitEmpty),
]);

pub(crate) static StorageClassList: Message = object("k8s.io.api.storage.v1beta1.StorageClassList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&storage_v1beta1::StorageClass), Items),
]);

pub(crate) static StorageHealth: Message = message("k8s.io.api.storage.v1beta1.StorageHealth", &[
    one(1, "name", String, Required),
    many(2, "healthConditions", Msg(&storage_v1beta1::StorageHealthCondition), OmitEmpty),
]);

pub(crate) static StorageHealthCondition: Message = message("k8s.io.api.storage.v1beta1.StorageHealthCondition", &[
    one(1, "status", String, Required),
    one(2, "reason", String, Required),
    one(3, "message", String, OmitEmpty),
    one(4, "accessMode", String, Optional),
    one(5, "volumeMode", String, Optional),
    one(6, "lastTransitionTime", Msg(&meta_v1::Time), OmitEmpty),
]);

pub(crate) static TokenRequest: Message = message("k8s.io.api.storage.v1beta1.TokenRequest", &[
    one(1, "audience", String, Required),
    one(2, "expirationSeconds", Int64, Optional),
]);

pub(crate) static VolumeAttachment: Message = object("k8s.io.api.storage.v1beta1.VolumeAttachment", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&storage_v1beta1::VolumeAttachmentSpec), Required),
    one(3, "status", Msg(&storage_v1beta1::VolumeAttachmentStatus), OmitEmpty),
]);

pub(crate) static VolumeAttachmentList: Message = object("k8s.io.api.storage.v1beta1.VolumeAttachmentList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&storage_v1beta1::VolumeAttachment), Items),
]);

pub(crate) static VolumeAttachmentSource: Message = message("k8s.io.api.storage.v1beta1.VolumeAttachmentSource", &[
    one(1, "persistentVolumeName", String, Optional),
    one(2, "inlineVolumeSpec", Msg(&core_v1::PersistentVolumeSpec), Optional),
]);

pub(crate) static VolumeAttachmentSpec: Message = message("k8s.io.api.storage.v1beta1.VolumeAttachmentSpec", &[
    one(1, "attacher", String, Required),
    one(2, "source", Msg(&storage_v1beta1::VolumeAttachmentSource), Required),
    one(3, "nodeName", String, Required),
]);

pub(crate) static VolumeAttachmentStatus: Message = message("k8s.io.api.storage.v1beta1.VolumeAttachmentStatus", &[
    one(1, "attached", Bool, Required),
    map(2, "attachmentMetadata", String, OmitEmpty),
    one(3, "attachError", Msg(&storage_v1beta1::VolumeError), Optional),
    one(4, "detachError", Msg(&storage_v1beta1::VolumeError), Optional),
]);

pub(crate) static VolumeAttributesClass: Message = object("k8s.io.api.storage.v1beta1.VolumeAttributesClass", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "driverName", String, Required),
    map(3, "parameters", String, OmitEmpty),
]);

pub(crate) static VolumeAttributesClassList: Message = object("k8s.io.api.storage.v1beta1.VolumeAttributesClassList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&storage_v1beta1::VolumeAttributesClass), Items),
]);

pub(crate) static VolumeError: Message = message("k8s.io.api.storage.v1beta1.VolumeError", &[
    one(1, "time", Msg(&meta_v1::Time), OmitEmpty),
    one(2, "message", String, OmitEmpty),
    one(3, "errorCode", Int32, Optional),
]);

pub(crate) static VolumeNodeResources: Message = message("k8s.io.api.storage.v1beta1.VolumeNodeResources", &[
    one(1, "count", Int32, Optional),
]);
