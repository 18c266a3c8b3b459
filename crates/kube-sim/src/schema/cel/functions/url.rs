//! URLs, as Go reads them: nothing is made normal.

use std::collections::HashMap;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use cel::Value;
use cel::objects::{Key, Map};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, percent_encode};

use super::argument::{Argument, Result, failed, first, mismatch, string};
use super::value::Own;
use crate::status::quoted;

/// What a path that is written anew does not have as it is.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~')
    .remove(b'$')
    .remove(b'&')
    .remove(b'+')
    .remove(b',')
    .remove(b'/')
    .remove(b':')
    .remove(b';')
    .remove(b'=')
    .remove(b'@');

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Url {
    scheme: String,
    /// With its port, and without escapes.
    host: String,
    /// As it was given.
    path: String,
    query: String,
}

impl Url {
    /// Why a text is no URL; none if it is one.
    pub(super) fn fault(source: &str) -> Option<String> {
        let invalid = |why: String| format!("parse {}: {why}", quoted(source));
        Self::parse(source, true).err().map(invalid)
    }

    /// Reads a URL that is absolute, or a path that is. As a real server does, it reads twice: what may be a URL is told as in a
    /// request, where a `#` begins no fragment; its parts are those of a link.
    fn read(source: &str) -> std::result::Result<Self, String> {
        if let Some(why) = Self::fault(source) {
            return Err(why);
        }
        let (before, fragment) = source.split_once('#').unwrap_or((source, ""));
        let url = Self::parse(before, false).map_err(|why| format!("parse {}: {why}", quoted(before)))?;
        if let Some(why) = bad_escape(fragment) {
            return Err(format!("parse {}: {why}", quoted(source)));
        }
        Ok(url)
    }

    fn parse(source: &str, is_request: bool) -> std::result::Result<Self, String> {
        if source.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
            return Err("net/url: invalid control character in URL".into());
        }
        if source.is_empty() && is_request {
            return Err("empty url".into());
        }
        if source == "*" {
            return Ok(Self {
                path: source.into(),
                ..Self::default()
            });
        }
        let (scheme, rest) = scheme_of(source)?;
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let mut url = Self {
            scheme: scheme.to_ascii_lowercase(),
            query: query.to_owned(),
            ..Self::default()
        };
        if !rest.starts_with('/') {
            // What follows a scheme without a slash is not read.
            return match (scheme.is_empty(), is_request) {
                (true, true) => Err("invalid URI for request".into()),
                _ => Ok(url),
            };
        }
        let may_have_host = !scheme.is_empty() || !is_request && !rest.starts_with("///");
        let path = match rest.strip_prefix("//").filter(|_| may_have_host) {
            Some(rest) => {
                let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
                url.host = host_of(&url.scheme, authority)?;
                path
            }
            None => rest,
        };
        if let Some(why) = bad_escape(path) {
            return Err(why);
        }
        path.clone_into(&mut url.path);
        Ok(url)
    }

    /// The path as it was given, if that has nothing that must be escaped.
    fn escaped_path(&self) -> String {
        let may_stay = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~$&+,/:;=@!'()*[]%".contains(&byte);
        if self.path.bytes().all(may_stay) {
            return self.path.clone();
        }
        let path: Vec<u8> = percent_decode_str(&self.path).collect();
        percent_encode(&path, ESCAPED).to_string()
    }

    pub(super) fn len(&self) -> usize {
        self.scheme.len() + self.host.len() + self.path.len() + self.query.len()
    }

    /// The host, and the port.
    fn host_and_port(&self) -> (&str, &str) {
        let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
        let (host, port) = match self.host.rsplit_once(':') {
            Some((host, port)) if is_port(port) => (host, port),
            _ => (self.host.as_str(), ""),
        };
        let inner = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        (inner.unwrap_or(host), port)
    }
}

fn scheme_of(source: &str) -> std::result::Result<(&str, &str), &'static str> {
    for (at, c) in source.char_indices() {
        match c {
            'a'..='z' | 'A'..='Z' => {}
            '0'..='9' | '+' | '-' | '.' if at > 0 => {}
            ':' if at == 0 => return Err("missing protocol scheme"),
            ':' => return Ok((&source[..at], &source[at + 1..])),
            '0'..='9' | '+' | '-' | '.' => return Ok(("", source)),
            _ => return Ok(("", source)),
        }
    }
    Ok(("", source))
}

/// The host and port of an authority.
fn host_of(scheme: &str, authority: &str) -> std::result::Result<String, String> {
    let (user, host) = match authority.rsplit_once('@') {
        Some((user, host)) => (Some(user), host),
        None => (None, authority),
    };
    let host = host_and_port_of(scheme, host)?;
    if let Some(user) = user {
        let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:~!$&'()*+,;=%@".contains(&byte);
        if !user.bytes().all(is_fit) {
            return Err("net/url: invalid userinfo".into());
        }
        let (name, password) = user.split_once(':').unwrap_or((user, ""));
        if let Some(why) = bad_escape(name).or_else(|| bad_escape(password)) {
            return Err(why);
        }
    }
    Ok(host)
}

fn host_and_port_of(scheme: &str, host: &str) -> std::result::Result<String, String> {
    let need_port = |port: &str| match is_port_or_none(port) {
        true => Ok(()),
        false => Err(format!("invalid port {} after host", quoted(port))),
    };
    match host.rfind('[') {
        Some(0) => {
            let end = host.rfind(']').ok_or("missing ']' in host")?;
            let (address, port) = (&host[1..end], &host[end + 1..]);
            need_port(port)?;
            let address = match address.find("%25") {
                Some(zone) => unescaped(&address[..zone], false)? + &unescaped(&address[zone..], true)?,
                None => unescaped(address, false)?,
            };
            need_address(&address)?;
            Ok(format!("[{address}]{port}"))
        }
        Some(_) => Err("invalid IP-literal".into()),
        None => {
            // Other schemes have always had hosts with colons.
            let colon = match scheme {
                "http" | "https" => host.find(':'),
                _ => host.rfind(':'),
            };
            need_port(colon.map_or("", |at| &host[at..]))?;
            unescaped(host, false)
        }
    }
}

fn is_port_or_none(port: &str) -> bool {
    port.is_empty()
        || port
            .strip_prefix(':')
            .is_some_and(|port| port.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Only addresses of IPv6 are in brackets, with a zone or without one.
fn need_address(text: &str) -> std::result::Result<(), String> {
    let (address, zone) = match text.split_once('%') {
        Some((address, zone)) => (address, Some(zone)),
        None => (text, None),
    };
    let why = if text.parse::<Ipv4Addr>().is_ok() {
        return Err("invalid IP-literal".into());
    } else if !address.contains(':') || address.parse::<Ipv6Addr>().is_err() {
        "unable to parse IP"
    } else if zone == Some("") {
        "zone must be a non-empty string"
    } else {
        return Ok(());
    };
    Err(format!("invalid host: ParseAddr({}): {why}", quoted(text)))
}

/// A host without escapes, of which it may have those of other characters than those of ASCII; a zone may have more.
fn unescaped(host: &str, is_zone: bool) -> std::result::Result<String, String> {
    if let Some(why) = bad_escape(host) {
        return Err(why);
    }
    let is_fit = |byte: u8| {
        byte.is_ascii_alphanumeric() || !byte.is_ascii() || b"-_.~!$&'()*+,;=:[]<>\"".contains(&byte)
    };
    let bytes = host.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == b'%' {
            let escape = &host[at..at + 3];
            let byte = u8::from_str_radix(&escape[1..], 16).unwrap_or_default();
            let may_be = escape == "%25"
                || match is_zone {
                    true => byte == b' ' || byte.is_ascii() && is_fit(byte),
                    false => !byte.is_ascii(),
                };
            if !may_be {
                return Err(format!("invalid URL escape {}", quoted(escape)));
            }
            at += 3;
        } else if is_fit(bytes[at]) {
            at += 1;
        } else {
            let shown = quoted(&char::from(bytes[at]).to_string());
            return Err(format!("invalid character {shown} in host name"));
        }
    }
    Ok(percent_decode_str(host).decode_utf8_lossy().into_owned())
}

/// What is wrong with the first percent sign in a text that no two digits follow.
fn bad_escape(text: &str) -> Option<String> {
    text.match_indices('%').find_map(|(at, _)| {
        let escape = text.get(at..at + 3).unwrap_or(&text[at..]);
        let digits = escape.as_bytes().get(1..3);
        let is_good = digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        (!is_good).then(|| format!("invalid URL escape {}", quoted(escape)))
    })
}

fn given<'s>(arguments: &'s [Argument<'_>]) -> Result<&'s Url> {
    match first(arguments)?.own()? {
        Own::Url(url) => Ok(url),
        _ => Err(mismatch()),
    }
}

pub(super) fn read(arguments: &[Argument<'_>]) -> Result {
    let source = first(arguments)?.text()?;
    let url = Url::read(source)
        .map_err(|why| failed(format!("URL parse error during conversion from string: {why}")))?;
    Ok(Own::Url(url).into())
}

pub(super) fn is(arguments: &[Argument<'_>]) -> Result {
    let source = first(arguments)?.text()?;
    Ok(Url::fault(source).is_none().into())
}

pub(super) fn scheme(arguments: &[Argument<'_>]) -> Result {
    Ok(string(given(arguments)?.scheme.as_str()))
}

pub(super) fn host(arguments: &[Argument<'_>]) -> Result {
    Ok(string(given(arguments)?.host.as_str()))
}

pub(super) fn hostname(arguments: &[Argument<'_>]) -> Result {
    Ok(string(given(arguments)?.host_and_port().0))
}

pub(super) fn port(arguments: &[Argument<'_>]) -> Result {
    Ok(string(given(arguments)?.host_and_port().1))
}

pub(super) fn path(arguments: &[Argument<'_>]) -> Result {
    Ok(string(given(arguments)?.escaped_path()))
}

/// The values of each name in the query.
pub(super) fn query(arguments: &[Argument<'_>]) -> Result {
    let mut all: HashMap<Key, Vec<Value>> = HashMap::new();
    for (name, value) in form_urlencoded::parse(given(arguments)?.query.as_bytes()) {
        let name = Key::String(Arc::new(name.into_owned()));
        all.entry(name).or_default().push(string(value));
    }
    let all = all
        .into_iter()
        .map(|(name, values)| (name, Value::List(Arc::new(values))));
    Ok(Value::Map(Map {
        map: Arc::new(all.collect()),
    }))
}
