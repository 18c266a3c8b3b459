//! The queues between the reader of the network and the consumer of changes.
//!
//! A reflector *pushes* changes as it reads them. One consumer *pops* them in batches, processes them and drops each
//! batch's [`BatchGuard`] guard. A key is in the queue at most once; while it is pending, its changes are collected in
//! an [`Accumulator`]:
//!
//! | queue | accumulator | a key that changes several times before it is popped | a list | a resync |
//! |---|---|---|---|---|
//! | [`DeltaFifo`] | [`Deltas`]: all changes, oldest first | is popped with all of them | one entry, [`Entries::Replace`] | one entry |
//! | [`Fifo`] | [`Newest`]: the newest object | is popped once; not at all if it was deleted | replaces pending changes | does nothing |
//!
//! Entries for a whole partition are barriers: changes pushed before one are popped before it, changes pushed after
//! it are popped after it. [`ProcessLoop`] is the loop that pops.
//!
//! ```
//! use kube_informer::Partition;
//! use kube_informer::low_level::queue::{Delta, DeltaFifo, Entries};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() {
//! let fifo = DeltaFifo::new(100);
//! fifo.push(Partition::SINGLE, "ns/a".into(), Delta::Added(1), None).await;
//! fifo.push(Partition::SINGLE, "ns/b".into(), Delta::Added(2), None).await;
//! fifo.push(Partition::SINGLE, "ns/a".into(), Delta::Updated(3), None).await;
//!
//! let batch = fifo.pop(usize::MAX).await.expect("the queue is open");
//! let Entries::Changes(changes) = batch.entries else { panic!("no list was pushed") };
//! assert_eq!(changes.len(), 2);
//! let (_, key, deltas) = &changes[0];
//! assert_eq!(key.as_str(), "ns/a");
//! assert_eq!(deltas.iter().collect::<Vec<_>>(), [&Delta::Added(1), &Delta::Updated(3)]);
//! # }
//! ```
//!
//! # Memory
//! A queue is bounded: when `capacity` changes are pending, [`push`](Queue::push) waits, so the reflector stops
//! reading from the network.
//!
//! # Compared with client-go
//! The contract is that of client-go's `FIFO` and `DeltaFIFO`: a key keeps its position in the queue, consecutive
//! deletions are merged, changes that could not be processed are added again if no newer ones are pending, and
//! [`has_synced`](Queue::has_synced) becomes true when the first list has been popped *and processed*. There are
//! three differences. A list and a resync are one entry each, which the consumer resolves against the store when it
//! processes them, so the queue needs no view of the store and a resync cannot overtake pending changes. No lock is
//! held while the consumer works. Bookmarks and batches carry the resource version up to which everything has been
//! popped.

mod accumulator;
mod batch;
pub(crate) mod batching;
mod delta;
mod entries;
mod fifo;
mod line;
pub(crate) mod process_loop;
mod shared;
mod state;

pub use accumulator::{Accumulator, Newest};
pub use batch::{Batch, BatchGuard};
pub use delta::{Delta, Deltas};
pub use entries::{Entries, Position};
pub use fifo::{DeltaFifo, Fifo, Queue};
pub use line::Keyed;
pub use process_loop::{Process, ProcessLoop};
