//! The messages of `k8s.io.api.storagemigration.v1`.

use super::*;

pub(crate) static StorageVersionMigration: Message = object("k8s.io.api.storagemigration.v1.StorageVersionMigration", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&storagemigration_v1::StorageVersionMigrationSpec), OmitEmpty),
    one(3, "status", Msg(&storagemigration_v1::StorageVersionMigrationStatus), OmitEmpty),
]);

pub(crate) static StorageVersionMigrationList: Message = object("k8s.io.api.storagemigration.v1.StorageVersionMigrationList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&storagemigration_v1::StorageVersionMigration), Items),
]);

pub(crate) static StorageVersionMigrationSpec: Message = message("k8s.io.api.storagemigration.v1.StorageVersionMigrationSpec", &[
    one(1, "resource", Msg(&meta_v1::GroupResource), Required),
]);

pub(crate) static StorageVersionMigrationStatus: Message = message("k8s.io.api.storagemigration.v1.StorageVersionMigrationStatus", &[
    many(1, "conditions", Msg(&meta_v1::Condition), OmitEmpty),
    one(2, "resourceVersion", String, OmitEmpty),
]);
