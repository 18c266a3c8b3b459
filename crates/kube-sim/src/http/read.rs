//! LIST, WATCH, and what is computed when somebody reads it.

use futures::{StreamExt as _, stream};
use http::header::CACHE_CONTROL;
use http::{HeaderValue, Response, StatusCode};
use http_body_util::BodyStream;

use crate::api::components;
use crate::api::options::{ListOptions, WatchOptions};
use crate::api::render::{Encoding, Form};
use crate::faults::Meeting;
use crate::media;
use crate::response::{self, SimBody, streamed};
use crate::selector::Selector;
use crate::status::StatusError;
use crate::target::Target;

use super::Call;
use super::warning::warn;

impl Call {
    pub(super) fn selector(&self, target: &Target) -> Result<Selector, StatusError> {
        Selector::parse(
            &target.resource,
            self.query.get("labelSelector"),
            self.query.get("fieldSelector"),
        )
    }

    /// Restricts a selection to what the request asks for of shards, unless the server ignores that.
    pub(super) fn sharded(&self, selector: Selector) -> Result<Selector, StatusError> {
        match self.api.sharded_lists {
            true => selector.and_shards(self.query.get("shardSelector")),
            false => Ok(selector),
        }
    }

    pub(super) fn watch(
        self,
        target: Target,
        name: Option<&str>,
        form: Form,
        faults: &Meeting,
    ) -> Result<Response<SimBody>, StatusError> {
        let mut selector = self.selector(&target)?;
        if let Some(name) = name {
            selector = selector.and_named(name);
        }
        let options = WatchOptions::parse(&self.query)?;
        let selector = self.sharded(selector)?;
        let written = (form, self.encoding);
        let frames = self.api.watch(target, selector, &options, written, faults)?;
        if self.encoding == Encoding::Yaml {
            return Err(media::not_streamed());
        }
        let mut response = media::rendered_watch(self.encoding, streamed(frames));
        response
            .headers_mut()
            .insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
        Ok(response)
    }

    pub(super) async fn list(
        &self,
        target: &Target,
        form: Form,
        faults: &Meeting,
    ) -> Result<Response<SimBody>, StatusError> {
        let selector = self.selector(target)?;
        let options = ListOptions::parse(&self.query)?;
        let selector = self.sharded(selector)?;
        if let (true, Some(token)) = (faults.expire_continue, &options.token) {
            return Err(token.expired(&target.prefix()));
        }
        let stale = faults.stale.as_ref();
        let written = (form, self.encoding);
        let mut target = target.clone();
        if target.resource.namespaced && target.namespace.is_none() {
            // What a field selector says of the namespace is as good as a path: tokens to continue with are relative to it.
            target.namespace = selector.namespace().map(str::to_owned);
        }
        let list = self.api.list(&target, &selector, &options, written, stale);
        let list = list.await?;
        Ok(self.rendered(StatusCode::OK, streamed(stream::iter(list))))
    }

    /// Answers what is computed when somebody reads it.
    pub(super) fn report(&self, target: &Target, form: Form) -> Result<Response<SimBody>, StatusError> {
        if !matches!(self.request.method.as_str(), "GET" | "HEAD") || self.query.flag("watch") == Some(true) {
            return Err(StatusError::method_not_allowed());
        }
        let mut components = components::all(target);
        let mut response = match target.name.as_deref() {
            Some(name) => {
                let found = components.iter().find(|component| component.name() == name);
                let found = found.ok_or_else(|| StatusError::not_found(&target.resource, name))?;
                self.object(target, form, StatusCode::OK, found)?
            }
            None => {
                let selector = self.selector(target)?;
                components.retain(|component| selector.matches(component));
                let list = self
                    .api
                    .list_of(target, &selector, components, (form, self.encoding))?;
                self.rendered(StatusCode::OK, streamed(stream::iter(list)))
            }
        };
        warn(&mut response, &[components::DEPRECATED.to_owned()]);
        Ok(response)
    }
}

/// A body that ends where this one begins.
pub(super) fn ended_by_first(body: SimBody) -> SimBody {
    let first = BodyStream::new(body).take(1);
    response::frames(first.filter_map(|_| std::future::ready(None)))
}
