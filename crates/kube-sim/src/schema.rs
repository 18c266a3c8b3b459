//! OpenAPI v3 schemas: what the fields of a kind are.
//!
//! [`Resource::schema`](crate::resources::Resource::schema) has the schema of a served version. That of a custom resource is
//! read from its definition; that of a built-in kind from `builtin.tsv`, which has the schemas that a kube-apiserver
//! publishes, one a line, without descriptions (`conformance/tests/schemas.rs` writes it).
//!
//! # Speed
//!
//! A schema of a built-in kind is parsed when it is first needed, and once in a process. A reference to another schema is
//! a name until somebody follows it.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Number, Value};

mod builtin;
mod canonical;
mod cel;
pub(crate) mod default;
mod embedded;
mod empty;
pub(crate) mod fit;
mod format;
mod lists;
mod parse;
mod pattern;
mod prune;
mod ratchet;
mod rules;
mod structural;
pub(crate) mod types;
mod validate;
mod walk;

pub(crate) use builtin::{Definition, METADATA, named, of_kind};
pub(crate) use cel::{
    Answer, Authorizer, Checked, Declared, Depths, Failure, Named, Right, RightAsked, RightOf, Scope, TYPE,
    TypeOf, checked, goes_on, is_reserved, lightly, until_stopped, with_room,
};
pub(crate) use format::is_known_of as is_known_format;
pub(crate) use pattern::Pattern;
pub(crate) use structural::faults;
pub(crate) use validate::validate_object;

/// What a value may be.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Schema {
    /// `type`; none if any type will do, or if the schema of an integer or a string says so elsewhere.
    pub(crate) kind: Option<Type>,
    /// Such as `int32` and `date-time`; empty if there is none.
    pub(crate) format: Box<str>,
    pub(crate) nullable: bool,
    pub(crate) properties: BTreeMap<String, Node>,
    pub(crate) additional: Additional,
    pub(crate) required: Vec<String>,
    pub(crate) items: Option<Node>,
    pub(crate) default: Option<Value>,
    pub(crate) limits: Option<Box<Limits>>,
    pub(crate) list_type: ListType,
    /// The fields that tell the items of a [`ListType::Map`] apart.
    pub(crate) list_map_keys: Vec<String>,
    /// `x-kubernetes-map-type: atomic`: an object that is replaced as a whole.
    pub(crate) atomic_map: bool,
    pub(crate) preserves_unknown: bool,
    pub(crate) embedded: bool,
    pub(crate) int_or_string: bool,
    /// `x-kubernetes-validations`: rules in CEL.
    pub(crate) rules: Vec<Rule>,
    /// Whether there are rules here or anywhere below.
    pub(crate) has_rules: bool,
}

/// A schema within another: there, or elsewhere under a name.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node {
    Here(Arc<Schema>),
    /// A built-in schema by its name, with what is said beside the reference.
    There {
        definition: &'static Definition,
        default: Option<Value>,
    },
}

impl Node {
    /// Whether what is there is read by Go's type itself, which tells nobody of unknown fields: schemas in definitions where something
    /// else may be, too.
    fn reads_itself(&self) -> bool {
        match self {
            Self::Here(_) => false,
            Self::There { definition, .. } => definition.is_alternative(),
        }
    }

    /// The schema, after the reference if it is one.
    pub(crate) fn get(&self) -> &Arc<Schema> {
        match self {
            Self::Here(schema) => schema,
            Self::There { definition, .. } => definition.schema(),
        }
    }

    /// The default of this place: what is said beside a reference goes before what it refers to.
    pub(crate) fn default(&self) -> Option<&Value> {
        match self {
            Self::There {
                default: Some(default),
                ..
            } => Some(default),
            _ => self.get().default.as_ref(),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Type {
    Object,
    Array,
    String,
    Integer,
    Number,
    Boolean,
}

impl Type {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Object => "object",
            Self::Array => "array",
            Self::String => "string",
            Self::Integer => "integer",
            Self::Number => "number",
            Self::Boolean => "boolean",
        }
    }
}

/// `additionalProperties`: what an object may have beside its properties.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) enum Additional {
    /// Nothing is said: such fields are unknown.
    #[default]
    Unsaid,
    /// `true`: anything.
    Anything,
    /// `false`.
    Nothing,
    Values(Node),
}

/// `x-kubernetes-list-type`: how items are told apart when lists are merged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum ListType {
    /// Not at all: a list is replaced as a whole.
    #[default]
    Atomic,
    /// By their value.
    Set,
    /// By the values of [`Schema::list_map_keys`].
    Map,
}

/// What a value must satisfy beside its type.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Limits {
    pub(crate) allowed: Vec<Value>,
    pub(crate) minimum: Option<Number>,
    pub(crate) exclusive_minimum: bool,
    pub(crate) maximum: Option<Number>,
    pub(crate) exclusive_maximum: bool,
    pub(crate) multiple_of: Option<Number>,
    pub(crate) min_length: Option<u64>,
    pub(crate) max_length: Option<u64>,
    /// Empty if there is none: then it is in any string.
    pub(crate) pattern: Pattern,
    pub(crate) min_items: Option<u64>,
    pub(crate) max_items: Option<u64>,
    pub(crate) unique_items: bool,
    pub(crate) min_properties: Option<u64>,
    pub(crate) max_properties: Option<u64>,
    pub(crate) all_of: Vec<Schema>,
    pub(crate) any_of: Vec<Schema>,
    pub(crate) one_of: Vec<Schema>,
    pub(crate) not: Option<Schema>,
}

/// One rule of `x-kubernetes-validations`.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Rule {
    pub(crate) rule: Box<str>,
    pub(crate) message: Box<str>,
    pub(crate) message_expression: Box<str>,
    pub(crate) reason: Box<str>,
    pub(crate) field_path: Box<str>,
    /// A transition rule also holds where there is no old value.
    pub(crate) optional_old_self: bool,
    compiled: cel::Compiled,
}
