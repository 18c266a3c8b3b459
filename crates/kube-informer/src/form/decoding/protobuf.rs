//! Decodes the bytes of an object in protobuf.

use super::{DecodeError, mismatch, shown};
use kube_protobuf::{Descriptor, ErrorKind};
use serde::de::DeserializeOwned;

/// Decodes the message that `write` writes into a buffer.
pub(super) fn object<T: DeserializeOwned + 'static>(
    types: Option<(&str, &str)>,
    write: impl Fn(&mut Vec<u8>),
) -> Result<T, DecodeError> {
    let message = message_of(types)?;
    let mut body = Vec::new();
    write(&mut body);
    kube_protobuf::decode_message(message, &body).map_err(|fault| of_fault(&fault))
}

pub(super) fn message_of(types: Option<(&str, &str)>) -> Result<Descriptor, DecodeError> {
    // Of another kind, as a custom resource, only the metadata come in protobuf.
    let metadata = || Descriptor::of("meta.k8s.io/v1", "PartialObjectMetadata");
    let message = types.and_then(|(api_version, kind)| Descriptor::of(api_version, kind).or_else(metadata));
    message.ok_or_else(|| error(String::new(), "the kind has no protobuf message".to_owned()))
}

pub(super) fn of_fault(fault: &kube_protobuf::Error) -> DecodeError {
    let (path, text) = (fault.path(), fault.to_string());
    let reason = match fault.kind() {
        ErrorKind::Mismatch => {
            let text = text.strip_prefix(&path).unwrap_or(&text);
            mismatch(text.strip_prefix(": ").unwrap_or(text))
        }
        ErrorKind::TooDeep => "nested too deep".to_owned(),
        _ => "not protobuf of this kind".to_owned(),
    };
    error(shown(&path), reason)
}

fn error(path: String, reason: String) -> DecodeError {
    DecodeError {
        path,
        reason,
        line: 0,
        column: 0,
    }
}

#[cfg(test)]
mod tests {
    use crate::form::{Decode, DecoderConfig, Packed, decode};
    use crate::low_level::wire::{Encoding, RawObject};
    use crate::{FieldPath, FieldPlan, HasOwners};
    use k8s_openapi::api::core::v1::{Pod, Secret};
    use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
    use kube::core::{DynamicObject, TypeMeta};
    use kube_protobuf::{Descriptor, UnknownFields::Deny, message_to_vec, to_vec};
    use serde_json::{Value, json};

    /// A pod as an API server shows it, with its empty members.
    fn pod() -> Value {
        json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {
                "name": "web-0", "namespace": "shop", "uid": "u1", "resourceVersion": "7",
                "creationTimestamp": "2026-01-02T03:04:05Z", "labels": {"app": "web"},
                "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u"}],
                "managedFields": [{"manager": "m", "operation": "Update"}],
            },
            "spec": {
                "containers": [
                    {"name": "main", "image": "i:1", "resources": {}, "ports": [{"containerPort": 80, "protocol": "TCP"}]},
                    {"name": "side", "image": "i:2", "resources": {}},
                ],
                "nodeName": "node-1",
            },
            "status": {},
        })
    }

    fn raw(object: &Value, plan: &FieldPlan) -> RawObject {
        let bytes = to_vec(object, Deny).unwrap();
        RawObject::scan_with(Encoding::Protobuf, bytes.into(), plan).unwrap()
    }

    #[test]
    fn objects_are_the_same_as_from_json() {
        let raw = raw(&pod(), &FieldPlan::default());
        let expected: Pod = serde_json::from_value(pod()).unwrap();
        assert_eq!(decode::<Pod>(&raw).unwrap(), expected);
        let dynamic = DynamicObject::decode_raw(&DecoderConfig::default(), &raw.key(), &raw).unwrap();
        assert_eq!(dynamic.types, Some(TypeMeta::resource::<Pod>()));
        assert_eq!(dynamic.data["spec"]["nodeName"], "node-1");
    }

    #[test]
    fn packed_objects_are_the_same_as_from_json() {
        let config = || DecoderConfig {
            types: Some(TypeMeta::resource::<Pod>()),
            plan: Packed::<Pod>::plan(),
            ..DecoderConfig::default()
        };
        let packer = Packed::<Pod>::decoder(config());
        let plan = Packed::<Pod>::plan();
        let pack = |raw: RawObject| Packed::<Pod>::decode_raw(&packer, &raw.key(), &raw).unwrap();
        let json = RawObject::scan_with(Encoding::Json, pod().to_string().into(), &plan).unwrap();
        let message = message_to_vec(Descriptor::of("v1", "Pod").unwrap(), &pod(), Deny).unwrap();
        let item = RawObject::scan_with(Encoding::Protobuf, message.into(), &plan).unwrap();
        let expected = pack(json);
        for packed in [pack(raw(&pod(), &plan)), pack(item)] {
            assert_eq!(packed.decode().unwrap(), expected.decode().unwrap());
            assert_eq!((packed.uid(), packed.label("app")), (Some("u1"), Some("web")));
            assert_eq!(Packed::owners_of(&packed), Packed::owners_of(&expected));
            for path in [
                "/spec/nodeName",
                "/kind",
                "/apiVersion",
                "/metadata/creationTimestamp",
                "/metadata/labels/*",
                "/metadata/name/no",
                "/spec/containers",
                "/spec/containers/*/image",
                "/spec/containers/*/ports/*/containerPort",
                "/spec/containers/image",
                "/spec/*/*/name",
                "/metadata/managedFields",
                "/status",
                "/no",
            ] {
                let path: FieldPath = path.parse().unwrap();
                let values = |packed: &Packed<Pod>| packed.fields::<Value>(&path).unwrap();
                assert_eq!(values(&packed), values(&expected), "{path}");
            }
        }
    }

    #[test]
    fn errors_show_the_path_and_no_content() {
        #[derive(Debug, serde::Deserialize)]
        struct Data {
            #[expect(dead_code)]
            data: std::collections::BTreeMap<String, u64>,
        }
        let secret = json!({
            "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "a"}, "data": {"password": "aHVudGVyMg=="},
        });
        let raw = raw(&secret, &FieldPlan::default());
        assert!(decode::<Secret>(&raw).is_ok());
        let message = decode::<Data>(&raw).unwrap_err().to_string();
        assert_eq!(message, r#"data["password"]: invalid type"#);
    }

    #[test]
    fn deep_objects_fit_the_stack() {
        let schema = |depth| (0..depth).fold(json!({"type": "string"}), |inner, _| json!({"items": inner}));
        let definition = |depth| {
            let version = json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema(depth)}});
            json!({
                "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "a"},
                "spec": {"group": "g", "scope": "Cluster", "names": {"plural": "a", "kind": "A"}, "versions": [version]},
            })
        };
        for depth in (0..10).map(|step| 12 * step) {
            let Ok(bytes) = to_vec(&definition(depth), Deny) else {
                continue;
            };
            let raw = RawObject::scan(Encoding::Protobuf, bytes.into()).unwrap();
            assert!(decode::<CustomResourceDefinition>(&raw).is_ok(), "{depth}");
        }
    }
}
