//! Projections: a struct of a few fields as the form in which objects are held.

use instances as _;
use k8s_openapi::api::core::v1::Pod;
use kube_informer::form::{Decode, DecoderConfig, Metadata};
use kube_informer::low_level::wire::{Encoding, RawObject};
use kube_informer::{CachedObject, ResourceVersion};
use serde::Deserialize;

#[derive(Debug, Deserialize, CachedObject)]
struct View {
    metadata: Metadata,
    spec: Spec,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Spec {
    node_name: Option<String>,
}

#[derive(Debug, Deserialize, CachedObject)]
struct Marked {
    #[serde(rename = "metadata")]
    #[object(metadata)]
    meta: kube::core::ObjectMeta,
}

const POD: &str = r#"{"metadata":{"name":"web-0","namespace":"shop","uid":"u1","resourceVersion":"7","labels":{"app":"web"},
    "managedFields":[{"manager":"kubelet"}]},"spec":{"nodeName":"node-1","containers":[{"name":"web"}]},"status":{}}"#;

fn check<O: Decode>() -> O::Handle {
    let raw = RawObject::scan(Encoding::Json, POD.into()).unwrap();
    let object = O::decode_raw(&O::decoder(DecoderConfig::default()), &raw.key(), &raw).unwrap();
    assert_eq!(O::key_of(&object).as_str(), "shop/web-0");
    assert_eq!(O::uid_of(&object), Some("u1"));
    assert_eq!(O::resource_version_of(&object), Some(ResourceVersion::from("7")));
    assert_eq!(
        (O::label_of(&object, "app"), O::label_of(&object, "x")),
        (Some("web"), None)
    );
    let mut labels = Vec::new();
    assert!(O::visit_labels(&object, &mut |name, value| labels
        .push((name.to_owned(), value.to_owned()))));
    assert_eq!(labels, [("app".to_owned(), "web".to_owned())]);
    object
}

#[test]
fn a_struct_says_where_its_metadata_is() {
    let view = check::<View>();
    assert_eq!(view.spec.node_name.as_deref(), Some("node-1"));
    assert_eq!(view.metadata.labels.as_ref().unwrap().len(), 1);
    check::<Pod>();
    #[cfg(feature = "packed")]
    check::<kube_informer::form::Packed<Pod>>();
    let marked = check::<Marked>();
    assert_eq!(marked.meta.managed_fields.as_ref().unwrap().len(), 1);
}

#[test]
fn what_the_struct_does_not_expect_is_an_error_that_says_where() {
    let raw = RawObject::scan(
        Encoding::Json,
        r#"{"metadata":{"name":"a"},"spec":{"nodeName":["hunter2"]}}"#.into(),
    )
    .unwrap();
    let error = View::decode_raw(&(), &raw.key(), &raw).unwrap_err().to_string();
    assert!(
        error.starts_with("spec.nodeName: invalid type") && !error.contains("hunter2"),
        "{error}"
    );
}
