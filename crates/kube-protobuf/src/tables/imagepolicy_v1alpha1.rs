//! The messages of `k8s.io.api.imagepolicy.v1alpha1`.

use super::*;

pub(crate) static ImageReview: Message = object("k8s.io.api.imagepolicy.v1alpha1.ImageReview", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&imagepolicy_v1alpha1::ImageReviewSpec), Required),
    one(3, "status", Msg(&imagepolicy_v1alpha1::ImageReviewStatus), OmitEmpty),
]);

pub(crate) static ImageReviewContainerSpec: Message = message("k8s.io.api.imagepolicy.v1alpha1.ImageReviewContainerSpec", &[
    one(1, "image", String, OmitEmpty),
]);

pub(crate) static ImageReviewSpec: Message = message("k8s.io.api.imagepolicy.v1alpha1.ImageReviewSpec", &[
    many(1, "containers", Msg(&imagepolicy_v1alpha1::ImageReviewContainerSpec), OmitEmpty),
    map(2, "annotations", String, OmitEmpty),
    one(3, "namespace", String, OmitEmpty),
]);

pub(crate) static ImageReviewStatus: Message = message("k8s.io.api.imagepolicy.v1alpha1.ImageReviewStatus", &[
    one(1, "allowed", Bool, Required),
    one(2, "reason", String, OmitEmpty),
    map(3, "auditAnnotations", String, OmitEmpty),
]);
