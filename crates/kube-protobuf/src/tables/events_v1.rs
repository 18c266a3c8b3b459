//! The messages of `k8s.io.api.events.v1`.

use super::*;

pub(crate) static Event: Message = object("k8s.io.api.events.v1.Event", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), Required),
    one(2, "eventTime", Msg(&meta_v1::MicroTime), Required),
    one(3, "series", Msg(&events_v1::EventSeries), Optional),
    one(4, "reportingController", String, OmitEmpty),
    one(5, "reportingInstance", String, OmitEmpty),
    one(6, "action", String, OmitEmpty),
    one(7, "reason", String, OmitEmpty),
    one(8, "regarding", Msg(&core_v1::ObjectReference), OmitEmpty),
    one(9, "related", Msg(&core_v1::ObjectReference), Optional),
    one(10, "note", String, OmitEmpty),
    one(11, "type", String, OmitEmpty),
    one(12, "deprecatedSource", Msg(&core_v1::EventSource), OmitEmpty),
    one(13, "deprecatedFirstTimestamp", Msg(&meta_v1::Time), OmitEmpty),
    one(14, "deprecatedLastTimestamp", Msg(&meta_v1::Time), OmitEmpty),
    one(15, "deprecatedCount", Int32, OmitEmpty),
]);

pub(crate) static EventList: Message = object("k8s.io.api.events.v1.EventList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&events_v1::Event), Items),
]);

pub(crate) static EventSeries: Message = message("k8s.io.api.events.v1.EventSeries", &[
    one(1, "count", Int32, Required),
    one(2, "lastObservedTime", Msg(&meta_v1::MicroTime), Required),
]);
