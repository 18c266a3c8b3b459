//! Sources of objects: list and watch requests of one resource, and their responses.
//!
//! A [`ListerWatcher`] answers list and watch requests with streams. [`ClientSource`] sends them to an API server
//! through a [`kube::Client`]. Users can implement others, to change the requests or to read from something other
//! than an API server:
//!
//! ```
//! use futures::{FutureExt, StreamExt, future::BoxFuture, stream};
//! use k8s_openapi::api::core::v1::ConfigMap;
//! use kube_informer::source::*;
//! use std::sync::Arc;
//!
//! /// A collection that never changes.
//! struct Fixed(Vec<Arc<ConfigMap>>);
//!
//! impl ListerWatcher<ConfigMap> for Fixed {
//!     fn resource(&self) -> String {
//!         "configmaps".into()
//!     }
//!
//!     fn list(&self, _: ListRequest) -> BoxFuture<'_, Result<ListStream<ConfigMap>, ApiError>> {
//!         let items = self.0.clone().into_iter().map(|object| ListPart::Item(Item::Object(object)));
//!         let end = ListPart::End(ListMeta { resource_version: Some("1".into()), ..Default::default() });
//!         let parts: Vec<_> = items.chain([end]).map(Ok).collect();
//!         async move { Ok(stream::iter(parts).boxed()) }.boxed()
//!     }
//!
//!     fn watch(&self, _: WatchRequest) -> BoxFuture<'_, Result<WatchStream<ConfigMap>, ApiError>> {
//!         async { Ok(stream::pending().boxed()) }.boxed()
//!     }
//! }
//! ```
//!
//! # Invalid objects
//! An object that cannot be read is an [`Item::Invalid`] and does not end the stream. It contains the key and the
//! reason, but not the object's content, which may be a secret. An object of which not even the key can be read is
//! reported, but counts as absent: after a list that has it, what was held under its key is taken as deleted.

mod body;
mod client;
pub(crate) mod decoded;
mod error;
mod negotiation;
mod parts;
mod path;
mod rejection;
mod request;
mod selection;
mod sharding;
mod subject;
mod watch_list_support;

pub use client::ClientSource;
pub(crate) use decoded::DecodeResult;
use error::BoxError;
#[cfg(feature = "rustls-tls")]
pub(crate) use error::ConnectError;
pub(crate) use error::LONGEST_RETRY_AFTER;
pub use error::{ApiError, ApiStatus, ErrorClass, Reason};
pub use path::InvalidName;
pub use request::{ListRequest, ListVersion, WatchFrom, WatchRequest};
pub(crate) use request::{LongAnswer, WATCH_TIMEOUT, random_timeout};
pub use selection::Selection;
pub(crate) use sharding::Narrowing;
pub(crate) use subject::Subject;
pub use watch_list_support::WatchListSupport;

pub use crate::low_level::wire::ListMeta;
use crate::low_level::wire::RawObject;
use crate::object::{CachedObject, ObjectKey, ResourceVersion};
use crate::selector::ShardSelector;
use futures::{future::BoxFuture, stream::BoxStream};
use kube::core::TypeMeta;
use std::fmt;
use std::sync::Arc;

/// The parts of a list as they arrive; the last one is [`ListPart::End`].
pub type ListStream<O> = BoxStream<'static, Result<ListPart<O>, ApiError>>;

/// The events of a watch as they arrive; the end of the stream is the server's normal end of a watch.
pub type WatchStream<O> = BoxStream<'static, Result<WatchEvent<O>, ApiError>>;

/// Lists and watches one resource.
///
/// # Cancel safety
/// Callers drop the futures and streams to cancel a request, so dropping must end it.
#[doc(alias = "ListWatch")]
pub trait ListerWatcher<O: CachedObject>: Send + Sync + 'static {
    /// The resource, used in messages: `pods`, `deployments.apps`.
    fn resource(&self) -> String;

    /// The kind of the objects, for objects that do not contain it. Default: unknown.
    fn type_meta(&self) -> Option<TypeMeta> {
        None
    }

    /// The namespace to which it is limited, used in spans. Default: none.
    fn namespace(&self) -> Option<String> {
        None
    }

    /// Whether [`watch`](Self::watch) supports [initial events](WatchFrom::InitialEvents). Default: false.
    fn supports_watch_list(&self) -> bool {
        false
    }

    /// Called when initial events were requested and never completed. Default: does nothing.
    fn watch_list_failed(&self) {}

    /// What is selected, and in which form it is asked for, as text: two sources with the same text show the same collection
    /// of the same server. With it, the collection can be [saved](crate::warm_start). Default: `None`, it cannot.
    fn cache_identity(&self) -> Option<String> {
        None
    }

    /// Asks the server who it is: a text that another cluster does not have, such as the uid of the namespace `kube-system`.
    /// Default: `None`, the server does not tell; then a [saved](crate::warm_start) collection is compared with a list.
    fn server_identity(&self) -> BoxFuture<'_, Result<Option<String>, ApiError>> {
        Box::pin(async { Ok(None) })
    }

    /// Requests one page of the collection, or all of it.
    ///
    /// The version of a list is that of the collection when it was listed, whatever the list's limit leaves out: a server that is silent is asked
    /// for it by a list of one object (see [reflector](crate::reflector#recovery)). A source that ignores the limit sends everything then.
    fn list(&self, request: ListRequest) -> BoxFuture<'_, Result<ListStream<O>, ApiError>>;

    /// Opens a watch. An error means that the watch could not be opened; later errors are items of the stream.
    fn watch(&self, request: WatchRequest) -> BoxFuture<'_, Result<WatchStream<O>, ApiError>>;
}

/// Creates a [`ListerWatcher`] for each namespace of an informer [over several
/// namespaces](crate::SharedInformer::over_namespaces).
pub trait NamespacedSource<O: CachedObject>: Send + Sync + 'static {
    /// The resource, used in messages: `pods`, `deployments.apps`.
    fn resource(&self) -> String;

    /// The kind of the objects, for objects that do not contain it. Default: unknown.
    fn type_meta(&self) -> Option<TypeMeta> {
        None
    }

    /// What is selected in each namespace, as [`ListerWatcher::cache_identity`]. Default: `None`.
    fn cache_identity(&self) -> Option<String> {
        None
    }

    /// A source of the objects of one namespace, or of all namespaces if the name is empty.
    fn in_namespace(&self, namespace: &str) -> Arc<dyn ListerWatcher<O>>;
}

/// Creates a [`ListerWatcher`] for some shards of an informer [over a set of shards](crate::SharedInformer::over_shards).
pub trait ShardedSource<O: CachedObject>: Send + Sync + 'static {
    /// The resource, used in messages: `pods`, `deployments.apps`.
    fn resource(&self) -> String;

    /// The kind of the objects, for objects that do not contain it. Default: unknown.
    fn type_meta(&self) -> Option<TypeMeta> {
        None
    }

    /// What is selected in each shard, as [`ListerWatcher::cache_identity`]. Default: `None`.
    fn cache_identity(&self) -> Option<String> {
        None
    }

    /// A source of the objects that the selector matches. It must show no others.
    fn in_shards(&self, shards: ShardSelector) -> Arc<dyn ListerWatcher<O>>;
}

/// One part of a list.
#[derive(Debug)]
pub enum ListPart<O: CachedObject> {
    /// An object.
    Item(Item<O>),
    /// The end of the page.
    End(ListMeta),
}

/// One event of a watch.
#[derive(Debug)]
pub enum WatchEvent<O: CachedObject> {
    /// An object was created, or is part of the initial state.
    Added(Item<O>),
    /// An object changed.
    Modified(Item<O>),
    /// An object was deleted.
    Deleted(Item<O>),
    /// There are no other changes up to this version.
    Bookmark {
        /// The version up to which the watch has sent everything.
        resource_version: Option<ResourceVersion>,
        /// Whether this ends the initial events of a streaming list.
        initial_events_end: bool,
    },
    /// The server ended the watch with this status.
    Error(ApiStatus),
}

/// One object, as the source received it.
#[expect(
    clippy::large_enum_variant,
    reason = "an item is moved a few times; a box would be an allocation for each"
)]
pub enum Item<O: CachedObject> {
    /// The server's bytes, not decoded yet.
    Raw(RawObject),
    /// Already decoded into the stored form.
    Object(O::Handle),
    /// Could not be read.
    Invalid(InvalidObject),
}

impl<O: CachedObject> Item<O> {
    /// The object's resource version, if it can be read; `""` and `"0"` are none.
    pub fn version(&self) -> Option<ResourceVersion> {
        let version = match self {
            Self::Raw(raw) => raw.resource_version(),
            Self::Object(object) => O::resource_version_of(object),
            Self::Invalid(_) => None,
        };
        version.filter(ResourceVersion::is_version)
    }
}

impl<O: CachedObject> fmt::Debug for Item<O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Raw(raw) => write!(f, "RawObject({})", raw.key()),
            Self::Object(object) => write!(f, "Object({})", O::key_of(object)),
            Self::Invalid(bad) => write!(f, "Invalid({bad})"),
        }
    }
}

/// An object that was rejected because it could not be read, keyed or indexed.
///
/// It never contains the object's content.
///
/// ```
/// use kube_informer::source::InvalidObject;
/// let bad = InvalidObject { key: Some("shop/web-0".into()), reason: "spec.replicas: wrong type".into() };
/// assert_eq!(bad.to_string(), "shop/web-0: spec.replicas: wrong type");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidObject {
    /// The object's key, if at least that could be read.
    pub key: Option<ObjectKey>,
    /// Why it was rejected, and its position if it has no key.
    pub reason: String,
}

impl fmt::Display for InvalidObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.key {
            // Long enough to show every name that a server allows in full.
            Some(key) => write!(f, "{:.320}: {}", key.as_str(), self.reason),
            None => write!(f, "(no key): {}", self.reason),
        }
    }
}
