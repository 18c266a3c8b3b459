//! Who asks, and whether he may: tokens, impersonation and RBAC, if the cluster was built with them.
//!
//! A request is authenticated ([`Access::user`]), may act as somebody else (`impersonate`), and is authorized by the Roles,
//! ClusterRoles and bindings that are in the cluster (`policy`), before anything else is looked at. Whoever writes roles or
//! bindings must have what they grant (`escalation`). Reviews ask the same evaluator.

use std::collections::{BTreeMap, HashMap};

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};
use serde_json::{Value, json};

use crate::api::Api;
use crate::api::options::Query;
use crate::api::write::Writer;
use crate::issuer::ISSUER;
use crate::meta::Object;
use crate::resources::Resource;
use crate::status::{StatusError, quoted};
use crate::storage::Transaction;
use crate::target::ApiPath;
use crate::target::Target;

pub(crate) mod escalation;
pub(crate) mod policy;

/// The roles and bindings that every cluster begins with, as a kube-apiserver 1.36 makes them, one a line; `conformance/tests/roles.rs`
/// writes them.
const ROLES: &str = include_str!("access/roles.jsonl");

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

impl Api {
    /// Creates the roles and bindings that a cluster begins with.
    pub(crate) fn create_default_roles(&self) {
        self.storage.transact(|transaction| {
            for role in ROLES.lines() {
                let role: Object = serde_json::from_str(role).expect("a role is JSON");
                let plural = format!("{}s", role["kind"].as_str().unwrap_or("").to_lowercase());
                let resource = self.find(policy::GROUP, "v1", &plural).expect("roles are served");
                let target = Target {
                    namespace: role["metadata"]["namespace"].as_str().map(str::to_owned),
                    name: None,
                    ..Target::of(resource, "")
                };
                self.create_in(transaction, &target, role, Writer::Owner)
                    .expect("the roles of every cluster are valid");
            }
        });
        self.settle();
    }

    /// Lets a request pass, and returns whose it is; without access control, all pass. `given` is who it is beyond doubt.
    pub(crate) fn admit(
        &self,
        headers: &HeaderMap,
        given: Option<&User>,
        attributes: &Attributes,
    ) -> Result<Option<User>, StatusError> {
        let Some(access) = &self.access else {
            return Ok(None);
        };
        let user = match given {
            Some(user) => user.clone(),
            None => self.authenticate(access, headers)?,
        };
        let user = self.impersonate(headers, user, attributes)?;
        self.authorize(&user, attributes)?;
        Ok(Some(user))
    }

    fn authenticate(&self, access: &Access, headers: &HeaderMap) -> Result<User, StatusError> {
        let Some(given) = headers.get(AUTHORIZATION) else {
            return Ok(User::anonymous());
        };
        let (scheme, token) = given.to_str().unwrap_or("").split_once(' ').unwrap_or_default();
        let token = token.trim();
        if !scheme.eq_ignore_ascii_case("bearer") || token.is_empty() {
            return Ok(User::anonymous());
        }
        let user = self.user_of_token(access, token);
        user.ok_or_else(StatusError::unauthorized)
    }

    /// The user of a token that is for this server.
    fn user_of_token(&self, access: &Access, token: &str) -> Option<User> {
        let (user, audiences) = match access.user(token) {
            Some(user) => return Some(user.clone()),
            None => self.user_of(token)?,
        };
        audiences
            .iter()
            .any(|audience| audience == ISSUER)
            .then_some(user)
    }

    /// The user as whom a request wants to act. It may if it may `impersonate` whom it names, or, by KEP-5284, if it may do that
    /// for what the request asks for.
    fn impersonate(
        &self,
        headers: &HeaderMap,
        user: User,
        attributes: &Attributes,
    ) -> Result<User, StatusError> {
        // What cannot be read must not be left out: the request would have rights that it wants to give up.
        let read = |name: &str, value: &HeaderValue| {
            let text = std::str::from_utf8(value.as_bytes()).map(str::to_owned);
            text.map_err(|_| StatusError::bad_request(format!("the value of the header {name} is not UTF-8")))
        };
        let texts = |name: &str| -> Result<Vec<String>, StatusError> {
            let values = headers.get_all(name).into_iter();
            values.map(|value| read(name, value)).collect()
        };
        let names = texts("impersonate-user")?;
        let (groups, uids) = (texts("impersonate-group")?, texts("impersonate-uid")?);
        let mut extra: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (header, value) in headers {
            let header = header.as_str();
            if let Some(key) = header.strip_prefix("impersonate-extra-") {
                let key = percent_encoding::percent_decode_str(key).decode_utf8();
                let key = key.map_err(|_| {
                    StatusError::bad_request(format!("the key in the header {header} is not UTF-8"))
                })?;
                let values: &mut Vec<String> = extra.entry(key.to_lowercase()).or_default();
                values.push(read(header, value)?);
            }
        }
        let Some(name) = names.into_iter().find(|name| !name.is_empty()) else {
            return match groups.is_empty() && uids.is_empty() && extra.is_empty() {
                true => Ok(user),
                false => Err(StatusError::bad_request(nameless(&groups, &uids, &extra))),
            };
        };
        let account = name
            .strip_prefix(SERVICE_ACCOUNT)
            .and_then(|account| account.split_once(':'));
        let (mode, who) = match (account, name.strip_prefix("system:node:")) {
            (Some((namespace, name)), _) => ("serviceaccount", ("serviceaccounts", namespace, name)),
            (None, Some(node)) => ("arbitrary-node", ("nodes", "", node)),
            (None, None) => ("user-info", ("users", "", name.as_str())),
        };
        let mut wanted: Vec<(String, &str, &str)> = vec![(who.0.to_owned(), who.1, who.2)];
        wanted.extend(groups.iter().map(|group| ("groups".into(), "", group.as_str())));
        wanted.extend(uids.iter().map(|uid| ("uids".into(), "", uid.as_str())));
        for (key, values) in &extra {
            let resource = format!("userextras/{key}");
            wanted.extend(values.iter().map(|value| (resource.clone(), "", value.as_str())));
        }
        let may = |verb: &str, group: &str, (resource, namespace, name): &(String, &str, &str)| {
            // Only the names of what else is known of a user have parts.
            let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
            let subject = Subject::Resource {
                group: group.into(),
                resource: resource.into(),
                subresource: subresource.into(),
                namespace: (*namespace).into(),
                name: (*name).into(),
            };
            let verb = verb.into();
            self.authorize(&user, &Attributes { verb, subject })
        };
        const AUTHENTICATION: &str = "authentication.k8s.io";
        let of_core = |resource: &str| matches!(resource, "users" | "groups" | "serviceaccounts" | "nodes");
        let by_verb = wanted
            .iter()
            .try_for_each(|wanted| match (mode, wanted.0.as_str()) {
                // A node is a user like any other.
                ("arbitrary-node", "nodes") => may("impersonate", "", &("users".into(), "", &name)),
                (_, resource) if of_core(resource) => may("impersonate", "", wanted),
                _ => may("impersonate", AUTHENTICATION, wanted),
            });
        if by_verb.is_err() {
            let verb = format!("impersonate-on:{mode}:{}", attributes.verb);
            let subject = attributes.subject.clone();
            self.authorize(&user, &Attributes { verb, subject })?;
            let verb = format!("impersonate:{mode}");
            wanted
                .iter()
                .try_for_each(|wanted| may(&verb, AUTHENTICATION, wanted))?;
        }
        let uid = uids.into_iter().next().unwrap_or_default();
        Ok(User {
            extra,
            ..User::new(name, &uid, groups)
        })
    }

    /// Whether a user may do something, by the roles that are there now.
    pub(crate) fn allows(&self, transaction: &mut Transaction<'_>, user: &User, wanted: &Attributes) -> bool {
        let decision = self.policy(transaction).decide(user, wanted);
        matches!(decision, policy::Decision::Allowed(_))
    }

    /// Refuses what a user may not do.
    pub(crate) fn authorize(&self, user: &User, attributes: &Attributes) -> Result<(), StatusError> {
        match self.decide(user, attributes) {
            policy::Decision::Allowed(_) => Ok(()),
            policy::Decision::NotAllowed(missing) => Err(attributes.refused(user, &missing)),
        }
    }

    /// Who updates what is not there creates it, and must be allowed to.
    pub(crate) fn authorize_creation(
        &self,
        transaction: &mut Transaction<'_>,
        user: &User,
        target: &Target,
    ) -> Result<(), StatusError> {
        let attributes = attributes_of(target, "create");
        match self.policy(transaction).decide(user, &attributes) {
            policy::Decision::Allowed(_) => Ok(()),
            policy::Decision::NotAllowed(missing) => Err(attributes.refused(user, &missing)),
        }
    }

    /// Who connects to what runs in a pod may change it, and must be allowed to create the connection, by whatever method he asks.
    pub(crate) fn authorize_connection(&self, user: &User, target: &Target) -> Result<(), StatusError> {
        match self.decide(user, &attributes_of(target, "create")) {
            policy::Decision::Allowed(_) => Ok(()),
            policy::Decision::NotAllowed(missing) => {
                let name = target.name.as_deref().unwrap_or("");
                Err(StatusError::forbidden(&target.resource, name, &reason(&missing)))
            }
        }
    }
}

/// Why somebody may not do something, beyond that no role says so: the roles that are missing.
fn reason(missing: &[String]) -> String {
    match missing {
        [] => String::new(),
        [one] => format!("RBAC: {one}"),
        several => format!("RBAC: [{}]", several.join(", ")),
    }
}

/// What Go says of a request that wants to act as nobody.
fn nameless(groups: &[String], uids: &[String], extra: &BTreeMap<String, Vec<String>>) -> String {
    let list = |items: &[String]| {
        let items: Vec<_> = items.iter().map(|item| quoted(item)).collect();
        match items.is_empty() {
            true => "[]string(nil)".to_owned(),
            false => format!("[]string{{{}}}", items.join(", ")),
        }
    };
    let extras: Vec<_> = extra
        .iter()
        .map(|(key, values)| format!("{}:{}", quoted(key), list(values)))
        .collect();
    let extra = match extras.is_empty() {
        true => "map[string][]string(nil)".to_owned(),
        false => format!("map[string][]string{{{}}}", extras.join(", ")),
    };
    let (uid, groups) = (quoted(uids.first().map_or("", String::as_str)), list(groups));
    format!(
        "requested &user.DefaultInfo{{Name:\"\", UID:{uid}, Groups:{groups}, Extra:{extra}}} without impersonating a user name"
    )
}

fn attributes_of(target: &Target, verb: &str) -> Attributes {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let resource: &Resource = &target.resource;
    Attributes {
        verb: verb.into(),
        subject: Subject::Resource {
            group: resource.group.clone(),
            resource: resource.plural.clone(),
            subresource: text(&target.subresource),
            namespace: text(&target.namespace),
            name: text(&target.name),
        },
    }
}
