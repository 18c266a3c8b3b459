//! What a definition lacks, and what is told of it all at once.

use crate::case::{Ask, Case, post};
use crate::objects::DEFINITIONS;
use serde_json::{Value, json};

/// A definition whose spec has these fields in the place of others; a null takes one away.
fn with(name: &str, changes: &Value) -> Ask {
    let version = json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}});
    let mut spec = json!({
        "group": "{ns}.example.com", "scope": "Namespaced", "names": {"plural": "es", "kind": "E"}, "versions": [version],
    });
    let fields = spec.as_object_mut().unwrap();
    for (name, value) in changes.as_object().into_iter().flatten() {
        match value {
            Value::Null => fields.remove(name),
            value => fields.insert(name.clone(), value.clone()),
        };
    }
    let definition = json!({"metadata": {"name": "es.{ns}.example.com"}, "spec": spec});
    post(&format!("{DEFINITIONS}?dryRun=All"), &definition)
        .named(name)
        .only(["/message", "/details/causes"])
}

/// The same with a version that is this one.
fn of_version(name: &str, changes: &Value) -> Ask {
    let mut version = json!({"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}});
    for (field, value) in changes.as_object().into_iter().flatten() {
        version[field] = value.clone();
    }
    with(name, &json!({"versions": [version]}))
}

fn faults() -> Case {
    let nothing = json!({"group": null, "scope": null, "names": null, "versions": null});
    let hook = |webhook: Value| json!({"conversion": {"strategy": "Webhook", "webhook": webhook}});
    let client =
        json!({"clientConfig": {"url": "https://a.example.com"}, "conversionReviewVersions": ["v1"]});
    Case::new("definitionfaults")
        .ask(with("nothing", &nothing))
        .ask(with("no group", &json!({"group": null})))
        .ask(with("a bad group", &json!({"group": "X_Y"})))
        .ask(with("no scope", &json!({"scope": null})))
        .ask(with("a bad scope", &json!({"scope": "X"})))
        .ask(with("no names", &json!({"names": null})))
        .ask(with("no plural", &json!({"names": {"kind": "E"}})))
        .ask(with("no kind", &json!({"names": {"plural": "es"}})))
        .ask(with(
            "a bad plural",
            &json!({"names": {"plural": "Es", "kind": "E"}}),
        ))
        .ask(with("no versions", &json!({"versions": null})))
        .ask(with("an empty list of versions", &json!({"versions": []})))
        .ask(with(
            "no versions and no scope",
            &json!({"versions": [], "scope": null}),
        ))
        .ask(of_version("a version without a name", &json!({"name": null})))
        .ask(of_version("a version of a bad name", &json!({"name": "V_1"})))
        .ask(of_version("no schema", &json!({"schema": null})))
        .ask(of_version("an empty schema", &json!({"schema": {}})))
        .ask(of_version(
            "an empty column",
            &json!({"additionalPrinterColumns": [{}]}),
        ))
        .ask(with(
            "fields that are not pruned",
            &json!({"preserveUnknownFields": true}),
        ))
        .ask(with(
            "no webhook",
            &json!({"conversion": {"strategy": "Webhook"}}),
        ))
        .ask(with("an empty webhook", &hook(json!({}))))
        .ask(with(
            "a webhook for nothing",
            &json!({"conversion": {"strategy": "None", "webhook": client}}),
        ))
}

pub(crate) fn cases() -> Vec<Case> {
    vec![faults()]
}
