//! The parts of an informer, for programs that put them together in their own way.
//!
//! Users of informers need none of this. It is public because each part is useful alone, as in client-go:
//!
//! | I want to | with |
//! |---|---|
//! | keep something else than a store equal to a collection | a [`Reflector`](crate::reflector::Reflector) with a [`Sink`] |
//! | process the changes of a collection in my own way | a `Reflector` with a [`QueueSink`], [`DeltaFifo`](queue::DeltaFifo) or [`Fifo`](queue::Fifo), and the [`ProcessLoop`](queue::ProcessLoop) that pops it |
//! | have one handler that is part of the updates of the store | [`UnsharedInformer`](crate::informer::UnsharedInformer) |
//! | write a store | an [`StoreWriter`], or with a key function an [`OwnedIndexer`](crate::store::OwnedIndexer) |
//! | read lists and watches from bytes | [`ListReader`](wire::ListReader), [`WatchReader`](wire::WatchReader), [`RawObject`](wire::RawObject) |
//! | decode objects in a form of my own | [`Decode`](crate::form::Decode), with [`RawObject`](wire::RawObject) |

pub mod queue;
pub mod wire;

pub use crate::object::known::KnownObjects;
pub use crate::reflector::queue_sink::QueueSink;
pub use crate::reflector::sink::Sink;
pub use crate::source::decoded::DecodeResult;
pub use crate::store::writer::{Entry, StoreWriter};
