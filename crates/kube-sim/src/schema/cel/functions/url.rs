//! URLs, as Go reads them: nothing is made normal.

use std::collections::HashMap;
use std::sync::Arc;

use cel::Value;
use cel::objects::{Key, Map};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};

use super::value::Own;
use super::{Argument, Result, failed, first, mismatch, string};
use crate::status::quoted;

/// What a path does not have as it is.
const ESCAPED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'<')
    .add(b'>')
    .add(b'\\')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Url {
    scheme: String,
    /// With its port.
    host: String,
    path: String,
    query: String,
}

impl Url {
    /// Why a text is no URL; none if it is one.
    pub(super) fn fault(source: &str) -> Option<String> {
        Self::read(source).err()
    }

    /// Reads a URL that is absolute, or a path that is.
    fn read(source: &str) -> std::result::Result<Self, String> {
        let invalid = |why: &str| format!("parse {}: {why}", quoted(source));
        if source.bytes().any(|byte| byte < b' ' || byte == 0x7f) {
            return Err(invalid("net/url: invalid control character in URL"));
        }
        if source.is_empty() {
            return Err(invalid("empty url"));
        }
        let (scheme, rest) = scheme_of(source).map_err(invalid)?;
        if !rest.starts_with('/') && scheme.is_empty() {
            return Err(invalid("invalid URI for request"));
        }
        let rest = rest.split('#').next().unwrap_or("");
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = match rest.strip_prefix("//").filter(|_| !scheme.is_empty()) {
            Some(rest) => rest.split_at(rest.find('/').unwrap_or(rest.len())),
            None => ("", rest),
        };
        let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        if let Some(why) = host_fault(host) {
            return Err(invalid(&why));
        }
        if let Some(escape) = bad_escape(path) {
            return Err(invalid(&format!("invalid URL escape {}", quoted(escape))));
        }
        Ok(Self {
            scheme: scheme.to_ascii_lowercase(),
            host: host.to_owned(),
            // What is neither an authority nor a path from the root is none.
            path: if path.starts_with('/') {
                path.to_owned()
            } else {
                String::new()
            },
            query: query.to_owned(),
        })
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

fn host_fault(host: &str) -> Option<String> {
    if let Some(within) = host.strip_prefix('[')
        && !within.contains(']')
    {
        return Some("missing ']' in host".into());
    }
    let bad = |c: &char| matches!(c, ' ' | '"' | '\\' | '^' | '`' | '{' | '|' | '}');
    if let Some(c) = host.chars().find(bad) {
        let shown = quoted(&c.to_string());
        return Some(format!("invalid character {shown} in host name"));
    }
    let port = host.rsplit_once(']').map_or(host, |(_, rest)| rest);
    let (_, port) = port.rsplit_once(':')?;
    let is_port = port.bytes().all(|byte| byte.is_ascii_digit());
    (!is_port).then(|| format!("invalid port {} after host", quoted(&format!(":{port}"))))
}

/// The first percent sign in a text that no two digits follow, with what does.
fn bad_escape(text: &str) -> Option<&str> {
    text.match_indices('%').find_map(|(at, _)| {
        let escape = text.get(at..at + 3).unwrap_or(&text[at..]);
        let digits = escape.as_bytes().get(1..3);
        let is_good = digits.is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        (!is_good).then_some(escape)
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
    let escaped = utf8_percent_encode(&given(arguments)?.path, ESCAPED);
    Ok(string(escaped.to_string()))
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
