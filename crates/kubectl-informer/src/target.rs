//! The target of a command: a server, a resource, and a selection of its objects.

use crate::args::{ClusterArgs, ConnectionArgs, ScopeArgs, SelectionArgs};
use crate::config::given;
use crate::connection::Connection;
use crate::discovery::{Resource, Resources};
use crate::failure::{Usage, chain};
use crate::progress;
use crate::text::printable;
use anyhow::{anyhow, bail};
use http::StatusCode;
use kube::core::params::ListParams;
use kube::core::{DynamicObject, Request};
use kube::{Client, Resource as _};
use kube_informer::selector::{FieldSelector, LabelSelector, ParseSelectorError};
use kube_informer::source::{ClientSource, Selection};
use serde::Serialize;

/// A resource of a server, and a selection of its objects.
pub(crate) struct Target {
    pub(crate) connection: Connection,
    pub(crate) resource: Resource,
    pub(crate) selection: Selection,
    /// What else may have been meant, if there is no such object.
    hint: Option<String>,
}

/// Kinds of a cluster, with all their objects or those of one namespace.
pub(crate) struct Kinds {
    pub(crate) targets: Vec<Target>,
    /// Those that cannot be listed and watched.
    pub(crate) skipped: Vec<Skipped>,
}

/// A kind that is left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Skipped {
    /// The resource, or a group version of which nothing is known.
    pub(crate) resource: String,
    pub(crate) why: String,
}

/// Those with the same reason together, in the order of the first of each. What a user may not do is one reason for all kinds.
pub(crate) fn grouped<'a>(skipped: impl Iterator<Item = (&'a str, &'a str)>) -> Vec<(String, String)> {
    let mut groups: Vec<(Vec<&str>, String)> = Vec::new();
    for (resource, why) in skipped {
        let why = forbidden(why).unwrap_or_else(|| why.to_owned());
        match groups.iter_mut().find(|(_, of)| *of == why) {
            Some((resources, _)) => resources.push(resource),
            None => groups.push((vec![resource], why)),
        }
    }
    let joined = groups.into_iter();
    joined
        .map(|(resources, why)| (resources.join(", "), why))
        .collect()
}

/// Who is refused what, without the kind: a server says `pods is forbidden: User "al" cannot list resource "pods" in API group ""
/// at the cluster scope`.
fn forbidden(why: &str) -> Option<String> {
    let (_, told) = why.split_once(" is forbidden: ")?;
    let (who, rest) = told.split_once(" cannot ")?;
    let verb = rest.split(' ').next()?;
    let scope = [" in the namespace ", " at the cluster scope"]
        .iter()
        .find_map(|scope| rest.find(scope).map(|at| &rest[at..]))?;
    Some(format!("forbidden: {who} cannot {verb} them{scope}"))
}

/// Why a kind is left out of those of a namespace.
const IN_NO_NAMESPACE: &str = "its objects are in no namespace";

impl Kinds {
    /// Connects to the server and finds the kinds.
    ///
    /// # Errors
    /// As [`Target::find`]. Kinds that cannot be watched are an error only if they are named.
    pub(crate) async fn find(args: &ClusterArgs) -> anyhow::Result<Self> {
        let selection = Selection {
            namespace: given(&args.namespace).map(ToOwned::to_owned),
            ..Selection::default()
        };
        selection
            .validate()
            .map_err(|error| Usage(format!("--namespace: {error}")))?;
        // As in kubectl, -A has precedence over -n.
        let selection = match args.all_namespaces {
            true => Selection::default(),
            false => selection,
        };
        let (connection, resources) = discovered(&args.connection).await?;
        let mut skipped = Vec::new();
        let mut wanted: Vec<&Resource> = Vec::new();
        if args.resources.is_empty() {
            wanted = resources.kinds();
            skipped.extend(resources.unavailable().iter().map(|group| Skipped {
                resource: group.clone(),
                why: "the server cannot tell just now what is in it".into(),
            }));
        }
        for name in &args.resources {
            if name.contains('/') {
                bail!(Usage(format!(
                    "{name:?} names one object; name kinds, such as pods,deployments"
                )));
            }
            let resource = resources.resolve(name)?;
            if !wanted.contains(&resource) {
                wanted.push(resource);
            }
        }
        let mut targets = Vec::new();
        for resource in wanted {
            if let Some(offered) = resource.lacks() {
                skipped.push(Skipped {
                    resource: resource.full_name(),
                    why: format!("it cannot be listed and watched: the server offers only {offered}"),
                });
            } else if resource.namespaced || selection.namespace.is_none() {
                targets.push(Target {
                    connection: connection.clone(),
                    resource: resource.clone(),
                    selection: selection.clone(),
                    hint: None,
                });
            } else if !args.resources.is_empty() {
                skipped.push(Skipped {
                    resource: resource.full_name(),
                    why: IN_NO_NAMESPACE.into(),
                });
            }
        }
        if targets.is_empty() && !skipped.is_empty() && skipped.iter().all(|kind| kind.why == IN_NO_NAMESPACE)
        {
            let names: Vec<_> = skipped.iter().map(|kind| &*kind.resource).collect();
            bail!(Usage(format!(
                "--namespace: objects of {} are in no namespace; leave it out",
                names.join(", ")
            )));
        }
        Ok(Self { targets, skipped })
    }

    /// The server's URL.
    ///
    /// # Errors
    /// There is no kind to look at.
    pub(crate) fn server(&self) -> anyhow::Result<String> {
        match (self.targets.first(), &*self.skipped) {
            (Some(first), _) => Ok(first.connection.url.clone()),
            (None, []) => bail!("the server has no kind that can be listed and watched"),
            (None, skipped) => {
                let told = skipped
                    .iter()
                    .map(|Skipped { resource, why }| format!("{resource}: {why}"));
                bail!("nothing to look at: {}", told.collect::<Vec<_>>().join("; "))
            }
        }
    }
}

impl Target {
    /// Connects to the server and finds the resource.
    ///
    /// # Errors
    /// The server cannot be reached or is not a Kubernetes API server, there is no such resource, or a selector is
    /// malformed.
    pub(crate) async fn find(args: &SelectionArgs) -> anyhow::Result<Self> {
        check_syntax(&args.scope)?;
        check_is_one(&args.resource)?;
        let (connection, resources) = discovered(&args.scope.connection).await?;
        let resource = resources.resolve(&args.resource)?.clone();
        Self::new(connection, resource, &args.scope, None).await
    }

    /// Connects to the server and finds all resources and objects that these words name, each once: `pods,deploy`,
    /// `pod web-0 web-1` or `pod/web-0 deploy/web`.
    ///
    /// # Errors
    /// As [`Self::find`].
    pub(crate) async fn find_all(words: &[String], scope: &ScopeArgs) -> anyhow::Result<Vec<Self>> {
        check_syntax(scope)?;
        let wanted = wanted(words)?;
        if wanted.iter().any(|(_, name)| name.is_some())
            && (given(&scope.selector).is_some() || given(&scope.field_selector).is_some())
        {
            bail!(Usage("names cannot be given together with a selector".into()));
        }
        let (connection, resources) = discovered(&scope.connection).await?;
        let mut found: Vec<(&Resource, Option<&str>)> = Vec::new();
        for (resource, name) in wanted {
            let resource = resources.resolve(resource)?;
            if !found.contains(&(resource, name)) {
                found.push((resource, name));
            }
        }
        let mut targets = Vec::new();
        for (resource, name) in found {
            let mut target = Self::new(connection.clone(), resource.clone(), scope, name).await?;
            target.hint = name
                .filter(|name| resources.resolve(name).is_ok())
                .map(|name| format!("; {name} is a resource, too: several are separated by commas"));
            targets.push(target);
        }
        Ok(targets)
    }

    async fn new(
        connection: Connection,
        resource: Resource,
        scope: &ScopeArgs,
        name: Option<&str>,
    ) -> anyhow::Result<Self> {
        let namespace = given(&scope.namespace).unwrap_or(&connection.default_namespace);
        let fields = given(&scope.field_selector).map(ToOwned::to_owned);
        let selection = Selection {
            namespace: (resource.namespaced && !scope.all_namespaces).then(|| namespace.to_owned()),
            label_selector: given(&scope.selector).map(ToOwned::to_owned),
            field_selector: name.map(|name| format!("metadata.name={name}")).or(fields),
            shards: None,
        };
        selection
            .validate()
            .map_err(|error| anyhow!("{error} (from the context of the kubeconfig)"))?;
        let target = Self {
            connection,
            resource,
            selection,
            hint: None,
        };
        let selects = target.selection.label_selector.is_some() || target.selection.field_selector.is_some();
        if selects && name.is_none() {
            target.check_selectors().await?;
        }
        Ok(target)
    }

    /// What is watched, for messages: `pods in namespace "shop"`.
    pub(crate) fn described(&self) -> String {
        self.described_as(&self.resource.full_name())
    }

    /// The same, if it is one object: `pod in namespace "shop"`.
    pub(crate) fn described_as_one(&self) -> String {
        self.described_as(&self.resource.object_prefix())
    }

    fn described_as(&self, resource: &str) -> String {
        let name = self.selection.field_selector.as_deref();
        let name = name.and_then(|selector| selector.strip_prefix("metadata.name="));
        let what = match name {
            Some(name) => format!("{}/{name}", self.resource.object_prefix()),
            None => resource.to_owned(),
        };
        match (&self.selection.namespace, self.resource.namespaced) {
            (Some(namespace), _) => format!("{what} in namespace {namespace:?}"),
            (None, true) => format!("{what} in any namespace"),
            (None, false) => what,
        }
    }

    /// That there are no objects, and why: `no pods in namespace "shop"; there is no such namespace`.
    pub(crate) async fn none(&self) -> String {
        format!("no {}{}", self.described(), self.why_none().await)
    }

    /// Why there are no objects, as far as a request tells: the namespace does not exist, or it is worth looking in
    /// others.
    pub(crate) async fn why_none(&self) -> String {
        if let Some(hint) = &self.hint {
            return hint.clone();
        }
        let Some(namespace) = &self.selection.namespace else {
            return String::new();
        };
        let path = format!("/api/v1/namespaces/{namespace}");
        let answer = self.connection.get(&path, "application/json").await;
        match answer {
            Ok(answer) if answer.status == StatusCode::NOT_FOUND => "; there is no such namespace".into(),
            _ => "; -A watches all namespaces".into(),
        }
    }

    /// The objects as an informer's source.
    pub(crate) fn source(&self) -> ClientSource {
        self.source_of(self.connection.client.clone())
    }

    /// The same, through another client.
    pub(crate) fn source_of(&self, client: Client) -> ClientSource {
        ClientSource::new(client, self.resource.api(), self.selection.clone())
    }

    /// Checks whether the server accepts the selectors, since it supports only certain fields, and an informer would
    /// retry for ever. Any other error is left to the informer.
    async fn check_selectors(&self) -> anyhow::Result<()> {
        let answer = self.connection.get(&self.probe()?, "application/json").await?;
        if answer.status != StatusCode::BAD_REQUEST {
            return Ok(());
        }
        let message = answer.message().unwrap_or_else(|| "it is malformed".into());
        let Selection {
            label_selector: labels,
            field_selector: fields,
            ..
        } = &self.selection;
        let given = [("--selector", labels), ("--field-selector", fields)];
        let given = given.map(|(option, text)| text.as_ref().map(|text| format!("{option} {text:?}")));
        let given: Vec<_> = given.into_iter().flatten().collect();
        Err(anyhow!(Usage(format!(
            "the server does not take {}: {message}",
            given.join(" ")
        ))))
    }

    /// The path and query of the smallest list with these selectors.
    fn probe(&self) -> anyhow::Result<String> {
        let Selection {
            namespace,
            label_selector,
            field_selector,
            ..
        } = &self.selection;
        let list = ListParams {
            label_selector: label_selector.clone(),
            field_selector: field_selector.clone(),
            limit: Some(1),
            ..ListParams::default()
        };
        let path = DynamicObject::url_path(&self.resource.api(), namespace.as_deref());
        Ok(Request::new(path).list(&list)?.uri().to_string())
    }
}

/// Connects to the server and asks what it has.
async fn discovered(args: &ConnectionArgs) -> anyhow::Result<(Connection, Resources)> {
    let connection = Connection::new(args).await?;
    let asking = format!("waiting for {}", printable(&connection.url));
    let resources = progress::during(&asking, Resources::of(&connection)).await?;
    Ok((connection, resources))
}

/// The resources and names that the words of a command line mean, by kubectl's rules: `TYPE[,TYPE...] [NAME...]` or
/// `TYPE/NAME...`.
pub(crate) fn wanted(words: &[String]) -> Result<Vec<(&str, Option<&str>)>, Usage> {
    let slashed = words.iter().filter(|word| word.contains('/')).count();
    let wanted: Vec<_> = if slashed == words.len() {
        let pairs = words.iter().filter_map(|word| word.split_once('/'));
        pairs.map(|(resource, name)| (resource, Some(name))).collect()
    } else if slashed > 0 {
        return Err(Usage(format!(
            "{:?}: give either TYPE/NAME everywhere, or TYPE and then names",
            words.join(" ")
        )));
    } else {
        let (types, names) = words
            .split_first()
            .map_or(("", words), |(types, names)| (types, names));
        let of = |resource| match names {
            [] => vec![(resource, None)],
            names => names.iter().map(|name| (resource, Some(name.as_str()))).collect(),
        };
        types.split(',').flat_map(of).collect()
    };
    for (resource, name) in &wanted {
        if resource.is_empty() {
            return Err(Usage(format!("{:?} has an empty resource", words.join(" "))));
        }
        if let Some(name) = name
            && (name.is_empty()
                || name.contains(|c: char| !(c.is_ascii_alphanumeric() || ".-_:".contains(c))))
        {
            return Err(Usage(format!("{name:?} is not the name of an object")));
        }
    }
    Ok(wanted)
}

/// Checks that this names one resource.
fn check_is_one(text: &str) -> Result<(), Usage> {
    if let Some((resource, name)) = text.split_once('/') {
        return Err(Usage(format!(
            "{text:?} names one object; for that alone use: {resource} --field-selector metadata.name={name}"
        )));
    }
    match text.contains(',') {
        true => Err(Usage(format!("{text:?} are several resources; give one"))),
        false => Ok(()),
    }
}

/// Checks the selectors as far as that is possible without a server.
fn check_syntax(args: &ScopeArgs) -> Result<(), Usage> {
    let malformed = |option, text: &str, error: ParseSelectorError| {
        Usage(format!("{option} {text:?} is malformed: {}", chain(&error)))
    };
    let namespace = Selection {
        namespace: args.namespace.clone(),
        ..Selection::default()
    };
    namespace
        .validate()
        .map_err(|error| Usage(format!("--namespace: {error}")))?;
    if let Some(text) = &args.selector {
        LabelSelector::parse(text).map_err(|error| malformed("--selector", text, error))?;
    }
    if let Some(text) = &args.field_selector {
        FieldSelector::parse(text).map_err(|error| malformed("--field-selector", text, error))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_forbidden_to_somebody_is_one_line() {
        let forbidden = |resource: &str, scope: &str| {
            format!(
                "the server answered 403 Forbidden: {resource} is forbidden: User \"al\" cannot list resource \"{resource}\" in API group \
                 \"\" {scope}"
            )
        };
        let everywhere = "at the cluster scope";
        let skipped = [
            ("pods", forbidden("pods", everywhere)),
            ("bindings", "it cannot be listed".to_owned()),
            ("secrets", forbidden("secrets", everywhere)),
            ("nodes", forbidden("nodes", "in the namespace \"a\": denied")),
            ("reviews", "it cannot be listed".to_owned()),
        ];
        let told = |resources: &str, why: &str| (resources.to_owned(), why.to_owned());
        assert_eq!(
            grouped(skipped.iter().map(|(resource, why)| (*resource, &**why))),
            [
                told(
                    "pods, secrets",
                    "forbidden: User \"al\" cannot list them at the cluster scope"
                ),
                told("bindings, reviews", "it cannot be listed"),
                told(
                    "nodes",
                    "forbidden: User \"al\" cannot list them in the namespace \"a\": denied"
                ),
            ]
        );
    }
}
