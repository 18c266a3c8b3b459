//! The rules of a custom resource's schema, which may cost more than others can wait for.
//!
//! A write evaluates them under the storage's lock, as long as that is light work. If it is more, the write ends as one that waits
//! for a webhook, the rules are evaluated with the lock free, and the write is tried again with what came of it.

use std::sync::Arc;

use serde_json::{Map, Value};

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

impl RulesAsked {
    /// Whether it is the same object, however much time has passed.
    fn is_about(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.schema, &other.schema)
            && self.subresource == other.subresource
            && self.old == other.old
            && without_times(&self.new) == without_times(&other.new)
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
        let known = state.rules.iter().find_map(|(known, causes)| {
            let causes = causes.as_ref()?;
            known.is_about(&asked).then(|| causes.clone())
        });
        if known.is_none() {
            state.rules.push((Arc::new(asked), None));
        }
        known.ok_or_else(|| StatusError::internal("rules have not been evaluated yet"))
    }

    /// Evaluates the rules that an attempt to write has left; false if there are none.
    pub(super) async fn evaluate_rules(&self, api: &Api) -> bool {
        let mut any = false;
        loop {
            let next = self.lock().rules.iter().position(|(_, causes)| causes.is_none());
            let Some(at) = next else { return any };
            let asked = self.lock().rules[at].0.clone();
            let causes = evaluated(api, move || asked.causes()).await;
            self.lock().rules[at].1 = Some(causes);
            any = true;
        }
    }
}
