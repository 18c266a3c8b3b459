//! Each combination of a crate's features compiles without warnings, what replaces an absent feature passes its tests, and the oldest
//! supported Kubernetes version compiles.

use crate::workspace::{Outcome, cargo, published, run, target, text};
use anyhow::Result;

/// The oldest Kubernetes version for which k8s-openapi has types; the newest is what everything else is built with.
const OLDEST_KUBERNETES: &str = "1.33";

/// Checks all subsets of each crate's features, with and without its default ones.
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
        for subset in 0..1_u32 << features.len() {
            let chosen: Vec<&str> = (0..features.len())
                .filter(|bit| subset & (1 << bit) != 0)
                .map(|bit| features[bit])
                .collect();
            let features = chosen.join(",");
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
