//! Gets and lists by label, beside hash maps: `bench/store`.

use crate::cases::Case;
use crate::machine;
use crate::options::Options;
use crate::programs::{Programs, lines};
use crate::results::Results;
use anyhow::Result;
use serde_json::json;

pub fn measure(programs: &Programs, options: &Options, results: &Results) -> Result<()> {
    for pods in options.sizes() {
        // Small pods, which all structures share.
        if let Some(why) = machine::too_large(100 + pods as u64 * 3 / 1024)? {
            results.skip(Case::Gets, "all", pods, &why)?;
            continue;
        }
        for round in 1..=options.rounds() {
            let load = machine::load().unwrap_or_default();
            eprintln!(
                "gets of {pods} pods, round {round} of {}; load {load}",
                options.rounds()
            );
            for mut line in lines(programs.rust("store-gets").arg(pods.to_string()))? {
                line["round"] = json!(round);
                results.add(Case::Gets, &line)?;
            }
        }
    }
    Ok(())
}
