//! The control endpoint: faults over HTTP, for servers that run on their own.

use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Response, StatusCode};
use serde_json::json;

use super::{Effect, Faults, Rule};
use crate::api::Api;
use crate::api::options::Query;
use crate::response::{SimBody, json_value, refusal};
use crate::status::StatusError;

/// The answer to a request below `/kube-sim/`.
pub(crate) fn answer(
    api: &Arc<Api>,
    method: &Method,
    path: &[&str],
    query: &Query,
    body: &Bytes,
) -> Response<SimBody> {
    let found = match (method.as_str(), path) {
        ("GET", ["faults"]) => Ok((StatusCode::OK, api.faults.list())),
        ("POST", ["faults"]) => add(api, body).map(|id| (StatusCode::CREATED, json!({"id": id}))),
        ("DELETE", ["faults"]) => {
            Faults::new(api.clone()).clear();
            Ok((StatusCode::OK, json!({})))
        }
        ("DELETE", ["faults", id]) => match id.parse::<u64>() {
            Ok(id) if api.faults.is_active(id) => {
                api.faults.retain(|other| other != id);
                Ok((StatusCode::OK, json!({})))
            }
            _ => Err(StatusError::no_such_resource()),
        },
        ("GET", ["requests"]) => {
            let requests = api.requests.all();
            let requests: Vec<_> = requests.iter().map(ToString::to_string).collect();
            Ok((StatusCode::OK, json!({"requests": requests})))
        }
        ("POST", ["cut-watches"]) => {
            let resource = query.get("resource");
            api.faults.cut(if resource.is_empty() { "*" } else { resource });
            Ok((StatusCode::OK, json!({})))
        }
        ("POST", ["compact"]) => {
            Faults::new(api.clone()).compact();
            Ok((StatusCode::OK, json!({})))
        }
        ("POST", ["restart"]) => {
            Faults::new(api.clone()).restart();
            Ok((StatusCode::OK, json!({})))
        }
        _ => Err(StatusError::no_such_resource()),
    };
    match found {
        Ok((code, value)) => json_value(code, &value),
        Err(error) => refusal(&error),
    }
}

fn add(api: &Api, body: &Bytes) -> Result<u64, StatusError> {
    let mut rule: Rule = serde_json::from_slice(body)
        .map_err(|error| StatusError::bad_request(format!("this is no fault: {error}")))?;
    if let Some(probability) = rule.probability
        && !(0.0..=1.0).contains(&probability)
    {
        let why = format!("this is no fault: probability is {probability}, must be from 0 to 1");
        return Err(StatusError::bad_request(why));
    }
    if matches!(rule.effect, Effect::StaleReads) {
        rule.past = Some(api.storage.backup());
    }
    Ok(api.faults.add(rule))
}
