//! The messages of `k8s.io.api.lifecycle.v1alpha1`.

use super::*;

pub(crate) static Eviction: Message = object("k8s.io.api.lifecycle.v1alpha1.Eviction", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&lifecycle_v1alpha1::EvictionSpec), Required),
    one(3, "status", Msg(&lifecycle_v1alpha1::EvictionStatus), OmitEmpty),
]);

pub(crate) static EvictionList: Message = object("k8s.io.api.lifecycle.v1alpha1.EvictionList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&lifecycle_v1alpha1::Eviction), Items),
]);

pub(crate) static EvictionPodReference: Message = message("k8s.io.api.lifecycle.v1alpha1.EvictionPodReference", &[
    one(1, "name", String, Required),
    one(2, "uid", String, Required),
]);

pub(crate) static EvictionRequest: Message = object("k8s.io.api.lifecycle.v1alpha1.EvictionRequest", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&lifecycle_v1alpha1::EvictionRequestSpec), Required),
    one(3, "status", Msg(&lifecycle_v1alpha1::EvictionRequestStatus), OmitEmpty),
]);

pub(crate) static EvictionRequestList: Message = object("k8s.io.api.lifecycle.v1alpha1.EvictionRequestList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&lifecycle_v1alpha1::EvictionRequest), Items),
]);

pub(crate) static EvictionRequestPodReference: Message = message("k8s.io.api.lifecycle.v1alpha1.EvictionRequestPodReference", &[
    one(1, "name", String, Required),
    one(2, "uid", String, Required),
]);

pub(crate) static EvictionRequestSpec: Message = message("k8s.io.api.lifecycle.v1alpha1.EvictionRequestSpec", &[
    one(1, "target", Msg(&lifecycle_v1alpha1::EvictionRequestTarget), Required),
    one(2, "requester", String, Required),
    one(3, "intent", String, Required),
]);

pub(crate) static EvictionRequestStatus: Message = message("k8s.io.api.lifecycle.v1alpha1.EvictionRequestStatus", &[
    many(1, "conditions", Msg(&meta_v1::Condition), OmitEmpty),
    one(2, "observedGeneration", Int64, Optional),
]);

pub(crate) static EvictionRequestTarget: Message = message("k8s.io.api.lifecycle.v1alpha1.EvictionRequestTarget", &[
    one(1, "pod", Msg(&lifecycle_v1alpha1::EvictionRequestPodReference), Optional),
]);

pub(crate) static EvictionSpec: Message = message("k8s.io.api.lifecycle.v1alpha1.EvictionSpec", &[
    one(1, "target", Msg(&lifecycle_v1alpha1::EvictionTarget), Required),
]);

pub(crate) static EvictionStatus: Message = message("k8s.io.api.lifecycle.v1alpha1.EvictionStatus", &[
    many(1, "conditions", Msg(&meta_v1::Condition), OmitEmpty),
    one(2, "observedGeneration", Int64, Optional),
    many(3, "requesters", Msg(&lifecycle_v1alpha1::Requester), OmitEmpty),
    many(4, "targetResponders", Msg(&lifecycle_v1alpha1::TargetResponder), OmitEmpty),
    many(5, "responders", Msg(&lifecycle_v1alpha1::ResponderStatus), OmitEmpty),
]);

pub(crate) static EvictionTarget: Message = message("k8s.io.api.lifecycle.v1alpha1.EvictionTarget", &[
    one(1, "pod", Msg(&lifecycle_v1alpha1::EvictionPodReference), Optional),
]);

pub(crate) static Requester: Message = message("k8s.io.api.lifecycle.v1alpha1.Requester", &[
    one(1, "name", String, Required),
    one(2, "intent", String, Required),
]);

pub(crate) static ResponderStatus: Message = message("k8s.io.api.lifecycle.v1alpha1.ResponderStatus", &[
    one(1, "name", String, Required),
    one(2, "startTime", Msg(&meta_v1::Time), Optional),
    one(3, "heartbeatTime", Msg(&meta_v1::Time), Optional),
    one(4, "expectedCompletionTime", Msg(&meta_v1::Time), Optional),
    one(5, "completionTime", Msg(&meta_v1::Time), Optional),
    one(6, "message", String, Optional),
]);

pub(crate) static TargetResponder: Message = message("k8s.io.api.lifecycle.v1alpha1.TargetResponder", &[
    one(1, "name", String, Required),
    one(2, "priority", Int32, Nullable),
    one(3, "state", String, Required),
]);
