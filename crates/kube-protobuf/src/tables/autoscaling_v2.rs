//! The messages of `k8s.io.api.autoscaling.v2`.

use super::*;

pub(crate) static ContainerResourceMetricSource: Message = message("k8s.io.api.autoscaling.v2.ContainerResourceMetricSource", &[
    one(1, "name", String, Required),
    one(2, "target", Msg(&autoscaling_v2::MetricTarget), Required),
    one(3, "container", String, Required),
]);

pub(crate) static ContainerResourceMetricStatus: Message = message("k8s.io.api.autoscaling.v2.ContainerResourceMetricStatus", &[
    one(1, "name", String, Required),
    one(2, "current", Msg(&autoscaling_v2::MetricValueStatus), Required),
    one(3, "container", String, Required),
]);

pub(crate) static CrossVersionObjectReference: Message = message("k8s.io.api.autoscaling.v2.CrossVersionObjectReference", &[
    one(1, "kind", String, Required),
    one(2, "name", String, Required),
    one(3, "apiVersion", String, OmitEmpty),
]);

pub(crate) static ExternalMetricSource: Message = message("k8s.io.api.autoscaling.v2.ExternalMetricSource", &[
    one(1, "metric", Msg(&autoscaling_v2::MetricIdentifier), Required),
    one(2, "target", Msg(&autoscaling_v2::MetricTarget), Required),
]);

pub(crate) static ExternalMetricStatus: Message = message("k8s.io.api.autoscaling.v2.ExternalMetricStatus", &[
    one(1, "metric", Msg(&autoscaling_v2::MetricIdentifier), Required),
    one(2, "current", Msg(&autoscaling_v2::MetricValueStatus), Required),
]);

pub(crate) static HPAScalingPolicy: Message = message("k8s.io.api.autoscaling.v2.HPAScalingPolicy", &[
    one(1, "type", String, Required),
    one(2, "value", Int32, Required),
    one(3, "periodSeconds", Int32, Required),
]);

pub(crate) static HPAScalingRules: Message = message("k8s.io.api.autoscaling.v2.HPAScalingRules", &[
    one(1, "selectPolicy", String, Optional),
    many(2, "policies", Msg(&autoscaling_v2::HPAScalingPolicy), OmitEmpty),
    one(3, "stabilizationWindowSeconds", Int32, Optional),
    one(4, "tolerance", Msg(&api_resource::Quantity), Optional),
]);

pub(crate) static HorizontalPodAutoscaler: Message = object("k8s.io.api.autoscaling.v2.HorizontalPodAutoscaler", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&autoscaling_v2::HorizontalPodAutoscalerSpec), OmitEmpty),
    one(3, "status", Msg(&autoscaling_v2::HorizontalPodAutoscalerStatus), OmitEmpty),
]);

pub(crate) static HorizontalPodAutoscalerBehavior: Message = message("k8s.io.api.autoscaling.v2.HorizontalPodAutoscalerBehavior", &[
    one(1, "scaleUp", Msg(&autoscaling_v2::HPAScalingRules), Optional),
    one(2, "scaleDown", Msg(&autoscaling_v2::HPAScalingRules), Optional),
]);

pub(crate) static HorizontalPodAutoscalerCondition: Message = message("k8s.io.api.autoscaling.v2.HorizontalPodAutoscalerCondition", &[
    one(1, "type", String, Required),
    one(2, "status", String, Required),
    one(3, "lastTransitionTime", Msg(&meta_v1::Time), OmitEmpty),
    one(4, "reason", String, OmitEmpty),
    one(5, "message", String, OmitEmpty),
    one(6, "observedGeneration", Int64, Optional),
]);

pub(crate) static HorizontalPodAutoscalerList: Message = object("k8s.io.api.autoscaling.v2.HorizontalPodAutoscalerList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&autoscaling_v2::HorizontalPodAutoscaler), Items),
]);

pub(crate) static HorizontalPodAutoscalerSpec: Message = message("k8s.io.api.autoscaling.v2.HorizontalPodAutoscalerSpec", &[
    one(1, "scaleTargetRef", Msg(&autoscaling_v2::CrossVersionObjectReference), Required),
    one(2, "minReplicas", Int32, Optional),
    one(3, "maxReplicas", Int32, Required),
    many(4, "metrics", Msg(&autoscaling_v2::MetricSpec), OmitEmpty),
    one(5, "behavior", Msg(&autoscaling_v2::HorizontalPodAutoscalerBehavior), Optional),
]);

pub(crate) static HorizontalPodAutoscalerStatus: Message = message("k8s.io.api.autoscaling.v2.HorizontalPodAutoscalerStatus", &[
    one(1, "observedGeneration", Int64, Optional),
    one(2, "lastScaleTime", Msg(&meta_v1::Time), Optional),
    one(3, "currentReplicas", Int32, OmitEmpty),
    one(4, "desiredReplicas", Int32, Required),
    many(5, "currentMetrics", Msg(&autoscaling_v2::MetricStatus), Required),
    many(6, "conditions", Msg(&autoscaling_v2::HorizontalPodAutoscalerCondition), OmitEmpty),
]);

pub(crate) static MetricIdentifier: Message = message("k8s.io.api.autoscaling.v2.MetricIdentifier", &[
    one(1, "name", String, Required),
    one(2, "selector", Msg(&meta_v1::LabelSelector), Optional),
]);

pub(crate) static MetricSpec: Message = message("k8s.io.api.autoscaling.v2.MetricSpec", &[
    one(1, "type", String, Required),
    one(2, "object", Msg(&autoscaling_v2::ObjectMetricSource), Optional),
    one(3, "pods", Msg(&autoscaling_v2::PodsMetricSource), Optional),
    one(4, "resource", Msg(&autoscaling_v2::ResourceMetricSource), Optional),
    one(5, "external", Msg(&autoscaling_v2::ExternalMetricSource), Optional),
    one(7, "containerResource", Msg(&autoscaling_v2::ContainerResourceMetricSource), Optional),
]);

pub(crate) static MetricStatus: Message = message("k8s.io.api.autoscaling.v2.MetricStatus", &[
    one(1, "type", String, Required),
    one(2, "object", Msg(&autoscaling_v2::ObjectMetricStatus), Optional),
    one(3, "pods", Msg(&autoscaling_v2::PodsMetricStatus), Optional),
    one(4, "resource", Msg(&autoscaling_v2::ResourceMetricStatus), Optional),
    one(5, "external", Msg(&autoscaling_v2::ExternalMetricStatus), Optional),
    one(7, "containerResource", Msg(&autoscaling_v2::ContainerResourceMetricStatus), Optional),
]);

pub(crate) static MetricTarget: Message = message("k8s.io.api.autoscaling.v2.MetricTarget", &[
    one(1, "type", String, Required),
    one(2, "value", Msg(&api_resource::Quantity), Optional),
    one(3, "averageValue", Msg(&api_resource::Quantity), Optional),
    one(4, "averageUtilization", Int32, Optional),
]);

pub(crate) static MetricValueStatus: Message = message("k8s.io.api.autoscaling.v2.MetricValueStatus", &[
    one(1, "value", Msg(&api_resource::Quantity), Optional),
    one(2, "averageValue", Msg(&api_resource::Quantity), Optional),
    one(3, "averageUtilization", Int32, Optional),
]);

pub(crate) static ObjectMetricSource: Message = message("k8s.io.api.autoscaling.v2.ObjectMetricSource", &[
    one(1, "describedObject", Msg(&autoscaling_v2::CrossVersionObjectReference), Required),
    one(2, "target", Msg(&autoscaling_v2::MetricTarget), Required),
    one(3, "metric", Msg(&autoscaling_v2::MetricIdentifier), Required),
]);

pub(crate) static ObjectMetricStatus: Message = message("k8s.io.api.autoscaling.v2.ObjectMetricStatus", &[
    one(1, "metric", Msg(&autoscaling_v2::MetricIdentifier), Required),
    one(2, "current", Msg(&autoscaling_v2::MetricValueStatus), Required),
    one(3, "describedObject", Msg(&autoscaling_v2::CrossVersionObjectReference), Required),
]);

pub(crate) static PodsMetricSource: Message = message("k8s.io.api.autoscaling.v2.PodsMetricSource", &[
    one(1, "metric", Msg(&autoscaling_v2::MetricIdentifier), Required),
    one(2, "target", Msg(&autoscaling_v2::MetricTarget), Required),
]);

pub(crate) static PodsMetricStatus: Message = message("k8s.io.api.autoscaling.v2.PodsMetricStatus", &[
    one(1, "metric", Msg(&autoscaling_v2::MetricIdentifier), Required),
    one(2, "current", Msg(&autoscaling_v2::MetricValueStatus), Required),
]);

pub(crate) static ResourceMetricSource: Message = message("k8s.io.api.autoscaling.v2.ResourceMetricSource", &[
    one(1, "name", String, Required),
    one(2, "target", Msg(&autoscaling_v2::MetricTarget), Required),
]);

pub(crate) static ResourceMetricStatus: Message = message("k8s.io.api.autoscaling.v2.ResourceMetricStatus", &[
    one(1, "name", String, Required),
    one(2, "current", Msg(&autoscaling_v2::MetricValueStatus), Required),
]);
