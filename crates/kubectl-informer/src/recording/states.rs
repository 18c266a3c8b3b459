//! The objects of a recording, as they are after the entries so far.

use super::{Entry, Event, Header, MOST_OF_LINE};
use crate::discovery::Resource;
use crate::informers::Form;
use json_patch::PatchOperation;
use kube::core::{DynamicObject, TypeMeta};
use kube_informer::ObjectKey;
use kube_informer::form::{Decode as _, DecoderConfig, Packer};
use kube_informer::low_level::wire::{Encoding, RawObject};
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
    pub(crate) old: Option<Value>,
    /// The object after; `None` if there is none.
    pub(crate) new: Option<Value>,
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
        let old = match kind.objects.get(&key) {
            Some(state) => Some(kind.value(state)?),
            None => None,
        };
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
                old: Some(old),
                new: None,
            });
        }
        let new = match (entry.object.take(), &entry.patch) {
            (Some(object), _) => object,
            (None, Some(patch)) => {
                let allowed = |operation: &PatchOperation| {
                    use PatchOperation::{Add, Remove, Replace};
                    matches!(operation, Add(_) | Remove(_) | Replace(_))
                };
                if !patch.0.iter().all(allowed) {
                    return Err("of the operations of a patch only add, remove and replace are known".into());
                }
                let mut object = old.clone().ok_or_else(unknown)?;
                json_patch::patch(&mut object, patch)
                    .map_err(|error| format!("the patch does not fit to {}: {error}", key.as_str()))?;
                object
            }
            (None, None) => return Err(format!("a change of {} without the object", key.as_str())),
        };
        let state = kind.pack(&key, &new, entry.time)?;
        if kind.objects.insert(key, state).is_none() {
            self.objects += 1;
            if self.objects > MOST_OBJECTS {
                return Err(format!("more than {MOST_OBJECTS} objects"));
            }
        }
        Ok(Change { old, new: Some(new) })
    }

    /// All objects by the numbers of their resources and their keys, in no order.
    pub(crate) fn keys(&self) -> impl Iterator<Item = (usize, &ObjectKey)> {
        let kinds = self.kinds.iter().enumerate();
        kinds.flat_map(|(number, kind)| kind.objects.keys().map(move |key| (number, key)))
    }

    /// An object.
    pub(crate) fn get(&self, resource: usize, key: &ObjectKey) -> Option<Value> {
        let kind = self.kinds.get(resource)?;
        kind.value(kind.objects.get(key)?).ok()
    }

    /// When an object was changed last, in milliseconds since the recording began.
    pub(crate) fn changed(&self, resource: usize, key: &ObjectKey) -> Option<u64> {
        Some(self.kinds.get(resource)?.objects.get(key)?.changed)
    }
}

impl Kind {
    fn value(&self, state: &State) -> Result<Value, String> {
        self.resource
            .object(&state.object.body())
            .map_err(|error| format!("an object is no JSON: {error}"))
    }

    fn pack(&self, key: &ObjectKey, object: &Value, changed: u64) -> Result<State, String> {
        let body = object.to_string();
        if body.len() > MOST_OF_LINE {
            return Err(format!("{} has more than {MOST_OF_LINE} bytes", key.as_str()));
        }
        let raw = RawObject::scan(Encoding::Json, body.into())
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
