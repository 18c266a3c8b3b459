//! The functions that an expression may call: those of CEL and of Kubernetes.
//!
//! `functions.txt` has a line for each: its name, then its overloads, as `TARGET: (ARGUMENT, ...) RESULT`, or without a target. A capital
//! letter stands for any type.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use super::types::Type;

/// One of the ways in which a function is called.
pub(in crate::schema::cel) struct Overload {
    /// Whether the first argument is what it is called on.
    pub(super) is_member: bool,
    pub(in crate::schema::cel) arguments: Vec<Type>,
    pub(super) result: Type,
    /// The letters in them.
    letters: Vec<u32>,
}

impl Overload {
    /// How many letters stand for types.
    pub(super) fn letters(&self) -> usize {
        self.letters.len()
    }

    /// A type of the declaration, with parameters from `first` on for its letters.
    pub(super) fn instance(&self, of: &Type, first: u32) -> Type {
        match of {
            Type::Parameter(letter) => {
                let place = self.letters.iter().position(|known| known == letter);
                Type::Parameter(first + place.unwrap_or(0) as u32)
            }
            of => of.with_parts(&mut |part| self.instance(part, first)),
        }
    }
}

static FUNCTIONS: LazyLock<HashMap<&'static str, Vec<Overload>>> =
    LazyLock::new(|| include_str!("functions.txt").lines().map(declared).collect());

/// The overloads of a function.
pub(super) fn function(name: &str) -> Option<&'static [Overload]> {
    FUNCTIONS.get(name).map(Vec::as_slice)
}

/// The type that a name stands for.
pub(super) fn named(name: &str) -> Option<Type> {
    Some(match name {
        "bool" => Type::Bool,
        "bytes" => Type::Bytes,
        "double" => Type::Double,
        "google.protobuf.Duration" => Type::Duration,
        "int" => Type::Int,
        "list" => Type::list(Type::Dyn),
        "map" => Type::map(Type::Dyn, Type::Dyn),
        "null_type" => Type::Null,
        "string" => Type::String,
        "google.protobuf.Timestamp" => Type::Timestamp,
        "type" => return Some(Type::Meta(None)),
        "uint" => Type::Uint,
        "optional_type" => Type::optional(Type::Dyn),
        "net.IP" | "net.CIDR" => Type::opaque(name),
        _ => return None,
    })
    .map(|of| Type::Meta(Some(Arc::new(of))))
}

fn declared(line: &'static str) -> (&'static str, Vec<Overload>) {
    let (name, overloads) = line.split_once(' ').unwrap_or((line, ""));
    (name, overloads.split("; ").map(overload).collect())
}

fn overload(text: &'static str) -> Overload {
    let (target, rest) = text
        .split_once(": ")
        .map_or((None, text), |(target, rest)| (Some(target), rest));
    let mut arguments: Vec<_> = target.map(|mut target| read(&mut target)).into_iter().collect();
    let mut rest = rest.strip_prefix('(').unwrap_or(rest);
    while !rest.is_empty() && !rest.starts_with(')') {
        arguments.push(read(&mut rest));
        rest = rest.strip_prefix(", ").unwrap_or(rest);
    }
    rest = rest.strip_prefix(") ").unwrap_or(rest);
    let result = read(&mut rest);
    let mut letters = Vec::new();
    let mut open: Vec<_> = arguments.iter().chain([&result]).collect();
    while let Some(part) = open.pop() {
        match part {
            Type::Parameter(letter) if !letters.contains(letter) => letters.push(*letter),
            part => open.extend(part.parts()),
        }
    }
    Overload {
        is_member: target.is_some(),
        arguments,
        result,
        letters,
    }
}

/// Takes a type from the beginning of a text.
fn read(text: &mut &'static str) -> Type {
    let end = text.find(['(', ')', ',']).unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    *text = rest;
    let mut of = Vec::new();
    if let Some(rest) = text.strip_prefix('(') {
        *text = rest;
        while !text.is_empty() && !text.starts_with(')') {
            of.push(read(text));
            *text = text.strip_prefix(", ").unwrap_or(text);
        }
        *text = text.strip_prefix(')').unwrap_or(text);
    }
    match (name, &*of) {
        ("dyn", _) => Type::Dyn,
        ("bool", _) => Type::Bool,
        ("bytes", _) => Type::Bytes,
        ("double", _) => Type::Double,
        ("duration", _) => Type::Duration,
        ("int", _) => Type::Int,
        ("string", _) => Type::String,
        ("timestamp", _) => Type::Timestamp,
        ("uint", _) => Type::Uint,
        ("list", [item]) => Type::list(item.clone()),
        ("map", [key, value]) => Type::map(key.clone(), value.clone()),
        ("type", [of]) => Type::Meta(Some(Arc::new(of.clone()))),
        (letter, []) if letter.len() == 1 => {
            let letter = letter
                .bytes()
                .next()
                .map_or(0, |letter| letter.wrapping_sub(b'A'));
            Type::Parameter(u32::from(letter))
        }
        (name, _) => Type::Opaque(name.into(), of.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::types::Joined;
    use super::*;

    /// Declarations as `functions.txt` has them.
    fn written(name: &str) -> String {
        let overloads = function(name).into_iter().flatten();
        let overloads = overloads.map(|overload| {
            let (target, arguments) = overload.arguments.split_at(usize::from(overload.is_member));
            let target: String = target.iter().map(|target| format!("{target}: ")).collect();
            format!("{target}({}) {}", Joined(arguments), overload.result)
        });
        format!("{name} {}", overloads.collect::<Vec<_>>().join("; "))
    }

    #[test]
    fn declarations_are_read_as_they_are_written() {
        for line in include_str!("functions.txt").lines() {
            let name = line.split(' ').next().unwrap_or("");
            assert_eq!(written(name), line);
        }
    }
}
