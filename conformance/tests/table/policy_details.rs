//! ValidatingAdmissionPolicies in detail: where they count, what their expressions see, and what is refused of them.

use serde_json::{Value, json};

use crate::case::{Ask, Case, delete, delete_with, get, merge, post};
use crate::objects::{CONFIG_MAPS, SECRETS};

const GROUP: &str = "/apis/admissionregistration.k8s.io/v1";

/// What an answer shows of a refusal, or of an object.
const SHOWN: [&str; 4] = ["/kind", "/message", "/reason", "/details"];

fn with(mut object: Value, more: Value) -> Value {
    let members = object.as_object_mut().expect("an object");
    members.extend(more.as_object().expect("an object").clone());
    object
}

fn rule(group: &str, version: &str, operations: &[&str], resource: &str) -> Value {
    json!({"apiGroups": [group], "apiVersions": [version], "operations": operations, "resources": [resource]})
}

/// A policy of the case about what fits a rule in its namespace.
fn policy(name: &str, constraints: Value, spec: Value) -> Ask {
    let of_case = json!({"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "{ns}"}}});
    let constraints = json!({"matchConstraints": with(of_case, constraints)});
    let policy = json!({"metadata": {"name": format!("{name}.{{ns}}")}, "spec": with(constraints, spec)});
    post(&format!("{GROUP}/validatingadmissionpolicies"), &policy)
        .named(format!("policy {name}"))
        .only(["/spec", "/status", "/message", "/metadata/generation"])
}

fn binding(name: &str, spec: Value) -> Ask {
    let name_of_policy = format!("{name}.{{ns}}");
    let common = json!({"policyName": name_of_policy, "validationActions": ["Deny"]});
    let binding = json!({"metadata": {"name": name_of_policy}, "spec": with(common, spec)});
    post(&format!("{GROUP}/validatingadmissionpolicybindings"), &binding)
        .named(format!("binding {name}"))
        .only(["/spec", "/message", "/metadata/generation"])
}

fn map(name: &str, data: Value) -> Value {
    json!({"metadata": {"name": name, "labels": {"app": "x"}}, "data": data})
}

fn keyed(name: &str) -> Value {
    let mut data = json!({});
    data[name] = "x".into();
    data
}

fn rules(rules: &[Value]) -> Value {
    json!({"resourceRules": rules})
}

fn maps() -> Value {
    rules(&[rule("", "v1", &["CREATE", "UPDATE"], "configmaps")])
}

/// Those of a name only: what is wrong with a policy or a binding counts for all that it is about, whatever its conditions are.
fn map_named(name: &str) -> Value {
    let names = json!({"resourceNames": [name]});
    rules(&[with(rule("", "v1", &["CREATE", "UPDATE"], "configmaps"), names)])
}

/// One validation of the config maps that have the policy's name as a key.
fn says(name: &str, expression: &str, message: &str) -> Value {
    let mine = format!("has(object.data) && '{name}' in object.data");
    let mut validation = json!({"expression": expression});
    if !message.is_empty() {
        validation["messageExpression"] = message.into();
    }
    json!({"matchConditions": [{"name": "mine", "expression": mine}], "validations": [validation]})
}

/// What expressions see: each policy denies what it is about with a message that shows a value.
fn seen() -> Case {
    let dry = format!("{CONFIG_MAPS}?dryRun=All");
    let all: Vec<(&str, &str, &str)> = vec![
        (
            "namespace",
            "false",
            "namespaceObject.metadata.name + ' ' + namespaceObject.status.phase",
        ),
        (
            "request",
            "false",
            "request.operation + ' ' + request.kind.kind + ' ' + request.resource.resource + ' ' + request.name + ' ' + request.namespace + ' ' + string(request.dryRun) + ' ' + request.userInfo.username",
        ),
        (
            "requestkind",
            "false",
            "request.requestKind.kind + request.requestResource.version + string(has(request.subResource))",
        ),
        (
            "old",
            "oldObject != null",
            "oldObject == null ? 'nothing was there' : 'something'",
        ),
        (
            "meta",
            "false",
            "object.apiVersion + object.kind + string(has(object.metadata.uid)) + string(has(object.metadata.creationTimestamp)) + string(has(object.metadata.managedFields)) + string(has(object.metadata.namespace))",
        ),
        ("params", "false", "'no parameters'"),
        ("number", "false", "'a' + string(1)"),
        ("empty", "false", "''"),
        ("spaces", "false", "'  around  '"),
        ("long", "false", "lists.range(6000).map(x, 'y').join('')"),
        ("failing", "false", "string(object.data.nothing)"),
        // What has no members is like what lacks one.
        ("nothing", "has(oldObject.metadata)", ""),
        ("ofnothing", "oldObject.metadata.name == 'a'", ""),
        ("hasofnothing", "has(oldObject.metadata.name)", ""),
        ("indexed", "oldObject['metadata'] == null", ""),
        ("oftext", "object.data.oftext.a == 'b'", ""),
        ("hasoftext", "has(object.data.hasoftext.a)", ""),
        ("optional", "oldObject.?metadata.hasValue()", ""),
        (
            "notnothing",
            "!has(oldObject.metadata) && oldObject.metadata.name == 'a'",
            "",
        ),
        ("anyofnothing", "[oldObject].exists(old, has(old.metadata))", ""),
    ];
    // What only Kubernetes has: these policies come first, so that they are noticed when the others are.
    let of_kubernetes: Vec<(&str, &str, &str)> = vec![
        (
            "authorized",
            "!authorizer.group('').resource('pods').namespace('default').check('create').allowed()",
            "'may create pods'",
        ),
        (
            "requester",
            "!authorizer.requestResource.check('create').allowed()",
            "",
        ),
        ("path", "!authorizer.path('/healthz').check('get').allowed()", ""),
        (
            "account",
            "authorizer.serviceAccount('default', 'x').group('').resource('pods').check('get').allowed()",
            "",
        ),
        (
            "selectors",
            "authorizer.group('apps').resource('deployments').subresource('scale').name('x').labelSelector('a=b').fieldSelector('x').check('get').allowed() && false",
            "",
        ),
        (
            "reason",
            "authorizer.serviceAccount('default', 'x').path('/healthz').check('post').reason() != '' || authorizer.serviceAccount('default', 'x').path('/healthz').check('get').errored()",
            "",
        ),
        (
            "threechecks",
            "[1, 2, 3].all(n, authorizer.path('/healthz').check('get').allowed())",
            "",
        ),
        (
            "twochecks",
            "[1, 2].all(n, authorizer.path('/healthz').check('get').allowed()) && false",
            "",
        ),
        ("emptypath", "authorizer.path(' ').check('get').allowed()", ""),
        (
            "badaccount",
            "authorizer.serviceAccount('default', '_').path('/x').check('get').allowed()",
            "",
        ),
        (
            "badnamespace",
            "authorizer.serviceAccount('a.b', 'x').path('/x').check('get').allowed()",
            "",
        ),
        (
            "discovery",
            "!authorizer.serviceAccount('default', 'x').path('/healthz').check('get').allowed()",
            "",
        ),
        ("quantities", "quantity('1Gi').isLessThan(quantity('1Mi'))", ""),
        ("sorted", "['b', 'a'].isSorted()", ""),
        ("found", "object.data.found.find('[0-9]+') == '1'", ""),
    ];
    let mut case = Case::new("policiesseen");
    for (name, expression, message) in of_kubernetes.iter().chain(&all) {
        case = case
            .ask(policy(name, maps(), says(name, expression, message)).only(["/message"]))
            .ask(binding(name, json!({})).only(["/message"]));
    }
    for (name, ..) in &all {
        case = case.until(post(&dry, &map("probe", keyed(name))), 422);
    }
    for (name, ..) in all.into_iter().chain(of_kubernetes) {
        case = case.ask(post(CONFIG_MAPS, &map(name, keyed(name))).named(name).only(SHOWN));
    }
    case
}

/// Where policies count.
fn places() -> Case {
    let dry = |path: &str| format!("{path}?dryRun=All");
    let deployments = "/apis/apps/v1/namespaces/{ns}/deployments";
    let autoscalers =
        |version: &str| format!("/apis/autoscaling/{version}/namespaces/{{ns}}/horizontalpodautoscalers");
    let autoscaler = |name: &str| json!({"metadata": {"name": name}, "spec": {"maxReplicas": 3, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}}});
    let deployment = |name: &str, replicas: u64| {
        json!({"metadata": {"name": name}, "spec": {
            "replicas": replicas, "selector": {"matchLabels": {"a": "b"}},
            "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
        }})
    };
    let denies = |expression: &str| json!({"validations": [{"expression": expression, "message": "no"}]});
    let unlike = |excluded: Value| json!({"resourceRules": [rule("", "v1", &["*"], "*")], "excludeResourceRules": [excluded]});
    let labels = |name: &str| json!({"metadata": {"name": name, "labels": {"pick": "me"}}});
    Case::new("policiesplaces")
        .asks(["kept", "gone", "other"].map(|name| post(CONFIG_MAPS, &map(name, json!({}))).named(format!("before {name}")).only(["/kind"])))
        .ask(post(deployments, &deployment("d", 1)).named("a deployment").only(["/kind"]))
        // Deletions.
        .ask(policy("deletes", rules(&[rule("", "v1", &["DELETE"], "configmaps")]), denies("oldObject.metadata.name != 'kept' || object != null")))
        .ask(binding("deletes", json!({})))
        .until(delete(&dry(&format!("{CONFIG_MAPS}/kept"))), 422)
        .ask(delete(&format!("{CONFIG_MAPS}/kept")).named("delete what stays").only(SHOWN))
        .ask(delete_with(&format!("{CONFIG_MAPS}/kept"), &json!({"dryRun": ["All"]})).named("a dry deletion of what stays").only(SHOWN))
        .ask(delete(&format!("{CONFIG_MAPS}/gone")).named("delete what may go").only(["/kind"]))
        .ask(delete(CONFIG_MAPS).named("delete all").only(SHOWN))
        .ask(get(CONFIG_MAPS).named("what is left").only(["/items/0/metadata/name", "/items/1/metadata/name"]))
        // Subresources.
        .ask(policy("scales", rules(&[rule("apps", "v1", &["UPDATE"], "deployments/scale")]), denies("object.spec.replicas < 5 || request.subResource != 'scale'")))
        .ask(binding("scales", json!({})))
        .until(merge(&dry(&format!("{deployments}/d/scale")), &json!({"spec": {"replicas": 7}})), 422)
        .ask(merge(&format!("{deployments}/d/scale"), &json!({"spec": {"replicas": 7}})).named("scale too far").only(SHOWN))
        .ask(merge(&format!("{deployments}/d/scale"), &json!({"spec": {"replicas": 2}})).named("scale").only(["/kind"]))
        .ask(merge(&format!("{deployments}/d"), &json!({"spec": {"replicas": 7}})).named("change the deployment").only(["/kind"]))
        .ask(policy("statuses", rules(&[rule("apps", "v1", &["UPDATE"], "deployments/status")]), denies("object.status.observedGeneration != 99")))
        .ask(binding("statuses", json!({})))
        .until(merge(&dry(&format!("{deployments}/d/status")), &json!({"status": {"observedGeneration": 99}})), 422)
        .ask(merge(&format!("{deployments}/d/status"), &json!({"status": {"observedGeneration": 99}})).named("a status").only(SHOWN))
        .ask(merge(&format!("{deployments}/d"), &json!({"status": {"observedGeneration": 99}})).named("no status").only(["/kind"]))
        .ask(policy("evictions", rules(&[rule("", "v1", &["CREATE"], "pods/eviction")]), denies("false")))
        .ask(binding("evictions", json!({})))
        .ask(post("/api/v1/namespaces/{ns}/pods", &json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}})).named("a pod").only(["/kind"]))
        .until(post("/api/v1/namespaces/{ns}/pods/p/eviction?dryRun=All", &json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "p"}, "deleteOptions": {"dryRun": ["All"]}})), 422)
        .ask(post("/api/v1/namespaces/{ns}/pods/p/eviction", &json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "p"}})).named("an eviction").only(SHOWN))
        .ask(policy("connects", rules(&[rule("", "v1", &["CONNECT"], "pods/exec")]), denies("object.container != 'c'")))
        .ask(binding("connects", json!({})))
        .until(post("/api/v1/namespaces/{ns}/pods/p/exec?container=c&command=x&stdout=true", &json!({})), 422)
        .ask(post("/api/v1/namespaces/{ns}/pods/p/exec?container=c&command=x&stdout=true", &json!({})).named("connect").only(SHOWN))
        // Other versions of a resource.
        .ask(policy("equivalent", with(rules(&[rule("autoscaling", "v1", &["CREATE"], "horizontalpodautoscalers")]), json!({"matchPolicy": "Equivalent"})),
            json!({"validations": [{"expression": "object.metadata.name != 'h'", "messageExpression": "object.apiVersion + request.kind.version + request.requestKind.version"}]})))
        .ask(binding("equivalent", json!({})))
        .until(post(&dry(&autoscalers("v2")), &autoscaler("h")), 422)
        .ask(post(&autoscalers("v2"), &autoscaler("h")).named("an equivalent version").only(SHOWN))
        .ask(post(&autoscalers("v1"), &autoscaler("h")).named("the version itself").only(SHOWN))
        .ask(policy("exact", with(rules(&[rule("autoscaling", "v1", &["CREATE"], "horizontalpodautoscalers")]), json!({"matchPolicy": "Exact"})), denies("object.metadata.name != 'e'")))
        .ask(binding("exact", json!({})))
        .until(post(&dry(&autoscalers("v1")), &autoscaler("e")), 422)
        .ask(post(&autoscalers("v1"), &autoscaler("e")).named("exactly that version").only(SHOWN))
        .ask(post(&autoscalers("v2"), &autoscaler("e")).named("another version").only(["/kind", "/message"]))
        // What is excluded, named, selected.
        .ask(policy("excluding", unlike(rule("", "v1", &["*"], "secrets")), denies("object == null || !has(object.metadata.labels) || !('excluding' in object.metadata.labels)")))
        .ask(binding("excluding", json!({})))
        .until(post(&dry(CONFIG_MAPS), &json!({"metadata": {"name": "x", "labels": {"excluding": ""}}})), 422)
        .ask(post(CONFIG_MAPS, &json!({"metadata": {"name": "x", "labels": {"excluding": ""}}})).named("not excluded").only(SHOWN))
        .ask(post(SECRETS, &json!({"metadata": {"name": "x", "labels": {"excluding": ""}}})).named("excluded").only(["/kind"]))
        .ask(policy("named", rules(&[with(rule("", "v1", &["CREATE"], "configmaps"), json!({"resourceNames": ["named"]}))]), denies("false")))
        .ask(binding("named", json!({})))
        .until(post(&dry(CONFIG_MAPS), &map("named", json!({}))), 422)
        .ask(post(CONFIG_MAPS, &map("named", json!({}))).named("the name").only(SHOWN))
        .ask(post(CONFIG_MAPS, &map("unnamed", json!({}))).named("another name").only(["/kind"]))
        .ask(post(CONFIG_MAPS, &json!({"metadata": {"generateName": "named"}})).named("a name to be made").only(["/kind"]))
        .ask(policy("selected", with(maps(), json!({"objectSelector": {"matchLabels": {"pick": "me"}}})), denies("false")))
        .ask(binding("selected", json!({})))
        .until(post(&dry(CONFIG_MAPS), &labels("s")), 422)
        .ask(post(CONFIG_MAPS, &labels("s")).named("selected").only(SHOWN))
        .ask(merge(&format!("{CONFIG_MAPS}/unnamed"), &json!({"metadata": {"labels": {"pick": "me"}}})).named("selected from now on").only(SHOWN))
        .ask(post(CONFIG_MAPS, &map("t", json!({}))).named("not selected").only(["/kind"]))
        .ask(policy("elsewhere", json!({"resourceRules": [rule("", "v1", &["CREATE"], "configmaps")]}), denies("object.metadata.name != 'elsewhere'")))
        .ask(binding("elsewhere", json!({"matchResources": {"namespaceSelector": {"matchLabels": {"no": "where"}}}})))
        .ask(post(CONFIG_MAPS, &map("elsewhere", json!({}))).named("a binding to other namespaces").only(["/kind"]))
}

/// Parameters and what becomes of failures.
fn parameters() -> Case {
    let dry = format!("{CONFIG_MAPS}?dryRun=All");
    let kind = json!({"paramKind": {"apiVersion": "v1", "kind": "Secret"}});
    let about = |name: &str, spec: Value| {
        policy(
            name,
            map_named(name),
            with(with(says(name, "false", ""), kind.clone()), spec),
        )
    };
    let shows = |name: &str| {
        with(
            with(
                says(
                    name,
                    "params != null && params.metadata.labels['ok'] == 'yes'",
                    "params == null ? 'none' : string(params.metadata.name)",
                ),
                kind.clone(),
            ),
            json!({}),
        )
    };
    let select = |value: &str, action: &str| json!({"paramRef": {"selector": {"matchLabels": {"set": value}}, "parameterNotFoundAction": action}});
    let secret = |name: &str, set: &str, ok: &str| json!({"metadata": {"name": name, "labels": {"set": set, "ok": ok}}});
    let audit = |expression: &str, policy: &str| json!({"failurePolicy": policy, "validations": [{"expression": "true"}], "auditAnnotations": [{"key": "a", "valueExpression": expression}]});
    let mine = |name: &str| json!({"matchConditions": [{"name": "mine", "expression": format!("has(object.data) && '{name}' in object.data")}]});
    let mut case = Case::new("policiesparams").asks(
        [
            ("good", "two", "yes"),
            ("bad", "two", "no"),
            ("single", "one", "yes"),
        ]
        .map(|(name, set, ok)| {
            post(SECRETS, &secret(name, set, ok))
                .named(format!("parameter {name}"))
                .only(["/kind"])
        }),
    );
    let bound: Vec<(&str, Ask, Ask, u16)> = vec![
        (
            "two",
            policy("two", map_named("two"), shows("two")),
            binding("two", select("two", "Deny")),
            422,
        ),
        (
            "nothing",
            policy("nothing", map_named("nothing"), shows("nothing")),
            binding("nothing", select("nothing", "Deny")),
            422,
        ),
        (
            "unreferenced",
            policy("unreferenced", map_named("unreferenced"), shows("unreferenced")),
            binding("unreferenced", json!({})),
            422,
        ),
        (
            "nokind",
            policy(
                "nokind",
                map_named("nokind"),
                with(
                    says("nokind", "false", ""),
                    json!({"paramKind": {"apiVersion": "none.example/v1", "kind": "None"}}),
                ),
            ),
            binding("nokind", select("one", "Allow")),
            422,
        ),
        (
            "wide",
            policy(
                "wide",
                map_named("wide"),
                with(
                    says("wide", "params.metadata.name == 'x'", ""),
                    json!({"paramKind": {"apiVersion": "v1", "kind": "Namespace"}}),
                ),
            ),
            binding(
                "wide",
                json!({"paramRef": {"name": "default", "namespace": "default", "parameterNotFoundAction": "Allow"}}),
            ),
            422,
        ),
        (
            "elsewhere",
            policy("elsewhere", map_named("elsewhere"), shows("elsewhere")),
            binding(
                "elsewhere",
                json!({"paramRef": {"name": "single", "namespace": "default", "parameterNotFoundAction": "Deny"}}),
            ),
            422,
        ),
        (
            "auditfails",
            policy(
                "auditfails",
                map_named("auditfails"),
                with(audit("string(object.data.nothing)", "Fail"), mine("auditfails")),
            ),
            binding("auditfails", json!({"validationActions": ["Audit"]})),
            422,
        ),
        (
            "warns",
            about("warns", json!({})),
            binding(
                "warns",
                with(
                    select("one", "Allow"),
                    json!({"validationActions": ["Audit", "Deny"]}),
                ),
            ),
            422,
        ),
        (
            "costly",
            policy(
                "costly",
                map_named("costly"),
                says(
                    "costly",
                    "lists.range(1000).all(a, lists.range(1000).all(b, lists.range(1000).all(c, a + b + c >= 0)))",
                    "",
                ),
            ),
            binding("costly", json!({})),
            422,
        ),
    ];
    for (_, policy, binding, _) in &bound {
        case = case.ask(policy.clone().only(["/message"])).ask(binding.clone());
    }
    for (name, _, _, code) in bound {
        case = case
            .until(post(&dry, &map(name, keyed(name))), code)
            .ask(post(CONFIG_MAPS, &map(name, keyed(name))).named(name).only(SHOWN));
    }
    case.ask(
        policy(
            "auditignored",
            map_named("auditignored"),
            with(
                audit("string(object.data.nothing)", "Ignore"),
                mine("auditignored"),
            ),
        )
        .only(["/message"]),
    )
    .ask(binding("auditignored", json!({"validationActions": ["Audit"]})))
    .ask(
        post(CONFIG_MAPS, &map("auditignored", keyed("auditignored")))
            .named("an annotation that fails and is ignored")
            .only(["/kind"]),
    )
    .ask(policy("single", map_named("single"), shows("single")).only(["/message"]))
    .ask(binding("single", select("one", "Deny")))
    .ask(
        post(CONFIG_MAPS, &map("single", keyed("single")))
            .named("a parameter that is as it should be")
            .only(["/kind"]),
    )
}

/// What is refused of policies and bindings.
fn refused() -> Case {
    let valid = || json!({"validations": [{"expression": "true"}]});
    let about = |name: &str, spec: Value| {
        policy(&name.replace(' ', "-"), maps(), spec)
            .named(name.to_owned())
            .only(["/message", "/spec", "/details"])
    };
    let of = |validation: Value| json!({"validations": [with(json!({"expression": "true"}), validation)]});
    let constrained = |constraints: Value| with(valid(), json!({"matchConstraints": constraints}));
    let binds = |name: &str, spec: Value| {
        binding("refused", spec)
            .named(name.to_owned())
            .only(["/message", "/details"])
    };
    let resources = |list: &[&str]| {
        constrained(rules(&[
            json!({"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": list}),
        ]))
    };
    Case::new("policiesrefused").asks([
        about("no validations", json!({})),
        about("no expression", of(json!({"expression": ""}))),
        about("not a truth", of(json!({"expression": "'text'"}))),
        about("any type", of(json!({"expression": "object.spec.x"}))),
        about("an unknown name", of(json!({"expression": "nothing == 1"}))),
        about("parameters without a kind", of(json!({"expression": "params.x == 1"}))),
        about("a field that requests do not have", of(json!({"expression": "has(request.uid)"}))),
        about("a field that namespaces do not have", of(json!({"expression": "has(namespaceObject.apiVersion)"}))),
        about("a field of a type that is known", of(json!({"expression": "request.operation == 3"}))),
        about("what does not parse", of(json!({"expression": "object.("}))),
        about("an empty message", of(json!({"message": " "}))),
        about("a message of two lines", of(json!({"message": "a\nb"}))),
        about("a message that is no text", of(json!({"messageExpression": "1"}))),
        about("a message of spaces", of(json!({"messageExpression": " "}))),
        about("a message that asks for rights", of(json!({"messageExpression": "string(authorizer.path('/x').check('get').allowed())"}))),
        about("a bad reason", of(json!({"reason": "NotFound"}))),
        about("an unauthorized reason", of(json!({"reason": "Unauthorized"}))),
        about("a bad failure policy", with(valid(), json!({"failurePolicy": "Never"}))),
        about("no rules", constrained(json!({"resourceRules": []}))),
        about("a bad match policy", constrained(with(maps(), json!({"matchPolicy": "Some"})))),
        about("a bad selector", constrained(with(maps(), json!({"objectSelector": {"matchExpressions": [{"key": "a", "operator": "Is"}]}})))),
        about("a star and others", resources(&["*", "pods"])),
        about("two stars and others", resources(&["*/*", "pods"])),
        about("an empty resource", resources(&[""])),
        about("a covered subresource", resources(&["pods/*", "pods/status"])),
        about("no operations", constrained(rules(&[rule("", "v1", &[], "pods")]))),
        about("a bad operation", constrained(rules(&[rule("", "v1", &["LIST"], "pods")]))),
        about("a star and an operation", constrained(rules(&[rule("", "v1", &["*", "CREATE"], "pods")]))),
        about("a bad scope", constrained(rules(&[with(rule("", "v1", &["*"], "pods"), json!({"scope": "Some"}))]))),
        about("a bad name of a resource", constrained(rules(&[with(rule("", "v1", &["*"], "pods"), json!({"resourceNames": ["a/b"]}))]))),
        about("a condition of variables", with(valid(), json!({"variables": [{"name": "v", "expression": "true"}], "matchConditions": [{"name": "c", "expression": "variables.v"}]}))),
        about("a condition that is no truth", with(valid(), json!({"matchConditions": [{"name": "c", "expression": "'x'"}]}))),
        about("a bad name of a condition", with(valid(), json!({"matchConditions": [{"name": "a b", "expression": "true"}]}))),
        about("an annotation of a number", json!({"auditAnnotations": [{"key": "a", "valueExpression": "1"}]})),
        about("an annotation without a value", json!({"auditAnnotations": [{"key": "a", "valueExpression": ""}]})),
        about("annotations of one key", json!({"auditAnnotations": [{"key": "a", "valueExpression": "'x'"}, {"key": "a", "valueExpression": "'y'"}]})),
        about("a bad key of an annotation", json!({"auditAnnotations": [{"key": "a b", "valueExpression": "'x'"}]})),
        about("a null annotation", json!({"auditAnnotations": [{"key": "a", "valueExpression": "null"}]})),
        about("a bad kind of parameters", with(valid(), json!({"paramKind": {"apiVersion": "v1", "kind": "Not One"}}))),
        about("a bad version of parameters", with(valid(), json!({"paramKind": {"apiVersion": "a/b/c", "kind": "A"}}))),
        about("an unknown variable", with(of(json!({"expression": "variables.other"})), json!({"variables": [{"name": "v", "expression": "true"}]}))),
        about("a later variable", with(valid(), json!({"variables": [{"name": "a", "expression": "variables.b"}, {"name": "b", "expression": "1"}]}))),
        about("a reserved variable", with(valid(), json!({"variables": [{"name": "in", "expression": "1"}]}))),
        about("variables without any", of(json!({"expression": "variables.a == 1"}))),
        about("an annotation of many bytes", json!({"auditAnnotations": [{"key": "a", "valueExpression": format!("'{}'", "x".repeat(5120))}]})),
        about("many annotations", json!({"auditAnnotations": (0..21).map(|n| json!({"key": format!("a{n}"), "valueExpression": "'x'"})).collect::<Vec<_>>()})).only(["/details/causes/0/field", "/details/causes/0/reason"]),
        about("loops over anything", json!({"validations": [
            {"expression": "object.data.all(k, v, k.size() < 64 && k.startsWith('a') && v != null && v != '')"},
            {"expression": "object.data.exists(k, v, v == 1 || v == 'a')"},
            {"expression": "object.data.transformList(k, v, k + v).size() == 1"},
            {"expression": "object.data.transformMap(k, v, v).size() == 1"},
        ]})),
        about("variables of types that are forgotten", with(json!({"validations": [
            {"expression": "variables.allow.orValue(false)"}, {"expression": "variables.ns.foo == 'x'"}, {"expression": "variables.o == 'x'"},
            {"expression": "variables.all.x == 1"}, {"expression": "variables.list[0].a == 1"}, {"expression": "variables.amount.isInteger()"},
            {"expression": "variables.wrong.a"}, {"expression": "variables.request.dryRun"}, {"expression": "variables.allow"},
        ]}), json!({"variables": [
            {"name": "allow", "expression": "object.?spec.?allow"}, {"name": "ns", "expression": "namespaceObject.metadata"},
            {"name": "o", "expression": "object.?a"}, {"name": "all", "expression": "variables"}, {"name": "list", "expression": "[namespaceObject]"},
            {"name": "amount", "expression": "quantity('1')"}, {"name": "request", "expression": "request"},
        ]}))),
        about("a variable of an unknown name", with(valid(), json!({"variables": [{"name": "a", "expression": "nothing"}]}))),
        binds("no actions", json!({"validationActions": []})),
        binds("a bad action", json!({"validationActions": ["Refuse"]})),
        binds("an action twice", json!({"validationActions": ["Deny", "Deny"]})),
        binds("both deny and warn", json!({"validationActions": ["Deny", "Warn"]})),
        binds("no policy", json!({"policyName": ""})),
        binds("a bad rule", json!({"matchResources": {"resourceRules": [rule("", "", &["CREATE"], "pods")]}})),
        policy("status", maps(), with(valid(), json!({"failurePolicy": "Ignore"}))).named("a policy with a status"),
        merge(&format!("{GROUP}/validatingadmissionpolicies/status.{{ns}}"), &json!({"spec": {"validations": [{"expression": "false"}]}})).named("change the policy").only(["/metadata/generation", "/spec/validations"]),
        merge(&format!("{GROUP}/validatingadmissionpolicies/status.{{ns}}/status"), &json!({"status": {"typeChecking": {"expressionWarnings": [{"fieldRef": "", "warning": ""}]}}})).named("a bad status").only(["/message", "/status"]),
    ])
}

pub(crate) fn cases() -> Vec<Case> {
    vec![seen(), places(), parameters(), refused()]
}
