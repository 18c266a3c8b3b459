//! kube-sim itself: `bench/forms/src/bin/simulator.rs`.

use crate::cases::Case;
use crate::machine;
use crate::options::Options;
use crate::programs::{Programs, lines};
use crate::results::Results;
use anyhow::{Context as _, Result};
use serde_json::json;

pub fn measure(programs: &Programs, options: &Options, results: &Results) -> Result<()> {
    let pods = match options.quick {
        true => 5_000,
        false => 100_000.min(*options.sizes().last().context("there is a size")?),
    };
    if let Some(why) = machine::too_large(200 + pods as u64 * 24 / 1024)? {
        return results.skip(Case::Simulator, "kube-sim", pods, &why);
    }
    let (pods, seconds) = (pods.to_string(), if options.quick { "2" } else { "10" });
    for round in 1..=options.rounds() {
        eprintln!("kube-sim, round {round} of {}", options.rounds());
        for arguments in [
            &["start"][..],
            &["write"],
            &["list", &pods],
            &["watch", "100", "1000", seconds],
            &["watch", "100", "10000", seconds],
        ] {
            for mut line in lines(programs.rust("simulator").args(arguments))? {
                line["client"] = json!("kube-sim");
                line["round"] = json!(round);
                results.add(Case::Simulator, &line)?;
            }
        }
    }
    Ok(())
}
