//! A sample of the objects of a kind, and what it takes in bytes.

use crate::diff::LAST_APPLIED;
use crate::informers::{BESIDE, Form};
use crate::target::Target;
use futures::StreamExt as _;
use kube::core::{DynamicObject, TypeMeta};
use kube_informer::form::{Decode as _, DecoderConfig, Packer};
use kube_informer::low_level::wire::{Encoding, RawObject};
use kube_informer::source::{ApiError, Item, ListPart, ListRequest, ListVersion, ListerWatcher};
use kube_informer::{FieldPlan, ObjectKey, ResourceVersion};
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap};
use std::io;
use tokio::time::{Instant, timeout_at};

/// The number of objects in a page.
const PAGE: usize = 100;
/// The bytes of a kind after which no more of its objects are looked at.
const MOST_BYTES: u64 = 32 << 20;
/// The length in bytes from which a string counts as it is: every form holds it once, whatever else it makes of an
/// object.
const LONG: usize = 256;
/// The number of objects from which a dictionary is learned: what follows takes less.
const LEARNED: u64 = 64;

/// A sample of a kind.
pub(super) struct Sample {
    /// The number of all objects of the kind.
    pub(super) objects: u64,
    /// Whether there may be more.
    pub(super) at_least: bool,
    /// The number of objects in the sample.
    pub(super) sampled: u64,
    pub(super) sizes: Sizes,
    /// The bytes of each field.
    pub(super) fields: BTreeMap<String, u64>,
    packed: Packing,
    /// The version of the list, and when it was asked for.
    pub(super) version: Option<ResourceVersion>,
    pub(super) listed: Instant,
    /// The objects, whole, and what packs more of them.
    pub(super) states: HashMap<ObjectKey, Form>,
    pub(super) packer: Packer<DynamicObject>,
}

/// What objects take when they are packed.
#[derive(Debug, Clone, Copy, Default)]
struct Packing {
    /// The bytes of all.
    all: u64,
    /// The number of the last ones, which were packed as any further ones are, and their bytes.
    last: u64,
    bytes_of_last: u64,
}

/// Sums of bytes of JSON over a sample.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sizes {
    pub(super) all: u64,
    pub(super) managed_fields: u64,
    pub(super) last_applied: u64,
    /// The metadata.
    pub(super) metadata: u64,
    /// What is in long strings, of all and of the metadata.
    pub(super) long: u64,
    pub(super) long_metadata: u64,
    /// The strings by which an object is found and grouped (name, namespace, uid, version, labels), and their number.
    pub(super) identity: u64,
    pub(super) identity_strings: u64,
}

impl Sample {
    /// Lists a sample in pages, as far as it comes by the deadline; `None` if not even the first page does. The values of
    /// secrets are not asked for, and nothing is looked at in them.
    ///
    /// # Errors
    /// The first page could not be read.
    pub(super) async fn take(
        target: &Target,
        size: u64,
        deadline: Instant,
    ) -> Result<Option<Self>, ApiError> {
        let types = TypeMeta {
            api_version: target.resource.api().api_version,
            kind: target.resource.kind.clone(),
        };
        let config = || DecoderConfig {
            types: Some(types.clone()),
            ..DecoderConfig::default()
        };
        let mut sample = Self {
            objects: 0,
            at_least: false,
            sampled: 0,
            sizes: Sizes::default(),
            fields: BTreeMap::new(),
            packed: Packing::default(),
            version: None,
            listed: Instant::now(),
            states: HashMap::new(),
            packer: Form::decoder(config()),
        };
        let mut source = target.source().encoding(Encoding::Json);
        if target.resource.is_secret() {
            source = source.metadata_only();
        }
        let mut pruned = Vec::new();
        let mut request = ListRequest::new(ListVersion::MostRecent);
        loop {
            let left = size.saturating_sub(sample.objects).max(1);
            request.limit = u32::try_from(left.min(PAGE as u64)).ok();
            let (items, end) = match timeout_at(deadline, page(&source, &request)).await {
                // The pages before it are a sample, too.
                Ok(Err(_)) | Err(_) if sample.objects > 0 => {
                    sample.at_least = true;
                    break;
                }
                Ok(page) => page?,
                Err(_) => return Ok(None),
            };
            sample.objects += items.len() as u64;
            if !target.resource.is_secret() {
                for raw in items {
                    sample.add(&raw);
                    pruned.push(raw);
                }
            }
            sample.version = end.resource_version.or(sample.version);
            let Some(token) = end.continue_token.filter(|token| !token.is_empty()) else {
                break;
            };
            if sample.objects >= size || sample.sizes.all >= MOST_BYTES {
                match end.remaining_item_count {
                    Some(more) => sample.objects = sample.objects.saturating_add(more),
                    None => sample.at_least = true,
                }
                break;
            }
            request.continue_token = Some(token);
        }
        sample.packed = pack(&pruned, config());
        Ok(Some(sample))
    }

    fn add(&mut self, raw: &RawObject) {
        let Ok(object) = serde_json::from_slice::<Value>(raw.bytes()) else {
            return;
        };
        self.sampled += 1;
        self.sizes.add(&object, raw.bytes().len() as u64);
        each_field(&object, |path, bytes| {
            *self.fields.entry(path).or_default() += bytes;
        });
        let key = raw.key();
        if let Ok(state) = Form::decode_raw(&self.packer, &key, raw) {
            self.states.insert(key, state);
        }
    }

    /// What all objects of the kind take packed: what the sample takes, and for each of the others what one of the last of
    /// it takes.
    pub(super) fn packed(&self) -> u64 {
        let Packing {
            all,
            last,
            bytes_of_last,
        } = self.packed;
        let each = bytes_of_last.checked_div(last).unwrap_or_default();
        let others = self.objects.saturating_sub(self.sampled);
        all.saturating_add(others.saturating_mul(each))
            .saturating_add(self.objects.saturating_mul(BESIDE))
    }

    /// A sum over the sample, as it is for all objects of the kind.
    pub(super) fn of_all(&self, sum: u64) -> u64 {
        match self.sampled {
            0 => 0,
            sampled => (u128::from(sum) * u128::from(self.objects) / u128::from(sampled))
                .try_into()
                .unwrap_or(u64::MAX),
        }
    }

    /// The fields that make up the most bytes.
    pub(super) fn biggest_fields(&self, number: usize) -> Vec<FieldSize> {
        let mut fields: Vec<_> = self.fields.iter().collect();
        fields.sort_by_key(|(path, bytes)| (std::cmp::Reverse(**bytes), *path));
        let share = |bytes: u64| bytes as f64 / self.sizes.all.max(1) as f64;
        let fields = fields.into_iter().take(number).map(|(path, bytes)| FieldSize {
            path: path.clone(),
            bytes: self.of_all(*bytes),
            share: share(*bytes),
        });
        fields.collect()
    }
}

/// What a field takes.
#[derive(Debug, Clone, Serialize)]
pub(super) struct FieldSize {
    pub(super) path: String,
    /// The bytes of it in all objects of the kind.
    pub(super) bytes: u64,
    /// The part of all bytes.
    pub(super) share: f64,
}

/// A page of a list, and its end.
async fn page<S: ListerWatcher<Form>>(
    source: &S,
    request: &ListRequest,
) -> Result<(Vec<RawObject>, kube_informer::source::ListMeta), ApiError> {
    let mut parts = source.list(request.clone()).await?;
    let mut items = Vec::new();
    while let Some(part) = parts.next().await {
        match part? {
            ListPart::Item(Item::Raw(raw)) => items.push(raw.into_owned()),
            ListPart::Item(Item::Object(_) | Item::Invalid(_)) => {}
            ListPart::End(end) => return Ok((items, end)),
        }
    }
    Err(ApiError::Protocol("the list has no end".into()))
}

/// The number of the objects of a sample that do not say what further ones take: those from which a dictionary is learned, and of
/// a large sample the first half, in which families are still new. None of a sample that is too small to learn from.
fn first_ones(sampled: u64) -> u64 {
    match sampled {
        ..=LEARNED => 0,
        sampled => LEARNED.max(sampled / 2),
    }
}

/// Packs objects without managedFields.
fn pack(objects: &[RawObject], config: DecoderConfig) -> Packing {
    let plan = FieldPlan::without_managed_fields();
    let packer = Form::decoder(DecoderConfig {
        plan: plan.clone(),
        ..config
    });
    let mut kept = Vec::new();
    let first = first_ones(objects.len() as u64);
    let mut bytes_of_first = 0;
    for (number, raw) in objects.iter().enumerate() {
        if number as u64 == first {
            bytes_of_first = packer.stats().total_bytes;
        }
        if let Ok(raw) = RawObject::scan_with(Encoding::Json, raw.bytes().clone(), &plan) {
            kept.extend(Form::decode_raw(&packer, &raw.key(), &raw).ok());
        }
    }
    let all = packer.stats().total_bytes;
    Packing {
        all,
        last: objects.len() as u64 - first,
        bytes_of_last: all.saturating_sub(bytes_of_first),
    }
}

impl Sizes {
    fn add(&mut self, object: &Value, bytes: u64) {
        let metadata = &object["metadata"];
        self.all += bytes;
        self.metadata += size(metadata);
        self.managed_fields += size_of(metadata, "managedFields");
        self.last_applied += size_of(&metadata["annotations"], LAST_APPLIED);
        self.long += long_strings(object);
        self.long_metadata += long_strings(metadata);
        let named = ["name", "namespace", "uid", "resourceVersion"].map(|name| metadata[name].as_str());
        let labels = metadata["labels"].as_object().into_iter().flatten();
        let labels = labels.flat_map(|(name, value)| [Some(name.as_str()), value.as_str()]);
        for text in named.into_iter().chain(labels).flatten() {
            self.identity += text.len() as u64;
            self.identity_strings += 1;
        }
    }
}

/// The size of a value in JSON.
fn size(value: &Value) -> u64 {
    struct Count(u64);
    impl io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len() as u64;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    // Neither the value nor the counter can fail.
    let _ = serde_json::to_writer(&mut count, value);
    count.0
}

/// The size of a member with its name, the colon and a comma; nothing if there is none.
fn size_of(object: &Value, name: &str) -> u64 {
    object.get(name).map_or(0, |value| member(name, value))
}

fn member(name: &str, value: &Value) -> u64 {
    name.len() as u64 + 4 + size(value)
}

fn long_strings(value: &Value) -> u64 {
    match value {
        Value::String(text) if text.len() >= LONG => text.len() as u64,
        Value::Array(list) => list.iter().map(long_strings).sum(),
        Value::Object(map) => map.values().map(long_strings).sum(),
        _ => 0,
    }
}

/// Calls `each` with the fields of an object and their sizes: members of its members, and annotations each.
fn each_field(object: &Value, mut each: impl FnMut(String, u64)) {
    for (name, value) in object.as_object().into_iter().flatten() {
        match value {
            Value::Object(members) if matches!(name.as_str(), "metadata" | "spec" | "status") => {
                for (inner, value) in members {
                    match value {
                        Value::Object(annotations) if name == "metadata" && inner == "annotations" => {
                            for (key, value) in annotations {
                                each(format!("metadata.annotations[{key:?}]"), member(key, value));
                            }
                        }
                        value => each(format!("{name}.{inner}"), member(inner, value)),
                    }
                }
            }
            value => each(name.clone(), member(name, value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fields_make_up_the_bytes() {
        let object = json!({
            "kind": "Pod",
            "metadata": {"name": "a", "annotations": {"x/y": "1"}, "managedFields": [1]},
            "spec": {"a": {"b": 1}}, "data": {"k": "v"},
        });
        let mut fields = Vec::new();
        each_field(&object, |path, bytes| fields.push((path, bytes)));
        fields.sort();
        let names: Vec<_> = fields.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(
            names,
            [
                "data",
                "kind",
                "metadata.annotations[\"x/y\"]",
                "metadata.managedFields",
                "metadata.name",
                "spec.a"
            ]
        );
        assert_eq!(fields[5].1, r#""a":{"b":1},"#.len() as u64);
    }

    #[test]
    fn sizes_are_those_of_the_json() {
        let long = "x".repeat(LONG);
        let object = json!({"metadata": {"name": "a", "labels": {"k": "vv"}, "managedFields": [1]}, "data": {"k": long}});
        let mut sizes = Sizes::default();
        sizes.add(&object, object.to_string().len() as u64);
        assert_eq!(sizes.metadata, object["metadata"].to_string().len() as u64);
        assert_eq!(sizes.managed_fields, r#""managedFields":[1],"#.len() as u64);
        assert_eq!((sizes.long, sizes.long_metadata), (LONG as u64, 0));
        assert_eq!((sizes.identity, sizes.identity_strings), (4, 3));
    }
}
