//! The messages of `k8s.io.api.autoscaling.v1`.

use super::*;

pub(crate) static ContainerResourceMetricSource: Message = message("k8s.io.api.autoscaling.v1.ContainerResourceMetricSource", &[
    one(1, "name", String, Required),
    one(2, "targetAverageUtilization", Int32, Optional),
    one(3, "targetAverageValue", Msg(&api_resource::Quantity), Optional),
    one(5, "container", String, Required),
]);

pub(crate) static ContainerResourceMetricStatus: Message = message("k8s.io.api.autoscaling.v1.ContainerResourceMetricStatus", &[
    one(1, "name", String, Required),
    one(2, "currentAverageUtilization", Int32, Optional),
    one(3, "currentAverageValue", Msg(&api_resource::Quantity), Required),
    one(4, "container", String, Required),
]);

pub(crate) static CrossVersionObjectReference: Message = message("k8s.io.api.autoscaling.v1.CrossVersionObjectReference", &[
    one(1, "kind", String, Required),
    one(2, "name", String, Required),
    one(3, "apiVersion", String, OmitEmpty),
]);

pub(crate) static ExternalMetricSource: Message = message("k8s.io.api.autoscaling.v1.ExternalMetricSource", &[
    one(1, "metricName", String, Required),
    one(2, "metricSelector", Msg(&meta_v1::LabelSelector), Optional),
    one(3, "targetValue", Msg(&api_resource::Quantity), Optional),
    one(4, "targetAverageValue", Msg(&api_resource::Quantity), Optional),
]);

pub(crate) static ExternalMetricStatus: Message = message("k8s.io.api.autoscaling.v1.ExternalMetricStatus", &[
    one(1, "metricName", String, Required),
    one(2, "metricSelector", Msg(&meta_v1::LabelSelector), Optional),
    one(3, "currentValue", Msg(&api_resource::Quantity), Required),
    one(4, "currentAverageValue", Msg(&api_resource::Quantity), Optional),
]);

pub(crate) static HorizontalPodAutoscaler: Message = object("k8s.io.api.autoscaling.v1.HorizontalPodAutoscaler", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&autoscaling_v1::HorizontalPodAutoscalerSpec), OmitEmpty),
    one(3, "status", Msg(&autoscaling_v1::HorizontalPodAutoscalerStatus), OmitEmpty),
]);

pub(crate) static HorizontalPodAutoscalerCondition: Message = message("k8s.io.api.autoscaling.v1.HorizontalPodAutoscalerCondition", &[
    one(1, "type", String, Required),
    one(2, "status", String, Required),
    one(3, "lastTransitionTime", Msg(&meta_v1::Time), OmitEmpty),
    one(4, "reason", String, OmitEmpty),
    one(5, "message", String, OmitEmpty),
    one(6, "observedGeneration", Int64, Optional),
]);

pub(crate) static HorizontalPodAutoscalerList: Message = object("k8s.io.api.autoscaling.v1.HorizontalPodAutoscalerList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&autoscaling_v1::HorizontalPodAutoscaler), Items),
]);

pub(crate) static HorizontalPodAutoscalerSpec: Message = message("k8s.io.api.autoscaling.v1.HorizontalPodAutoscalerSpec", &[
    one(1, "scaleTargetRef", Msg(&autoscaling_v1::CrossVersionObjectReference), Required),
    one(2, "minReplicas", Int32, Optional),
    one(3, "maxReplicas", Int32, Required),
    one(4, "targetCPUUtilizationPercentage", Int32, Optional),
]);

pub(crate) static HorizontalPodAutoscalerStatus: Message = message("k8s.io.api.autoscaling.v1.HorizontalPodAutoscalerStatus", &[
    one(1, "observedGeneration", Int64, Optional),
    one(2, "lastScaleTime", Msg(&meta_v1::Time), Optional),
    one(3, "currentReplicas", Int32, Required),
    one(4, "desiredReplicas", Int32, Required),
    one(5, "currentCPUUtilizationPercentage", Int32, Optional),
]);

pub(crate) static MetricSpec: Message = message("k8s.io.api.autoscaling.v1.MetricSpec", &[
    one(1, "type", String, Required),
    one(2, "object", Msg(&autoscaling_v1::ObjectMetricSource), Optional),
    one(3, "pods", Msg(&autoscaling_v1::PodsMetricSource), Optional),
    one(4, "resource", Msg(&autoscaling_v1::ResourceMetricSource), Optional),
    one(5, "external", Msg(&autoscaling_v1::ExternalMetricSource), Optional),
    one(7, "containerResource", Msg(&autoscaling_v1::ContainerResourceMetricSource), Optional),
]);

pub(crate) static MetricStatus: Message = message("k8s.io.api.autoscaling.v1.MetricStatus", &[
    one(1, "type", String, Required),
    one(2, "object", Msg(&autoscaling_v1::ObjectMetricStatus), Optional),
    one(3, "pods", Msg(&autoscaling_v1::PodsMetricStatus), Optional),
    one(4, "resource", Msg(&autoscaling_v1::ResourceMetricStatus), Optional),
    one(5, "external", Msg(&autoscaling_v1::ExternalMetricStatus), Optional),
    one(7, "containerResource", Msg(&autoscaling_v1::ContainerResourceMetricStatus), Optional),
]);

pub(crate) static ObjectMetricSource: Message = message("k8s.io.api.autoscaling.v1.ObjectMetricSource", &[
    one(1, "target", Msg(&autoscaling_v1::CrossVersionObjectReference), Required),
    one(2, "metricName", String, Required),
    one(3, "targetValue", Msg(&api_resource::Quantity), Required),
    one(4, "selector", Msg(&meta_v1::LabelSelector), Optional),
    one(5, "averageValue", Msg(&api_resource::Quantity), Optional),
]);

pub(crate) static ObjectMetricStatus: Message = message("k8s.io.api.autoscaling.v1.ObjectMetricStatus", &[
    one(1, "target", Msg(&autoscaling_v1::CrossVersionObjectReference), Required),
    one(2, "metricName", String, Required),
    one(3, "currentValue", Msg(&api_resource::Quantity), Required),
    one(4, "selector", Msg(&meta_v1::LabelSelector), Optional),
    one(5, "averageValue", Msg(&api_resource::Quantity), Optional),
]);

pub(crate) static PodsMetricSource: Message = message("k8s.io.api.autoscaling.v1.PodsMetricSource", &[
    one(1, "metricName", String, Required),
    one(2, "targetAverageValue", Msg(&api_resource::Quantity), Required),
    one(3, "selector", Msg(&meta_v1::LabelSelector), Optional),
]);

pub(crate) static PodsMetricStatus: Message = message("k8s.io.api.autoscaling.v1.PodsMetricStatus", &[
    one(1, "metricName", String, Required),
    one(2, "currentAverageValue", Msg(&api_resource::Quantity), Required),
    one(3, "selector", Msg(&meta_v1::LabelSelector), Optional),
]);

pub(crate) static ResourceMetricSource: Message = message("k8s.io.api.autoscaling.v1.ResourceMetricSource", &[
    one(1, "name", String, Required),
    one(2, "targetAverageUtilization", Int32, Optional),
    one(3, "targetAverageValue", Msg(&api_resource::Quantity), Optional),
]);

pub(crate) static ResourceMetricStatus: Message = message("k8s.io.api.autoscaling.v1.ResourceMetricStatus", &[
    one(1, "name", String, Required),
    one(2, "currentAverageUtilization", Int32, Optional),
    one(3, "currentAverageValue", Msg(&api_resource::Quantity), Required),
]);

pub(crate) static Scale: Message = object("k8s.io.api.autoscaling.v1.Scale", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&autoscaling_v1::ScaleSpec), OmitEmpty),
    one(3, "status", Msg(&autoscaling_v1::ScaleStatus), OmitEmpty),
]);

pub(crate) static ScaleSpec: Message = message("k8s.io.api.autoscaling.v1.ScaleSpec", &[
    one(1, "replicas", Int32, OmitEmpty),
]);

pub(crate) static ScaleStatus: Message = message("k8s.io.api.autoscaling.v1.ScaleStatus", &[
    one(1, "replicas", Int32, Required),
    one(2, "selector", String, OmitEmpty),
]);
