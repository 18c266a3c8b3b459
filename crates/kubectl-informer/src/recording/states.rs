//! The objects of a recording, as they are after the entries so far.

use super::{Entry, Event, Header, MOST_OF_LINE};
use crate::discovery::Resource;
use crate::informers::Form;
use crate::text::is_ascii_printable;
use bytes::Bytes;
use json_patch::{Patch, PatchOperation};
use kube::core::{DynamicObject, TypeMeta};
use kube_informer::form::{Decode as _, DecoderConfig, Packer};
use kube_informer::low_level::wire::{Encoding, RawObject};
use kube_informer::{FieldPlan, ObjectKey};
use serde_json::Value;
use serde_json::value::RawValue;
use std::collections::HashMap;

/// The most bytes of a key: a namespace and a name have 317 at most.
const MOST_OF_KEY: usize = 1024;
/// The most objects that a recording may hold at a time.
const MOST_OBJECTS: usize = 5_000_000;
/// The most patches of an object that wait to be applied, and the most bytes of one. Applying one takes microseconds; what takes
/// long is to decompress and decode the object before, and to compress it after.
const MOST_WAITING: usize = 64;
const MOST_OF_WAITING: usize = 64 << 10;
/// The most bytes of all patches that wait.
const MOST_WAITING_BYTES: usize = 64 << 20;

/// The objects after some entries, packed.
pub(crate) struct States {
    kinds: Vec<Kind>,
    objects: usize,
    /// The bytes of the patches that wait.
    waiting: usize,
}

struct Kind {
    resource: Resource,
    packer: Packer<DynamicObject>,
    objects: HashMap<ObjectKey, State>,
}

struct State {
    object: Form,
    /// The patches that were not applied yet, from the oldest.
    waiting: Vec<Waiting>,
    /// When it was changed, in milliseconds since the recording began, if it was since then.
    changed: Option<u64>,
}

/// A patch, and the line it was read from.
struct Waiting {
    patch: Box<RawValue>,
    line: u64,
}

/// What an entry changed.
#[derive(Debug)]
pub(crate) struct Change {
    /// The object before; `None` if there was none.
    pub(crate) old: Option<Object>,
    /// The object after; `None` if there is none.
    pub(crate) new: Option<Object>,
}

/// An object before or after a change. It is decoded when somebody asks for its value, as most readers look at few objects.
#[derive(Debug)]
pub(crate) enum Object {
    /// As it was held.
    Packed(Form),
    /// As it was recorded.
    Json(Bytes),
    /// As a patch has found or made it.
    Decoded(Value),
}

impl Object {
    /// The object with its apiVersion and kind.
    ///
    /// # Errors
    /// It is no JSON, or nested too deeply.
    pub(crate) fn value(self, resource: &Resource) -> Result<Value, String> {
        let value = match self {
            Self::Packed(object) => resource.object(&object.body()),
            Self::Json(body) => resource.object(&body),
            Self::Decoded(value) => return Ok(value),
        };
        value.map_err(unreadable)
    }
}

impl States {
    pub(crate) fn new(header: &Header) -> Self {
        let kinds = header.resources.iter().map(|resource| Kind {
            resource: resource.clone(),
            packer: Form::decoder(DecoderConfig {
                types: Some(TypeMeta {
                    api_version: resource.api().api_version,
                    kind: resource.kind.clone(),
                }),
                ..DecoderConfig::default()
            }),
            objects: HashMap::new(),
        });
        Self {
            kinds: kinds.collect(),
            objects: 0,
            waiting: 0,
        }
    }

    /// Applies an entry, and takes its object; what it changes is not wanted, which takes a small part of the time. A patch is only
    /// kept until somebody asks for the object: one that does not fit is an error then.
    ///
    /// # Errors
    /// As [`Self::apply`].
    pub(crate) fn note(&mut self, entry: &mut Entry, line: u64) -> Result<(), String> {
        let kind = self.kinds.get_mut(entry.resource);
        let state = kind.and_then(|kind| kind.objects.get_mut(entry.key.as_str()));
        let (None, Some(state), Some(patch)) = (&entry.object, state, &entry.patch) else {
            return self.apply(entry).map(drop);
        };
        let length = patch.get().len();
        let may_wait = state.waiting.len() < MOST_WAITING
            && length <= MOST_OF_WAITING
            && self.waiting + length <= MOST_WAITING_BYTES;
        if entry.event != Event::Update || !may_wait {
            return self.apply(entry).map(drop);
        }
        self.waiting += length;
        state.changed = Some(entry.time);
        state
            .waiting
            .extend(entry.patch.take().map(|patch| Waiting { patch, line }));
        Ok(())
    }

    /// Applies an entry, and takes its object.
    ///
    /// # Errors
    /// Why it does not fit to what was before.
    pub(crate) fn apply(&mut self, entry: &mut Entry) -> Result<Change, String> {
        let kind = self.kinds.get_mut(entry.resource);
        let kind = kind.ok_or_else(|| format!("there is no resource {}", entry.resource))?;
        if entry.event == Event::Synced {
            return Ok(Change { old: None, new: None });
        }
        if entry.key.len() > MOST_OF_KEY {
            return Err(format!("a key of more than {MOST_OF_KEY} bytes"));
        }
        let key = ObjectKey::from(entry.key.as_str());
        let held = kind.objects.get(&key);
        let unknown = || {
            format!(
                "{} {} is not known before it",
                kind.resource.full_name(),
                key.as_str()
            )
        };
        let (old, new) = match (entry.event, entry.object.take(), &entry.patch) {
            (Event::Delete, ..) => (Some(held.ok_or_else(unknown)?.object(&kind.resource)?), None),
            (_, Some(object), _) => {
                let body = Bytes::from(Box::<str>::from(object).into_boxed_bytes());
                let old = held.map(|held| held.object(&kind.resource)).transpose()?;
                (old, Some((Object::Json(body.clone()), body)))
            }
            (_, None, Some(patch)) => {
                let old = held.ok_or_else(unknown)?.object(&kind.resource)?;
                let old = old.value(&kind.resource)?;
                let mut new = old.clone();
                apply_patch(&mut new, patch)
                    .map_err(|why| format!("the patch does not fit to {}: {why}", key.as_str()))?;
                let body = new.to_string().into();
                (Some(Object::Decoded(old)), Some((Object::Decoded(new), body)))
            }
            (_, None, None) => return Err(format!("a change of {} without the object", key.as_str())),
        };
        let (before, new) = match new {
            None => (kind.objects.remove(&key), None),
            Some((new, body)) => {
                let changed = (entry.event != Event::Initial).then_some(entry.time);
                let state = kind.pack(&key, body, changed)?;
                (kind.objects.insert(key, state), Some(new))
            }
        };
        match (&before, &new) {
            (Some(_), None) => self.objects -= 1,
            (None, Some(_)) => self.objects += 1,
            _ => {}
        }
        if let Some(before) = before {
            self.waiting -= before
                .waiting
                .iter()
                .map(|waiting| waiting.patch.get().len())
                .sum::<usize>();
        }
        if self.objects > MOST_OBJECTS {
            return Err(format!("more than {MOST_OBJECTS} objects"));
        }
        Ok(Change { old, new })
    }

    /// All objects by the numbers of their resources and their keys, in no order.
    pub(crate) fn keys(&self) -> impl Iterator<Item = (usize, &ObjectKey)> {
        let kinds = self.kinds.iter().enumerate();
        kinds.flat_map(|(number, kind)| kind.objects.keys().map(move |key| (number, key)))
    }

    /// An object; `None` if there is none.
    ///
    /// # Errors
    /// It is no JSON, or nested too deeply, or a patch does not fit to it.
    pub(crate) fn get(&self, resource: usize, key: &ObjectKey) -> Option<Result<Value, String>> {
        let kind = self.kinds.get(resource)?;
        let object = kind.objects.get(key)?.object(&kind.resource);
        Some(object.and_then(|object| object.value(&kind.resource)))
    }

    /// The JSON of an object; `None` if there is none. It need not have an apiVersion and a kind, and may not even be JSON.
    ///
    /// # Errors
    /// As [`Self::get`], if there are patches to apply.
    pub(crate) fn body(&self, resource: usize, key: &ObjectKey) -> Option<Result<Vec<u8>, String>> {
        let kind = self.kinds.get(resource)?;
        let object = kind.objects.get(key)?.object(&kind.resource);
        Some(object.map(|object| match object {
            Object::Packed(object) => object.body(),
            Object::Json(body) => body.into(),
            Object::Decoded(object) => object.to_string().into(),
        }))
    }

    /// The JSON of an object in one line, with its apiVersion and kind; `None` if there is none.
    ///
    /// # Errors
    /// As [`Self::get`].
    pub(crate) fn json(
        &self,
        resource: usize,
        key: &ObjectKey,
        managed_fields: bool,
    ) -> Option<Result<String, String>> {
        let body = match self.body(resource, key)? {
            Ok(body) => Bytes::from(body),
            Err(why) => return Some(Err(why)),
        };
        let plan = match managed_fields {
            true => FieldPlan::default(),
            false => FieldPlan::without_managed_fields(),
        };
        let raw = RawObject::scan_with(Encoding::Json, body, &plan).ok();
        let whole = raw.filter(|raw| raw.api_version().is_some() && raw.kind().is_some());
        let text = whole.and_then(|raw| String::from_utf8(raw.body().into_owned()).ok());
        // A tab between members would be escaped when it is printed, which is no JSON any more.
        if let Some(text) = text.filter(|text| is_ascii_printable(text) || !text.contains(char::is_control)) {
            return Some(Ok(text));
        }
        let mut object = match self.get(resource, key)? {
            Ok(object) => object,
            Err(why) => return Some(Err(why)),
        };
        if !managed_fields {
            remove_managed_fields(&mut object);
        }
        Some(Ok(object.to_string()))
    }

    /// When an object was changed last, in milliseconds since the recording began, if it was since then.
    pub(crate) fn changed(&self, resource: usize, key: &ObjectKey) -> Option<u64> {
        self.kinds.get(resource)?.objects.get(key)?.changed
    }
}

impl Kind {
    fn pack(&self, key: &ObjectKey, body: Bytes, changed: Option<u64>) -> Result<State, String> {
        if body.len() > MOST_OF_LINE {
            return Err(format!("{} has more than {MOST_OF_LINE} bytes", key.as_str()));
        }
        let raw = RawObject::scan(Encoding::Json, body)
            .map_err(|error| format!("{} is no object: {error}", key.as_str()))?;
        if raw.key() != *key {
            return Err(format!(
                "the object of {} is {}",
                key.as_str(),
                raw.key().as_str()
            ));
        }
        let object = Form::decode_raw(&self.packer, key, &raw).map_err(|error| error.to_string())?;
        Ok(State {
            object,
            waiting: Vec::new(),
            changed,
        })
    }
}

impl State {
    /// The object with what waits.
    ///
    /// # Errors
    /// It is no JSON, or nested too deeply, or a patch does not fit to it.
    fn object(&self, resource: &Resource) -> Result<Object, String> {
        let object = Object::Packed(self.object.clone());
        if self.waiting.is_empty() {
            return Ok(object);
        }
        let mut value = object.value(resource)?;
        for Waiting { patch, line } in &self.waiting {
            apply_patch(&mut value, patch)
                .map_err(|why| format!("the patch of line {line} does not fit: {why}"))?;
        }
        Ok(Object::Decoded(value))
    }
}

/// Applies a patch as a recorder writes it.
///
/// # Errors
/// It is none, or does not fit.
fn apply_patch(object: &mut Value, patch: &RawValue) -> Result<(), String> {
    use PatchOperation::{Add, Remove, Replace};
    let patch: Patch = serde_json::from_str(patch.get()).map_err(|error| error.to_string())?;
    if !patch
        .iter()
        .all(|operation| matches!(operation, Add(_) | Remove(_) | Replace(_)))
    {
        return Err("of the operations of a patch only add, remove and replace are known".into());
    }
    json_patch::patch(object, &patch).map_err(|error| error.to_string())
}

/// Removes metadata.managedFields.
pub(crate) fn remove_managed_fields(object: &mut Value) {
    if let Some(metadata) = object.pointer_mut("/metadata").and_then(Value::as_object_mut) {
        metadata.remove("managedFields");
    }
}

fn unreadable(error: serde_json::Error) -> String {
    format!("an object cannot be read: {error}")
}
