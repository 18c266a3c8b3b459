//! The wire format: records of a field number and a value (<https://protobuf.dev/programming-guides/encoding/>).

use crate::Error;
use std::vec;

/// One record of a message.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Record<'de> {
    pub(crate) number: u32,
    pub(crate) value: Wire<'de>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Wire<'de> {
    Varint(u64),
    Fixed64(u64),
    Bytes(&'de [u8]),
    Fixed32(u32),
}

impl<'de> Wire<'de> {
    pub(crate) fn bytes(self) -> Result<&'de [u8], Error> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            _ => Err(wrong_wire_type()),
        }
    }

    pub(crate) fn varint(self) -> Result<u64, Error> {
        match self {
            Self::Varint(value) => Ok(value),
            _ => Err(wrong_wire_type()),
        }
    }
}

/// The last value of a field of a message that is not an object in JSON.
pub(crate) fn last<'de>(bytes: &'de [u8], number: u32) -> Result<Option<Wire<'de>>, Error> {
    let mut reader = Reader::new(bytes);
    let mut last = None;
    while let Some(record) = reader.read()? {
        if record.number == number {
            last = Some(record.value);
        }
    }
    Ok(last)
}

/// The same for a field that is an integer.
pub(crate) fn integer(bytes: &[u8], number: u32) -> Result<Option<i64>, Error> {
    let value = last(bytes, number)?.map(Wire::varint).transpose()?;
    Ok(value.map(|value| value as i64))
}

#[cold]
pub(crate) fn wrong_wire_type() -> Error {
    Error::malformed("the protobuf value has the wrong wire type")
}

/// Reads the records of one message, without looking into them.
#[derive(Debug, Clone)]
pub(crate) struct Reader<'de> {
    rest: &'de [u8],
}

impl<'de> Reader<'de> {
    pub(crate) fn new(bytes: &'de [u8]) -> Self {
        Self { rest: bytes }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// What is not read yet.
    #[cfg(feature = "k8s-openapi")]
    pub(crate) fn rest(&self) -> &'de [u8] {
        self.rest
    }

    /// The next record; `None` at the end.
    #[inline]
    pub(crate) fn read(&mut self) -> Result<Option<Record<'de>>, Error> {
        match self.short() {
            None if self.rest.is_empty() => Ok(None),
            None => self.long().map(Some),
            record => Ok(record),
        }
    }

    /// The next record, if it is as nearly all are: it has a small number, and fewer than 128 bytes or an integer below 128.
    #[inline]
    fn short(&mut self) -> Option<Record<'de>> {
        let [tag @ 8..0x80, byte @ ..0x80, rest @ ..] = self.rest else {
            return None;
        };
        let (value, rest) = match tag & 7 {
            0 => (Wire::Varint(u64::from(*byte)), rest),
            2 => {
                let (bytes, rest) = rest.split_at_checked(usize::from(*byte))?;
                (Wire::Bytes(bytes), rest)
            }
            _ => return None,
        };
        self.rest = rest;
        let number = u32::from(tag >> 3);
        Some(Record { number, value })
    }

    fn long(&mut self) -> Result<Record<'de>, Error> {
        let tag = self.varint()?;
        let number = u32::try_from(tag >> 3).unwrap_or_default();
        if number == 0 || number >= 1 << 29 {
            return Err(illegal_number());
        }
        let value = match tag & 7 {
            0 => Wire::Varint(self.varint()?),
            1 => Wire::Fixed64(self.fixed64()?),
            2 => {
                let length = usize::try_from(self.varint()?).map_err(|_| truncated())?;
                Wire::Bytes(self.take(length)?)
            }
            5 => Wire::Fixed32(u32::from_le_bytes(self.array()?)),
            // 3 and 4 are groups, which Kubernetes never had.
            _ => return Err(unknown_wire_type()),
        };
        Ok(Record { number, value })
    }

    #[inline]
    pub(crate) fn varint(&mut self) -> Result<u64, Error> {
        // Nearly all tags and lengths.
        if let [byte @ ..0x80, rest @ ..] = self.rest {
            self.rest = rest;
            return Ok(u64::from(*byte));
        }
        self.long_varint()
    }

    fn long_varint(&mut self) -> Result<u64, Error> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.rest.split_first().ok_or_else(truncated)?;
            self.rest = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(Error::malformed("a protobuf integer of more than ten bytes"))
    }

    pub(crate) fn fixed64(&mut self) -> Result<u64, Error> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    #[inline]
    fn take(&mut self, length: usize) -> Result<&'de [u8], Error> {
        let (taken, rest) = self.rest.split_at_checked(length).ok_or_else(truncated)?;
        self.rest = rest;
        Ok(taken)
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or_else(truncated)?;
        self.rest = rest;
        Ok(*taken)
    }
}

/// Writes what a record starts with.
pub(crate) fn put_tag(out: &mut Vec<u8>, number: u32, wire_type: u32) {
    put_varint(out, u64::from(number << 3 | wire_type));
}

/// Writes a record of bytes.
pub(crate) fn put_bytes(out: &mut Vec<u8>, number: u32, bytes: &[u8]) {
    put_tag(out, number, 2);
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

pub(crate) fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// How many bytes an integer has.
pub(crate) fn varint_length(value: u64) -> usize {
    (64 - (value | 1).leading_zeros() as usize).div_ceil(7)
}

#[cold]
fn truncated() -> Error {
    Error::malformed("the protobuf message ends too early")
}

#[cold]
fn illegal_number() -> Error {
    Error::malformed("an illegal protobuf field number")
}

#[cold]
fn unknown_wire_type() -> Error {
    Error::malformed("an unknown protobuf wire type")
}

/// The records of one message by ascending number; those of one number in their order.
///
/// Go writes them in this order. Otherwise they are sorted by an index of eight bytes a record (which has two at least).
#[derive(Debug)]
pub(crate) struct Records<'de> {
    order: Order<'de>,
    next: Record<'de>,
}

/// What follows the last record: its number is that of no field.
const END: Record<'static> = Record {
    number: u32::MAX,
    value: Wire::Varint(0),
};

#[derive(Debug)]
enum Order<'de> {
    Ascending(Reader<'de>),
    Sorted {
        bytes: &'de [u8],
        /// Numbers, and where their records start.
        index: vec::IntoIter<(u32, u32)>,
    },
}

impl<'de> Records<'de> {
    /// Reads all records once, so that what follows cannot fail.
    pub(crate) fn new(bytes: &'de [u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(bytes);
        let (mut last, mut ascending) = (0, true);
        while let Some(record) = reader.read()? {
            ascending &= last <= record.number;
            last = record.number;
        }
        let order = if ascending {
            Order::Ascending(Reader::new(bytes))
        } else {
            sorted(bytes)?
        };
        let mut records = Self { order, next: END };
        records.advance();
        Ok(records)
    }

    /// The number of the next record; that of no field at the end.
    #[inline]
    pub(crate) fn next_number(&self) -> u32 {
        self.next.number
    }

    /// The value of the next record, if it has this number.
    #[inline]
    pub(crate) fn next_of(&mut self, number: u32) -> Option<Wire<'de>> {
        if self.next.number != number {
            return None;
        }
        let value = self.next.value;
        self.advance();
        Some(value)
    }

    /// Passes over what has a smaller number.
    pub(crate) fn skip_below(&mut self, number: u32) {
        while self.next.number < number {
            self.advance();
        }
    }

    /// How many records with this number come next.
    pub(crate) fn count(&self, number: u32) -> usize {
        if self.next.number != number {
            return 0;
        }
        1 + match &self.order {
            Order::Ascending(reader) => {
                let mut reader = reader.clone();
                std::iter::from_fn(|| reader.read().ok().flatten())
                    .take_while(|record| record.number == number)
                    .count()
            }
            Order::Sorted { index, .. } => index
                .as_slice()
                .iter()
                .take_while(|entry| entry.0 == number)
                .count(),
        }
    }

    #[inline]
    fn advance(&mut self) {
        // `new` has read all of it, so there is no error.
        self.next = match &mut self.order {
            Order::Ascending(reader) => match reader.short() {
                Some(record) => record,
                None => reader.read().ok().flatten().unwrap_or(END),
            },
            Order::Sorted { bytes, index } => {
                let at = index.next().and_then(|(_, at)| bytes.get(at as usize..));
                let record = at.and_then(|at| Reader::new(at).read().ok().flatten());
                record.unwrap_or(END)
            }
        };
    }
}

fn sorted(bytes: &[u8]) -> Result<Order<'_>, Error> {
    let mut index = Vec::new();
    let mut reader = Reader::new(bytes);
    loop {
        let at = u32::try_from(bytes.len() - reader.rest.len())
            .map_err(|_| Error::malformed("a protobuf message of more than 4 GiB"))?;
        let Some(record) = reader.read()? else { break };
        index.push((record.number, at));
    }
    index.sort_unstable();
    Ok(Order::Sorted {
        bytes,
        index: index.into_iter(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(bytes: &[u8]) -> Vec<(u32, Wire<'_>)> {
        let mut records = Records::new(bytes).unwrap();
        std::iter::from_fn(|| {
            let number = records.next_number();
            Some((number, records.next_of(number).filter(|_| number != END.number)?))
        })
        .collect()
    }

    #[test]
    fn records_come_by_number_whatever_their_order() {
        let bytes = [0x10, 1, 0x0a, 1, b'x', 0x10, 2, 0x08, 3];
        assert_eq!(
            numbers(&bytes),
            [
                (1, Wire::Bytes(b"x")),
                (1, Wire::Varint(3)),
                (2, Wire::Varint(1)),
                (2, Wire::Varint(2)),
            ]
        );
        let mut records = Records::new(&bytes).unwrap();
        assert_eq!((records.count(1), records.count(2)), (2, 0));
        records.skip_below(2);
        assert_eq!(records.count(2), 2);
    }

    #[test]
    fn broken_records_are_errors() {
        for bytes in [
            &[0x0a, 5, b'x'][..],                                             // shorter than it says
            &[0x08],                                                          // no value
            &[0x09, 1, 2],                                                    // a cut number
            &[0x0b],                                                          // a group
            &[0x00, 1],                                                       // no number
            &[0x80; 11],                                                      // a tag without an end
            &[0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1], // a length over all memory
        ] {
            assert!(Records::new(bytes).is_err(), "{bytes:x?}");
        }
    }
}
