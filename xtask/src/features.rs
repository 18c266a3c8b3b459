//! Each combination of two features of a crate compiles without warnings, what replaces an absent feature passes its tests, and the
//! oldest supported Kubernetes version compiles.

use crate::workspace::{Outcome, cargo, published, run, target, text};
use anyhow::Result;
use std::collections::BTreeSet;

/// The oldest Kubernetes version for which k8s-openapi has types; the newest is what everything else is built with.
const OLDEST_KUBERNETES: &str = "1.33";

/// Checks each crate without its features, with each of them alone, with all but each, and with all: so whatever depends on one of two
/// features, or on both, or on neither, is compiled at least once. All subsets would be twice as many already with four features.
pub(crate) fn check() -> Result<Outcome> {
    for package in published()? {
        let features: Vec<&str> = package["features"]
            .as_object()
            .into_iter()
            .flat_map(|features| features.keys())
            .map(String::as_str)
            .filter(|feature| *feature != "default")
            .collect();
        if features.is_empty() {
            continue;
        }
        let lint = format!(
            "clippy --locked --no-deps -p {} --no-default-features",
            text(&package, "name")
        );
        for features in subsets(&features) {
            run(cargo(&lint).args(["--features", &features, "--", "-D", "warnings"]))?;
        }
    }
    // What other tests never run: `serde_json` in the place of `simd-json`.
    run(&mut cargo(
        "test --locked -p kube-informer --no-default-features --lib form",
    ))?;
    run(cargo("check --locked -p kube-informer --lib")
        .env("K8S_OPENAPI_ENABLED_VERSION", OLDEST_KUBERNETES)
        .env("CARGO_TARGET_DIR", target("oldest-kubernetes")))?;
    Ok(Outcome::Passed)
}

/// None, each alone, all but each, and all; each subset once, separated by commas.
fn subsets(features: &[&str]) -> BTreeSet<String> {
    let chosen = |chooses: &dyn Fn(usize) -> bool| {
        let chosen = features.iter().enumerate().filter(|(at, _)| chooses(*at));
        chosen.map(|(_, feature)| *feature).collect::<Vec<_>>().join(",")
    };
    let mut subsets = BTreeSet::from([chosen(&|_| false), chosen(&|_| true)]);
    for one in 0..features.len() {
        subsets.insert(chosen(&|at| at == one));
        subsets.insert(chosen(&|at| at != one));
    }
    subsets
}

#[cfg(test)]
mod tests {
    use super::subsets;

    #[test]
    fn each_pair_is_there_in_each_way() {
        let features = ["a", "b", "c", "d"];
        let subsets = subsets(&features);
        assert_eq!(subsets.len(), 10);
        for (first, second) in [("a", "b"), ("a", "d"), ("b", "c"), ("c", "d")] {
            for ways in [(false, false), (false, true), (true, false), (true, true)] {
                let found = |subset: &String| (subset.contains(first), subset.contains(second)) == ways;
                assert!(subsets.iter().any(found), "{first} and {second}: {ways:?}");
            }
        }
        assert_eq!(super::subsets(&["a"]), ["", "a"].map(String::from).into());
    }
}
