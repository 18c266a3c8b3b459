//! The tables of cases in `crates/*/tests/README.md` name tests; this looks whether they exist, and whether no case is missing.

use std::collections::BTreeSet;
use std::path::Path;

/// All functions in the sources below a folder.
fn functions(folder: &Path, found: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            functions(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            let names = text
                .split("fn ")
                .skip(1)
                .filter_map(|rest| rest.split('(').next());
            found.extend(names.map(str::to_owned));
        }
    }
}

/// The names of tests in a table: words in code with two underscores or more. Those in capitals are not meant, nor are paths.
fn named(table: &str) -> Vec<&str> {
    let is_test = |word: &&str| {
        word.matches('_').count() >= 2 && !word.contains(|c: char| c.is_uppercase() || ". /".contains(c))
    };
    let code = table.split('`').skip(1).step_by(2);
    code.map(|word| word.rsplit("::").next().unwrap_or(word))
        .filter(is_test)
        .collect()
}

#[test]
fn every_test_that_a_table_of_cases_names_exists() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    let mut found = BTreeSet::new();
    for name in ["kube-controller", "kube-informer", "kube-sim", "kube-workqueue"] {
        for folder in ["src", "tests"] {
            functions(&crates.join(name).join(folder), &mut found);
        }
    }
    for name in ["kube-controller", "kube-informer"] {
        let table = std::fs::read_to_string(crates.join(name).join("tests/README.md")).unwrap();
        let named = named(&table);
        assert!(named.len() > 80, "the table of {name} is read: {named:?}");
        let missing: Vec<_> = named.iter().filter(|name| !found.contains(**name)).collect();
        assert!(missing.is_empty(), "{name}: {missing:#?}");
    }
}

/// The cases in the first column of a table: `7`, `39, 40` and `29 to 31`.
fn cases(table: &str) -> Vec<u32> {
    let columns = table
        .lines()
        .filter_map(|line| line.strip_prefix("| ")?.split(" |").next());
    let numbers = columns.flat_map(|column| column.split(", ")).filter_map(|part| {
        let mut bounds = part.split(" to ").map(|number| number.parse::<u32>().ok());
        let first = bounds.next()??;
        Some(first..=bounds.next().map_or(Some(first), |last| last)?)
    });
    numbers.flatten().collect()
}

#[test]
fn the_table_of_kube_controller_has_every_case_once() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/kube-controller/tests/README.md");
    let mut cases = cases(&std::fs::read_to_string(path).unwrap());
    cases.sort_unstable();
    assert_eq!(cases, (1..=128).collect::<Vec<_>>());
}
