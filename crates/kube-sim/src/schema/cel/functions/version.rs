//! Semantic versions.

use cel::Value;
use semver::Version;

use super::argument::{Argument, Result, failed, first, mismatch};
use super::value::Own;

fn parsed(arguments: &[Argument<'_>]) -> Result<std::result::Result<Version, String>> {
    let (source, normalizes) = match arguments {
        [source] => (source.text()?, false),
        [source, Argument::Bool(normalizes)] => (source.text()?, *normalizes),
        _ => return Err(mismatch()),
    };
    Ok(match normalizes {
        true => normal(source).and_then(|source| parse(&source)),
        false => parse(source),
    })
}

/// Reads a version; what is wrong is told as Go's library tells it, as far as that is simple.
fn parse(source: &str) -> std::result::Result<Version, String> {
    let parts: Vec<_> = source.splitn(3, '.').collect();
    if source.is_empty() {
        return Err("Version string empty".into());
    }
    let &[major, minor, rest] = &parts[..] else {
        return Err("No Major.Minor.Patch elements found".into());
    };
    let patch = rest.split(['-', '+']).next().unwrap_or("");
    for (name, number) in [("major", major), ("minor", minor), ("patch", patch)] {
        let titled = format!("{}{}", name[..1].to_uppercase(), &name[1..]);
        if !number.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(format!(
                "Invalid character(s) found in {name} number \"{number}\""
            ));
        }
        if number.len() > 1 && number.starts_with('0') {
            return Err(format!(
                "{titled} number must not contain leading zeroes \"{number}\""
            ));
        }
    }
    let rest = &rest[patch.len()..];
    let (release, build) = rest.split_once('+').unwrap_or((rest, "+"));
    if release.strip_prefix('-').is_some_and(str::is_empty) {
        return Err("Prerelease is empty".into());
    }
    if build.is_empty() {
        return Err("Build meta data is empty".into());
    }
    Version::parse(source).map_err(|error| error.to_string())
}

/// A version with three numbers, without zeros before them and a letter in front.
fn normal(source: &str) -> std::result::Result<String, String> {
    let source = source.strip_prefix('v').unwrap_or(source);
    let mut parts: Vec<String> = source.splitn(3, '.').map(without_zeros).collect();
    let last = parts.last().map_or("", String::as_str);
    if parts.len() < 3 && last.contains(['+', '-']) {
        return Err("short version cannot contain PreRelease/Build meta data".into());
    }
    while parts.len() < 3 {
        parts.push("0".into());
    }
    Ok(parts.join("."))
}

fn without_zeros(part: &str) -> String {
    let rest = part.trim_start_matches('0');
    match rest.starts_with(|c: char| c.is_ascii_digit()) {
        true => rest.to_owned(),
        false if part.len() > 1 => format!("0{rest}"),
        false => part.to_owned(),
    }
}

fn given<'s>(arguments: &'s [Argument<'_>]) -> Result<&'s Version> {
    match first(arguments)?.own()? {
        Own::Version(version) => Ok(version),
        _ => Err(mismatch()),
    }
}

fn number(number: u64) -> Value {
    Value::Int(i64::try_from(number).unwrap_or(i64::MAX))
}

pub(super) fn read(arguments: &[Argument<'_>]) -> Result {
    let version = parsed(arguments)?.map_err(failed)?;
    Ok(Own::Version(version).into())
}

pub(super) fn is(arguments: &[Argument<'_>]) -> Result {
    Ok(parsed(arguments)?.is_ok().into())
}

pub(super) fn major(arguments: &[Argument<'_>]) -> Result {
    Ok(number(given(arguments)?.major))
}

pub(super) fn minor(arguments: &[Argument<'_>]) -> Result {
    Ok(number(given(arguments)?.minor))
}

pub(super) fn patch(arguments: &[Argument<'_>]) -> Result {
    Ok(number(given(arguments)?.patch))
}
