//! The bytes of an object: as they are while there is room for that, else as what differs from a similar object.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::ops::RangeInclusive;
use std::sync::{Arc, Weak};

use lz4_flex::block::{compress_with_dict, decompress_with_dict};

use super::room::Room;

/// The bytes that all objects of this process may take as they are: those of 75,000 pods of 10 KB.
pub(super) static ROOM: Room = Room::of(768 * 1024 * 1024);

/// The lengths that are packed. A smaller object gains little; of a larger one, LZ4 would see only the last 64 KiB.
const PACKED: RangeInclusive<usize> = 512..=64 * 1024;

/// An object is not kept as its difference from one of more than so many times its size, which may be kept for it alone.
const MOST_OF_BASE: usize = 4;

/// The most families that are remembered for one resource; then all are found anew.
const FAMILIES: usize = 65_536;

#[derive(Debug, Clone)]
pub(super) enum Body {
    Whole(Arc<Whole>),
    /// LZ4, with the base as its dictionary.
    Packed {
        base: Arc<Whole>,
        packed: Box<[u8]>,
        len: u32,
    },
}

/// Bytes that take some of [`ROOM`].
pub(super) struct Whole(Box<[u8]>);

impl Whole {
    fn new(bytes: &[u8]) -> Arc<Self> {
        ROOM.add(bytes.len());
        Arc::new(Self(bytes.into()))
    }
}

impl Drop for Whole {
    fn drop(&mut self) {
        ROOM.give_back(self.0.len());
    }
}

/// No object's content gets into a log.
impl fmt::Debug for Whole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

/// Objects that others of the same family are kept as differences from; by what those have in common, such as their owner.
#[derive(Debug, Default)]
pub(crate) struct Families(HashMap<Box<str>, Weak<Whole>>);

impl Families {
    fn base(&self, family: &str) -> Option<Arc<Whole>> {
        self.0.get(family)?.upgrade()
    }

    fn set_base(&mut self, family: &str, base: &Arc<Whole>) {
        if self.0.len() >= FAMILIES {
            self.0.clear();
        }
        self.0.insert(family.into(), Arc::downgrade(base));
    }
}

impl Body {
    pub(super) fn new(bytes: &[u8]) -> Self {
        Self::Whole(Whole::new(bytes))
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Whole(whole) => whole.0.len(),
            Self::Packed { len, .. } => *len as usize,
        }
    }

    pub(super) fn bytes(&self) -> Cow<'_, [u8]> {
        match self {
            Self::Whole(whole) => Cow::Borrowed(&whole.0),
            Self::Packed { base, packed, len } => {
                let bytes = decompress_with_dict(packed, *len as usize, &base.0);
                Cow::Owned(bytes.expect("what was packed can be unpacked"))
            }
        }
    }

    /// The same in less memory, if `room` is full and there is a base that it is like. Otherwise it is the base of its family
    /// from now on.
    pub(super) fn packed(&self, room: &Room, family: &str, families: &mut Families) -> Option<Self> {
        let Self::Whole(whole) = self else { return None };
        let len = whole.0.len();
        if !room.is_full() || !PACKED.contains(&len) {
            return None;
        }
        let base = families
            .base(family)
            .filter(|base| base.0.len() <= len * MOST_OF_BASE);
        if let Some(base) = base {
            let packed = compress_with_dict(&whole.0, &base.0);
            if packed.len() <= len / 2 {
                return Some(Self::Packed {
                    base,
                    // A copy: the vector has room for the worst case.
                    packed: packed[..].into(),
                    len: len as u32,
                });
            }
        }
        families.set_base(family, whole);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static FULL: Room = Room::of(0);

    fn text(name: &str, len: usize) -> Vec<u8> {
        let mut numbers = fastrand::Rng::with_seed(len as u64);
        let mut text = format!("\"metadata\":{{\"name\":\"{name}\"}}").into_bytes();
        text.resize_with(len, || numbers.u8(..));
        text
    }

    #[test]
    fn what_is_alike_takes_less_once_the_room_is_full() {
        let mut families = Families::default();
        let [first, second] = ["a", "b"].map(|name| Body::new(&text(name, 10_000)));
        let empty = Room::of(1);
        assert!(first.packed(&empty, "f", &mut families).is_none());
        assert!(second.packed(&empty, "f", &mut families).is_none());
        assert!(first.packed(&FULL, "f", &mut families).is_none());
        let packed = second.packed(&FULL, "f", &mut families).expect("it is alike");
        assert!(matches!(&packed, Body::Packed { packed, .. } if packed.len() < 200));
        assert_eq!(packed.len(), 10_000);
        assert_eq!(packed.bytes(), text("b", 10_000));
        assert!(packed.packed(&FULL, "f", &mut families).is_none());
        // Another family has no base yet, and the base stays as long as something is kept by it.
        assert!(second.packed(&FULL, "g", &mut families).is_none());
        drop(first);
        assert_eq!(packed.bytes(), text("b", 10_000));
    }

    #[test]
    fn what_is_not_alike_becomes_the_base() {
        let mut families = Families::default();
        let bodies = [10_000, 9_999, 9_999].map(|len| Body::new(&text("a", len)));
        let packed = bodies
            .each_ref()
            .map(|body| body.packed(&FULL, "f", &mut families).is_some());
        assert_eq!(packed, [false, false, true]);
    }

    #[test]
    fn small_and_large_objects_and_lone_ones_stay_as_they_are() {
        let mut families = Families::default();
        for len in [0, 511, 64 * 1024 + 1] {
            let body = Body::new(&text("a", len));
            for _ in 0..2 {
                assert!(body.packed(&FULL, "f", &mut families).is_none(), "{len}");
            }
        }
        let (large, small) = (Body::new(&[b'x'; 4_001]), Body::new(&[b'x'; 1_000]));
        assert!(large.packed(&FULL, "f", &mut families).is_none());
        assert!(small.packed(&FULL, "f", &mut families).is_none());
        assert!(small.packed(&FULL, "f", &mut families).is_some());
    }

    #[test]
    fn a_base_that_nothing_needs_is_forgotten() {
        let mut families = Families::default();
        let first = Body::new(&text("a", 1_000));
        assert!(first.packed(&FULL, "f", &mut families).is_none());
        drop(first);
        let second = Body::new(&text("a", 1_000));
        assert!(second.packed(&FULL, "f", &mut families).is_none());
    }
}
