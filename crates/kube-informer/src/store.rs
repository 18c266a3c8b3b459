//! Objects in memory, by key and by index: read by many without waiting, written by one.
//!
//! An [`Indexer`] is what readers hold, an [`IndexWriter`] what the one writer holds. The writer changes a state of its
//! own and publishes it; readers look at the state that was published last, or keep one as a [`Snapshot`].
//!
//! ```text
//!  upsert, remove          publish            get, list, by ...
//!  ---------------> own   ---------> State <------------------- Indexer
//!    IndexWriter   state     |         |
//!                            v         v
//!                        wait_until  Snapshot (kept as long as one likes)
//! ```
//!
//! # Consistency
//! A published state is objects, every index and the resource versions, of one moment. A read sees one state.
//!
//! # Structure
//! Each object has a *slot*, a small number. Objects are in an array by slot; a hash table leads from key to slot; an
//! index leads from value to a set of slots. All three are persistent: publishing clones their roots, and what the
//! writer changes afterwards it copies first, in blocks of a few hundred bytes. An update of an object touches the
//! array alone, and an index only if its values changed. Beside each object are 32 bits made of its labels (a Bloom
//! filter), so that a list by label touches only objects that may be selected.
//!
//! # Memory
//! A key is one allocation, shared by everything that needs it; an index value is stored once, however many objects
//! have it; in an index, an object costs
//! between 4 bytes and 1 bit, and 4 bytes more with the writer. What has been
//! replaced is freed by the writer, see [`IndexWriter`].

mod control;
mod held;
mod index;
mod indexer;
mod lease;
mod lookup;
mod maintainer;
mod owned;
mod scope;
mod slots;
mod snapshot;
mod sparse;
mod state;
mod table;
mod versions;
mod wait;
mod writer;

pub use index::{Index, IndexError, IndexPanic, NAMESPACE_INDEX};
pub use indexer::Indexer;
pub(crate) use lease::Lease;
pub use owned::{BatchError, Change, OwnedIndexer};
pub use snapshot::Snapshot;
pub use wait::{Wait, WaitError};
pub use writer::{Entry, IndexWriter};
