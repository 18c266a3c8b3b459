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
    for name in ["kube-controller", "kube-informer", "kube-workqueue"] {
        for folder in ["src", "tests"] {
            functions(&crates.join(name).join(folder), &mut found);
        }
    }
    let table = std::fs::read_to_string(crates.join("kube-controller/tests/README.md")).unwrap();
    let named = table.split('`').skip(1).step_by(2);
    let tests = named.map(|name| name.rsplit("::").next().unwrap_or(name));
    let tests: Vec<_> = tests.filter(|name| name.matches('_').count() >= 2).collect();
    assert!(tests.len() > 80, "the table is read: {tests:?}");
    let missing: Vec<_> = tests.iter().filter(|name| !found.contains(**name)).collect();
    assert!(missing.is_empty(), "{missing:#?}");
}
