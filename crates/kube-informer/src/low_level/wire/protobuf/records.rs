//! Reads the records of a message, which are a field number and a value each, without looking into them.

use crate::low_level::wire::ScanReason;
use crate::low_level::wire::error::Fault;
use std::ops::Range;

/// The records of a part of `bytes`. All offsets are those in `bytes`.
#[derive(Debug)]
pub(super) struct Records<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// One record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) number: u32,
    pub(super) value: Value,
    /// The whole record.
    pub(super) place: Range<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Varint(u64),
    /// A number of four or eight bytes, which no field that is read here has.
    Fixed,
    /// A string, bytes or a message.
    Bytes(Range<usize>),
}

/// What can be read of a varint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Varint {
    /// The number, and how many bytes it takes.
    Complete(u64, usize),
    /// There are more bytes to it.
    Incomplete,
    /// It takes more than ten bytes.
    TooLong,
}

/// Reads the varint that `bytes` start with.
pub(super) fn varint(bytes: impl IntoIterator<Item = u8>) -> Varint {
    let mut number = 0;
    for (count, byte) in bytes.into_iter().take(10).enumerate() {
        number |= u64::from(byte & 0x7f) << (7 * count);
        match (byte < 0x80, count) {
            (true, _) => return Varint::Complete(number, count + 1),
            (false, 9) => return Varint::TooLong,
            (false, _) => {}
        }
    }
    Varint::Incomplete
}

/// The field number and the wire type of a tag; `None` if there is no such field.
pub(super) fn tag(varint: u64) -> Option<(u32, u64)> {
    let number = u32::try_from(varint >> 3).ok()?;
    (number > 0 && number < 1 << 29).then_some((number, varint & 7))
}

impl<'a> Records<'a> {
    /// The records in `place`.
    pub(super) fn new(bytes: &'a [u8], place: Range<usize>) -> Self {
        Self {
            bytes: &bytes[..place.end],
            at: place.start,
        }
    }

    /// The next record; `None` at the end.
    #[inline]
    pub(super) fn next(&mut self) -> Result<Option<Record>, Fault> {
        let start = self.at;
        if start == self.bytes.len() {
            return Ok(None);
        }
        let (number, wire_type) = tag(self.varint()?).ok_or_else(|| fault(start, "a protobuf field"))?;
        let value = match wire_type {
            0 => Value::Varint(self.varint()?),
            1 => self.skip(8).map(|_| Value::Fixed)?,
            2 => {
                let length = self.varint()?;
                Value::Bytes(self.skip(length)?)
            }
            5 => self.skip(4).map(|_| Value::Fixed)?,
            // 3 and 4 are groups, which Kubernetes has never had.
            _ => return Err(fault(start, "a protobuf value")),
        };
        Ok(Some(Record {
            number,
            value,
            place: start..self.at,
        }))
    }

    #[inline]
    fn varint(&mut self) -> Result<u64, Fault> {
        // Most are one byte.
        match self.bytes.get(self.at) {
            Some(byte) if *byte < 0x80 => {
                self.at += 1;
                Ok((*byte).into())
            }
            _ => self.long_varint(),
        }
    }

    fn long_varint(&mut self) -> Result<u64, Fault> {
        match varint(self.bytes[self.at..].iter().copied()) {
            Varint::Complete(number, size) => {
                self.at += size;
                Ok(number)
            }
            Varint::Incomplete => Err(self.truncated()),
            Varint::TooLong => Err(fault(self.at, "a number of at most ten bytes")),
        }
    }

    #[inline]
    fn skip(&mut self, length: u64) -> Result<Range<usize>, Fault> {
        let start = self.at;
        if length > (self.bytes.len() - start) as u64 {
            return Err(self.truncated());
        }
        self.at += length as usize;
        Ok(start..self.at)
    }

    #[cold]
    fn truncated(&self) -> Fault {
        Fault {
            reason: ScanReason::Truncated,
            offset: self.bytes.len(),
        }
    }
}

impl Value {
    /// The place of a string, bytes or a message.
    pub(super) fn bytes(&self) -> Option<Range<usize>> {
        match self {
            Self::Bytes(place) => Some(place.clone()),
            Self::Varint(_) | Self::Fixed => None,
        }
    }
}

pub(super) fn fault(offset: usize, expected: &'static str) -> Fault {
    Fault {
        reason: ScanReason::Expected(expected),
        offset,
    }
}

/// Key and value of an entry of a map of strings; `None` if they are no strings.
pub(super) fn entry(bytes: &[u8], place: Range<usize>) -> Result<Option<(&str, &str)>, Fault> {
    let (mut key, mut value) = (Some(""), Some(""));
    let mut records = Records::new(bytes, place);
    while let Some(record) = records.next()? {
        let text = || std::str::from_utf8(&bytes[record.value.bytes()?]).ok();
        match record.number {
            1 => key = text(),
            2 => value = text(),
            _ => {}
        }
    }
    Ok(key.zip(value))
}

/// Whether these bytes are an entry as Go writes it, of ASCII only: nearly all labels. [`entry`] need not read it then.
pub(super) fn is_plain_entry(bytes: &[u8]) -> bool {
    if let [0x0a, key, rest @ ..] = bytes
        && let Some((_, [0x12, value, rest @ ..])) = rest.split_at_checked((*key).into())
    {
        // So the lengths have one byte each.
        return rest.len() == usize::from(*value) && bytes.is_ascii();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn entries_that_need_not_be_read_can_be_read() {
        let is_plain = |bytes: &[u8]| {
            let is_plain = is_plain_entry(bytes);
            let read = entry(bytes, 0..bytes.len());
            assert!(!is_plain || matches!(read, Ok(Some(_))), "{bytes:x?}");
            is_plain
        };
        assert!(is_plain(b"\x0a\x03app\x12\x03web"));
        assert!(is_plain(b"\x0a\x00\x12\x00"));
        let long = [&b"\x0a\x80\x01"[..], &[b'a'; 128], b"\x12\x00"].concat();
        for other in [
            &b"\x0a\x03app"[..],
            b"\x0a\x03app\x12",
            b"\x0a\x03app\x12\x04web",
            b"\x0a\x03app\x12\x02web",
            b"\x0a\x09app\x12\x03web",
            b"\x0a\x03\xffpp\x12\x03web",
            b"\x12\x03web\x0a\x03app",
            b"",
            &long,
        ] {
            assert!(!is_plain(other), "{other:x?}");
        }
    }

    #[test]
    fn broken_records_are_errors() {
        for bytes in [
            &[0x0a, 5, b'x'][..],                                             // shorter than it says
            &[0x08],                                                          // no value
            &[0x09, 1, 2],                                                    // a number that is cut off
            &[0x0b],                                                          // a group
            &[0x00, 1],                                                       // field 0
            &[0x80; 11],                                                      // a tag without an end
            &[0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1], // longer than all memory
        ] {
            assert!(Records::new(bytes, 0..bytes.len()).next().is_err(), "{bytes:x?}");
        }
    }

    proptest! {
        #[test]
        fn varints_of_any_size_are_read(number: u64, behind: u8) {
            let mut bytes = super::super::body::varint_bytes(number);
            let size = bytes.len();
            bytes.push(behind);
            prop_assert_eq!(varint(bytes.iter().copied()), Varint::Complete(number, size));
            prop_assert_eq!(varint(bytes[..size - 1].iter().copied()), Varint::Incomplete);
        }
    }
}
