//! The messages of `k8s.io.api.discovery.v1`.

use super::*;

pub(crate) static Endpoint: Message = message("k8s.io.api.discovery.v1.Endpoint", &[
    many(1, "addresses", String, Required),
    one(2, "conditions", Msg(&discovery_v1::EndpointConditions), OmitEmpty),
    one(3, "hostname", String, Optional),
    one(4, "targetRef", Msg(&core_v1::ObjectReference), Optional),
    map(5, "deprecatedTopology", String, OmitEmpty),
    one(6, "nodeName", String, Optional),
    one(7, "zone", String, Optional),
    one(8, "hints", Msg(&discovery_v1::EndpointHints), Optional),
]);

pub(crate) static EndpointConditions: Message = message("k8s.io.api.discovery.v1.EndpointConditions", &[
    one(1, "ready", Bool, Optional),
    one(2, "serving", Bool, Optional),
    one(3, "terminating", Bool, Optional),
]);

pub(crate) static EndpointHints: Message = message("k8s.io.api.discovery.v1.EndpointHints", &[
    many(1, "forZones", Msg(&discovery_v1::ForZone), OmitEmpty),
    many(2, "forNodes", Msg(&discovery_v1::ForNode), OmitEmpty),
]);

pub(crate) static EndpointPort: Message = message("k8s.io.api.discovery.v1.EndpointPort", &[
    one(1, "name", String, Optional),
    one(2, "protocol", String, Optional),
    one(3, "port", Int32, Optional),
    one(4, "appProtocol", String, Optional),
]);

pub(crate) static EndpointSlice: Message = object("k8s.io.api.discovery.v1.EndpointSlice", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    many(2, "endpoints", Msg(&discovery_v1::Endpoint), Required),
    many(3, "ports", Msg(&discovery_v1::EndpointPort), Required),
    one(4, "addressType", String, Required),
]);

pub(crate) static EndpointSliceList: Message = object("k8s.io.api.discovery.v1.EndpointSliceList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&discovery_v1::EndpointSlice), Items),
]);

pub(crate) static ForNode: Message = message("k8s.io.api.discovery.v1.ForNode", &[
    one(1, "name", String, Required),
]);

pub(crate) static ForZone: Message = message("k8s.io.api.discovery.v1.ForZone", &[
    one(1, "name", String, Required),
]);
