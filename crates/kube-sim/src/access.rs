//! Who asks, and whether he may: tokens, impersonation and RBAC, if the cluster was built with them.
//!
//! A request is authenticated ([`Access::user`]), may act as somebody else, and is authorized (`authorize`) by the Roles,
//! ClusterRoles and bindings that are in the cluster (`policy`), before anything else is looked at. Whoever writes roles or
//! bindings must have what they grant (`escalation`). Reviews ask the same evaluator.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Value, json};

use crate::api::options::Query;
use crate::status::StatusError;
use crate::target::ApiPath;

mod authorize;
pub(crate) mod escalation;
pub(crate) mod policy;

/// The roles and bindings that every cluster begins with, as a kube-apiserver 1.36 makes them, one a line; `conformance/tests/roles.rs`
/// writes them.
pub(crate) const ROLES: &str = include_str!("access/roles.jsonl");

/// The group of those who may do everything.
pub(crate) const MASTERS: &str = "system:masters";

const ANONYMOUS: &str = "system:anonymous";
const AUTHENTICATED: &str = "system:authenticated";
const UNAUTHENTICATED: &str = "system:unauthenticated";
const SERVICE_ACCOUNT: &str = "system:serviceaccount:";

/// Somebody who makes requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct User {
    pub(crate) name: String,
    pub(crate) uid: String,
    pub(crate) groups: Vec<String>,
    pub(crate) extra: BTreeMap<String, Vec<String>>,
}

impl User {
    /// Who asks where nobody asks who it is.
    pub(crate) fn unknown() -> Self {
        Self::new("kube-sim", "", [MASTERS.to_owned()])
    }

    /// A user with the groups that follow from its name.
    pub(crate) fn new(name: impl Into<String>, uid: &str, groups: impl IntoIterator<Item = String>) -> Self {
        let name = name.into();
        let mut groups: Vec<String> = groups.into_iter().collect();
        if groups.is_empty()
            && let Some((namespace, _)) = name
                .strip_prefix(SERVICE_ACCOUNT)
                .and_then(|account| account.split_once(':'))
        {
            groups.push("system:serviceaccounts".into());
            groups.push(format!("system:serviceaccounts:{namespace}"));
        }
        let everybody = match name.as_str() {
            ANONYMOUS => UNAUTHENTICATED,
            _ => AUTHENTICATED,
        };
        if !groups
            .iter()
            .any(|group| [AUTHENTICATED, UNAUTHENTICATED].contains(&group.as_str()))
        {
            groups.push(everybody.into());
        }
        Self {
            name,
            uid: uid.to_owned(),
            groups,
            extra: BTreeMap::new(),
        }
    }

    /// A service account with the groups that it has by its name, which do not say that it has proven who it is.
    pub(crate) fn of_account(namespace: &str, name: &str) -> Self {
        let groups = [
            "system:serviceaccounts".to_owned(),
            format!("system:serviceaccounts:{namespace}"),
        ];
        Self {
            name: format!("{SERVICE_ACCOUNT}{namespace}:{name}"),
            uid: String::new(),
            groups: groups.into(),
            extra: BTreeMap::new(),
        }
    }

    fn anonymous() -> Self {
        Self::new(ANONYMOUS, "", [])
    }

    pub(crate) fn is_in(&self, group: &str) -> bool {
        self.groups.iter().any(|own| own == group)
    }

    /// The user as reviews show it.
    pub(crate) fn shown(&self) -> Value {
        let mut user = json!({"username": self.name, "groups": self.groups});
        if !self.uid.is_empty() {
            user["uid"] = self.uid.as_str().into();
        }
        if !self.extra.is_empty() {
            user["extra"] = json!(self.extra);
        }
        user
    }
}

/// Whose tokens are good, beside those of service accounts.
#[derive(Clone)]
pub(crate) struct Access {
    tokens: HashMap<String, User>,
    admin: String,
}

impl Default for Access {
    /// With a token of an administrator.
    fn default() -> Self {
        let admin = format!("{:032x}", fastrand::u128(..));
        let user = User::new("kubernetes-admin", "", [MASTERS.to_owned()]);
        Self {
            tokens: HashMap::from([(admin.clone(), user)]),
            admin,
        }
    }
}

/// Without the tokens.
impl std::fmt::Debug for Access {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Access").finish_non_exhaustive()
    }
}

impl Access {
    pub(crate) fn admin_token(&self) -> &str {
        &self.admin
    }

    pub(crate) fn add(&mut self, token: String, user: User) {
        self.tokens.insert(token, user);
    }

    /// The user of a token of this table.
    pub(crate) fn user(&self, token: &str) -> Option<&User> {
        self.tokens.get(token)
    }
}

/// What somebody wants to do.
#[derive(Debug, Clone)]
pub(crate) struct Attributes {
    pub(crate) verb: String,
    pub(crate) subject: Subject,
}

#[derive(Debug, Clone)]
pub(crate) enum Subject {
    /// What is no resource.
    Path(String),
    Resource {
        group: String,
        resource: String,
        /// Empty: the resource itself.
        subresource: String,
        /// Empty: all namespaces, or none.
        namespace: String,
        /// Empty: any.
        name: String,
    },
}

impl Attributes {
    /// What a request wants; nothing is known of what the server has.
    pub(crate) fn of_request(method: &http::Method, segments: &[&str], path: &str, query: &Query) -> Self {
        let of_api = ApiPath::of(segments).unwrap_or_default();
        let subject = subject(&of_api).unwrap_or_else(|| Subject::Path(path.to_owned()));
        let verb = match (&subject, method.as_str()) {
            (Subject::Path(_), method) => method.to_lowercase(),
            (Subject::Resource { name, .. }, method) => {
                let collection = name.is_empty();
                let watches = collection && query.flag("watch") == Some(true);
                let verb = match method {
                    // The path says it, whatever the method.
                    _ if of_api.watch => "watch",
                    "GET" | "HEAD" if watches => "watch",
                    "GET" | "HEAD" if collection => "list",
                    "GET" | "HEAD" => "get",
                    "POST" => "create",
                    "PUT" => "update",
                    "PATCH" => "patch",
                    _ if collection => "deletecollection",
                    _ => "delete",
                };
                verb.to_owned()
            }
        };
        let attributes = Self { verb, subject };
        match matches!(*method, http::Method::GET | http::Method::HEAD) && !of_api.watch {
            true => attributes.named_by(query),
            false => attributes,
        }
    }

    /// A list or watch of one object is about that object.
    fn named_by(mut self, query: &Query) -> Self {
        if let (Subject::Resource { name, .. }, "list" | "watch") = (&mut self.subject, self.verb.as_str())
            && name.is_empty()
        {
            let mut terms = query.get("fieldSelector").split(',');
            let one = terms
                .find_map(|term| term.strip_prefix("metadata.name="))
                .unwrap_or("");
            *name = one.trim_start_matches('=').to_owned();
        }
        self
    }

    /// The refusal of a request.
    fn refused(&self, user: &User, missing: &[String]) -> StatusError {
        let (user, verb) = (&user.name, &self.verb);
        let why = match reason(missing) {
            none if none.is_empty() => none,
            reason => format!(": {reason}"),
        };
        match &self.subject {
            Subject::Path(path) => StatusError::forbidden_request(
                format!("forbidden: User \"{user}\" cannot {verb} path \"{path}\"{why}"),
                json!({}),
            ),
            Subject::Resource {
                group,
                resource,
                subresource,
                namespace,
                name,
            } => {
                let id = match group.as_str() {
                    "" => resource.to_owned(),
                    group => format!("{resource}.{group}"),
                };
                let (what, mut details) = match name.as_str() {
                    "" => (id, json!({"kind": resource})),
                    name => (
                        format!("{id} \"{name}\""),
                        json!({"kind": resource, "name": name}),
                    ),
                };
                let part = match subresource.as_str() {
                    "" => String::new(),
                    subresource => format!("/{subresource}"),
                };
                if !group.is_empty() {
                    details["group"] = group.as_str().into();
                }
                let place = match namespace.as_str() {
                    "" => "at the cluster scope".to_owned(),
                    namespace => format!("in the namespace \"{namespace}\""),
                };
                let message = format!(
                    "{what} is forbidden: User \"{user}\" cannot {verb} resource \"{resource}{part}\" in API group \"{group}\" \
                     {place}{why}"
                );
                StatusError::forbidden_request(message, details)
            }
        }
    }
}

/// The resource that a path names, whether the server has it or not.
fn subject(path: &ApiPath<'_>) -> Option<Subject> {
    let (resource, rest) = path.rest.split_first()?;
    let name = rest.first().copied().unwrap_or("");
    let namespace = match (path.namespace, *resource) {
        (Some(namespace), _) => namespace,
        // A namespace is in itself.
        (None, "namespaces") => name,
        (None, _) => "",
    };
    Some(Subject::Resource {
        group: path.group.to_owned(),
        resource: (*resource).to_owned(),
        subresource: rest.get(1).copied().unwrap_or("").to_owned(),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
    })
}

/// Why somebody may not do something, beyond that no role says so: the roles that are missing.
fn reason(missing: &[String]) -> String {
    match missing {
        [] => String::new(),
        [one] => format!("RBAC: {one}"),
        several => format!("RBAC: [{}]", several.join(", ")),
    }
}
