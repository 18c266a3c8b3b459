//! Writes recordings.

use super::{BLOCK, Entry, Header, MAGIC, SKIPPABLE, Trailer};
use serde::Serialize;
use std::io::{self, Write};
use zstd_safe::{CCtx, CParameter};

/// The level of compression.
const LEVEL: i32 = 3;

/// Writes a recording, a block at a time.
pub(crate) struct Writer<W> {
    out: W,
    context: CCtx<'static>,
    /// The lines of the next block.
    block: Vec<u8>,
    compressed: Vec<u8>,
    /// The bytes that have been written.
    written: u64,
}

impl<W: Write> Writer<W> {
    /// Writes the magic; the header comes with the first block.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn new(mut out: W, header: &Header) -> io::Result<Self> {
        let mut context = CCtx::create();
        for parameter in [
            CParameter::CompressionLevel(LEVEL),
            CParameter::ChecksumFlag(true),
        ] {
            context.set_parameter(parameter).map_err(failed)?;
        }
        let length = MAGIC.len() as u32;
        let start = [&SKIPPABLE.to_le_bytes()[..], &length.to_le_bytes(), MAGIC].concat();
        out.write_all(&start)?;
        let mut writer = Self {
            out,
            context,
            block: Vec::new(),
            compressed: Vec::new(),
            written: start.len() as u64,
        };
        writer.line(header)?;
        Ok(writer)
    }

    /// Adds an entry to the block, and writes the block if it is full.
    ///
    /// # Errors
    /// The block cannot be written.
    pub(crate) fn write(&mut self, entry: &Entry) -> io::Result<()> {
        self.line(entry)?;
        match self.block.len() {
            BLOCK.. => self.flush(),
            _ => Ok(()),
        }
    }

    fn line(&mut self, line: &impl Serialize) -> io::Result<()> {
        serde_json::to_writer(&mut self.block, line)?;
        self.block.push(b'\n');
        Ok(())
    }

    /// Writes what has been added since the last block.
    ///
    /// # Errors
    /// It cannot be written. What has been written before can be read.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        if self.block.is_empty() {
            return Ok(());
        }
        self.compressed.clear();
        self.compressed
            .reserve(zstd_safe::compress_bound(self.block.len()));
        self.context
            .compress2(&mut self.compressed, &self.block)
            .map_err(failed)?;
        self.block.clear();
        self.out.write_all(&self.compressed)?;
        self.out.flush()?;
        self.written += self.compressed.len() as u64;
        Ok(())
    }

    /// Writes what is left, and when the recording ended, in milliseconds since it began.
    ///
    /// # Errors
    /// It cannot be written. What has been written before can be read.
    pub(crate) fn end(&mut self, ended: u64) -> io::Result<()> {
        self.line(&Trailer { ended })?;
        self.flush()
    }

    /// The bytes that have been written.
    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    #[cfg(test)]
    pub(super) fn into_inner(self) -> W {
        self.out
    }
}

fn failed(code: zstd_safe::ErrorCode) -> io::Error {
    io::Error::other(zstd_safe::get_error_name(code))
}
