//! The messages of `k8s.io.api.authorization.v1beta1`.

use super::*;

pub(crate) static ExtraValue: Message = special("k8s.io.api.authorization.v1beta1.ExtraValue", Form::Strings, &[]);

pub(crate) static LocalSubjectAccessReview: Message = object("k8s.io.api.authorization.v1beta1.LocalSubjectAccessReview", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&authorization_v1beta1::SubjectAccessReviewSpec), Required),
    one(3, "status", Msg(&authorization_v1beta1::SubjectAccessReviewStatus), OmitEmpty),
]);

pub(crate) static NonResourceAttributes: Message = message("k8s.io.api.authorization.v1beta1.NonResourceAttributes", &[
    one(1, "path", String, OmitEmpty),
    one(2, "verb", String, OmitEmpty),
]);

pub(crate) static NonResourceRule: Message = message("k8s.io.api.authorization.v1beta1.NonResourceRule", &[
    many(1, "verbs", String, Required),
    many(2, "nonResourceURLs", String, OmitEmpty),
]);

pub(crate) static ResourceAttributes: Message = message("k8s.io.api.authorization.v1beta1.ResourceAttributes", &[
    one(1, "namespace", String, OmitEmpty),
    one(2, "verb", String, OmitEmpty),
    one(3, "group", String, OmitEmpty),
    one(4, "version", String, OmitEmpty),
    one(5, "resource", String, OmitEmpty),
    one(6, "subresource", String, OmitEmpty),
    one(7, "name", String, OmitEmpty),
    one(8, "fieldSelector", Msg(&authorization_v1::FieldSelectorAttributes), Optional),
    one(9, "labelSelector", Msg(&authorization_v1::LabelSelectorAttributes), Optional),
]);

pub(crate) static ResourceRule: Message = message("k8s.io.api.authorization.v1beta1.ResourceRule", &[
    many(1, "verbs", String, Required),
    many(2, "apiGroups", String, OmitEmpty),
    many(3, "resources", String, OmitEmpty),
    many(4, "resourceNames", String, OmitEmpty),
]);

pub(crate) static SelfSubjectAccessReview: Message = object("k8s.io.api.authorization.v1beta1.SelfSubjectAccessReview", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&authorization_v1beta1::SelfSubjectAccessReviewSpec), Required),
    one(3, "status", Msg(&authorization_v1beta1::SubjectAccessReviewStatus), OmitEmpty),
]);

pub(crate) static SelfSubjectAccessReviewSpec: Message = message("k8s.io.api.authorization.v1beta1.SelfSubjectAccessReviewSpec", &[
    one(1, "resourceAttributes", Msg(&authorization_v1beta1::ResourceAttributes), Optional),
    one(2, "nonResourceAttributes", Msg(&authorization_v1beta1::NonResourceAttributes), Optional),
]);

pub(crate) static SelfSubjectRulesReview: Message = object("k8s.io.api.authorization.v1beta1.SelfSubjectRulesReview", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&authorization_v1beta1::SelfSubjectRulesReviewSpec), Required),
    one(3, "status", Msg(&authorization_v1beta1::SubjectRulesReviewStatus), OmitEmpty),
]);

pub(crate) static SelfSubjectRulesReviewSpec: Message = message("k8s.io.api.authorization.v1beta1.SelfSubjectRulesReviewSpec", &[
    one(1, "namespace", String, OmitEmpty),
]);

pub(crate) static SubjectAccessReview: Message = object("k8s.io.api.authorization.v1beta1.SubjectAccessReview", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&authorization_v1beta1::SubjectAccessReviewSpec), Required),
    one(3, "status", Msg(&authorization_v1beta1::SubjectAccessReviewStatus), OmitEmpty),
]);

pub(crate) static SubjectAccessReviewSpec: Message = message("k8s.io.api.authorization.v1beta1.SubjectAccessReviewSpec", &[
    one(1, "resourceAttributes", Msg(&authorization_v1beta1::ResourceAttributes), Optional),
    one(2, "nonResourceAttributes", Msg(&authorization_v1beta1::NonResourceAttributes), Optional),
    one(3, "user", String, OmitEmpty),
    many(4, "group", String, OmitEmpty),
    map(5, "extra", Msg(&authorization_v1beta1::ExtraValue), OmitEmpty),
    one(6, "uid", String, OmitEmpty),
]);

pub(crate) static SubjectAccessReviewStatus: Message = message("k8s.io.api.authorization.v1beta1.SubjectAccessReviewStatus", &[
    one(1, "allowed", Bool, Required),
    one(2, "reason", String, OmitEmpty),
    one(3, "evaluationError", String, OmitEmpty),
    one(4, "denied", Bool, OmitEmpty),
]);

pub(crate) static SubjectRulesReviewStatus: Message = message("k8s.io.api.authorization.v1beta1.SubjectRulesReviewStatus", &[
    many(1, "resourceRules", Msg(&authorization_v1beta1::ResourceRule), Required),
    many(2, "nonResourceRules", Msg(&authorization_v1beta1::NonResourceRule), Required),
    one(3, "incomplete", Bool, Required),
    one(4, "evaluationError", String, OmitEmpty),
]);
