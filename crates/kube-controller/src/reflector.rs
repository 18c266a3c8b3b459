//! References to objects, and a view of the objects that a controller has: the words of kube's `runtime::reflector`.
//!
//! An informer fills a [`Store`], and a [`Controller`](crate::Controller) runs its informers itself. For programs that are built
//! from streams, a [`Writer`] fills one from a [`watcher`](crate::watcher::watcher).

mod object_ref;
pub mod store;

#[doc(no_inline)]
pub use object_ref::Extra as ObjectRefExtra;
pub use object_ref::{Extra, Lookup, ObjectRef};
pub use store::{ReflectHandle, Store, Writer, store, store_shared};

use crate::utils::Reflect;
use crate::watcher::{self, Event};
use futures::Stream;

/// Fills the store with what passes through the stream. When the stream ends, so do the [streams of a shared
/// store](store_shared).
pub fn reflector<K, W>(writer: Writer<K>, stream: W) -> impl Stream<Item = W::Item>
where
    K: Lookup + Clone + 'static,
    W: Stream<Item = Result<Event<K>, watcher::Error>>,
{
    Reflect::new(stream, writer)
}
