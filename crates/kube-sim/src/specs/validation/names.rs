//! Forms of names, with a real server's words for what does not have them.

use std::net::IpAddr;

use serde_json::Value;

use super::at::{At, Causes};
use crate::names::{label_key_faults, label_value_faults};
use crate::status::{go_json, quoted};

/// Why a string is no name of a port, as Services and Ingresses refer to one of a pod.
pub(super) fn port_name_faults(name: &str) -> Vec<&'static str> {
    let mut faults = Vec::new();
    if name.len() > 15 {
        faults.push("must be no more than 15 characters");
    }
    if !name
        .bytes()
        .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    {
        faults.push("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
    }
    if !name.bytes().any(|b| b.is_ascii_lowercase()) {
        faults.push("must contain at least one letter (a-z)");
    }
    if name.contains("--") {
        faults.push("must not contain consecutive hyphens");
    }
    if name.starts_with('-') || name.ends_with('-') {
        faults.push("must not begin or end with a hyphen");
    }
    faults
}

/// A port's number, if `at` has one.
pub(super) fn port_number(at: &At<'_>, causes: &mut Causes) {
    if at.number().is_some_and(|port| !(1..=65535).contains(&port)) {
        causes.push(at.invalid(PORT));
    }
}

/// A port's number that has to be given; what is absent is number 0.
pub(super) fn need_port_number(at: &At<'_>, causes: &mut Causes) {
    let number = at.number().unwrap_or(0);
    if !(1..=65535).contains(&number) {
        causes.push(at.invalid_as(number, PORT));
    }
}

pub(super) const PORT: &str = "must be between 1 and 65535, inclusive";

/// A port by its number or its name; what is absent is number 0.
pub(super) fn port(at: &At<'_>, causes: &mut Causes) {
    match at.value().as_str() {
        Some(name) => causes.extend(port_name_faults(name).into_iter().map(|fault| at.invalid(fault))),
        None => match at.number() {
            None | Some(0) => causes.push(at.invalid_as(0, PORT)),
            Some(_) => port_number(at, causes),
        },
    }
}

/// Labels by which objects are selected.
pub(super) fn labels(at: &At<'_>, causes: &mut Causes) {
    for (key, value) in at.value().as_object().into_iter().flatten() {
        label_key(at, key, causes);
        let value = value.as_str().unwrap_or("");
        let faults = label_value_faults(value).into_iter();
        causes.extend(faults.map(|fault| at.invalid_as(quoted(value), fault)));
    }
}

/// A label's key, which is shown at this place.
pub(super) fn label_key(at: &At<'_>, key: &str, causes: &mut Causes) {
    let faults = label_key_faults(key);
    causes.extend(faults.iter().map(|fault| at.invalid_as(quoted(key), fault)));
}

/// A qualified name, such as the key of a label, that must be there.
pub(super) fn qualified_name(at: &At<'_>, causes: &mut Causes) {
    label_key(at, at.text(), causes);
}

/// A selector of labels.
pub(super) fn selector(at: &At<'_>, causes: &mut Causes) {
    labels(&at.at("matchLabels"), causes);
    for expression in at.items("matchExpressions") {
        let (operator, values) = (expression.at("operator"), expression.at("values"));
        let is_empty = expression.count("values") == 0;
        match operator.text() {
            "In" | "NotIn" if is_empty => {
                causes.push(values.required("must be specified when `operator` is 'In' or 'NotIn'"));
            }
            "Exists" | "DoesNotExist" if !is_empty => {
                causes.push(
                    values.forbidden("may not be specified when `operator` is 'Exists' or 'DoesNotExist'"),
                );
            }
            "In" | "NotIn" | "Exists" | "DoesNotExist" => {}
            _ => causes.push(operator.invalid_in_json("not a valid selector operator")),
        }
        label_key(&expression.at("key"), expression.text_at("key"), causes);
        for value in expression.items("values") {
            value.fits_if_set(label_value_faults, causes);
        }
    }
}

/// A selector as Go shows it.
pub(super) fn selector_shown(selector: &Value) -> String {
    let members = ["matchLabels", "matchExpressions"].into_iter();
    let members: Vec<_> = members
        .filter(|name| !selector[*name].is_null())
        .map(|name| format!("\"{name}\":{}", go_json(&selector[name])))
        .collect();
    format!("{{{}}}", members.join(","))
}

/// An address. Leading zeros do not count: what old versions of Go took is still read.
pub(in crate::specs) fn address(text: &str) -> Option<IpAddr> {
    let parts = text.split(':').map(|part| match part.contains('.') {
        true => part.split('.').map(without_zeros).collect::<Vec<_>>().join("."),
        false => without_zeros(part).to_owned(),
    });
    parts.collect::<Vec<_>>().join(":").parse().ok()
}

/// A number without zeros in front of it.
fn without_zeros(number: &str) -> &str {
    match number.trim_start_matches('0') {
        "" if !number.is_empty() => "0",
        number => number,
    }
}

pub(super) const ADDRESS: &str = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";

/// What keeps addresses and ranges that were taken in former times from being written anew.
pub(super) const ODD: [&str; 5] = [
    MAPPED,
    "must not have leading 0s",
    "must not have leading 0s in IP or prefix length",
    "must not have an IPv4-mapped IPv6 address",
    "must not have bits set beyond the prefix length",
];

const MAPPED: &str = "must not be an IPv4-mapped IPv6 address";

/// Why a text is no address as one may be written.
pub(super) fn address_fault(text: &str) -> Option<&'static str> {
    match address(text) {
        None => Some(ADDRESS),
        Some(IpAddr::V6(address)) if address.to_ipv4_mapped().is_some() => Some(MAPPED),
        Some(_) if text.parse::<IpAddr>().is_err() => Some("must not have leading 0s"),
        Some(_) => None,
    }
}

/// Whether these are at most one address of each family. A family is whether an address is one of IPv4; that of no address is none.
pub(super) fn is_one_of_each(families: &[Option<bool>]) -> bool {
    match families {
        [] | [_] => true,
        [Some(first), Some(second)] => first != second,
        _ => false,
    }
}

/// The address and the length of a range of addresses.
pub(in crate::specs) fn range(text: &str) -> Option<(IpAddr, u8)> {
    let (start, bits) = text.split_once('/')?;
    // Rust reads a sign, Go does not.
    let bits = bits.strip_prefix('+').is_none().then_some(bits)?;
    let (start, bits): (IpAddr, u8) = (address(start)?, bits.parse().ok()?);
    let most = if start.is_ipv4() { 32 } else { 128 };
    (bits <= most).then_some((start, bits))
}

/// Why a text is no range of addresses as one may be written.
pub(super) fn range_fault(text: &str) -> Option<&'static str> {
    let Some((start, bits)) = range(text) else {
        return Some("must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)");
    };
    if !is_written_out(text) {
        return Some("must not have leading 0s in IP or prefix length");
    }
    match start {
        IpAddr::V6(start) if start.to_ipv4_mapped().is_some() => {
            Some("must not have an IPv4-mapped IPv6 address")
        }
        start if first_of(start, bits) != start => Some("must not have bits set beyond the prefix length"),
        _ => None,
    }
}

/// Whether a range of addresses has no zeros in front of its numbers.
pub(in crate::specs) fn is_written_out(range: &str) -> bool {
    let Some((start, bits)) = range.split_once('/') else {
        return false;
    };
    start.parse::<IpAddr>().is_ok() && (bits == "0" || !bits.starts_with('0'))
}

/// The first address of a range.
pub(in crate::specs) fn first_of(address: IpAddr, bits: u8) -> IpAddr {
    match address {
        IpAddr::V4(address) => {
            let mask = u32::MAX.checked_shl(32 - u32::from(bits.min(32))).unwrap_or(0);
            IpAddr::V4((address.to_bits() & mask).into())
        }
        IpAddr::V6(address) => {
            let mask = u128::MAX.checked_shl(128 - u32::from(bits.min(128))).unwrap_or(0);
            IpAddr::V6((address.to_bits() & mask).into())
        }
    }
}

/// Whether a range lies in another one and is smaller. As in Go, what is mapped into IPv6 is IPv4, with the bits of IPv6.
pub(super) fn is_inside((start, bits): (IpAddr, u8), (outer, outer_bits): (IpAddr, u8)) -> bool {
    let is_mapped = outer.is_ipv6() && outer.to_canonical().is_ipv4();
    let of_kind = if is_mapped {
        outer_bits.saturating_sub(96)
    } else {
        outer_bits
    };
    let (start, outer) = (start.to_canonical(), outer.to_canonical());
    start.is_ipv4() == outer.is_ipv4()
        && first_of(start, of_kind) == first_of(outer, of_kind)
        && bits > outer_bits
}

/// A number or a percentage: what it is of a hundred or of all, if it is a percentage.
pub(super) fn number_or_percentage(at: &At<'_>, causes: &mut Causes) {
    match at.value().as_str() {
        None => at.not_negative(causes),
        Some(text) => {
            let digits = text.strip_suffix('%').unwrap_or("");
            if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
                let why = "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', \
                           regex used for validation is '[0-9]+%')";
                causes.push(at.invalid_in_json(why));
            }
        }
    }
}

/// The hundredths of a percentage.
pub(super) fn percentage(at: &At<'_>) -> Option<u64> {
    at.value().as_str()?.strip_suffix('%')?.parse().ok()
}

/// Not more than 100%.
pub(super) fn at_most_all(at: &At<'_>, causes: &mut Causes) {
    if percentage(at).is_some_and(|percentage| percentage > 100) {
        causes.push(at.invalid_in_json("must not be greater than 100%"));
    }
}
