//! Access to a cluster's objects from the process that runs it.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::api::Api;
use crate::api::write::{DeleteOptions, Deleted, Writer};
use crate::nesting;
use crate::object::Stored;
use crate::status::StatusError;
use crate::target::Target;
use crate::view;

/// Reads and changes a cluster's objects without HTTP.
///
/// The store is the owner of the cluster, not a client. It checks metadata, names, namespaces and versions.
/// It does not check specs, schemas or CEL rules, asks no admission, and adds no defaults and no protection
/// finalizers. To test these, write through a `kube::Client`.
///
/// The status of an object is written with the rest of it, a given uid or creation timestamp is kept, an
/// object may be of any size, and `managedFields` are not kept: they are as given, or as they were if none
/// are given. Watches receive each change.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use kube_sim::Sim;
/// use serde_json::json;
///
/// let store = Sim::builder().build()?.store();
/// let made = store.create(json!({
///     "apiVersion": "v1", "kind": "ConfigMap",
///     "metadata": {"name": "a", "namespace": "default"}, "data": {"k": "1"},
/// }))?;
/// assert_eq!(made["metadata"]["resourceVersion"], store.resource_version().to_string());
/// store.delete("v1", "ConfigMap", Some("default"), "a")?;
/// assert!(store.get("v1", "ConfigMap", Some("default"), "a").is_err());
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Store {
    api: Arc<Api>,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store")
            .field("resource_version", &self.resource_version())
            .finish_non_exhaustive()
    }
}

impl Store {
    pub(crate) fn new(api: Arc<Api>) -> Self {
        Self { api }
    }

    /// The resource version of the last change.
    pub fn resource_version(&self) -> u64 {
        self.api.storage.resource_version()
    }

    /// Creates an object; its `apiVersion`, `kind`, name and namespace identify it. Returns the stored
    /// object.
    ///
    /// # Errors
    ///
    /// As the API: an unknown kind, a namespace that does not exist, an object that exists, metadata that is
    /// not valid.
    pub fn create(&self, object: Value) -> Result<Value, StatusError> {
        nesting::with_room(nesting::of(&object), || {
            check_depth(&object)?;
            let (target, stored) = self.add(object)?;
            Ok(served(&stored, &target))
        })
    }

    /// Creates an object without decoding the stored result.
    pub(crate) fn add(&self, object: Value) -> Result<(Target, Arc<Stored>), StatusError> {
        let (mut target, object) = self.target_of(object)?;
        target.name = None;
        let stored = self.api.create(&target, object, Writer::Owner)?;
        Ok((target, stored))
    }

    /// Replaces an object, status included. If it contains a resource version, only that version is replaced.
    /// Returns the stored object.
    ///
    /// # Errors
    ///
    /// As the API: an object that is not there, that has another version, metadata that is not valid.
    pub fn update(&self, object: Value) -> Result<Value, StatusError> {
        nesting::with_room(nesting::of(&object), || {
            check_depth(&object)?;
            let (target, object) = self.target_of(object)?;
            let (stored, _) = self.api.replace(&target, object, Writer::Owner)?;
            Ok(served(&stored, &target))
        })
    }

    /// Deletes an object, and in the background its dependents. An object with finalizers is only marked, as
    /// in the API. A pod gets no grace period.
    ///
    /// # Errors
    ///
    /// As the API: an unknown kind, an object that is not there, a namespace that may not be deleted.
    pub fn delete(
        &self,
        api_version: &str,
        kind: &str,
        namespace: Option<&str>,
        name: &str,
    ) -> Result<(), StatusError> {
        let target = self.target(api_version, kind, namespace, Some(name))?;
        match self.api.delete(&target, &DeleteOptions::at_once(), None)? {
            Deleted::Object(_) | Deleted::Gone(_) => Ok(()),
        }
    }

    /// Stores an object as it is, except for its resource version, and replaces an existing one: for the
    /// replay of a recording, or for objects of another cluster. No rule of the API is checked and no field
    /// is filled in, so generation, times and `deletionTimestamp` are those of `object`, and the namespace
    /// need not exist. If the existing object has another uid, it is removed first. Watches receive each
    /// change.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use kube_sim::Sim;
    /// use serde_json::json;
    ///
    /// let store = Sim::builder().build()?.store();
    /// store.put(json!({
    ///     "apiVersion": "apps/v1", "kind": "Deployment",
    ///     "metadata": {"name": "a", "namespace": "default", "uid": "1", "generation": 7, "deletionTimestamp": "2026-01-01T00:00:00Z"},
    /// }))?;
    /// let found = store.get("apps/v1", "Deployment", Some("default"), "a")?;
    /// assert_eq!(found["metadata"]["generation"], 7);
    /// assert_eq!(found["metadata"]["deletionTimestamp"], "2026-01-01T00:00:00Z");
    /// store.remove("apps/v1", "Deployment", Some("default"), "a")?;
    /// assert!(store.get("apps/v1", "Deployment", Some("default"), "a").is_err());
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// An unknown kind, an object without a name, one with a namespace whose kind has none (and the reverse),
    /// or one that is nested too deep.
    pub fn put(&self, object: Value) -> Result<(), StatusError> {
        nesting::with_room(nesting::of(&object), || {
            check_depth(&object)?;
            let (target, object) = self.target_of(object)?;
            if target.name.as_deref().is_none_or(str::is_empty) {
                return Err(StatusError::bad_request("an object that is put needs a name"));
            }
            self.api.put_as_is(&target, object)
        })
    }

    /// Removes an object at once, whatever finalizers or grace period it has. Nothing else is deleted because
    /// of it, except for the objects of a custom resource definition. See also [`put`](Self::put).
    ///
    /// # Errors
    ///
    /// An unknown kind, or an object that is not there.
    pub fn remove(
        &self,
        api_version: &str,
        kind: &str,
        namespace: Option<&str>,
        name: &str,
    ) -> Result<(), StatusError> {
        let target = self.target(api_version, kind, namespace, Some(name))?;
        self.api.remove_as_is(&target)
    }

    /// The current state of an object.
    ///
    /// # Errors
    ///
    /// An unknown kind, an object that is not there, or one nested more than 128 levels deep, which may be
    /// too much for the caller's stack.
    pub fn get(
        &self,
        api_version: &str,
        kind: &str,
        namespace: Option<&str>,
        name: &str,
    ) -> Result<Value, StatusError> {
        let target = self.target(api_version, kind, namespace, Some(name))?;
        let found = self.api.storage.get(&target.resource, &target.key());
        let found = found.ok_or_else(|| StatusError::not_found(&target.resource, name))?;
        value(&found, &target)
    }

    /// All objects of a kind, in one namespace or everywhere, in the order of a list.
    ///
    /// # Errors
    ///
    /// An unknown kind, or an object nested more than 128 levels deep.
    pub fn list(
        &self,
        api_version: &str,
        kind: &str,
        namespace: Option<&str>,
    ) -> Result<Vec<Value>, StatusError> {
        let target = self.target(api_version, kind, namespace, None)?;
        let snapshot = self.api.storage.snapshot(&target.resource);
        snapshot
            .range(&target.prefix(), None)
            .map(|object| value(object, &target))
            .collect()
    }

    /// Removes all changes up to and including `resource_version` from the history: watches from there and
    /// lists at that version are answered with 410.
    ///
    /// A version that has not been reached yet counts as the newest one.
    pub fn compact(&self, resource_version: u64) {
        self.api.storage.compact(resource_version);
    }

    fn target_of(&self, object: Value) -> Result<(Target, Map<String, Value>), StatusError> {
        let Value::Object(object) = object else {
            return Err(StatusError::bad_request("not an object"));
        };
        let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or("").to_owned();
        let metadata = object.get("metadata");
        let (name, namespace) = (
            text(metadata.and_then(|m| m.get("name"))),
            text(metadata.and_then(|m| m.get("namespace"))),
        );
        let namespace = (!namespace.is_empty()).then_some(&*namespace);
        let (api_version, kind) = (text(object.get("apiVersion")), text(object.get("kind")));
        Ok((self.target(&api_version, &kind, namespace, Some(&name))?, object))
    }

    fn target(
        &self,
        api_version: &str,
        kind: &str,
        namespace: Option<&str>,
        name: Option<&str>,
    ) -> Result<Target, StatusError> {
        let (resource, version) = self.api.registry().of_kind(api_version, kind).ok_or_else(|| {
            StatusError::bad_request(format!(
                "no kind \"{kind}\" in version \"{api_version}\" is known"
            ))
        })?;
        if resource.review || resource.report {
            let why = format!("an object of kind {kind} is answered over HTTP, and not stored");
            return Err(StatusError::bad_request(why));
        }
        let owned = |text: Option<&str>| text.map(str::to_owned);
        if name.is_some() && namespace.is_some() != resource.namespaced {
            let must = if resource.namespaced {
                "needs a namespace"
            } else {
                "has no namespace"
            };
            return Err(StatusError::bad_request(format!(
                "an object of kind {kind} {must}"
            )));
        }
        Ok(Target {
            resource,
            version,
            namespace: owned(namespace),
            name: owned(name),
            subresource: None,
        })
    }
}

/// Checks that an object to be written does not exceed the maximum nesting depth.
fn check_depth(object: &Value) -> Result<(), StatusError> {
    match nesting::of(object) {
        ..=nesting::MAX => Ok(()),
        depth => Err(StatusError::bad_request(format!(
            "nested {depth} levels deep: exceeded max depth"
        ))),
    }
}

fn value(object: &Stored, target: &Target) -> Result<Value, StatusError> {
    if object.depth > nesting::COMMON {
        let (key, depth) = (&object.key, object.depth);
        let why =
            format!("{key} is nested {depth} levels deep: too deep to be decoded here, read it over HTTP");
        return Err(StatusError::bad_request(why));
    }
    Ok(served(object, target))
}

fn served(object: &Stored, target: &Target) -> Value {
    let mut object = target.decode(object);
    view::to_served(&target.resource, &mut object);
    Value::Object(object)
}
