//! The messages of `k8s.io.api.resource.v1beta1`.

use super::*;

pub(crate) static AllocatedDeviceStatus: Message = message("k8s.io.api.resource.v1beta1.AllocatedDeviceStatus", &[
    one(1, "driver", String, Required),
    one(2, "pool", String, Required),
    one(3, "device", String, Required),
    many(4, "conditions", Msg(&meta_v1::Condition), Required),
    one(5, "data", Msg(&runtime::RawExtension), Optional),
    one(6, "networkData", Msg(&resource_v1beta1::NetworkDeviceData), Optional),
    one(7, "shareID", String, Optional),
]);

pub(crate) static AllocationResult: Message = message("k8s.io.api.resource.v1beta1.AllocationResult", &[
    one(1, "devices", Msg(&resource_v1beta1::DeviceAllocationResult), OmitEmpty),
    one(3, "nodeSelector", Msg(&core_v1::NodeSelector), Optional),
    one(5, "allocationTimestamp", Msg(&meta_v1::Time), Optional),
]);

pub(crate) static BasicDevice: Message = message("k8s.io.api.resource.v1beta1.BasicDevice", &[
    map(1, "attributes", Msg(&resource_v1beta1::DeviceAttribute), OmitEmpty),
    map(2, "capacity", Msg(&resource_v1beta1::DeviceCapacity), OmitEmpty),
    many(3, "consumesCounters", Msg(&resource_v1beta1::DeviceCounterConsumption), OmitEmpty),
    one(4, "nodeName", String, Optional),
    one(5, "nodeSelector", Msg(&core_v1::NodeSelector), Optional),
    one(6, "allNodes", Bool, Optional),
    many(7, "taints", Msg(&resource_v1beta1::DeviceTaint), OmitEmpty),
    one(8, "bindsToNode", Bool, Optional),
    many(9, "bindingConditions", String, OmitEmpty),
    many(10, "bindingFailureConditions", String, OmitEmpty),
    one(11, "allowMultipleAllocations", Bool, Optional),
    map(14, "nodeAllocatableResources", Msg(&resource_v1beta1::NodeAllocatableResource), OmitEmpty),
]);

pub(crate) static CELDeviceSelector: Message = message("k8s.io.api.resource.v1beta1.CELDeviceSelector", &[
    one(1, "expression", String, Required),
]);

pub(crate) static CapacityRequestPolicy: Message = message("k8s.io.api.resource.v1beta1.CapacityRequestPolicy", &[
    one(1, "default", Msg(&api_resource::Quantity), Nullable),
    many(3, "validValues", Msg(&api_resource::Quantity), OmitEmpty),
    one(4, "validRange", Msg(&resource_v1beta1::CapacityRequestPolicyRange), Optional),
]);

pub(crate) static CapacityRequestPolicyRange: Message = message("k8s.io.api.resource.v1beta1.CapacityRequestPolicyRange", &[
    one(1, "min", Msg(&api_resource::Quantity), Optional),
    one(2, "max", Msg(&api_resource::Quantity), Optional),
    one(3, "step", Msg(&api_resource::Quantity), Optional),
]);

pub(crate) static CapacityRequirements: Message = message("k8s.io.api.resource.v1beta1.CapacityRequirements", &[
    map(1, "requests", Msg(&api_resource::Quantity), OmitEmpty),
]);

pub(crate) static Counter: Message = message("k8s.io.api.resource.v1beta1.Counter", &[
    one(1, "value", Msg(&api_resource::Quantity), Required),
]);

pub(crate) static CounterSet: Message = message("k8s.io.api.resource.v1beta1.CounterSet", &[
    one(1, "name", String, Required),
    map(2, "counters", Msg(&resource_v1beta1::Counter), OmitEmpty),
]);

pub(crate) static Device: Message = message("k8s.io.api.resource.v1beta1.Device", &[
    one(1, "name", String, Required),
    one(2, "basic", Msg(&resource_v1beta1::BasicDevice), Optional),
]);

pub(crate) static DeviceAllocationConfiguration: Message = message("k8s.io.api.resource.v1beta1.DeviceAllocationConfiguration", &[
    one(1, "source", String, Required),
    many(2, "requests", String, OmitEmpty),
    one(3, "", Msg(&resource_v1beta1::DeviceConfiguration), Inline),
]);

pub(crate) static DeviceAllocationResult: Message = message("k8s.io.api.resource.v1beta1.DeviceAllocationResult", &[
    many(1, "results", Msg(&resource_v1beta1::DeviceRequestAllocationResult), OmitEmpty),
    many(2, "config", Msg(&resource_v1beta1::DeviceAllocationConfiguration), OmitEmpty),
]);

pub(crate) static DeviceAttribute: Message = message("k8s.io.api.resource.v1beta1.DeviceAttribute", &[
    one(2, "int", Int64, Optional),
    one(3, "bool", Bool, Optional),
    one(4, "string", String, Optional),
    one(5, "version", String, Optional),
    many(6, "ints", Int64, OmitEmpty),
    many(7, "bools", Bool, OmitEmpty),
    many(8, "strings", String, OmitEmpty),
    many(9, "versions", String, OmitEmpty),
]);

pub(crate) static DeviceCapacity: Message = message("k8s.io.api.resource.v1beta1.DeviceCapacity", &[
    one(1, "value", Msg(&api_resource::Quantity), Required),
    one(2, "requestPolicy", Msg(&resource_v1beta1::CapacityRequestPolicy), Optional),
]);

pub(crate) static DeviceClaim: Message = message("k8s.io.api.resource.v1beta1.DeviceClaim", &[
    many(1, "requests", Msg(&resource_v1beta1::DeviceRequest), Required),
    many(2, "constraints", Msg(&resource_v1beta1::DeviceConstraint), OmitEmpty),
    many(3, "config", Msg(&resource_v1beta1::DeviceClaimConfiguration), OmitEmpty),
]);

pub(crate) static DeviceClaimConfiguration: Message = message("k8s.io.api.resource.v1beta1.DeviceClaimConfiguration", &[
    many(1, "requests", String, OmitEmpty),
    one(2, "", Msg(&resource_v1beta1::DeviceConfiguration), Inline),
]);

pub(crate) static DeviceClass: Message = object("k8s.io.api.resource.v1beta1.DeviceClass", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&resource_v1beta1::DeviceClassSpec), Required),
]);

pub(crate) static DeviceClassConfiguration: Message = message("k8s.io.api.resource.v1beta1.DeviceClassConfiguration", &[
    one(1, "", Msg(&resource_v1beta1::DeviceConfiguration), Inline),
]);

pub(crate) static DeviceClassList: Message = object("k8s.io.api.resource.v1beta1.DeviceClassList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&resource_v1beta1::DeviceClass), Items),
]);

pub(crate) static DeviceClassSpec: Message = message("k8s.io.api.resource.v1beta1.DeviceClassSpec", &[
    many(1, "selectors", Msg(&resource_v1beta1::DeviceSelector), OmitEmpty),
    many(2, "config", Msg(&resource_v1beta1::DeviceClassConfiguration), OmitEmpty),
    one(4, "extendedResourceName", String, Optional),
]);

pub(crate) static DeviceConfiguration: Message = message("k8s.io.api.resource.v1beta1.DeviceConfiguration", &[
    one(1, "opaque", Msg(&resource_v1beta1::OpaqueDeviceConfiguration), Optional),
]);

pub(crate) static DeviceConstraint: Message = message("k8s.io.api.resource.v1beta1.DeviceConstraint", &[
    many(1, "requests", String, OmitEmpty),
    one(2, "matchAttribute", String, Optional),
    one(3, "distinctAttribute", String, Optional),
]);

pub(crate) static DeviceCounterConsumption: Message = message("k8s.io.api.resource.v1beta1.DeviceCounterConsumption", &[
    one(1, "counterSet", String, Required),
    map(2, "counters", Msg(&resource_v1beta1::Counter), OmitEmpty),
    many(3, "compatibilityGroups", String, OmitEmpty),
]);

pub(crate) static DeviceDerivedAttribute: Message = message("k8s.io.api.resource.v1beta1.DeviceDerivedAttribute", &[
    one(1, "name", String, Required),
    one(2, "expression", String, Required),
]);

pub(crate) static DeviceRequest: Message = message("k8s.io.api.resource.v1beta1.DeviceRequest", &[
    one(1, "name", String, Required),
    one(2, "deviceClassName", String, Required),
    many(3, "selectors", Msg(&resource_v1beta1::DeviceSelector), OmitEmpty),
    one(4, "allocationMode", String, OmitEmpty),
    one(5, "count", Int64, OmitEmpty),
    one(6, "adminAccess", Bool, Optional),
    many(7, "firstAvailable", Msg(&resource_v1beta1::DeviceSubRequest), OmitEmpty),
    many(8, "tolerations", Msg(&resource_v1beta1::DeviceToleration), OmitEmpty),
    one(9, "capacity", Msg(&resource_v1beta1::CapacityRequirements), Optional),
    many(10, "derivedAttributes", Msg(&resource_v1beta1::DeviceDerivedAttribute), OmitEmpty),
]);

pub(crate) static DeviceRequestAllocationResult: Message = message("k8s.io.api.resource.v1beta1.DeviceRequestAllocationResult", &[
    one(1, "request", String, Required),
    one(2, "driver", String, Required),
    one(3, "pool", String, Required),
    one(4, "device", String, Required),
    one(5, "adminAccess", Bool, Optional),
    many(6, "tolerations", Msg(&resource_v1beta1::DeviceToleration), OmitEmpty),
    many(7, "bindingConditions", String, OmitEmpty),
    many(8, "bindingFailureConditions", String, OmitEmpty),
    one(9, "shareID", String, Optional),
    map(10, "consumedCapacity", Msg(&api_resource::Quantity), OmitEmpty),
    many(11, "skipNodeOperations", String, OmitEmpty),
]);

pub(crate) static DeviceSelector: Message = message("k8s.io.api.resource.v1beta1.DeviceSelector", &[
    one(1, "cel", Msg(&resource_v1beta1::CELDeviceSelector), Optional),
]);

pub(crate) static DeviceSubRequest: Message = message("k8s.io.api.resource.v1beta1.DeviceSubRequest", &[
    one(1, "name", String, Required),
    one(2, "deviceClassName", String, Required),
    many(3, "selectors", Msg(&resource_v1beta1::DeviceSelector), OmitEmpty),
    one(4, "allocationMode", String, OmitEmpty),
    one(5, "count", Int64, OmitEmpty),
    many(7, "tolerations", Msg(&resource_v1beta1::DeviceToleration), OmitEmpty),
    one(8, "capacity", Msg(&resource_v1beta1::CapacityRequirements), Optional),
    many(9, "derivedAttributes", Msg(&resource_v1beta1::DeviceDerivedAttribute), OmitEmpty),
]);

pub(crate) static DeviceTaint: Message = message("k8s.io.api.resource.v1beta1.DeviceTaint", &[
    one(1, "key", String, Required),
    one(2, "value", String, OmitEmpty),
    one(3, "effect", String, Required),
    one(4, "timeAdded", Msg(&meta_v1::Time), Optional),
]);

pub(crate) static DeviceToleration: Message = message("k8s.io.api.resource.v1beta1.DeviceToleration", &[
    one(1, "key", String, OmitEmpty),
    one(2, "operator", String, OmitEmpty),
    one(3, "value", String, OmitEmpty),
    one(4, "effect", String, OmitEmpty),
    one(5, "tolerationSeconds", Int64, Optional),
]);

pub(crate) static NetworkDeviceData: Message = message("k8s.io.api.resource.v1beta1.NetworkDeviceData", &[
    one(1, "interfaceName", String, OmitEmpty),
    many(2, "ips", String, OmitEmpty),
    one(3, "hardwareAddress", String, OmitEmpty),
]);

pub(crate) static NodeAllocatableMapping: Message = message("k8s.io.api.resource.v1beta1.NodeAllocatableMapping", &[
    one(1, "capacityKey", String, Optional),
    one(2, "capacityMultiplier", Msg(&api_resource::Quantity), Optional),
    one(3, "deviceMultiplier", Msg(&api_resource::Quantity), Optional),
]);

pub(crate) static NodeAllocatableOverhead: Message = message("k8s.io.api.resource.v1beta1.NodeAllocatableOverhead", &[
    one(1, "perPod", Msg(&api_resource::Quantity), Optional),
    one(2, "perContainer", Msg(&api_resource::Quantity), Optional),
]);

pub(crate) static NodeAllocatableResource: Message = message("k8s.io.api.resource.v1beta1.NodeAllocatableResource", &[
    one(3, "mapping", Msg(&resource_v1beta1::NodeAllocatableMapping), Optional),
    one(4, "overhead", Msg(&resource_v1beta1::NodeAllocatableOverhead), Optional),
]);

pub(crate) static OpaqueDeviceConfiguration: Message = message("k8s.io.api.resource.v1beta1.OpaqueDeviceConfiguration", &[
    one(1, "driver", String, Required),
    one(2, "parameters", Msg(&runtime::RawExtension), Required),
]);

pub(crate) static ResourceClaim: Message = object("k8s.io.api.resource.v1beta1.ResourceClaim", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&resource_v1beta1::ResourceClaimSpec), Required),
    one(3, "status", Msg(&resource_v1beta1::ResourceClaimStatus), OmitEmpty),
]);

pub(crate) static ResourceClaimConsumerReference: Message = message("k8s.io.api.resource.v1beta1.ResourceClaimConsumerReference", &[
    one(1, "apiGroup", String, OmitEmpty),
    one(3, "resource", String, Required),
    one(4, "name", String, Required),
    one(5, "uid", String, Required),
]);

pub(crate) static ResourceClaimList: Message = object("k8s.io.api.resource.v1beta1.ResourceClaimList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&resource_v1beta1::ResourceClaim), Items),
]);

pub(crate) static ResourceClaimSpec: Message = message("k8s.io.api.resource.v1beta1.ResourceClaimSpec", &[
    one(1, "devices", Msg(&resource_v1beta1::DeviceClaim), Required),
]);

pub(crate) static ResourceClaimStatus: Message = message("k8s.io.api.resource.v1beta1.ResourceClaimStatus", &[
    one(1, "allocation", Msg(&resource_v1beta1::AllocationResult), Optional),
    many(2, "reservedFor", Msg(&resource_v1beta1::ResourceClaimConsumerReference), OmitEmpty),
    many(4, "devices", Msg(&resource_v1beta1::AllocatedDeviceStatus), OmitEmpty),
]);

pub(crate) static ResourceClaimTemplate: Message = object("k8s.io.api.resource.v1beta1.ResourceClaimTemplate", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&resource_v1beta1::ResourceClaimTemplateSpec), Required),
]);

pub(crate) static ResourceClaimTemplateList: Message = object("k8s.io.api.resource.v1beta1.ResourceClaimTemplateList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&resource_v1beta1::ResourceClaimTemplate), Items),
]);

pub(crate) static ResourceClaimTemplateSpec: Message = message("k8s.io.api.resource.v1beta1.ResourceClaimTemplateSpec", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&resource_v1beta1::ResourceClaimSpec), Required),
]);

pub(crate) static ResourcePool: Message = message("k8s.io.api.resource.v1beta1.ResourcePool", &[
    one(1, "name", String, Required),
    one(2, "generation", Int64, Required),
    one(3, "resourceSliceCount", Int64, Required),
]);

pub(crate) static ResourceSlice: Message = object("k8s.io.api.resource.v1beta1.ResourceSlice", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&resource_v1beta1::ResourceSliceSpec), Required),
]);

pub(crate) static ResourceSliceList: Message = object("k8s.io.api.resource.v1beta1.ResourceSliceList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&resource_v1beta1::ResourceSlice), Items),
]);

pub(crate) static ResourceSliceSpec: Message = message("k8s.io.api.resource.v1beta1.ResourceSliceSpec", &[
    one(1, "driver", String, Required),
    one(2, "pool", Msg(&resource_v1beta1::ResourcePool), Required),
    one(3, "nodeName", String, OmitEmpty),
    one(4, "nodeSelector", Msg(&core_v1::NodeSelector), Optional),
    one(5, "allNodes", Bool, OmitEmpty),
    many(6, "devices", Msg(&resource_v1beta1::Device), OmitEmpty),
    one(7, "perDeviceNodeSelection", Bool, Optional),
    many(8, "sharedCounters", Msg(&resource_v1beta1::CounterSet), OmitEmpty),
    one(9, "partitionTypeAttribute", String, Optional),
    many(10, "skipNodeOperations", String, OmitEmpty),
]);
