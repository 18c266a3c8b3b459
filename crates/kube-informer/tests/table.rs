//! The table in `README.md` names tests; this one looks whether they exist.

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

#[test]
fn every_test_that_the_table_names_exists() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut found = BTreeSet::new();
    for name in ["kube-informer", "kube-sim", "kube-workqueue"] {
        for folder in ["src", "tests"] {
            functions(&crates.join(name).join(folder), &mut found);
        }
    }
    let table = std::fs::read_to_string(crates.join("kube-informer/tests/README.md")).unwrap();
    let is_test = |word: &&str| {
        word.matches('_').count() >= 2 && !word.contains(|c: char| c.is_uppercase() || ". /".contains(c))
    };
    let named: Vec<_> = table.split('`').skip(1).step_by(2).filter(is_test).collect();
    assert!(named.len() > 80, "the table is read: {named:?}");
    let missing: Vec<_> = named.iter().filter(|name| !found.contains(**name)).collect();
    assert!(missing.is_empty(), "{missing:#?}");
}
