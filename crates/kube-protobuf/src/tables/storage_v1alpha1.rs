//! The messages of `k8s.io.api.storage.v1alpha1`.

use super::*;

pub(crate) static CSIStorageCapacity: Message = object("k8s.io.api.storage.v1alpha1.CSIStorageCapacity", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "nodeTopology", Msg(&meta_v1::LabelSelector), Optional),
    one(3, "storageClassName", String, Required),
    one(4, "capacity", Msg(&api_resource::Quantity), Optional),
    one(5, "maximumVolumeSize", Msg(&api_resource::Quantity), Optional),
]);

pub(crate) static CSIStorageCapacityList: Message = object("k8s.io.api.storage.v1alpha1.CSIStorageCapacityList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&storage_v1alpha1::CSIStorageCapacity), Items),
]);

pub(crate) static VolumeAttachment: Message = object("k8s.io.api.storage.v1alpha1.VolumeAttachment", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&storage_v1alpha1::VolumeAttachmentSpec), Required),
    one(3, "status", Msg(&storage_v1alpha1::VolumeAttachmentStatus), OmitEmpty),
]);

pub(crate) static VolumeAttachmentList: Message = object("k8s.io.api.storage.v1alpha1.VolumeAttachmentList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&storage_v1alpha1::VolumeAttachment), Items),
]);

pub(crate) static VolumeAttachmentSource: Message = message("k8s.io.api.storage.v1alpha1.VolumeAttachmentSource", &[
    one(1, "persistentVolumeName", String, Optional),
    one(2, "inlineVolumeSpec", Msg(&core_v1::PersistentVolumeSpec), Optional),
]);

pub(crate) static VolumeAttachmentSpec: Message = message("k8s.io.api.storage.v1alpha1.VolumeAttachmentSpec", &[
    one(1, "attacher", String, Required),
    one(2, "source", Msg(&storage_v1alpha1::VolumeAttachmentSource), Required),
    one(3, "nodeName", String, Required),
]);

pub(crate) static VolumeAttachmentStatus: Message = message("k8s.io.api.storage.v1alpha1.VolumeAttachmentStatus", &[
    one(1, "attached", Bool, Required),
    map(2, "attachmentMetadata", String, OmitEmpty),
    one(3, "attachError", Msg(&storage_v1alpha1::VolumeError), Optional),
    one(4, "detachError", Msg(&storage_v1alpha1::VolumeError), Optional),
]);

pub(crate) static VolumeAttributesClass: Message = object("k8s.io.api.storage.v1alpha1.VolumeAttributesClass", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "driverName", String, Required),
    map(3, "parameters", String, OmitEmpty),
]);

pub(crate) static VolumeAttributesClassList: Message = object("k8s.io.api.storage.v1alpha1.VolumeAttributesClassList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&storage_v1alpha1::VolumeAttributesClass), Items),
]);

pub(crate) static VolumeError: Message = message("k8s.io.api.storage.v1alpha1.VolumeError", &[
    one(1, "time", Msg(&meta_v1::Time), OmitEmpty),
    one(2, "message", String, OmitEmpty),
    one(3, "errorCode", Int32, Optional),
]);
