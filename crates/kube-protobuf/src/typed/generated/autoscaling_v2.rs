//! The structs of `api::autoscaling::v2`.

use super::*;
use k8s_openapi::api::autoscaling::v2 as k8s;

impl Message for k8s::ContainerResourceMetricSource {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(2, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.name, input),
            2 => message(&mut self.target, input),
            3 => set(&mut self.container, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ContainerResourceMetricStatus {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(2, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.name, input),
            2 => message(&mut self.current, input),
            3 => set(&mut self.container, input),
            _ => Some(()),
        }
    }
}

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

impl Message for k8s::ExternalMetricSource {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metric, input),
            2 => message(&mut self.target, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ExternalMetricStatus {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metric, input),
            2 => message(&mut self.current, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::HPAScalingPolicy {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.type_, input),
            2 => set(&mut self.value, input),
            3 => set(&mut self.period_seconds, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::HPAScalingRules {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some(&mut self.select_policy, input),
            2 => push_message(room(&mut self.policies, &input), input),
            3 => some(&mut self.stabilization_window_seconds, input),
            4 => some_once(&mut self.tolerance, input),
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

impl Message for k8s::HorizontalPodAutoscalerBehavior {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(self.scale_up.get_or_insert_default(), input),
            2 => message(self.scale_down.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::HorizontalPodAutoscalerCondition {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.type_, input),
            2 => set(&mut self.status, input),
            3 => some_time(&mut self.last_transition_time, input),
            4 => some_unless_empty(&mut self.reason, input),
            5 => some_unless_empty(&mut self.message, input),
            6 => { k8s_openapi::k8s_if_le_1_36! { return set(&mut i64::default(), input); } k8s_openapi::k8s_if_ge_1_37! { return some(&mut self.observed_generation, input); } Some(()) }
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
            4 => push_message(room(&mut self.metrics, &input), input),
            5 => message(self.behavior.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::HorizontalPodAutoscalerStatus {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some(&mut self.observed_generation, input),
            2 => some_time(&mut self.last_scale_time, input),
            3 => some_unless_empty(&mut self.current_replicas, input),
            4 => set(&mut self.desired_replicas, input),
            5 => push_message(room(&mut self.current_metrics, &input), input),
            6 => push_message(room(&mut self.conditions, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::MetricIdentifier {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.name, input),
            2 => message(self.selector.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::MetricSpec {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.type_, input),
            2 => message(self.object.get_or_insert_default(), input),
            3 => message(self.pods.get_or_insert_default(), input),
            4 => message(self.resource.get_or_insert_default(), input),
            5 => message(self.external.get_or_insert_default(), input),
            7 => message(self.container_resource.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::MetricStatus {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.type_, input),
            2 => message(self.object.get_or_insert_default(), input),
            3 => message(self.pods.get_or_insert_default(), input),
            4 => message(self.resource.get_or_insert_default(), input),
            5 => message(self.external.get_or_insert_default(), input),
            7 => message(self.container_resource.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::MetricTarget {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.type_, input),
            2 => some_once(&mut self.value, input),
            3 => some_once(&mut self.average_value, input),
            4 => some(&mut self.average_utilization, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::MetricValueStatus {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_once(&mut self.value, input),
            2 => some_once(&mut self.average_value, input),
            3 => some(&mut self.average_utilization, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ObjectMetricSource {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[])), (3, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.described_object, input),
            2 => message(&mut self.target, input),
            3 => message(&mut self.metric, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ObjectMetricStatus {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[])), (3, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metric, input),
            2 => message(&mut self.current, input),
            3 => message(&mut self.described_object, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::PodsMetricSource {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metric, input),
            2 => message(&mut self.target, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::PodsMetricStatus {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metric, input),
            2 => message(&mut self.current, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ResourceMetricSource {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(2, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.name, input),
            2 => message(&mut self.target, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ResourceMetricStatus {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(2, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.name, input),
            2 => message(&mut self.current, input),
            _ => Some(()),
        }
    }
}
