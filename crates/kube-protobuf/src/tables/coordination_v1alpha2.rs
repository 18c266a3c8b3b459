//! The messages of `k8s.io.api.coordination.v1alpha2`.

use super::*;

pub(crate) static LeaseCandidate: Message = object("k8s.io.api.coordination.v1alpha2.LeaseCandidate", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&coordination_v1alpha2::LeaseCandidateSpec), OmitEmpty),
]);

pub(crate) static LeaseCandidateList: Message = object("k8s.io.api.coordination.v1alpha2.LeaseCandidateList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&coordination_v1alpha2::LeaseCandidate), Items),
]);

pub(crate) static LeaseCandidateSpec: Message = message("k8s.io.api.coordination.v1alpha2.LeaseCandidateSpec", &[
    one(1, "leaseName", String, Required),
    one(2, "pingTime", Msg(&meta_v1::MicroTime), Optional),
    one(3, "renewTime", Msg(&meta_v1::MicroTime), Optional),
    one(4, "binaryVersion", String, Required),
    one(5, "emulationVersion", String, OmitEmpty),
    one(6, "strategy", String, OmitEmpty),
]);
