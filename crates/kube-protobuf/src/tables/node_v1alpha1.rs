//! The messages of `k8s.io.api.node.v1alpha1`.

use super::*;

pub(crate) static Overhead: Message = message("k8s.io.api.node.v1alpha1.Overhead", &[
    map(1, "podFixed", Msg(&api_resource::Quantity), OmitEmpty),
]);

pub(crate) static RuntimeClass: Message = object("k8s.io.api.node.v1alpha1.RuntimeClass", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&node_v1alpha1::RuntimeClassSpec), Required),
]);

pub(crate) static RuntimeClassList: Message = object("k8s.io.api.node.v1alpha1.RuntimeClassList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&node_v1alpha1::RuntimeClass), Items),
]);

pub(crate) static RuntimeClassSpec: Message = message("k8s.io.api.node.v1alpha1.RuntimeClassSpec", &[
    one(1, "runtimeHandler", String, Required),
    one(2, "overhead", Msg(&node_v1alpha1::Overhead), Optional),
    one(3, "scheduling", Msg(&node_v1alpha1::Scheduling), Optional),
]);

pub(crate) static Scheduling: Message = message("k8s.io.api.node.v1alpha1.Scheduling", &[
    map(1, "nodeSelector", String, OmitEmpty),
    many(2, "tolerations", Msg(&core_v1::Toleration), OmitEmpty),
]);
