//! The messages of `k8s.io.api.apidiscovery.v2beta1`.

use super::*;

pub(crate) static APIGroupDiscovery: Message = object("k8s.io.api.apidiscovery.v2beta1.APIGroupDiscovery", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    many(2, "versions", Msg(&apidiscovery_v2beta1::APIVersionDiscovery), OmitEmpty),
]);

pub(crate) static APIGroupDiscoveryList: Message = object("k8s.io.api.apidiscovery.v2beta1.APIGroupDiscoveryList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&apidiscovery_v2beta1::APIGroupDiscovery), Items),
]);

pub(crate) static APIResourceDiscovery: Message = message("k8s.io.api.apidiscovery.v2beta1.APIResourceDiscovery", &[
    one(1, "resource", String, Required),
    one(2, "responseKind", Msg(&meta_v1::GroupVersionKind), Optional),
    one(3, "scope", String, Required),
    one(4, "singularResource", String, Required),
    many(5, "verbs", String, Required),
    many(6, "shortNames", String, OmitEmpty),
    many(7, "categories", String, OmitEmpty),
    many(8, "subresources", Msg(&apidiscovery_v2beta1::APISubresourceDiscovery), OmitEmpty),
]);

pub(crate) static APISubresourceDiscovery: Message = message("k8s.io.api.apidiscovery.v2beta1.APISubresourceDiscovery", &[
    one(1, "subresource", String, Required),
    one(2, "responseKind", Msg(&meta_v1::GroupVersionKind), Optional),
    many(3, "acceptedTypes", Msg(&meta_v1::GroupVersionKind), OmitEmpty),
    many(4, "verbs", String, Required),
]);

pub(crate) static APIVersionDiscovery: Message = message("k8s.io.api.apidiscovery.v2beta1.APIVersionDiscovery", &[
    one(1, "version", String, Required),
    many(2, "resources", Msg(&apidiscovery_v2beta1::APIResourceDiscovery), OmitEmpty),
    one(3, "freshness", String, OmitEmpty),
]);
