//! Which resources a server has, and which one a user means.

use crate::connection::{Answer, Connection};
use anyhow::{anyhow, bail};
use kube::client::{APIGroupDiscovery, APIGroupDiscoveryList, APIResourceDiscovery};
use kube::core::ApiResource;

/// The media type of aggregated discovery, which servers have since Kubernetes 1.26: everything in two answers.
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
    application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";

/// A resource of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Resource {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) kind: String,
    pub(crate) plural: String,
    singular: String,
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

    /// What the library and the client call it.
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
pub(crate) struct Resources(Vec<Resource>);

impl Resources {
    /// Asks the server.
    ///
    /// # Errors
    /// It cannot be reached, does not let us in, or is no Kubernetes API server.
    pub(crate) async fn of(connection: &Connection) -> anyhow::Result<Self> {
        let mut resources = Vec::new();
        for path in ["/api", "/apis"] {
            let answer = connection.get(path, AGGREGATED).await?;
            let list = discovery_list(connection, path, answer)?;
            resources.extend(list.items.into_iter().flat_map(of_group));
        }
        Ok(Self(resources))
    }

    /// The resource that is meant by `text`, as kubectl understands it.
    ///
    /// # Errors
    /// There is none, or it cannot be watched.
    pub(crate) fn resolve(&self, text: &str) -> anyhow::Result<&Resource> {
        let found = self.find(text).ok_or_else(|| self.unknown(text))?;
        for verb in ["list", "watch"] {
            if !found.verbs.iter().any(|v| v == verb) {
                bail!(
                    "{} cannot be watched: the server offers only {}",
                    found.full_name(),
                    found.verbs.join(", ")
                );
            }
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

    /// The first resource of this name; a short name counts only if nothing has it as its full one.
    fn named(&self, name: &str, wanted: impl Fn(&Resource) -> bool) -> Option<&Resource> {
        let wanted = || self.0.iter().filter(|resource| wanted(resource));
        wanted()
            .find(|resource| resource.has_name(name))
            .or_else(|| wanted().find(|resource| resource.has_short_name(name)))
    }

    fn unknown(&self, text: &str) -> anyhow::Error {
        if let Some((resource, name)) = text.split_once('/') {
            return anyhow!(
                "{text:?} names one object; for that alone use: {resource} --field-selector metadata.name={name}"
            );
        }
        let near = self.near(text);
        let hint = match &*near {
            [] => "see `kubectl api-resources` for what it has".to_owned(),
            near => format!("did you mean {}?", near.join(" or ")),
        };
        anyhow!("the server has no resource {text:?}; {hint}")
    }

    /// Up to three names that look much like this one, the nearest first.
    fn near(&self, text: &str) -> Vec<String> {
        let text = text.to_lowercase();
        let mut near: Vec<(usize, String)> = Vec::new();
        for resource in &self.0 {
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

fn discovery_list(
    connection: &Connection,
    path: &str,
    answer: Answer,
) -> anyhow::Result<APIGroupDiscoveryList> {
    let Answer { status, body } = answer;
    let kind = body["kind"].as_str().unwrap_or_default();
    match kind {
        "APIGroupDiscoveryList" => Ok(serde_json::from_value(body)
            .map_err(|error| connection.not_kubernetes(&format!("GET {path} gave JSON, but {error}")))?),
        "Status" => {
            let message = body["message"].as_str().unwrap_or("no reason given");
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
        "APIVersions" | "APIGroupList" => {
            bail!(
                "the server at {} is too old: Kubernetes 1.26 or later is needed",
                connection.url
            )
        }
        _ => Err(connection.not_kubernetes(&format!("GET {path} gave {status} and other JSON"))),
    }
}

fn of_group(group: APIGroupDiscovery) -> impl Iterator<Item = Resource> {
    let name = group
        .metadata
        .and_then(|metadata| metadata.name)
        .unwrap_or_default();
    group.versions.into_iter().flat_map(move |version| {
        let group = name.clone();
        let version_name = version.version.unwrap_or_default();
        let resources = version.resources.into_iter();
        resources.filter_map(move |resource| of_resource(&group, &version_name, resource))
    })
}

/// `None` for what has no objects of its own.
fn of_resource(group: &str, version: &str, resource: APIResourceDiscovery) -> Option<Resource> {
    let kind = resource.response_kind?.kind.filter(|kind| !kind.is_empty())?;
    let singular = resource.singular_resource.filter(|singular| !singular.is_empty());
    Some(Resource {
        group: group.to_owned(),
        version: version.to_owned(),
        plural: resource.resource?,
        singular: singular.unwrap_or_else(|| kind.to_lowercase()),
        kind,
        short_names: resource.short_names,
        namespaced: resource.scope.as_deref() == Some("Namespaced"),
        verbs: resource.verbs,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resource(group: &str, version: &str, kind: &str, plural: &str, short: &str) -> Resource {
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
        Resources(vec![
            resource("", "v1", "Pod", "pods", "po"),
            resource("", "v1", "Event", "events", "ev"),
            resource("", "v1", "PodTemplate", "podtemplates", ""),
            resource("apps", "v1", "Deployment", "deployments", "deploy"),
            resource("apps", "v1beta1", "Deployment", "deployments", "deploy"),
            resource("events.k8s.io", "v1", "Event", "events", "ev"),
            resource("example.com", "v1", "Po", "po", ""),
            review,
        ])
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
            // A name goes before a short name.
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
    fn what_is_unknown_is_told_with_what_is_near() {
        let resources = resources();
        let error = |text| resources.resolve(text).unwrap_err().to_string();
        assert_eq!(
            error("pots"),
            "the server has no resource \"pots\"; did you mean pods?"
        );
        assert!(error("deploments").contains("did you mean deployments.apps?"));
        assert!(error("xyzzy").contains("kubectl api-resources"));
        assert!(error("deployments.v2.apps").contains("no resource"));
        assert!(error("pods/a").contains("--field-selector metadata.name=a"));
        assert_eq!(
            error("tokenreviews"),
            "tokenreviews.authentication.k8s.io cannot be watched: the server offers only create"
        );
    }
}
