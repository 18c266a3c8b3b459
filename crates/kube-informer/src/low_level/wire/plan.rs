//! Plans: what a scan prunes and extracts in addition to metadata.

use crate::field_path::FieldPath;
use smallvec::SmallVec;
use std::{
    hash::{Hash, Hasher},
    sync::{Arc, LazyLock},
};

/// What a scan handles in addition to metadata: paths to prune and fields to extract.
///
/// A plan is built once and used for every object, so that one pass over an object's bytes extracts everything that
/// is needed. A clone is cheap. `FieldPlan::default()` prunes and extracts nothing. That is not the default of all forms: without a
/// plan, a collection has [its form's](crate::form#pruning).
///
/// ```
/// use kube_informer::{FieldPath, FieldPlan, low_level::wire::{Encoding, RawObject}};
///
/// let plan = FieldPlan::new([FieldPath::parse("/metadata/managedFields")?], [FieldPath::parse("/spec/nodeName")?])?;
/// let body = r#"{"metadata":{"name":"a","managedFields":[{}]},"spec":{"nodeName":"node-1"}}"#;
/// let raw = RawObject::scan_with(Encoding::Json, body.into(), &plan)?;
/// assert_eq!(*raw.body(), *br#"{"metadata":{"name":"a"},"spec":{"nodeName":"node-1"}}"#);
/// assert_eq!(raw.extracted(0).collect::<Vec<_>>(), [b"\"node-1\""]);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct FieldPlan {
    paths: Arc<Paths>,
    /// The seed of fingerprints, if they are compared with those of another process.
    seed: Option<u64>,
    /// Whether a fingerprint stands for uid and version, not for the body.
    by_version: bool,
}

#[derive(Debug, Default)]
struct Paths {
    pruned: Vec<FieldPath>,
    fields: Vec<FieldPath>,
    root: Node,
    prunes_managed_fields: bool,
}

/// A path cannot be pruned, because the object could not be stored without it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0} cannot be pruned: an object is not kept without it")]
pub struct PruneError(pub FieldPath);

/// The part of a plan that applies to the value of a member.
#[derive(Debug, Default)]
pub(super) struct Node {
    members: Vec<(Box<str>, Node)>,
    pub(super) prune: bool,
    /// The numbers of the fields whose path ends here.
    pub(super) fields: Vec<u16>,
}

/// The nodes that match a member: one by its name, one by a wildcard.
pub(super) type Nodes<'p> = SmallVec<[&'p Node; 2]>;

const WILDCARD: &str = "*";

impl FieldPlan {
    /// A plan that prunes the paths `pruned` with everything below them, and extracts `fields`, which are numbered in
    /// their order.
    ///
    /// # Errors
    /// `pruned` contains `metadata` itself, its name, namespace, uid or resource version, `kind` or `apiVersion`.
    ///
    /// # Panics
    /// There are more than 65,536 fields.
    pub fn new(
        pruned: impl IntoIterator<Item = FieldPath>,
        fields: impl IntoIterator<Item = FieldPath>,
    ) -> Result<Self, PruneError> {
        let mut pruned: Vec<_> = pruned.into_iter().collect();
        pruned.sort();
        pruned.dedup();
        if let Some(path) = pruned.iter().find(|path| is_vital(path)) {
            return Err(PruneError(path.clone()));
        }
        let mut paths = Paths {
            prunes_managed_fields: pruned.iter().any(is_managed_fields),
            pruned,
            fields: fields.into_iter().collect(),
            root: Node::default(),
        };
        paths.grow();
        Ok(Self {
            paths: Arc::new(paths),
            seed: None,
            by_version: false,
        })
    }

    /// A plan that prunes `metadata.managedFields`, which is a third to a half of a usual object, and of use to few programs.
    pub fn without_managed_fields() -> Self {
        static PLAN: LazyLock<FieldPlan> = LazyLock::new(|| {
            let path = FieldPath::parse("/metadata/managedFields").expect("a path");
            FieldPlan::new([path], []).expect("objects are kept without it")
        });
        PLAN.clone()
    }

    /// The pruned paths, in order.
    pub fn pruned(&self) -> &[FieldPath] {
        &self.paths.pruned
    }

    /// The extracted fields, in the given order.
    pub fn fields(&self) -> &[FieldPath] {
        &self.paths.fields
    }

    /// Whether `metadata.managedFields` is pruned.
    pub(crate) fn prunes_managed_fields(&self) -> bool {
        self.paths.prunes_managed_fields
    }

    /// Whether nothing else is pruned and no field is extracted.
    #[cfg(feature = "protobuf")]
    pub(crate) fn prunes_at_most_managed_fields(&self) -> bool {
        self.fields().is_empty() && self.pruned().iter().all(is_managed_fields)
    }

    /// The same plan, whose scans make fingerprints with this seed instead of the process's own. Plans that differ only in
    /// their fingerprints are equal.
    pub(crate) fn with_seed(&self, seed: u64) -> Self {
        Self {
            seed: Some(seed),
            ..self.clone()
        }
    }

    /// The same plan, whose scans make fingerprints that do not depend on the encoding: hashes of uid and resource version,
    /// which stand for one state of an object. An object without one of them has that of its body.
    pub(crate) fn by_version(&self) -> Self {
        Self {
            by_version: true,
            ..self.clone()
        }
    }

    pub(super) fn seed(&self) -> Option<u64> {
        self.seed
    }

    pub(super) fn is_by_version(&self) -> bool {
        self.by_version
    }

    pub(super) fn root(&self) -> &Node {
        &self.paths.root
    }
}

impl Paths {
    /// Makes the nodes of the paths.
    fn grow(&mut self) {
        for path in &self.pruned {
            self.root.at(path).prune = true;
        }
        for (number, path) in self.fields.iter().enumerate() {
            let number = u16::try_from(number).expect("no more than 65,536 fields");
            self.root.at(path).fields.push(number);
        }
    }
}

impl PartialEq for FieldPlan {
    fn eq(&self, other: &Self) -> bool {
        (self.pruned(), self.fields()) == (other.pruned(), other.fields())
    }
}

impl Eq for FieldPlan {}

impl Hash for FieldPlan {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.pruned(), self.fields()).hash(state);
    }
}

fn is_managed_fields(path: &FieldPath) -> bool {
    path.steps().eq(["metadata", "managedFields"])
}

fn is_vital(path: &FieldPath) -> bool {
    let is = |step: &str, name| step == name || step == WILDCARD;
    let steps: SmallVec<[&str; 4]> = path.steps().collect();
    match steps[..] {
        [top] => ["metadata", "kind", "apiVersion"]
            .iter()
            .any(|name| is(top, *name)),
        [top, member] => {
            let vital = ["name", "namespace", "uid", "resourceVersion"];
            is(top, "metadata") && vital.iter().any(|name| is(member, *name))
        }
        _ => false,
    }
}

impl Node {
    fn at(&mut self, path: &FieldPath) -> &mut Self {
        path.steps().fold(self, |node, step| {
            let at = node.members.iter().position(|(name, _)| **name == *step);
            let at = at.unwrap_or_else(|| {
                node.members.push((step.into(), Self::default()));
                node.members.len() - 1
            });
            &mut node.members[at].1
        })
    }

    /// Whether the plan has paths below this node.
    pub(super) fn is_inner(&self) -> bool {
        !self.members.is_empty()
    }
}

/// The nodes for the member `name` of objects at `nodes`.
pub(super) fn member<'p>(nodes: &[&'p Node], name: &[u8]) -> Nodes<'p> {
    let members = nodes.iter().flat_map(|node| &node.members);
    members
        .filter(|(step, _)| step.as_bytes() == name || **step == *WILDCARD)
        .map(|(_, node)| node)
        .collect()
}

/// The nodes for the items of arrays at `nodes`.
pub(super) fn item<'p>(nodes: &[&'p Node]) -> Nodes<'p> {
    let members = nodes.iter().flat_map(|node| &node.members);
    members
        .filter(|(step, _)| **step == *WILDCARD)
        .map(|(_, node)| node)
        .collect()
}
