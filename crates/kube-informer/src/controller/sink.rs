//! From a reflector into a queue.

use crate::giving_back::giving_back;
use crate::object::{Deleted, Fingerprint, Known, Object, ObjectKey, Partition, ResourceVersion};
use crate::queue::{Delta, DeltaFifo, Listed, Position, Replace};
use crate::reflector::{Arrived, Sink};

/// What a [`QueueSink`] puts into the queue: an object and where it came from.
#[derive(Debug, Clone)]
pub struct Parcel<O: Object> {
    /// The part of the collection that it belongs to.
    pub partition: Partition,
    /// The object, or why it could not be read.
    pub arrived: Arrived<O>,
}

/// The end of a queue that a [`Reflector`](crate::reflector::Reflector) writes into.
///
/// `K` says which state of an object the consumer holds, so that a list of what has not changed is cheap: the store that
/// it fills, or `()` if it holds nothing.
pub struct QueueSink<O: Object, K> {
    partition: Partition,
    queue: DeltaFifo<Parcel<O>>,
    known: K,
}

impl<O: Object, K: Known> QueueSink<O, K> {
    /// A sink for a queue of one partition.
    pub fn new(queue: DeltaFifo<Parcel<O>>, known: K) -> Self {
        Self::with_partition(Partition::ONLY, queue, known)
    }

    /// A sink for one partition of several that fill the same queue.
    pub fn with_partition(partition: Partition, queue: DeltaFifo<Parcel<O>>, known: K) -> Self {
        Self {
            partition,
            queue,
            known,
        }
    }

    fn parcel(&self, arrived: Arrived<O>) -> Parcel<O> {
        Parcel {
            partition: self.partition,
            arrived,
        }
    }

    fn position(&self, resource_version: ResourceVersion) -> Position {
        Position {
            partition: self.partition,
            resource_version,
        }
    }
}

impl<O: Object, K: Known> Known for QueueSink<O, K> {
    /// What is held, unless that may be about to change.
    ///
    /// The queue is asked first. Nobody else pushes changes of this partition, so what is held is settled once none of
    /// them are on their way; asked afterwards, the queue could hide a change that was applied in between.
    fn held(&self, key: &str) -> Option<(ObjectKey, Fingerprint)> {
        if self.queue.is_on_its_way(key) {
            return None;
        }
        self.known.held(key)
    }
}

impl<O: Object, K: Known + Send + 'static> Sink<O> for QueueSink<O, K> {
    async fn replace(&mut self, entries: Vec<Listed<Arrived<O>>>, version: Option<ResourceVersion>) {
        let mut parcels = Vec::with_capacity(entries.len());
        parcels.extend(giving_back(entries).map(|entry| match entry {
            Listed::Kept(key) => Listed::Kept(key),
            Listed::New(key, arrived) => Listed::New(key, self.parcel(arrived)),
        }));
        self.queue
            .replace(Replace {
                partition: self.partition,
                entries: parcels,
                resource_version: version,
            })
            .await;
    }

    async fn push(&mut self, key: ObjectKey, delta: Delta<Arrived<O>>, version: Option<ResourceVersion>) {
        let delta = match delta {
            Delta::Added(arrived) => Delta::Added(self.parcel(arrived)),
            Delta::Updated(arrived) => Delta::Updated(self.parcel(arrived)),
            Delta::Replaced(arrived) => Delta::Replaced(self.parcel(arrived)),
            Delta::Sync(arrived) => Delta::Sync(self.parcel(arrived)),
            Delta::Deleted(Deleted {
                key,
                last_known,
                cause,
            }) => {
                let last_known = last_known.map(|arrived| self.parcel(arrived));
                Delta::Deleted(Deleted {
                    key,
                    last_known,
                    cause,
                })
            }
        };
        self.queue
            .push_quietly(key, delta, version.map(|version| self.position(version)))
            .await;
    }

    fn bookmark(&mut self, version: ResourceVersion) {
        self.queue.bookmark(self.position(version));
    }

    fn flush(&mut self) {
        self.queue.announce();
    }
}

/// A reflector that is cancelled leaves nothing behind of which nobody knows.
impl<O: Object, K> Drop for QueueSink<O, K> {
    fn drop(&mut self) {
        self.queue.announce();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reflector::Held;
    use futures::FutureExt;
    use k8s_openapi::api::core::v1::Pod;
    use std::sync::Arc;

    fn updated() -> Delta<Arrived<Pod>> {
        Delta::Updated(Ok(Held {
            object: Arc::new(Pod::default()),
            fingerprint: None,
        }))
    }

    /// A consumer that holds every key in the same state.
    struct Always;

    impl Known for Always {
        fn held(&self, key: &str) -> Option<(ObjectKey, Fingerprint)> {
            Some((key.into(), Fingerprint::new(7)))
        }
    }

    #[test]
    fn a_key_is_not_held_until_its_batch_was_applied() {
        let queue = DeltaFifo::<Parcel<Pod>>::new(100);
        let mut sink = QueueSink::new(queue.clone(), Always);
        let pop = || queue.pop(10).now_or_never().flatten().expect("a batch");
        let push = |sink: &mut QueueSink<Pod, Always>| {
            sink.push("a".into(), updated(), None)
                .now_or_never()
                .expect("room");
        };
        push(&mut sink);
        assert!(sink.held("a").is_none() && sink.held("b").is_some(), "pending");
        let batch = pop();
        assert!(sink.held("a").is_none(), "popped, but not applied");
        drop(batch);
        assert!(sink.held("a").is_some(), "processed");

        push(&mut sink);
        let mut batch = pop();
        batch.processed.applied();
        assert!(sink.held("a").is_some(), "applied, but not processed in full");
        drop(batch);
        push(&mut sink);
        assert!(sink.held("a").is_none() && sink.held("b").is_some(), "pending");
    }

    #[tokio::test]
    async fn a_sink_that_is_dropped_announces_what_it_pushed() {
        let queue = DeltaFifo::<Parcel<Pod>>::new(100);
        let consumer = tokio::spawn({
            let queue = queue.clone();
            async move { queue.pop(1).await.is_some() }
        });
        tokio::task::yield_now().await;
        let mut sink = QueueSink::new(queue, ());
        let delta = Delta::Added(Ok(Held {
            object: Arc::new(Pod::default()),
            fingerprint: None,
        }));
        sink.push("a".into(), delta, None).await;
        tokio::task::yield_now().await;
        assert!(!consumer.is_finished(), "more may follow at once");
        drop(sink);
        assert!(consumer.await.unwrap());
    }
}
