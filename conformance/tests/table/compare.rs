//! Differences between answers, one line each, and the file of those that are known.

use serde_json::Value;

use crate::run::Answers;

/// What is in `simulator` and not in `real`, or the other way round: `case: request /place: simulator …, real …`.
pub(crate) fn differences(simulator: &Answers, real: &Answers) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, expected) in real {
        match simulator.get(name) {
            Some(answer) if answer["code"] != expected["code"] => {
                let texts = [answer, expected].map(summary);
                lines.push(format!("{name}: simulator {}, real {}", texts[0], texts[1]));
            }
            Some(answer) => compare(&mut lines, name, "", Some(answer), Some(expected)),
            None => lines.push(format!("{name}: was not asked of the simulator")),
        }
    }
    lines
}

/// An answer in short: where the codes differ, all else does.
fn summary(answer: &Value) -> String {
    let text = |pointer: &str| answer.pointer(pointer).and_then(Value::as_str).unwrap_or("");
    let words = [text("/body/kind"), text("/body/reason"), text("/body/message")];
    let words: Vec<_> = words.into_iter().filter(|word| !word.is_empty()).collect();
    format!("{} {}", answer["code"], words.join(" "))
}

fn compare(
    lines: &mut Vec<String>,
    name: &str,
    place: &str,
    simulator: Option<&Value>,
    real: Option<&Value>,
) {
    match (simulator, real) {
        (Some(Value::Object(a)), Some(Value::Object(b))) => {
            let names: std::collections::BTreeSet<_> = a.keys().chain(b.keys()).collect();
            for key in names {
                compare(lines, name, &format!("{place}/{key}"), a.get(key), b.get(key));
            }
        }
        (Some(Value::Array(a)), Some(Value::Array(b))) if a.len() == b.len() => {
            for (at, (a, b)) in a.iter().zip(b).enumerate() {
                compare(lines, name, &format!("{place}/{at}"), Some(a), Some(b));
            }
        }
        (a, b) if a == b => {}
        (a, b) => {
            let text = |value: Option<&Value>| match value {
                None => "nothing".to_owned(),
                Some(Value::Array(items)) if items.iter().all(Value::is_object) => {
                    format!("{} objects", items.len())
                }
                Some(value) => value.to_string(),
            };
            lines.push(format!("{name} {place}: simulator {}, real {}", text(a), text(b)));
        }
    }
}

/// The lines of the file that are differences; the others are their reasons.
pub(crate) fn known(file: &str) -> Vec<String> {
    let lines = file.lines().filter_map(|line| line.strip_prefix("- "));
    lines.map(str::to_owned).collect()
}
