//! What is refused in the rules of a definition.

use crate::case::{Ask, Case, post};
use crate::objects::DEFINITIONS;
use serde_json::{Value, json};

/// Rules that have no type, or another one than a boolean.
const WRONG: [&str; 65] = [
    "that == 1",
    "self.c == 1",
    "self.open.a == 1",
    "self.any == 1",
    "self.n.a == 1",
    "self.s + 1 == ''",
    "self.n == 'a'",
    "self.n == self.x",
    "self.s == null",
    "self.s.size(1) == 1",
    "self.s.sizes() == 1",
    "sizes(self.s) == 1",
    "self.b && self.n",
    "!self.s",
    "self.n",
    "self.s",
    "oldSelf.b",
    "oldSelf.c",
    "self.list.all(i, i.m == 1)",
    "self.list.all(i, i.n == 'a')",
    "self.n.all(i, i == 1)",
    "self.n.all(i, v, i == 1)",
    "self.list.map(i, i.n).all(i, i == 'a')",
    "self.map.all(k, k == 1)",
    "self.map.all(k, v, v == 1)",
    "[1, 'a'] == []",
    "[1, 2, 'a', true].size() == 2",
    "{'a': 1, 2: 3, 3: 'x'}.size() == 2",
    "'%s %d'.format([self.n, self.s]) == self.n",
    "self.s.matches('(')",
    "duration('1x') > duration('1s')",
    "timestamp('1x') > timestamp('2020-01-01T00:00:00Z')",
    "self.time == self.after",
    "self.time > '2020-01-01T00:00:00Z'",
    "self.time - self.after == self.time",
    "self.names.sum() == 1",
    "self.names[0].n == 1",
    "self.names['a'] == 'a'",
    "self.map[1] == 'a'",
    "self.metadata.name == 'a'",
    "quantity(self.n).isInteger()",
    "Object{}.a == 1",
    "self.?s == 'a'",
    "self.?c.hasValue()",
    "that || self.c == 1 ||\n  these == 1",
    "self.b ? self.n : self.s",
    "[1, dyn('a')].size() == 2",
    "[[], [1]].size() == 1",
    "oldSelf.n.hasValue()",
    "duration('1h 30m') > duration('')",
    "duration('1hx') == duration('1h1d') || duration('--1h') == duration('1e3s') || duration('.s') == duration('3000000h')",
    "timestamp('2020-01-01 00:00:00Z') == timestamp('2020-01-01T00:00:00z') || timestamp('2020-01-01t00:00:00Z') == timestamp('2020-01-01')",
    "type(quantity('1')) == kubernetes.Quantity",
    "quantity('1').value == 1 || url('a').host == 'a' || semver('1.2.3').major == 1 || format.uuid().value().name == 'a'",
    "ip('1.2.3.4').family == 4 || cidr('1.2.3.4/8').ip == 'a'",
    "'%d'.format([self.s]) == '' || '%s %s'.format([self.s]) == '' || 'a'.format([self.s]) == '' || '%s%%'.format([ip(self.s)]) == ''",
    "'%z'.format([1]) == '' || '%'.format([1]) == '' || '%.'.format([1]) == '' || '%.f'.format([1.0]) == '' || '%.2'.format([1.0]) == ''",
    "'%f %s'.format([1, 2]) == '' || '%e'.format([1]) == '' || '%b'.format([1.0]) == '' || '%x'.format([1.0]) == '' || '%o'.format([true]) == ''",
    "'%s'.format([[1, ip(self.s)]]) == '' || '%s'.format([{'a': quantity('1')}]) == '' || '%s %s'.format([self.?s, self.n]) == ''",
    "'%d'.format([self.names]) == '' || '%d'.format([self.map]) == '' || '%d'.format([null]) == '' || '%d'.format([self.time]) == '' || '%d'.format([type(1)]) == ''",
    "'%d%é'.format([self.n, 1]) == '' || '%.99999999999999999999f'.format([1.0]) == '' || '%s'.format([]) == ''",
    "timestamp('2016-12-31T23:59:60Z') == timestamp('2021-02-29T00:00:00Z') || timestamp('2020-13-01T00:00:00Z') == timestamp('2020-01-01T24:00:00Z')",
    "timestamp('2020-01-01T00:00:00.Z') == timestamp('2020-01-01T00:00:00+0100') || timestamp('2020-01-01T00:00:00+25:00') == timestamp('0000-01-01T00:00:00Z')",
    "duration('9223372036854775808ns') == duration('.5.5s') || duration('-9223372036854775809ns') == duration('1')",
    "type(url('a')) == kubernetes.URL || type(self.n) == kubernetes.authorization.Authorizer",
];

/// Rules that hold.
const RIGHT: [&str; 31] = [
    "self.n < self.x",
    "self.n + 1 == 3 || dyn(self.n) == 'a'",
    "self.port == 1 || self.port == 'a'",
    "has(self.namespace) && has(self.__namespace__) && has(self.a__dash__b)",
    "self.list.map(i, i.n).all(i, i == 1)",
    "self.list.filter(i, i.n > 1)[0].n == 1 || true",
    "self.map.all(k, self.map[k] == 'a') && self.map.a != 'b' || true",
    "self.names.all(i, name, i + name.size() > 1)",
    "self.names.transformMap(i, name, name) == {}",
    "self.names.transformMapEntry(i, name, {name: i}) == {}",
    "self.map.transformList(k, v, k + v) == []",
    "self.names.sortBy(n, n.size()) == self.names",
    "type(self.n) == int && type(self.port) != int",
    "has(self.open) && self.open != null || self.time > timestamp('2020-01-01T00:00:00Z')",
    "self.day > self.time - duration('1h')",
    "self.?map[?'a'].orValue('b') == 'b'",
    "self.bytes == b'abc' || self.bytes.size() == 3",
    "url(self.s).getQuery()['a'][0] == 'b' || ip.isCanonical(self.s)",
    "google.protobuf.Timestamp == type(self.time)",
    "'%s %d'.format([self.s, self.n]) == ''",
    "oldSelf.n == self.n || self.n in [1, 2] || 'a' in self.map",
    "[dyn(1), dyn('a')].size() == 2 || [[1], [2]].size() == 1",
    "duration('-1h30.5m.5s3ms') < duration('5\u{b5}s') && duration('5\u{3bc}s') < duration('+0') && duration('0') < duration('5us') && duration('1.s') < duration('1ns')",
    "timestamp('2020-01-01T00:00:00Z') < timestamp('2020-01-01T00:00:00.123456789+01:00')",
    "dyn(self.map).all(k, v, k.size() < 3 && k.startsWith('a') && (v == 1 || v == 'a' || v != null))",
    "dyn(self.list).exists(i, v, i == 0 && v.n == 1 && v.n != 'a')",
    "'%s %d %f %e %b %x %X %o %%'.format([self.n, self.n, self.x, 'NaN', self.b, self.s, b'a', 1u]) == ''",
    "'%s%s%s%.3f'.format([[1, {'a': self.names}], dyn(self.port), type(1), dyn(1)]) == '' || '%d'.format([dyn('a')]) == '' || '%s'.format([null]) == ''",
    "'%d'.format(self.list) == '' || self.s.format([1]) == ''",
    "timestamp('2020-01-01T1:00:00Z') < timestamp('2020-01-01T00:00:00,5Z') || timestamp('2020-02-29T00:00:00-23:59') < timestamp('9999-12-31T00:00:00Z')",
    "duration('-9223372036854775808ns') < duration('9223372036854775807ns') && duration('2562047h47m16.854775807s') > duration('.5s')",
];

fn define(name: &str, spec: &Value) -> Ask {
    let definition = json!({
        "metadata": {"name": "rules.{ns}.example.com"},
        "spec": {
            "group": "{ns}.example.com", "scope": "Namespaced", "names": {"plural": "rules", "kind": "Rule"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "properties": {"spec": spec},
            }}}],
        },
    });
    post(&format!("{DEFINITIONS}?dryRun=All"), &definition)
        .named(name)
        .only(["/code", "/message", "/details/causes"])
}

fn with(name: &str, rules: Vec<Value>) -> Ask {
    let name_of = json!({"type": "string", "maxLength": 5});
    let spec = json!({"type": "object", "x-kubernetes-validations": rules, "properties": {
        "n": {"type": "integer"}, "x": {"type": "number"}, "s": {"type": "string", "maxLength": 10}, "b": {"type": "boolean"},
        "bytes": {"type": "string", "format": "byte", "maxLength": 10}, "time": {"type": "string", "format": "date-time"},
        "day": {"type": "string", "format": "date"}, "after": {"type": "string", "format": "duration"},
        "any": {"x-kubernetes-preserve-unknown-fields": true},
        "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        "port": {"x-kubernetes-int-or-string": true}, "namespace": name_of, "a-b": name_of,
        "list": {"type": "array", "maxItems": 5, "items": {"type": "object", "properties": {"n": {"type": "integer"}}}},
        "map": {"type": "object", "maxProperties": 5, "additionalProperties": name_of},
        "names": {"type": "array", "maxItems": 5, "items": name_of},
    }});
    define(name, &spec)
}

fn types() -> Case {
    let each = |rules: &[&str]| {
        rules
            .iter()
            .map(|rule| json!({"rule": rule, "message": "m"}))
            .collect()
    };
    let message = |words: &str| json!({"rule": "self.b", "messageExpression": words});
    let list = |kind: &str| {
        json!({"type": "array", "maxItems": 5, "x-kubernetes-list-type": kind, "x-kubernetes-list-map-keys": ["k"],
            "items": {"type": "object", "required": ["k"], "x-kubernetes-validations": [{"rule": "self.k == oldSelf.k"}],
                "properties": {"k": {"type": "string", "maxLength": 5}}}})
    };
    let mut atomic = list("atomic");
    atomic
        .as_object_mut()
        .unwrap()
        .remove("x-kubernetes-list-map-keys");
    let in_lists = json!({"type": "object", "properties": {"map": list("map"), "atomic": atomic, "values": {
        "type": "object", "maxProperties": 5, "additionalProperties":
            {"type": "string", "maxLength": 5, "x-kubernetes-validations": [{"rule": "self == oldSelf"}]}}}});
    let rules_of = |schema: Value| json!({"type": "object", "properties": {"a": schema}});
    Case::new("rules-types")
        .ask(with("wrong", each(&WRONG)))
        .ask(with("right", each(&RIGHT)))
        .ask(with(
            "messages",
            vec![message("self.n"), message("self.c"), message("'a' +"), message("'a'"), message("oldSelf.s")],
        ))
        .ask(with(
            "old values that may be missing",
            vec![
                json!({"rule": "self.b", "optionalOldSelf": true}),
                json!({"rule": "self.b", "optionalOldSelf": false}),
                json!({"rule": "oldSelf.hasValue()", "optionalOldSelf": true}),
                json!({"rule": "oldSelf.b", "optionalOldSelf": true}),
            ],
        ))
        .ask(with(
            "fields that are told of",
            [".n", ".map.a", ".map['a.b']", "['a-b']", ".list", ".a-b", ".open", "", ".missing", "n", " ", ".n\n", ".", "..n", ".n.a", ".list[0]", ".list.n", ".open.a",
             "['n'", "[n]", ".map['a\\'b']", ".map['a\\x']", ".map.", "['n'].a", ".n ", ".map['']", ".port", "['n']x", ".n]", ".map[''a']"]
                .map(|field| json!({"rule": "self.b", "fieldPath": field}))
                .into(),
        ))
        .ask(define("fields of anything", &json!({"type": "object", "properties": {
            "any": {"type": "object", "additionalProperties": true, "x-kubernetes-validations": [{"rule": "true", "fieldPath": ".x"}, {"rule": "true", "fieldPath": "['a\\\"b']"}]},
            "empty": {"type": "object", "properties": {}, "additionalProperties": {"type": "string"}, "x-kubernetes-validations": [{"rule": "true", "fieldPath": ".x"}]},
        }})))
        .ask(define("within what is unknown", &json!({"type": "object", "x-kubernetes-validations": [{"rule": "true"}], "properties": {
            "any": {"x-kubernetes-preserve-unknown-fields": true, "properties": {"a": {"type": "string", "x-kubernetes-validations": [{"rule": "self != ''"}]}}},
        }})))
        .ask(define("within what has no name", &json!({"type": "object", "x-kubernetes-validations": [{"rule": "true"}], "properties": {
            "-": {"type": "object", "properties": {"a": {"type": "string", "maxLength": 5, "x-kubernetes-validations": [{"rule": "self != 1"}]}}},
        }})))
        .ask(define("old values in lists", &in_lists))
        .ask(with(
            "words",
            vec![
                json!({"rule": " "}),
                json!({"rule": "self.b", "message": " "}),
                json!({"rule": "self.b", "message": "a\nb"}),
                json!({"rule": "self.b ||\nself.b"}),
                json!({"rule": "self.b", "messageExpression": " "}),
                json!({"rule": "self.b", "reason": "Because"}),
                json!({"rule": "self.b", "reason": "FieldValueForbidden"}),
            ],
        ))
        .ask(with("words and types", vec![json!({"rule": ""}), json!({"rule": "self.c"})]))
        .ask(define(
            "of anything",
            &rules_of(json!({"x-kubernetes-preserve-unknown-fields": true, "x-kubernetes-validations": [{"rule": "self == 1"}]})),
        ))
        .ask(define(
            "of an embedded object",
            &rules_of(json!({"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true,
                "x-kubernetes-validations": [{"rule": "self.metadata.name == self.kind"}, {"rule": "self.metadata.labels.size() == 1"}, {"rule": "self.spec == 1"}]})),
        ))
}

/// Rules that may cost too much.
fn costs() -> Case {
    let rule = |rule: &str| json!([{"rule": rule}]);
    let all = "self.all(a, self.all(b, a == b))";
    let numbers = |most: u32| json!({"type": "array", "maxItems": most, "items": {"type": "integer"}, "x-kubernetes-validations": rule(all)});
    let text = |most: u32, said: &str| json!({"type": "string", "maxLength": most, "x-kubernetes-validations": rule(said)});
    let of = |fields: &[(&str, Value)]| {
        let properties: serde_json::Map<_, _> = fields
            .iter()
            .map(|(name, of)| ((*name).to_owned(), of.clone()))
            .collect();
        json!({"type": "object", "properties": properties})
    };
    let list = |items: Value| json!({"type": "array", "items": items});
    let map = |values: Value| json!({"type": "object", "additionalProperties": values});
    let unbounded = json!({"type": "string", "x-kubernetes-validations": rule("self.contains('abc')")});
    let nested = json!({"type": "array", "maxItems": 50, "x-kubernetes-validations": rule("self.all(x, x.t.all(y, y == x.k))"), "items": {
        "type": "object", "properties": {
            "k": {"type": "string", "maxLength": 400}, "t": {"type": "array", "maxItems": 30, "items": {"type": "string", "maxLength": 400}},
        },
    }});
    let message = json!({"type": "string", "maxLength": 4000, "x-kubernetes-validations": [
        {"rule": "self != 'a'", "messageExpression": "self.replace('', self).replace('a', 'b')"},
    ]});
    // A real server looks at properties in any order.
    let mut many = numbers(1300);
    many["x-kubernetes-validations"] = (0..12).map(|_| json!({"rule": all})).collect();
    let mut wrong = numbers(6000);
    wrong["x-kubernetes-validations"] = json!([{"rule": all}, {"rule": "self.a"}]);
    Case::new("rules-cost")
        .ask(define("just enough", &of(&[("a", numbers(1400))])))
        .ask(define("a little too much", &of(&[("a", numbers(1500))])))
        .ask(define("much too much", &of(&[("a", numbers(6000))])))
        .ask(define("of an unbounded text", &of(&[("a", unbounded.clone())])))
        .ask(define("of many unbounded texts", &of(&[("a", list(unbounded.clone()))])))
        .ask(define("of a map of texts", &of(&[("a", map(text(40, "self.matches('^[a-z]+$')")))])))
        .ask(define("of a map of short texts", &of(&[("a", json!({"type": "object", "maxProperties": 8, "additionalProperties": text(40, "self.matches('^[a-z]+$')")}))])))
        .ask(define("of an object in a list", &of(&[("a", list(json!({"type": "object", "required": ["a"], "properties": {"a": text(40, "self != 'a'")}})))])))
        .ask(define("in loops", &of(&[("a", nested)])))
        .ask(define("of a message", &of(&[("a", message)])))
        .ask(define("all together", &of(&[("a", many)])))
        .ask(define("one of which is wrong", &of(&[("a", wrong)])))
        .ask(define(
            "a rule and a message that are wrong",
            &json!({"type": "string", "x-kubernetes-validations": [{"rule": "self.a", "messageExpression": "self.b"}]}),
        ))
}

pub(crate) fn cases() -> Vec<Case> {
    vec![types(), costs()]
}
