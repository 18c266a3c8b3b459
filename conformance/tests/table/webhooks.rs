//! Admission webhooks that cannot be asked, or need not be.

use serde_json::{Value, json};

use crate::case::{Ask, Case, delete, merge, post};
use crate::objects::CONFIG_MAPS;

const CONFIGURATIONS: &str = "/apis/admissionregistration.k8s.io/v1";

/// A webhook about a resource in the namespace of the case, at an address where nobody listens; `more` is merged into it.
fn hook(name: &str, resource: &str, more: Value) -> Value {
    let rule =
        json!({"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": [resource]});
    let mut hook = json!({
        "name": format!("{name}.conformance.example"), "rules": [rule], "sideEffects": "None", "admissionReviewVersions": ["v1"],
        "clientConfig": {"url": "https://127.0.0.1:1/x"}, "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "webhooks"}},
    });
    let more = more.as_object().cloned().unwrap_or_default();
    hook.as_object_mut().expect("an object").extend(more);
    hook
}

fn configure(kind: &str, hooks: &[Value]) -> Ask {
    let name = format!("webhooks-{}", kind.to_lowercase());
    let path = format!("{CONFIGURATIONS}/{}webhookconfigurations", kind.to_lowercase());
    post(&path, &json!({"metadata": {"name": name}, "webhooks": hooks}))
        .only(["/metadata/name"])
        .named(format!("a {} configuration", kind.to_lowercase()))
}

pub(crate) fn cases() -> Vec<Case> {
    let new = |name: &str| json!({"metadata": {"name": name}});
    let core = |plural: &str| format!("/api/v1/namespaces/{{ns}}/{plural}");
    let condition = |expression: &str| json!({"matchConditions": [{"name": "c", "expression": expression}]});
    let service = json!({"service": {"name": "none", "namespace": "webhooks", "path": "/x"}});
    let validating = configure(
        "Validating",
        &[
            hook("refused", "configmaps", json!({})),
            hook("service", "secrets", json!({"clientConfig": service})),
            hook("broken", "serviceaccounts", condition("object.bogus == 'x'")),
            hook("ignored", "podtemplates", json!({"failurePolicy": "Ignore"})),
            hook(
                "other",
                "resourcequotas",
                condition("request.operation == 'DELETE'"),
            ),
        ],
    );
    let mutating = configure(
        "Mutating",
        &[hook(
            "labels",
            "limitranges",
            json!({"objectSelector": {"matchLabels": {"a": "b"}}}),
        )],
    );
    let refusal = ["/message", "/reason", "/details"];
    let labelled = json!({"metadata": {"name": "b", "labels": {"a": "b"}}, "spec": {"limits": []}});
    let all = Case::new("webhooks")
        .ask(post(CONFIG_MAPS, &new("old")).only(["/metadata/name"]).named("before"))
        .ask(validating)
        .ask(mutating)
        .until(post(&format!("{CONFIG_MAPS}?dryRun=All"), &new("a")), 500)
        .until(post(&format!("{}?dryRun=All", core("limitranges")), &labelled), 500)
        .ask(post(CONFIG_MAPS, &new("a")).only(refusal).named("create"))
        .ask(merge(&format!("{CONFIG_MAPS}/old"), &json!({"data": {"k": "v"}})).only(refusal).named("patch"))
        .ask(merge(&format!("{CONFIG_MAPS}/old"), &json!({})).only(refusal).named("a patch of nothing"))
        .ask(delete(&format!("{CONFIG_MAPS}/old")).only(refusal).named("delete"))
        .ask(delete(CONFIG_MAPS).only(refusal).named("delete all"))
        .ask(post(CONFIG_MAPS, &json!({"metadata": {"name": "Bad"}})).only(refusal).named("what is not valid"))
        .ask(post(CONFIG_MAPS, &new("old")).only(refusal).named("what is there"))
        .ask(post(&core("secrets"), &new("a")).only(refusal).named("a service that is not there"))
        .ask(post(&core("serviceaccounts"), &new("a")).only(refusal).named("a condition that cannot be evaluated"))
        .ask(
            post(&core("podtemplates"), &json!({"metadata": {"name": "a"}, "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}}))
                .only(["/metadata/name"])
                .named("a failure that is ignored"),
        )
        .ask(post(&core("resourcequotas"), &new("a")).only(["/metadata/name"]).named("a condition that does not hold"))
        .ask(delete(&format!("{}/a", core("resourcequotas"))).only(refusal).named("a condition that holds"))
        .ask(post(&core("limitranges"), &json!({"metadata": {"name": "a"}, "spec": {"limits": []}})).only(["/metadata/name"]).named("other labels"))
        .ask(post(&core("limitranges"), &labelled).only(refusal).named("labels"));
    let cleaned = ["validating", "mutating"].map(|kind| {
        delete(&format!(
            "{CONFIGURATIONS}/{kind}webhookconfigurations/webhooks-{kind}"
        ))
        .only(["/status"])
        .named(format!("the end of the {kind} configuration"))
    });
    vec![all.asks(cleaned)]
}
