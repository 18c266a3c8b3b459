//! A place in an object: the value there, and the path by which a refusal names it.

use std::fmt;

use serde_json::{Map, Value};

use crate::status::{Cause, go_json, quoted, shown};

/// Why an object is refused.
pub(crate) type Causes = Vec<Cause>;

/// A value in an object. Places are made on the way down and borrow the one above; a path is only written for a cause.
#[derive(Clone, Copy)]
pub(super) struct At<'a> {
    above: Option<&'a At<'a>>,
    step: Step<'a>,
    value: &'a Value,
    /// The members, if the value is an object.
    members: Option<&'a Map<String, Value>>,
}

#[derive(Clone, Copy)]
enum Step<'a> {
    Member(&'a str),
    Item(&'a str, usize),
    Entry(&'a str, &'a str),
}

impl<'a> At<'a> {
    /// An object as a whole.
    pub(super) fn root(object: &'a Map<String, Value>) -> Self {
        Self {
            above: None,
            step: Step::Member(""),
            value: &Value::Null,
            members: Some(object),
        }
    }

    fn under<'b>(&'b self, step: Step<'b>, value: &'b Value) -> At<'b> {
        At {
            above: Some(self),
            step,
            value,
            members: value.as_object(),
        }
    }

    /// A member, which may be absent.
    pub(super) fn at<'b>(&'b self, name: &'b str) -> At<'b> {
        self.under(Step::Member(name), self.get(name))
    }

    /// Visits the place to which these members lead, one in the other.
    pub(super) fn along(&self, members: &[&str], visit: &mut dyn FnMut(&At<'_>)) {
        match members {
            [] => visit(self),
            [first, rest @ ..] => self.at(first).along(rest, visit),
        }
    }

    /// A member by which a cause names a value that is elsewhere.
    pub(super) fn naming<'b>(&'b self, name: &'b str, value: &'b Value) -> At<'b> {
        self.under(Step::Member(name), value)
    }

    /// A member, shown as the entry of a map.
    pub(super) fn entry<'b>(&'b self, name: &'b str, key: &'b str) -> At<'b> {
        self.under(Step::Entry(name, key), &self.get(name)[key])
    }

    /// The items of a member that is a list.
    pub(super) fn items<'b>(&'b self, name: &'b str) -> impl Iterator<Item = At<'b>> {
        let items = self.get(name).as_array().into_iter().flatten();
        items
            .enumerate()
            .map(move |(n, item)| self.under(Step::Item(name, n), item))
    }

    /// The entries of a member that is a map.
    pub(super) fn entries<'b>(&'b self, name: &'b str) -> impl Iterator<Item = (&'b str, At<'b>)> {
        let entries = self.get(name).as_object().into_iter().flatten();
        entries.map(move |(key, value)| (key.as_str(), self.under(Step::Entry(name, key), value)))
    }

    /// The value of a member; null if there is none.
    pub(super) fn get(&self, name: &str) -> &'a Value {
        self.members
            .and_then(|members| members.get(name))
            .unwrap_or(&Value::Null)
    }

    pub(super) fn value(&self) -> &'a Value {
        self.value
    }

    pub(super) fn is_set(&self) -> bool {
        !self.value.is_null()
    }

    /// Whether a member is there.
    pub(super) fn has(&self, name: &str) -> bool {
        !self.get(name).is_null()
    }

    /// Which of these members are there.
    pub(super) fn those<'b>(&self, names: &'b [&'b str]) -> impl Iterator<Item = &'b str> {
        names.iter().copied().filter(|name| self.has(name))
    }

    /// How many items or entries a member has.
    pub(super) fn count(&self, name: &str) -> usize {
        match self.get(name) {
            Value::Array(items) => items.len(),
            Value::Object(entries) => entries.len(),
            _ => 0,
        }
    }

    /// The string here; empty if there is none.
    pub(super) fn text(&self) -> &'a str {
        self.value.as_str().unwrap_or("")
    }

    /// The string that a member is.
    pub(super) fn text_at(&self, name: &str) -> &'a str {
        self.get(name).as_str().unwrap_or("")
    }

    pub(super) fn number(&self) -> Option<i64> {
        self.value.as_i64()
    }

    pub(super) fn number_at(&self, name: &str) -> Option<i64> {
        self.get(name).as_i64()
    }

    pub(super) fn is_true_at(&self, name: &str) -> bool {
        self.get(name) == &Value::Bool(true)
    }

    pub(super) fn path(&self) -> String {
        self.to_string()
    }

    /// The value as a cause shows it; what is absent is an empty string.
    fn shown(&self) -> String {
        match self.value {
            Value::Null => quoted(""),
            value => shown(value),
        }
    }

    /// The value in JSON, as a cause shows one of a type of its own or behind a pointer; what is absent is an empty string.
    pub(super) fn in_json(&self) -> String {
        match self.value {
            Value::Null => quoted(""),
            value => go_json(value),
        }
    }

    pub(super) fn required(&self, why: &str) -> Cause {
        Cause::required(self.path(), why)
    }

    pub(super) fn forbidden(&self, why: &str) -> Cause {
        Cause::forbidden(self.path(), why)
    }

    pub(super) fn invalid(&self, why: &str) -> Cause {
        Cause::invalid(self.path(), self.shown(), why)
    }

    /// The same of a value of a type of its own or behind a pointer.
    pub(super) fn invalid_in_json(&self, why: &str) -> Cause {
        self.invalid_as(self.in_json(), why)
    }

    /// A cause that shows something else than the value.
    pub(super) fn invalid_as(&self, shown: impl fmt::Display, why: &str) -> Cause {
        Cause::invalid(self.path(), shown, why)
    }

    /// A cause that shows no value.
    pub(super) fn invalid_alone(&self, why: &str) -> Cause {
        Cause::invalid_alone(self.path(), why)
    }

    pub(super) fn duplicate(&self) -> Cause {
        Cause::duplicate(self.path(), self.value)
    }

    pub(super) fn duplicate_as(&self, shown: &Value) -> Cause {
        Cause::duplicate(self.path(), shown)
    }

    /// A duplicate that is shown in another way than the value.
    pub(super) fn duplicate_shown(&self, shown: &str) -> Cause {
        Cause::duplicate_shown(self.path(), shown)
    }

    pub(super) fn too_long(&self, most: usize) -> Cause {
        Cause::too_long(self.path(), most)
    }

    pub(super) fn too_many(&self, found: usize, most: usize) -> Cause {
        Cause::too_many(self.path(), found, most)
    }

    /// A cause that shows something else than the value, and says why.
    pub(super) fn not_found_as(&self, shown: impl fmt::Display, why: &str) -> Cause {
        Cause::not_found(self.path(), format_args!("{shown}: {why}"))
    }

    pub(super) fn not_found(&self) -> Cause {
        Cause::not_found(self.path(), self.shown())
    }

    /// A value that is none of its type.
    pub(super) fn unsupported(&self, supported: &[&str]) -> Cause {
        self.unsupported_as(&self.in_json(), supported)
    }

    /// The same of a string without a type of its own.
    pub(super) fn unsupported_text(&self, supported: &[&str]) -> Cause {
        self.unsupported_as(&self.shown(), supported)
    }

    /// A cause that shows something else than the value.
    pub(super) fn unsupported_as(&self, shown: &str, supported: &[&str]) -> Cause {
        let supported: Vec<_> = supported.iter().map(|value| quoted(value)).collect();
        Cause::unsupported(self.path(), shown, &supported.join(", "))
    }

    /// A string that must be there; returns whether it is.
    pub(super) fn need(&self, causes: &mut Causes) -> bool {
        if self.text().is_empty() {
            causes.push(self.required(""));
            return false;
        }
        true
    }

    /// A string without a type of its own that must be one of these.
    pub(super) fn text_one_of(&self, supported: &[&str], causes: &mut Causes) {
        if !supported.contains(&self.text()) {
            causes.push(self.unsupported_text(supported));
        }
    }

    /// A string that must be one of these, which are all of its type.
    pub(super) fn one_of(&self, supported: &[&str], causes: &mut Causes) {
        if !supported.contains(&self.text()) {
            causes.push(self.unsupported(supported));
        }
    }

    /// A string that must be there and one of these.
    pub(super) fn need_one_of(&self, supported: &[&str], causes: &mut Causes) {
        if self.need(causes) {
            self.one_of(supported, causes);
        }
    }

    /// A string that must be one of these if it is there.
    pub(super) fn may_be_one_of(&self, supported: &[&str], causes: &mut Causes) {
        if self.is_set() {
            self.one_of(supported, causes);
        }
    }

    /// A string that must have a form; `faults` says everything that keeps it from that.
    pub(super) fn fits<I>(&self, faults: impl FnOnce(&str) -> I, causes: &mut Causes)
    where
        I: IntoIterator<Item: AsRef<str>>,
    {
        let faults = faults(self.text()).into_iter();
        causes.extend(faults.map(|fault| self.invalid(fault.as_ref())));
    }

    /// The same, unless the string is empty.
    pub(super) fn fits_if_set<I>(&self, faults: impl FnOnce(&str) -> I, causes: &mut Causes)
    where
        I: IntoIterator<Item: AsRef<str>>,
    {
        if !self.text().is_empty() {
            self.fits(faults, causes);
        }
    }

    /// The same, of a string that must be there.
    pub(super) fn need_fit<I>(&self, faults: impl FnOnce(&str) -> I, causes: &mut Causes)
    where
        I: IntoIterator<Item: AsRef<str>>,
    {
        if self.need(causes) {
            self.fits(faults, causes);
        }
    }

    /// A number that is not below zero, if it is there.
    pub(super) fn not_negative(&self, causes: &mut Causes) {
        if self.number().is_some_and(|number| number < 0) {
            causes.push(self.invalid("must be greater than or equal to 0"));
        }
    }

    /// A number that is not below these bounds, if it is there.
    pub(super) fn within(&self, least: i64, most: i64, causes: &mut Causes) {
        if self
            .number()
            .is_some_and(|number| !(least..=most).contains(&number))
        {
            causes.push(self.invalid(&format!("must be between {least} and {most}, inclusive")));
        }
    }
}

impl fmt::Display for At<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(above) = self.above else { return Ok(()) };
        above.fmt(f)?;
        if above.above.is_some() {
            f.write_str(".")?;
        }
        match self.step {
            Step::Member(name) => f.write_str(name),
            Step::Item(name, n) => write!(f, "{name}[{n}]"),
            Step::Entry(name, key) => write!(f, "{name}[{key}]"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_cause_names_the_path() {
        let Value::Object(object) = json!({"spec": {"a": [{"b": {"k": -1}}]}}) else {
            panic!("an object")
        };
        let root = At::root(&object);
        let spec = root.at("spec");
        let mut causes = Vec::new();
        for item in spec.items("a") {
            for (_, entry) in item.entries("b") {
                entry.not_negative(&mut causes);
            }
            item.at("c").need(&mut causes);
        }
        let fields: Vec<_> = causes.iter().map(|cause| cause.field.as_ref()).collect();
        assert_eq!(fields, ["spec.a[0].b[k]", "spec.a[0].c"]);
    }
}
