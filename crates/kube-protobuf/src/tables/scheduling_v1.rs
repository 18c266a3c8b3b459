//! The messages of `k8s.io.api.scheduling.v1`.

use super::*;

pub(crate) static PriorityClass: Message = object("k8s.io.api.scheduling.v1.PriorityClass", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "value", Int32, Required),
    one(3, "globalDefault", Bool, OmitEmpty),
    one(4, "description", String, OmitEmpty),
    one(5, "preemptionPolicy", String, Optional),
]);

pub(crate) static PriorityClassList: Message = object("k8s.io.api.scheduling.v1.PriorityClassList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&scheduling_v1::PriorityClass), Items),
]);
