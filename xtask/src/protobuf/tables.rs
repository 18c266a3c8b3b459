//! The tables as Rust.

use super::Generated;
use super::golang::{self, Sources};
use super::schema::{Field, Label, Message, Package};
use anyhow::{Context as _, Result, bail, ensure};
use std::collections::BTreeSet;
use std::fmt::Write as _;

const META: &str = "k8s.io.apimachinery.pkg.apis.meta.v1";

/// The messages with a form of their own in JSON. `kube_protobuf` knows their fields.
const FORMS: [(&str, &str); 15] = [
    ("k8s.io.apimachinery.pkg.apis.meta.v1.Time", "Time"),
    ("k8s.io.apimachinery.pkg.apis.meta.v1.MicroTime", "MicroTime"),
    ("k8s.io.apimachinery.pkg.apis.meta.v1.Duration", "Duration"),
    ("k8s.io.apimachinery.pkg.apis.meta.v1.FieldsV1", "Json"),
    ("k8s.io.apimachinery.pkg.api.resource.Quantity", "Quantity"),
    ("k8s.io.apimachinery.pkg.util.intstr.IntOrString", "IntOrString"),
    ("k8s.io.apimachinery.pkg.runtime.RawExtension", "RawExtension"),
    (V1_JSON, "Json"),
    (V1BETA1_JSON, "Json"),
    (
        "k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrArray",
        "SchemaOrArray",
    ),
    (
        "k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrBool",
        "SchemaOrBool",
    ),
    (
        "k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.JSONSchemaPropsOrStringArray",
        "SchemaOrStrings",
    ),
    (
        "k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1beta1.JSONSchemaPropsOrArray",
        "SchemaOrArray",
    ),
    (
        "k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1beta1.JSONSchemaPropsOrBool",
        "SchemaOrBool",
    ),
    (
        "k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1beta1.JSONSchemaPropsOrStringArray",
        "SchemaOrStrings",
    ),
];
const V1_JSON: &str = "k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.JSON";
const V1BETA1_JSON: &str = "k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1beta1.JSON";

/// Messages that no object has: the envelope, which is read by hand, and what only Go uses.
const LEFT_OUT: [&str; 5] = [
    "k8s.io.apimachinery.pkg.runtime.TypeMeta",
    "k8s.io.apimachinery.pkg.runtime.Unknown",
    "k8s.io.apimachinery.pkg.api.resource.QuantityValue",
    "k8s.io.apimachinery.pkg.apis.meta.v1.GroupVersion",
    "k8s.io.apimachinery.pkg.apis.meta.v1.TypeMeta",
];

/// The kinds of meta/v1 that are of the group "" and its version v1, and those that are of `meta.k8s.io`. The other ones
/// (`DeleteOptions`) are of every group.
const OF_CORE: [&str; 5] = [
    "APIGroup",
    "APIGroupList",
    "APIResourceList",
    "APIVersions",
    "Status",
];
const OF_META: [&str; 2] = ["PartialObjectMetadata", "PartialObjectMetadataList"];

/// Fields whose objects get a type from the API server, which is not in protobuf: the end of the message's name, the
/// field, and the name of the kind.
const TYPED: [(&str, &str, &str); 3] = [
    (".StatefulSetSpec", "volumeClaimTemplates", "CLAIM"),
    (".meta.v1.PartialObjectMetadataList", "items", "METADATA"),
    (
        ".meta.v1beta1.PartialObjectMetadataList",
        "items",
        "METADATA_V1BETA1",
    ),
];
const KINDS: &str = "\
static CLAIM: Kind = kind(\"\", \"v1\", \"PersistentVolumeClaim\", &core_v1::PersistentVolumeClaim);
static METADATA: Kind = kind(\"meta.k8s.io\", \"v1\", \"PartialObjectMetadata\", &meta_v1::PartialObjectMetadata);
static METADATA_V1BETA1: Kind = kind(\"meta.k8s.io\", \"v1beta1\", \"PartialObjectMetadata\", &meta_v1::PartialObjectMetadata);

";

const HEAD: &str = "\
//! A field is: its number, its name in JSON, its type, and when it is there. See `table` for the words.
";

pub(super) fn source(packages: &[Package], versions: &str) -> Result<Generated> {
    let mut source = HEAD.to_owned();
    writeln!(source, "//!\n//! From {versions}.\n")?;
    source += "use crate::table::{Form, Kind, Message, kind, map, many, message, object, one, special};\n\
        use crate::table::Presence::*;\nuse crate::table::Type::*;\n\n";
    for package in packages {
        writeln!(source, "pub(crate) mod {};", module(&package.name)?)?;
    }
    source += "\n";
    source += KINDS;
    let (mut kinds, mut options, mut messages) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    let mut modules = Vec::new();
    for package in packages {
        let mut text = format!("//! The messages of `{}`.\n\nuse super::*;\n\n", package.name);
        for one in &package.messages {
            let name = &one.name;
            let full = format!("{}.{name}", package.name);
            let Some(shape) = shape(packages, package, one).with_context(|| full.clone())? else {
                continue;
            };
            messages.insert(format!("&{}", reference(&full)?));
            text += &declaration(&shape, name, &full)?;
            if !shape.is_object {
                continue;
            }
            let entry = |group: &str, version: &str| {
                Ok::<_, anyhow::Error>(format!(
                    "kind({group:?}, {version:?}, {name:?}, &{})",
                    reference(&full)?
                ))
            };
            match &package.sources.group_version {
                _ if package.name == META && OF_CORE.contains(&name.as_str()) => {
                    kinds.insert(("".to_owned(), "v1".to_owned(), name.clone(), entry("", "v1")?));
                }
                Some((_, version)) if package.name == META && !OF_META.contains(&name.as_str()) => {
                    if name != "List" {
                        options.insert((name.clone(), entry("", version)?));
                    }
                }
                Some((group, version)) => {
                    kinds.insert((
                        group.clone(),
                        version.clone(),
                        name.clone(),
                        entry(group, version)?,
                    ));
                }
                None => bail!("{full} is of no group"),
            }
        }
        modules.push((module(&package.name)?, text));
    }
    // meta.k8s.io/v1beta1 takes its items from v1.
    let item = ("meta.k8s.io", "v1beta1", "PartialObjectMetadata");
    let entry = format!(
        "kind({:?}, {:?}, {:?}, &meta_v1::PartialObjectMetadata)",
        item.0, item.1, item.2
    );
    kinds.insert((item.0.into(), item.1.into(), item.2.into(), entry));

    source += "/// All kinds, in order.\npub(crate) static KINDS: &[Kind] = &[\n";
    for (_, _, _, entry) in kinds {
        writeln!(source, "    {entry},")?;
    }
    source += "];\n\n/// The kinds that every group and version has, in order.\npub(crate) static OPTIONS: &[Kind] = &[\n";
    for (_, entry) in options {
        writeln!(source, "    {entry},")?;
    }
    source += "];\n\n/// All messages.\npub(crate) static MESSAGES: &[&Message] = &[\n";
    for entry in messages {
        writeln!(source, "    {entry},")?;
    }
    source += "];\n";
    Ok(Generated {
        root: source,
        packages: modules,
    })
}

/// What a message is.
pub(super) struct Shape {
    /// Its form in JSON, if that is no object.
    pub(super) form: Option<&'static str>,
    /// None of a form, unless they have to be known.
    pub(super) fields: Vec<Member>,
    /// Whether it has an apiVersion and a kind.
    is_object: bool,
}

/// A field, and what it is in JSON.
pub(super) struct Member {
    pub(super) number: u32,
    pub(super) label: Label,
    /// Its name in JSON.
    pub(super) name: String,
    /// A scalar's name, or the full name of a message.
    pub(super) kind: String,
    /// The kind that its objects get from the API server.
    object: Option<&'static str>,
    pub(super) presence: &'static str,
}

/// What a message is; `None` of those that no object has.
pub(super) fn shape(packages: &[Package], package: &Package, message: &Message) -> Result<Option<Shape>> {
    let name = &message.name;
    let full = format!("{}.{name}", package.name);
    if LEFT_OUT.contains(&full.as_str()) {
        return Ok(None);
    }
    let form = FORMS.iter().find(|(of, _)| *of == full).map(|(_, form)| *form);
    let form = form.or_else(|| package.sources.is_strings(name).then_some("Strings"));
    if let Some(form) = form {
        let known = message.fields.iter().filter(|_| form.starts_with("Schema"));
        // Only their numbers and types count.
        let fields = known
            .map(|field| member(field, String::new(), None, "Optional"))
            .collect();
        return Ok(Some(Shape {
            form: Some(form),
            fields,
            is_object: false,
        }));
    }
    ensure!(
        !package.sources.marshallers.contains(name),
        "it has a form of its own in JSON, which is not known"
    );
    let in_go = struct_of(packages, &package.sources, name).context("there is no such struct in Go")?;
    let is_list = in_go.iter().any(|field| field.kind.ends_with("ListMeta"));
    let mut fields = Vec::new();
    for field in &message.fields {
        let go = in_go.iter().find(|go| go.number == Some(field.number));
        let go = go.with_context(|| format!("field {} is not in Go", field.number))?;
        ensure!(go.json != "-", "field {} is not in JSON", field.number);
        let presence = presence(field, go, is_list)?;
        let typed = TYPED
            .iter()
            .find(|(of, at, _)| full.ends_with(of) && *at == go.json_name());
        let object = typed.map(|(_, _, kind)| *kind);
        fields.push(member(field, go.json_name().to_owned(), object, presence));
    }
    let is_object = in_go
        .iter()
        .any(|field| field.embedded && field.kind.ends_with("TypeMeta"));
    Ok(Some(Shape {
        form: None,
        fields,
        is_object,
    }))
}

fn member(field: &Field, name: String, object: Option<&'static str>, presence: &'static str) -> Member {
    Member {
        number: field.number,
        label: field.label,
        name,
        kind: field.kind.clone(),
        object,
        presence,
    }
}

fn declaration(shape: &Shape, name: &str, full: &str) -> Result<String> {
    let head = match shape.form {
        Some(form) => format!("special({full:?}, Form::{form}"),
        None if shape.is_object => format!("object({full:?}"),
        None => format!("message({full:?}"),
    };
    let mut source = format!("pub(crate) static {name}: Message = {head}, &[");
    for field in &shape.fields {
        let kind = match field.object {
            Some(kind) => format!("Object(&{kind})"),
            None => type_of(&field.kind)?,
        };
        write!(
            source,
            "\n    {}({}, {:?}, {kind}, {}),",
            function(field.label),
            field.number,
            field.name,
            field.presence,
        )?;
    }
    if shape.form.is_none() || !shape.fields.is_empty() {
        source += "\n";
    }
    Ok(source + "]);\n\n")
}

/// The fields of a struct, which can be another name of one of another package.
fn struct_of<'a>(packages: &'a [Package], sources: &'a Sources, name: &str) -> Option<&'a [golang::Field]> {
    sources.fields(name).or_else(|| {
        let (package, other) = sources.renamed(name)?;
        let package = packages.iter().find(|one| one.name == package)?;
        package.sources.fields(other)
    })
}

fn presence(field: &Field, go: &golang::Field, is_list: bool) -> Result<&'static str> {
    Ok(match (go.json_name(), field.label) {
        ("", Label::One) if go.embedded && !go.is_pointer() => "Inline",
        ("", _) => bail!("field {} has no name in JSON", field.number),
        ("items", Label::Many) if is_list && !go.has("omitempty") => "Items",
        _ if go.is_pointer() && (go.has("omitempty") || go.has("omitzero")) => "Optional",
        _ if go.is_pointer() => "Nullable",
        _ if go.has("omitzero") => {
            ensure!(
                field.kind.contains('.') && field.label == Label::One,
                "omitzero of a scalar"
            );
            "OmitZero"
        }
        _ if go.has("omitempty") => "OmitEmpty",
        _ => "Required",
    })
}

fn function(label: Label) -> &'static str {
    match label {
        Label::One => "one",
        Label::Many => "many",
        Label::Map => "map",
    }
}

fn type_of(kind: &str) -> Result<String> {
    Ok(match kind {
        "bool" => "Bool".into(),
        "bytes" => "Bytes".into(),
        "double" => "Double".into(),
        "int32" => "Int32".into(),
        "int64" => "Int64".into(),
        "string" => "String".into(),
        full => format!("Msg(&{})", reference(full)?),
    })
}

/// `core_v1::Pod` for `k8s.io.api.core.v1.Pod`.
pub(super) fn reference(full: &str) -> Result<String> {
    let (package, name) = full.rsplit_once('.').context("a message of no package")?;
    Ok(format!("{}::{name}", module(package)?))
}

/// `core_v1` for `k8s.io.api.core.v1`.
pub(super) fn module(package: &str) -> Result<String> {
    let short = [
        "k8s.io.api.",
        "k8s.io.apimachinery.pkg.apis.",
        "k8s.io.apimachinery.pkg.",
        "k8s.io.apiextensions_apiserver.pkg.apis.",
        "k8s.io.kube_aggregator.pkg.apis.",
    ]
    .iter()
    .find_map(|prefix| package.strip_prefix(prefix));
    Ok(short
        .with_context(|| format!("an unknown package: {package}"))?
        .replace('.', "_"))
}
