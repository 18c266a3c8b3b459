//! A whole list, without an informer.

use super::PAGE_SIZE;
use super::pages::{Pages, Turn};
use super::prefetch::Prefetch;
use crate::FieldPlan;
use crate::form::{Decode, DecoderConfig};
use crate::object::{CachedObject, ResourceVersion};
use crate::source::{
    ApiError, DecodeResult, InvalidObject, ListMeta, ListPart, ListRequest, ListVersion, ListerWatcher,
};
use std::fmt;
use std::sync::Arc;

/// Lists a collection once, in pages, as a reflector does: for a program that needs the objects, but not
/// their changes.
///
/// If the server can no longer serve the next page (410 Gone), the list starts over without pages. A list
/// that would never end is an error.
///
/// ```no_run
/// use k8s_openapi::api::core::v1::Pod;
/// use kube::core::ApiResource;
/// use kube_informer::reflector::Pager;
/// use kube_informer::source::{ApiError, ClientSource, Selection};
///
/// # async fn example(client: kube::Client) -> Result<(), ApiError> {
/// let source = ClientSource::new(client, ApiResource::erase::<Pod>(&()), Selection::default());
/// let pods = Pager::<Pod>::new(source).list().await?;
/// println!("{} pods at version {:?}", pods.objects.len(), pods.resource_version);
/// # Ok(())
/// # }
/// ```
#[doc(alias = "ListPager")]
#[must_use = "a pager does nothing until `list` is called"]
pub struct Pager<O: Decode> {
    source: Arc<dyn ListerWatcher<O>>,
    version: ListVersion,
    page_size: Option<u32>,
    plan: FieldPlan,
}

/// The result of a [`Pager`].
pub struct PagedList<O: CachedObject> {
    /// The objects, in the order in which they arrived.
    pub objects: Vec<O::Handle>,
    /// The objects that could not be read.
    pub invalid: Vec<InvalidObject>,
    /// The version of the listed state, from which a [`RetryWatcher`](crate::watcher::RetryWatcher) can
    /// continue.
    pub resource_version: Option<ResourceVersion>,
}

/// Shows the number of objects and the version, never the objects.
impl<O: CachedObject> fmt::Debug for PagedList<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PagedList")
            .field("objects", &self.objects.len())
            .field("invalid", &self.invalid)
            .field("resource_version", &self.resource_version)
            .finish()
    }
}

impl<O: Decode> Pager<O> {
    /// Lists the most recent state of a source, in pages of 500 objects.
    pub fn new(source: impl ListerWatcher<O>) -> Self {
        Self {
            source: Arc::new(source),
            version: ListVersion::MostRecent,
            page_size: Some(PAGE_SIZE),
            plan: O::plan(),
        }
    }

    /// Which state of the collection to list. Default: the most recent one. Servers send any other state
    /// without pages, whatever the page size.
    pub fn version(mut self, version: ListVersion) -> Self {
        self.version = version;
        self
    }

    /// The number of objects in a page. Default: 500. Zero: all.
    pub fn page_size(mut self, size: u32) -> Self {
        self.page_size = Some(size).filter(|size| *size > 0);
        self
    }

    /// The fields that the scan of each object extracts and prunes. Default: [those of the form](Decode::plan). A plan replaces it:
    /// unless it names `/metadata/managedFields`, packed objects and metadata have them.
    pub fn plan(mut self, plan: FieldPlan) -> Self {
        self.plan = plan;
        self
    }

    /// Lists all pages.
    ///
    /// # Errors
    /// A request failed. It is not retried.
    ///
    /// # Cancel safety
    /// If the future is dropped, so are the pages that were read. The next call starts a new list.
    #[doc(alias = "EachListItem")]
    pub async fn list(&self) -> Result<PagedList<O>, ApiError> {
        let config = DecoderConfig {
            types: self.source.type_meta(),
            plan: self.plan.clone(),
            decoded_cache: None,
        };
        let decoder = Arc::new(O::decoder(config));
        let mut pages = Pages::new(ListRequest {
            limit: self.page_size,
            plan: self.plan.clone(),
            ..ListRequest::new(self.version.clone())
        });
        let mut list = PagedList {
            objects: Vec::new(),
            invalid: Vec::new(),
            resource_version: None,
        };
        loop {
            let page = self.page(pages.request(), &decoder, &mut list).await;
            match pages.turn(page, list.objects.len() + list.invalid.len())? {
                Turn::Next => {}
                Turn::Restart => {
                    list.objects.clear();
                    list.invalid.clear();
                }
                Turn::Complete(end) => {
                    list.resource_version = end.resource_version.filter(ResourceVersion::is_version);
                    return Ok(list);
                }
            }
        }
    }

    /// Reads one page and appends its objects.
    async fn page(
        &self,
        request: &ListRequest,
        decoder: &Arc<O::Decoder>,
        list: &mut PagedList<O>,
    ) -> Result<ListMeta, ApiError> {
        let mut parts = Prefetch::new(self.source.list(request.clone()).await?, decoder.clone());
        while let Some(part) = parts.next(None::<&()>).await {
            tokio::task::consume_budget().await;
            let item = match part? {
                ListPart::Item(item) => item,
                ListPart::End(end) => return Ok(end),
            };
            match parts.decode(item).1 {
                DecodeResult::Decoded { object, .. } => list.objects.push(object),
                DecodeResult::Invalid(invalid) => list.invalid.push(*invalid),
                // No object is known.
                DecodeResult::Unchanged => {}
            }
        }
        Err(ApiError::while_reading("the list has no end"))
    }
}
