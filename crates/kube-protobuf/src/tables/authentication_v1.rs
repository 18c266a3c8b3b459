//! The messages of `k8s.io.api.authentication.v1`.

use super::*;

pub(crate) static AttestationValue: Message = special("k8s.io.api.authentication.v1.AttestationValue", Form::Strings, &[]);

pub(crate) static BoundObjectReference: Message = message("k8s.io.api.authentication.v1.BoundObjectReference", &[
    one(1, "kind", String, OmitEmpty),
    one(2, "apiVersion", String, OmitEmpty),
    one(3, "name", String, OmitEmpty),
    one(4, "uid", String, OmitEmpty),
]);

pub(crate) static ExtraValue: Message = special("k8s.io.api.authentication.v1.ExtraValue", Form::Strings, &[]);

pub(crate) static SelfSubjectReview: Message = object("k8s.io.api.authentication.v1.SelfSubjectReview", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "status", Msg(&authentication_v1::SelfSubjectReviewStatus), OmitEmpty),
]);

pub(crate) static SelfSubjectReviewStatus: Message = message("k8s.io.api.authentication.v1.SelfSubjectReviewStatus", &[
    one(1, "userInfo", Msg(&authentication_v1::UserInfo), OmitEmpty),
]);

pub(crate) static TokenRequest: Message = object("k8s.io.api.authentication.v1.TokenRequest", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&authentication_v1::TokenRequestSpec), Required),
    one(3, "status", Msg(&authentication_v1::TokenRequestStatus), OmitEmpty),
]);

pub(crate) static TokenRequestSpec: Message = message("k8s.io.api.authentication.v1.TokenRequestSpec", &[
    many(1, "audiences", String, Required),
    one(3, "boundObjectRef", Msg(&authentication_v1::BoundObjectReference), Nullable),
    one(4, "expirationSeconds", Int64, Nullable),
    map(5, "attestations", Msg(&authentication_v1::AttestationValue), OmitEmpty),
]);

pub(crate) static TokenRequestStatus: Message = message("k8s.io.api.authentication.v1.TokenRequestStatus", &[
    one(1, "token", String, Required),
    one(2, "expirationTimestamp", Msg(&meta_v1::Time), Required),
]);

pub(crate) static TokenReview: Message = object("k8s.io.api.authentication.v1.TokenReview", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&authentication_v1::TokenReviewSpec), Required),
    one(3, "status", Msg(&authentication_v1::TokenReviewStatus), OmitEmpty),
]);

pub(crate) static TokenReviewSpec: Message = message("k8s.io.api.authentication.v1.TokenReviewSpec", &[
    one(1, "token", String, OmitEmpty),
    many(2, "audiences", String, OmitEmpty),
]);

pub(crate) static TokenReviewStatus: Message = message("k8s.io.api.authentication.v1.TokenReviewStatus", &[
    one(1, "authenticated", Bool, OmitEmpty),
    one(2, "user", Msg(&authentication_v1::UserInfo), OmitEmpty),
    one(3, "error", String, OmitEmpty),
    many(4, "audiences", String, OmitEmpty),
]);

pub(crate) static UserInfo: Message = message("k8s.io.api.authentication.v1.UserInfo", &[
    one(1, "username", String, OmitEmpty),
    one(2, "uid", String, OmitEmpty),
    many(3, "groups", String, OmitEmpty),
    map(4, "extra", Msg(&authentication_v1::ExtraValue), OmitEmpty),
]);
