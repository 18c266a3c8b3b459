//! The parameters of policies: the objects that a binding refers to.

use std::sync::Arc;

use serde_json::Value;

use super::{Binding, Policy, as_served};
use crate::api::Api;
use crate::object::Stored;
use crate::resources::Resource;
use crate::schema;
use crate::specs;
use crate::storage::Snapshot;

/// The parameters of a policy by a binding, as they are now.
pub(super) enum Params {
    /// The policy has none, or the binding refers to none: expressions see null.
    None,
    Found(Found),
}

pub(super) struct Found {
    resource: Arc<Resource>,
    version: String,
    snapshot: Snapshot,
    namespace: String,
    name: String,
    selector: Value,
    denies_without: bool,
}

/// Why a policy has no parameters: a fault of the policy, or of its binding.
pub(super) enum Fault {
    Policy(String),
    Binding(String),
    /// The object is not what the rules of the policy name, and cannot be converted.
    Unconverted(String),
}

impl Fault {
    pub(super) fn message(&self) -> String {
        match self {
            Self::Policy(why) => format!("failed to configure policy: {why}"),
            Self::Binding(why) => format!("failed to configure binding: {why}"),
            Self::Unconverted(why) => {
                format!("failed to configure binding: failed to convert object version: {why}")
            }
        }
    }
}

impl Api {
    /// The parameters of a policy by a binding, for what is written in a namespace.
    pub(super) fn params(
        &self,
        policy: &Policy,
        binding: &Binding,
        namespace: Option<&str>,
    ) -> Result<Params, Fault> {
        let (kind, reference) = (&policy.spec["paramKind"], &binding.spec["paramRef"]);
        if kind.is_null() {
            return Ok(Params::None);
        }
        let part = |name: &str| kind[name].as_str().unwrap_or("");
        let (api_version, kind) = (part("apiVersion"), part("kind"));
        let Some((resource, version)) = self.registry().of_kind(api_version, kind) else {
            let group = if api_version.contains('/') { "" } else { "/" };
            return Err(Fault::Policy(format!(
                "failed to find resource referenced by paramKind: '{group}{api_version}, Kind={kind}'"
            )));
        };
        if reference.is_null() {
            return Ok(Params::None);
        }
        let part = |name: &str| reference[name].as_str().unwrap_or("");
        let namespace = match (part("namespace"), namespace) {
            ("", _) if !resource.namespaced => "",
            _ if !resource.namespaced => {
                return Err(Fault::Binding(
                    "paramRef.namespace must not be provided for a cluster-scoped `paramKind`".into(),
                ));
            }
            ("", None) => {
                return Err(Fault::Binding(
                    "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources"
                        .into(),
                ));
            }
            ("", Some(namespace)) => namespace,
            (given, _) => given,
        };
        Ok(Params::Found(Found {
            snapshot: self.storage.snapshot(&resource),
            resource,
            version,
            namespace: namespace.to_owned(),
            name: part("name").to_owned(),
            selector: reference["selector"].clone(),
            denies_without: reference["parameterNotFoundAction"] == "Deny",
        }))
    }
}

impl Params {
    /// Gives each parameter to a function, one after the other, until an evaluation has ended.
    pub(super) fn each(&self, mut with: impl FnMut(&Value)) -> Result<(), Fault> {
        let found = match self {
            Self::None => {
                with(&Value::Null);
                return Ok(());
            }
            Self::Found(found) => found,
        };
        let mut some = false;
        let mut read = |stored: &Stored| {
            let goes_on = schema::goes_on(stored.len());
            let param = goes_on.then(|| as_served(&found.resource, &found.version, stored));
            if let Some(param) = param.filter(|param| found.is_meant(param)) {
                some = true;
                with(&param);
            }
            goes_on
        };
        if found.name.is_empty() {
            let prefix = match found.namespace.as_str() {
                "" => String::new(),
                namespace => format!("{namespace}/"),
            };
            let mut all = found.snapshot.range(&prefix, None);
            while let Some(stored) = all.next()
                && read(stored)
            {}
        } else {
            let key = crate::object::join_key(&found.namespace, &found.name);
            found.snapshot.get(&key).map(|stored| read(&stored));
        }
        match some || !found.denies_without {
            true => Ok(()),
            false => Err(Fault::Binding(
                "no params found for policy binding with `Deny` parameterNotFoundAction".into(),
            )),
        }
    }
}

impl Found {
    fn is_meant(&self, param: &Value) -> bool {
        !self.name.is_empty() || specs::selects(&self.selector, &param["metadata"]["labels"])
    }
}
