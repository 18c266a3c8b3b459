//! ValidatingAdmissionPolicies.

use crate::case::{Ask, Case, delete, merge, post};
use crate::objects::{CONFIG_MAPS, SECRETS};
use serde_json::{Value, json};

const POLICIES: &str = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies";
const BINDINGS: &str = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings";

/// A policy of the case, about the config maps of its namespace.
fn policy(name: &str, spec: Value) -> Ask {
    let mut policy = json!({
        "metadata": {"name": format!("{name}.{{ns}}")},
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {
                "matchPolicy": "Equivalent", "objectSelector": {},
                "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "{ns}"}},
                "resourceRules": [{
                    "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": ["configmaps"], "scope": "*",
                }],
            },
        },
    });
    policy["spec"]
        .as_object_mut()
        .unwrap()
        .extend(spec.as_object().unwrap().clone());
    post(POLICIES, &policy)
        .named(format!("policy {name}"))
        .only(["/kind"])
}

fn binding(name: &str, actions: Value, reference: Value) -> Ask {
    let mut binding = json!({
        "metadata": {"name": format!("{name}.{{ns}}")},
        "spec": {"policyName": format!("{name}.{{ns}}"), "validationActions": actions},
    });
    if !reference.is_null() {
        binding["spec"]["paramRef"] = reference;
    }
    post(BINDINGS, &binding)
        .named(format!("binding {name}"))
        .only(["/kind"])
}

fn map(name: &str, data: Value) -> Ask {
    post(
        CONFIG_MAPS,
        &json!({"metadata": {"name": name, "labels": {"app": "x"}}, "data": data}),
    )
}

/// Creates of dry runs, until a policy is noticed.
fn noticed(case: Case, key: &str, code: u16) -> Case {
    let ask = post(
        &format!("{CONFIG_MAPS}?dryRun=All"),
        &json!({"metadata": {"name": "probe"}, "data": {key: "x"}}),
    );
    case.until(ask, code)
}

fn policies() -> Case {
    let denies = |key: &str, more: Value| {
        let mut validation = json!({"expression": format!("!has(object.data.{key})")});
        validation
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        json!({"validations": [validation]})
    };
    let case = Case::new("policies")
        .ask(map("before", json!({"plain": "x"})).named("before").only(["/kind"]))
        .ask(policy("plain", denies("plain", json!({}))))
        .ask(map("unbound", json!({"plain": "x"})).named("a policy that is not bound").only(["/kind"]))
        .ask(binding("plain", json!(["Deny"]), json!(null)))
        .ask(policy("message", denies("message", json!({"message": "no message", "reason": "Forbidden"}))))
        .ask(binding("message", json!(["Deny"]), json!(null)))
        .ask(policy("expressed", denies("expressed", json!({"messageExpression": "'not ' + object.data.expressed"}))))
        .ask(binding("expressed", json!(["Deny"]), json!(null)))
        .ask(policy("two", json!({"validations": [
            {"expression": "!has(object.data.two)", "reason": "RequestEntityTooLarge"}, {"expression": "!has(object.data.two) || object.data.two == 'y'"},
        ]})))
        .ask(binding("two", json!(["Deny", "Audit"]), json!(null)))
        .ask(policy("failing", json!({"validations": [{"expression": "!has(object.data.failing) || object.data.missing == 'x'"}]})))
        .ask(binding("failing", json!(["Deny"]), json!(null)))
        .ask(policy("ignoring", json!({
            "failurePolicy": "Ignore", "validations": [{"expression": "!has(object.data.ignoring) || object.data.missing == 'x'"}],
        })))
        .ask(binding("ignoring", json!(["Deny"]), json!(null)))
        .ask(policy("variables", json!({
            "variables": [
                {"name": "has", "expression": "has(object.data) && has(object.data.variables)"},
                {"name": "value", "expression": "object.data.variables"},
                {"name": "long", "expression": "variables.value.size() > 3"},
            ],
            "validations": [{"expression": "!variables.has || variables.long", "messageExpression": "variables.value + ' is short'"}],
        })))
        .ask(binding("variables", json!(["Deny"]), json!(null)))
        .ask(policy("conditions", json!({
            "matchConditions": [{"name": "mine", "expression": "request.name.startsWith('mine')"}],
            "validations": [{"expression": "!has(object.data.conditions)"}],
        })))
        .ask(binding("conditions", json!(["Deny"]), json!(null)))
        .ask(policy("params", json!({
            "paramKind": {"apiVersion": "v1", "kind": "Secret"},
            "validations": [{"expression": "!has(object.data.params) || params.metadata.name == object.data.params"}],
        })))
        .ask(binding("params", json!(["Deny"]), json!({"name": "param", "parameterNotFoundAction": "Allow"})))
        .ask(policy("unchanged", json!({"validations": [
            {"expression": "oldObject == null || !has(oldObject.data.unchanged) || object.data.unchanged == oldObject.data.unchanged", "message": "it stays"},
        ]})))
        .ask(binding("unchanged", json!(["Deny"]), json!(null)));
    let case = ["plain", "expressed", "variables"]
        .iter()
        .fold(case, |case, key| noticed(case, key, 422));
    let case = noticed(noticed(noticed(case, "message", 403), "two", 413), "failing", 422);
    let denied = |name: &str, data: Value| map("m", data).named(name.to_owned());
    case.ask(denied("denied", json!({"plain": "x"})))
        .ask(denied("denied with a message", json!({"message": "x"})))
        .ask(denied(
            "denied with a message that is made",
            json!({"expressed": "good"}),
        ))
        .ask(denied("denied with two lines", json!({"expressed": "a\nb"})))
        .ask(denied("denied twice", json!({"two": "x"})))
        .ask(denied("an expression that fails", json!({"failing": "x"})))
        .ask(
            denied(
                "an expression that fails and is ignored",
                json!({"ignoring": "x"}),
            )
            .only(["/kind"]),
        )
        .ask(denied("variables", json!({"variables": "abc"})))
        .ask(
            map("yours", json!({"conditions": "x"}))
                .named("a condition that does not hold")
                .only(["/kind"]),
        )
        .ask(
            map("free", json!({"params": "other"}))
                .named("without its parameter")
                .only(["/kind"]),
        )
        .ask(
            post(SECRETS, &json!({"metadata": {"name": "param"}}))
                .named("the parameter")
                .only(["/kind"]),
        )
        .until(
            post(
                &format!("{CONFIG_MAPS}?dryRun=All"),
                &json!({"metadata": {"name": "probe"}, "data": {"params": "x"}}),
            ),
            422,
        )
        .ask(map("bound", json!({"params": "other"})).named("with its parameter"))
        .ask(
            map("bound", json!({"params": "param"}))
                .named("with its parameter, as it wants")
                .only(["/kind"]),
        )
        .ask(
            map("kept", json!({"unchanged": "x"}))
                .named("create what stays")
                .only(["/kind"]),
        )
        .ask(
            merge(
                &format!("{CONFIG_MAPS}/kept"),
                &json!({"data": {"unchanged": "y"}}),
            )
            .named("change what stays"),
        )
        .ask(
            merge(&format!("{CONFIG_MAPS}/kept"), &json!({"data": {"other": "y"}}))
                .named("change beside it")
                .only(["/kind"]),
        )
        .ask(
            post(
                CONFIG_MAPS,
                &json!({"metadata": {"generateName": "made-"}, "data": {"plain": "x"}}),
            )
            .named("a generated name")
            .only(["/code", "/reason", "/details/group", "/details/kind"]),
        )
        .ask(
            delete(&format!("{BINDINGS}/plain.{{ns}}"))
                .named("unbind")
                .only(["/kind"]),
        )
        .until(
            post(
                &format!("{CONFIG_MAPS}?dryRun=All"),
                &json!({"metadata": {"name": "probe"}, "data": {"plain": "x"}}),
            ),
            201,
        )
        .ask(denied("no longer bound", json!({"plain": "x"})).only(["/reason", "/code"]))
}

pub(crate) fn cases() -> Vec<Case> {
    vec![policies()]
}
