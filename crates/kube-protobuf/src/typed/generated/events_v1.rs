//! The structs of `api::events::v1`.

use super::*;
use k8s_openapi::api::events::v1 as k8s;

impl Message for k8s::Event {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (8, Wire::Bytes(&[])), (12, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => some_micro_time(&mut self.event_time, input),
            3 => some_by_serde(&mut self.series, &tables::events_v1::EventSeries, input),
            4 => some_unless_empty(&mut self.reporting_controller, input),
            5 => some_unless_empty(&mut self.reporting_instance, input),
            6 => some_unless_empty(&mut self.action, input),
            7 => some_unless_empty(&mut self.reason, input),
            8 => message(self.regarding.get_or_insert_default(), input),
            9 => message(self.related.get_or_insert_default(), input),
            10 => some_unless_empty(&mut self.note, input),
            11 => some_unless_empty(&mut self.type_, input),
            12 => message(self.deprecated_source.get_or_insert_default(), input),
            13 => some_time(&mut self.deprecated_first_timestamp, input),
            14 => some_time(&mut self.deprecated_last_timestamp, input),
            15 => some_unless_empty(&mut self.deprecated_count, input),
            _ => Some(()),
        }
    }
}
