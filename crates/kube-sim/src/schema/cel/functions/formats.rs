//! Formats that have a name.

use std::sync::Arc;

use cel::Value;
use cel::objects::{Opaque, OptionalValue};

use super::argument::{Argument, Result, first, mismatch, string};
use super::url::Url;
use super::value::Own;
use crate::names::{
    begun_name, dns_1035_label_faults, dns_label_faults, label_key_faults, label_value_faults,
    subdomain_faults,
};
use crate::schema::format::fits;

/// A format, and what is wrong with a string that is none of it.
#[derive(Debug)]
pub(super) struct Format {
    name: &'static str,
    faults: fn(&str) -> Vec<String>,
}

impl PartialEq for Format {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Format {}

/// Declares formats: a table of them, and a function for each.
macro_rules! formats {
    ($($function:ident, $name:literal, $faults:expr;)+) => {
        static ALL: &[Format] = &[$(Format { name: $name, faults: $faults }),+];

        $(pub(super) fn $function(_: &[Argument<'_>]) -> Result {
            Ok(one_named($name).map_or(Value::Null, |format| Own::Format(format).into()))
        })+
    };
}

formats! {
    dns1123_label, "dns1123Label", |text| each(dns_label_faults(text));
    dns1123_subdomain, "dns1123Subdomain", |text| each(subdomain_faults(text));
    dns1035_label, "dns1035Label", |text| each(dns_1035_label_faults(text));
    qualified_name, "qualifiedName", label_key_faults;
    dns1123_label_prefix, "dns1123LabelPrefix", |text| each(dns_label_faults(&begun_name(text)));
    dns1123_subdomain_prefix, "dns1123SubdomainPrefix", |text| each(subdomain_faults(&begun_name(text)));
    dns1035_label_prefix, "dns1035LabelPrefix", |text| each(dns_1035_label_faults(&begun_name(text)));
    label_value, "labelValue", |text| each(label_value_faults(text));
    uri, "uri", |text| Url::fault(text).into_iter().collect();
    uuid, "uuid", |text| unless(fits("uuid", text), "does not match the UUID format");
    byte, "byte", |text| unless(fits("byte", text), "invalid base64");
    date, "date", |text| unless(fits("date", text), "invalid date");
    datetime, "datetime", |text| unless(fits("date-time", text), "invalid datetime");
}

fn one_named(name: &str) -> Option<&'static Format> {
    ALL.iter().find(|format| format.name == name)
}

fn each(faults: Vec<&str>) -> Vec<String> {
    faults.into_iter().map(str::to_owned).collect()
}

fn unless(fits: bool, why: &str) -> Vec<String> {
    each((!fits).then_some(why).into_iter().collect())
}

fn optional(value: Option<Value>) -> Value {
    let value: Arc<dyn Opaque> = Arc::new(value.map_or_else(OptionalValue::none, OptionalValue::of));
    Value::Opaque(value)
}

/// The format of a name, if there is one.
pub(super) fn named(arguments: &[Argument<'_>]) -> Result {
    let name = first(arguments)?.text()?;
    Ok(optional(one_named(name).map(|format| Own::Format(format).into())))
}

/// What is wrong with a string; nothing if it is of the format.
pub(super) fn validate(arguments: &[Argument<'_>]) -> Result {
    let [format, source] = arguments else {
        return Err(mismatch());
    };
    let Own::Format(format) = format.own()? else {
        return Err(mismatch());
    };
    let faults = (format.faults)(source.text()?);
    let faults =
        (!faults.is_empty()).then(|| Value::List(Arc::new(faults.into_iter().map(string).collect())));
    Ok(optional(faults))
}
