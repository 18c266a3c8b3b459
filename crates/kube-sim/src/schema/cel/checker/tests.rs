use serde_json::json;

use super::*;

fn found(expression: &str) -> Result<String, String> {
    let schema = json!({"type": "object", "properties": {
        "n": {"type": "integer"}, "x": {"type": "number"}, "s": {"type": "string"}, "b": {"type": "boolean"},
        "bytes": {"type": "string", "format": "byte"}, "time": {"type": "string", "format": "date-time"},
        "day": {"type": "string", "format": "date"}, "after": {"type": "string", "format": "duration"},
        "any": {"x-kubernetes-preserve-unknown-fields": true},
        "open": {"type": "object", "x-kubernetes-preserve-unknown-fields": true},
        "port": {"x-kubernetes-int-or-string": true}, "namespace": {"type": "string"}, "a-b": {"type": "string"},
        "list": {"type": "array", "items": {"type": "object", "properties": {"n": {"type": "integer"}}}},
        "map": {"type": "object", "additionalProperties": {"type": "string"}},
        "names": {"type": "array", "items": {"type": "string"}},
    }});
    let of = type_of(&schema, true, "self").expect("a type");
    let declared = Declared::default()
        .with("self", of.clone())
        .with("oldSelf", Type::optional(of));
    checked(expression, &declared).map(|checked| checked.of().map_or_else(String::new, Type::shown))
}

#[test]
fn what_an_expression_comes_to_is_found() {
    for (expression, of) in [
        ("self.n + 1", "int"),
        ("self.n < self.x", "bool"),
        ("self.s", "string"),
        ("self.bytes", "bytes"),
        ("self.time - duration('1h') > self.day", "bool"),
        ("self.time", "google.protobuf.Timestamp"),
        ("self.after", "google.protobuf.Duration"),
        ("self.port", "dyn"),
        ("self.port == 1 || self.port == 'a'", "bool"),
        ("self.namespace + self.__namespace__ + self.a__dash__b", "string"),
        ("self.metadata.name", "string"),
        ("has(self.metadata.generateName)", "bool"),
        ("self.list.map(i, i.n)", "list(int)"),
        ("self.list.filter(i, i.n > 1)[0].n", "int"),
        ("self.list.map(i, i.n > 1, string(i.n))", "list(string)"),
        ("self.list.exists_one(i, i.n == 1)", "bool"),
        ("self.map.all(k, self.map[k] == 'a')", "bool"),
        ("self.map.a", "string"),
        ("self.map", "map(string, string)"),
        ("self.names.all(i, name, i + name.size() > 1)", "bool"),
        ("self.names.transformMap(i, name, name)", "map(int, string)"),
        ("self.map.transformList(k, v, k + v)", "list(string)"),
        (
            "self.names.transformMapEntry(i, name, {name: i})",
            "map(string, int)",
        ),
        ("self.names.sortBy(n, n.size())", "list(string)"),
        ("[1, 2].sum()", "int"),
        ("[]", "list(dyn)"),
        ("{}", "map(dyn, dyn)"),
        ("[[], [1]]", "list(list(int))"),
        ("[] + self.names", "list(string)"),
        ("self.b ? self.names : []", "list(string)"),
        ("null", "null_type"),
        ("type(self.n) == int", "bool"),
        ("type(1)", "type(int)"),
        ("oldSelf", "optional_type(self)"),
        ("oldSelf.n", "optional_type(int)"),
        ("oldSelf.?n.orValue(3)", "int"),
        ("oldSelf.optMap(o, o.n + 1)", "optional_type(int)"),
        ("oldSelf.hasValue() && oldSelf.value().s == self.s", "bool"),
        ("self.?map[?'a']", "optional_type(string)"),
        ("optional.of(self) == oldSelf", "bool"),
        ("oldSelf == optional.none()", "bool"),
        ("self.open == null", "bool"),
        ("quantity(self.s).compareTo(quantity('1'))", "int"),
        ("url(self.s).getQuery()['a'][0]", "string"),
        ("ip.isCanonical(self.s)", "bool"),
        ("'%s %d'.format([self.s, self.n])", "string"),
        ("google.protobuf.Timestamp == type(self.time)", "bool"),
        ("dyn(self.n) == self.s", "bool"),
    ] {
        assert_eq!(found(expression), Ok(of.to_owned()), "{expression}");
    }
}

#[test]
fn what_is_wrong_is_shown_where_it_is() {
    for (expression, why) in [
        (
            "that == 1",
            ":1:1: undeclared reference to 'that' (in container '')",
        ),
        ("self.c == 1", ":1:5: undefined field 'c'"),
        ("self.open.a == 1", ":1:10: undefined field 'a'"),
        ("self.any == 1", ":1:5: undefined field 'any'"),
        (
            "self.n.a == 1",
            ":1:7: type 'int' does not support field selection",
        ),
        (
            "self.s + 1",
            ":1:8: found no matching overload for '_+_' applied to '(string, int)'",
        ),
        (
            "self.n == 'a'",
            ":1:8: found no matching overload for '_==_' applied to '(int, string)'",
        ),
        (
            "self.s == null",
            ":1:8: found no matching overload for '_==_' applied to '(string, null)'",
        ),
        (
            "self.s.size(1)",
            ":1:12: found no matching overload for 'size' applied to 'string.(int)'",
        ),
        (
            "self.s.sizes()",
            ":1:13: undeclared reference to 'sizes' (in container '')",
        ),
        (
            "sizes(self.s)",
            ":1:6: undeclared reference to 'sizes' (in container '')",
        ),
        ("self.b && self.n", ":1:15: expected type 'bool' but found 'int'"),
        (
            "!self.s",
            ":1:1: found no matching overload for '!_' applied to '(string)'",
        ),
        ("self.list.all(i, i.m == 1)", ":1:19: undefined field 'm'"),
        (
            "self.n.all(i, i == 1)",
            ":1:5: expression of type 'int' cannot be range of a comprehension",
        ),
        ("[1, 'a'] == []", ":1:5: expected type 'int' but found 'string'"),
        (
            "{'a': 1, 2: 3}.size() == 2",
            ":1:10: expected type 'string' but found 'int'",
        ),
        ("self.s.matches('(')", ":1:16: invalid matches argument"),
        ("duration('1x') > self.after", ":1:10: invalid duration argument"),
        ("timestamp('1x') > self.time", ":1:11: invalid timestamp argument"),
        (
            "self.names.sum() == 1",
            ":1:15: found no matching overload for 'sum' applied to 'list(string).()'",
        ),
        (
            "self.list == self.names",
            ":1:11: found no matching overload for '_==_' applied to '(list(self.list.@idx), list(string))'",
        ),
        (
            "Object{}",
            ":1:7: undeclared reference to 'Object' (in container '')",
        ),
    ] {
        let told = found(expression).expect_err(expression);
        assert!(
            told.contains(&format!("ERROR: <input>{why}")),
            "{expression}: {told}"
        );
    }
    let told = found("that ||\n  self.c").expect_err("two faults");
    assert_eq!(
        told,
        "compilation failed: ERROR: <input>:1:1: undeclared reference to 'that' (in container '')\n | that ||\n | ^\n\
         ERROR: <input>:2:7: undefined field 'c'\n |   self.c\n | ......^"
    );
}

#[test]
fn deep_expressions_are_checked_on_any_thread() {
    for expression in [
        format!("1{}", "+1".repeat(240)),
        format!("{}1{}", "[".repeat(90), "]".repeat(90)),
        format!("{}1", "true?1:".repeat(90)),
        format!("{}self.n", "self.names.size()+".repeat(240)),
        format!("'a'{}", ".trim()".repeat(240)),
        format!("self{}", ".?a".repeat(240)),
    ] {
        let found = std::thread::Builder::new()
            .stack_size(256 * 1024)
            .spawn(move || found(&expression).map_err(|why| why.contains("undefined field 'a'")));
        let found = found.expect("a thread").join().expect("it has enough stack");
        assert!(!matches!(found, Err(false)), "{found:?}");
    }
}

#[test]
fn types_that_grow_end() {
    let growing = format!("[1]{}", ".map(x, {x: x})".repeat(100));
    assert!(found(&growing).is_ok());
    let growing = ".map(x, [x, optional.of({'a': x})])".repeat(60);
    let told = found(&format!("[optional.none()]{growing}.size() == 1"));
    assert!(told.is_err_and(|why| why.contains("but found")));
}

/// What comes of an expression on a thread with little stack.
fn found_on_a_thread(expression: String) -> Result<String, String> {
    let thread = std::thread::Builder::new().stack_size(512 * 1024);
    let found = thread.spawn(move || found(&expression)).expect("a thread");
    found.join().expect("it has enough stack")
}

#[test]
fn many_faults_with_large_types_are_told_shortly() {
    let large = format!("[self]{}", ".map(x, {x: x})".repeat(8));
    let faults = format!("{large}.all(x, [{}true].size() > 0)", "!x, ".repeat(20_000));
    let told = found_on_a_thread(faults).expect_err("many faults");
    assert!(told.len() < 1_000_000, "{}", told.len());
    assert!(
        told.ends_with("more errors were truncated"),
        "{:.200}",
        &told[told.len() - 200..]
    );
}

#[test]
fn what_is_learnt_later_makes_no_type_grow() {
    let names: Vec<_> = ('a'..='x').collect();
    let loops: String = names.iter().map(|name| format!("[[]].all({name}, ")).collect();
    let pairs = names.windows(2).rev();
    let equal: Vec<_> = pairs
        .map(|pair| format!("{} == [{{{}: {}}}]", pair[1], pair[0], pair[0]))
        .collect();
    let growing = format!("{loops}{}{}", equal.join(" && "), ")".repeat(names.len()));
    assert!(found_on_a_thread(growing).is_ok());
}

#[test]
fn long_chains_of_unknown_types_need_no_stack() {
    let chain = format!(
        "[[]].all(x, [[]].all(y, [x == y{}].size() > 0))",
        ", x == []".repeat(9_000)
    );
    assert!(found_on_a_thread(chain).is_ok());
}

#[test]
fn variables_of_variables_are_not_too_deep() {
    let mut declared = Declared::of_request().with_variables();
    declared.add_variable("v0", Type::list(Type::Int));
    for n in 1..500 {
        let found = checked(&format!("[variables.v{}]", n - 1), &declared);
        let found = found.expect("it is right");
        declared.add_variable(&format!("v{n}"), found.of().expect("a type").clone());
    }
    assert!(checked("variables.v499.size() == 1", &declared).is_ok());
}

#[test]
fn expressions_of_one_object_share_what_they_may_take() {
    let large = format!("[1]{}", ".map(x, {x: x})".repeat(8));
    let long = format!("{large}.all(x, [{}x].size() > 0)", "x, ".repeat(15_000));
    let declared = Declared::default();
    let untyped = |_| checked(&long, &declared).expect("it is right").of().is_none();
    assert!((0..5).any(untyped));
}
