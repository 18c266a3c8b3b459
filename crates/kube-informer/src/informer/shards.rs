//! Sets of shards that informers watch.

use crate::selector::{HashRange, ShardField, ShardSelector};
use std::collections::BTreeSet;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

/// A set of shards of a collection, which can change while informers watch them.
///
/// All hashes of a [field](ShardField) are divided into [equal ranges](HashRange::equal). These are the
/// shards; they are numbered from 0. Any number of informers, of any kinds, can be [over one
/// set](super::SharedInformer::over_shards): each has the objects of the shards in the set, and follows
/// additions and removals. A clone is a handle to the same set; sets are equal only if they are the same set.
///
/// Replicas of a program divide the work if no shard is in the sets of two of them. The set does not decide
/// which replica gets which shards; `kube_controller::shard_group` does, by Leases.
///
/// ```
/// use kube_informer::ShardSet;
/// use kube_informer::selector::ShardField;
///
/// let shards = ShardSet::new(ShardField::Uid, 64);
/// shards.add(0..32);
/// let mine = shards.hold(Some("0a37b1a2-4b2e-4d2e-9f0c-6f2a5e1c7d11"), Some("shop"));
/// assert!(mine.is_some_and(|hold| hold.shard() < 32));
/// shards.remove(0..32);
/// assert!(shards.is_empty());
/// ```
///
/// # Handing a shard over
/// Another replica may have a shard as soon as this one has stopped working on it. Work on an object
/// [holds](Self::hold) the object's shard, and informers hold the shards whose objects are in their stores.
/// After a shard was removed, no new hold of it is possible, and it is [idle](Self::idle) when its last hold
/// has been dropped. If work must end at once, [`expire`](Self::expire) tells the holders.
///
/// While work holds a removed shard, informers keep its objects and follow their changes, so that the objects
/// do not vanish in the middle of the work.
#[derive(Clone)]
pub struct ShardSet {
    inner: Arc<Inner>,
}

struct Inner {
    field: ShardField,
    count: u16,
    selected: watch::Sender<BTreeSet<u16>>,
    /// Those of which informers have the objects: the selected ones, and others that work holds. Changed
    /// under the lock of the holds.
    kept: watch::Sender<BTreeSet<u16>>,
    /// One for each shard.
    holds: Mutex<Vec<Holds>>,
    released: Notify,
    /// Whether shards can be held at all.
    may_hold: Option<Box<dyn Fn() -> bool + Send + Sync>>,
}

/// Who holds a shard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Holder {
    Work,
    Informer,
}

/// Those who hold one shard.
#[derive(Default)]
struct Holds {
    work: usize,
    informers: usize,
    /// Told to stop at once.
    expired: CancellationToken,
}

impl Holds {
    fn of(&mut self, holder: Holder) -> &mut usize {
        match holder {
            Holder::Work => &mut self.work,
            Holder::Informer => &mut self.informers,
        }
    }

    fn is_held(&self) -> bool {
        self.work > 0 || self.informers > 0
    }
}

impl ShardSet {
    /// An empty set of the `count` shards (at least 1) that the hashes of a field are divided into. All
    /// replicas that share the work need the same field and count.
    pub fn new(field: ShardField, count: u16) -> Self {
        let count = count.max(1);
        let holds = (0..count).map(|_| Holds::default()).collect();
        Self {
            inner: Arc::new(Inner {
                field,
                count,
                selected: watch::Sender::default(),
                kept: watch::Sender::default(),
                holds: Mutex::new(holds),
                released: Notify::new(),
                may_hold: None,
            }),
        }
    }

    /// Lets work hold shards only while `check` returns true, whatever is in the set. For owners that know
    /// until when they own the shards. `check` is called at each [`hold`](Self::hold), so it must be fast.
    ///
    /// # Panics
    /// If the set has been cloned, because the clones would not have the check.
    #[must_use]
    pub fn held_while(mut self, check: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        let inner = Arc::get_mut(&mut self.inner).expect("a set of shards that has not been cloned");
        inner.may_hold = Some(Box::new(check));
        self
    }

    /// The field that is hashed.
    pub fn field(&self) -> ShardField {
        self.inner.field
    }

    /// The number of all shards, in the set or not.
    pub fn count(&self) -> u16 {
        self.inner.count
    }

    /// Adds shards. The informers over the set list and watch them. Numbers that are not below
    /// [`count`](Self::count) are ignored.
    pub fn add(&self, shards: impl IntoIterator<Item = u16>) {
        let mut new: BTreeSet<_> = shards.into_iter().filter(|shard| *shard < self.count()).collect();
        let mut holds = self.inner.holds();
        self.inner.selected.send_if_modified(|selected| {
            new.retain(|shard| !selected.contains(shard));
            selected.extend(&new);
            !new.is_empty()
        });
        self.inner.kept.send_if_modified(|kept| {
            let before = kept.len();
            kept.extend(&new);
            kept.len() > before
        });
        for shard in new {
            let of = &mut holds[usize::from(shard)];
            // Who holds it since before it was removed has to hear when it expires.
            if of.expired.is_cancelled() {
                of.expired = CancellationToken::new();
            }
        }
    }

    /// Removes shards. They can no longer be held. The informers over the set drop their objects
    /// ([`DeleteCause::Unselected`](crate::DeleteCause::Unselected)), without a request, as soon as no work
    /// holds the shard.
    pub fn remove(&self, shards: impl IntoIterator<Item = u16>) {
        let shards: BTreeSet<_> = shards.into_iter().collect();
        let holds = self.inner.holds();
        self.inner.selected.send_if_modified(|selected| {
            let before = selected.len();
            selected.retain(|shard| !shards.contains(shard));
            selected.len() < before
        });
        let is_worked_on = |shard: u16| holds.get(usize::from(shard)).is_some_and(|of| of.work > 0);
        self.inner.kept.send_if_modified(|kept| {
            let before = kept.len();
            kept.retain(|shard| !shards.contains(shard) || is_worked_on(*shard));
            kept.len() < before
        });
    }

    /// Whether no shard is in the set.
    pub fn is_empty(&self) -> bool {
        self.inner.selected.borrow().is_empty()
    }

    /// The numbers of the shards in the set.
    pub fn shards(&self) -> BTreeSet<u16> {
        self.inner.selected.borrow().clone()
    }

    /// The hashes of each shard in the set, in order.
    pub fn ranges(&self) -> Vec<HashRange> {
        let selected = self.inner.selected.borrow();
        self.ranges_of(&selected).collect()
    }

    /// A receiver of the numbers of the shards in the set, to await changes.
    pub fn subscribe(&self) -> watch::Receiver<BTreeSet<u16>> {
        self.inner.selected.subscribe()
    }

    /// The shards of which informers have the objects: those in the set, and removed ones that work still
    /// holds.
    pub(super) fn kept(&self) -> BTreeSet<u16> {
        self.inner.kept.borrow().clone()
    }

    /// A receiver of what is [kept](Self::kept).
    pub(super) fn subscribe_kept(&self) -> watch::Receiver<BTreeSet<u16>> {
        self.inner.kept.subscribe()
    }

    /// The number of the shard of an object with this uid and namespace.
    pub fn shard_of(&self, uid: Option<&str>, namespace: Option<&str>) -> u16 {
        HashRange::number_of(self.inner.field.hash_of(uid, namespace), self.inner.count)
    }

    /// Holds the shard of an object with this uid and namespace while somebody works on the object. `None` if
    /// the shard is not in the set.
    pub fn hold(&self, uid: Option<&str>, namespace: Option<&str>) -> Option<ShardHold> {
        self.hold_number(self.shard_of(uid, namespace))
    }

    /// [Holds](Self::hold) a shard by its number.
    pub fn hold_number(&self, shard: u16) -> Option<ShardHold> {
        if self.inner.may_hold.as_ref().is_some_and(|check| !check()) {
            return None;
        }
        self.hold_in(&self.inner.selected, shard, Holder::Work)
    }

    /// Holds a [kept](Self::kept) shard for an informer. That is no work, so it does not matter whether
    /// shards may be held: those that may not are about to be removed.
    pub(super) fn hold_for_informer(&self, shard: u16) -> Option<ShardHold> {
        self.hold_in(&self.inner.kept, shard, Holder::Informer)
    }

    fn hold_in(
        &self,
        shards: &watch::Sender<BTreeSet<u16>>,
        shard: u16,
        holder: Holder,
    ) -> Option<ShardHold> {
        // Under the lock, so that whoever finds a removed shard idle knows that it stays so.
        let mut holds = self.inner.holds();
        if !shards.borrow().contains(&shard) {
            return None;
        }
        let of_shard = holds.get_mut(usize::from(shard))?;
        *of_shard.of(holder) += 1;
        Some(ShardHold {
            set: self.clone(),
            shard,
            holder,
            expired: of_shard.expired.clone(),
        })
    }

    /// Whether somebody holds a shard.
    pub fn is_held(&self, shard: u16) -> bool {
        let holds = self.inner.holds();
        holds.get(usize::from(shard)).is_some_and(Holds::is_held)
    }

    /// Waits until nobody holds a shard. For one that was [removed](Self::remove), it stays so until it is
    /// added again.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub async fn idle(&self, shard: u16) {
        loop {
            let mut released = std::pin::pin!(self.inner.released.notified());
            // Registered before the check, so that no release after it is missed.
            released.as_mut().enable();
            if !self.is_held(shard) {
                return;
            }
            released.await;
        }
    }

    /// Tells those who hold shards that they have to stop at once, because another replica may have the
    /// shards.
    pub fn expire(&self, shards: impl IntoIterator<Item = u16>) {
        for shard in shards {
            let token = self
                .inner
                .holds()
                .get(usize::from(shard))
                .map(|of| of.expired.clone());
            // Not under the lock: it wakes tasks.
            if let Some(token) = token {
                token.cancel();
            }
        }
    }

    /// The selector of some shards.
    pub(super) fn selector(&self, shards: &BTreeSet<u16>) -> ShardSelector {
        ShardSelector::new(self.inner.field, self.ranges_of(shards))
    }

    fn ranges_of(&self, shards: &BTreeSet<u16>) -> impl Iterator<Item = HashRange> {
        let all = HashRange::equal(self.inner.count);
        (0..)
            .zip(all)
            .filter(|(number, _)| shards.contains(number))
            .map(|(_, range)| range)
    }
}

impl Inner {
    fn holds(&self) -> MutexGuard<'_, Vec<Holds>> {
        self.holds.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PartialEq for ShardSet {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }
}

impl Eq for ShardSet {}

impl Hash for ShardSet {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.inner).hash(state);
    }
}

impl From<&ShardSet> for ShardSet {
    fn from(set: &ShardSet) -> Self {
        set.clone()
    }
}

impl fmt::Debug for ShardSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShardSet")
            .field("field", &self.inner.field)
            .field("count", &self.inner.count)
            .field("shards", &*self.inner.selected.borrow())
            .finish()
    }
}

/// Somebody works on objects of a shard. Dropping it says that the work has ended.
#[must_use = "the shard is held until this is dropped"]
pub struct ShardHold {
    set: ShardSet,
    shard: u16,
    holder: Holder,
    expired: CancellationToken,
}

impl ShardHold {
    /// The number of the shard.
    pub fn shard(&self) -> u16 {
        self.shard
    }

    /// Ends when the work has to stop at once; a shard that is only [removed](ShardSet::remove) waits for it.
    ///
    /// # Cancel safety
    /// Dropping the future loses nothing.
    pub async fn expired(&self) {
        self.expired.cancelled().await;
    }

    /// Whether the work has to stop at once.
    pub fn is_expired(&self) -> bool {
        self.expired.is_cancelled()
    }
}

impl Drop for ShardHold {
    fn drop(&mut self) {
        let inner = &self.set.inner;
        let mut holds = inner.holds();
        let Some(of_shard) = holds.get_mut(usize::from(self.shard)) else {
            return;
        };
        *of_shard.of(self.holder) -= 1;
        let (is_held, is_worked_on) = (of_shard.is_held(), of_shard.work > 0);
        if !is_worked_on && !inner.selected.borrow().contains(&self.shard) {
            inner.kept.send_if_modified(|kept| kept.remove(&self.shard));
        }
        drop(holds);
        if !is_held {
            inner.released.notify_waiters();
        }
    }
}

impl fmt::Debug for ShardHold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ShardHold")
            .field("shard", &self.shard)
            .field("is_expired", &self.is_expired())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use tokio::time::timeout;

    #[tokio::test(start_paused = true)]
    async fn a_removed_shard_is_idle_after_its_last_hold() {
        let set = ShardSet::new(ShardField::Uid, 4);
        set.add([1, 2, 9]);
        assert_eq!(set.shards(), [1, 2].into());
        let (one, two) = (set.hold_number(1).unwrap(), set.hold_number(1).unwrap());
        set.remove([1]);
        assert!(set.hold_number(1).is_none());
        drop(one);
        let waits = timeout(Duration::from_secs(1), set.idle(1)).await;
        assert!(waits.is_err());
        let idle = tokio::spawn({
            let set = set.clone();
            async move { set.idle(1).await }
        });
        tokio::task::yield_now().await;
        drop(two);
        idle.await.unwrap();
    }

    #[test]
    fn a_removed_shard_is_kept_until_the_work_on_it_ends() {
        let set = ShardSet::new(ShardField::Uid, 2);
        set.add([0, 1]);
        let (work, informer) = (set.hold_number(0).unwrap(), set.hold_for_informer(0).unwrap());
        set.remove([0, 1]);
        assert_eq!(set.kept(), [0].into());
        set.add([0]);
        drop(work);
        assert_eq!(set.kept(), [0].into(), "it is in the set again");
        let work = set.hold_number(0).unwrap();
        set.remove([0]);
        assert!(
            set.hold_for_informer(0).is_some(),
            "what is kept may be listed late"
        );
        drop(work);
        assert!(set.kept().is_empty() && set.is_held(0));
        assert!(set.hold_for_informer(0).is_none());
        drop(informer);
        assert!(!set.is_held(0));
    }

    #[test]
    fn an_informer_holds_what_may_not_be_worked_on() {
        let set = ShardSet::new(ShardField::Uid, 1).held_while(|| false);
        set.add([0]);
        assert!(set.hold_number(0).is_none());
        assert!(set.hold_for_informer(0).is_some());
    }

    #[test]
    fn a_hold_expires_although_its_shard_was_added_again() {
        let set = ShardSet::new(ShardField::Uid, 1);
        set.add([0]);
        let hold = set.hold_number(0).unwrap();
        set.remove([0]);
        set.add([0]);
        set.expire([0]);
        assert!(hold.is_expired());
    }

    #[test]
    fn holds_of_another_term_do_not_expire() {
        let set = ShardSet::new(ShardField::Uid, 1);
        set.add([0]);
        let old = set.hold_number(0).unwrap();
        set.remove([0]);
        set.expire([0]);
        set.add([0]);
        let new = set.hold_number(0).unwrap();
        assert!(old.is_expired() && !new.is_expired());
        set.add([0]);
        set.expire([0]);
        assert!(new.is_expired());
    }
}
