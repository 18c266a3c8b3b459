//! Reviews: questions about who somebody is and what he may do. There is no authentication and no authorization here, so
//! everybody may do everything, and only tokens of service accounts that were made here speak for somebody.

use serde_json::{Map, Value, json};

use crate::api::write::set_managers;
use crate::api::{Api, Target, rfc3339};
use crate::apply::Ownership;

impl Api {
    /// Answers a review: the object with its status.
    pub(crate) fn review(&self, target: &Target, mut object: Map<String, Value>, manager: &str) -> Value {
        let resource = &target.resource;
        object.insert("kind".into(), resource.kind.as_str().into());
        object.insert("apiVersion".into(), resource.api_version(&target.version).into());
        let managed = Ownership::new(target, self.now()).track(None, None, &object, None, manager);
        set_managers(&mut object, managed);
        let status = match resource.plural.as_str() {
            "selfsubjectreviews" => {
                object.insert(
                    "metadata".into(),
                    json!({"creationTimestamp": rfc3339(self.now())}),
                );
                json!({"userInfo": {"username": "kube-sim", "groups": ["system:masters", "system:authenticated"]}})
            }
            "selfsubjectrulesreviews" => json!({
                "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}],
                "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
                "incomplete": false,
            }),
            "tokenreviews" => {
                let token = object.get("spec").and_then(|spec| spec["token"].as_str());
                match token.and_then(|token| self.user_of(token)) {
                    Some((user, audiences)) => {
                        json!({"authenticated": true, "user": user, "audiences": audiences})
                    }
                    None => json!({"user": {}, "error": "invalid bearer token"}),
                }
            }
            _ => json!({"allowed": true}),
        };
        object.insert("status".into(), status);
        Value::Object(object)
    }
}
