//! Writes a message without the parts that are left out.

use super::METADATA;
use super::envelope;
use super::records::Records;
use crate::low_level::wire::meta::{self, Span};

/// Appends the message of an object, which a scan has accepted, without the cuts that the scan found. The metadata becomes
/// as much shorter as what is cut out of it. The uid is left out without that; returns where.
pub(in crate::low_level::wire) fn write_body(
    bytes: &[u8],
    cuts: &[Span],
    uid: Option<Span>,
    out: &mut Vec<u8>,
) -> Option<usize> {
    let message = envelope::open(bytes).ok()?.message;
    let mut uid_place = None;
    let mut records = Records::new(bytes, message);
    while let Ok(Some(record)) = records.next() {
        let metadata = record.value.bytes().filter(|_| record.number == METADATA);
        let Some(place) = metadata else {
            out.extend_from_slice(&bytes[record.place]);
            continue;
        };
        let within = |cut: &&Span| place.start <= cut.start() && cut.end() <= place.end;
        let cuts = || cuts.iter().filter(within);
        let cut: usize = cuts().map(|cut| cut.end() - cut.start()).sum();
        out.push((METADATA << 3) as u8 | 2);
        out.extend_from_slice(&varint_bytes((place.len() - cut) as u64));
        uid_place = meta::write_without(bytes, place.clone(), cuts(), uid, out).or(uid_place);
    }
    uid_place
}

/// A number as a varint.
pub(super) fn varint_bytes(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(10);
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}
