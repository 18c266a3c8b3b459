//! An in-memory store of objects by key and by index, with one writer and any number of readers that never wait.
//!
//! Readers use an [`Indexer`], the single writer uses the [`StoreWriter`]. The writer changes its own state and
//! publishes it. Readers see the last published state, or keep one as a [`Snapshot`].
//!
//! ```text
//!  upsert, remove          publish            get, list, by ...
//!  ---------------> own   ---------> State <------------------- Indexer
//!    StoreWriter   state     |         |
//!                            v         v
//!                        wait_until  Snapshot (kept as long as one likes)
//! ```
//!
//! # Consistency
//! A published state consists of the objects, all indexes and the resource versions at one moment. Each read sees one
//! state.
//!
//! # Structure
//! Each object has a *slot*, a small number. Objects are stored in an array by slot; a hash table maps keys to slots;
//! an index maps values to sets of slots. All three are persistent: publishing clones their roots, and the writer
//! copies a block of a few hundred bytes before it changes it. An update of an object changes only the array, and an
//! index only if the object's values changed. Each object has a 32-bit Bloom filter of its labels, so that a list by
//! label reads only objects that may match.
//!
//! # Memory
//! A key is one allocation that all its users share. An index value is stored once, however many objects have it. In
//! an index, an object takes between 4 bytes and 1 bit, and 4 more bytes in the writer. The writer frees replaced
//! states, see [`StoreWriter`].

mod control;
mod digests;
mod index;
mod indexer;
mod lease;
mod lookup;
mod maintainer;
mod owned;
mod scope;
mod slot_values;
mod slots;
mod snapshot;
mod sparse;
mod state;
mod stored_in_order;
mod table;
mod versions;
mod wait;
pub(crate) mod writer;

pub use index::{Index, IndexError, IndexPanic, NAMESPACE_INDEX};
pub use indexer::Indexer;
pub(crate) use lease::Lease;
pub use owned::{BatchError, Change, OwnedIndexer};
pub use snapshot::Snapshot;
pub(crate) use stored_in_order::StoredInOrder;
pub use wait::{Wait, WaitError};
pub(crate) use writer::StoreWriter;
