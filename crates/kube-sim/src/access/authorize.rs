//! Who makes a request, and whether he may.

use std::collections::BTreeMap;

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderValue};

use super::policy::{BINDINGS, Decision, GROUP, Policy, ROLES};
use super::{Access, Attributes, SERVICE_ACCOUNT, Subject, User, reason};
use crate::api::Api;
use crate::issuer::ISSUER;
use crate::resources::Resource;
use crate::status::{StatusError, quoted};
use crate::storage::Transaction;
use crate::target::Target;

impl Api {
    /// Whose a request is, whether he may make it or not. `given` is who it is beyond doubt.
    pub(crate) fn identify(
        &self,
        access: &Access,
        headers: &HeaderMap,
        given: Option<&User>,
        attributes: &Attributes,
    ) -> Result<User, StatusError> {
        let user = match given {
            Some(user) => user.clone(),
            None => self.authenticate(access, headers)?,
        };
        self.impersonate(headers, user, attributes)
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
        matches!(decision, Decision::Allowed(_))
    }

    /// Refuses what a user may not do.
    pub(crate) fn authorize(&self, user: &User, attributes: &Attributes) -> Result<(), StatusError> {
        match self.decide(user, attributes) {
            Decision::Allowed(_) => Ok(()),
            Decision::NotAllowed(missing) => Err(attributes.refused(user, &missing)),
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
            Decision::Allowed(_) => Ok(()),
            Decision::NotAllowed(missing) => Err(attributes.refused(user, &missing)),
        }
    }

    /// Who connects to what runs in a pod may change it, and must be allowed to create the connection, by whatever method he asks.
    pub(crate) fn authorize_connection(&self, user: &User, target: &Target) -> Result<(), StatusError> {
        match self.decide(user, &attributes_of(target, "create")) {
            Decision::Allowed(_) => Ok(()),
            Decision::NotAllowed(missing) => {
                let name = target.name.as_deref().unwrap_or("");
                Err(StatusError::forbidden(&target.resource, name, &reason(&missing)))
            }
        }
    }

    /// The roles and bindings as they are now.
    pub(crate) fn policy(&self, transaction: &mut Transaction<'_>) -> Policy {
        let mut snapshots = |plurals: [&str; 2]| {
            plurals.map(|plural| {
                let resource = self.find(GROUP, "v1", plural)?;
                Some(transaction.snapshot(&resource))
            })
        };
        Policy {
            decoded: self.decoded_policy.clone(),
            bindings: snapshots(BINDINGS),
            roles: snapshots(ROLES),
        }
    }

    /// Whether a user may do something, by the roles that are there now.
    pub(crate) fn decide(&self, user: &User, attributes: &Attributes) -> Decision {
        // The lock is free again when they are read.
        let policy = self.storage.transact(|transaction| self.policy(transaction));
        policy.decide(user, attributes)
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
