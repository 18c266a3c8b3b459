//! What a serde type can ask for, and what becomes of bytes that nobody wrote.

use kube_protobuf::{
    Descriptor, Deserializer, Envelope, ErrorKind, MAX_DEPTH, UnknownFields, from_message, from_slice,
    json_to_vec, message_to_vec, to_value, to_vec,
};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::HashMap;

fn bytes(object: &Value) -> Vec<u8> {
    to_vec(object, UnknownFields::Deny).unwrap()
}

fn named(name: &str) -> Descriptor {
    Descriptor::named(name).unwrap()
}

fn pod() -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "web", "namespace": "default", "labels": {"app": "web"}, "annotations": {"a/b": "c"}},
        "spec": {
            "containers": [
                {"name": "a", "image": "x", "ports": [{"containerPort": 80}], "resources": {}},
                {"name": "b", "image": "y", "resources": {"limits": {"cpu": "500m"}}},
            ],
            "volumes": [{"name": "config", "configMap": {"name": "settings", "defaultMode": 420}}],
            "restartPolicy": "Always",
        },
        "status": {"phase": "Running"},
    })
}

#[test]
fn flattened_and_untagged_types_are_read() {
    #[derive(Deserialize)]
    struct Object {
        kind: String,
        #[serde(flatten)]
        rest: HashMap<String, Value>,
    }
    #[derive(Deserialize, Debug, PartialEq)]
    #[serde(untagged)]
    enum Port {
        Number(u16),
        Name(String),
    }
    #[derive(Deserialize)]
    struct Target {
        #[serde(rename = "targetPort")]
        target: Port,
    }

    let pod = bytes(&pod());
    let object: Object = from_slice(&pod).unwrap();
    assert_eq!(object.kind, "Pod");
    assert_eq!(
        object.rest["spec"]["containers"][0]["ports"][0]["containerPort"],
        80
    );
    for (value, expected) in [
        (json!(80), Port::Number(80)),
        (json!("http"), Port::Name("http".into())),
    ] {
        let port = json!({"port": 1, "targetPort": value});
        let message = named("k8s.io.api.core.v1.ServicePort");
        let port = message_to_vec(message, &port, UnknownFields::Deny).unwrap();
        assert_eq!(from_message::<Target>(message, &port).unwrap().target, expected);
    }
}

#[test]
fn enums_are_read_by_tag_and_by_name() {
    #[derive(Deserialize, Debug, PartialEq)]
    #[serde(tag = "kind")]
    enum Tagged {
        Pod { metadata: Named },
        Service,
    }
    #[derive(Deserialize, Debug, PartialEq)]
    struct Named {
        name: String,
    }
    #[derive(Deserialize, Debug, PartialEq)]
    enum Phase {
        Running,
        Pending,
    }
    #[derive(Deserialize)]
    struct Status {
        phase: Phase,
    }
    #[derive(Deserialize)]
    struct Pod {
        status: Status,
    }

    let pod = bytes(&pod());
    let metadata = Named { name: "web".into() };
    assert_eq!(from_slice::<Tagged>(&pod).unwrap(), Tagged::Pod { metadata });
    assert_eq!(from_slice::<Pod>(&pod).unwrap().status.phase, Phase::Running);
}

#[test]
fn strings_are_borrowed() {
    #[derive(Deserialize)]
    struct Pod<'a> {
        #[serde(borrow)]
        metadata: Metadata<'a>,
        kind: &'a str,
    }
    #[derive(Deserialize)]
    struct Metadata<'a> {
        name: &'a str,
        #[serde(borrow)]
        labels: HashMap<&'a str, Cow<'a, str>>,
    }

    let pod = bytes(&pod());
    let pod: Pod<'_> = from_slice(&pod).unwrap();
    assert_eq!((pod.kind, pod.metadata.name), ("Pod", "web"));
    assert_eq!(pod.metadata.labels["app"], "web");
}

#[test]
fn fields_are_read_in_any_order() {
    let message = named("k8s.io.api.core.v1.EnvVar");
    // value, name
    let value: Value = from_message(message, b"\x12\x01v\x0a\x01n").unwrap();
    assert_eq!(value, json!({"name": "n", "value": "v"}));

    // Items of a repeated field around another one.
    let message = named("k8s.io.api.core.v1.NodeSelectorRequirement");
    let value: Value = from_message(message, b"\x1a\x01a\x0a\x01k\x1a\x01b\x12\x02In\x1a\x01c").unwrap();
    assert_eq!(
        value,
        json!({"key": "k", "operator": "In", "values": ["a", "b", "c"]})
    );
}

#[test]
fn packed_numbers_are_read_as_single_ones() {
    let message = named("k8s.io.api.core.v1.PodSecurityContext");
    let single: Value = from_message(message, b"\x20\x05\x20\x06").unwrap();
    let packed: Value = from_message(message, b"\x22\x02\x05\x06").unwrap();
    assert_eq!(single, json!({"supplementalGroups": [5, 6]}));
    assert_eq!(packed, single);
}

#[test]
fn what_is_not_wanted_is_passed_over() {
    #[derive(Deserialize)]
    struct Pod {
        spec: IgnoredAny,
        status: HashMap<String, Value>,
    }
    let pod: Pod = from_slice(&bytes(&pod())).unwrap();
    let Pod {
        spec: IgnoredAny,
        status,
    } = pod;
    assert_eq!(status["phase"], "Running");
}

#[test]
fn an_array_that_is_too_long_is_refused_as_in_json() {
    #[derive(Deserialize, Debug)]
    #[expect(dead_code, reason = "only decoded")]
    struct Spec {
        containers: (Value,),
    }
    #[derive(Deserialize, Debug)]
    #[expect(dead_code, reason = "only decoded")]
    struct Pod {
        spec: Spec,
    }
    assert!(Pod::deserialize(&pod()).is_err());
    let error = from_slice::<Pod>(&bytes(&pod())).unwrap_err();
    assert_eq!(
        error.to_string(),
        "spec.containers: the array has more than 1 elements"
    );
}

#[test]
fn errors_name_the_place_and_not_the_value() {
    #[derive(Deserialize, Debug)]
    #[expect(dead_code, reason = "only decoded")]
    struct Pod {
        spec: Spec,
    }
    #[derive(Deserialize, Debug)]
    #[expect(dead_code, reason = "only decoded")]
    struct Spec {
        containers: Vec<HashMap<String, Value>>,
        volumes: Vec<HashMap<String, u8>>,
    }
    let error = from_slice::<Pod>(&bytes(&pod())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Mismatch);
    assert_eq!(error.path(), "spec.volumes[0].name");
    assert_eq!(
        error.to_string(),
        "spec.volumes[0].name: invalid type: a string, expected u8"
    );

    // metadata.labels, an entry whose value is longer than it
    let broken = b"\x5a\x05\x0a\x01k\x12\x09";
    let error =
        from_message::<Value>(named("k8s.io.apimachinery.pkg.apis.meta.v1.ObjectMeta"), broken).unwrap_err();
    assert_eq!(
        (error.kind(), error.path().as_str()),
        (ErrorKind::Malformed, "labels")
    );
}

#[test]
fn a_kind_without_a_message_is_named() {
    let widget = json!({"apiVersion": "example.com/v1", "kind": "Widget"});
    let error = to_vec(&widget, UnknownFields::Ignore).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::UnknownKind);
    assert_eq!(
        error.to_string(),
        "there is no protobuf message of example.com/v1 Widget"
    );
    for (object, message) in [
        (json!({"kind": "Pod"}), "it has no apiVersion"),
        (json!({"apiVersion": "v1"}), "it has no kind"),
        (json!([]), "it has no apiVersion"),
    ] {
        let error = to_vec(&object, UnknownFields::Ignore).unwrap_err();
        assert_eq!(
            (error.kind(), error.to_string().as_str()),
            (ErrorKind::UnknownKind, message)
        );
    }
}

/// A schema in a schema in a schema.
fn schema(depth: usize) -> Vec<u8> {
    const NOT: u32 = 28;
    let mut bytes = Vec::new();
    for _ in 1..depth {
        let mut outer = Vec::new();
        for number in [u64::from(NOT << 3 | 2), bytes.len() as u64] {
            let mut number = number;
            while number >= 0x80 {
                outer.push(number as u8 | 0x80);
                number >>= 7;
            }
            outer.push(number as u8);
        }
        outer.append(&mut bytes);
        bytes = outer;
    }
    bytes
}

#[test]
fn depth_is_limited() {
    use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::JSONSchemaProps;
    let message = named("k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps");
    let deepest = schema(MAX_DEPTH);
    // k8s-openapi's own frames are large without optimization.
    std::thread::Builder::new()
        .stack_size(16 << 20)
        .spawn(move || {
            assert!(from_message::<JSONSchemaProps>(message, &deepest).is_ok());
            let value: Value = from_message(message, &deepest).unwrap();
            assert!(value["not"]["not"].is_object());
            let written = message_to_vec(message, &value, UnknownFields::Deny).unwrap();
            assert_eq!(from_message::<Value>(message, &written).unwrap(), value);
            let deeper = json!({"not": value});
            let error = message_to_vec(message, &deeper, UnknownFields::Deny).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::TooDeep);
        })
        .unwrap()
        .join()
        .unwrap();
    let error = from_message::<Value>(message, &schema(MAX_DEPTH + 1)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TooDeep);
    assert_eq!(error.path().matches("not").count(), MAX_DEPTH);
}

#[test]
fn unknown_fields_are_left_out_or_named() {
    let mut object = pod();
    object["spec"]["containers"][1]["imagee"] = json!("z");
    let error = to_vec(&object, UnknownFields::Deny).unwrap_err();
    assert_eq!(
        error.to_string(),
        "spec.containers[1].imagee: there is no such field"
    );
    assert_eq!(to_vec(&object, UnknownFields::Ignore).unwrap(), bytes(&pod()));
}

#[test]
fn what_does_not_fit_is_named() {
    for (path, value, message) in [
        (
            "/spec/containers",
            json!({}),
            "spec.containers: an array is expected, not an object",
        ),
        (
            "/spec/containers/0/image",
            json!(1),
            "spec.containers[0].image: a string is expected, not a number",
        ),
        (
            "/spec/containers/0/ports/0/containerPort",
            json!(1_u64 << 40),
            "spec.containers[0].ports[0].containerPort: an integer of 32 bits is expected, not a larger one",
        ),
        (
            "/metadata/labels/app",
            json!([]),
            "metadata.labels[\"app\"]: a string is expected, not an array",
        ),
        (
            "/spec/containers/1/resources/limits/cpu",
            json!("much"),
            "spec.containers[1].resources.limits[\"cpu\"]: a quantity is expected, such as 500m or 2Gi",
        ),
        ("/spec", json!(true), "spec: an object is expected, not a boolean"),
        ("/kind", json!(1), "kind: it must be a string"),
    ] {
        let mut object = pod();
        *object.pointer_mut(path).unwrap() = value;
        assert_eq!(
            to_vec(&object, UnknownFields::Deny).unwrap_err().to_string(),
            message
        );
    }
}

#[test]
fn json_is_written_as_its_value() {
    let message = Descriptor::of("v1", "Pod").unwrap();
    let json = |text: &str| json_to_vec(message, text, UnknownFields::Deny);
    let pretty = serde_json::to_string_pretty(&pod()).unwrap();
    let expected = message_to_vec(message, &pod(), UnknownFields::Deny).unwrap();
    assert_eq!(json(&pretty).unwrap(), expected);
    // Of what is there twice the last one counts, and what is null is not there.
    for (twice, once) in [
        (
            r#"{"spec": {"nodeName": "a"}, "spec": {"hostname": "b"}}"#,
            r#"{"spec": {"hostname": "b"}}"#,
        ),
        (
            r#"{"metadata": {"labels": {"a": "1", "b": "2", "a": "3"}}}"#,
            r#"{"metadata": {"labels": {"b": "2", "a": "3"}}}"#,
        ),
        (
            r#"{"spec": {"priority": 1, "priority": null}}"#,
            r#"{"spec": {}}"#,
        ),
        ("null", "{}"),
    ] {
        assert_eq!(json(twice).unwrap(), json(once).unwrap(), "{twice}");
    }
    for (text, error) in [
        (
            r#"{"spec": {"nodeName": "#,
            "the JSON inside: EOF while parsing a value at line 1 column 22",
        ),
        ("{} {}", "the JSON inside: trailing characters at line 1 column 4"),
        (
            r#"{"spec": {"containers": [{}, {"image": 1}]}}"#,
            "spec.containers[1].image: a string is expected, not a number",
        ),
        (r#"{"spec": {"x": 1}}"#, "spec.x: there is no such field"),
    ] {
        assert_eq!(json(text).unwrap_err().to_string(), error);
    }
}

#[test]
fn json_in_a_message_may_be_deep() {
    let message = Descriptor::of("apps/v1", "ControllerRevision").unwrap();
    let data = "[".repeat(10_000) + &"]".repeat(10_000);
    for name in ["data", "unknown"] {
        let text = format!(r#"{{"{name}": {data}}}"#);
        let written = json_to_vec(message, &text, UnknownFields::Ignore).unwrap();
        assert_eq!(written.len() > data.len(), name == "data");
    }
}

#[test]
fn an_object_inside_another_one_is_read_in_either_encoding() {
    let message = Descriptor::watch_event();
    let event = kube_protobuf::watch_event_to_vec("MODIFIED", &bytes(&pod()));
    let event: Value = from_message(message, &event).unwrap();
    assert_eq!(event["type"], "MODIFIED");
    let expected = to_value(&bytes(&pod())).unwrap();
    assert_eq!(event["object"], expected);
    let in_json = json!({"type": "MODIFIED", "object": expected});
    let event = message_to_vec(message, &in_json, UnknownFields::Deny).unwrap();
    assert_eq!(from_message::<Value>(message, &event).unwrap(), in_json);
}

#[test]
fn an_envelope_is_opened_without_its_content() {
    let pod = bytes(&pod());
    let envelope = Envelope::parse(&pod).unwrap();
    assert_eq!((envelope.api_version, envelope.kind), ("v1", "Pod"));
    assert_eq!(envelope.to_vec(), pod);
    let message = Descriptor::of(envelope.api_version, envelope.kind).unwrap();
    let mut bare: Value = from_message(message, envelope.raw).unwrap();
    bare["apiVersion"] = "v1".into();
    bare["kind"] = "Pod".into();
    assert_eq!(bare, to_value(&pod).unwrap());
}

#[test]
fn encodings_that_are_not_known_are_refused() {
    for bytes in [
        &b"k8s\0\x0a\x09\x0a\x02v1\x12\x03Pod\x1a\x04gzip"[..],
        b"k8s\0\x0a\x10\x0a\x02v1\x12\x0aWhoKnowsIt",
        b"",
    ] {
        assert!(Deserializer::from_slice(bytes).is_err());
    }
    // runtime.RawExtension with CBOR
    let cbor = named("k8s.io.apimachinery.pkg.runtime.RawExtension");
    assert!(from_message::<Value>(cbor, b"\x0a\x04\xd9\xd9\xf7\xa0").is_err());
}
