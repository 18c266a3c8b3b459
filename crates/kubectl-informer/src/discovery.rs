//! The resources of a server, and the one that a user names.

use crate::connection::{Answer, Connection};
use anyhow::{anyhow, bail};
use futures::StreamExt as _;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{
    APIGroup, APIGroupList, APIResource, APIResourceList, APIVersions,
};
use kube::client::{APIGroupDiscovery, APIGroupDiscoveryList, APIResourceDiscovery};
use kube::core::ApiResource;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::HashSet;
use std::fmt;
use std::time::Duration;
use tokio::time::Instant;

/// The time limit for all documents of a server without aggregated discovery together.
const DOCUMENTS: Duration = Duration::from_secs(30);
/// The number of them that are requested at a time.
const AT_ONCE: usize = 16;

/// The media type of aggregated discovery, which servers have since Kubernetes 1.26: everything in two answers. Others
/// answer with the list of their groups.
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
    application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

/// A resource of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Resource {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) kind: String,
    pub(crate) plural: String,
    pub(crate) singular: String,
    short_names: Vec<String>,
    pub(crate) namespaced: bool,
    verbs: Vec<String>,
}

impl Resource {
    /// `pods`, `deployments.apps`.
    pub(crate) fn full_name(&self) -> String {
        dotted(&self.plural, &self.group)
    }

    /// What kubectl's `-o name` puts before the slash: `pod`, `deployment.apps`.
    pub(crate) fn object_prefix(&self) -> String {
        dotted(&self.singular, &self.group)
    }

    /// The resource as the library and the client name it.
    pub(crate) fn api(&self) -> ApiResource {
        let api_version = match self.group.as_str() {
            "" => self.version.clone(),
            group => format!("{group}/{}", self.version),
        };
        ApiResource {
            group: self.group.clone(),
            version: self.version.clone(),
            api_version,
            kind: self.kind.clone(),
            plural: self.plural.clone(),
        }
    }

    /// An object from its bytes. Items of a list need not contain their kind, so it is added.
    ///
    /// # Errors
    /// They are no JSON.
    pub(crate) fn object(&self, body: &[u8]) -> serde_json::Result<Value> {
        let mut object: Value = serde_json::from_slice(body)?;
        if let Some(members) = object.as_object_mut() {
            let api = self.api();
            members.entry("apiVersion").or_insert(api.api_version.into());
            members.entry("kind").or_insert(api.kind.into());
        }
        Ok(object)
    }

    /// Whether its objects are secrets, whose values are nobody's business.
    pub(crate) fn is_secret(&self) -> bool {
        self.group.is_empty() && self.kind == "Secret"
    }

    /// Whether it is no kind of Kubernetes itself: its group has a dot, and is not one of `k8s.io`.
    pub(crate) fn is_custom(&self) -> bool {
        self.group.contains('.') && !self.group.ends_with(".k8s.io")
    }

    /// What the server offers instead, if objects cannot be listed and watched.
    pub(crate) fn lacks(&self) -> Option<String> {
        let watchable = self.offers("list") && self.offers("watch");
        (!watchable).then(|| self.verbs.join(", "))
    }

    fn offers(&self, verb: &str) -> bool {
        self.verbs.iter().any(|offered| offered == verb)
    }

    fn has_name(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        name == self.plural || name == self.singular || name == self.kind.to_lowercase()
    }

    fn has_short_name(&self, name: &str) -> bool {
        self.short_names
            .iter()
            .any(|short| short.eq_ignore_ascii_case(name))
    }
}

fn dotted(name: &str, group: &str) -> String {
    match group {
        "" => name.to_owned(),
        group => format!("{name}.{group}"),
    }
}

/// All resources of a server: groups in the server's order, the core group first; in each the preferred version first.
#[derive(Default)]
pub(crate) struct Resources {
    known: Vec<Resource>,
    /// The group versions whose resources are unknown or possibly outdated, such as `metrics.k8s.io/v1beta1`: those
    /// of an aggregated API server that does not answer.
    unavailable: Vec<String>,
    /// Whether they are not those of a server but of a recording.
    recorded: bool,
}

impl Resources {
    /// The resources of a recording.
    pub(crate) fn recorded(resources: &[Resource]) -> Self {
        Self {
            known: resources.to_vec(),
            unavailable: vec![],
            recorded: true,
        }
    }

    /// Asks the server.
    ///
    /// # Errors
    /// The server cannot be reached, rejects the credentials, or is not a Kubernetes API server.
    pub(crate) async fn of(connection: &Connection) -> anyhow::Result<Self> {
        let mut resources = Self::default();
        for path in ["/api", "/apis"] {
            let answer = connection.get(path, AGGREGATED).await?;
            match discovery(connection, path, &answer)? {
                Discovery::Aggregated(groups) => groups.into_iter().for_each(|group| resources.add(group)),
                Discovery::Versions(versions) => resources.ask(connection, versions).await,
            }
        }
        Ok(resources)
    }

    /// Adds a group of aggregated discovery.
    fn add(&mut self, group: APIGroupDiscovery) {
        let name = group.metadata.and_then(|metadata| metadata.name);
        let name = name.unwrap_or_default();
        for version in group.versions {
            let of = GroupVersion {
                group: name.clone(),
                version: version.version.unwrap_or_default(),
            };
            if version.freshness.as_deref() == Some("Stale") {
                self.unavailable.push(of.to_string());
            }
            let resources = version.resources.into_iter();
            self.known
                .extend(resources.filter_map(|resource| aggregated(&of, resource)));
        }
    }

    /// Requests the documents of these versions, and adds their resources.
    async fn ask(&mut self, connection: &Connection, versions: Vec<GroupVersion>) {
        let deadline = Instant::now() + DOCUMENTS;
        let asked = versions.into_iter().map(|of| async move {
            let document = tokio::time::timeout_at(deadline, document(connection, &of)).await;
            (document.ok().flatten(), of)
        });
        let documents: Vec<_> = futures::stream::iter(asked).buffered(AT_ONCE).collect().await;
        for (document, of) in documents {
            match document {
                Some(list) => {
                    let resources = list.resources.into_iter();
                    self.known
                        .extend(resources.filter_map(|resource| plain(&of, resource)));
                }
                None => self.unavailable.push(of.to_string()),
            }
        }
    }

    /// The names of all resources that can be watched, each once.
    pub(crate) fn watchable(&self) -> Vec<String> {
        let can = |resource: &&Resource| resource.lacks().is_none();
        let mut names: Vec<_> = self.known.iter().filter(can).map(Resource::full_name).collect();
        names.sort();
        names.dedup();
        names
    }

    /// Every kind whose objects can be listed once, in the version that the server prefers. Others, such as reviews, are
    /// questions and have no objects. Events are served by two groups, and are those of the core group here.
    pub(crate) fn kinds(&self) -> Vec<&Resource> {
        let mut seen = HashSet::new();
        let mut kinds: Vec<_> = self
            .known
            .iter()
            .filter(|resource| resource.offers("list"))
            .collect();
        kinds.retain(|resource| seen.insert((&resource.group, &resource.plural)));
        let core_events = (&String::new(), &"events".to_owned());
        if seen.contains(&core_events) {
            kinds.retain(|resource| resource.full_name() != "events.events.k8s.io");
        }
        kinds
    }

    /// The group versions of which the server cannot tell now what is in them.
    pub(crate) fn unavailable(&self) -> &[String] {
        &self.unavailable
    }

    /// The resource that `text` names, by kubectl's rules.
    ///
    /// # Errors
    /// There is no such resource, or it cannot be watched.
    pub(crate) fn resolve(&self, text: &str) -> anyhow::Result<&Resource> {
        let found = self.find(text).ok_or_else(|| self.unknown(text))?;
        if let Some(offered) = found.lacks() {
            bail!(
                "{} cannot be watched: the server offers only {offered}",
                found.full_name()
            );
        }
        Ok(found)
    }

    /// `name`, `name.group` or `name.version.group`, where the name is the plural, the singular, the kind or a short
    /// name, in any case.
    fn find(&self, text: &str) -> Option<&Resource> {
        let Some((name, rest)) = text.split_once('.') else {
            return self.named(text, |_| true);
        };
        let with_version = rest.split_once('.').and_then(|(version, group)| {
            self.named(name, |resource| {
                resource.version == version && resource.group == group
            })
        });
        with_version
            .or_else(|| self.named(name, |resource| resource.group == rest))
            .or_else(|| {
                self.named(name, |resource| {
                    !rest.is_empty() && resource.group.starts_with(rest)
                })
            })
    }

    /// The first resource of this name; short names are considered only if no resource has it as its full name.
    fn named(&self, name: &str, wanted: impl Fn(&Resource) -> bool) -> Option<&Resource> {
        let wanted = || self.known.iter().filter(|resource| wanted(resource));
        wanted()
            .find(|resource| resource.has_name(name))
            .or_else(|| wanted().find(|resource| resource.has_short_name(name)))
    }

    fn unknown(&self, text: &str) -> anyhow::Error {
        if self.recorded {
            let known: Vec<_> = self.known.iter().map(Resource::full_name).collect();
            return anyhow!("the recording has no {text:?}, only {}", known.join(", "));
        }
        let near = self.near(text);
        let hint = match &*near {
            _ if text == "all" => "name those that you mean, such as pods,deployments".to_owned(),
            [] => "see `kubectl api-resources` for what it has".to_owned(),
            near => format!("did you mean {}?", near.join(" or ")),
        };
        anyhow!(
            "the server has no resource {text:?}; {hint}{}",
            self.reservation()
        )
    }

    /// The group versions whose resources are unknown, for messages.
    fn reservation(&self) -> String {
        const SHOWN: usize = 5;
        let (shown, more) = self.unavailable.split_at(self.unavailable.len().min(SHOWN));
        let more = match more.len() {
            0 => String::new(),
            more => format!(" and {more} others"),
        };
        match shown {
            [] => String::new(),
            shown => format!(
                " (just now it cannot tell what is in {}{more}: see `kubectl get apiservices`)",
                shown.join(", ")
            ),
        }
    }

    /// Up to three similar names, the most similar first.
    fn near(&self, text: &str) -> Vec<String> {
        let text = text.to_lowercase();
        let mut near: Vec<(usize, String)> = Vec::new();
        for resource in &self.known {
            let full = resource.full_name();
            let names = [&*resource.plural, &*resource.singular, &*full];
            let distances = names.map(|name| strsim::osa_distance(&text, name));
            let distance = distances.into_iter().min().unwrap_or(usize::MAX);
            if distance <= (text.len() / 3).max(1) && !near.iter().any(|(_, known)| *known == full) {
                near.push((distance, full));
            }
        }
        near.sort_by_key(|(distance, _)| *distance);
        near.into_iter().take(3).map(|(_, name)| name).collect()
    }
}

/// A version of a group; the core group's name is empty.
struct GroupVersion {
    group: String,
    version: String,
}

impl GroupVersion {
    /// The path of its discovery document.
    fn path(&self) -> String {
        match &*self.group {
            "" => format!("/api/{}", self.version),
            group => format!("/apis/{group}/{}", self.version),
        }
    }
}

impl fmt::Display for GroupVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.group {
            "" => f.write_str(&self.version),
            group => write!(f, "{group}/{}", self.version),
        }
    }
}

/// A server's answer to the request for its groups.
enum Discovery {
    Aggregated(Vec<APIGroupDiscovery>),
    /// It has no aggregated discovery: each version needs a request.
    Versions(Vec<GroupVersion>),
}

fn discovery(connection: &Connection, path: &str, answer: &Answer) -> anyhow::Result<Discovery> {
    #[derive(Deserialize)]
    struct Kind {
        kind: String,
    }
    let status = answer.status;
    let malformed = |error| connection.not_kubernetes(&format!("GET {path} gave JSON, but {error}"));
    match answer.json::<Kind>().map(|list| list.kind).as_deref() {
        Ok("APIGroupDiscoveryList") => {
            let list: APIGroupDiscoveryList = answer.json().map_err(malformed)?;
            Ok(Discovery::Aggregated(list.items))
        }
        Ok("APIVersions") => {
            let list: APIVersions = answer.json().map_err(malformed)?;
            let core = |version| GroupVersion {
                group: String::new(),
                version,
            };
            Ok(Discovery::Versions(list.versions.into_iter().map(core).collect()))
        }
        Ok("APIGroupList") => {
            let list: APIGroupList = answer.json().map_err(malformed)?;
            Ok(Discovery::Versions(
                list.groups.into_iter().flat_map(versions).collect(),
            ))
        }
        Ok("Status") => {
            let message = answer.message().unwrap_or_else(|| "no reason given".into());
            let hint = match status.as_u16() {
                401 => "; check the credentials",
                403 => "; the user needs the role system:discovery",
                _ => "",
            };
            bail!(
                "{} answered GET {path} with {status}: {message}{hint}",
                connection.url
            )
        }
        _ => Err(connection.not_kubernetes(&format!("GET {path} gave {status} and other JSON"))),
    }
}

/// The versions of a group, the preferred one first.
fn versions(group: APIGroup) -> Vec<GroupVersion> {
    let preferred = group.preferred_version.map(|preferred| preferred.version);
    let mut versions: Vec<_> = group
        .versions
        .into_iter()
        .map(|version| version.version)
        .collect();
    versions.sort_by_key(|version| Some(version) != preferred.as_ref());
    let of = |version| GroupVersion {
        group: group.name.clone(),
        version,
    };
    versions.into_iter().map(of).collect()
}

/// The resources of a version, if the server knows them.
async fn document(connection: &Connection, of: &GroupVersion) -> Option<APIResourceList> {
    let answer = connection.get(&of.path(), "application/json").await;
    let list = answer.and_then(|answer| match answer.status.is_success() {
        true => Ok(answer.json::<APIResourceList>()?),
        false => Err(anyhow!(
            "{}: {}",
            answer.status,
            answer.message().unwrap_or_default()
        )),
    });
    list.inspect_err(|error| tracing::debug!("no resources of {of}: {error:#}"))
        .ok()
}

/// `None` for a resource without objects of its own.
fn aggregated(of: &GroupVersion, resource: APIResourceDiscovery) -> Option<Resource> {
    let kind = resource.response_kind?.kind.filter(|kind| !kind.is_empty())?;
    let singular = resource.singular_resource.filter(|singular| !singular.is_empty());
    Some(Resource {
        group: of.group.clone(),
        version: of.version.clone(),
        plural: resource.resource?,
        singular: singular.unwrap_or_else(|| kind.to_lowercase()),
        kind,
        short_names: resource.short_names,
        namespaced: resource.scope.as_deref() == Some("Namespaced"),
        verbs: resource.verbs,
    })
}

/// `None` for a subresource.
fn plain(of: &GroupVersion, resource: APIResource) -> Option<Resource> {
    let singular = Some(resource.singular_name).filter(|singular| !singular.is_empty());
    (!resource.name.contains('/')).then(|| Resource {
        group: of.group.clone(),
        version: of.version.clone(),
        plural: resource.name,
        singular: singular.unwrap_or_else(|| resource.kind.to_lowercase()),
        kind: resource.kind,
        short_names: resource.short_names.unwrap_or_default(),
        namespaced: resource.namespaced,
        verbs: resource.verbs,
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn resource(group: &str, version: &str, kind: &str, plural: &str, short: &str) -> Resource {
        Resource {
            group: group.into(),
            version: version.into(),
            kind: kind.into(),
            plural: plural.into(),
            singular: kind.to_lowercase(),
            short_names: short.split_whitespace().map(Into::into).collect(),
            namespaced: true,
            verbs: ["list", "watch"].map(Into::into).into(),
        }
    }

    fn resources() -> Resources {
        let mut review = resource("authentication.k8s.io", "v1", "TokenReview", "tokenreviews", "");
        review.verbs = vec!["create".into()];
        let known = vec![
            resource("", "v1", "Pod", "pods", "po"),
            resource("", "v1", "Event", "events", "ev"),
            resource("", "v1", "PodTemplate", "podtemplates", ""),
            resource("apps", "v1", "Deployment", "deployments", "deploy"),
            resource("apps", "v1beta1", "Deployment", "deployments", "deploy"),
            resource("events.k8s.io", "v1", "Event", "events", "ev"),
            resource("example.com", "v1", "Po", "po", ""),
            review,
        ];
        Resources {
            known,
            ..Resources::default()
        }
    }

    #[test]
    fn an_item_of_a_list_gets_its_kind() {
        let deployments = resource("apps", "v1", "Deployment", "deployments", "deploy");
        let object = deployments.object(br#"{"metadata":{}}"#).unwrap();
        let expected = serde_json::json!({"metadata": {}, "apiVersion": "apps/v1", "kind": "Deployment"});
        assert_eq!(object, expected);
    }

    #[test]
    fn every_kind_that_has_objects_is_there_once() {
        let resources = resources();
        let names: Vec<_> = resources
            .kinds()
            .into_iter()
            .map(|resource| format!("{}/{}", resource.full_name(), resource.version))
            .collect();
        assert_eq!(
            names,
            [
                "pods/v1",
                "events/v1",
                "podtemplates/v1",
                "deployments.apps/v1",
                "po.example.com/v1",
            ]
        );
    }

    #[test]
    fn names_are_understood_as_kubectl_does() {
        let resources = resources();
        for (text, expected) in [
            ("pods", "pods/v1"),
            ("pod", "pods/v1"),
            ("Pod", "pods/v1"),
            ("PODS", "pods/v1"),
            ("deploy", "deployments.apps/v1"),
            ("Deployment.apps", "deployments.apps/v1"),
            ("deployments.apps", "deployments.apps/v1"),
            ("deployments.v1beta1.apps", "deployments.apps/v1beta1"),
            ("deploy.apps", "deployments.apps/v1"),
            ("pods.v1.", "pods/v1"),
            ("events", "events/v1"),
            ("events.events.k8s.io", "events.events.k8s.io/v1"),
            ("events.v1.events.k8s.io", "events.events.k8s.io/v1"),
            ("events.events", "events.events.k8s.io/v1"),
            // A full name takes precedence over a short name.
            ("po", "po.example.com/v1"),
        ] {
            let found = resources.resolve(text).unwrap();
            assert_eq!(
                format!("{}/{}", found.full_name(), found.version),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn groups_that_do_not_answer_are_named() {
        let mut resources = resources();
        resources.unavailable = vec!["metrics.k8s.io/v1beta1".into()];
        let error = |resources: &Resources| resources.resolve("nodemetrics").unwrap_err().to_string();
        assert_eq!(
            error(&resources),
            "the server has no resource \"nodemetrics\"; see `kubectl api-resources` for what it has \
             (just now it cannot tell what is in metrics.k8s.io/v1beta1: see `kubectl get apiservices`)"
        );
        resources.unavailable = (0..7).map(|n| format!("g{n}/v1")).collect();
        assert!(error(&resources).contains("g3/v1, g4/v1 and 2 others: see"));
    }

    #[test]
    fn the_preferred_version_comes_first() {
        let group = serde_json::json!({
            "name": "g", "preferredVersion": {"groupVersion": "g/v1", "version": "v1"},
            "versions": [{"groupVersion": "g/v2", "version": "v2"}, {"groupVersion": "g/v1", "version": "v1"}],
        });
        let versions = versions(serde_json::from_value(group).unwrap());
        let paths: Vec<_> = versions.iter().map(GroupVersion::path).collect();
        assert_eq!(paths, ["/apis/g/v1", "/apis/g/v2"]);
    }

    #[test]
    fn what_is_unknown_is_told_with_what_is_near() {
        let resources = resources();
        let error = |text| resources.resolve(text).unwrap_err().to_string();
        assert_eq!(
            error("pots"),
            "the server has no resource \"pots\"; did you mean pods?"
        );
        assert!(error("deploments").contains("did you mean deployments.apps?"));
        assert!(error("all").ends_with("; name those that you mean, such as pods,deployments"));
        assert!(error("xyzzy").contains("kubectl api-resources"));
        assert!(error("deployments.v2.apps").contains("no resource"));
        assert_eq!(
            error("tokenreviews"),
            "tokenreviews.authentication.k8s.io cannot be watched: the server offers only create"
        );
    }
}
