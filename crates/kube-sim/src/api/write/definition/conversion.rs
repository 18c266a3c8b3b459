//! What is wrong with how a definition says that its objects are converted.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::names::dns_1035_label_faults;
use crate::specs::{webhook_service_faults, webhook_url_faults};
use crate::status::{Cause, quoted, shown};
use crate::webhook::authority_fault;

const CLIENT: &str = "spec.conversion.webhookClientConfig";
const VERSIONS: &str = "spec.conversion.conversionReviewVersions";
const BUNDLE: &str = "spec.conversion.webhookClientConfig.caBundle";

/// What is wrong with the conversion of a definition.
pub(super) fn faults(definition: &Value) -> Vec<Cause> {
    let conversion = &definition["spec"]["conversion"];
    if conversion.is_null() {
        return Vec::new();
    }
    let strategy = conversion["strategy"].as_str().unwrap_or("");
    let mut causes = match strategy {
        "" => vec![Cause::required("spec.conversion.strategy", "")],
        "None" | "Webhook" => Vec::new(),
        _ => vec![Cause::unsupported(
            "spec.conversion.strategy",
            quoted(strategy),
            "\"None\", \"Webhook\"",
        )],
    };
    let webhook = &conversion["webhook"];
    let versions = webhook["conversionReviewVersions"].as_array();
    let versions = versions.map_or(&[][..], Vec::as_slice);
    match strategy {
        "Webhook" => {
            causes.extend(client_faults(&webhook["clientConfig"]));
            causes.extend(version_faults(versions));
        }
        _ => {
            let why = "should not be set when strategy is not set to Webhook";
            if !webhook["clientConfig"].is_null() {
                causes.push(Cause::forbidden(CLIENT, why));
            }
            if !versions.is_empty() {
                causes.push(Cause::forbidden(VERSIONS, why));
            }
        }
    }
    causes
}

/// Authorities that can be read stay so.
pub(super) fn faults_of_change(old: &Value, new: &Value) -> Option<Cause> {
    let bundle = |definition: &Value| {
        let conversion = &definition["spec"]["conversion"];
        let bundle = conversion["webhook"]["clientConfig"]["caBundle"].as_str();
        bundle
            .filter(|_| conversion["strategy"] == "Webhook")
            .map(str::to_owned)
    };
    let now = bundle(new)?;
    let fault = authority_fault(&now)?;
    let was_unreadable = bundle(old).is_some_and(|before| authority_fault(&before).is_some());
    (!was_unreadable).then(|| Cause::invalid(BUNDLE, quoted(&now), fault))
}

fn client_faults(client: &Value) -> Vec<Cause> {
    if client.is_null() {
        return vec![Cause::required(
            CLIENT,
            "required when strategy is set to Webhook",
        )];
    }
    let (url, service) = (&client["url"], &client["service"]);
    match (url.as_str(), service.is_null()) {
        (Some(url), true) => webhook_url_faults(url, &format!("{CLIENT}.url")),
        (None, false) => webhook_service_faults(service, &format!("{CLIENT}.service")),
        _ => vec![Cause::required(
            CLIENT,
            "exactly one of url or service is required",
        )],
    }
}

fn version_faults(versions: &[Value]) -> Vec<Cause> {
    if versions.is_empty() {
        return vec![Cause::required(VERSIONS, "")];
    }
    let mut seen = BTreeSet::new();
    let mut causes = Vec::new();
    for (index, version) in versions.iter().enumerate() {
        let version = version.as_str().unwrap_or("");
        let faults = match seen.insert(version) {
            true => dns_1035_label_faults(version),
            false => vec!["duplicate version"],
        };
        let at = || format!("{VERSIONS}[{index}]");
        let faults = faults.into_iter();
        causes.extend(faults.map(|fault| Cause::invalid(at(), quoted(version), fault)));
    }
    if !seen.iter().any(|version| matches!(*version, "v1" | "v1beta1")) {
        let given = shown(&Value::from(versions));
        causes.push(Cause::invalid(
            VERSIONS,
            given,
            "must include at least one of v1, v1beta1",
        ));
    }
    causes
}
