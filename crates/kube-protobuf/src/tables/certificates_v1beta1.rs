//! The messages of `k8s.io.api.certificates.v1beta1`.

use super::*;

pub(crate) static CertificateSigningRequest: Message = object("k8s.io.api.certificates.v1beta1.CertificateSigningRequest", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&certificates_v1beta1::CertificateSigningRequestSpec), Required),
    one(3, "status", Msg(&certificates_v1beta1::CertificateSigningRequestStatus), OmitEmpty),
]);

pub(crate) static CertificateSigningRequestCondition: Message = message("k8s.io.api.certificates.v1beta1.CertificateSigningRequestCondition", &[
    one(1, "type", String, Required),
    one(2, "reason", String, OmitEmpty),
    one(3, "message", String, OmitEmpty),
    one(4, "lastUpdateTime", Msg(&meta_v1::Time), OmitEmpty),
    one(5, "lastTransitionTime", Msg(&meta_v1::Time), OmitEmpty),
    one(6, "status", String, Required),
]);

pub(crate) static CertificateSigningRequestList: Message = object("k8s.io.api.certificates.v1beta1.CertificateSigningRequestList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&certificates_v1beta1::CertificateSigningRequest), Items),
]);

pub(crate) static CertificateSigningRequestSpec: Message = message("k8s.io.api.certificates.v1beta1.CertificateSigningRequestSpec", &[
    one(1, "request", Bytes, Required),
    one(2, "username", String, OmitEmpty),
    one(3, "uid", String, OmitEmpty),
    many(4, "groups", String, OmitEmpty),
    many(5, "usages", String, OmitEmpty),
    map(6, "extra", Msg(&certificates_v1beta1::ExtraValue), OmitEmpty),
    one(7, "signerName", String, Optional),
    one(8, "expirationSeconds", Int32, Optional),
]);

pub(crate) static CertificateSigningRequestStatus: Message = message("k8s.io.api.certificates.v1beta1.CertificateSigningRequestStatus", &[
    many(1, "conditions", Msg(&certificates_v1beta1::CertificateSigningRequestCondition), OmitEmpty),
    one(2, "certificate", Bytes, OmitEmpty),
]);

pub(crate) static ClusterTrustBundle: Message = object("k8s.io.api.certificates.v1beta1.ClusterTrustBundle", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&certificates_v1beta1::ClusterTrustBundleSpec), Required),
]);

pub(crate) static ClusterTrustBundleList: Message = object("k8s.io.api.certificates.v1beta1.ClusterTrustBundleList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&certificates_v1beta1::ClusterTrustBundle), Items),
]);

pub(crate) static ClusterTrustBundleSpec: Message = message("k8s.io.api.certificates.v1beta1.ClusterTrustBundleSpec", &[
    one(1, "signerName", String, OmitEmpty),
    one(2, "trustBundle", String, Required),
]);

pub(crate) static ExtraValue: Message = special("k8s.io.api.certificates.v1beta1.ExtraValue", Form::Strings, &[]);

pub(crate) static PodCertificateRequest: Message = object("k8s.io.api.certificates.v1beta1.PodCertificateRequest", &[
    one(1, "metadata", Msg(&meta_v1::ObjectMeta), OmitEmpty),
    one(2, "spec", Msg(&certificates_v1beta1::PodCertificateRequestSpec), Required),
    one(3, "status", Msg(&certificates_v1beta1::PodCertificateRequestStatus), OmitEmpty),
]);

pub(crate) static PodCertificateRequestList: Message = object("k8s.io.api.certificates.v1beta1.PodCertificateRequestList", &[
    one(1, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
    many(2, "items", Msg(&certificates_v1beta1::PodCertificateRequest), Items),
]);

pub(crate) static PodCertificateRequestSpec: Message = message("k8s.io.api.certificates.v1beta1.PodCertificateRequestSpec", &[
    one(1, "signerName", String, Required),
    one(2, "podName", String, Required),
    one(3, "podUID", String, Required),
    one(4, "serviceAccountName", String, Required),
    one(5, "serviceAccountUID", String, Required),
    one(6, "nodeName", String, Required),
    one(7, "nodeUID", String, Required),
    one(8, "maxExpirationSeconds", Int32, Optional),
    one(9, "pkixPublicKey", Bytes, Required),
    one(10, "proofOfPossession", Bytes, Required),
    map(11, "unverifiedUserAnnotations", String, OmitEmpty),
    one(12, "stubPKCS10Request", Bytes, Required),
]);

pub(crate) static PodCertificateRequestStatus: Message = message("k8s.io.api.certificates.v1beta1.PodCertificateRequestStatus", &[
    many(1, "conditions", Msg(&meta_v1::Condition), OmitEmpty),
    one(2, "certificateChain", String, OmitEmpty),
    one(4, "notBefore", Msg(&meta_v1::Time), Optional),
    one(5, "beginRefreshAt", Msg(&meta_v1::Time), Optional),
    one(6, "notAfter", Msg(&meta_v1::Time), Optional),
]);
