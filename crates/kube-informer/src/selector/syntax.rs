//! The syntax of label keys and values.

const MAX_NAME: usize = 63;
const MAX_PREFIX: usize = 253;

/// The byte offset at which a string is not a valid key or value, and what was expected there.
pub(super) type Fault = (usize, &'static str);

/// Checks a label key: a name, or a DNS subdomain, a slash and a name.
pub(super) fn check_key(key: &str) -> Result<(), Fault> {
    let (prefix, name) = match key.split_once('/') {
        None => (None, key),
        Some((prefix, name)) => (Some(prefix), name),
    };
    let start = key.len() - name.len();
    if let Some(prefix) = prefix {
        check_subdomain(prefix)?;
    }
    if name.is_empty() {
        return Err((start, "expected the name of a label"));
    }
    if let Some(slash) = name.find('/') {
        return Err((start + slash, "a label key has one slash at most"));
    }
    check_name(name).map_err(|(at, why)| (start + at, why))
}

/// Checks a label value: a name or the empty string.
pub(super) fn check_value(value: &str) -> Result<(), Fault> {
    if value.is_empty() {
        Ok(())
    } else {
        check_name(value)
    }
}

fn check_name(name: &str) -> Result<(), Fault> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if let Some((at, _)) = name.char_indices().find(|(_, c)| !allowed(*c)) {
        return Err((at, "expected a letter, a digit, '-', '_' or '.'"));
    }
    check_ends(name)?;
    match name.len() > MAX_NAME {
        true => Err((MAX_NAME, "longer than 63 characters")),
        false => Ok(()),
    }
}

fn check_subdomain(prefix: &str) -> Result<(), Fault> {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.');
    if let Some((at, _)) = prefix.char_indices().find(|(_, c)| !allowed(*c)) {
        return Err((
            at,
            "expected a lower case letter, a digit, '-' or '.' before the slash",
        ));
    }
    if prefix.is_empty() {
        return Err((0, "expected a DNS subdomain before the slash"));
    }
    let mut start = 0;
    for part in prefix.split('.') {
        if part.is_empty() {
            return Err((start, "expected a letter or digit"));
        }
        check_ends(part).map_err(|(at, why)| (start + at, why))?;
        start += part.len() + 1;
    }
    match prefix.len() > MAX_PREFIX {
        true => Err((MAX_PREFIX, "longer than 253 characters before the slash")),
        false => Ok(()),
    }
}

fn check_ends(name: &str) -> Result<(), Fault> {
    let alphanumeric = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
    if !alphanumeric(name.chars().next()) {
        return Err((0, "expected a letter or digit at the start"));
    }
    if !alphanumeric(name.chars().next_back()) {
        return Err((name.len() - 1, "expected a letter or digit at the end"));
    }
    Ok(())
}
