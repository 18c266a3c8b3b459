//! The structs of `api::resource::v1alpha3`.

use super::*;
use k8s_openapi::api::resource::v1alpha3 as k8s;

k8s_openapi::k8s_if_le_1_34! { impl Message for k8s::CELDeviceSelector {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.expression, input),
            _ => Some(()),
        }
    }
} }

k8s_openapi::k8s_if_le_1_34! { impl Message for k8s::DeviceSelector {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(self.cel.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
} }

impl Message for k8s::DeviceTaint {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.key, input),
            2 => some_unless_empty(&mut self.value, input),
            3 => set(&mut self.effect, input),
            4 => some_time(&mut self.time_added, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::DeviceTaintRule {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[])), (3, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => message(&mut self.spec, input),
            3 => { k8s_openapi::k8s_if_ge_1_35! { return message(self.status.get_or_insert_default(), input); } k8s_openapi::k8s_if_le_1_34! { return some_by_serde(&mut None::<serde::de::IgnoredAny>, &tables::resource_v1alpha3::DeviceTaintRuleStatus, input); } Some(()) }
            _ => Some(()),
        }
    }
}

impl Message for k8s::DeviceTaintRuleSpec {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(2, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(self.device_selector.get_or_insert_default(), input),
            2 => message(&mut self.taint, input),
            _ => Some(()),
        }
    }
}

k8s_openapi::k8s_if_ge_1_35! { impl Message for k8s::DeviceTaintRuleStatus {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push_by_serde(room(&mut self.conditions, &input), &tables::meta_v1::Condition, input),
            _ => Some(()),
        }
    }
} }

impl Message for k8s::DeviceTaintSelector {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            2 => some(&mut self.driver, input),
            3 => some(&mut self.pool, input),
            4 => some(&mut self.device, input),
            _ => Some(()),
        }
    }
}

k8s_openapi::k8s_if_ge_1_37! { impl Message for k8s::PartitionTypeStatus {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.type_, input),
            2 => set(&mut self.total, input),
            3 => set(&mut self.allocatable, input),
            4 => set(&mut self.attribute, input),
            _ => Some(()),
        }
    }
} }

k8s_openapi::k8s_if_ge_1_36! { impl Message for k8s::PoolStatus {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.driver, input),
            2 => set(&mut self.pool_name, input),
            3 => some(&mut self.node_name, input),
            4 => some(&mut self.total_devices, input),
            5 => some(&mut self.allocated_devices, input),
            6 => some(&mut self.available_devices, input),
            7 => some(&mut self.unavailable_devices, input),
            8 => some(&mut self.resource_slice_count, input),
            9 => set(&mut self.generation, input),
            10 => some(&mut self.validation_error, input),
            11 => { k8s_openapi::k8s_if_ge_1_37! { return push_message(room(&mut self.partition_summary, &input), input); } Some(()) }
            13 => { k8s_openapi::k8s_if_ge_1_37! { return message(self.shareable_summary.get_or_insert_default(), input); } k8s_openapi::k8s_if_ge_1_36! { k8s_openapi::k8s_if_le_1_36! { return some_by_serde(&mut None::<serde::de::IgnoredAny>, &tables::resource_v1alpha3::ShareableSummaryStatus, input); } } Some(()) }
            _ => Some(()),
        }
    }
} }

k8s_openapi::k8s_if_ge_1_36! { impl Message for k8s::ResourcePoolStatusRequest {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => message(&mut self.spec, input),
            3 => message(self.status.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
} }

k8s_openapi::k8s_if_ge_1_36! { impl Message for k8s::ResourcePoolStatusRequestSpec {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.driver, input),
            2 => some(&mut self.pool_name, input),
            3 => some(&mut self.limit, input),
            4 => { k8s_openapi::k8s_if_ge_1_36! { k8s_openapi::k8s_if_le_1_36! { return set(&mut String::default(), input); } } k8s_openapi::k8s_if_ge_1_37! { return some(&mut self.default_partition_type_attribute, input); } Some(()) }
            _ => Some(()),
        }
    }
} }

k8s_openapi::k8s_if_ge_1_36! { impl Message for k8s::ResourcePoolStatusRequestStatus {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            2 => push_message(room(&mut self.pools, &input), input),
            3 => push_by_serde(room(&mut self.conditions, &input), &tables::meta_v1::Condition, input),
            6 => set(&mut self.pool_count, input),
            _ => Some(()),
        }
    }
} }

k8s_openapi::k8s_if_ge_1_37! { impl Message for k8s::ShareableCapacityStatus {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.name, input),
            2 => set_once(&mut self.total, input),
            3 => set_once(&mut self.consumed, input),
            4 => set_once(&mut self.available, input),
            _ => Some(()),
        }
    }
} }

k8s_openapi::k8s_if_ge_1_37! { impl Message for k8s::ShareableSummaryStatus {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.fully_available_devices, input),
            2 => set(&mut self.partially_available_devices, input),
            3 => push_message(room(&mut self.capacity, &input), input),
            _ => Some(()),
        }
    }
} }
