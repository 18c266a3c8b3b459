//! What the types of a schema mean for ownership: which values are owned as a whole, and which in parts.

use serde_json::Value;

use super::fields::Step;
use crate::schema::{Additional, ListType, Node, Schema, Type as Kind};

/// The type of a value.
#[derive(Debug, Clone, Copy)]
pub(super) enum Type<'a> {
    Schema {
        schema: &'a Schema,
        /// Whether fields that the schema does not name are kept, since a schema above says so.
        preserves: bool,
    },
    /// Nothing is known: objects are owned by member, and all else as a whole.
    Deduced,
    /// Anything, owned as a whole.
    Whole,
}

/// How a value is owned.
#[derive(Debug, Clone, Copy)]
pub(super) enum Shape<'a> {
    /// As a whole.
    Leaf,
    /// By its members.
    Map(Members<'a>),
    /// By its items.
    List(Items<'a>),
}

impl<'a> Type<'a> {
    pub(super) fn of(schema: Option<&'a Schema>) -> Self {
        match schema {
            Some(schema) => Self::Schema {
                schema,
                preserves: false,
            },
            None => Self::Deduced,
        }
    }

    fn of_node(node: &'a Node, preserves: bool) -> Self {
        match node {
            Node::Here(schema) => Self::Schema { schema, preserves },
            Node::There { definition, .. } if definition.name.ends_with(".RawExtension") => Self::Whole,
            Node::There { definition, .. } if definition.is_alternative() => Self::Deduced,
            Node::There { definition, .. } => Self::of(Some(definition.schema())),
        }
    }

    /// The shape of a value of this type; null has the shape of what could be there.
    pub(super) fn shape(self, value: &Value) -> Shape<'a> {
        let (schema, preserves) = match self {
            Self::Whole => return Shape::Leaf,
            Self::Deduced => {
                return match value {
                    Value::Object(_) | Value::Null => Shape::Map(Members::DEDUCED),
                    _ => Shape::Leaf,
                };
            }
            Self::Schema { schema, preserves } => (schema, preserves),
        };
        let preserves = preserves || schema.preserves_unknown;
        match (schema.kind, value) {
            (Some(Kind::Object) | None, Value::Object(_) | Value::Null) if !schema.atomic_map => {
                let schema = Some(schema);
                Shape::Map(Members { schema, preserves })
            }
            (Some(Kind::Array) | None, Value::Array(_)) | (Some(Kind::Array), Value::Null)
                if schema.list_type != ListType::Atomic =>
            {
                Shape::List(Items { schema, preserves })
            }
            _ => Shape::Leaf,
        }
    }
}

impl<'a> Type<'a> {
    /// The members of an object of this type, also if it is owned as a whole; none if its schema says nothing of them.
    pub(super) fn members(self) -> Option<Members<'a>> {
        match self {
            Self::Schema { schema, preserves } if schema.kind == Some(Kind::Object) => Some(Members {
                schema: Some(schema),
                preserves: preserves || schema.preserves_unknown,
            }),
            _ => None,
        }
    }

    /// The type of the items of a list of this type.
    pub(super) fn item(self, items: &'a Node) -> Self {
        match self {
            Self::Schema { schema, preserves } => Self::of_node(items, preserves || schema.preserves_unknown),
            Self::Deduced | Self::Whole => self,
        }
    }
}

impl Type<'_> {
    /// Whether objects or lists of this type are owned as a whole.
    pub(super) fn is_atomic(self) -> bool {
        let is_leaf = |value: &Value| matches!(self.shape(value), Shape::Leaf);
        match self {
            Self::Whole => true,
            Self::Deduced => false,
            Self::Schema { schema, .. } => match schema.kind {
                Some(Kind::Object) => is_leaf(&Value::Null),
                Some(Kind::Array) => is_leaf(&Value::Array(Vec::new())),
                _ => false,
            },
        }
    }
}

/// The members of an object that is owned by member.
#[derive(Debug, Clone, Copy)]
pub(super) struct Members<'a> {
    schema: Option<&'a Schema>,
    preserves: bool,
}

impl<'a> Members<'a> {
    const DEDUCED: Self = Self {
        schema: None,
        preserves: false,
    };

    /// Whether the schema names the member.
    pub(super) fn declares(self, name: &str) -> bool {
        self.schema
            .is_some_and(|schema| schema.properties.contains_key(name))
    }

    /// The type of a member; none if there may be no such member.
    pub(super) fn get(self, name: &str) -> Option<Type<'a>> {
        let Some(schema) = self.schema else {
            return Some(Type::Deduced);
        };
        if let Some(node) = schema.properties.get(name) {
            return Some(Type::of_node(node, self.preserves));
        }
        match &schema.additional {
            Additional::Values(node) => Some(Type::of_node(node, self.preserves)),
            Additional::Anything => Some(Type::Deduced),
            Additional::Unsaid if self.preserves || schema.properties.is_empty() => Some(Type::Deduced),
            Additional::Unsaid | Additional::Nothing => None,
        }
    }

    /// The type of a member, also of one that should not be there.
    pub(super) fn any(self, name: &str) -> Type<'a> {
        self.get(name).unwrap_or(Type::Deduced)
    }
}

/// The items of a list that is owned by item.
#[derive(Debug, Clone, Copy)]
pub(super) struct Items<'a> {
    schema: &'a Schema,
    preserves: bool,
}

impl<'a> Items<'a> {
    /// The type of the items.
    pub(super) fn item(self) -> Type<'a> {
        match &self.schema.items {
            Some(node) => Type::of_node(node, self.preserves),
            None => Type::Whole,
        }
    }

    /// What tells an item from the others.
    ///
    /// # Errors
    ///
    /// Why nothing does, in a real server's words.
    pub(super) fn step(self, item: &Value) -> Result<Step, String> {
        if self.schema.list_type == ListType::Set {
            return match item {
                Value::Object(_) => {
                    Err("associative list without keys has an element that's a map type".into())
                }
                Value::Array(_) => Err("not supported: associative list with lists as elements".into()),
                Value::Null => {
                    Err("associative list without keys has an element that's an explicit null".into())
                }
                scalar => Ok(Step::Value(scalar.clone())),
            };
        }
        let members = match item {
            Value::Object(members) => members,
            Value::Null => return Err("associative list with keys may not have a null element".into()),
            _ => return Err("associative list with keys may not have non-map elements".into()),
        };
        let default = |name: &str| {
            let node = self.schema.items.as_ref()?.get().properties.get(name)?;
            node.default()
        };
        let names = &self.schema.list_map_keys;
        let fields = names.iter().filter_map(|name| {
            let value = members.get(name).or_else(|| default(name))?;
            Some((name.clone(), value.clone()))
        });
        let mut key: Vec<_> = fields.collect();
        if key.is_empty() {
            let names: Vec<_> = names.iter().map(|name| format!("\"{name}\"")).collect();
            return Err(format!(
                "associative list with keys has an element that omits all key fields [{}] (and doesn't have default \
                 values for any key fields)",
                names.join(" ")
            ));
        }
        key.sort_by(|one, other| one.0.cmp(&other.0));
        Ok(Step::Key(key))
    }

    /// The items with what tells them apart; those that nothing tells apart are left out.
    pub(super) fn steps(self, list: &[Value]) -> impl Iterator<Item = (Step, &Value)> {
        list.iter()
            .filter_map(move |item| Some((self.step(item).ok()?, item)))
    }
}
