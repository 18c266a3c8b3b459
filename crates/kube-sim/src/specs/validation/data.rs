//! ConfigMaps and Secrets.

use super::at::{At, Causes};

pub(super) fn config_map(object: &At<'_>, causes: &mut Causes) {
    for field in ["data", "binaryData"] {
        for (key, entry) in object.entries(field) {
            let shown = crate::status::quoted(key);
            causes.extend(key_fault(key).map(|fault| entry.invalid_as(&shown, &fault)));
            if field == "data" && !object.get("binaryData")[key].is_null() {
                causes.push(entry.invalid_as(&shown, "duplicate of key present in binaryData"));
            }
        }
    }
}

/// Why a string cannot be a key of a ConfigMap or a Secret.
pub(super) fn key_fault(key: &str) -> Option<String> {
    let fits = !key.is_empty()
        && key
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b));
    match key {
        _ if key.len() > 253 => Some("must be no more than 253 characters".into()),
        _ if !fits => Some(
            "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or \
             'key-name', regex used for validation is '[-._a-zA-Z0-9]+')"
                .into(),
        ),
        "." => Some("must not be '.'".into()),
        ".." => Some("must not be '..'".into()),
        _ if key.starts_with("..") => Some("must not start with '..'".into()),
        _ => None,
    }
}

/// A Secret of a type that Kubernetes knows has some keys.
pub(super) fn secret(object: &At<'_>, causes: &mut Causes) {
    config_map(object, causes);
    let is_there = |key: &str| object.get("data")[key].is_string();
    let mut need = |keys: &[&str]| {
        let missing = keys.iter().filter(|key| !is_there(key));
        causes.extend(missing.map(|key| object.entry("data", key).required("")));
    };
    match object.text_at("type") {
        "kubernetes.io/tls" => need(&["tls.crt", "tls.key"]),
        "kubernetes.io/ssh-auth" => need(&["ssh-privatekey"]),
        "kubernetes.io/basic-auth" if !is_there("username") && !is_there("password") => {
            need(&["username", "password"]);
        }
        "kubernetes.io/dockerconfigjson" => need(&[".dockerconfigjson"]),
        "kubernetes.io/dockercfg" => need(&[".dockercfg"]),
        "kubernetes.io/service-account-token" => {
            const ACCOUNT: &str = "kubernetes.io/service-account.name";
            let metadata = object.at("metadata");
            let account = metadata.entry("annotations", ACCOUNT);
            account.need(causes);
        }
        _ => {}
    }
}
