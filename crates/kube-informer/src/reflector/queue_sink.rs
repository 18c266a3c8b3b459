//! The sink that writes into a queue.

use super::Sink;
use crate::object::{CachedObject, Fingerprint, KnownObjects, ObjectKey, Partition, ResourceVersion};
use crate::queue::{Delta, DeltaFifo};
use crate::source::DecodeResult;

/// A sink that pushes the changes of a [`Reflector`](super::Reflector) into a queue.
///
/// `K` returns the states that the consumer already has, so that listing unchanged objects is cheap. It is the store
/// that the consumer fills, or `()` if there is none.
pub struct QueueSink<O: CachedObject, K> {
    partition: Partition,
    queue: DeltaFifo<DecodeResult<O>>,
    known: K,
}

impl<O: CachedObject, K: KnownObjects> QueueSink<O, K> {
    /// A sink for a queue of one partition.
    pub fn new(queue: DeltaFifo<DecodeResult<O>>, known: K) -> Self {
        Self::with_partition(Partition::SINGLE, queue, known)
    }

    /// A sink for one of several partitions that fill the same queue.
    pub fn with_partition(partition: Partition, queue: DeltaFifo<DecodeResult<O>>, known: K) -> Self {
        Self {
            partition,
            queue,
            known,
        }
    }
}

impl<O: CachedObject, K: KnownObjects> KnownObjects for QueueSink<O, K> {
    /// The known state of a key, unless a change of it may be pending.
    ///
    /// It checks the queue first. Only this sink pushes changes of this partition, so if none of them is pending, the
    /// known state is final. If it checked the queue afterwards, it could miss a change that was applied in between.
    fn get(&self, key: &str) -> Option<(ObjectKey, Fingerprint)> {
        if self.queue.is_pending_or_in_flight(self.partition, key) {
            return None;
        }
        self.known.get(key)
    }
}

impl<O: CachedObject, K: KnownObjects + Send + 'static> Sink<O> for QueueSink<O, K> {
    async fn replace(
        &mut self,
        entries: Vec<(ObjectKey, DecodeResult<O>)>,
        version: Option<ResourceVersion>,
    ) {
        self.queue.replace(self.partition, entries, version).await;
    }

    async fn restore(&mut self, entries: Vec<(ObjectKey, DecodeResult<O>)>, version: ResourceVersion) {
        self.queue.restore(self.partition, entries, version).await;
    }

    async fn confirmed(&mut self) {
        self.queue.confirm(self.partition);
    }

    async fn push(
        &mut self,
        key: ObjectKey,
        delta: Delta<DecodeResult<O>>,
        version: Option<ResourceVersion>,
    ) {
        self.queue.push_quietly(self.partition, key, delta, version).await;
    }

    fn bookmark(&mut self, version: ResourceVersion) {
        self.queue.bookmark(self.partition, version);
    }

    fn flush(&mut self) {
        self.queue.announce();
    }
}

/// A cancelled reflector must not leave changes of which the consumer was not notified.
impl<O: CachedObject, K> Drop for QueueSink<O, K> {
    fn drop(&mut self) {
        self.queue.announce();
    }
}
#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;
    use k8s_openapi::api::core::v1::Pod;
    use std::sync::Arc;

    fn updated() -> Delta<DecodeResult<Pod>> {
        Delta::Updated(DecodeResult::Decoded {
            object: Arc::new(Pod::default()),
            fingerprint: None,
        })
    }

    /// A consumer that has every key in the same state.
    struct Always;

    impl KnownObjects for Always {
        fn get(&self, key: &str) -> Option<(ObjectKey, Fingerprint)> {
            Some((key.into(), Fingerprint::new(7)))
        }
    }

    #[test]
    fn a_key_is_not_held_until_its_batch_was_applied() {
        let queue = DeltaFifo::<DecodeResult<Pod>>::new(100);
        let mut sink = QueueSink::new(queue.clone(), Always);
        let pop = || queue.pop(10).now_or_never().flatten().expect("a batch");
        let push = |sink: &mut QueueSink<Pod, Always>| {
            sink.push("a".into(), updated(), None)
                .now_or_never()
                .expect("room");
        };
        push(&mut sink);
        assert!(sink.get("a").is_none() && sink.get("b").is_some(), "pending");
        let batch = pop();
        assert!(sink.get("a").is_none(), "popped, but not applied");
        drop(batch);
        assert!(sink.get("a").is_some(), "processed");

        push(&mut sink);
        let mut batch = pop();
        batch.guard.applied();
        assert!(sink.get("a").is_some(), "applied, but not processed in full");
        drop(batch);
        push(&mut sink);
        assert!(sink.get("a").is_none() && sink.get("b").is_some(), "pending");
    }

    #[tokio::test]
    async fn a_sink_that_is_dropped_announces_what_it_pushed() {
        let queue = DeltaFifo::<DecodeResult<Pod>>::new(100);
        let consumer = tokio::spawn({
            let queue = queue.clone();
            async move { queue.pop(1).await.is_some() }
        });
        tokio::task::yield_now().await;
        let mut sink = QueueSink::new(queue, ());
        sink.push("a".into(), updated(), None).await;
        tokio::task::yield_now().await;
        assert!(!consumer.is_finished(), "more may follow at once");
        drop(sink);
        assert!(consumer.await.unwrap());
    }
}
