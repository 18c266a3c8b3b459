//! The types of what policies and webhooks see of a request.

use std::sync::Arc;

use super::Declared;
use super::types::{Fields, Type};

/// The variables that a policy defines.
const VARIABLES: &str = "kubernetes.variables";

impl Declared {
    /// What every expression about a request may mention.
    pub(crate) fn of_request() -> Self {
        Self::default()
            .with("object", Type::Dyn)
            .with("oldObject", Type::Dyn)
            .with("namespaceObject", namespace())
            .with("request", request())
    }

    /// The parameters of a policy.
    pub(crate) fn with_params(self) -> Self {
        self.with("params", Type::Dyn)
    }

    /// Whether somebody may do something.
    pub(crate) fn with_authorizer(self) -> Self {
        let own = |name: &str| Type::opaque(&format!("kubernetes.authorization.{name}"));
        self.with("authorizer", own("Authorizer"))
            .with("authorizer.requestResource", own("ResourceCheck"))
    }

    /// The variables of a policy, of which there is none yet.
    pub(crate) fn with_variables(self) -> Self {
        self.with("variables", Type::of_fields(VARIABLES, []))
    }

    /// The same variables as somewhere else.
    pub(crate) fn with_variables_of(self, other: &Self) -> Self {
        match other.variables.get("variables") {
            Some(of) => self.with("variables", of.clone()),
            None => self,
        }
    }

    /// Adds a variable of a policy.
    pub(crate) fn add_variable(&mut self, name: &str, found: Type) {
        let of = kept(&found);
        // They are copied if something refers to them, which a type that was found may.
        drop(found);
        if let Some(Type::Struct(variables)) = self.variables.get_mut("variables")
            && let Fields::These(fields) = &mut Arc::make_mut(variables).fields
        {
            fields.insert(name.to_owned(), of);
        }
    }
}

/// What is known of a variable where it is mentioned.
fn kept(of: &Type) -> Type {
    match of {
        Type::List(item) => Type::list(kept(item)),
        Type::Map(entry) => Type::map(kept(&entry.0), kept(&entry.1)),
        Type::Error | Type::Opaque(..) | Type::Struct(_) | Type::Meta(_) | Type::Parameter(_) => Type::Dyn,
        plain => plain.clone(),
    }
}

fn of<const N: usize>(name: &str, fields: [(&str, Type); N]) -> Type {
    let fields = fields.map(|(name, of)| (name.to_owned(), of));
    Type::of_fields(&format!("kubernetes.{name}"), fields)
}

fn texts<const N: usize>(name: &str, fields: [&str; N]) -> Type {
    of(name, fields.map(|name| (name, Type::String)))
}

fn request() -> Type {
    let kind = texts("GroupVersionKind", ["group", "version", "kind"]);
    let resource = texts("GroupVersionResource", ["group", "version", "resource"]);
    let user = [
        ("username", Type::String),
        ("uid", Type::String),
        ("groups", Type::list(Type::String)),
        ("extra", Type::map(Type::String, Type::list(Type::String))),
    ];
    let fields = [
        ("kind", kind.clone()),
        ("resource", resource.clone()),
        ("subResource", Type::String),
        ("requestKind", kind),
        ("requestResource", resource),
        ("requestSubResource", Type::String),
        ("name", Type::String),
        ("namespace", Type::String),
        ("operation", Type::String),
        ("userInfo", of("UserInfo", user)),
        ("dryRun", Type::Bool),
        ("options", Type::Dyn),
    ];
    of("AdmissionRequest", fields)
}

fn namespace() -> Type {
    let texts = || Type::map(Type::String, Type::String);
    let condition = [
        ("status", Type::String),
        ("type", Type::String),
        ("lastTransitionTime", Type::Timestamp),
        ("message", Type::String),
        ("reason", Type::String),
    ];
    let conditions = Type::list(of("NamespaceCondition", condition));
    let status = [("conditions", conditions), ("phase", Type::String)];
    let metadata = [
        ("name", Type::String),
        ("generateName", Type::String),
        ("namespace", Type::String),
        ("labels", texts()),
        ("annotations", texts()),
        ("UID", Type::String),
        ("creationTimestamp", Type::Timestamp),
        ("deletionGracePeriodSeconds", Type::Int),
        ("deletionTimestamp", Type::Timestamp),
        ("generation", Type::Int),
        ("resourceVersion", Type::String),
        ("finalizers", Type::list(Type::String)),
    ];
    let spec = [("finalizers", Type::list(Type::String))];
    let fields = [
        ("metadata", of("NamespaceMetadata", metadata)),
        ("spec", of("NamespaceSpec", spec)),
        ("status", of("NamespaceStatus", status)),
    ];
    of("Namespace", fields)
}
