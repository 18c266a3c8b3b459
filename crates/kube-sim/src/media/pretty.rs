//! JSON with line breaks, for people: asked for by `pretty` in the query, or by a program that people use.

use bytes::Bytes;
use http::header::USER_AGENT;
use http::request::Parts;
use http_body_util::BodyExt as _;

use crate::response::{SimBody, whole};

/// Programs whose users look at answers as they come.
const FOR_PEOPLE: [&str; 3] = ["curl", "Wget", "Mozilla/5.0"];

/// A text that would become longer than so many times its length stays as it is: it is nested too deeply to be looked at.
const LONGEST: usize = 64;

/// Whether a request asks for it.
pub(super) fn is_asked(request: &Parts) -> bool {
    let query = request.uri.query().unwrap_or_default();
    let asked = form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "pretty");
    match asked {
        Some((_, value)) if !value.is_empty() => {
            matches!(&*value, "1" | "t" | "T" | "true" | "TRUE" | "True")
        }
        _ => {
            let agent = request.headers.get(USER_AGENT);
            let agent = agent.and_then(|agent| agent.to_str().ok()).unwrap_or_default();
            FOR_PEOPLE.iter().any(|program| agent.starts_with(program))
        }
    }
}

/// The same body with line breaks. One that breaks off is the same as before.
pub(super) async fn indented(mut body: SimBody) -> SimBody {
    let mut json = Vec::new();
    while let Some(frame) = body.frame().await {
        match frame {
            Ok(frame) => json.extend_from_slice(&frame.into_data().unwrap_or_default()),
            Err(error) => return super::whole::broken_after(json.into(), error),
        }
    }
    let pretty = indent(&json).map_or(Bytes::from(json), Bytes::from);
    whole(pretty)
}

/// JSON that is valid, as Go's `json.Indent` has it; nothing if it is too long.
fn indent(json: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(json.len() * 2);
    let (mut depth, mut in_string, mut escaped, mut opened) = (0, false, false, false);
    let line = |out: &mut Vec<u8>, depth: usize| {
        out.push(b'\n');
        out.resize(out.len() + 2 * depth, b' ');
    };
    for &byte in json {
        if out.len() > json.len().saturating_mul(LONGEST) {
            return None;
        }
        if in_string {
            out.push(byte);
            in_string = escaped || byte != b'"';
            escaped = !escaped && byte == b'\\';
            continue;
        }
        if std::mem::take(&mut opened) && !matches!(byte, b'}' | b']') {
            line(&mut out, depth);
        } else if matches!(byte, b'}' | b']') && !matches!(out.last(), Some(b'{' | b'[')) {
            line(&mut out, depth - 1);
        }
        match byte {
            b' ' | b'\n' | b'\r' | b'\t' => continue,
            b'{' | b'[' => {
                depth += 1;
                opened = true;
                out.push(byte);
            }
            b'}' | b']' => {
                depth -= 1;
                out.push(byte);
            }
            b',' => {
                out.push(byte);
                line(&mut out, depth);
            }
            b':' => out.extend_from_slice(b": "),
            _ => {
                in_string = byte == b'"';
                out.push(byte);
            }
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pretty(json: &str) -> Option<String> {
        indent(json.as_bytes()).map(|text| String::from_utf8(text).expect("it is text"))
    }

    #[test]
    fn json_gets_lines_and_strings_stay_as_they_are() {
        let json = r#"{"a":{},"b":[],"c":[1,{"d":"x:,{}\"\\"}]}"#;
        let expected = "{\n  \"a\": {},\n  \"b\": [],\n  \"c\": [\n    1,\n    {\n      \"d\": \"x:,{}\\\"\\\\\"\n    }\n  ]\n}";
        assert_eq!(pretty(json).as_deref(), Some(expected));
        assert_eq!(pretty(&format!("{json}\n")).as_deref(), Some(expected));
    }

    #[test]
    fn what_is_nested_too_deeply_stays_as_it_is() {
        let deep = "[".repeat(1_000) + &"]".repeat(1_000);
        assert_eq!(pretty(&deep), None);
    }
}
