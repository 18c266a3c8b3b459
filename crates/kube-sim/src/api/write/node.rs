//! What the node of a pod gives to it, and what it has no room for.

use serde_json::{Value, json};

use crate::api::Api;
use crate::limits;
use crate::meta::{Object, metadata, metadata_mut};
use crate::nesting;
use crate::quantity::{Amount, Quantity};
use crate::status::StatusError;
use crate::storage::Transaction;
use crate::target::Target;

/// The labels of a node that its pods have, too.
pub(super) const TOPOLOGY: [&str; 2] = ["topology.kubernetes.io/region", "topology.kubernetes.io/zone"];
const SYSTEM: &str = "kubernetes.io/os";

impl Api {
    /// Gives a new pod that has a node the labels that say where that is.
    pub(super) fn label_by_node(&self, transaction: &mut Transaction<'_>, target: &Target, pod: &mut Object) {
        if target.resource.id() != "pods" || target.subresource.is_some() {
            return;
        }
        let node = node_of(pod).to_owned();
        self.put_labels_of_node(transaction, &node, &TOPOLOGY, pod);
    }

    /// Gives a pod these labels of its node, in the place of its own.
    pub(super) fn put_labels_of_node(
        &self,
        transaction: &mut Transaction<'_>,
        node: &str,
        names: &[&str],
        pod: &mut Object,
    ) {
        let Some(node) = self.node(transaction, node) else {
            return;
        };
        let labels = metadata(&node).get("labels").and_then(Value::as_object);
        let labels = labels.into_iter().flatten();
        for (name, value) in labels.filter(|(name, _)| names.contains(&name.as_str())) {
            let own = metadata_mut(pod).entry("labels").or_insert_with(|| json!({}));
            if let Some(own) = own.as_object_mut() {
                own.insert(name.clone(), value.clone());
            }
        }
    }

    /// Refuses to resize a pod to what its node does not have, or cannot do.
    pub(super) fn check_room(
        &self,
        transaction: &mut Transaction<'_>,
        target: &Target,
        name: &str,
        [old, new]: [&Object; 2],
    ) -> Result<(), StatusError> {
        let node = node_of(new);
        let is_resized =
            target.subresource.as_deref() == Some("resize") && old.get("spec") != new.get("spec");
        if !is_resized || node.is_empty() {
            return Ok(());
        }
        let refused = |why: &str| StatusError::forbidden(&target.resource, name, why);
        let Some(found) = self.node(transaction, node) else {
            return Err(refused(&format!("node \"{node}\" not found")));
        };
        let because = |reason: &str, why: &str| {
            let details = json!({"name": name, "kind": "pods", "causes": [{"reason": reason}]});
            refused(why).with_details(details)
        };
        let system = metadata(&found)
            .get("labels")
            .and_then(|labels| labels[SYSTEM].as_str());
        if let Some(system) = system.filter(|system| *system != "linux") {
            let why = format!("pod resize is only supported on linux nodes, node \"{node}\" is \"{system}\"");
            return Err(because("UnsupportedPlatform", &why));
        }
        let lacking = lacking(new, &found);
        match lacking.is_empty() {
            true => Ok(()),
            false => {
                let why = format!(
                    "node didn't have enough allocatable resources: {}",
                    lacking.join("; ")
                );
                Err(because("NodeCapacity", &why))
            }
        }
    }

    fn node(&self, transaction: &mut Transaction<'_>, name: &str) -> Option<Object> {
        let nodes = self.find("", "v1", "nodes").filter(|_| !name.is_empty())?;
        let stored = transaction.get(&nodes, name)?;
        let target = Target::of(nodes, &stored.key);
        Some(nesting::with_room(stored.depth, || target.decode(&stored)))
    }
}

fn node_of(pod: &Object) -> &str {
    pod.get("spec")
        .and_then(|spec| spec["nodeName"].as_str())
        .unwrap_or("")
}

/// What a pod requests more of than a node has.
fn lacking(pod: &Object, node: &Object) -> Vec<String> {
    let there = node
        .get("status")
        .map(|status| Amount::read_all(&status["allocatable"]))
        .unwrap_or_default();
    let asked = limits::requests(pod);
    let quantity = |amount: Option<&Amount>| amount.map_or(Quantity::ZERO, Amount::quantity);
    let lacking = [("cpu", 1000), ("memory", 1)].map(|(name, parts)| {
        let (asked, there) = (quantity(asked.get(name)), quantity(there.get(name)));
        (asked > there).then(|| {
            let [asked, there] = [asked, there].map(|quantity| quantity.in_parts(parts));
            format!("{name}, requested: {asked}, allocatable: {there}")
        })
    });
    lacking.into_iter().flatten().collect()
}
