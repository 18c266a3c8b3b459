//! What a server creates when it starts.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::access::{ROLES, policy};
use crate::api::Api;
use crate::api::write::Writer;
use crate::meta::{Object, rfc3339};
use crate::resources::Resource;
use crate::storage::Transaction;
use crate::target::Target;

/// The objects, but for what depends on the day; one on each line.
const OBJECTS: &str = include_str!("first.jsonl");

impl Api {
    /// Creates the roles and bindings that a cluster begins with.
    pub(crate) fn create_default_roles(&self) {
        self.storage.transact(|transaction| {
            for role in ROLES.lines() {
                let role: Object = serde_json::from_str(role).expect("a role is JSON");
                let plural = format!("{}s", role["kind"].as_str().unwrap_or("").to_lowercase());
                let resource = self.find(policy::GROUP, "v1", &plural).expect("roles are served");
                self.create_first(transaction, resource, role);
            }
        });
        self.settle();
    }

    /// Creates the APIServices, flow schemas and priority levels that a cluster begins with, the range of its Services, and the
    /// date since which tokens are tracked.
    pub(crate) fn create_first_objects(&self) {
        let now = rfc3339(self.now());
        let mut objects: Vec<Object> = OBJECTS
            .lines()
            .map(|object| serde_json::from_str(object).expect("an object is JSON"))
            .collect();
        let others = json!([
            {
                "apiVersion": "networking.k8s.io/v1", "kind": "ServiceCIDR", "metadata": {"name": "kubernetes"},
                "spec": {"cidrs": ["10.96.0.0/12"]},
            },
            {
                "apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"name": "kube-apiserver-legacy-service-account-token-tracking", "namespace": "kube-system"},
                "data": {"since": now.split('T').next()},
            },
        ]);
        objects.extend(
            others
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(|object| object.as_object().cloned()),
        );
        self.storage.transact(|transaction| {
            for mut object in objects {
                for condition in conditions(&mut object) {
                    condition["lastTransitionTime"] = now.as_str().into();
                }
                let kind = object["kind"].as_str().unwrap_or("").to_owned();
                let resource = self
                    .registry()
                    .iter()
                    .find(|resource| resource.kind == kind)
                    .cloned();
                let resource = resource.expect("its kind is served");
                self.create_first(transaction, resource, object);
            }
        });
        self.settle();
    }

    fn create_first(&self, transaction: &mut Transaction<'_>, resource: Arc<Resource>, object: Object) {
        let target = Target {
            namespace: object["metadata"]["namespace"].as_str().map(str::to_owned),
            name: None,
            ..Target::of(resource, "")
        };
        self.create_in(transaction, &target, object, Writer::Owner)
            .expect("the first objects of every cluster are valid");
    }
}

fn conditions(object: &mut Object) -> impl Iterator<Item = &mut Value> {
    let status = object.get_mut("status").and_then(Value::as_object_mut);
    let conditions = status.and_then(|status| status.get_mut("conditions"));
    conditions.and_then(Value::as_array_mut).into_iter().flatten()
}
