//! All resources of a server.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Resource;
use super::builtin::BUILTIN;

/// All resources of a server, in the order discovery shows them.
#[derive(Debug, Clone)]
pub(crate) struct Registry {
    /// By group and plural. A custom resource is there once for each version that is served, a built-in one once.
    resources: BTreeMap<(String, String), Vec<Arc<Resource>>>,
    /// The names that definitions have got, by the definitions' names.
    names: BTreeMap<String, Names>,
}

/// The names that a definition has got.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Names {
    pub(crate) group: String,
    pub(crate) resources: BTreeSet<String>,
    pub(crate) kinds: BTreeSet<String>,
    /// Whether it waits for others to give up some that it wants.
    pub(crate) is_waiting: bool,
}

impl Registry {
    /// The built-in kinds.
    pub(crate) fn builtin() -> Self {
        let resources = BUILTIN.iter().map(Resource::builtin);
        Self {
            resources: resources
                .map(|r| ((r.group.clone(), r.plural.clone()), vec![Arc::new(r)]))
                .collect(),
            names: BTreeMap::new(),
        }
    }

    /// Adds what a custom resource definition defines, or replaces what it defined before.
    ///
    /// Watches of what was defined before end, unless it is the same.
    pub(crate) fn define(&mut self, mut resources: Vec<Resource>) {
        let Some(first) = resources.first() else { return };
        let key = (first.group.clone(), first.plural.clone());
        let before = self.resources.get(&key);
        let before = before
            .and_then(|before| before.first())
            .filter(|before| before.custom);
        let is_same = before.is_some_and(|before| {
            let (since, terminating) = (before.since, before.terminating);
            let now = Resource {
                since,
                terminating,
                ..first.clone()
            };
            **before == now
        });
        if let (true, Some(before)) = (is_same, before) {
            if before.terminating == first.terminating {
                return;
            }
            for resource in &mut resources {
                resource.since = before.since;
                resource.definition = before.definition.clone();
            }
        }
        self.resources
            .insert(key, resources.into_iter().map(Arc::new).collect());
    }

    /// Whether the resource's definition says the same now.
    pub(crate) fn is_current(&self, resource: &Resource) -> bool {
        let now = self.all_of(&resource.group, &resource.plural);
        now.iter()
            .any(|now| Arc::ptr_eq(&now.definition, &resource.definition))
    }

    fn all_of(&self, group: &str, plural: &str) -> &[Arc<Resource>] {
        let key = (group.to_owned(), plural.to_owned());
        self.resources.get(&key).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn undefine(&mut self, group: &str, plural: &str) -> Option<Arc<Resource>> {
        let first = self
            .all_of(group, plural)
            .first()
            .filter(|first| first.custom)?
            .clone();
        self.resources.remove(&(group.to_owned(), plural.to_owned()));
        Some(first)
    }

    /// Takes note of the names that a definition has; returns whether others of its group may get some now.
    pub(crate) fn note_names(&mut self, definition: &str, names: Option<Names>) -> bool {
        let before = self.names.remove(definition).unwrap_or_default();
        let now = names.clone().unwrap_or_default();
        self.names
            .extend(names.map(|names| (definition.to_owned(), names)));
        !before.resources.is_subset(&now.resources) || !before.kinds.is_subset(&now.kinds)
    }

    /// The names of definitions of a group.
    pub(crate) fn names_in<'a>(&'a self, group: &'a str) -> impl Iterator<Item = (&'a String, &'a Names)> {
        self.names.iter().filter(move |(_, names)| names.group == group)
    }

    /// Leaves only the built-in kinds.
    pub(crate) fn forget_definitions(&mut self) {
        self.resources
            .retain(|_, all| all.iter().all(|resource| !resource.custom));
        self.names.clear();
    }

    pub(crate) fn find(&self, group: &str, version: &str, plural: &str) -> Option<Arc<Resource>> {
        self.in_version(self.all_of(group, plural), version)
    }

    fn in_version(&self, all: &[Arc<Resource>], version: &str) -> Option<Arc<Resource>> {
        let first = all.first()?;
        let is_served = first.versions.iter().any(|served| served == version);
        let mut all = all
            .iter()
            .filter(|resource| !resource.custom || &*resource.version == version);
        all.next().filter(|_| is_served).cloned()
    }

    /// The resources that are served in a version of a group.
    pub(crate) fn of_version<'a>(
        &'a self,
        group: &'a str,
        version: &'a str,
    ) -> impl Iterator<Item = Arc<Resource>> + 'a {
        let of_group = self
            .resources
            .values()
            .filter(move |all| all.iter().all(|r| r.group == group));
        let served = of_group.filter_map(move |all| self.in_version(all, version));
        served.filter(|resource| resource.established)
    }

    /// The resource that error messages call `id`.
    pub(crate) fn of_id(&self, id: &str) -> Option<Arc<Resource>> {
        let (plural, group) = id.split_once('.').unwrap_or((id, ""));
        self.all_of(group, plural).first().cloned()
    }

    /// The resource of an object's `apiVersion` and `kind`, and the version.
    pub(crate) fn of_kind(&self, api_version: &str, kind: &str) -> Option<(Arc<Resource>, String)> {
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let first = self.iter().find(|r| r.group == group && r.kind == kind)?;
        let resource = self.find(group, version, &first.plural)?;
        Some((resource, version.to_owned()))
    }

    /// All resources; of the versions of a custom resource, the one in which objects are stored.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Arc<Resource>> {
        self.resources.values().filter_map(|all| all.first())
    }

    /// Those that clients are told of.
    pub(crate) fn shown(&self) -> impl Iterator<Item = &Arc<Resource>> {
        self.iter().filter(|resource| resource.established)
    }
}
