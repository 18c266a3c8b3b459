//! The structs of `kube_aggregator::pkg::apis::apiregistration::v1`.

use super::*;
use k8s_openapi::kube_aggregator::pkg::apis::apiregistration::v1 as k8s;

impl Message for k8s::APIService {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[])), (3, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => message(self.spec.get_or_insert_default(), input),
            3 => message(self.status.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::APIServiceCondition {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.type_, input),
            2 => set(&mut self.status, input),
            3 => some_time(&mut self.last_transition_time, input),
            4 => some_unless_empty(&mut self.reason, input),
            5 => some_unless_empty(&mut self.message, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::APIServiceSpec {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(self.service.get_or_insert_default(), input),
            2 => some_unless_empty(&mut self.group, input),
            3 => some_unless_empty(&mut self.version, input),
            4 => some_unless_empty(&mut self.insecure_skip_tls_verify, input),
            5 => some_unless_empty(&mut self.ca_bundle, input),
            7 => set(&mut self.group_priority_minimum, input),
            8 => set(&mut self.version_priority, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::APIServiceStatus {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push_message(room(&mut self.conditions, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ServiceReference {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.namespace, input),
            2 => some_unless_empty(&mut self.name, input),
            3 => some(&mut self.port, input),
            _ => Some(()),
        }
    }
}
