//! Reads recordings.

use super::{
    ANY_VERSION, Entry, Header, MAGIC, MOST_OF_BLOCK, MOST_OF_LINE, RecordingError, SKIPPABLE, Trailer,
};
use std::io::{ErrorKind, Read};
use zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer, ResetDirective};

/// The longest magic of any version.
const MOST_OF_MAGIC: usize = 64;
/// The bytes that are read and decompressed at a time.
const CHUNK: usize = 128 << 10;
/// The binary logarithm of the largest window of a block, which bounds what a decompressor needs.
const WINDOW_LOG: u32 = 24;
/// The most resources of a recording.
const MOST_RESOURCES: usize = 10_000;

/// Reads a recording, a block at a time.
pub(crate) struct Reader<R> {
    input: R,
    header: Header,
    blocks: Blocks,
    /// The number of the last line that was read.
    line: u64,
    /// What the trailer says, once it has been read.
    ended: Option<u64>,
}

/// Decompressed blocks.
struct Blocks {
    context: DCtx<'static>,
    /// What was read and is not decompressed yet, from `start`.
    buffer: Vec<u8>,
    start: usize,
    /// The lines of the block that have not been taken, from `taken`.
    block: Vec<u8>,
    taken: usize,
    /// The number of blocks.
    number: u64,
    /// Whether nothing more can be read.
    over: bool,
}

impl<R: Read> Reader<R> {
    /// Reads the magic and the header.
    ///
    /// # Errors
    /// It is no recording, or one of another version.
    pub(crate) fn new(mut input: R) -> Result<Self, RecordingError> {
        check_magic(&mut input)?;
        let mut blocks = Blocks::new()?;
        let header = match blocks.line(&mut input)? {
            Some(line) => serde_json::from_slice::<Header>(line),
            None => return Err(RecordingError::NotARecording),
        };
        let header = header.map_err(|error| RecordingError::Line {
            number: 1,
            why: error.to_string(),
        })?;
        if header.resources.len() > MOST_RESOURCES {
            return Err(RecordingError::Line {
                number: 1,
                why: format!("more than {MOST_RESOURCES} resources"),
            });
        }
        Ok(Self {
            input,
            header,
            blocks,
            line: 1,
            ended: None,
        })
    }

    pub(crate) fn header(&self) -> &Header {
        &self.header
    }

    /// When the recording ended, in milliseconds since it began. Known at the end of the file, unless that is cut.
    pub(crate) fn ended(&self) -> Option<u64> {
        self.ended
    }

    /// Whether the file ends before the recording was ended. Known at the end of the file.
    pub(crate) fn is_cut(&self) -> bool {
        self.blocks.over && self.ended.is_none()
    }

    /// The number of the last line that was read.
    pub(crate) fn line(&self) -> u64 {
        self.line
    }

    /// The next entry; `None` at the end.
    ///
    /// # Errors
    /// A block is damaged, or a line is no entry.
    pub(crate) fn next(&mut self) -> Result<Option<Entry>, RecordingError> {
        let Some(line) = self.blocks.line(&mut self.input)? else {
            return Ok(None);
        };
        self.line += 1;
        if line.len() > MOST_OF_LINE {
            return Err(RecordingError::Line {
                number: self.line,
                why: format!("more than {MOST_OF_LINE} bytes"),
            });
        }
        let error = match serde_json::from_slice(line) {
            Ok(entry) => return Ok(Some(entry)),
            Err(error) => error,
        };
        let Ok(Trailer { ended }) = serde_json::from_slice(line) else {
            return Err(RecordingError::Line {
                number: self.line,
                why: error.to_string(),
            });
        };
        if self.blocks.line(&mut self.input)?.is_some() {
            return Err(RecordingError::Line {
                number: self.line + 1,
                why: "it is after the end of the recording".into(),
            });
        }
        self.ended = Some(ended);
        Ok(None)
    }
}

/// Reads the frame that starts every recording.
fn check_magic(input: &mut impl Read) -> Result<(), RecordingError> {
    let mut exactly = |buffer: &mut [u8]| match input.read_exact(buffer) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Err(RecordingError::NotARecording),
        read => read.map_err(RecordingError::from),
    };
    let (mut number, mut length) = ([0; 4], [0; 4]);
    exactly(&mut number)?;
    exactly(&mut length)?;
    let length = u32::from_le_bytes(length) as usize;
    if u32::from_le_bytes(number) != SKIPPABLE || length > MOST_OF_MAGIC {
        return Err(RecordingError::NotARecording);
    }
    let mut magic = vec![0; length];
    exactly(&mut magic)?;
    match magic.strip_prefix(ANY_VERSION) {
        Some(_) if magic == MAGIC => Ok(()),
        Some(version) => Err(RecordingError::Version(
            String::from_utf8_lossy(version).trim_end().to_owned(),
        )),
        None => Err(RecordingError::NotARecording),
    }
}

impl Blocks {
    fn new() -> Result<Self, RecordingError> {
        let mut context = DCtx::create();
        let limited = context.set_parameter(DParameter::WindowLogMax(WINDOW_LOG));
        limited.map_err(|code| RecordingError::Block {
            number: 1,
            why: zstd_safe::get_error_name(code).into(),
        })?;
        Ok(Self {
            context,
            buffer: Vec::new(),
            start: 0,
            block: Vec::new(),
            taken: 0,
            number: 0,
            over: false,
        })
    }

    /// The next line, without its end.
    fn line(&mut self, input: &mut impl Read) -> Result<Option<&[u8]>, RecordingError> {
        while self.taken == self.block.len() {
            if self.over || !self.read(input)? {
                return Ok(None);
            }
        }
        let rest = &self.block[self.taken..];
        let length = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        let line = self.taken..self.taken + length;
        self.taken = (line.end + 1).min(self.block.len());
        Ok(Some(&self.block[line]))
    }

    /// Reads a block. Returns false at the end of the file.
    fn read(&mut self, input: &mut impl Read) -> Result<bool, RecordingError> {
        self.block.clear();
        self.taken = 0;
        self.number += 1;
        let damaged = |number: u64, why: &str| RecordingError::Block {
            number,
            why: why.to_owned(),
        };
        let mut out = vec![0; CHUNK];
        loop {
            if self.start == self.buffer.len() {
                self.buffer.resize(CHUNK, 0);
                let length = loop {
                    match input.read(&mut self.buffer) {
                        Err(error) if error.kind() == ErrorKind::Interrupted => {}
                        read => break read?,
                    }
                };
                self.buffer.truncate(length);
                self.start = 0;
                if length == 0 {
                    // What there is of this block has not been checked.
                    self.over = true;
                    self.block.clear();
                    return Ok(false);
                }
            }
            let mut from = InBuffer::around(&self.buffer[self.start..]);
            let (hint, length) = {
                let mut to = OutBuffer::around(&mut out[..]);
                let hint = self.context.decompress_stream(&mut to, &mut from);
                (hint, to.pos())
            };
            let hint = hint.map_err(|code| damaged(self.number, zstd_safe::get_error_name(code)));
            let hint = hint.inspect_err(|_| self.over = true)?;
            self.start += from.pos();
            self.block.extend_from_slice(&out[..length]);
            if self.block.len() > MOST_OF_BLOCK {
                self.over = true;
                return Err(damaged(self.number, "more than 64 MiB"));
            }
            if hint == 0 {
                // Each block is a frame.
                let reset = self.context.reset(ResetDirective::SessionOnly);
                reset.map_err(|code| damaged(self.number, zstd_safe::get_error_name(code)))?;
                return Ok(true);
            }
        }
    }
}
