//! The types of expressions.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The name of optional types.
pub(super) const OPTIONAL: &str = "optional_type";

/// What a part of an expression comes to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Type {
    /// Of what is told of already: nothing more is said of it.
    Error,
    Dyn,
    Null,
    Bool,
    Bytes,
    Double,
    Duration,
    Int,
    String,
    Timestamp,
    Uint,
    List(Arc<Type>),
    Map(Arc<(Type, Type)>),
    /// One of Kubernetes' own, or an optional one.
    Opaque(Arc<str>, Arc<[Type]>),
    Struct(Arc<Struct>),
    /// The type of types.
    Meta(Option<Arc<Type>>),
    /// Stands for any type, but for the same one wherever it is: a letter in declarations, a number above those in expressions.
    Parameter(u32),
}

/// An object of known fields. Two are the same type if they have one name.
#[derive(Clone, Debug)]
pub(crate) struct Struct {
    pub(super) name: String,
    pub(super) fields: Fields,
}

#[derive(Clone, Debug)]
pub(super) enum Fields {
    These(BTreeMap<String, Type>),
    /// Those of objects that policies make.
    Any,
}

impl PartialEq for Struct {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// How many letters stand for types in declarations.
pub(super) const LETTERS: u32 = 26;

impl Type {
    pub(crate) fn list(of: Type) -> Self {
        Self::List(Arc::new(of))
    }

    pub(crate) fn map(key: Type, value: Type) -> Self {
        Self::Map(Arc::new((key, value)))
    }

    pub(crate) fn optional(of: Type) -> Self {
        Self::Opaque(OPTIONAL.into(), [of].into())
    }

    pub(super) fn opaque(name: &str) -> Self {
        Self::Opaque(name.into(), [].into())
    }

    pub(crate) fn of_fields(name: &str, fields: impl IntoIterator<Item = (String, Type)>) -> Self {
        Self::Struct(Arc::new(Struct {
            name: name.to_owned(),
            fields: Fields::These(fields.into_iter().collect()),
        }))
    }

    /// An object that may have any field.
    pub(super) fn of_any_fields(name: &str) -> Self {
        Self::Struct(Arc::new(Struct {
            name: name.to_owned(),
            fields: Fields::Any,
        }))
    }

    pub(super) fn is_dyn_or_error(&self) -> bool {
        matches!(self, Self::Dyn | Self::Error)
    }

    /// The type in an optional one.
    pub(in crate::schema::cel) fn in_optional(&self) -> Option<&Type> {
        match self {
            Self::Opaque(name, of) if &**name == OPTIONAL => of.first(),
            _ => None,
        }
    }

    /// The type, with the types that it is made of changed.
    pub(super) fn with_parts(&self, change: &mut dyn FnMut(&Type) -> Type) -> Self {
        match self {
            Self::List(item) => Self::list(change(item)),
            Self::Map(entry) => Self::map(change(&entry.0), change(&entry.1)),
            Self::Opaque(name, of) if !of.is_empty() => {
                Self::Opaque(name.clone(), of.iter().map(change).collect())
            }
            Self::Meta(Some(of)) => Self::Meta(Some(Arc::new(change(of)))),
            plain => plain.clone(),
        }
    }

    /// The types that it is made of.
    pub(super) fn parts(&self) -> Vec<&Type> {
        match self {
            Self::List(item) | Self::Meta(Some(item)) => vec![item],
            Self::Map(entry) => vec![&entry.0, &entry.1],
            Self::Opaque(_, of) => of.iter().collect(),
            _ => Vec::new(),
        }
    }

    /// The type as cel-go's values show it, which name some types in another way than its errors do.
    pub(crate) fn shown(&self) -> String {
        limited(format_args!("{}", AsValue(self)))
    }
}

/// A type as a value.
struct AsValue<'a>(&'a Type);

impl fmt::Display for AsValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Type::Null => f.write_str("null_type"),
            Type::Duration => f.write_str("google.protobuf.Duration"),
            Type::Timestamp => f.write_str("google.protobuf.Timestamp"),
            Type::List(item) => write!(f, "list({})", Self(item)),
            Type::Map(entry) => write!(f, "map({}, {})", Self(&entry.0), Self(&entry.1)),
            Type::Opaque(name, of) => {
                f.write_str(name)?;
                for (n, of) in of.iter().enumerate() {
                    write!(f, "{}{}", if n == 0 { "(" } else { ", " }, Self(of))?;
                }
                f.write_str(if of.is_empty() { "" } else { ")" })
            }
            Type::Meta(Some(of)) => write!(f, "type({})", Self(of)),
            other => other.fmt(f),
        }
    }
}

/// A text that may show types, and is cut where it is too long: types can be made of themselves, and each has a name.
pub(super) fn limited(text: fmt::Arguments<'_>) -> String {
    const LONGEST: usize = 4_000;
    struct Limited(String);
    impl fmt::Write for Limited {
        fn write_str(&mut self, more: &str) -> fmt::Result {
            if self.0.len() + more.len() > LONGEST {
                return Err(fmt::Error);
            }
            self.0.push_str(more);
            Ok(())
        }
    }
    let mut written = Limited(String::new());
    match fmt::Write::write_fmt(&mut written, text) {
        Ok(()) => written.0,
        Err(fmt::Error) => written.0 + "...",
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "!error!",
            Self::Dyn => "dyn",
            Self::Null => "null",
            Self::Bool => "bool",
            Self::Bytes => "bytes",
            Self::Double => "double",
            Self::Duration => "duration",
            Self::Int => "int",
            Self::String => "string",
            Self::Timestamp => "timestamp",
            Self::Uint => "uint",
            Self::Struct(of) => &of.name,
            Self::Meta(None) => "type",
            Self::Meta(Some(of)) => return write!(f, "type({of})"),
            Self::List(item) => return write!(f, "list({item})"),
            Self::Map(entry) => return write!(f, "map({}, {})", entry.0, entry.1),
            Self::Opaque(name, of) => {
                f.write_str(name)?;
                if of.is_empty() {
                    return Ok(());
                }
                return write!(f, "({})", Joined(of));
            }
            Self::Parameter(number) => {
                return match number.checked_sub(LETTERS) {
                    Some(number) => write!(f, "_var{number}"),
                    None => write!(f, "{}", char::from(b'A' + *number as u8)),
                };
            }
        })
    }
}

/// Types as cel-go shows those of arguments.
pub(super) struct Joined<'a>(pub(super) &'a [Type]);

impl fmt::Display for Joined<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, of) in self.0.iter().enumerate() {
            f.write_str(if n == 0 { "" } else { ", " })?;
            of.fmt(f)?;
        }
        Ok(())
    }
}
