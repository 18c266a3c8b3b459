//! The messages of `k8s.io.api.resource.v1alpha3`.

use super::*;

pub(crate) static CELDeviceSelector: Message = message("k8s.io.api.resource.v1alpha3.CELDeviceSelector", &[
    one(1, "expression", String, Required),
]);

pub(crate) static DeviceSelector: Message = message("k8s.io.api.resource.v1alpha3.DeviceSelector", &[
    one(1, "cel", Msg(&resource_v1alpha3::CELDeviceSelector), Optional),
]);

pub(crate) static DeviceTaint: Message = message("k8s.io.api.resource.v1alpha3.DeviceTaint", &[
    one(1, "key", String, Required),
    one(2, "value", String, OmitEmpty),
    one(3, "effect", String, Required),
    one(4, "timeAdded", Msg(&meta_v1::Time), Optional),
]);

pub(crate) static DeviceTaintRule: Message = object("k8s.io.api.resource.v1alpha3.DeviceTaintRule", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&resource_v1alpha3::DeviceTaintRuleSpec), Required),
    one(3, "status", Msg(&resource_v1alpha3::DeviceTaintRuleStatus), OmitEmpty),
]);

pub(crate) static DeviceTaintRuleList: Message = object("k8s.io.api.resource.v1alpha3.DeviceTaintRuleList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&resource_v1alpha3::DeviceTaintRule), Items),
]);

pub(crate) static DeviceTaintRuleSpec: Message = message("k8s.io.api.resource.v1alpha3.DeviceTaintRuleSpec", &[
    one(1, "deviceSelector", Msg(&resource_v1alpha3::DeviceTaintSelector), Optional),
    one(2, "taint", Msg(&resource_v1alpha3::DeviceTaint), OmitEmpty),
]);

pub(crate) static DeviceTaintRuleStatus: Message = message("k8s.io.api.resource.v1alpha3.DeviceTaintRuleStatus", &[
    many(1, "conditions", Msg(&meta_v1::Condition), OmitEmpty),
]);

pub(crate) static DeviceTaintSelector: Message = message("k8s.io.api.resource.v1alpha3.DeviceTaintSelector", &[
    one(2, "driver", String, Optional),
    one(3, "pool", String, Optional),
    one(4, "device", String, Optional),
]);

pub(crate) static PartitionTypeStatus: Message = message("k8s.io.api.resource.v1alpha3.PartitionTypeStatus", &[
    one(1, "type", String, OmitEmpty),
    one(2, "total", Int32, Optional),
    one(3, "allocatable", Int32, Optional),
    one(4, "attribute", String, OmitEmpty),
]);

pub(crate) static PoolStatus: Message = message("k8s.io.api.resource.v1alpha3.PoolStatus", &[
    one(1, "driver", String, OmitEmpty),
    one(2, "poolName", String, OmitEmpty),
    one(3, "nodeName", String, Optional),
    one(4, "totalDevices", Int32, Optional),
    one(5, "allocatedDevices", Int32, Optional),
    one(6, "availableDevices", Int32, Optional),
    one(7, "unavailableDevices", Int32, Optional),
    one(8, "resourceSliceCount", Int32, Optional),
    one(9, "generation", Int64, Required),
    one(10, "validationError", String, Optional),
    many(11, "partitionSummary", Msg(&resource_v1alpha3::PartitionTypeStatus), OmitEmpty),
    one(13, "shareableSummary", Msg(&resource_v1alpha3::ShareableSummaryStatus), Optional),
]);

pub(crate) static ResourcePoolStatusRequest: Message = object("k8s.io.api.resource.v1alpha3.ResourcePoolStatusRequest", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&resource_v1alpha3::ResourcePoolStatusRequestSpec), Required),
    one(3, "status", Msg(&resource_v1alpha3::ResourcePoolStatusRequestStatus), Optional),
]);

pub(crate) static ResourcePoolStatusRequestList: Message = object("k8s.io.api.resource.v1alpha3.ResourcePoolStatusRequestList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&resource_v1alpha3::ResourcePoolStatusRequest), Items),
]);

pub(crate) static ResourcePoolStatusRequestSpec: Message = message("k8s.io.api.resource.v1alpha3.ResourcePoolStatusRequestSpec", &[
    one(1, "driver", String, Required),
    one(2, "poolName", String, Optional),
    one(3, "limit", Int32, Optional),
    one(4, "defaultPartitionTypeAttribute", String, Optional),
]);

pub(crate) static ResourcePoolStatusRequestStatus: Message = message("k8s.io.api.resource.v1alpha3.ResourcePoolStatusRequestStatus", &[
    many(2, "pools", Msg(&resource_v1alpha3::PoolStatus), OmitEmpty),
    many(3, "conditions", Msg(&meta_v1::Condition), OmitEmpty),
    one(6, "poolCount", Int32, Optional),
]);

pub(crate) static ShareableCapacityStatus: Message = message("k8s.io.api.resource.v1alpha3.ShareableCapacityStatus", &[
    one(1, "name", String, OmitEmpty),
    one(2, "total", Msg(&api_resource::Quantity), Optional),
    one(3, "consumed", Msg(&api_resource::Quantity), Optional),
    one(4, "available", Msg(&api_resource::Quantity), Optional),
]);

pub(crate) static ShareableSummaryStatus: Message = message("k8s.io.api.resource.v1alpha3.ShareableSummaryStatus", &[
    one(1, "fullyAvailableDevices", Int32, Optional),
    one(2, "partiallyAvailableDevices", Int32, Optional),
    many(3, "capacity", Msg(&resource_v1alpha3::ShareableCapacityStatus), OmitEmpty),
]);
