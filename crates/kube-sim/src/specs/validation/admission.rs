//! Admission policies and their bindings.

use std::collections::BTreeSet;

use super::at::{At, Causes};
use super::names;
use crate::names::{dns_1035_label_fault, path_segment_faults, subdomain_fault, subdomain_faults};
use crate::schema::{self, Declared, TypeOf};
use crate::status::quoted;

const MAX_CONDITIONS: usize = 64;
const OPERATIONS: [&str; 5] = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];

/// Those in which there is an object to be changed.
const CHANGING: [&str; 4] = ["*", "CONNECT", "CREATE", "UPDATE"];

/// What expressions may mention.
pub(super) struct Names {
    all: Declared,
    /// What messages may mention, which cannot ask whether somebody may do something.
    of_messages: Declared,
    /// What mutations may mention, which make objects.
    of_mutations: Declared,
    /// What conditions may mention, which have no variables.
    of_conditions: Declared,
    /// What is wrong with the expression of each variable.
    faults: Vec<Option<String>>,
}

impl Names {
    /// `has_variables` says whether expressions may mention them.
    pub(super) fn of(spec: &At<'_>, has_variables: bool) -> Self {
        let mut of_messages = Declared::of_request();
        if spec.has("paramKind") {
            of_messages = of_messages.with_params();
        }
        let of_conditions = of_messages.clone().with_authorizer();
        let mut all = of_conditions.clone();
        if has_variables {
            all = all.with_variables();
        }
        let mut faults = Vec::new();
        // A variable may mention those before it.
        for variable in spec.items("variables") {
            let (found, fault) = match schema::checked(variable.text_at("expression"), &all) {
                Ok(checked) => (checked.of().cloned().unwrap_or(TypeOf::Dyn), None),
                Err(why) => (TypeOf::Dyn, Some(why)),
            };
            if !variable.text_at("expression").trim().is_empty() {
                all.add_variable(variable.text_at("name"), found);
            }
            faults.push(fault);
        }
        let mut of_mutations = all.clone();
        of_mutations.makes = true;
        Self {
            of_messages: of_messages.with_variables_of(&all),
            all,
            of_mutations,
            of_conditions,
            faults,
        }
    }
}

/// The most audit annotations of a policy, and the most bytes of the expression of one.
const MOST_ANNOTATIONS: usize = 20;
const LONGEST_VALUE: usize = 5 * 1024;

pub(super) fn validating_policy(policy: &At<'_>, causes: &mut Causes) {
    let spec = policy.at("spec");
    let names = Names::of(&spec, spec.count("variables") > 0);
    common(&spec, &names, &OPERATIONS, causes);
    let (validations, annotations) = ("validations", "auditAnnotations");
    if spec.count(validations) == 0 && spec.count(annotations) == 0 {
        for name in [validations, annotations] {
            let why = "validations or auditAnnotations must contain at least one item";
            causes.push(spec.at(name).required(why));
        }
    }
    for validation in spec.items(validations) {
        self::validation(&validation, &names, causes);
    }
    let mut keys = BTreeSet::new();
    if spec.count(annotations) > MOST_ANNOTATIONS {
        let why = format!("must not have more than {MOST_ANNOTATIONS} auditAnnotations");
        causes.push(spec.at(annotations).invalid(&why));
    }
    for annotation in spec.items(annotations) {
        let expression = annotation.at("valueExpression");
        match expression.text().trim() {
            "" => causes.push(expression.required("valueExpression is not specified")),
            text if text.len() > LONGEST_VALUE => {
                let why = format!("must not exceed {LONGEST_VALUE} bytes in length");
                causes.push(expression.required(&why));
            }
            text => expect(&expression, text, &["string", "null_type"], &names.all, causes),
        }
        let key = annotation.at("key");
        let name = policy.at("metadata").text_at("name").to_owned();
        let whole = serde_json::Value::from(format!("{name}/{}", key.text()));
        names::qualified_name(&annotation.naming("key", &whole), causes);
        if !keys.insert(annotation.text_at("key").to_owned()) {
            causes.push(annotation.at("key").duplicate());
        }
    }
}

fn validation(validation: &At<'_>, names: &Names, causes: &mut Causes) {
    let expression = validation.at("expression");
    match expression.text().trim() {
        "" => causes.push(expression.required("expression is not specified")),
        _ => expect(&expression, expression.text(), &["bool"], &names.all, causes),
    }
    let expressed = validation.at("messageExpression");
    match expressed.text() {
        "" => {}
        text if text.trim().is_empty() => causes.push(expressed.invalid("must be non-empty if specified")),
        text => expect(&expressed, text, &["string"], &names.of_messages, causes),
    }
    let message = validation.at("message");
    match message.text() {
        "" => {}
        text if text.trim().is_empty() => causes.push(message.invalid("must be non-empty if specified")),
        text if text.trim().contains(['\n', '\r']) => {
            causes.push(message.invalid("must not contain line breaks"))
        }
        _ => {}
    }
    let reasons = ["Forbidden", "Invalid", "RequestEntityTooLarge"];
    validation.at("reason").may_be_one_of(&reasons, causes);
}

pub(super) fn mutating_policy(policy: &At<'_>, causes: &mut Causes) {
    let spec = policy.at("spec");
    let names = Names::of(&spec, true);
    common(&spec, &names, &CHANGING, causes);
    if spec.count("mutations") == 0 {
        causes.push(
            spec.at("mutations")
                .required("mutations must contain at least one item"),
        );
    }
    for mutation in spec.items("mutations") {
        self::mutation(&mutation, &names, causes);
    }
    let again = spec.at("reinvocationPolicy");
    again.need_one_of(&["IfNeeded", "Never"], causes);
}

fn mutation(mutation: &At<'_>, names: &Names, causes: &mut Causes) {
    let kind = mutation.at("patchType");
    let (member, other, wanted) = match kind.text() {
        "JSONPatch" => ("jsonPatch", "applyConfiguration", "list(JSONPatch)"),
        "ApplyConfiguration" => ("applyConfiguration", "jsonPatch", "Object"),
        _ => return kind.need_one_of(&["ApplyConfiguration", "JSONPatch"], causes),
    };
    let patch = mutation.at(member);
    if patch.is_set() {
        let expression = patch.at("expression");
        match expression.text().trim() {
            "" => causes.push(expression.required("")),
            text => expect(&expression, text, &[wanted], &names.of_mutations, causes),
        }
    } else {
        causes.push(patch.required(&format!("must be specified when patchType is {}", kind.text())));
    }
    if mutation.has(other) {
        let why = format!("must not be specified when patchType is {}", kind.text());
        let shown = format!("\"{{{other}}}\"");
        causes.push(mutation.at(other).invalid_as(shown, &why));
    }
}

pub(super) fn validating_binding(binding: &At<'_>, causes: &mut Causes) {
    let spec = binding.at("spec");
    self::binding(&spec, &OPERATIONS, causes);
    let actions = spec.at("validationActions");
    let mut given = BTreeSet::new();
    for action in spec.items("validationActions") {
        action.one_of(&["Audit", "Deny", "Warn"], causes);
        if !given.insert(action.text()) {
            causes.push(action.duplicate_shown(&action.in_json()));
        }
    }
    if given.contains("Deny") && given.contains("Warn") {
        causes.push(actions.invalid(
            "must not contain both Deny and Warn (repeating the same validation failure information in the API response and \
             headers serves no purpose)",
        ));
    }
    if given.is_empty() {
        causes.push(actions.required("at least one validation action is required"));
    }
}

pub(super) fn mutating_binding(binding: &At<'_>, causes: &mut Causes) {
    self::binding(&binding.at("spec"), &CHANGING, causes);
}

fn binding(spec: &At<'_>, operations: &[&str], causes: &mut Causes) {
    spec.at("policyName").need_fit(subdomain_faults, causes);
    let reference = spec.at("paramRef");
    if reference.is_set() {
        self::reference(&reference, causes);
    }
    resources(&spec.at("matchResources"), operations, causes);
}

fn reference(reference: &At<'_>, causes: &mut Causes) {
    let (name, selector) = (reference.at("name"), reference.at("selector"));
    let has_name = !name.text().is_empty();
    if has_name {
        name.fits(path_segment_faults, causes);
    }
    let both = "name and selector are mutually exclusive";
    if has_name && selector.is_set() {
        causes.push(name.forbidden(both));
    }
    names::selector(&selector, causes);
    match (has_name, selector.is_set()) {
        (true, true) => causes.push(selector.forbidden(both)),
        (false, false) => causes.push(reference.required("one of name or selector must be specified")),
        _ => {}
    }
    let action = reference.at("parameterNotFoundAction");
    match action.text() {
        "" => causes.push(action.required("")),
        "Deny" | "Allow" => {}
        _ => causes.push(action.unsupported(&["Deny", "Allow"])),
    }
}

/// What both sorts of policies have.
fn common(spec: &At<'_>, names: &Names, operations: &[&str], causes: &mut Causes) {
    let failure = spec.at("failurePolicy");
    failure.need_one_of(&["Fail", "Ignore"], causes);
    let kind = spec.at("paramKind");
    if kind.is_set() {
        for part in ["apiVersion", "kind"] {
            if kind.text_at(part).is_empty() {
                causes.push(kind.at(part).required(""));
            }
        }
        let version = kind.at("apiVersion");
        if version.text().matches('/').count() > 1 {
            let why = format!("unexpected GroupVersion string: {}", version.text());
            causes.push(version.invalid(&why));
        } else if let Some((group, of_group)) = version.text().split_once('/') {
            let faults = [
                (group, subdomain_fault(group)),
                (of_group, dns_1035_label_fault(of_group)),
            ];
            for (part, fault) in faults {
                causes.extend(fault.map(|fault| version.invalid_as(quoted(part), &fault)));
            }
        }
        let lower = kind.text_at("kind").to_lowercase();
        if let Some(fault) = dns_1035_label_fault(&lower).filter(|_| !lower.is_empty()) {
            let why = format!("may have mixed case, but should otherwise match: {fault}");
            causes.push(kind.at("kind").invalid(&why));
        }
    }
    let constraints = spec.at("matchConstraints");
    if constraints.is_set() {
        resources(&constraints, operations, causes);
        if constraints.count("resourceRules") == 0 {
            causes.push(constraints.at("resourceRules").required(""));
        }
    } else {
        causes.push(constraints.required(""));
    }
    conditions(spec, names, causes);
    for (variable, fault) in spec.items("variables").zip(&names.faults) {
        let (name, expression) = (variable.at("name"), variable.at("expression"));
        match name.text().trim() {
            "" => causes.push(name.required("name is not specified")),
            text if !is_identifier(text) => causes.push(name.invalid("must be a valid CEL identifier")),
            _ => {}
        }
        match (expression.text().trim(), fault) {
            ("", _) => causes.push(expression.required("expression is not specified")),
            (_, Some(why)) => causes.push(expression.invalid_as(quoted(expression.text()), why)),
            _ => {}
        }
    }
}

pub(super) fn conditions(spec: &At<'_>, names: &Names, causes: &mut Causes) {
    let mut given: BTreeSet<String> = BTreeSet::new();
    let count = spec.count("matchConditions");
    if count > MAX_CONDITIONS {
        causes.push(spec.at("matchConditions").too_many(count, MAX_CONDITIONS));
    }
    for condition in spec.items("matchConditions") {
        let (name, expression) = (condition.at("name"), condition.at("expression"));
        match expression.text().trim() {
            "" => causes.push(expression.required("")),
            text => expect(&expression, text, &["bool"], &names.of_conditions, causes),
        }
        match name.text() {
            "" => causes.push(name.required("")),
            text => {
                names::qualified_name(&name, causes);
                if !given.insert(text.to_owned()) {
                    causes.push(name.duplicate());
                }
            }
        }
    }
}

fn resources(resources: &At<'_>, operations: &[&str], causes: &mut Causes) {
    if !resources.is_set() {
        return;
    }
    resources
        .at("matchPolicy")
        .may_be_one_of(&["Equivalent", "Exact"], causes);
    names::selector(&resources.at("namespaceSelector"), causes);
    names::selector(&resources.at("objectSelector"), causes);
    for list in ["resourceRules", "excludeResourceRules"] {
        for rule in resources.items(list) {
            self::rule(&rule, causes);
        }
    }
    let unsupported = |operation: &At<'_>| {
        let is_known = OPERATIONS.contains(&operation.text());
        is_known && !operations.contains(&operation.text())
    };
    for rule in resources.items("resourceRules") {
        for operation in rule.items("operations").filter(unsupported) {
            let rules = resources.at("resourceRules");
            // The path has no number.
            causes.push(
                rules
                    .naming("operations", operation.value())
                    .unsupported(operations),
            );
        }
    }
}

pub(super) fn rule(rule: &At<'_>, causes: &mut Causes) {
    let mut given = BTreeSet::new();
    for name in rule.items("resourceNames") {
        name.fits(path_segment_faults, causes);
        if !given.insert(name.text()) {
            causes.push(name.duplicate());
        }
    }
    if rule.count("operations") == 0 {
        causes.push(rule.at("operations").required(""));
    }
    alone(
        rule,
        "operations",
        "if '*' is present, must not specify other operations",
        causes,
    );
    for operation in rule.items("operations") {
        operation.one_of(&OPERATIONS, causes);
    }
    for (name, what) in [("apiGroups", "API groups"), ("apiVersions", "API versions")] {
        if rule.count(name) == 0 {
            causes.push(rule.at(name).required(""));
        }
        alone(
            rule,
            name,
            &format!("if '*' is present, must not specify other {what}"),
            causes,
        );
    }
    if rule.count("resources") == 0 {
        causes.push(rule.at("resources").required(""));
    }
    for version in rule
        .items("apiVersions")
        .filter(|version| version.text().is_empty())
    {
        causes.push(version.required(""));
    }
    self::covered(rule, causes);
    let all: Vec<_> = rule
        .items("resources")
        .map(|resource| resource.text().to_owned())
        .collect();
    if all.len() > 1 && all.iter().any(|resource| resource == "*/*") {
        causes.push(
            rule.at("resources")
                .invalid("if '*/*' is present, must not specify other resources"),
        );
    }
    let plain = |resource: &String| !resource.contains('/') && resource != "*";
    if all.iter().any(|resource| resource == "*") && all.iter().any(plain) {
        let why = "if '*' is present, must not specify other resources without subresources";
        causes.push(rule.at("resources").invalid(why));
    }
    rule.at("scope")
        .may_be_one_of(&["*", "Cluster", "Namespaced"], causes);
}

/// Refuses subresources that others before them cover, and resources that are none.
fn covered(rule: &At<'_>, causes: &mut Causes) {
    let (mut of_resources, mut of_subresources) = (BTreeSet::new(), BTreeSet::new());
    for resource in rule.items("resources") {
        let text = resource.text();
        if text.is_empty() {
            causes.push(resource.required(""));
        }
        let Some((plural, part)) = text.split_once('/') else {
            continue;
        };
        if of_resources.contains(plural) {
            let why = format!("if '{plural}/*' is present, must not specify {text}");
            causes.push(resource.invalid(&why));
        }
        if of_subresources.contains(part) {
            let why = format!("if '*/{part}' is present, must not specify {text}");
            causes.push(resource.invalid(&why));
        }
        of_resources.extend((part == "*").then(|| plural.to_owned()));
        of_subresources.extend((plural == "*").then(|| part.to_owned()));
    }
}

/// Refuses a list that has more than a star in it.
fn alone(rule: &At<'_>, name: &str, why: &str, causes: &mut Causes) {
    if rule.count(name) > 1 && rule.items(name).any(|item| item.text() == "*") {
        causes.push(rule.at(name).invalid(why));
    }
}

/// Checks that an expression comes to one of these types.
fn expect(at: &At<'_>, text: &str, wanted: &[&str], declared: &Declared, causes: &mut Causes) {
    let shown = |checked: schema::Checked| checked.of().map(TypeOf::shown);
    let why = match schema::checked(text, declared).map(shown) {
        Ok(None) => return,
        Ok(Some(found)) if wanted.contains(&&*found) => return,
        Ok(Some(found)) => match wanted {
            [one] => format!("must evaluate to {one} but got {found}"),
            several => format!("must evaluate to one of [{}] but got {found}", several.join(" ")),
        },
        Err(why) => why,
    };
    causes.push(at.invalid_as(quoted(text), &why));
}

fn is_identifier(name: &str) -> bool {
    let starts = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    starts
        && !schema::is_reserved(name)
        && name
            .chars()
            .all(|next| next.is_ascii_alphanumeric() || next == '_')
}
