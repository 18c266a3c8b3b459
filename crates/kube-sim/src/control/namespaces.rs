//! Namespaces: what they begin with, and how they end.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::controller::Controller;
use super::finalizers;
use crate::api::Api;
use crate::api::write::{DeleteOptions, Propagation, Writer, namespace_finalizers};
use crate::meta::Object;
use crate::meta::rfc3339;
use crate::object::Stored;
use crate::resources::Resource;
use crate::storage::Transaction;
use crate::target::Target;

/// The ConfigMap with the authority that clients in pods trust.
const ROOT_CA: &str = "kube-root-ca.crt";

/// A certificate whose key nobody has: nothing here speaks TLS.
const CERTIFICATE: &str = include_str!("root-ca.pem");

/// The Service of the API server, which is in one namespace only.
const KUBERNETES: &str = "kubernetes";

/// Its address, which is no other Service's.
const ADDRESS: &str = "10.96.0.1";

/// Whether an object of this name is one that each namespace has, or `default`.
pub(super) fn published(resource: &Resource, name: &str) -> bool {
    match resource.id().as_str() {
        "configmaps" => name == ROOT_CA,
        "serviceaccounts" => name == "default",
        "services" => name == KUBERNETES,
        _ => false,
    }
}

impl Api {
    /// Gives a namespace the objects that each has.
    pub(super) fn publish_into(&self, transaction: &mut Transaction<'_>, namespace: &Stored) {
        let describe = "Contains a CA bundle that can be used to verify the kube-apiserver when using internal \
                        endpoints such as the internal service IP or kubernetes.default.svc. No other usage is \
                        guaranteed across distributions of Kubernetes clusters.";
        let root_ca = json!({
            "metadata": {"name": ROOT_CA, "annotations": {"kubernetes.io/description": describe}},
            "data": {"ca.crt": CERTIFICATE},
        });
        let account = json!({"metadata": {"name": "default"}});
        let kubernetes = json!({
            "metadata": {"name": KUBERNETES, "labels": {"component": "apiserver", "provider": "kubernetes"}},
            "spec": {
                "ports": [{"name": "https", "protocol": "TCP", "port": 443, "targetPort": 6443}],
                "clusterIP": ADDRESS, "clusterIPs": [ADDRESS], "type": "ClusterIP", "sessionAffinity": "None",
                "ipFamilies": ["IPv4"], "ipFamilyPolicy": "SingleStack", "internalTrafficPolicy": "Cluster",
            },
            "status": {"loadBalancer": {}},
        });
        for (controller, plural, object) in [
            (Controller::RootCaPublisher, "configmaps", root_ca),
            (Controller::ServiceAccount, "serviceaccounts", account),
            (Controller::KubernetesService, "services", kubernetes),
        ] {
            let (true, Some(resource), Value::Object(object)) =
                (self.runs(controller), self.find("", "v1", plural), object)
            else {
                continue;
            };
            if controller == Controller::KubernetesService && namespace.name() != "default" {
                continue;
            }
            let target = Target {
                namespace: Some(namespace.name().to_owned()),
                name: None,
                ..Target::of(resource, "")
            };
            // It may be there already.
            let _ = self.create_in(transaction, &target, object, Writer::Owner);
        }
    }

    /// Deletes what is in the namespace; when nothing is left, the namespace may go.
    pub(super) fn end_namespace(&self, transaction: &mut Transaction<'_>, target: &Target, object: &Object) {
        if !namespace_finalizers(object).contains(&"kubernetes") {
            return;
        }
        let prefix = format!("{}/", target.name.as_deref().unwrap_or(""));
        let options = DeleteOptions {
            propagation: Some(Propagation::Background),
            ..DeleteOptions::default()
        };
        let (mut remaining, mut held) = (BTreeMap::new(), BTreeMap::new());
        let registry = self.registry();
        for resource in registry
            .iter()
            .filter(|resource| resource.namespaced && resource.is_stored())
        {
            for current in transaction.list(resource, &prefix) {
                let inner = Target::of(resource.clone(), &current.key);
                if !current.deleting {
                    let object = inner.decode(&current);
                    self.delete_here(transaction, &inner, &current, object, &options);
                }
                let Ok((_, left)) = self.current(transaction, &inner) else {
                    continue;
                };
                *remaining.entry((&resource.plural, &resource.group)).or_insert(0) += 1;
                for finalizer in finalizers(&left) {
                    *held.entry(finalizer.to_owned()).or_insert(0) += 1;
                }
            }
        }
        let conditions = self.conditions(object, &remaining, &held);
        let done = remaining.is_empty();
        self.change_here(transaction, target, |object| {
            object.entry("status").or_insert_with(|| json!({}))["conditions"] = conditions;
        });
        if done {
            self.change_here(transaction, target, |object| {
                let left = namespace_finalizers(object)
                    .into_iter()
                    .filter(|finalizer| *finalizer != "kubernetes");
                let left: Vec<Value> = left.map(Value::from).collect();
                let spec = match left.is_empty() {
                    true => json!({}),
                    false => json!({"finalizers": left}),
                };
                object.insert("spec".into(), spec);
            });
        }
    }

    /// What a namespace says about its deletion.
    fn conditions(
        &self,
        namespace: &Object,
        remaining: &BTreeMap<(&String, &String), usize>,
        held: &BTreeMap<String, usize>,
    ) -> Value {
        let joined = |parts: Vec<String>| parts.join(", ");
        let resources = remaining
            .iter()
            .map(|((plural, group), n)| format!("{plural}.{group} has {n} resource instances"));
        let finalizers = held
            .iter()
            .map(|(finalizer, n)| format!("{finalizer} in {n} resource instances"));
        let (resources, finalizers) = (joined(resources.collect()), joined(finalizers.collect()));
        let rows = [
            (
                "NamespaceDeletionDiscoveryFailure",
                None,
                "ResourcesDiscovered",
                "All resources successfully discovered",
            ),
            (
                "NamespaceDeletionGroupVersionParsingFailure",
                None,
                "ParsedGroupVersions",
                "All legacy kube types successfully parsed",
            ),
            (
                "NamespaceDeletionContentFailure",
                None,
                "ContentDeleted",
                "All content successfully deleted, may be waiting on finalization",
            ),
            (
                "NamespaceContentRemaining",
                (!remaining.is_empty()).then(|| {
                    (
                        "SomeResourcesRemain",
                        format!("Some resources are remaining: {resources}"),
                    )
                }),
                "ContentRemoved",
                "All content successfully removed",
            ),
            (
                "NamespaceFinalizersRemaining",
                (!held.is_empty()).then(|| {
                    let message =
                        format!("Some content in the namespace has finalizers remaining: {finalizers}");
                    ("SomeFinalizersRemain", message)
                }),
                "ContentHasNoFinalizers",
                "All content-preserving finalizers finished",
            ),
        ];
        let now = rfc3339(self.now());
        let before = namespace
            .get("status")
            .and_then(|status| status["conditions"].as_array());
        let since = |kind: &str, status: &str| {
            let same = |condition: &&Value| condition["type"] == kind && condition["status"] == status;
            let old = before.into_iter().flatten().find(same)?;
            old["lastTransitionTime"].as_str().map(str::to_owned)
        };
        rows.into_iter()
            .map(|(kind, trouble, reason, message)| {
                let status = if trouble.is_some() { "True" } else { "False" };
                let (reason, message) = trouble.unwrap_or_else(|| (reason, message.to_owned()));
                json!({
                    "type": kind, "status": status, "reason": reason, "message": message,
                    "lastTransitionTime": since(kind, status).unwrap_or_else(|| now.clone()),
                })
            })
            .collect()
    }
}
