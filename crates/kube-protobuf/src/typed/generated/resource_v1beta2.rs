//! The structs of `api::resource::v1beta2`.

use super::*;
use k8s_openapi::api::resource::v1beta2 as k8s;

impl Message for k8s::AllocatedDeviceStatus {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.driver, input),
            2 => set(&mut self.pool, input),
            3 => set(&mut self.device, input),
            4 => push_by_serde(room(&mut self.conditions, &input), &tables::meta_v1::Condition, input),
            5 => some_by_serde(&mut self.data, &tables::runtime::RawExtension, input),
            6 => message(self.network_data.get_or_insert_default(), input),
            7 => { k8s_openapi::k8s_if_le_1_33! { return set(&mut String::default(), input); } k8s_openapi::k8s_if_ge_1_34! { return some(&mut self.share_id, input); } Some(()) }
            _ => Some(()),
        }
    }
}

impl Message for k8s::AllocationResult {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(self.devices.get_or_insert_default(), input),
            3 => message(self.node_selector.get_or_insert_default(), input),
            5 => { k8s_openapi::k8s_if_le_1_33! { return some_by_serde(&mut None::<serde::de::IgnoredAny>, &tables::meta_v1::Time, input); } k8s_openapi::k8s_if_ge_1_34! { return some_time(&mut self.allocation_timestamp, input); } Some(()) }
            _ => Some(()),
        }
    }
}

impl Message for k8s::CELDeviceSelector {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.expression, input),
            _ => Some(()),
        }
    }
}

k8s_openapi::k8s_if_ge_1_34! { impl Message for k8s::CapacityRequestPolicy {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_once(&mut self.default, input),
            3 => push(room(&mut self.valid_values, &input), input),
            4 => message(self.valid_range.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
} }

k8s_openapi::k8s_if_ge_1_34! { impl Message for k8s::CapacityRequestPolicyRange {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set_once(&mut self.min, input),
            2 => some_once(&mut self.max, input),
            3 => some_once(&mut self.step, input),
            _ => Some(()),
        }
    }
} }

k8s_openapi::k8s_if_ge_1_34! { impl Message for k8s::CapacityRequirements {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => entry(self.requests.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
} }

impl Message for k8s::Counter {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set_once(&mut self.value, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::CounterSet {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.name, input),
            2 => entry(&mut self.counters, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::Device {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.name, input),
            2 => entry(self.attributes.get_or_insert_default(), input),
            3 => entry(self.capacity.get_or_insert_default(), input),
            4 => push_message(room(&mut self.consumes_counters, &input), input),
            5 => some(&mut self.node_name, input),
            6 => message(self.node_selector.get_or_insert_default(), input),
            7 => some(&mut self.all_nodes, input),
            8 => push_message(room(&mut self.taints, &input), input),
            9 => { k8s_openapi::k8s_if_le_1_33! { return set(&mut bool::default(), input); } k8s_openapi::k8s_if_ge_1_34! { return some(&mut self.binds_to_node, input); } Some(()) }
            10 => { k8s_openapi::k8s_if_ge_1_34! { return push(room(&mut self.binding_conditions, &input), input); } Some(()) }
            11 => { k8s_openapi::k8s_if_ge_1_34! { return push(room(&mut self.binding_failure_conditions, &input), input); } Some(()) }
            12 => { k8s_openapi::k8s_if_le_1_33! { return set(&mut bool::default(), input); } k8s_openapi::k8s_if_ge_1_34! { return some(&mut self.allow_multiple_allocations, input); } Some(()) }
            14 => { k8s_openapi::k8s_if_ge_1_37! { return entry(self.node_allocatable_resources.get_or_insert_default(), input); } Some(()) }
            _ => Some(()),
        }
    }
}

impl Message for k8s::DeviceAllocationConfiguration {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(3, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.source, input),
            2 => push(room(&mut self.requests, &input), input),
            3 => inline(&mut DeviceAllocationConfiguration3(self), input),
            _ => Some(()),
        }
    }
}

struct DeviceAllocationConfiguration3<'a>(&'a mut k8s::DeviceAllocationConfiguration);

impl Message for DeviceAllocationConfiguration3<'_> {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(self.0.opaque.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::DeviceAllocationResult {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push_message(room(&mut self.results, &input), input),
            2 => push_message(room(&mut self.config, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::DeviceAttribute {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            2 => some(&mut self.int, input),
            3 => some(&mut self.bool, input),
            4 => some(&mut self.string, input),
            5 => some(&mut self.version, input),
            6 => { k8s_openapi::k8s_if_ge_1_36! { return push(room(&mut self.ints, &input), input); } Some(()) }
            7 => { k8s_openapi::k8s_if_ge_1_36! { return push(room(&mut self.bools, &input), input); } Some(()) }
            8 => { k8s_openapi::k8s_if_ge_1_36! { return push(room(&mut self.strings, &input), input); } Some(()) }
            9 => { k8s_openapi::k8s_if_ge_1_36! { return push(room(&mut self.versions, &input), input); } Some(()) }
            _ => Some(()),
        }
    }
}

impl Message for k8s::DeviceCapacity {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set_once(&mut self.value, input),
            2 => { k8s_openapi::k8s_if_ge_1_34! { return message(self.request_policy.get_or_insert_default(), input); } k8s_openapi::k8s_if_le_1_33! { return some_by_serde(&mut None::<serde::de::IgnoredAny>, &tables::resource_v1beta2::CapacityRequestPolicy, input); } Some(()) }
            _ => Some(()),
        }
    }
}

impl Message for k8s::DeviceClaim {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push_message(room(&mut self.requests, &input), input),
            2 => push_message(room(&mut self.constraints, &input), input),
            3 => push_message(room(&mut self.config, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::DeviceClaimConfiguration {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(2, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push(room(&mut self.requests, &input), input),
            2 => inline(&mut DeviceClaimConfiguration2(self), input),
            _ => Some(()),
        }
    }
}

struct DeviceClaimConfiguration2<'a>(&'a mut k8s::DeviceClaimConfiguration);

impl Message for DeviceClaimConfiguration2<'_> {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(self.0.opaque.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::DeviceClass {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => { k8s_openapi::k8s_if_le_1_36! { return message(&mut self.spec, input); } k8s_openapi::k8s_if_ge_1_37! { return message(self.spec.get_or_insert_default(), input); } Some(()) }
            _ => Some(()),
        }
    }
}

impl Message for k8s::DeviceClassConfiguration {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => inline(&mut DeviceClassConfiguration1(self), input),
            _ => Some(()),
        }
    }
}

struct DeviceClassConfiguration1<'a>(&'a mut k8s::DeviceClassConfiguration);

impl Message for DeviceClassConfiguration1<'_> {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(self.0.opaque.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::DeviceClassSpec {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push_message(room(&mut self.selectors, &input), input),
            2 => push_message(room(&mut self.config, &input), input),
            4 => { k8s_openapi::k8s_if_le_1_33! { return set(&mut String::default(), input); } k8s_openapi::k8s_if_ge_1_34! { return some(&mut self.extended_resource_name, input); } Some(()) }
            _ => Some(()),
        }
    }
}

impl Message for k8s::DeviceConstraint {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push(room(&mut self.requests, &input), input),
            2 => some(&mut self.match_attribute, input),
            3 => { k8s_openapi::k8s_if_le_1_33! { return set(&mut String::default(), input); } k8s_openapi::k8s_if_ge_1_34! { return some(&mut self.distinct_attribute, input); } Some(()) }
            _ => Some(()),
        }
    }
}

impl Message for k8s::DeviceCounterConsumption {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.counter_set, input),
            2 => entry(&mut self.counters, input),
            3 => { k8s_openapi::k8s_if_ge_1_37! { return push(room(&mut self.compatibility_groups, &input), input); } Some(()) }
            _ => Some(()),
        }
    }
}

k8s_openapi::k8s_if_ge_1_37! { impl Message for k8s::DeviceDerivedAttribute {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.name, input),
            2 => set(&mut self.expression, input),
            _ => Some(()),
        }
    }
} }

impl Message for k8s::DeviceRequest {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.name, input),
            2 => message(self.exactly.get_or_insert_default(), input),
            3 => push_message(room(&mut self.first_available, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::DeviceRequestAllocationResult {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.request, input),
            2 => set(&mut self.driver, input),
            3 => set(&mut self.pool, input),
            4 => set(&mut self.device, input),
            5 => some(&mut self.admin_access, input),
            6 => push_message(room(&mut self.tolerations, &input), input),
            7 => { k8s_openapi::k8s_if_ge_1_34! { return push(room(&mut self.binding_conditions, &input), input); } Some(()) }
            8 => { k8s_openapi::k8s_if_ge_1_34! { return push(room(&mut self.binding_failure_conditions, &input), input); } Some(()) }
            9 => { k8s_openapi::k8s_if_le_1_33! { return set(&mut String::default(), input); } k8s_openapi::k8s_if_ge_1_34! { return some(&mut self.share_id, input); } Some(()) }
            10 => { k8s_openapi::k8s_if_ge_1_34! { return entry(self.consumed_capacity.get_or_insert_default(), input); } Some(()) }
            11 => { k8s_openapi::k8s_if_ge_1_37! { return push(room(&mut self.skip_node_operations, &input), input); } Some(()) }
            _ => Some(()),
        }
    }
}

impl Message for k8s::DeviceSelector {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(self.cel.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::DeviceSubRequest {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.name, input),
            2 => set(&mut self.device_class_name, input),
            3 => push_message(room(&mut self.selectors, &input), input),
            4 => some_unless_empty(&mut self.allocation_mode, input),
            5 => some_unless_empty(&mut self.count, input),
            6 => push_message(room(&mut self.tolerations, &input), input),
            7 => { k8s_openapi::k8s_if_ge_1_34! { return message(self.capacity.get_or_insert_default(), input); } k8s_openapi::k8s_if_le_1_33! { return some_by_serde(&mut None::<serde::de::IgnoredAny>, &tables::resource_v1beta2::CapacityRequirements, input); } Some(()) }
            8 => { k8s_openapi::k8s_if_ge_1_37! { return push_message(room(&mut self.derived_attributes, &input), input); } Some(()) }
            _ => Some(()),
        }
    }
}

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

k8s_openapi::k8s_if_ge_1_36! { impl Message for k8s::DeviceTaintRule {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[])), (3, Wire::Bytes(&[]))]
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

k8s_openapi::k8s_if_ge_1_36! { impl Message for k8s::DeviceTaintRuleSpec {
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
} }

k8s_openapi::k8s_if_ge_1_36! { impl Message for k8s::DeviceTaintRuleStatus {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => push_by_serde(room(&mut self.conditions, &input), &tables::meta_v1::Condition, input),
            _ => Some(()),
        }
    }
} }

k8s_openapi::k8s_if_ge_1_36! { impl Message for k8s::DeviceTaintSelector {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            2 => some(&mut self.driver, input),
            3 => some(&mut self.pool, input),
            4 => some(&mut self.device, input),
            _ => Some(()),
        }
    }
} }

impl Message for k8s::DeviceToleration {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.key, input),
            2 => some_unless_empty(&mut self.operator, input),
            3 => some_unless_empty(&mut self.value, input),
            4 => some_unless_empty(&mut self.effect, input),
            5 => some(&mut self.toleration_seconds, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ExactDeviceRequest {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.device_class_name, input),
            2 => push_message(room(&mut self.selectors, &input), input),
            3 => some_unless_empty(&mut self.allocation_mode, input),
            4 => some_unless_empty(&mut self.count, input),
            5 => some(&mut self.admin_access, input),
            6 => push_message(room(&mut self.tolerations, &input), input),
            7 => { k8s_openapi::k8s_if_ge_1_34! { return message(self.capacity.get_or_insert_default(), input); } k8s_openapi::k8s_if_le_1_33! { return some_by_serde(&mut None::<serde::de::IgnoredAny>, &tables::resource_v1beta2::CapacityRequirements, input); } Some(()) }
            8 => { k8s_openapi::k8s_if_ge_1_37! { return push_message(room(&mut self.derived_attributes, &input), input); } Some(()) }
            _ => Some(()),
        }
    }
}

impl Message for k8s::NetworkDeviceData {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.interface_name, input),
            2 => push(room(&mut self.ips, &input), input),
            3 => some_unless_empty(&mut self.hardware_address, input),
            _ => Some(()),
        }
    }
}

k8s_openapi::k8s_if_ge_1_37! { impl Message for k8s::NodeAllocatableMapping {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some(&mut self.capacity_key, input),
            2 => some_once(&mut self.capacity_multiplier, input),
            3 => some_once(&mut self.device_multiplier, input),
            _ => Some(()),
        }
    }
} }

k8s_openapi::k8s_if_ge_1_37! { impl Message for k8s::NodeAllocatableOverhead {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_once(&mut self.per_pod, input),
            2 => some_once(&mut self.per_container, input),
            _ => Some(()),
        }
    }
} }

k8s_openapi::k8s_if_ge_1_37! { impl Message for k8s::NodeAllocatableResource {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            3 => message(self.mapping.get_or_insert_default(), input),
            4 => message(self.overhead.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
} }

impl Message for k8s::OpaqueDeviceConfiguration {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(2, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.driver, input),
            2 => set_by_serde(&mut self.parameters, &tables::runtime::RawExtension, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ResourceClaim {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[])), (3, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => { k8s_openapi::k8s_if_le_1_36! { return message(&mut self.spec, input); } k8s_openapi::k8s_if_ge_1_37! { return message(self.spec.get_or_insert_default(), input); } Some(()) }
            3 => message(self.status.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ResourceClaimConsumerReference {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => some_unless_empty(&mut self.api_group, input),
            3 => set(&mut self.resource, input),
            4 => set(&mut self.name, input),
            5 => set(&mut self.uid, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ResourceClaimSpec {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(self.devices.get_or_insert_default(), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ResourceClaimStatus {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(self.allocation.get_or_insert_default(), input),
            2 => push_message(room(&mut self.reserved_for, &input), input),
            4 => push_message(room(&mut self.devices, &input), input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ResourceClaimTemplate {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => { k8s_openapi::k8s_if_le_1_36! { return message(&mut self.spec, input); } k8s_openapi::k8s_if_ge_1_37! { return message(self.spec.get_or_insert_default(), input); } Some(()) }
            _ => Some(()),
        }
    }
}

impl Message for k8s::ResourceClaimTemplateSpec {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(self.metadata.get_or_insert_default(), input),
            2 => { k8s_openapi::k8s_if_le_1_36! { return message(&mut self.spec, input); } k8s_openapi::k8s_if_ge_1_37! { return message(self.spec.get_or_insert_default(), input); } Some(()) }
            _ => Some(()),
        }
    }
}

impl Message for k8s::ResourcePool {
    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.name, input),
            2 => set(&mut self.generation, input),
            3 => set(&mut self.resource_slice_count, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ResourceSlice {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(1, Wire::Bytes(&[])), (2, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => message(&mut self.metadata, input),
            2 => message(&mut self.spec, input),
            _ => Some(()),
        }
    }
}

impl Message for k8s::ResourceSliceSpec {
    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {
        &[(2, Wire::Bytes(&[]))]
    }

    fn field(&mut self, input: Input<'_>) -> Option<()> {
        match input.number {
            1 => set(&mut self.driver, input),
            2 => message(&mut self.pool, input),
            3 => some(&mut self.node_name, input),
            4 => message(self.node_selector.get_or_insert_default(), input),
            5 => some(&mut self.all_nodes, input),
            6 => push_message(room(&mut self.devices, &input), input),
            7 => some(&mut self.per_device_node_selection, input),
            8 => push_message(room(&mut self.shared_counters, &input), input),
            9 => { k8s_openapi::k8s_if_le_1_36! { return set(&mut String::default(), input); } k8s_openapi::k8s_if_ge_1_37! { return some(&mut self.partition_type_attribute, input); } Some(()) }
            10 => { k8s_openapi::k8s_if_ge_1_37! { return push(room(&mut self.skip_node_operations, &input), input); } Some(()) }
            _ => Some(()),
        }
    }
}
