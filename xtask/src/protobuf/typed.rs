//! The fields of k8s-openapi's structs by the numbers that they have in protobuf.
//!
//! What a field becomes follows from the tables and from its type. Where versions of Kubernetes differ, code is within
//! `k8s_if_ge_1_34!` and the like, since it is the program that chooses the version.

use super::Generated;
use super::openapi::{self, Structs};
use super::schema::{Label, Package};
use super::tables::{Member, Shape, module, reference, shape};
use anyhow::{Context as _, Result, ensure};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

const HEAD: &str = "\
//! The fields of structs, by their numbers in protobuf. See `typed` for the words.
";

/// protobuf's scalars, and their types.
const SCALARS: [(&str, &str); 6] = [
    ("bool", "bool"),
    ("bytes", "ByteString"),
    ("double", "f64"),
    ("int32", "i32"),
    ("int64", "i64"),
    ("string", "String"),
];

/// What the structs of a message are in each version.
struct Source<'a> {
    shapes: &'a BTreeMap<String, Shape>,
    versions: BTreeMap<u32, Structs>,
}

pub(super) fn source(packages: &[Package], versions: &str) -> Result<Generated> {
    let mut shapes = BTreeMap::new();
    for package in packages {
        for message in &package.messages {
            if let Some(shape) = shape(packages, package, message)? {
                shapes.insert(format!("{}.{}", package.name, message.name), shape);
            }
        }
    }
    let source = Source {
        shapes: &shapes,
        versions: openapi::read()?,
    };
    let mut text = HEAD.to_owned();
    writeln!(text, "//!\n//! From {versions}.\n")?;
    text += "use super::*;\nuse crate::tables;\nuse crate::table;\nuse std::any::Any;\nuse std::ptr;\n\n";
    let mut modules = Vec::new();
    for package in packages {
        let (structs, found) = source.package(&package.name)?;
        if found.is_empty() {
            continue;
        }
        let name = module(&package.name)?;
        writeln!(text, "{}", source.within(&found, &format!("mod {name};")))?;
        let of = path(&package.name)?;
        let head = format!("//! The structs of `{of}`.\n\nuse super::*;\nuse k8s_openapi::{of} as k8s;\n\n");
        modules.push((name, head + &structs));
    }
    text += "\n";
    text += &source.kinds()?;
    Ok(Generated {
        root: text,
        packages: modules,
    })
}

impl Source<'_> {
    /// The function that finds what reads a kind.
    fn kinds(&self) -> Result<String> {
        let mut text = "\
pub(super) fn read(message: &'static table::Message, bytes: &[u8], object: &mut dyn Any) -> Option<()> {\n"
            .to_owned();
        for full in self.shapes.keys() {
            let path = path(full)?;
            let found = self.where_(|structs| structs.get(&path).is_some_and(|found| found.is_kind));
            let line = format!(
                "if ptr::eq(message, &tables::{}) {{ return read_into::<k8s_openapi::{path}>(bytes, object); }}",
                reference(full)?
            );
            if !found.is_empty() {
                writeln!(text, "    {}", self.within(&found, &line))?;
            }
        }
        Ok(text + "    None\n}\n\n")
    }

    /// The structs of a package, and the versions that have any.
    fn package(&self, package: &str) -> Result<(String, BTreeSet<u32>)> {
        let (mut text, mut versions) = (String::new(), BTreeSet::new());
        for (full, shape) in self.shapes {
            let Some(name) = full.strip_prefix(package).and_then(|rest| rest.strip_prefix('.')) else {
                continue;
            };
            if name.contains('.') || shape.form.is_some() {
                continue;
            }
            let path = path(full)?;
            let found = self.where_(|structs| structs.contains_key(&path));
            if !found.is_empty() {
                let made = self
                    .implementation(name, &path, shape, &found)
                    .with_context(|| full.clone())?;
                writeln!(text, "{}\n", self.within(&found, &made))?;
                versions.extend(found);
            }
        }
        Ok((text, versions))
    }

    fn implementation(&self, name: &str, path: &str, shape: &Shape, found: &BTreeSet<u32>) -> Result<String> {
        let mut inlined = String::new();
        let body = self.body(name, path, shape, found, "self", &mut inlined)?;
        Ok(format!("impl Message for k8s::{name} {{\n{body}}}\n{inlined}"))
    }

    /// What is within `impl Message` for the fields of a message that are those of the struct `path`, which is `this`.
    fn body(
        &self,
        name: &str,
        path: &str,
        shape: &Shape,
        found: &BTreeSet<u32>,
        this: &str,
        inlined: &mut String,
    ) -> Result<String> {
        let (mut zeros, mut arms) = (Vec::new(), String::new());
        for member in &shape.fields {
            if member.presence == "Inline" {
                let outer = format!("{name}{}", member.number);
                let inner = self.shapes.get(&member.kind).context("an unknown message")?;
                let body = self.body(&outer, path, inner, found, "self.0", inlined)?;
                let (_, of) = path.rsplit_once("::").context("a struct of no module")?;
                write!(
                    inlined,
                    "\nstruct {outer}<'a>(&'a mut k8s::{of});\n\nimpl Message for {outer}<'_> {{\n{body}}}\n"
                )?;
                // Of a wrapper, the struct is in it already.
                writeln!(
                    arms,
                    "            {} => inline(&mut {outer}({}), input),",
                    member.number,
                    if this == "self" { "self" } else { "&mut *self.0" },
                )?;
                zeros.push((member.number, "Wire::Bytes(&[])"));
                continue;
            }
            let mut by_call: BTreeMap<String, BTreeSet<u32>> = BTreeMap::new();
            for version in found {
                let structs = &self.versions[version];
                if let Some(field) = structs[path].fields.get(&member.name) {
                    let made = self.field(structs, member, field, this)?;
                    if let Some(zero) = made.zero
                        && !zeros.iter().any(|(number, _)| *number == member.number)
                    {
                        zeros.push((member.number, zero));
                    }
                    by_call.entry(made.call).or_default().insert(*version);
                }
            }
            let known = by_call.values().flatten().copied().collect();
            let unknown: BTreeSet<u32> = found.difference(&known).copied().collect();
            if !unknown.is_empty() && member.label == Label::One {
                by_call.entry(skip(member)?).or_default().extend(unknown);
            }
            let number = member.number;
            match by_call.first_key_value() {
                None => {}
                Some((call, versions)) if versions == found => {
                    writeln!(arms, "            {number} => {call},")?;
                }
                Some(_) => {
                    let calls: Vec<_> = by_call
                        .iter()
                        .map(|(call, versions)| self.within(versions, &format!("return {call};")))
                        .collect();
                    writeln!(arms, "            {number} => {{ {} Some(()) }}", calls.join(" "))?;
                }
            }
        }
        let mut text = String::new();
        if !zeros.is_empty() {
            let zeros: Vec<_> = zeros
                .iter()
                .map(|(number, zero)| format!("({number}, {zero})"))
                .collect();
            writeln!(
                text,
                "    fn zeros(&self) -> &'static [(u32, Wire<'static>)] {{\n        &[{}]\n    }}\n",
                zeros.join(", ")
            )?;
        }
        match arms.is_empty() {
            true => {
                text += "    fn field(&mut self, _: Input<'_>) -> Option<()> {\n        Some(())\n    }\n"
            }
            false => write!(
                text,
                "    fn field(&mut self, input: Input<'_>) -> Option<()> {{\n        match input.number {{\n{arms}            _ => Some(()),\n        }}\n    }}\n"
            )?,
        }
        Ok(text)
    }

    /// What reads a record into a field.
    fn field(&self, structs: &Structs, member: &Member, field: &openapi::Field, this: &str) -> Result<Made> {
        let place = format!("{this}.{}", field.name);
        let (optional, kind) = match inner(&field.kind, "Option") {
            Some(kind) => (true, kind),
            None => (false, field.kind.as_str()),
        };
        let always = ["Required", "OmitEmpty"].contains(&member.presence);
        // Without a record, it is left to serde whether there is a value.
        let unread = || Made {
            call: format!("unread(&{place})"),
            zero: (optional && always && member.label == Label::One).then_some("Wire::Bytes(&[])"),
        };
        match member.label {
            Label::One => {
                let (boxed, kind) = match inner(kind, "Box") {
                    Some(kind) => (true, kind),
                    None => (false, kind),
                };
                let (call, zero) = match self.leaf(structs, member, kind)? {
                    Leaf::Unread => return Ok(unread()),
                    Leaf::Scalar => match (optional, member.presence) {
                        (true, "OmitEmpty") => (format!("some_unless_empty(&mut {place}, input)"), None),
                        (true, "Required") => (format!("some(&mut {place}, input)"), zero_of(&member.kind)),
                        (true, _) => (format!("some(&mut {place}, input)"), None),
                        (false, _) => (format!("set(&mut {place}, input)"), None),
                    },
                    Leaf::Time(_) if !optional => return Ok(unread()),
                    Leaf::Time(function) => (format!("{function}(&mut {place}, input)"), None),
                    _ if member.presence == "OmitZero" => return Ok(unread()),
                    Leaf::Value => {
                        let function = if optional { "some_once" } else { "set_once" };
                        (
                            format!("{function}(&mut {place}, input)"),
                            Some("Wire::Bytes(&[])"),
                        )
                    }
                    Leaf::Message => {
                        let place = match (optional, boxed) {
                            (true, true) => format!("&mut **{place}.get_or_insert_default()"),
                            (true, false) => format!("{place}.get_or_insert_default()"),
                            (false, true) => format!("&mut *{place}"),
                            (false, false) => format!("&mut {place}"),
                        };
                        (format!("message({place}, input)"), Some("Wire::Bytes(&[])"))
                    }
                    Leaf::Serde(table) => {
                        let function = if optional { "some_by_serde" } else { "set_by_serde" };
                        // A nil slice is null, or missing.
                        let is_strings = self
                            .shapes
                            .get(&member.kind)
                            .is_some_and(|shape| shape.form == Some("Strings"));
                        let zero = (!is_strings).then_some("Wire::Bytes(&[])");
                        match is_strings && member.presence != "Optional" {
                            true => return Ok(unread()),
                            false => (format!("{function}(&mut {place}, &tables::{table}, input)"), zero),
                        }
                    }
                };
                let zero = zero.filter(|_| always);
                Ok(Made { call, zero })
            }
            Label::Many => {
                ensure!(member.presence != "Items", "a list");
                let Some(kind) = inner(kind, "Vec") else {
                    return Ok(unread());
                };
                let function = if optional { "room" } else { "reserve" };
                let list = format!("{function}(&mut {place}, &input)");
                Ok(Made {
                    call: match self.leaf(structs, member, kind)? {
                        Leaf::Unread | Leaf::Time(_) => return Ok(unread()),
                        Leaf::Scalar | Leaf::Value => format!("push({list}, input)"),
                        Leaf::Message => format!("push_message({list}, input)"),
                        Leaf::Serde(table) => format!("push_by_serde({list}, &tables::{table}, input)"),
                    },
                    zero: None,
                })
            }
            Label::Map => {
                let Some(kind) = inner(kind, "BTreeMap").and_then(|kinds| kinds.strip_prefix("String, "))
                else {
                    return Ok(unread());
                };
                let map = match optional {
                    true => format!("{place}.get_or_insert_default()"),
                    false => format!("&mut {place}"),
                };
                Ok(Made {
                    call: match self.leaf(structs, member, kind)? {
                        Leaf::Unread | Leaf::Time(_) => return Ok(unread()),
                        Leaf::Scalar | Leaf::Value | Leaf::Message => format!("entry({map}, input)"),
                        Leaf::Serde(table) => format!("entry_by_serde({map}, &tables::{table}, input)"),
                    },
                    zero: None,
                })
            }
        }
    }

    /// How a value of a type is read.
    fn leaf(&self, structs: &Structs, member: &Member, kind: &str) -> Result<Leaf> {
        if !member.kind.contains('.') {
            let same = SCALARS.contains(&(&member.kind, kind));
            return Ok(if same { Leaf::Scalar } else { Leaf::Unread });
        }
        let is_its_type = path(&member.kind)? == kind;
        let shape = self.shapes.get(&member.kind).context("an unknown message")?;
        Ok(match shape.form {
            Some("Time") if is_its_type => Leaf::Time("some_time"),
            Some("MicroTime") if is_its_type => Leaf::Time("some_micro_time"),
            Some("Quantity" | "IntOrString") if is_its_type => Leaf::Value,
            None if is_its_type && structs.contains_key(kind) => Leaf::Message,
            _ => Leaf::Serde(reference(&member.kind)?),
        })
    }

    /// The versions in which something is so.
    fn where_(&self, is_so: impl Fn(&Structs) -> bool) -> BTreeSet<u32> {
        let versions = self.versions.iter().filter(|(_, structs)| is_so(structs));
        versions.map(|(version, _)| *version).collect()
    }

    /// Code that is there in some versions only.
    fn within(&self, versions: &BTreeSet<u32>, code: &str) -> String {
        let all: Vec<u32> = self.versions.keys().copied().collect();
        let mut text = String::new();
        for run in all.chunk_by(|one, next| versions.contains(one) == versions.contains(next)) {
            if !versions.contains(&run[0]) {
                continue;
            }
            let mut code = code.trim_end().to_owned();
            if run.last() != all.last() {
                code = format!("k8s_openapi::k8s_if_le_1_{}! {{ {code} }}", run[run.len() - 1]);
            }
            if run.first() != all.first() {
                code = format!("k8s_openapi::k8s_if_ge_1_{}! {{ {code} }}", run[0]);
            }
            text += &code;
        }
        text
    }
}

/// A call, and the value that the field has where the message has none.
struct Made {
    call: String,
    zero: Option<&'static str>,
}

enum Leaf {
    Scalar,
    /// A time; the function that reads it.
    Time(&'static str),
    /// A message with a form of its own, which is read as a value.
    Value,
    /// A struct.
    Message,
    /// Any other type, by the table of its message.
    Serde(String),
    /// A type that is none of protobuf's here.
    Unread,
}

/// What passes over a field that a struct does not have, as serde does, which looks at it nevertheless.
fn skip(member: &Member) -> Result<String> {
    let scalar = SCALARS.iter().find(|(scalar, _)| *scalar == member.kind);
    Ok(match scalar {
        Some((_, kind)) => format!("set(&mut {kind}::default(), input)"),
        None => format!(
            "some_by_serde(&mut None::<serde::de::IgnoredAny>, &tables::{}, input)",
            reference(&member.kind)?
        ),
    })
}

/// The type within `Option<..>` and the like.
fn inner<'a>(kind: &'a str, of: &str) -> Option<&'a str> {
    kind.strip_prefix(of)?.strip_prefix('<')?.strip_suffix('>')
}

/// A scalar that JSON always has.
fn zero_of(kind: &str) -> Option<&'static str> {
    match kind {
        "string" => Some("Wire::Bytes(&[])"),
        "bool" | "int32" | "int64" => Some("Wire::Varint(0)"),
        "double" => Some("Wire::Fixed64(0)"),
        _ => None, // bytes, which are nil
    }
}

/// `api::core::v1::Pod` for `k8s.io.api.core.v1.Pod`.
fn path(full: &str) -> Result<String> {
    let path = full
        .strip_prefix("k8s.io.")
        .context("a message of another project")?;
    Ok(path.replace('.', "::"))
}
