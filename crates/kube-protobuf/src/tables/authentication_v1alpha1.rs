//! The messages of `k8s.io.api.authentication.v1alpha1`.

use super::*;

pub(crate) static SelfSubjectReview: Message = object("k8s.io.api.authentication.v1alpha1.SelfSubjectReview", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "status", Msg(&authentication_v1alpha1::SelfSubjectReviewStatus), OmitEmpty),
]);

pub(crate) static SelfSubjectReviewStatus: Message = message("k8s.io.api.authentication.v1alpha1.SelfSubjectReviewStatus", &[
    one(1, "userInfo", Msg(&authentication_v1::UserInfo), OmitEmpty),
]);
