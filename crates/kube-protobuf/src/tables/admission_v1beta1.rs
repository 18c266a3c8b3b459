//! The messages of `k8s.io.api.admission.v1beta1`.

use super::*;

pub(crate) static AdmissionRequest: Message = message("k8s.io.api.admission.v1beta1.AdmissionRequest", &[
    one(1, "uid", String, Required),
    one(2, "kind", Msg(&meta_v1::GroupVersionKind), Required),
    one(3, "resource", Msg(&meta_v1::GroupVersionResource), Required),
    one(4, "subResource", String, OmitEmpty),
    one(5, "name", String, OmitEmpty),
    one(6, "namespace", String, OmitEmpty),
    one(7, "operation", String, Required),
    one(8, "userInfo", Msg(&authentication_v1::UserInfo), Required),
    one(9, "object", Msg(&runtime::RawExtension), OmitEmpty),
    one(10, "oldObject", Msg(&runtime::RawExtension), OmitEmpty),
    one(11, "dryRun", Bool, Optional),
    one(12, "options", Msg(&runtime::RawExtension), OmitEmpty),
    one(13, "requestKind", Msg(&meta_v1::GroupVersionKind), Optional),
    one(14, "requestResource", Msg(&meta_v1::GroupVersionResource), Optional),
    one(15, "requestSubResource", String, OmitEmpty),
]);

pub(crate) static AdmissionResponse: Message = message("k8s.io.api.admission.v1beta1.AdmissionResponse", &[
    one(1, "uid", String, Required),
    one(2, "allowed", Bool, Required),
    one(3, "status", Msg(&meta_v1::Status), Optional),
    one(4, "patch", Bytes, OmitEmpty),
    one(5, "patchType", String, Optional),
    map(6, "auditAnnotations", String, OmitEmpty),
    many(7, "warnings", String, OmitEmpty),
]);

pub(crate) static AdmissionReview: Message = object("k8s.io.api.admission.v1beta1.AdmissionReview", &[
    one(1, "request", Msg(&admission_v1beta1::AdmissionRequest), Optional),
    one(2, "response", Msg(&admission_v1beta1::AdmissionResponse), Optional),
]);
