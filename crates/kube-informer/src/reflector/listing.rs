//! The list phase of a reflector.

use super::pages::{Pages, Turn};
use super::prefetch::Prefetch;
use super::{Reflector, Sink, State, Wanted};
use crate::form::Decode;
use crate::object::{ObjectKey, ResourceVersion};
use crate::source::{
    ApiError, ApiStatus, DecodeResult, ListMeta, ListPart, ListRequest, ListVersion, Subject,
};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::Instant;
use tracing::Instrument;

/// A list as it is passed to the sink.
type Listed<O> = Vec<(ObjectKey, DecodeResult<O>)>;

impl<O: Decode, S: Sink<O>> Reflector<O, S> {
    /// Replaces the sink's content by a list.
    pub(super) async fn list(&mut self, mut wanted: Wanted) -> State<O> {
        let span = self.reporter.subject().list_span(false);
        let listed = self.list_collection(&mut wanted).instrument(span.clone()).await;
        match listed {
            Ok(()) => {
                Subject::record_version(&span, self.seen.as_ref());
                State::Watching(None)
            }
            Err(error) => {
                self.pacing.not_fulfilled();
                span.in_scope(|| self.failed("list", &error));
                State::Populating(wanted).after_pause(error.retry_after())
            }
        }
    }

    async fn list_collection(&mut self, wanted: &mut Wanted) -> Result<(), ApiError> {
        let mut turn = self.turn_to_list().await;
        let started = Instant::now();
        let (entries, end) = loop {
            match self.list_pages(*wanted, &mut turn).await {
                Err(ApiError::Status(status))
                    if *wanted == Wanted::NotOlderThanSeen && is_version_unavailable(&status) =>
                {
                    *wanted = Wanted::MostRecent;
                    tracing::debug!(resource = self.reporter.resource(), %status, "listing the newest state instead");
                }
                Ok((entries, end)) if self.must_list_afresh(&entries, &end.resource_version) => {
                    *wanted = Wanted::Afresh;
                }
                result => break result?,
            }
            drop(turn.take());
            turn = self.turn_to_list().await;
        };
        self.replace(entries, end.resource_version, started).await;
        Ok(())
    }

    /// Whether a list shows that the server went back, but has objects that count as unchanged by their versions. The server
    /// may have used these again for other states.
    pub(super) fn must_list_afresh(
        &self,
        entries: &[(ObjectKey, DecodeResult<O>)],
        version: &Option<ResourceVersion>,
    ) -> bool {
        let went_back = match (version, &self.seen) {
            (Some(version), Some(seen)) => version.is_version() && version < seen,
            _ => false,
        };
        let mut unchanged = entries
            .iter()
            .filter(|(_, object)| matches!(object, DecodeResult::Unchanged));
        went_back && self.server.identified_by_version && unchanged.next().is_some()
    }

    fn list_version(&self, wanted: Wanted) -> ListVersion {
        match (wanted, &self.seen) {
            (Wanted::MostRecent | Wanted::Afresh, _) => ListVersion::MostRecent,
            (Wanted::NotOlderThanSeen, None) => ListVersion::Any,
            (Wanted::NotOlderThanSeen, Some(seen)) => ListVersion::NotOlderThan(seen.clone()),
        }
    }

    /// Lists the collection, in pages unless at a version: the server sends such a list from its cache, without pages.
    async fn list_pages(
        &mut self,
        wanted: Wanted,
        turn: &mut Option<OwnedSemaphorePermit>,
    ) -> Result<(Listed<O>, ListMeta), ApiError> {
        let version = self.list_version(wanted);
        let paged = self.server.paginates || matches!(version, ListVersion::MostRecent | ListVersion::Any);
        let mut pages = Pages::new(ListRequest {
            limit: self.config.options.page_size.filter(|_| paged),
            plan: self.config.plan.clone(),
            ..ListRequest::new(version)
        });
        let mut entries = Vec::new();
        loop {
            let page = self.page(pages.request(), wanted, &mut entries).await;
            match pages.turn(page, entries.len())? {
                Turn::Next => self.server.paginates |= pages.request().version == ListVersion::Any,
                Turn::Restart => {
                    tracing::debug!(
                        resource = self.reporter.resource(),
                        "a page expired; listing in one piece"
                    );
                    entries.clear();
                    drop(turn.take());
                    *turn = self.turn_to_list().await;
                }
                Turn::Complete(end) => return Ok((entries, end)),
            }
        }
    }

    /// Reads one page and appends its objects.
    async fn page(
        &mut self,
        request: &ListRequest,
        wanted: Wanted,
        entries: &mut Listed<O>,
    ) -> Result<ListMeta, ApiError> {
        let parts = self.config.source.list(request.clone()).await?;
        let mut parts = Prefetch::new(parts, self.config.decoder.clone());
        while let Some(part) = parts.next(self.known(wanted)).await {
            tokio::task::consume_budget().await;
            match part? {
                ListPart::Item(item) => {
                    entries.extend(self.object(&mut parts, item));
                    self.reporter.received(entries.len());
                }
                ListPart::End(end) => {
                    self.reporter.remaining(end.remaining_item_count);
                    return Ok(end);
                }
            }
        }
        Err(ApiError::while_reading("the list has no end"))
    }

    /// Passes a complete list to the sink.
    pub(super) async fn replace(
        &mut self,
        entries: Listed<O>,
        version: Option<ResourceVersion>,
        started: Instant,
    ) {
        let (objects, took) = (entries.len(), started.elapsed());
        let version = version.filter(ResourceVersion::is_version);
        let went_back = self.seen.as_ref().zip(version.as_ref());
        let went_back = went_back.filter(|(seen, version)| version < seen);
        if let Some((seen, version)) = went_back.filter(|_| !self.history.is_doubted()) {
            self.reporter.went_back(seen, version);
        }
        self.history.listed(went_back.is_some());
        self.seen = version.clone();
        // A list confirms all there is.
        self.unconfirmed = None;
        // The list is counted before its objects are passed on: whoever sees the changes can see that they came by a list.
        self.reporter.listed(self.seen.clone(), objects, took);
        self.sink.replace(entries, version).await;
        self.pacing.listed();
    }
}

/// Whether the server cannot serve the requested version.
pub(super) fn is_version_unavailable(status: &ApiStatus) -> bool {
    status.is_expired() || status.is_too_large_resource_version()
}
