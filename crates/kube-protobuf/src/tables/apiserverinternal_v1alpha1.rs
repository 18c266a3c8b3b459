//! The messages of `k8s.io.api.apiserverinternal.v1alpha1`.

use super::*;

pub(crate) static ServerStorageVersion: Message = message("k8s.io.api.apiserverinternal.v1alpha1.ServerStorageVersion", &[
    one(1, "apiServerID", String, OmitEmpty),
    one(2, "encodingVersion", String, OmitEmpty),
    many(3, "decodableVersions", String, OmitEmpty),
    many(4, "servedVersions", String, OmitEmpty),
]);

pub(crate) static StorageVersion: Message = object("k8s.io.api.apiserverinternal.v1alpha1.StorageVersion", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&apiserverinternal_v1alpha1::StorageVersionSpec), Required),
    one(3, "status", Msg(&apiserverinternal_v1alpha1::StorageVersionStatus), Required),
]);

pub(crate) static StorageVersionCondition: Message = message("k8s.io.api.apiserverinternal.v1alpha1.StorageVersionCondition", &[
    one(1, "type", String, Required),
    one(2, "status", String, Required),
    one(3, "observedGeneration", Int64, OmitEmpty),
    one(4, "lastTransitionTime", Msg(&meta_v1::Time), OmitEmpty),
    one(5, "reason", String, Required),
    one(6, "message", String, OmitEmpty),
]);

pub(crate) static StorageVersionList: Message = object("k8s.io.api.apiserverinternal.v1alpha1.StorageVersionList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&apiserverinternal_v1alpha1::StorageVersion), Items),
]);

pub(crate) static StorageVersionSpec: Message = message("k8s.io.api.apiserverinternal.v1alpha1.StorageVersionSpec", &[
]);

pub(crate) static StorageVersionStatus: Message = message("k8s.io.api.apiserverinternal.v1alpha1.StorageVersionStatus", &[
    many(1, "storageVersions", Msg(&apiserverinternal_v1alpha1::ServerStorageVersion), OmitEmpty),
    one(2, "commonEncodingVersion", String, Optional),
    many(3, "conditions", Msg(&apiserverinternal_v1alpha1::StorageVersionCondition), OmitEmpty),
]);
