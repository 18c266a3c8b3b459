//! The file: a header, then blocks with a length and a checksum each, the last of which says that the file is complete.
//!
//! | part | bytes |
//! |---|---|
//! | header | [`MAGIC`], [`FORMAT`], a random number of this file |
//! | [`HEAD`] | what the file belongs to, the server, the seed of fingerprints, the time, the partitions |
//! | [`OBJECTS`], any number | for each object: partition (plus [`DELETED`]), fingerprint, length, [record](crate::form::SaveObjects) |
//! | [`END`] | the number of objects, the form's last record |
//!
//! A block is its kind, the length of its content, the content, and a checksum of these. The checksum also covers the file's
//! random number and the block's position, so that a block of another file, or in another place, is noticed. Numbers are
//! little-endian.

use crate::form::Decode;
use crate::object::{Fingerprint, ObjectKey, ResourceVersion};
use crate::source::DecodeResult;
use crate::store::Snapshot;
use crate::{Partition, object};
use std::collections::HashMap;
use std::io::{self, Read, Write};
use std::sync::Arc;
use xxhash_rust::xxh3::xxh3_64_with_seed;

const MAGIC: [u8; 8] = *b"kinfcach";
/// The version of the format. A file of another version is not used.
const FORMAT: u32 = 3;
const HEADER: u64 = 8 + 4 + 8;

const HEAD: u8 = 1;
const OBJECTS: u8 = 2;
const END: u8 = 3;

/// Added to the partition of an object that is deleted, if some handler had not been told so.
const DELETED: u32 = 1 << 31;

/// The size at which a block is written.
const BLOCK: usize = 256 << 10;
/// The bytes of a block beside its content.
const FRAME: u64 = 1 + 4 + 8;
/// About the fewest bytes of an object. A file has no more objects than its size divided by this, whatever its head says.
const SMALLEST_OBJECT: u64 = 48;

/// Why a file is not used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LoadError {
    #[error("there is no file yet")]
    None,
    #[error("the file cannot be read: {0}")]
    Io(io::Error),
    #[error("it is not a saved cache")]
    NotOurs,
    #[error("it has format {0}, this program reads format {FORMAT}")]
    Format(u32),
    #[error("it is damaged or incomplete: {0}")]
    Damaged(&'static str),
    #[error("nobody waits for it any more")]
    GivenUp,
    #[error("it was saved for something else ({saved}) than what is wanted ({wanted})")]
    Foreign { saved: String, wanted: String },
}

impl From<io::Error> for LoadError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::None,
            io::ErrorKind::UnexpectedEof => Self::Damaged("it ends too early"),
            _ => Self::Io(error),
        }
    }
}

/// What a file says of itself.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Head {
    /// What the file belongs to: resource, selection, encoding, plan, form.
    pub(crate) identity: String,
    /// The identity of the server, if it was known.
    pub(crate) server: Option<String>,
    /// The seed of the fingerprints.
    pub(crate) seed: u64,
    /// When it was saved, in milliseconds since 1970.
    pub(crate) saved_at: u64,
    pub(crate) partitions: Vec<SavedPartition>,
}

/// A partition as a file has it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SavedPartition {
    /// Its namespace, or empty: the whole collection.
    pub(crate) name: String,
    /// The version up to which its objects are complete.
    pub(crate) version: ResourceVersion,
    /// Whether all of its objects are in the file. If some could not be read or indexed, it must be listed.
    pub(crate) complete: bool,
    pub(crate) objects: u64,
}

/// A file that was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Written {
    /// Its random number.
    pub(crate) file: u64,
    pub(crate) bytes: u64,
}

/// What is read from a file.
pub(crate) struct Loaded<O: Decode> {
    /// Its random number.
    pub(crate) file: u64,
    pub(crate) head: Head,
    /// For each partition of the head its objects; `None` if it is not wanted.
    pub(crate) objects: Vec<Option<Objects<O>>>,
}

/// The objects of a partition.
pub(crate) struct Objects<O: Decode> {
    pub(crate) entries: Entries<O>,
    /// The last states of objects of whose deletion some handler had not been told.
    pub(crate) deleted: Vec<O::Handle>,
}

/// Objects as a reflector passes them on.
pub(crate) type Entries<O> = Vec<(ObjectKey, DecodeResult<O>)>;

/// Writes a file.
struct Blocks<W> {
    out: W,
    file: u64,
    position: u64,
    written: u64,
}

impl<W: Write> Blocks<W> {
    fn new(mut out: W) -> io::Result<Self> {
        let file = rand::random();
        out.write_all(&MAGIC)?;
        out.write_all(&FORMAT.to_le_bytes())?;
        out.write_all(&u64::to_le_bytes(file))?;
        Ok(Self {
            out,
            file,
            position: 0,
            written: HEADER,
        })
    }

    /// Writes a block and empties the buffer. The buffer begins with [`room`] for the block's frame.
    fn write(&mut self, kind: u8, block: &mut Vec<u8>) -> io::Result<()> {
        let length = u32::try_from(block.len() - ROOM)
            .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "an object of 4 GiB cannot be saved"))?;
        block[0] = kind;
        block[1..ROOM].copy_from_slice(&length.to_le_bytes());
        let checksum = checksum(self.file, self.position, block);
        block.extend_from_slice(&checksum.to_le_bytes());
        self.out.write_all(block)?;
        self.position += 1;
        self.written += block.len() as u64;
        room(block);
        Ok(())
    }
}

/// The bytes before the content of a block.
const ROOM: usize = 1 + 4;

/// Empties a buffer, except for the room for a block's frame.
fn room(block: &mut Vec<u8>) {
    block.clear();
    block.resize(ROOM, 0);
}

fn checksum(file: u64, position: u64, block: &[u8]) -> u64 {
    xxh3_64_with_seed(block, file.wrapping_add(position))
}

fn write_text(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(&(text.len() as u32).to_le_bytes());
    out.extend_from_slice(text.as_bytes());
}

impl Head {
    fn write(&self, out: &mut Vec<u8>) {
        write_text(out, &self.identity);
        write_text(out, self.server.as_deref().unwrap_or_default());
        out.extend_from_slice(&self.seed.to_le_bytes());
        out.extend_from_slice(&self.saved_at.to_le_bytes());
        out.extend_from_slice(&(self.partitions.len() as u32).to_le_bytes());
        for partition in &self.partitions {
            write_text(out, &partition.name);
            write_text(out, &partition.version.as_str());
            out.push(partition.complete.into());
            out.extend_from_slice(&partition.objects.to_le_bytes());
        }
    }

    fn read(content: &[u8]) -> Option<Self> {
        let mut rest = Rest(content);
        let identity = rest.text()?.to_owned();
        let server = Some(rest.text()?.to_owned()).filter(|server| !server.is_empty());
        let (seed, saved_at) = (rest.long()?, rest.long()?);
        let mut partitions = Vec::new();
        for _ in 0..rest.number()? {
            partitions.push(SavedPartition {
                name: rest.text()?.to_owned(),
                version: Some(ResourceVersion::from(rest.text()?)).filter(ResourceVersion::is_version)?,
                complete: rest.bytes(1)? != [0],
                objects: rest.long()?,
            });
        }
        rest.0.is_empty().then_some(Self {
            identity,
            server,
            seed,
            saved_at,
            partitions,
        })
    }
}

/// Writes the objects of `snapshot` that belong to `partitions`, which are named in the same order in `head`, and `deleted` objects with the
/// numbers of theirs. The numbers of objects in `head` are filled in. Returns `None` if the form cannot be saved.
pub(crate) fn write<O: Decode>(
    out: impl Write,
    mut head: Head,
    partitions: &[Partition],
    snapshot: &Snapshot<O::Handle>,
    deleted: &[(u32, O::Handle)],
    decoder: &Arc<O::Decoder>,
) -> io::Result<Option<Written>> {
    let Some(mut objects) = O::save_objects(decoder) else {
        return Ok(None);
    };
    let numbers: HashMap<Partition, u32> = partitions.iter().copied().zip(0..).collect();
    for row in snapshot.rows() {
        if let Some(number) = numbers.get(&row.partition) {
            head.partitions[*number as usize].objects += 1;
        }
    }
    let mut blocks = Blocks::new(out)?;
    let mut block = Vec::with_capacity(BLOCK + (BLOCK >> 2));
    room(&mut block);
    head.write(&mut block);
    blocks.write(HEAD, &mut block)?;
    let live = snapshot.rows().filter_map(|row| {
        let number = *numbers.get(&row.partition)?;
        // What is stale must not be found unchanged by the list that follows.
        let fresh = snapshot.stale_len() == 0 || !snapshot.is_stale(row.key.as_str());
        let fingerprint = row.fingerprint.filter(|_| fresh).map_or(0, Fingerprint::get);
        Some((number, fingerprint, row.object))
    });
    let deleted = deleted
        .iter()
        .map(|(number, object)| (DELETED | number, 0, object));
    let mut written = 0_u64;
    for (partition, fingerprint, object) in live.chain(deleted) {
        block.extend_from_slice(&partition.to_le_bytes());
        block.extend_from_slice(&fingerprint.to_le_bytes());
        let length = block.len();
        block.extend_from_slice(&[0; 4]);
        objects.write(object, &mut block);
        let size = (block.len() - length - 4) as u32;
        block[length..length + 4].copy_from_slice(&size.to_le_bytes());
        written += 1;
        if block.len() >= BLOCK {
            blocks.write(OBJECTS, &mut block)?;
        }
    }
    if block.len() > ROOM {
        blocks.write(OBJECTS, &mut block)?;
    }
    block.extend_from_slice(&written.to_le_bytes());
    objects.finish(&mut block);
    blocks.write(END, &mut block)?;
    blocks.out.flush()?;
    Ok(Some(Written {
        file: blocks.file,
        bytes: blocks.written,
    }))
}

/// Bytes that have not been read.
struct Rest<'a>(&'a [u8]);

impl<'a> Rest<'a> {
    fn bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    fn number(&mut self) -> Option<u32> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u32::from_le_bytes(*number))
    }

    fn long(&mut self) -> Option<u64> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*number))
    }

    fn text(&mut self) -> Option<&'a str> {
        let length = self.number()?;
        std::str::from_utf8(self.bytes(length as usize)?).ok()
    }
}

/// Reads blocks, of which none is longer than what is left of the file.
struct Reader<R> {
    input: R,
    left: u64,
    file: u64,
    position: u64,
    block: Vec<u8>,
}

impl<R: Read> Reader<R> {
    fn new(mut input: R, length: u64) -> Result<Self, LoadError> {
        let mut header = [0; HEADER as usize];
        if length < HEADER {
            return Err(LoadError::Damaged("it is too short"));
        }
        input.read_exact(&mut header)?;
        let mut rest = Rest(&header);
        if rest.bytes(MAGIC.len()) != Some(&MAGIC) {
            return Err(LoadError::NotOurs);
        }
        let format = rest.number().unwrap_or_default();
        if format != FORMAT {
            return Err(LoadError::Format(format));
        }
        Ok(Self {
            input,
            left: length - HEADER,
            file: rest.long().unwrap_or_default(),
            position: 0,
            block: Vec::new(),
        })
    }

    /// Reads the next block: its kind, its content, and how many bytes follow it.
    fn next(&mut self) -> Result<(u8, &[u8], u64), LoadError> {
        self.left = self
            .left
            .checked_sub(FRAME)
            .ok_or(LoadError::Damaged("it ends too early"))?;
        let mut frame = [0; ROOM];
        self.input.read_exact(&mut frame)?;
        let length = u32::from_le_bytes([frame[1], frame[2], frame[3], frame[4]]);
        self.left = self
            .left
            .checked_sub(length.into())
            .ok_or(LoadError::Damaged("a block is longer than the file"))?;
        self.block.clear();
        self.block.extend_from_slice(&frame);
        self.block.resize(ROOM + length as usize, 0);
        self.input.read_exact(&mut self.block[ROOM..])?;
        let mut expected = [0; 8];
        self.input.read_exact(&mut expected)?;
        if checksum(self.file, self.position, &self.block) != u64::from_le_bytes(expected) {
            return Err(LoadError::Damaged("a checksum is wrong"));
        }
        self.position += 1;
        Ok((frame[0], &self.block[ROOM..], self.left))
    }
}

/// Reads a file of `length` bytes that belongs to `identity`: the partitions that are wanted. `goes_on` is asked after each block.
/// Nothing is returned, and the decoder is as before, unless the whole file is intact.
pub(crate) fn read<O: Decode>(
    input: impl Read,
    length: u64,
    identity: &str,
    wanted: impl Fn(&str) -> bool,
    goes_on: impl Fn() -> bool,
    decoder: &Arc<O::Decoder>,
) -> Result<Loaded<O>, LoadError> {
    const RECORD: LoadError = LoadError::Damaged("an object cannot be read");
    let mut reader = Reader::new(input, length)?;
    let head = match reader.next()? {
        (HEAD, content, _) => Head::read(content).ok_or(LoadError::Damaged("its head cannot be read"))?,
        _ => return Err(LoadError::Damaged("it has no head")),
    };
    if head.identity != identity {
        return Err(LoadError::Foreign {
            saved: head.identity,
            wanted: identity.to_owned(),
        });
    }
    let mut restore = O::restore_objects(decoder).ok_or(LoadError::Damaged("the form cannot be read"))?;
    let mut most = reader.left / SMALLEST_OBJECT;
    let objects = head.partitions.iter().map(|partition| {
        wanted(&partition.name).then(|| {
            let capacity = partition.objects.min(most);
            most -= capacity;
            Objects {
                entries: Vec::with_capacity(capacity as usize),
                deleted: Vec::new(),
            }
        })
    });
    let mut objects: Vec<Option<Objects<O>>> = objects.collect();
    let mut count = 0_u64;
    loop {
        let (kind, content, left) = reader.next()?;
        if !goes_on() {
            return Err(LoadError::GivenUp);
        }
        let mut rest = Rest(content);
        if kind == END {
            if rest.long() != Some(count) {
                return Err(LoadError::Damaged("objects are missing"));
            }
            if left > 0 {
                return Err(LoadError::Damaged("something follows its end"));
            }
            restore.finish(rest.0).ok_or(RECORD)?;
            return Ok(Loaded {
                file: reader.file,
                head,
                objects,
            });
        }
        if kind != OBJECTS {
            return Err(LoadError::Damaged("it has an unknown block"));
        }
        while !rest.0.is_empty() {
            let object = read_object(&mut rest, &mut *restore, &mut objects);
            object.ok_or(RECORD)?;
            count += 1;
        }
    }
}

fn read_object<O: Decode>(
    rest: &mut Rest<'_>,
    restore: &mut dyn crate::form::RestoreObjects<O>,
    objects: &mut [Option<Objects<O>>],
) -> Option<()> {
    let (partition, fingerprint, length) = (rest.number()?, rest.long()?, rest.number()?);
    let object = restore.read(rest.bytes(length as usize)?)?;
    let Some(objects) = objects.get_mut((partition & !DELETED) as usize)? else {
        return Some(());
    };
    if partition & DELETED != 0 {
        objects.deleted.push(object);
    } else {
        let key = <O as object::CachedObject>::key_of(&object);
        let fingerprint = (fingerprint != 0).then(|| Fingerprint::new(fingerprint));
        objects
            .entries
            .push((key, DecodeResult::Decoded { object, fingerprint }));
    }
    Some(())
}

#[cfg(all(test, feature = "packed"))]
mod tests;
