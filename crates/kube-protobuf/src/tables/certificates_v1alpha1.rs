//! The messages of `k8s.io.api.certificates.v1alpha1`.

use super::*;

pub(crate) static ClusterTrustBundle: Message = object("k8s.io.api.certificates.v1alpha1.ClusterTrustBundle", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&certificates_v1alpha1::ClusterTrustBundleSpec), Required),
]);

pub(crate) static ClusterTrustBundleList: Message = object("k8s.io.api.certificates.v1alpha1.ClusterTrustBundleList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&certificates_v1alpha1::ClusterTrustBundle), Items),
]);

pub(crate) static ClusterTrustBundleSpec: Message = message("k8s.io.api.certificates.v1alpha1.ClusterTrustBundleSpec", &[
    one(1, "signerName", String, OmitEmpty),
    one(2, "trustBundle", String, Required),
]);
