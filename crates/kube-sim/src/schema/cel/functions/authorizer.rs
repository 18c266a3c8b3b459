//! What the user who makes a request may do, and what service accounts may: `authorizer.group('').resource('pods').check('get')`.
//!
//! Who may do what is asked of whoever evaluates ([`Authorizer`]): nobody here knows of roles.

use std::fmt;
use std::sync::Arc;

use cel::Value;

use super::argument::{Argument, Result, failed, first, mismatch, string};
use super::value::Own;
use crate::names::{dns_label_faults, subdomain_faults};
use crate::schema::cel::cost::purse::pay;

/// What asking costs, as in a real server: an expression may ask twice.
const CHECK: u64 = 350_000;

/// What is asked.
pub(crate) struct RightAsked<'a> {
    /// The namespace and the name of a service account; none if it is about the user who makes the request.
    pub(crate) account: Option<(&'a str, &'a str)>,
    pub(crate) verb: &'a str,
    pub(crate) of: RightOf<'a>,
}

pub(crate) enum RightOf<'a> {
    Path(&'a str),
    Resource(&'a Named),
}

/// Something that a right may be of; what is empty is not said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) group: String,
    pub(crate) resource: String,
    pub(crate) subresource: String,
    pub(crate) namespace: String,
    pub(crate) name: String,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Right {
    pub(crate) allowed: bool,
    pub(crate) reason: String,
}

/// Who answers.
#[derive(Clone)]
pub(crate) struct Authorizer(Arc<dyn Fn(RightAsked<'_>) -> Right + Send + Sync>);

impl Authorizer {
    pub(crate) fn new(decide: impl Fn(RightAsked<'_>) -> Right + Send + Sync + 'static) -> Self {
        Self(Arc::new(decide))
    }
}

impl fmt::Debug for Authorizer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Authorizer")
    }
}

impl PartialEq for Authorizer {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Authorizer {}

/// Somebody's rights: all, those of a path, a group or a resource, or what became of asking for one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::schema::cel) enum Rights {
    All(Asking),
    Path(Asking, String),
    Group(Asking, String),
    Resource(Asking, Named),
    Decided(Right),
}

/// Who is asked, and about which service account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::schema::cel) struct Asking {
    authorizer: Authorizer,
    account: Option<(String, String)>,
}

impl Asking {
    fn ask(&self, verb: &str, of: RightOf<'_>) -> Right {
        let account = self.account.as_ref();
        (self.authorizer.0)(RightAsked {
            account: account.map(|(namespace, name)| (namespace.as_str(), name.as_str())),
            verb,
            of,
        })
    }
}

impl Rights {
    /// The variables with which expressions ask: for all rights, and for those of what the request is about.
    pub(in crate::schema::cel) fn variables(
        authorizer: &Authorizer,
        request: Named,
    ) -> [(&'static str, Value); 2] {
        let asking = || Asking {
            authorizer: authorizer.clone(),
            account: None,
        };
        [
            ("authorizer", Self::All(asking()).into()),
            (
                "authorizer.requestResource",
                Self::Resource(asking(), request).into(),
            ),
        ]
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::All(_) => 0,
            Self::Path(_, text) | Self::Group(_, text) => text.len(),
            Self::Resource(_, named) => {
                let parts = [
                    &named.group,
                    &named.resource,
                    &named.subresource,
                    &named.namespace,
                    &named.name,
                ];
                parts.into_iter().map(String::len).sum()
            }
            Self::Decided(right) => right.reason.len(),
        }
    }
}

impl From<Rights> for Value {
    fn from(rights: Rights) -> Self {
        Own::Rights(rights).into()
    }
}

fn rights<'s>(arguments: &'s [Argument<'_>]) -> Result<&'s Rights> {
    match first(arguments)?.own()? {
        Own::Rights(rights) => Ok(rights),
        _ => Err(mismatch()),
    }
}

fn text<'a>(arguments: &[Argument<'a>], at: usize) -> Result<&'a str> {
    arguments.get(at).ok_or_else(mismatch)?.text()
}

fn all<'s>(arguments: &'s [Argument<'_>]) -> Result<&'s Asking> {
    match rights(arguments)? {
        Rights::All(asking) => Ok(asking),
        _ => Err(mismatch()),
    }
}

pub(super) fn path(arguments: &[Argument<'_>]) -> Result {
    let path = text(arguments, 1)?;
    if path.trim().is_empty() {
        return Err(failed("path must not be empty"));
    }
    Ok(Rights::Path(all(arguments)?.clone(), path.to_owned()).into())
}

pub(super) fn group(arguments: &[Argument<'_>]) -> Result {
    Ok(Rights::Group(all(arguments)?.clone(), text(arguments, 1)?.to_owned()).into())
}

pub(super) fn service_account(arguments: &[Argument<'_>]) -> Result {
    let (namespace, name) = (text(arguments, 1)?, text(arguments, 2)?);
    let asking = all(arguments)?;
    if !subdomain_faults(name).is_empty() {
        return Err(failed("Invalid service account name"));
    }
    if !dns_label_faults(namespace).is_empty() {
        return Err(failed("Invalid service account namespace"));
    }
    let asking = Asking {
        account: Some((namespace.to_owned(), name.to_owned())),
        ..asking.clone()
    };
    Ok(Rights::All(asking).into())
}

pub(super) fn resource(arguments: &[Argument<'_>]) -> Result {
    let Rights::Group(asking, group) = rights(arguments)? else {
        return Err(mismatch());
    };
    let named = Named {
        group: group.clone(),
        resource: text(arguments, 1)?.to_owned(),
        ..Named::default()
    };
    Ok(Rights::Resource(asking.clone(), named).into())
}

/// The same resource, with one more thing said.
fn with(arguments: &[Argument<'_>], say: impl FnOnce(&mut Named, String)) -> Result {
    let Rights::Resource(asking, named) = rights(arguments)? else {
        return Err(mismatch());
    };
    let mut named = named.clone();
    say(&mut named, text(arguments, 1)?.to_owned());
    Ok(Rights::Resource(asking.clone(), named).into())
}

pub(super) fn subresource(arguments: &[Argument<'_>]) -> Result {
    with(arguments, |named, given| named.subresource = given)
}

pub(super) fn namespace(arguments: &[Argument<'_>]) -> Result {
    with(arguments, |named, given| named.namespace = given)
}

pub(super) fn name(arguments: &[Argument<'_>]) -> Result {
    with(arguments, |named, given| named.name = given)
}

/// Roles know of no selectors.
pub(super) fn selector(arguments: &[Argument<'_>]) -> Result {
    with(arguments, |_, _| {})
}

pub(super) fn check(arguments: &[Argument<'_>]) -> Result {
    let verb = text(arguments, 1)?;
    let (asking, of) = match rights(arguments)? {
        Rights::Path(asking, path) => (asking, RightOf::Path(path)),
        Rights::Resource(asking, named) => (asking, RightOf::Resource(named)),
        _ => return Err(mismatch()),
    };
    pay(CHECK)?;
    Ok(Rights::Decided(asking.ask(verb, of)).into())
}

fn decided<'s>(arguments: &'s [Argument<'_>]) -> Result<&'s Right> {
    match rights(arguments)? {
        Rights::Decided(right) => Ok(right),
        _ => Err(mismatch()),
    }
}

pub(super) fn allowed(arguments: &[Argument<'_>]) -> Result {
    Ok(decided(arguments)?.allowed.into())
}

pub(super) fn reason(arguments: &[Argument<'_>]) -> Result {
    Ok(string(decided(arguments)?.reason.as_str()))
}

/// Asking for a right always has an answer.
pub(super) fn errored(arguments: &[Argument<'_>]) -> Result {
    decided(arguments).map(|_| false.into())
}

pub(super) fn error(arguments: &[Argument<'_>]) -> Result {
    decided(arguments).map(|_| string(""))
}
