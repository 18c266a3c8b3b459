//! Classes of claims and ingresses: what names none gets the default one, and a claim grows only if its class allows it.

use std::sync::Arc;

use serde_json::Value;

use super::Target;
use crate::api::Api;
use crate::meta::{Object, metadata, text};
use crate::quantity::{Amount, Quantity};
use crate::resources::Resource;
use crate::status::StatusError;
use crate::storage::Transaction;

/// Annotations of default StorageClasses.
const OF_STORAGE: [&str; 2] = [
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
];

/// The annotation of a default IngressClass.
const OF_INGRESSES: [&str; 1] = ["ingressclass.kubernetes.io/is-default-class"];

impl Api {
    /// Gives a new claim that names no StorageClass the default one.
    pub(super) fn give_storage_class(&self, transaction: &mut Transaction<'_>, claim: &mut Object) {
        let classes = self.find("storage.k8s.io", "v1", "storageclasses");
        self.give_class(
            transaction,
            classes,
            &OF_STORAGE,
            claim,
            "volume.beta.kubernetes.io/storage-class",
            "storageClassName",
        );
    }

    /// Gives a new ingress that names no IngressClass the default one.
    pub(super) fn give_ingress_class(&self, transaction: &mut Transaction<'_>, ingress: &mut Object) {
        let classes = self.find("networking.k8s.io", "v1", "ingressclasses");
        self.give_class(
            transaction,
            classes,
            &OF_INGRESSES,
            ingress,
            "kubernetes.io/ingress.class",
            "ingressClassName",
        );
    }

    /// `annotation` and `field` are where an object names its class.
    fn give_class(
        &self,
        transaction: &mut Transaction<'_>,
        classes: Option<Arc<Resource>>,
        of_default: &[&str],
        object: &mut Object,
        annotation: &str,
        field: &str,
    ) {
        let names_one = metadata(object)
            .get("annotations")
            .is_some_and(|all| all.get(annotation).is_some());
        let (Some(classes), Some(Value::Object(spec)), false) = (classes, object.get_mut("spec"), names_one)
        else {
            return;
        };
        if spec.get(field).is_some_and(|class| !class.is_null()) {
            return;
        }
        let head = classes.head("v1");
        let all = transaction.list(&classes, "");
        let all = all.iter().map(|class| class.decode(&head));
        let is_default = |class: &Object| {
            let annotations = metadata(class).get("annotations");
            let is_set = |name: &str| annotations.is_some_and(|all| all[name] == "true");
            of_default.iter().any(|name| is_set(name))
        };
        let told = |class: &Object, name: &str| text(metadata(class), name).to_owned();
        // The newest, and of several that are, the first by name, as they are listed.
        let newest = all.filter(is_default).reduce(|first, class| {
            match told(&class, "creationTimestamp") > told(&first, "creationTimestamp") {
                true => class,
                false => first,
            }
        });
        if let Some(class) = newest {
            spec.insert(field.into(), told(&class, "name").into());
        }
    }

    /// Refuses a claim that is to grow, unless its StorageClass lets it.
    pub(super) fn check_growth(
        &self,
        transaction: &mut Transaction<'_>,
        target: &Target,
        [old, new]: [&Object; 2],
        name: &str,
    ) -> Result<(), StatusError> {
        let resource = &target.resource;
        if resource.id() != "persistentvolumeclaims" || target.subresource.is_some() {
            return Ok(());
        }
        if size(new) <= size(old) {
            return Ok(());
        }
        let forbidden = |why: &str| Err(StatusError::forbidden(resource, name, why));
        if old.get("status").is_none_or(|status| status["phase"] != "Bound") {
            return forbidden("Only bound persistent volume claims can be expanded");
        }
        let (class, before) = (class_of(new), class_of(old));
        let classes = self.find("storage.k8s.io", "v1", "storageclasses");
        let allows = classes
            .filter(|_| !class.is_empty() && class == before)
            .and_then(|classes| {
                let class = transaction.get(&classes, class)?.decode(&classes.head("v1"));
                class.get("allowVolumeExpansion")?.as_bool()
            });
        match allows {
            Some(true) => Ok(()),
            _ => forbidden(
                "only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support \
                 resize",
            ),
        }
    }
}

/// How much a claim asks for.
fn size(claim: &Object) -> Option<Quantity> {
    let requests = &claim.get("spec")?["resources"]["requests"];
    let mut amounts = Amount::read_all(requests).into_iter();
    let (_, amount) = amounts.find(|(name, _)| *name == "storage")?;
    Some(amount.quantity())
}

/// The class that a claim names.
fn class_of(claim: &Object) -> &str {
    let annotations = metadata(claim).get("annotations");
    let old = annotations.and_then(|all| all.get("volume.beta.kubernetes.io/storage-class"));
    let class = old.or_else(|| claim.get("spec")?.get("storageClassName"));
    class.and_then(Value::as_str).unwrap_or("")
}
