//! APIServices of what definitions serve: the server registers each version of a group, and forgets it when no definition serves it.

use serde_json::{Value, json};

use super::controller::Controller;
use crate::api::Api;
use crate::api::write::{DEFINITIONS, DeleteOptions, Writer};
use crate::meta::{Object, metadata, rfc3339};
use crate::resources::Resource;
use crate::storage::{Place, Transaction};
use crate::target::Target;

/// The resource of what is registered.
pub(super) const API_SERVICES: &str = "apiservices.apiregistration.k8s.io";

/// The label of those that the server keeps as they are, or removes; others are left alone.
const MANAGED: &str = "kube-aggregator.kubernetes.io/automanaged";

/// The group of a definition or of an APIService, of which either's name is made.
fn group(name: &str) -> &str {
    name.split_once('.').map_or("", |(_, group)| group)
}

fn versions(definition: &Object) -> impl Iterator<Item = &Value> {
    let spec = definition.get("spec");
    spec.and_then(|spec| spec["versions"].as_array())
        .into_iter()
        .flatten()
}

impl Api {
    /// A definition or an APIService has changed: `definition` as it is now, if it is one and not gone.
    pub(super) fn recheck_registration(
        &self,
        transaction: &mut Transaction<'_>,
        resource: &Resource,
        name: &str,
        definition: Option<&Object>,
    ) {
        let id = resource.id();
        if !(id == DEFINITIONS || id == API_SERVICES) || !self.runs(Controller::BootstrapObjects) {
            return;
        }
        let mut services: Vec<String> = match id == API_SERVICES {
            true => vec![name.to_owned()],
            false => self.registered(transaction, group(name)),
        };
        for version in definition
            .into_iter()
            .filter(|_| id == DEFINITIONS)
            .flat_map(versions)
        {
            services.push(format!(
                "{}.{}",
                version["name"].as_str().unwrap_or(""),
                group(name)
            ));
        }
        for service in services {
            transaction.enqueue(Place {
                resource: API_SERVICES.into(),
                key: service.into(),
            });
        }
    }

    /// The names of the APIServices of a group.
    fn registered(&self, transaction: &mut Transaction<'_>, of: &str) -> Vec<String> {
        let Some(resource) = self.registry().of_id(API_SERVICES) else {
            return Vec::new();
        };
        let services = transaction.list(&resource, "");
        let names = services.iter().map(|service| service.name());
        names
            .filter(|name| group(name) == of)
            .map(str::to_owned)
            .collect()
    }

    /// Makes the APIService of this name be what definitions ask for.
    pub(super) fn register(&self, transaction: &mut Transaction<'_>, target: &Target) {
        let name = target.name.as_deref().unwrap_or("");
        let wanted = self.is_served(transaction, name);
        match self.current(transaction, target) {
            Ok((current, object)) => {
                // Those of the server's own groups are managed `onstart`.
                let labels = metadata(&object).get("labels");
                if labels.is_none_or(|labels| labels[MANAGED] != "true") {
                    return;
                }
                if !wanted {
                    return self.delete_here(
                        transaction,
                        target,
                        &current,
                        object,
                        &DeleteOptions::default(),
                    );
                }
                let spec = spec(name);
                if object.get("spec") != Some(&spec) {
                    self.change_here(transaction, target, |object| {
                        _ = object.insert("spec".into(), spec)
                    });
                }
            }
            Err(_) if wanted => {
                let available = json!({
                    "type": "Available", "status": "True", "reason": "Local", "lastTransitionTime": rfc3339(self.now()),
                    "message": "Local APIServices are always available",
                });
                let service = json!({
                    "metadata": {"name": name, "labels": {MANAGED: "true"}},
                    "spec": spec(name), "status": {"conditions": [available]},
                });
                if let Value::Object(service) = service {
                    let kind = Target::of(target.resource.clone(), "");
                    // It is not there, and its name is made of valid ones.
                    let _ = self.create_in(transaction, &kind, service, Writer::Owner);
                }
            }
            Err(_) => {}
        }
    }

    /// Whether a definition serves a version of a group, which the name has.
    fn is_served(&self, transaction: &mut Transaction<'_>, name: &str) -> bool {
        let (Some((version, of)), Some(definitions)) =
            (name.split_once('.'), self.registry().of_id(DEFINITIONS))
        else {
            return false;
        };
        let head = definitions.head("v1");
        let definitions = transaction.list(&definitions, "");
        let mut of_group = definitions
            .iter()
            .filter(|definition| group(definition.name()) == of);
        of_group.any(|definition| {
            versions(&definition.decode(&head)).any(|one| one["name"] == version && one["served"] == true)
        })
    }
}

fn spec(name: &str) -> Value {
    let (version, group) = name.split_once('.').unwrap_or((name, ""));
    json!({"group": group, "groupPriorityMinimum": 1000, "version": version, "versionPriority": 100})
}
