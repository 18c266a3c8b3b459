//! The queue between the one that reads the network and the one that writes the store.
//!
//! A reflector *pushes* changes as it reads them; one consumer *pops* them, applies them and drops the
//! [`Processed`] guard that came with them. While the consumer is busy, changes of one key gather behind each other
//! as [`Deltas`], oldest first; the consumer then gets them together. A new list of the whole collection is one entry,
//! a [`Replace`], that nothing overtakes: what was pushed before it is popped before it, what was pushed after it is
//! popped after it.
//!
//! ```
//! use kube_informer::queue::{Delta, DeltaFifo, Entries};
//!
//! # #[tokio::main(flavor = "current_thread")] async fn main() {
//! let fifo = DeltaFifo::new(100);
//! fifo.push("ns/a".into(), Delta::Added(1), None).await;
//! fifo.push("ns/b".into(), Delta::Added(2), None).await;
//! fifo.push("ns/a".into(), Delta::Updated(3), None).await;
//!
//! let batch = fifo.pop(usize::MAX).await.expect("the queue is open");
//! let Entries::Deltas(entries) = batch.entries else { panic!("no relist was pushed") };
//! assert_eq!(entries.len(), 2);
//! assert_eq!(entries[0].0.as_str(), "ns/a");
//! assert_eq!(entries[0].1.iter().collect::<Vec<_>>(), [&Delta::Added(1), &Delta::Updated(3)]);
//! # }
//! ```
//!
//! # Memory
//! The queue is bounded: when `capacity` entries are pending, [`push`](DeltaFifo::push) waits, so the reader of the
//! network stops reading.
//!
//! # Compared with the original
//! The contract is that of client-go's `DeltaFIFO`: deltas per key, a key keeps its place in line, consecutive
//! deletions are merged, a resync skips keys with pending deltas, and [`has_synced`](DeltaFifo::has_synced) turns true
//! when the first replace has been popped *and processed*. It differs in that a replace is one entry, resolved by the
//! consumer against what it holds at that moment ([`Replace::resolve`]), so the queue needs no view of the store; in
//! that no lock is held while the consumer works; and in that bookmarks and batches carry the resource version up to
//! which everything has been popped.

mod delta;
mod fifo;

pub use delta::{Delta, Deltas, Listed, Replace};
pub use fifo::{Batch, DeltaFifo, Entries, Position, Processed};
