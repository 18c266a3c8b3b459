//! MutatingAdmissionPolicies.

use serde_json::{Value, json};

use crate::case::{Ask, Case, delete, get, merge, post};
use crate::objects::{CONFIG_MAPS, SECRETS};

const GROUP: &str = "/apis/admissionregistration.k8s.io/v1";

/// What an answer shows of a policy or a binding.
const SPEC: [&str; 4] = ["/spec", "/message", "/details", "/metadata/generation"];

/// What an answer shows of an object.
const SHOWN: [&str; 7] = [
    "/data",
    "/spec",
    "/metadata/labels",
    "/metadata/annotations",
    "/message",
    "/reason",
    "/details",
];

fn with(mut object: Value, more: Value) -> Value {
    let members = object.as_object_mut().expect("an object");
    members.extend(more.as_object().expect("an object").clone());
    object
}

/// A policy of the case, about a resource in its namespace.
fn policy_about(name: &str, group: &str, resource: &str, spec: Value) -> Ask {
    let of_case = json!({"matchLabels": {"kubernetes.io/metadata.name": "{ns}"}});
    let rule = json!({"apiGroups": [group], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": [resource]});
    let common = json!({
        "reinvocationPolicy": "Never", "matchConstraints": {"namespaceSelector": of_case, "resourceRules": [rule]},
    });
    let policy = json!({"metadata": {"name": format!("{name}.{{ns}}")}, "spec": with(common, spec)});
    post(&format!("{GROUP}/mutatingadmissionpolicies"), &policy)
        .named(format!("policy {name}"))
        .only(SPEC)
}

/// A policy about the config maps of the case that have its name as a key.
fn policy(name: &str, spec: Value) -> Ask {
    let mine = format!("has(object.data) && '{name}' in object.data");
    let mine = json!({"matchConditions": [{"name": "mine", "expression": mine}]});
    policy_about(name, "", "configmaps", with(mine, spec))
}

fn binding(name: &str, spec: Value) -> Ask {
    let name_of_policy = format!("{name}.{{ns}}");
    let binding = json!({"metadata": {"name": name_of_policy}, "spec": with(json!({"policyName": name_of_policy}), spec)});
    post(&format!("{GROUP}/mutatingadmissionpolicybindings"), &binding)
        .named(format!("binding {name}"))
        .only(SPEC)
}

fn applies(expression: &str) -> Value {
    json!({"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}})
}

fn patches(expression: &str) -> Value {
    json!({"patchType": "JSONPatch", "jsonPatch": {"expression": expression}})
}

fn map(name: &str, data: Value) -> Value {
    json!({"metadata": {"name": name, "labels": {"app": "x"}}, "data": data})
}

/// A policy with its binding, noticed as soon as a dry run of what it is about is answered with a code, or shows that it has changed.
struct Bound {
    name: &'static str,
    spec: Value,
    code: u16,
    expected: (&'static str, &'static str),
}

fn bound(name: &'static str, mutations: Value, expected: (&'static str, &'static str)) -> Bound {
    Bound {
        name,
        spec: json!({"mutations": mutations}),
        code: 0,
        expected,
    }
}

fn failing(name: &'static str, mutations: Value, code: u16) -> Bound {
    Bound {
        name,
        spec: json!({"mutations": mutations}),
        code,
        expected: ("", ""),
    }
}

fn data(name: &str) -> Value {
    let mut data = json!({});
    data[name] = "x".into();
    data
}

/// Makes the policies, waits for them, and creates what each is about.
fn each(name: &str, all: Vec<Bound>) -> Case {
    let mut case = Case::new(name);
    for bound in &all {
        case = case
            .ask(policy(bound.name, bound.spec.clone()))
            .ask(binding(bound.name, json!({})));
    }
    for bound in all {
        let probe = post(
            &format!("{CONFIG_MAPS}?dryRun=All"),
            &map("probe", data(bound.name)),
        )
        .named(bound.name);
        let (pointer, text) = bound.expected;
        case = match bound.code {
            0 => case.until_shown(probe, pointer, text),
            code => case.until(probe, code),
        };
        case = case.ask(
            post(CONFIG_MAPS, &map(bound.name, data(bound.name)))
                .named(bound.name)
                .only(SHOWN),
        );
    }
    case
}

const DONE: (&str, &str) = ("/metadata/labels/done", "yes");

fn mutations() -> Case {
    each(
        "mutations",
        vec![
            bound(
                "label",
                json!([applies(
                    "Object{metadata: Object.metadata{labels: {'done': 'yes'}}}"
                )]),
                DONE,
            ),
            bound(
                "merged",
                json!([applies(
                    "Object{metadata: Object.metadata{labels: {'done': 'yes'}, annotations: {'a/b': object.metadata.name}}, data: {'merged': 'changed', 'other': 'added'}}"
                )]),
                DONE,
            ),
            bound(
                "two",
                json!([
                    applies("Object{metadata: Object.metadata{labels: {'first': 'yes'}}}"),
                    patches(
                        "[JSONPatch{op: 'add', path: '/metadata/labels/done', value: object.metadata.labels['first']}]"
                    ),
                ]),
                DONE,
            ),
            bound(
                "add",
                json!([patches(
                    "[JSONPatch{op: 'add', path: '/metadata/labels/done', value: 'yes'}]"
                )]),
                DONE,
            ),
            bound(
                "replace",
                json!([patches(
                    "[JSONPatch{op: 'replace', path: '/metadata/labels/app', value: 'y'}, JSONPatch{op: 'add', path: '/metadata/labels/done', value: 'yes'}]"
                )]),
                DONE,
            ),
            bound(
                "remove",
                json!([patches(
                    "[JSONPatch{op: 'remove', path: '/metadata/labels/app'}, JSONPatch{op: 'add', path: '/metadata/labels/done', value: 'yes'}]"
                )]),
                DONE,
            ),
            bound(
                "move",
                json!([patches(
                    "[JSONPatch{op: 'move', from: '/data/move', path: '/data/moved'}, JSONPatch{op: 'add', path: '/metadata/labels/done', value: 'yes'}]"
                )]),
                DONE,
            ),
            bound(
                "copy",
                json!([patches(
                    "[JSONPatch{op: 'copy', from: '/data/copy', path: '/metadata/labels/copied'}, JSONPatch{op: 'add', path: '/metadata/labels/done', value: 'yes'}]"
                )]),
                DONE,
            ),
            bound(
                "tested",
                json!([patches(
                    "[JSONPatch{op: 'test', path: '/data/tested', value: 'x'}, JSONPatch{op: 'add', path: '/metadata/labels/done', value: 'yes'}]"
                )]),
                DONE,
            ),
            bound(
                "untested",
                json!([
                    patches(
                        "[JSONPatch{op: 'add', path: '/metadata/labels/half', value: 'yes'}, JSONPatch{op: 'test', path: '/data/untested', value: 'other'}]"
                    ),
                    patches("[JSONPatch{op: 'add', path: '/metadata/labels/done', value: 'yes'}]"),
                ]),
                DONE,
            ),
            bound(
                "escaped",
                json!([patches(
                    "[JSONPatch{op: 'add', path: '/metadata/annotations', value: {}}, JSONPatch{op: 'add', path: '/metadata/annotations/' + jsonpatch.escapeKey('a.b/c'), value: jsonpatch.escapeKey('a~b/c')}, JSONPatch{op: 'add', path: '/metadata/labels/done', value: 'yes'}]"
                )]),
                DONE,
            ),
            bound(
                "whole",
                json!([patches(
                    "[JSONPatch{op: 'replace', path: '/metadata', value: Object.metadata{name: object.metadata.name, namespace: object.metadata.namespace, labels: {'done': 'yes'}}}]"
                )]),
                DONE,
            ),
            bound(
                "chosen",
                json!([patches(
                    "object.data.chosen == 'x' ? [JSONPatch{op: 'add', path: '/metadata/labels/done', value: 'yes'}] : []"
                )]),
                DONE,
            ),
            bound(
                "optional",
                json!([applies(
                    "Object{metadata: Object.metadata{labels: {'done': 'yes'}, ?generateName: object.metadata.?generateName}}"
                )]),
                DONE,
            ),
            bound(
                "number",
                json!([patches(
                    "[JSONPatch{op: 'add', path: '/metadata/labels/done', value: 'yes'}, JSONPatch{op: 'add', path: '/metadata/generation', value: 1 + 1}]"
                )]),
                DONE,
            ),
        ],
    )
}

fn faults() -> Case {
    each(
        "mutationfaults",
        vec![
            failing(
                "atomic",
                json!([applies(
                    "Object{metadata: Object.metadata{ownerReferences: [Object.metadata.ownerReferences{uid: 'u'}]}, immutable: object.data.missing == 'x'}"
                )]),
                403,
            ),
            failing(
                "undeclared",
                json!([applies("Object{spec: Object.spec{replicas: 3}}")]),
                403,
            ),
            failing(
                "wrongtype",
                json!([applies("Object{data: Object.spec{a: 'b'}}")]),
                403,
            ),
            failing("wrongvalue", json!([applies("Object{immutable: 'yes'}")]), 403),
            failing(
                "missing",
                json!([patches(
                    "[JSONPatch{op: 'remove', path: '/metadata/labels/nothing'}]"
                )]),
                403,
            ),
            failing(
                "nowhere",
                json!([patches(
                    "[JSONPatch{op: 'add', path: '/spec/template/x', value: 'y'}]"
                )]),
                403,
            ),
            failing(
                "badop",
                json!([patches("[JSONPatch{op: 'bogus', path: '/data/x', value: 'y'}]")]),
                403,
            ),
            failing(
                "unknownfield",
                json!([patches("[JSONPatch{op: 'add', path: '/bogus', value: 'y'}]")]),
                500,
            ),
            failing(
                "badfield",
                json!([patches("[JSONPatch{op: 'add', path: '/data/number', value: 3}]")]),
                500,
            ),
            failing(
                "notthere",
                json!([patches(
                    "[JSONPatch{op: 'add', path: '/data/x', value: object.data.nothing}]"
                )]),
                403,
            ),
            failing(
                "twice",
                json!([
                    patches("[JSONPatch{op: 'add', path: '/data/x', value: object.data.nothing}]"),
                    applies("Object{data: {'y': object.data.nothing}}")
                ]),
                403,
            ),
            failing(
                "invalid",
                json!([patches(
                    "[JSONPatch{op: 'add', path: '/data/not%20valid', value: 'x'}]"
                )]),
                422,
            ),
        ],
    )
}

fn refused() -> Case {
    let valid = || json!([applies("Object{}")]);
    let about = |name: &str, spec: Value| policy(&name.replace(' ', "-"), spec).named(name.to_owned());
    let rules = |rule: Value| {
        let common = json!({"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]});
        json!({"mutations": [applies("Object{}")], "matchConstraints": {"resourceRules": [with(common, rule)]}})
    };
    Case::new("mutationsrefused").asks([
        about("no mutations", json!({})),
        about("no reinvocation policy", json!({"mutations": valid(), "reinvocationPolicy": null})),
        about("bad reinvocation policy", json!({"mutations": valid(), "reinvocationPolicy": "Always"})),
        about("bad failure policy", json!({"mutations": valid(), "failurePolicy": "Never"})),
        about("no patch type", json!({"mutations": [{"applyConfiguration": {"expression": "Object{}"}}]})),
        about("bad patch type", json!({"mutations": [{"patchType": "Merge", "applyConfiguration": {"expression": "Object{}"}}]})),
        about("both patches", json!({"mutations": [with(applies("Object{}"), json!({"jsonPatch": {"expression": "[]"}}))]})),
        about("the other patch", json!({"mutations": [{"patchType": "JSONPatch", "applyConfiguration": {"expression": "Object{}"}}]})),
        about("an empty expression", json!({"mutations": [applies(" ")]})),
        about("not an object", json!({"mutations": [applies("'text'")]})),
        about("not a patch", json!({"mutations": [patches("'text'")]})),
        about("not patches", json!({"mutations": [patches("['text']")]})),
        about("an unknown type", json!({"mutations": [applies("Thing{}")]})),
        about("an unknown field of a patch", json!({"mutations": [patches("[JSONPatch{op: 'add', bogus: 'x'}]")]})),
        about("what does not parse", json!({"mutations": [applies("Object{")]})),
        about("an unknown variable", json!({"mutations": [applies("Object{metadata: Object.metadata{name: nothing}}")]})),
        about("no constraints", json!({"mutations": valid(), "matchConstraints": null})),
        about("no rules", json!({"mutations": valid(), "matchConstraints": {"resourceRules": []}})),
        about("deletions", rules(json!({"operations": ["DELETE"]}))),
        about("all operations", rules(json!({"operations": ["*"]}))),
        about("names twice", rules(json!({"resourceNames": ["a", "a"]}))),
        about("a bad variable", json!({"mutations": valid(), "variables": [{"name": "not-one", "expression": "1"}]})),
        about("a parameter without a kind", json!({"mutations": valid(), "paramKind": {"apiVersion": "v1"}})),
        about("no condition", json!({"mutations": valid(), "matchConditions": [{"name": "", "expression": ""}]})),
        about("conditions twice", json!({"mutations": valid(), "matchConditions": [{"name": "a", "expression": "true"}, {"name": "a", "expression": "true"}]})),
        binding("bad", json!({"policyName": ""})).named("a binding without a policy"),
        binding("bad", json!({"policyName": "Not One"})).named("a binding of a bad name"),
        binding("bad", json!({"paramRef": {}})).named("a reference to nothing"),
        binding("bad", json!({"paramRef": {"name": "a", "selector": {}, "parameterNotFoundAction": "Deny"}})).named("a reference by both"),
        binding("bad", json!({"paramRef": {"name": "a", "parameterNotFoundAction": "Ask"}})).named("a reference with a bad action"),
        binding("bad", json!({"matchResources": {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["DELETE"], "resources": ["configmaps"]}]}})).named("a binding to deletions"),
        binding("good", json!({"matchResources": {"resourceRules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}]}})).named("a binding with defaults"),
        about("a policy with defaults", json!({"mutations": valid()})),
    ])
}

fn wider() -> Case {
    let pods = "/api/v1/namespaces/{ns}/pods";
    let deployments = "/apis/apps/v1/namespaces/{ns}/deployments";
    let pod = |name: &str| json!({"metadata": {"name": name}, "spec": {"containers": [{"name": "main", "image": "i"}]}});
    let deployment = json!({"metadata": {"name": "d"}, "spec": {
        "replicas": 1, "selector": {"matchLabels": {"a": "b"}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
    }});
    let sidecar =
        "Object{spec: Object.spec{containers: [Object.spec.containers{name: 'sidecar', image: 'proxy'}]}}";
    let shown = [
        "/spec/containers",
        "/metadata/labels",
        "/message",
        "/reason",
        "/details",
    ];
    let images = [
        "/spec/containers/0/image",
        "/spec/containers/1/image",
        "/message",
        "/reason",
    ];
    let param = json!({"paramKind": {"apiVersion": "v1", "kind": "Secret"}});
    let dry = |path: &str| format!("{path}?dryRun=All");
    Case::new("mutationswider")
        .ask(policy_about("sidecar", "", "pods", json!({
            "matchConditions": [{"name": "new", "expression": "!object.spec.containers.exists(c, c.name == 'sidecar')"}],
            "mutations": [applies(sidecar)], "reinvocationPolicy": "IfNeeded",
        })))
        .ask(binding("sidecar", json!({})))
        .until_shown(post(&dry(pods), &pod("probe")), "/spec/containers/1/image", "proxy")
        .ask(post(pods, &pod("a")).named("a sidecar").only(images))
        .ask(policy_about("selector", "apps", "deployments", json!({
            "mutations": [applies("Object{spec: Object.spec{selector: Object.spec.selector{matchLabels: {'x': 'y'}}}}")],
        })))
        .ask(binding("selector", json!({})))
        .until(post(&dry(deployments), &deployment), 403)
        .ask(post(deployments, &deployment).named("an atomic map").only(shown))
        .ask(delete(&format!("{GROUP}/mutatingadmissionpolicybindings/selector.{{ns}}")).named("unbind").only(["/kind"]))
        .until(post(&dry(deployments), &deployment), 201)
        .ask(policy_about("strategy", "apps", "deployments", json!({
            "variables": [{"name": "most", "expression": "3"}, {"name": "wanted", "expression": "object.spec.replicas + variables.most"}],
            "mutations": [
                applies("Object{spec: Object.spec{replicas: variables.wanted}}"),
                applies("Object{spec: Object.spec{minReadySeconds: variables.wanted, paused: true}, metadata: Object.metadata{labels: {'done': namespaceObject.metadata.name}}}"),
            ],
        })))
        .ask(binding("strategy", json!({})))
        .until_shown(post(&dry(deployments), &deployment), "/metadata/labels/done", "mutationswider")
        .ask(post(deployments, &deployment).named("variables").only(["/spec/replicas", "/spec/minReadySeconds", "/spec/paused", "/metadata/labels"]))
        .ask(merge(&format!("{deployments}/d"), &json!({"spec": {"replicas": 2}})).named("variables of an update").only(["/spec/replicas", "/spec/minReadySeconds", "/spec/paused", "/metadata/labels"]))
        .ask(get(&format!("{deployments}/d?owners")).named("who owns what").only(["/metadata/managedFields/0/fieldsV1", "/metadata/generation"]))
        .ask(policy("params", with(param.clone(), json!({"mutations": [patches("[JSONPatch{op: 'add', path: '/metadata/labels/' + params.metadata.name, value: 'yes'}]")]}))))
        .ask(binding("params", json!({"paramRef": {"selector": {"matchLabels": {"a": "b"}}, "parameterNotFoundAction": "Deny"}})))
        .until(post(&dry(CONFIG_MAPS), &map("probe", data("params"))), 403)
        .ask(post(CONFIG_MAPS, &map("none", data("params"))).named("without parameters").only(SHOWN))
        .asks(["one", "two"].map(|name| {
            post(SECRETS, &json!({"metadata": {"name": name, "labels": {"a": "b"}}})).named(format!("parameter {name}")).only(["/kind"])
        }))
        .until_shown(post(&dry(CONFIG_MAPS), &map("probe", data("params"))), "/metadata/labels/one", "yes")
        .until_shown(post(&dry(CONFIG_MAPS), &map("probe", data("params"))), "/metadata/labels/two", "yes")
        .ask(post(CONFIG_MAPS, &map("some", data("params"))).named("with two parameters").only(SHOWN))
        .ask(policy("nokind", json!({"paramKind": {"apiVersion": "none.example/v1", "kind": "None"}, "mutations": [applies("Object{}")]})))
        .ask(binding("nokind", json!({"paramRef": {"name": "a", "parameterNotFoundAction": "Allow"}})))
        .until(post(&dry(CONFIG_MAPS), &map("probe", data("nokind"))), 403)
        .ask(post(CONFIG_MAPS, &map("nokind", data("nokind"))).named("no such kind of parameter").only(SHOWN))
        .ask(delete(&format!("{GROUP}/mutatingadmissionpolicybindings/nokind.{{ns}}")).named("unbind the kind").only(["/kind"]))
        .until(post(&dry(CONFIG_MAPS), &map("probe", data("nokind"))), 201)
        .ask(policy("ignoring", json!({"failurePolicy": "Ignore", "mutations": [
            patches("[JSONPatch{op: 'add', path: '/metadata/labels/first', value: 'yes'}]"),
            patches("[JSONPatch{op: 'add', path: '/metadata/labels/second', value: object.data.nothing}]"),
            patches("[JSONPatch{op: 'add', path: '/metadata/labels/third', value: 'yes'}]"),
        ]})))
        .ask(binding("ignoring", json!({"matchResources": {"objectSelector": {"matchLabels": {"app": "x"}}}})))
        .until_shown(post(&dry(CONFIG_MAPS), &map("probe", data("ignoring"))), "/metadata/labels/first", "yes")
        .ask(post(CONFIG_MAPS, &map("ignored", data("ignoring"))).named("failures that are ignored").only(SHOWN))
        .ask(post(CONFIG_MAPS, &json!({"metadata": {"name": "other"}, "data": {"ignoring": "x"}})).named("not selected").only(SHOWN))
        .ask(policy("again", json!({"reinvocationPolicy": "IfNeeded", "mutations": [
            patches("[JSONPatch{op: 'add', path: '/data/n', value: has(object.data.n) ? object.data.n + 'i' : 'i'}]"),
        ]})))
        .ask(binding("again", json!({})))
        .until(post(&dry(CONFIG_MAPS), &map("probe", data("again"))), 201)
        .until_shown(post(&dry(CONFIG_MAPS), &map("probe", data("again"))), "/data/n", "ii")
        .ask(post(CONFIG_MAPS, &map("again", data("again"))).named("evaluated again").only(SHOWN))
        .ask(policy("badcondition", json!({"matchConditions": [{"name": "c", "expression": "object.data.badcondition.x == 'y'"}, {"name": "mine", "expression": "has(object.data.badcondition)"}], "mutations": [applies("Object{}")]})))
        .ask(binding("badcondition", json!({})))
        .until(post(&dry(CONFIG_MAPS), &map("probe", data("badcondition"))), 403)
        .ask(post(CONFIG_MAPS, &map("badcondition", data("badcondition"))).named("a condition that fails").only(SHOWN))
}

pub(crate) fn cases() -> Vec<Case> {
    vec![mutations(), faults(), refused(), wider()]
}
