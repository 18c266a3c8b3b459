//! The structs of `api::autoscaling::v1`.

use super::*;
use k8s_openapi::api::autoscaling::v1 as k8s;

impl Message for k8s::CrossVersionObjectReference {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.kind, input),
            2 => set(&mut self.name, input),
            3 => some_unless_empty(&mut self.api_version, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::HorizontalPodAutoscaler {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[])), (3, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => { k8s_openapi::k8s_if_ge_1_36! { return message(&mut self.spec, input); } k8s_openapi::k8s_if_le_1_35! { return message(self.spec.get_or_insert_default(), input); } Some(()) }
            3 => message(self.status.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::HorizontalPodAutoscalerSpec {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.scale_target_ref, input),
            2 => some(&mut self.min_replicas, input),
            3 => set(&mut self.max_replicas, input),
            4 => some(&mut self.target_cpu_utilization_percentage, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::HorizontalPodAutoscalerStatus {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some(&mut self.observed_generation, input),
            2 => some_time(&mut self.last_scale_time, input),
            3 => set(&mut self.current_replicas, input),
            4 => set(&mut self.desired_replicas, input),
            5 => some(&mut self.current_cpu_utilization_percentage, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::Scale {
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

impl Message for k8s::ScaleSpec {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.replicas, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ScaleStatus {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.replicas, input),
            2 => some_unless_empty(&mut self.selector, input),
            _ => Some(()),
        }
    }
}
