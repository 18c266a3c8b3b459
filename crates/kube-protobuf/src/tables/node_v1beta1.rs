//! The messages of `k8s.io.api.node.v1beta1`.

use super::*;

pub(crate) static Overhead: Message = message("k8s.io.api.node.v1beta1.Overhead", &[
    map(1, "podFixed", Msg(&api_resource::Quantity), OmitEmpty),
]);

pub(crate) static RuntimeClass: Message = object("k8s.io.api.node.v1beta1.RuntimeClass", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "handler", String, Required),
    one(3, "overhead", Msg(&node_v1beta1::Overhead), Optional),
    one(4, "scheduling", Msg(&node_v1beta1::Scheduling), Optional),
]);

pub(crate) static RuntimeClassList: Message = object("k8s.io.api.node.v1beta1.RuntimeClassList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&node_v1beta1::RuntimeClass), Items),
]);

pub(crate) static Scheduling: Message = message("k8s.io.api.node.v1beta1.Scheduling", &[
    map(1, "nodeSelector", String, OmitEmpty),
    many(2, "tolerations", Msg(&core_v1::Toleration), OmitEmpty),
]);
