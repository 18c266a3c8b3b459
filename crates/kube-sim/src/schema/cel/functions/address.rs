//! Addresses and networks.

use std::net::IpAddr;

use cel::{ExecutionError, Value};
use ipnet::IpNet;

use super::argument::{Argument, Result, failed, first, mismatch};
use super::value::Own;
use crate::status::quoted;

fn parsed_ip(source: &str) -> std::result::Result<IpAddr, String> {
    let shown = quoted(source);
    if let Some((address, zone)) = source.split_once('%')
        && !zone.is_empty()
        && address.parse::<std::net::Ipv6Addr>().is_ok()
    {
        return Err(format!("IP address {shown} with zone value is not allowed"));
    }
    match source.parse() {
        Ok(IpAddr::V6(address)) if address.to_ipv4_mapped().is_some() => {
            Err(format!("IPv4-mapped IPv6 address {shown} is not allowed"))
        }
        Ok(address) => Ok(address),
        Err(_) => Err(format!(
            "IP Address {shown} parse error during conversion from string: ParseAddr({shown}): {}",
            why_no_ip(source)
        )),
    }
}

/// Why Go does not read an address, of what people get wrong.
fn why_no_ip(source: &str) -> String {
    let separator = source.find(['.', ':', '%']).map(|at| &source[at..=at]);
    let parts: Vec<_> = source.split('.').collect();
    match separator {
        Some(".") if source.bytes().any(|byte| !byte.is_ascii_digit() && byte != b'.') => {
            let at = source
                .find(|c: char| !c.is_ascii_digit() && c != '.')
                .unwrap_or(0);
            format!("unexpected character (at {})", quoted(&source[at..]))
        }
        Some(".")
            if parts
                .iter()
                .any(|part| part.parse::<u32>().is_ok_and(|part| part > 255)) =>
        {
            "IPv4 field has value >255".into()
        }
        Some(".") if parts.iter().any(|part| part.len() > 1 && part.starts_with('0')) => {
            "IPv4 field has octet with leading zero".into()
        }
        Some(".") if parts.len() < 4 => "IPv4 address too short".into(),
        Some(".") => "IPv4 address too long".into(),
        Some(":") => {
            let at = source
                .find(|c: char| !c.is_ascii_hexdigit() && !matches!(c, ':' | '.'))
                .unwrap_or(0);
            let shown = quoted(&source[at..]);
            match source[..at].ends_with(':') {
                true => format!("each colon-separated field must have at least one digit (at {shown})"),
                false => format!("unexpected character, want colon (at {shown})"),
            }
        }
        _ => "unable to parse IP".into(),
    }
}

fn parsed_cidr(source: &str) -> std::result::Result<IpNet, String> {
    // A real server says it twice.
    const FAILED: &str = "network address parse error during conversion from string";
    let shown = quoted(source);
    let Some((address, length)) = source.rsplit_once('/') else {
        return Err(format!("{FAILED}: netip.ParsePrefix({shown}): no '/'"));
    };
    let address: IpAddr = match address.parse() {
        Ok(IpAddr::V6(address)) if address.to_ipv4_mapped().is_some() => {
            return Err(format!("IPv4-mapped IPv6 address {shown} is not allowed"));
        }
        Ok(address) => address,
        Err(_) => {
            let why = format!("ParseAddr({}): {}", quoted(address), why_no_ip(address));
            return Err(format!("{FAILED}: netip.ParsePrefix({shown}): {why}"));
        }
    };
    let is_number = length.bytes().all(|byte| byte.is_ascii_digit())
        && !length.is_empty()
        && (length == "0" || !length.starts_with('0'));
    let bits = length.parse().ok().filter(|_| is_number);
    let Some(bits) = bits else {
        let why = format!("bad bits after slash: {}", quoted(length));
        return Err(format!("{FAILED}: netip.ParsePrefix({shown}): {why}"));
    };
    IpNet::new(address, bits)
        .map_err(|_| format!("{FAILED}: netip.ParsePrefix({shown}): prefix length out of range"))
}

fn misread_cidr(why: String) -> ExecutionError {
    failed(format!(
        "network address parse error during conversion from string: {why}"
    ))
}

fn given_ip(arguments: &[Argument<'_>]) -> Result<IpAddr> {
    match first(arguments)?.own()? {
        Own::Ip(address) => Ok(*address),
        _ => Err(mismatch()),
    }
}

fn given_cidr(arguments: &[Argument<'_>]) -> Result<IpNet> {
    match first(arguments)?.own()? {
        Own::Cidr(network) => Ok(*network),
        _ => Err(mismatch()),
    }
}

pub(super) fn ip(arguments: &[Argument<'_>]) -> Result {
    let address = parsed_ip(first(arguments)?.text()?).map_err(failed)?;
    Ok(Own::Ip(address).into())
}

pub(super) fn is_ip(arguments: &[Argument<'_>]) -> Result {
    Ok(parsed_ip(first(arguments)?.text()?).is_ok().into())
}

pub(super) fn is_canonical(arguments: &[Argument<'_>]) -> Result {
    let source = first(arguments)?.text()?;
    let address = parsed_ip(source).map_err(failed)?;
    Ok((address.to_string() == source).into())
}

pub(super) fn family(arguments: &[Argument<'_>]) -> Result {
    Ok(Value::Int(if given_ip(arguments)?.is_ipv4() { 4 } else { 6 }))
}

pub(super) fn is_unspecified(arguments: &[Argument<'_>]) -> Result {
    Ok(given_ip(arguments)?.is_unspecified().into())
}

pub(super) fn is_loopback(arguments: &[Argument<'_>]) -> Result {
    Ok(given_ip(arguments)?.is_loopback().into())
}

pub(super) fn is_link_local_multicast(arguments: &[Argument<'_>]) -> Result {
    let is = match given_ip(arguments)? {
        IpAddr::V4(address) => address.octets()[..3] == [224, 0, 0],
        IpAddr::V6(address) => address.segments()[0] & 0xff0f == 0xff02,
    };
    Ok(is.into())
}

fn is_link_local(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => address.is_link_local(),
        IpAddr::V6(address) => address.is_unicast_link_local(),
    }
}

pub(super) fn is_link_local_unicast(arguments: &[Argument<'_>]) -> Result {
    Ok(is_link_local(given_ip(arguments)?).into())
}

pub(super) fn is_global_unicast(arguments: &[Argument<'_>]) -> Result {
    let address = given_ip(arguments)?;
    let is_broadcast = matches!(address, IpAddr::V4(address) if address.is_broadcast());
    let is_special = address.is_unspecified() || address.is_loopback() || address.is_multicast();
    Ok((!is_broadcast && !is_special && !is_link_local(address)).into())
}

pub(super) fn cidr(arguments: &[Argument<'_>]) -> Result {
    let network = parsed_cidr(first(arguments)?.text()?).map_err(misread_cidr)?;
    Ok(Own::Cidr(network).into())
}

pub(super) fn is_cidr(arguments: &[Argument<'_>]) -> Result {
    Ok(parsed_cidr(first(arguments)?.text()?).is_ok().into())
}

pub(super) fn contains_ip(arguments: &[Argument<'_>]) -> Result {
    let network = given_cidr(arguments)?;
    let address = match arguments.get(1) {
        Some(Argument::Text(source)) => parsed_ip(source).map_err(failed)?,
        _ => given_ip(arguments.get(1..).unwrap_or_default())?,
    };
    Ok(network.contains(&address).into())
}

pub(super) fn contains_cidr(arguments: &[Argument<'_>]) -> Result {
    let network = given_cidr(arguments)?;
    let other = match arguments.get(1) {
        Some(Argument::Text(source)) => parsed_cidr(source).map_err(misread_cidr)?,
        _ => given_cidr(arguments.get(1..).unwrap_or_default())?,
    };
    Ok(network.contains(&other).into())
}

pub(super) fn of_cidr(arguments: &[Argument<'_>]) -> Result {
    Ok(Own::Ip(given_cidr(arguments)?.addr()).into())
}

pub(super) fn prefix_length(arguments: &[Argument<'_>]) -> Result {
    Ok(Value::Int(given_cidr(arguments)?.prefix_len().into()))
}

pub(super) fn masked(arguments: &[Argument<'_>]) -> Result {
    Ok(Own::Cidr(given_cidr(arguments)?.trunc()).into())
}
