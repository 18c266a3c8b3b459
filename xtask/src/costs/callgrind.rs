//! Reads what callgrind writes: <https://valgrind.org/docs/manual/cl-format.html>.

use std::collections::HashMap;

/// The instructions that were executed in the program itself. Those of shared libraries, which allocate and copy memory, are left
/// out: they differ between versions of libc.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) in_rust: u64,
    /// Those of functions whose names are not mangled as Rust's: zstd.
    pub(super) in_c: u64,
}

/// The counts of each dump that was made when the function `measured` of the program returned.
pub(super) fn read(text: &str, program: &str, measured: &str) -> Vec<Counts> {
    let mut dumps = Vec::new();
    let mut names = Names::default();
    // Whether the dump was asked for by the function; the last one, at the program's end, was not.
    let mut wanted = false;
    let mut counts = Counts::default();
    let (mut in_program, mut in_rust, mut called) = (false, false, false);
    for line in text.lines() {
        if line.starts_with("part: ") {
            (wanted, counts) = (false, Counts::default());
        } else if let Some(trigger) = line.strip_prefix("desc: Trigger: ") {
            wanted = trigger.contains("--dump-after") && trigger.contains(measured);
        } else if line.starts_with("totals: ") {
            if std::mem::take(&mut wanted) {
                dumps.push(counts);
            }
            counts = Counts::default();
        } else if let Some(object) = line.strip_prefix("ob=") {
            in_program = names.objects(object) == program;
        } else if let Some(object) = line.strip_prefix("cob=") {
            names.objects(object);
        } else if let Some(function) = line.strip_prefix("fn=") {
            let function = names.functions(function);
            in_rust = function.starts_with("_R") || function.starts_with("_ZN") || function == measured;
        } else if let Some(function) = line.strip_prefix("cfn=") {
            names.functions(function);
        } else if line.starts_with("calls=") {
            called = true;
        } else if line.starts_with(|first: char| first.is_ascii_digit() || "+-*".contains(first)) {
            // The line after a call has the cost of what was called.
            if std::mem::take(&mut called) || !in_program {
                continue;
            }
            let cost = line
                .split(' ')
                .nth(1)
                .and_then(|cost| cost.parse().ok())
                .unwrap_or(0);
            *(if in_rust {
                &mut counts.in_rust
            } else {
                &mut counts.in_c
            }) += cost;
        }
    }
    dumps
}

/// Names are written once, as `(7) name`, and then as `(7)`.
#[derive(Default)]
struct Names {
    objects: HashMap<String, String>,
    functions: HashMap<String, String>,
}

impl Names {
    fn objects(&mut self, text: &str) -> String {
        resolve(&mut self.objects, text)
    }

    fn functions(&mut self, text: &str) -> String {
        resolve(&mut self.functions, text)
    }
}

fn resolve(known: &mut HashMap<String, String>, text: &str) -> String {
    match text.split_once(") ") {
        Some((number, name)) if number.starts_with('(') => {
            known.insert(number.to_owned(), name.to_owned());
            name.to_owned()
        }
        _ => known
            .get(text.trim_end_matches(')'))
            .cloned()
            .unwrap_or_else(|| text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_split_by_language_without_libraries() {
        let text = "\
version: 1
part: 1
desc: Trigger: --dump-after=costs_measured
events: Ir
ob=(1) /target/costs
fn=(1) costs_measured
0 10
cob=(2) /lib/libc.so.6
cfn=(2) malloc
calls=3 0
0 900
cfn=(3) _RNvCs1_4wire4scan
calls=1 0
0 500

ob=(2)
fn=(2)
0 900

ob=(1)
fn=(3)
0 300
fn=(4) ZSTD_compress
0 200
totals: 1410

part: 2
desc: Trigger: --dump-after=costs_measured
ob=(1)
fn=(3)
0 7
totals: 7

part: 3
desc: Trigger: Program termination
ob=(1)
fn=(3)
0 99
totals: 99
";
        let counts = |in_rust, in_c| Counts { in_rust, in_c };
        assert_eq!(
            read(text, "/target/costs", "costs_measured"),
            [counts(310, 200), counts(7, 0)]
        );
    }
}
