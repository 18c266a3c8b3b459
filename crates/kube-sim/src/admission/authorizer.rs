//! What expressions are answered that ask for rights: by the roles and bindings of the moment.

use crate::access::policy::{Decision, Policy};
use crate::access::{Attributes, Subject, User};
use crate::api::Api;
use crate::schema::{Authorizer, Named, Right, RightAsked, RightOf};
use crate::target::Target;

impl Api {
    /// Who tells expressions what may be done by the user who makes a request, and by service accounts. Without access control
    /// everybody may do everything.
    pub(super) fn authorizer(&self, user: &User) -> Authorizer {
        let counts = self.access.is_some();
        let policy = counts.then(|| self.storage.transact(|transaction| self.policy(transaction)));
        let user = user.clone();
        Authorizer::new(move |asked| match &policy {
            Some(policy) => right(policy, &user, asked),
            None => Right {
                allowed: true,
                reason: String::new(),
            },
        })
    }
}

fn right(policy: &Policy, user: &User, asked: RightAsked<'_>) -> Right {
    let account = asked
        .account
        .map(|(namespace, name)| User::of_account(namespace, name));
    let subject = match asked.of {
        RightOf::Path(path) => Subject::Path(path.to_owned()),
        RightOf::Resource(named) => subject_of(named),
    };
    let attributes = Attributes {
        verb: asked.verb.to_owned(),
        subject,
    };
    match policy.decide(account.as_ref().unwrap_or(user), &attributes) {
        Decision::Allowed(reason) => Right {
            allowed: true,
            reason,
        },
        Decision::NotAllowed(missing) => Right {
            allowed: false,
            reason: match &missing[..] {
                [] => String::new(),
                [one] => format!("RBAC: {one}"),
                several => format!("RBAC: [{}]", several.join(", ")),
            },
        },
    }
}

fn subject_of(named: &Named) -> Subject {
    Subject::Resource {
        group: named.group.clone(),
        resource: named.resource.clone(),
        subresource: named.subresource.clone(),
        namespace: named.namespace.clone(),
        name: named.name.clone(),
    }
}

/// What a request is about.
pub(super) fn named(target: &Target, request: &serde_json::Value) -> Named {
    let text = |name: &str| request[name].as_str().unwrap_or("").to_owned();
    Named {
        group: target.resource.group.clone(),
        resource: target.resource.plural.clone(),
        subresource: target.subresource.clone().unwrap_or_default(),
        namespace: text("namespace"),
        name: text("name"),
    }
}
