//! The messages of `k8s.io.api.authentication.v1beta1`.

use super::*;

pub(crate) static ExtraValue: Message = special("k8s.io.api.authentication.v1beta1.ExtraValue", Form::Strings, &[]);

pub(crate) static SelfSubjectReview: Message = object("k8s.io.api.authentication.v1beta1.SelfSubjectReview", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "status", Msg(&authentication_v1beta1::SelfSubjectReviewStatus), OmitEmpty),
]);

pub(crate) static SelfSubjectReviewStatus: Message = message("k8s.io.api.authentication.v1beta1.SelfSubjectReviewStatus", &[
    one(1, "userInfo", Msg(&authentication_v1::UserInfo), OmitEmpty),
]);

pub(crate) static TokenReview: Message = object("k8s.io.api.authentication.v1beta1.TokenReview", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&authentication_v1beta1::TokenReviewSpec), Required),
    one(3, "status", Msg(&authentication_v1beta1::TokenReviewStatus), OmitEmpty),
]);

pub(crate) static TokenReviewSpec: Message = message("k8s.io.api.authentication.v1beta1.TokenReviewSpec", &[
    one(1, "token", String, OmitEmpty),
    many(2, "audiences", String, OmitEmpty),
]);

pub(crate) static TokenReviewStatus: Message = message("k8s.io.api.authentication.v1beta1.TokenReviewStatus", &[
    one(1, "authenticated", Bool, OmitEmpty),
    one(2, "user", Msg(&authentication_v1beta1::UserInfo), OmitEmpty),
    one(3, "error", String, OmitEmpty),
    many(4, "audiences", String, OmitEmpty),
]);

pub(crate) static UserInfo: Message = message("k8s.io.api.authentication.v1beta1.UserInfo", &[
    one(1, "username", String, OmitEmpty),
    one(2, "uid", String, OmitEmpty),
    many(3, "groups", String, OmitEmpty),
    map(4, "extra", Msg(&authentication_v1beta1::ExtraValue), OmitEmpty),
]);
