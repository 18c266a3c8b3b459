//! The messages of `k8s.io.apimachinery.pkg.apis.meta.v1beta1`.

use super::*;

pub(crate) static PartialObjectMetadataList: Message = object("k8s.io.apimachinery.pkg.apis.meta.v1beta1.PartialObjectMetadataList", &[
    many(1, "items", Object(&METADATA_V1BETA1), Items),
    one(2, "metadata", Msg(&meta_v1::ListMeta), OmitEmpty),
]);
