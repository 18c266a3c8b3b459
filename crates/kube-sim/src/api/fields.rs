//! What becomes of the fields of an object that comes in: those its kind does not have are dropped, defaults are filled
//! in, and `fieldValidation` says whether that is told.

use std::collections::HashSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use crate::admission::Admission;
use crate::api::Api;
use crate::api::options::Query;
use crate::api::patch::Patch;
use crate::resources::Resource;
use crate::schema::types::Reader;
use crate::schema::{self, Schema, fit};
use crate::status::{Cause, StatusError};
use crate::target::Target;
use crate::warnings::Warnings;
use crate::yaml::RepeatedKeys;

type Object = Map<String, Value>;

/// What is said about fields that an object has twice, or that its kind does not have; and what was said.
#[derive(Debug)]
pub(crate) struct FieldValidation {
    directive: Directive,
    /// What is wrong with a patch itself; it is told with what is wrong with the result.
    of_patch: Vec<String>,
    /// The keys that are twice in a body in YAML.
    of_yaml: RepeatedKeys,
    warnings: Warnings,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Directive {
    Ignore,
    Warn,
    Strict,
}

impl FieldValidation {
    /// What the query asks for; it has been checked. A real server warns if it asks for nothing.
    pub(crate) fn of(query: &Query) -> Self {
        let directive = match query.get("fieldValidation") {
            "Ignore" => Directive::Ignore,
            "Strict" => Directive::Strict,
            _ => Directive::Warn,
        };
        Self {
            directive,
            of_patch: Vec::new(),
            of_yaml: RepeatedKeys::default(),
            warnings: Warnings::default(),
        }
    }

    /// The same, with errors of a patch, which are told with those of its result. Nobody looks for them if they are ignored.
    pub(crate) fn and_of_patch(mut self, errors: impl FnOnce() -> Vec<String>) -> Self {
        if self.directive != Directive::Ignore {
            self.of_patch = errors();
        }
        self
    }

    /// The same, with the keys that are twice in a body in YAML.
    pub(crate) fn and_of_yaml(mut self, repeated: RepeatedKeys) -> Self {
        self.of_yaml = repeated;
        self
    }

    /// The keys that are twice in a body in YAML, as one error.
    pub(crate) fn strict_error_of_yaml(&self) -> Option<String> {
        self.of_yaml.error()
    }

    pub(crate) fn is_strict(&self) -> bool {
        self.directive == Directive::Strict
    }

    /// Takes note of the keys that are twice in an applied configuration.
    pub(crate) fn note_of_apply(&self, repeated: &RepeatedKeys) -> Result<(), StatusError> {
        match (self.directive, repeated.error()) {
            (Directive::Strict, Some(error)) => Err(StatusError::bad_request(format!(
                "error strict decoding YAML: error converting YAML to JSON: {error}"
            ))),
            _ => self
                .note(repeated.errors().to_vec())
                .map_err(StatusError::bad_request),
        }
    }

    /// Takes note of errors; an error says all of them, if they are to be refused.
    pub(crate) fn note(&self, errors: Vec<String>) -> Result<(), String> {
        let of_yaml = match self.directive {
            Directive::Strict => self.strict_error_of_yaml().into_iter().collect(),
            _ => self.of_yaml.errors().to_vec(),
        };
        let errors = [of_yaml, self.of_patch.clone(), errors].concat();
        match self.directive {
            _ if errors.is_empty() => Ok(()),
            Directive::Ignore => Ok(()),
            Directive::Strict => Err(format!("strict decoding error: {}", errors.join(", "))),
            Directive::Warn => {
                errors.into_iter().for_each(|error| self.warn(error));
                Ok(())
            }
        }
    }

    /// Takes note of what the client is to be warned of, whatever it asked for.
    pub(crate) fn warn(&self, warning: String) {
        self.warnings.add(warning);
    }

    /// Leaves each owner reference of an object that was sent once, and takes note of those that were there again.
    pub(crate) fn dedup_owners(&self, object: &mut Object) {
        if let Some(warning) = dedup_owners(object, "") {
            self.warn(warning);
        }
    }

    /// What the client is to be warned of.
    pub(crate) fn warnings(&self) -> Vec<String> {
        self.warnings.take()
    }
}

/// Leaves each owner reference once. Returns what the client is to be warned of if some were there again: `when` says after what.
pub(crate) fn dedup_owners(object: &mut Object, when: &str) -> Option<String> {
    let owners = object.get_mut("metadata")?.get_mut("ownerReferences")?;
    let mut seen: HashSet<Value> = HashSet::new();
    let mut again: Vec<String> = Vec::new();
    owners.as_array_mut()?.retain(|owner| {
        let is_new = seen.insert(owner.clone());
        if !is_new {
            again.push(owner["uid"].as_str().unwrap_or("").to_owned());
        }
        is_new
    });
    let uids = again.join(", ");
    (!again.is_empty()).then(|| {
        format!(
            ".metadata.ownerReferences contains duplicate entries{when}; API server dedups owner references in 1.20+, and \
             may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: {uids}"
        )
    })
}

/// Makes an object that came in one of its kind; returns an error of strict decoding for each field that was dropped.
///
/// # Errors
///
/// What Go's decoder says about a field of another type.
pub(crate) fn fit(target: &Target, object: &mut Object) -> Result<Vec<String>, String> {
    fit_by(target, object, fit::custom, Reader::Json)
}

/// The same with what a patch has made of an object.
pub(crate) fn fit_patched(
    target: &Target,
    object: &mut Object,
    patch: &Patch,
) -> Result<Vec<String>, String> {
    let reader = match patch {
        // Of the others, a real server reads JSON again.
        Patch::Strategic(_) => Reader::Converter,
        Patch::Merge(_) | Patch::Json(_) => Reader::Json,
    };
    fit_by(target, object, fit::custom, reader)
}

/// The same with what became of an object by server-side apply.
pub(crate) fn fit_applied(target: &Target, object: &mut Object) -> Result<Vec<String>, String> {
    fit_by(target, object, fit::applied, Reader::Json)
}

fn fit_by(
    target: &Target,
    object: &mut Object,
    custom: fn(&mut Object, &Schema) -> Result<Vec<String>, String>,
    reader: Reader,
) -> Result<Vec<String>, String> {
    let resource = &target.resource;
    let dropped = match resource.custom {
        true => match resource.schema(&target.version) {
            Some(schema) => custom(object, &schema)?,
            None => return Ok(Vec::new()),
        },
        false => match schema::of_kind(&resource.group, &target.version, &resource.kind) {
            Some(definition) => {
                let dropped = fit::read_builtin(object, definition, reader)?;
                if resource.group.is_empty() && resource.kind == "Secret" {
                    encode_text(object);
                }
                dropped
            }
            None => return Ok(Vec::new()),
        },
    };
    Ok(unknown(&dropped))
}

/// The same with what is sent to a subresource in a form of its own, whose group, version and kind are these.
pub(crate) fn fit_form(form: &[String; 3], object: &mut Object) -> Result<Vec<String>, String> {
    let [group, version, kind] = form;
    let dropped = match schema::of_kind(group, version, kind) {
        Some(definition) => fit::builtin(object, definition)?,
        None => Vec::new(),
    };
    Ok(unknown(&dropped))
}

fn unknown(dropped: &[String]) -> Vec<String> {
    let said = dropped.iter().map(|path| format!("unknown field \"{path}\""));
    said.collect()
}

/// The text of a secret becomes data, and is never shown as text.
fn encode_text(secret: &mut Object) {
    let Some(Value::Object(text)) = secret.remove("stringData") else {
        return;
    };
    let data = secret.entry("data").or_insert_with(|| Value::Object(Map::new()));
    if !data.is_object() {
        *data = Value::Object(Map::new());
    }
    if let Value::Object(data) = data {
        let encoded = text.into_iter().map(|(name, value)| {
            let encoded = STANDARD.encode(value.as_str().unwrap_or(""));
            (name, Value::from(encoded))
        });
        data.extend(encoded);
    }
}

impl Api {
    /// Checks a custom resource against its schema. What has not changed since `old` is not refused. A client's write ends if the
    /// schema's rules are to be evaluated elsewhere first.
    pub(crate) fn schema_faults(
        &self,
        target: &Target,
        old: Option<&Object>,
        new: &Object,
        admission: Option<&Admission>,
    ) -> Result<Vec<Cause>, StatusError> {
        let resource = &target.resource;
        let Some(schema) = resource.schema(&target.version).filter(|_| resource.custom) else {
            return Ok(Vec::new());
        };
        let subresource = target.subresource.as_deref();
        let mut causes: Vec<Cause> = match admission {
            Some(admission) => admission.causes(&schema, old, new, subresource)?,
            None => schema::validate_object(&schema, old, new, subresource),
        };
        causes.extend(scale_faults(resource, new));
        Ok(causes)
    }
}

/// What is wrong with the numbers that a custom resource has as its scale.
fn scale_faults(resource: &Resource, object: &Object) -> Vec<Cause> {
    let Some(scale) = &resource.scale else {
        return Vec::new();
    };
    let fault = |path: &String| {
        let mut names = path.split('.');
        let first = object.get(names.next()?)?;
        let number = names.try_fold(first, |value, name| value.get(name))?.as_i64()?;
        let why = match number {
            ..0 => "should be a non-negative integer".to_owned(),
            _ if number > i64::from(i32::MAX) => format!("should be less than or equal to {}", i32::MAX),
            _ => return None,
        };
        Some(Cause::invalid(format!(".{path}"), number, &why))
    };
    [&scale.wanted, &scale.found]
        .into_iter()
        .filter_map(fault)
        .collect()
}
