//! The messages of `k8s.io.api.coordination.v1`.

use super::*;

pub(crate) static Lease: Message = object("k8s.io.api.coordination.v1.Lease", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&coordination_v1::LeaseSpec), OmitEmpty),
]);

pub(crate) static LeaseList: Message = object("k8s.io.api.coordination.v1.LeaseList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&coordination_v1::Lease), Items),
]);

pub(crate) static LeaseSpec: Message = message("k8s.io.api.coordination.v1.LeaseSpec", &[
    one(1, "holderIdentity", String, Optional),
    one(2, "leaseDurationSeconds", Int32, Optional),
    one(3, "acquireTime", Msg(&meta_v1::MicroTime), Optional),
    one(4, "renewTime", Msg(&meta_v1::MicroTime), Optional),
    one(5, "leaseTransitions", Int32, Optional),
    one(6, "strategy", String, Optional),
    one(7, "preferredHolder", String, Optional),
]);
