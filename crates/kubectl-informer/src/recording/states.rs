//! The objects of a recording, as they are after the entries so far.

use super::{Entry, Event, Header, MOST_OF_LINE};
use crate::discovery::Resource;
use crate::informers::Form;
use crate::text::is_ascii_printable;
use bytes::Bytes;
use json_patch::PatchOperation;
use kube::core::{DynamicObject, TypeMeta};
use kube_informer::form::{Decode as _, DecoderConfig, Packer};
use kube_informer::low_level::wire::{Encoding, RawObject};
use kube_informer::{FieldPlan, ObjectKey};
use serde_json::Value;
use std::collections::HashMap;

/// The most bytes of a key: a namespace and a name have 317 at most.
const MOST_OF_KEY: usize = 1024;
/// The most objects that a recording may hold at a time.
const MOST_OBJECTS: usize = 5_000_000;

/// The objects after some entries, packed.
pub(crate) struct States {
    kinds: Vec<Kind>,
    objects: usize,
}

struct Kind {
    resource: Resource,
    packer: Packer<DynamicObject>,
    objects: HashMap<ObjectKey, State>,
}

struct State {
    object: Form,
    /// When it was changed, in milliseconds since the recording began.
    changed: u64,
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
    /// As a patch has made it.
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
        }
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
        let old = kind.objects.get(&key).map(|state| state.object.clone());
        let unknown = || {
            format!(
                "{} {} is not known before it",
                kind.resource.full_name(),
                key.as_str()
            )
        };
        if entry.event == Event::Delete {
            let old = old.ok_or_else(unknown)?;
            kind.objects.remove(&key);
            self.objects -= 1;
            return Ok(Change {
                old: Some(Object::Packed(old)),
                new: None,
            });
        }
        let (new, body) = match (entry.object.take(), &entry.patch) {
            (Some(object), _) => {
                let body = Bytes::from(Box::<str>::from(object).into_boxed_bytes());
                (Object::Json(body.clone()), body)
            }
            (None, Some(patch)) => {
                let allowed = |operation: &PatchOperation| {
                    use PatchOperation::{Add, Remove, Replace};
                    matches!(operation, Add(_) | Remove(_) | Replace(_))
                };
                if !patch.0.iter().all(allowed) {
                    return Err("of the operations of a patch only add, remove and replace are known".into());
                }
                let held = old.as_ref().ok_or_else(unknown)?;
                let mut object = kind.resource.object(&held.body()).map_err(unreadable)?;
                json_patch::patch(&mut object, patch)
                    .map_err(|error| format!("the patch does not fit to {}: {error}", key.as_str()))?;
                let body = object.to_string().into();
                (Object::Decoded(object), body)
            }
            (None, None) => return Err(format!("a change of {} without the object", key.as_str())),
        };
        let state = kind.pack(&key, body, entry.time)?;
        if kind.objects.insert(key, state).is_none() {
            self.objects += 1;
            if self.objects > MOST_OBJECTS {
                return Err(format!("more than {MOST_OBJECTS} objects"));
            }
        }
        Ok(Change {
            old: old.map(Object::Packed),
            new: Some(new),
        })
    }

    /// All objects by the numbers of their resources and their keys, in no order.
    pub(crate) fn keys(&self) -> impl Iterator<Item = (usize, &ObjectKey)> {
        let kinds = self.kinds.iter().enumerate();
        kinds.flat_map(|(number, kind)| kind.objects.keys().map(move |key| (number, key)))
    }

    /// An object; `None` if there is none.
    ///
    /// # Errors
    /// It is no JSON, or nested too deeply.
    pub(crate) fn get(&self, resource: usize, key: &ObjectKey) -> Option<Result<Value, String>> {
        let kind = self.kinds.get(resource)?;
        let object = kind.objects.get(key)?.object.clone();
        Some(Object::Packed(object).value(&kind.resource))
    }

    /// The JSON of an object; `None` if there is none. It is not decoded, and need not have an apiVersion and a kind.
    pub(crate) fn body(&self, resource: usize, key: &ObjectKey) -> Option<Vec<u8>> {
        Some(self.kinds.get(resource)?.objects.get(key)?.object.body())
    }

    /// The JSON of an object in one line, with its apiVersion and kind; `None` if there is none.
    ///
    /// # Errors
    /// It is no JSON, or nested too deeply.
    pub(crate) fn json(
        &self,
        resource: usize,
        key: &ObjectKey,
        managed_fields: bool,
    ) -> Option<Result<String, String>> {
        let body = Bytes::from(self.body(resource, key)?);
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

    /// When an object was changed last, in milliseconds since the recording began.
    pub(crate) fn changed(&self, resource: usize, key: &ObjectKey) -> Option<u64> {
        Some(self.kinds.get(resource)?.objects.get(key)?.changed)
    }
}

impl Kind {
    fn pack(&self, key: &ObjectKey, body: Bytes, changed: u64) -> Result<State, String> {
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
        Ok(State { object, changed })
    }
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
