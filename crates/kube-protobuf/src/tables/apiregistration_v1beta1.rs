//! The messages of `k8s.io.kube_aggregator.pkg.apis.apiregistration.v1beta1`.

use super::*;

pub(crate) static APIService: Message = object("k8s.io.kube_aggregator.pkg.apis.apiregistration.v1beta1.APIService", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&apiregistration_v1beta1::APIServiceSpec), OmitEmpty),
    one(3, "status", Msg(&apiregistration_v1beta1::APIServiceStatus), OmitEmpty),
]);

pub(crate) static APIServiceCondition: Message = message("k8s.io.kube_aggregator.pkg.apis.apiregistration.v1beta1.APIServiceCondition", &[
    one(1, "type", String, Required),
    one(2, "status", String, Required),
    one(3, "lastTransitionTime", Msg(&meta_v1::Time), OmitEmpty),
    one(4, "reason", String, OmitEmpty),
    one(5, "message", String, OmitEmpty),
]);

pub(crate) static APIServiceList: Message = object("k8s.io.kube_aggregator.pkg.apis.apiregistration.v1beta1.APIServiceList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&apiregistration_v1beta1::APIService), Items),
]);

pub(crate) static APIServiceSpec: Message = message("k8s.io.kube_aggregator.pkg.apis.apiregistration.v1beta1.APIServiceSpec", &[
    one(1, "service", Msg(&apiregistration_v1beta1::ServiceReference), Optional),
    one(2, "group", String, OmitEmpty),
    one(3, "version", String, OmitEmpty),
    one(4, "insecureSkipTLSVerify", Bool, OmitEmpty),
    one(5, "caBundle", Bytes, OmitEmpty),
    one(7, "groupPriorityMinimum", Int32, Required),
    one(8, "versionPriority", Int32, Required),
]);

pub(crate) static APIServiceStatus: Message = message("k8s.io.kube_aggregator.pkg.apis.apiregistration.v1beta1.APIServiceStatus", &[
    many(1, "conditions", Msg(&apiregistration_v1beta1::APIServiceCondition), OmitEmpty),
]);

pub(crate) static ServiceReference: Message = message("k8s.io.kube_aggregator.pkg.apis.apiregistration.v1beta1.ServiceReference", &[
    one(1, "namespace", String, OmitEmpty),
    one(2, "name", String, OmitEmpty),
    one(3, "port", Int32, Optional),
]);
