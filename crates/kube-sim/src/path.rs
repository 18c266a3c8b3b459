//! Where in an object.

use std::fmt;

/// The way to a value; it is written only for a message.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Path<'a> {
    Root,
    Field(&'a Path<'a>, &'a str),
    Index(&'a Path<'a>, usize),
    /// A member of a map that is no field: `labels[app]`.
    Key(&'a Path<'a>, &'a str),
}

impl<'a> Path<'a> {
    pub(crate) fn field(&'a self, name: &'a str) -> Self {
        Self::Field(self, name)
    }

    pub(crate) fn index(&'a self, index: usize) -> Self {
        Self::Index(self, index)
    }

    pub(crate) fn key(&'a self, name: &'a str) -> Self {
        Self::Key(self, name)
    }

    pub(crate) fn is_root(&self) -> bool {
        matches!(self, Self::Root)
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Field(Self::Root, name) => f.write_str(name),
            Self::Field(parent, name) => write!(f, "{parent}.{name}"),
            Self::Index(parent, index) => write!(f, "{parent}[{index}]"),
            Self::Key(parent, name) => write!(f, "{parent}[{name}]"),
        }
    }
}

/// A path in writing, for those who carry it along. Beyond this many bytes it does not grow: objects may have thousands of
/// levels with long names, and each level holds its path.
const LONGEST: usize = 4096;

/// The path with another step, such as `.name` or `[0]`.
pub(crate) fn below(path: &str, step: fmt::Arguments<'_>) -> String {
    match path.len() < LONGEST {
        true => format!("{path}{step}"),
        false => path.to_owned(),
    }
}
