//! Writes a message without the parts that are left out.

use super::METADATA;
use super::envelope;
use super::records::Records;
use crate::low_level::wire::meta::Span;

/// Appends the message of an object, which a scan has accepted, without the cuts that the scan found. The metadata becomes
/// as much shorter as what is cut out of it.
pub(in crate::low_level::wire) fn write_body(bytes: &[u8], cuts: &[Span], out: &mut Vec<u8>) {
    let Ok(message) = envelope::open(bytes).map(|envelope| envelope.message) else {
        return;
    };
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
        let mut from = place.start;
        for cut in cuts() {
            out.extend_from_slice(&bytes[from..cut.start()]);
            from = cut.end();
        }
        out.extend_from_slice(&bytes[from..place.end]);
    }
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
