//! Objects of every built-in kind are held the same, whether the server sends them in protobuf or in JSON.
//!
//! `conformance/protobuf` fills every field of every kind with Kubernetes' own sources. Some of what it prints is recorded in
//! kube-protobuf's tests, which compare it byte by byte; the test that needs Go takes all of it.

use instances as _;
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kube_informer::form::{Decode, Packed};
use kube_informer::low_level::wire::Encoding;
use kube_informer::reflector::{InitialState, ReflectorOptions};
use kube_informer::source::{ClientSource, Selection};
use kube_informer::{FieldPath, ResourceVersion, SharedInformer};
use kube_protobuf::{Descriptor, UnknownFields::Deny, to_value, to_vec};
use kube_sim::script::{Answer, Received, ScriptedServer, event, status};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The version of the first list.
const FIRST: u64 = 1000;
/// The version of the second one, in the other encoding.
const SECOND: u64 = 2000;

/// An object as Go writes it in JSON.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    api_version: String,
    kind: String,
    json: Value,
}

/// Objects of one kind, with names and versions of their own.
#[derive(Clone)]
struct Collection {
    api_version: String,
    kind: String,
    items: Vec<Value>,
}

/// The objects by kind, of kinds that servers have lists of.
fn collections(lines: impl Iterator<Item = Line>) -> Vec<Collection> {
    let mut kinds: BTreeMap<(String, String), Vec<Value>> = BTreeMap::new();
    for line in lines {
        let is_listed = !line.api_version.starts_with("meta.k8s.io/")
            && Descriptor::of(&line.api_version, &format!("{}List", line.kind)).is_some();
        if is_listed && line.json["metadata"].is_object() {
            let items = kinds.entry((line.api_version, line.kind)).or_default();
            let object = named(line.json, items.len() + 1);
            // The last seconds of year 9999 are no time of k8s-openapi's.
            if DynamicObject::deserialize(&object).is_ok() {
                items.push(object);
            }
        }
    }
    let collection = |((api_version, kind), items)| Collection {
        api_version,
        kind,
        items,
    };
    kinds.into_iter().map(collection).collect()
}

/// The object as a server shows it, which has decoded what it shows: some values that Go writes it reads as no value.
fn named(mut object: Value, number: usize) -> Value {
    let metadata = &mut object["metadata"];
    metadata["name"] = format!("object-{number}").into();
    metadata["namespace"] = "ns".into();
    metadata["uid"] = format!("uid-{number}").into();
    metadata["resourceVersion"] = number.to_string().into();
    to_value(&to_vec(&object, Deny).unwrap()).unwrap()
}

impl Collection {
    fn resource(&self) -> ApiResource {
        let (group, version) = self
            .api_version
            .rsplit_once('/')
            .unwrap_or(("", &self.api_version));
        ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, &self.kind))
    }

    fn list(&self, encoding: Encoding, version: u64) -> Answer {
        let list = json!({
            "apiVersion": self.api_version, "kind": format!("{}List", self.kind),
            "metadata": {"resourceVersion": version.to_string()}, "items": self.items,
        });
        match encoding {
            Encoding::Json => Answer::json(list.to_string()),
            _ => Answer::code(200)
                .header("content-type", "application/vnd.kubernetes.protobuf")
                .in_chunks_of(1000, to_vec(&list, Deny).expect(&self.kind)),
        }
    }

    /// The first list, a watch that has expired, the second list in the other encoding, and a watch without events.
    fn answer(&self, request: &Received, first: Encoding) -> Answer {
        let other = match first {
            Encoding::Json => Encoding::Protobuf,
            _ => Encoding::Json,
        };
        let watches = request.parameter("watch").is_some();
        match (watches, request.parameter("resourceVersion")) {
            (false, Some("0")) => self.list(first, FIRST),
            (false, _) => self.list(other, SECOND),
            (true, Some("1000")) => Answer::watch([event("ERROR", &status(410, "Expired", "too old"))]),
            (true, _) => Answer::watch(None::<&str>).open(),
        }
    }
}

/// The objects that an informer holds after both lists, of which the first comes in this encoding.
async fn held<O: Decode>(collection: &Collection, first: Encoding) -> Vec<O::Handle> {
    let answers = collection.clone();
    let server = ScriptedServer::new().otherwise(move |request| answers.answer(request, first));
    let client = kube::Client::new(server.service(), "default");
    let source = ClientSource::new(client, collection.resource(), Selection::default());
    let changes = Arc::<AtomicUsize>::default();
    let counter = changes.clone();
    let (informer, runner) = SharedInformer::<O>::builder(source.encoding(Encoding::Protobuf))
        .reflector_options(ReflectorOptions {
            initial: InitialState::List,
            ..Default::default()
        })
        .transform(move |object| {
            counter.fetch_add(1, Ordering::Relaxed);
            Ok(object)
        })
        .build();
    let stop = CancellationToken::new();
    let _stop = stop.clone().drop_guard();
    tokio::spawn(runner.run(stop));
    let version = ResourceVersion::from(SECOND);
    let relisted = tokio::time::timeout(Duration::from_secs(60), informer.store().wait_until(&version));
    relisted.await.expect(&collection.kind).unwrap();

    let (kind, items) = (&collection.kind, collection.items.len());
    assert_eq!(
        changes.load(Ordering::Relaxed),
        items,
        "{kind}: the second list has changed nothing"
    );
    assert_eq!(informer.store().len(), items, "{kind}");
    let key = |number| format!("ns/object-{number}");
    (1..=items)
        .map(|number| informer.store().get(&key(number)).unwrap())
        .collect()
}

/// Compares what informers hold that have got the objects in one encoding or the other.
async fn check(collection: &Collection) {
    let kind = &collection.kind;
    let json = held::<DynamicObject>(collection, Encoding::Json).await;
    let protobuf = held::<DynamicObject>(collection, Encoding::Protobuf).await;
    assert!(protobuf == json, "{kind}");
    for encoding in [Encoding::Json, Encoding::Protobuf] {
        let packed = held::<Packed<DynamicObject>>(collection, encoding).await;
        for ((packed, decoded), item) in packed.iter().zip(&json).zip(&collection.items) {
            // By default, packed objects are without them.
            let (mut decoded, mut item) = (decoded.as_ref().clone(), item.clone());
            decoded.metadata.managed_fields = None;
            item["metadata"].as_object_mut().unwrap().remove("managedFields");
            assert_eq!(packed.encoding(), encoding, "{kind}");
            assert!(*packed.decode().expect(kind) == decoded, "{kind} in {encoding:?}");
            for (name, value) in item.as_object().unwrap() {
                let path: FieldPath = format!("/{name}").parse().unwrap();
                let field: Option<Value> = packed.field(&path).expect(kind);
                assert_eq!(
                    field.unwrap_or_default(),
                    *value,
                    "{kind} in {encoding:?}, {name}"
                );
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn recorded_kinds_are_held_the_same_in_both_encodings() {
    let lines = include_str!("../../kube-protobuf/tests/go/recorded.jsonl").lines();
    let collections = collections(lines.map(|line| serde_json::from_str(line).unwrap()));
    assert!(collections.len() > 10, "{} kinds", collections.len());
    for collection in &collections {
        check(collection).await;
    }
}

#[tokio::test(start_paused = true)]
#[ignore = "needs Go: conformance/run"]
async fn every_kind_is_held_the_same_in_both_encodings() {
    let build = concat!(env!("CARGO_MANIFEST_DIR"), "/../../conformance/protobuf/build");
    let built = Command::new(build).stderr(Stdio::inherit()).output().unwrap();
    assert!(built.status.success());
    let program = String::from_utf8(built.stdout).unwrap();
    let printed = Command::new(program.trim())
        .arg("3")
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    assert!(printed.status.success());
    let lines = printed
        .stdout
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty());
    let collections = collections(lines.map(|line| serde_json::from_slice(line).unwrap()));
    assert!(collections.len() > 100, "{} kinds", collections.len());
    for collection in &collections {
        check(collection).await;
    }
}
