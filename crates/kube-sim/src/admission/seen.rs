//! What is asked about, in the version that those who are asked name in their rules.

use serde_json::Value;

use super::{Object, Question, form_of, kind_of};
use crate::api::Api;
use crate::schema::fit;
use crate::status::StatusError;
use crate::target::Target;
use crate::view;

/// The objects of a question as those see them whose rules name a target.
#[derive(Debug, Clone)]
pub(super) struct Seen {
    pub(super) target: Target,
    pub(super) object: Option<Object>,
    pub(super) old: Option<Object>,
    /// The object in the version of the request, as it was when it was turned.
    given: Option<Object>,
    /// Whether the object has been changed since.
    is_changed: bool,
}

impl Seen {
    /// The objects as the request has them.
    pub(super) fn of(question: &Question) -> Self {
        Self::with(question, question.object.clone())
    }

    /// The same with what has become of the object.
    pub(super) fn with(question: &Question, object: Option<Object>) -> Self {
        Self {
            target: question.target.clone(),
            given: object.clone(),
            object,
            old: question.old.clone(),
            is_changed: false,
        }
    }

    /// Whether it is what those see whose rules name a target.
    pub(super) fn is_by(&self, target: &Target) -> bool {
        is_same(&self.target, target)
    }

    /// Puts a changed object in the place of the one that is seen, with the defaults of its version; returns whether it differs.
    pub(super) fn change(&mut self, mut changed: Object) -> bool {
        let target = &self.target;
        if form_of(target).is_none() && target.resource.custom {
            let version = version_of(&changed).unwrap_or(&target.version);
            if let Some(schema) = target.resource.schema(version) {
                fit::defaulted(&mut changed, &schema);
            }
        }
        let before = self.object.as_ref().map(|object| shown(target, object));
        let differs = before.is_none_or(|before| before != Value::Object(changed.clone()));
        self.object = Some(changed);
        self.is_changed = true;
        differs
    }
}

impl Api {
    /// The target, and those that are the same in other versions of its resource, or in the other API of its store.
    pub(super) fn same_targets(&self, target: &Target) -> Vec<Target> {
        let resource = &target.resource;
        let others = resource
            .versions
            .iter()
            .filter(|version| **version != target.version);
        let mut same = vec![target.clone()];
        same.extend(others.map(|version| Target {
            version: version.clone(),
            ..target.clone()
        }));
        let group = match (resource.custom, resource.group.as_str(), resource.plural.as_str()) {
            (false, "", "events") => Some("events.k8s.io"),
            (false, "events.k8s.io", "events") => Some(""),
            _ => None,
        };
        let other = group.and_then(|group| self.find(group, "v1", "events"));
        same.extend(other.map(|resource| Target {
            resource,
            ..target.clone()
        }));
        same
    }

    /// What a question is about as those see it whose rules name a target.
    ///
    /// # Errors
    ///
    /// What a conversion webhook says.
    pub(super) async fn seen_by(&self, question: &Question, target: &Target) -> Result<Seen, StatusError> {
        let mut seen = Seen::of(question);
        self.turn(question, &mut seen, target).await?;
        Ok(seen)
    }

    /// Turns what is seen into what those see whose rules name another target. What has been changed goes by way of the request's
    /// version.
    pub(super) async fn turn(
        &self,
        question: &Question,
        seen: &mut Seen,
        target: &Target,
    ) -> Result<(), StatusError> {
        if is_same(&seen.target, target) {
            return Ok(());
        }
        let object = self.turned_back(question, seen).await?;
        seen.old = match &question.old {
            Some(old) => Some(self.turned(old.clone(), &question.target, target).await?),
            None => None,
        };
        seen.object = match &object {
            Some(object) => Some(self.turned(object.clone(), &question.target, target).await?),
            None => None,
        };
        seen.given = object;
        seen.target = target.clone();
        seen.is_changed = false;
        Ok(())
    }

    /// The object in the version of the request; as it was if nobody has changed it since it was turned.
    pub(super) async fn turned_back(
        &self,
        question: &Question,
        seen: &Seen,
    ) -> Result<Option<Object>, StatusError> {
        match &seen.object {
            Some(object) if seen.is_changed => {
                let object = object.clone();
                self.turned(object, &seen.target, &question.target)
                    .await
                    .map(Some)
            }
            _ => Ok(seen.given.clone()),
        }
    }

    /// An object of one target as one of another, which is the same but for its version or its API.
    async fn turned(&self, mut object: Object, from: &Target, to: &Target) -> Result<Object, StatusError> {
        if is_same(from, to) || form_of(to).is_some() {
            return Ok(object);
        }
        let resource = &to.resource;
        let api_version = resource.api_version(&to.version);
        if object
            .get("apiVersion")
            .is_some_and(|given| *given == *api_version)
        {
            return Ok(object);
        }
        if resource.custom && resource.definition.webhook.is_some() {
            let converted = self.convert(resource, &to.version, vec![object]).await?;
            return Ok(converted.into_iter().next().unwrap_or_default());
        }
        view::to_stored(&from.resource, &mut object);
        object.insert("apiVersion".into(), api_version.into());
        view::to_served(resource, &mut object);
        Ok(object)
    }
}

/// The version that an object says it is of.
fn version_of(object: &Object) -> Option<&str> {
    let given = object.get("apiVersion")?.as_str()?;
    Some(given.rsplit_once('/').map_or(given, |(_, version)| version))
}

fn is_same(one: &Target, other: &Target) -> bool {
    one.version == other.version && one.resource.group == other.resource.group
}

/// An object with its kind, as webhooks and policies see it.
pub(super) fn shown(target: &Target, object: &Object) -> Value {
    let kind = kind_of(target);
    let text = |name: &str| kind[name].as_str().unwrap_or("");
    let api_version = match text("group") {
        "" => text("version").to_owned(),
        group => format!("{group}/{}", text("version")),
    };
    let head = [("apiVersion", api_version.as_str()), ("kind", text("kind"))];
    let mut seen = object.clone();
    seen.extend(head.map(|(name, value)| (name.to_owned(), value.into())));
    Value::Object(seen)
}
