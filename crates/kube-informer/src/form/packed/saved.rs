//! Packed objects as records of a file: their compressed bytes as they are, so that neither saving nor restoring
//! compresses anything.
//!
//! A record begins with what it is the first to need (dictionaries, bases, label sets), which later records refer to by number,
//! and ends with the object. The last record is the state of the packer.
//!
//! | part | bytes |
//! |---|---|
//! | [`DICTIONARY`] | length, bytes |
//! | [`BASE`] | coding, size, length, bytes |
//! | [`LABELS`] | length, bytes |
//! | [`OBJECT`] | key, version, fingerprint, coding, labels, size, stored size, encoding, typed, length, bytes |
//! | [`STATE`] | current dictionary, seed of the families' names, their number, name and base of each |
//!
//! Numbers are little-endian; a coding is one byte and the number of its dictionary or base.

use super::ahead::Unread;
use super::coding::{Base, Coding, Compressor, Dictionary};
use super::labels::Labels;
use super::packer::{Packer, Shared};
use super::{Beside, Header, Packed, prefixed, write_prefixed};
use crate::form::{RestoreObjects, SaveObjects};
use crate::low_level::wire::Encoding;
use crate::object::{Fingerprint, ObjectKey, ResourceVersion, is_path_segment};
use std::collections::HashMap;
use std::sync::{Arc, atomic::AtomicBool};
use triomphe::ThinArc;

const OBJECT: u8 = 0;
const DICTIONARY: u8 = 1;
const BASE: u8 = 2;
const LABELS: u8 = 3;
const STATE: u8 = 4;

const PLAIN: u8 = 0;
const NO_DICTIONARY: u8 = 1;
const WITH_DICTIONARY: u8 = 2;
const DELTA: u8 = 3;

/// The number of something that is absent.
const NONE: u32 = u32::MAX;

/// The most bytes that a stored byte can stand for: zstd's largest block is 128 KiB and takes at least four bytes.
const MAX_EXPANSION: u64 = 1 << 15;
const MAX_BLOCK: u64 = 128 << 10;

/// What several records refer to, numbered in the order in which it was written. The references keep the addresses unique.
struct Numbered<T: ?Sized> {
    numbers: HashMap<usize, u32>,
    all: Vec<Arc<T>>,
}

impl<T: ?Sized> Default for Numbered<T> {
    fn default() -> Self {
        Self {
            numbers: HashMap::new(),
            all: Vec::new(),
        }
    }
}

impl<T: ?Sized> Numbered<T> {
    fn number(&self, item: &Arc<T>) -> Option<u32> {
        self.numbers.get(&address(item)).copied()
    }

    fn add(&mut self, item: &Arc<T>) -> u32 {
        let number = self.all.len() as u32;
        self.numbers.insert(address(item), number);
        self.all.push(item.clone());
        number
    }
}

fn address<T: ?Sized>(item: &Arc<T>) -> usize {
    Arc::as_ptr(item).cast::<()>() as usize
}

/// Writes the records of a collection.
pub(super) struct Save<K> {
    packer: Arc<Packer<K>>,
    dictionaries: Numbered<Dictionary>,
    bases: Numbered<Base>,
    labels: Numbered<[u8]>,
}

impl<K> Save<K> {
    pub(super) fn new(packer: Arc<Packer<K>>) -> Self {
        Self {
            packer,
            dictionaries: Numbered::default(),
            bases: Numbered::default(),
            labels: Numbered::default(),
        }
    }

    fn dictionary(&mut self, dictionary: &Arc<Dictionary>, out: &mut Vec<u8>) -> u32 {
        self.dictionaries.number(dictionary).unwrap_or_else(|| {
            out.push(DICTIONARY);
            write_prefixed(out, &dictionary.bytes);
            self.dictionaries.add(dictionary)
        })
    }

    fn base(&mut self, base: &Arc<Base>, out: &mut Vec<u8>) -> u32 {
        if let Some(number) = self.bases.number(base) {
            return number;
        }
        let (coding, stored, size) = base.parts();
        let coding = self.coding(coding, out);
        out.push(BASE);
        write_coding(out, coding);
        out.extend_from_slice(&(size as u32).to_le_bytes());
        write_prefixed(out, stored);
        self.bases.add(base)
    }

    /// The coding as it is written, after what it needs.
    fn coding(&mut self, coding: &Coding, out: &mut Vec<u8>) -> (u8, u32) {
        match coding {
            Coding::Plain => (PLAIN, NONE),
            Coding::NoDictionary => (NO_DICTIONARY, NONE),
            Coding::Dictionary(dictionary) => (WITH_DICTIONARY, self.dictionary(dictionary, out)),
            Coding::Delta(base) => (DELTA, self.base(base, out)),
        }
    }

    fn labels(&mut self, labels: &Labels, out: &mut Vec<u8>) -> u32 {
        let Some(stored) = labels.stored() else {
            return NONE;
        };
        self.labels.number(stored).unwrap_or_else(|| {
            out.push(LABELS);
            write_prefixed(out, stored);
            self.labels.add(stored)
        })
    }
}

fn write_coding(out: &mut Vec<u8>, (tag, number): (u8, u32)) {
    out.push(tag);
    out.extend_from_slice(&number.to_le_bytes());
}

impl<K: Send + Sync + 'static> SaveObjects<Packed<K>> for Save<K> {
    fn write(&mut self, object: &Packed<K>, out: &mut Vec<u8>) {
        let header = object.header();
        let coding = self.coding(&header.coding, out);
        let labels = self.labels(&header.labels, out);
        out.push(OBJECT);
        write_prefixed(out, header.key.as_str().as_bytes());
        let version = header.version.as_ref().map(ResourceVersion::as_str);
        write_prefixed(out, version.unwrap_or_default().as_bytes());
        out.extend_from_slice(&header.fingerprint.get().to_le_bytes());
        write_coding(out, coding);
        for number in [labels, header.size, header.kept] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out.push(match header.encoding {
            Encoding::Json => 0,
            #[cfg(feature = "protobuf")]
            Encoding::Protobuf => 1,
        });
        out.push(header.typed.into());
        write_prefixed(out, &object.0.slice);
    }

    fn finish(&mut self, out: &mut Vec<u8>) {
        let (dictionary, (seed, families)) = {
            let state = self.packer.state();
            let compressor = state.compressor.as_ref();
            let dictionary = compressor.and_then(|compressor| match compressor.coding() {
                Coding::Dictionary(dictionary) => Some(dictionary.clone()),
                _ => None,
            });
            (dictionary, state.families.saved())
        };
        let dictionary = dictionary.map_or(NONE, |dictionary| self.dictionary(&dictionary, out));
        // A base that no saved object needs is not worth keeping.
        let families = families.iter();
        let families = families.filter_map(|(name, base)| Some((name, self.bases.number(base)?)));
        let families: Vec<_> = families.collect();
        out.push(STATE);
        out.extend_from_slice(&dictionary.to_le_bytes());
        out.extend_from_slice(&seed.to_le_bytes());
        out.extend_from_slice(&(families.len() as u32).to_le_bytes());
        for (name, base) in families {
            out.extend_from_slice(&name.to_le_bytes());
            out.extend_from_slice(&base.to_le_bytes());
        }
    }
}

/// Reads the records of a collection. Nothing in them is trusted: all numbers and lengths are checked.
pub(super) struct Restore<K> {
    packer: Arc<Packer<K>>,
    shared: Arc<Shared<K>>,
    dictionaries: Vec<Arc<Dictionary>>,
    bases: Vec<Arc<Base>>,
    labels: Vec<Arc<[u8]>>,
    all_bases: Arc<std::sync::atomic::AtomicU64>,
}

/// The bytes of a record that have not been read.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*byte)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (array, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(*array)
    }

    fn number(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn long(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let (bytes, rest) = prefixed(self.0)?;
        self.0 = rest;
        Some(bytes)
    }

    fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.bytes()?).ok()
    }
}

impl<K> Restore<K> {
    pub(super) fn new(packer: Arc<Packer<K>>) -> Self {
        let all_bases = packer.state().families.all_bases();
        Self {
            shared: packer.shared.clone(),
            all_bases,
            packer,
            dictionaries: Vec::new(),
            bases: Vec::new(),
            labels: Vec::new(),
        }
    }

    fn coding(&self, rest: &mut Rest<'_>) -> Option<Coding> {
        let (tag, number) = (rest.byte()?, rest.number()? as usize);
        match tag {
            PLAIN => Some(Coding::Plain),
            NO_DICTIONARY => Some(Coding::NoDictionary),
            WITH_DICTIONARY => Some(Coding::Dictionary(self.dictionaries.get(number)?.clone())),
            DELTA => Some(Coding::Delta(self.bases.get(number)?.clone())),
            _ => None,
        }
    }

    /// Reads the definitions at the start of a record, and the tag after them.
    fn definitions(&mut self, rest: &mut Rest<'_>) -> Option<u8> {
        loop {
            match rest.byte()? {
                DICTIONARY => {
                    let dictionary = Dictionary::new(rest.bytes()?)?;
                    self.dictionaries.push(Arc::new(dictionary));
                }
                BASE => {
                    let coding = self.coding(rest)?;
                    let (size, stored) = (rest.number()?, rest.bytes()?);
                    // A base is never the difference from another one.
                    if matches!(coding, Coding::Delta(_)) || !is_possible(&coding, size, stored.len()) {
                        return None;
                    }
                    let base = Base::new(coding, stored, size as usize, self.all_bases.clone());
                    self.bases.push(Arc::new(base));
                }
                LABELS => self.labels.push(rest.bytes()?.into()),
                tag => return Some(tag),
            }
        }
    }

    fn object(&self, rest: &mut Rest<'_>) -> Option<Packed<K>> {
        let key = key(rest.text()?)?;
        let version = rest.text()?;
        let fingerprint = Fingerprint::new(rest.long()?);
        let coding = self.coding(rest)?;
        let labels = match rest.number()? {
            NONE => None,
            number => Some(self.labels.get(number as usize)?.clone()),
        };
        let (size, kept) = (rest.number()?, rest.number()?);
        let encoding = match rest.byte()? {
            0 => Encoding::Json,
            #[cfg(feature = "protobuf")]
            1 => Encoding::Protobuf,
            _ => return None,
        };
        let typed = rest.byte()? != 0;
        let bytes = rest.bytes()?;
        let all = u32::try_from(bytes.len()).ok()?;
        let beside = Beside::read(bytes.get(kept as usize..)?)?;
        if beside.uid_at.is_some_and(|at| at > size as usize) || !is_possible(&coding, size, kept as usize) {
            return None;
        }
        let header = Header {
            key,
            shared: self.shared.clone(),
            coding,
            version: Some(version)
                .filter(|version| !version.is_empty())
                .map(Into::into),
            labels: Labels::of_stored(labels),
            fingerprint,
            size,
            kept,
            all,
            encoding,
            typed,
            decoded: AtomicBool::new(false),
            unread: Unread::uncounted(),
        };
        let packed = Packed(ThinArc::from_header_and_slice(header, bytes));
        self.shared.counters.add(size, kept, all);
        Some(packed)
    }

    fn state(&mut self, rest: &mut Rest<'_>) -> Option<()> {
        let dictionary = match rest.number()? {
            NONE => None,
            number => Some(self.dictionaries.get(number as usize)?.clone()),
        };
        let (seed, count) = (rest.long()?, rest.number()?);
        let mut families = Vec::new();
        for _ in 0..count {
            let (name, base) = (rest.long()?, rest.number()?);
            families.push((name, self.bases.get(base as usize)?.clone()));
        }
        let compressor = match dictionary {
            Some(dictionary) => Some(Compressor::with(dictionary)?),
            None => None,
        };
        let mut state = self.packer.state();
        state.families.restore(seed, families);
        state.labels.restore(self.labels.drain(..));
        state.dictionaries += u64::from(compressor.is_some());
        if let Some(compressor) = compressor {
            state.samples = None;
            state.trained = compressor.is_trained();
            state.compressor = Some(compressor);
        }
        Some(())
    }
}

/// Whether so many stored bytes can be a body of this size.
fn is_possible(coding: &Coding, size: u32, stored: usize) -> bool {
    match coding {
        Coding::Plain => size as usize == stored,
        _ => u64::from(size) <= MAX_EXPANSION * stored as u64 + MAX_BLOCK,
    }
}

/// A key as a store can have it.
fn key(text: &str) -> Option<ObjectKey> {
    let (namespace, name) = match text.split_once('/') {
        Some((namespace, name)) => (Some(namespace), name),
        None => (None, text),
    };
    let valid = |part: &str| !part.is_empty() && is_path_segment(part);
    (valid(name) && namespace.is_none_or(valid)).then(|| text.into())
}

impl<K: Send + Sync + 'static> RestoreObjects<Packed<K>> for Restore<K> {
    fn read(&mut self, record: &[u8]) -> Option<Packed<K>> {
        let mut rest = Rest(record);
        if self.definitions(&mut rest)? != OBJECT {
            return None;
        }
        let object = self.object(&mut rest)?;
        rest.0.is_empty().then_some(object)
    }

    fn finish(&mut self, record: &[u8]) -> Option<()> {
        let mut rest = Rest(record);
        if self.definitions(&mut rest)? != STATE {
            return None;
        }
        self.state(&mut rest)?;
        rest.0.is_empty().then_some(())
    }
}
