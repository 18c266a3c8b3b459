//! The rules of a custom resource's schema, which may cost more than others can wait for.
//!
//! A write evaluates them under the storage's lock, as long as that is light work. If it is more, the write ends as one that waits
//! for a webhook, the rules are evaluated with the lock free, and the write is tried again with what came of it.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::evaluate::evaluated;
use super::{Admission, Object};
use crate::api::Api;
use crate::nesting;
use crate::schema::{self, Schema};
use crate::status::{Cause, StatusError};
use crate::target::Target;

/// An object that is checked against a schema with rules.
pub(super) struct RulesAsked {
    schema: Arc<Schema>,
    old: Option<Object>,
    new: Object,
    subresource: Option<String>,
}

/// What rules are asked about: the objects as text, without what each attempt to write one writes anew, and the subresource.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct RulesAbout {
    schema: SameSchema,
    objects: String,
    subresource: Option<String>,
}

/// A schema that is equal to none but itself.
struct SameSchema(Arc<Schema>);

impl PartialEq for SameSchema {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for SameSchema {}

impl Hash for SameSchema {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.0).hash(state);
    }
}

impl RulesAsked {
    fn about(&self) -> RulesAbout {
        RulesAbout {
            schema: SameSchema(self.schema.clone()),
            objects: json!([self.old, without_times(&self.new)]).to_string(),
            subresource: self.subresource.clone(),
        }
    }

    fn causes(&self) -> Vec<Cause> {
        let depth = self.new.values().chain(self.old.iter().flat_map(Map::values));
        let depth = depth.map(nesting::of).max().unwrap_or(0);
        schema::with_room(depth, || {
            schema::validate_object(
                &self.schema,
                self.old.as_ref(),
                &self.new,
                self.subresource.as_deref(),
            )
        })
    }
}

/// An object without what each attempt to write it writes anew.
pub(super) fn without_times(object: &Object) -> Object {
    let mut object = object.clone();
    if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        metadata.remove("managedFields");
        metadata.remove("creationTimestamp");
    }
    object
}

/// Whether the schema of a target has rules.
pub(super) fn are_of(target: &Target) -> bool {
    let resource = &target.resource;
    let schema = resource.custom.then(|| resource.schema(&target.version));
    schema.flatten().is_some_and(|schema| schema.has_rules)
}

impl Admission {
    /// What is wrong with an object, or the end of this attempt to write it.
    pub(crate) fn causes(
        &self,
        schema: &Arc<Schema>,
        old: Option<&Object>,
        new: &Object,
        subresource: Option<&str>,
    ) -> Result<Vec<Cause>, StatusError> {
        let light = schema::lightly(|| schema::validate_object(schema, old, new, subresource));
        if let Some(causes) = light {
            return Ok(causes);
        }
        let asked = RulesAsked {
            schema: schema.clone(),
            old: old.cloned(),
            new: new.clone(),
            subresource: subresource.map(str::to_owned),
        };
        let mut state = self.lock();
        let known = state.rules.get(&asked.about()).cloned();
        if known.is_none() {
            state.unevaluated.push(asked);
        }
        known.ok_or_else(|| StatusError::internal("rules have not been evaluated yet"))
    }

    /// Evaluates the rules that an attempt to write has left; false if there are none.
    pub(super) async fn evaluate_rules(&self, api: &Api) -> bool {
        let unevaluated = std::mem::take(&mut self.lock().unevaluated);
        let any = !unevaluated.is_empty();
        for asked in unevaluated {
            let about = asked.about();
            let causes = evaluated(api, move || asked.causes()).await;
            self.lock().rules.insert(about, causes);
        }
        any
    }
}
