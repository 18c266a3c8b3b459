//! Rules that take long, and rules over many items that do not take too long.

use crate::case::{Case, post};
use crate::objects::DEFINITIONS;
use crate::schemas::{THINGS, defined_as, definition_of, thing};
use serde_json::{Value, json};

/// Rules over a list of names that a real server allows for three hundred of them.
const OF_NAMES: [&str; 16] = [
    "self.all(a, a.find('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$') == a)",
    "self.all(a, a.findAll('[a-z0-9]+').size() == 4)",
    "self.all(a, a.findAll('').size() > 9)",
    "self.all(a, a.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$'))",
    "self.all(a, self.exists_one(b, b == a))",
    "self.all(a, a in self)",
    "self.all(a, self.filter(b, b == a).size() == 1)",
    "self.map(a, a + '/').size() == 300",
    "self.all(a, url('https://' + a + '/path?a=b').getHost() == a)",
    "self.all(a, url('https://' + a + '/path?a=b').getQuery()['a'] == ['b'])",
    "self.all(a, semver('1.2.3-' + a).isGreaterThan(semver('1.2.2')))",
    "self.all(a, !format.dns1123Subdomain().validate(a).hasValue())",
    "self.all(a, a.split('.').size() == 3 && a.replace('.', '-').size() == a.size())",
    "self.all(a, sets.contains(self, [a]))",
    "self.all(a, a.lowerAscii() == a && a.startsWith('item-') && a.endsWith('.com') && a.contains('example'))",
    "self.isSorted() || self.distinct().size() == 300",
];

/// Rules that take long.
fn long() -> Case {
    let numbers = |most: u32| json!({"type": "array", "maxItems": most, "items": {"type": "integer"}});
    let rule = |rule: &str| json!([{"rule": rule}]);
    let mut twice = numbers(60);
    twice["x-kubernetes-validations"] = rule("self.all(a, self.all(b, self.all(c, a + b + c >= 0)))");
    let mut quick = numbers(60);
    quick["x-kubernetes-validations"] = rule("self.all(a, self.all(b, a + b >= 0))");
    let mut found = numbers(60);
    found["x-kubernetes-validations"] =
        rule("self.exists(a, self.exists(b, self.exists(c, a + b + c >= 0)))");
    let mut mapped = numbers(60);
    mapped["x-kubernetes-validations"] = rule("self.map(a, self.map(b, self.map(c, a + b + c))).size() >= 0");
    let mut absorbed = numbers(60);
    absorbed["x-kubernetes-validations"] =
        rule("self.all(a, self.all(b, self.all(c, a + b + c >= 0))) || true");
    let properties =
        json!({"long": twice, "short": quick, "found": found, "mapped": mapped, "absorbed": absorbed});
    let create = |name: &str, field: &str, count: u32| {
        let items: Vec<_> = (0..count).collect();
        post(
            &format!("{THINGS}?dryRun=All"),
            &thing("t", json!({field: items})),
        )
        .named(name)
        .only(["/code", "/message", "/details/causes"])
    };
    let define = |name: &str, schema: Value| {
        let schema = json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {"a": schema}}}});
        post(&format!("{DEFINITIONS}?dryRun=All"), &definition_of(schema))
            .named(name)
            .only(["/code", "/message"])
    };
    let unbounded = json!({"type": "array", "items": {"type": "integer"}, "x-kubernetes-validations": [{"rule": "self.all(a, self.all(b, a == b))"}]});
    defined_as("schemas-costs", properties)
        .ask(create("a few", "long", 5))
        .ask(create("many", "long", 60))
        .ask(create("many of which the first is found", "found", 60))
        .ask(create("many, mapped", "mapped", 60))
        .ask(create("many, whatever comes out", "absorbed", 60))
        .ask(create("many in a quick rule", "short", 60))
        .ask(define("an unbounded rule", unbounded))
        .ask(define("a rule in an alternative", json!({"type": "string", "anyOf": [{"x-kubernetes-validations": [{"rule": "self == 'a'"}]}]})))
        .ask(define("a rule that is no expression", json!({"type": "string", "x-kubernetes-validations": [{"rule": "self =="}]})))
        .ask(define("a rule of another type", json!({"type": "string", "x-kubernetes-validations": [{"rule": "self + 'a'"}]})))
        .ask(define("a rule with an unknown name", json!({"type": "string", "x-kubernetes-validations": [{"rule": "that == 'a'"}]})))
        .ask(define("a rule with an unknown field", json!({"type": "object", "properties": {"b": {"type": "string"}}, "x-kubernetes-validations": [{"rule": "self.c == 'a'"}]})))
}

/// Each rule is of a list of its own, so that none of them is asked of what is given for another.
fn many() -> Case {
    let field = |at: usize| format!("f{at}");
    let items = json!({"type": "string", "maxLength": 64});
    let properties = OF_NAMES.iter().enumerate().map(|(at, rule)| {
        let list = json!({"type": "array", "maxItems": 300, "items": items, "x-kubernetes-validations": [{"rule": rule}]});
        (field(at), list)
    });
    let names: Vec<_> = (0..300).map(|at| format!("item-{at}.example.com")).collect();
    let create = |at: usize| {
        post(
            &format!("{THINGS}?dryRun=All"),
            &thing("t", json!({field(at): names})),
        )
        .named(OF_NAMES[at])
        .only(["/code", "/message", "/details/causes"])
    };
    defined_as("costs-many", Value::Object(properties.collect())).asks((0..OF_NAMES.len()).map(create))
}

pub(crate) fn cases() -> Vec<Case> {
    vec![long(), many()]
}
