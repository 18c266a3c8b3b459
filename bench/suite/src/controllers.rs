//! Controllers: `bench/controllers`.

use crate::cases::Case;
use crate::machine;
use crate::options::Options;
use crate::programs::{Programs, Server, lines, printed};
use crate::results::Results;
use anyhow::Result;
use serde_json::json;

pub fn measure(programs: &Programs, options: &Options, results: &Results) -> Result<()> {
    // At least as many pods as change in a phase: none changes twice.
    let (pods, maps) = match options.quick {
        true => (15_000, 10_000),
        false => (50_000, 100_000),
    };
    // The server, and kube-rs.
    if let Some(why) = machine::too_large(200 + (pods as u64 * (21 + 85) + maps as u64 * 3) / 1024)? {
        return results.skip(Case::Controllers, "all", pods, &why);
    }
    eprintln!("filling a server with {pods} pods and {maps} config maps");
    let server = Server::start(programs, "sim", &[pods, options.templates as usize, maps])?;
    for round in 1..=options.rounds() {
        for (job, objects) in [("nothing", maps), ("pods", pods)] {
            for client in ["ours", "kube-rs", "controller-runtime", "reader"] {
                if (client, job) == ("reader", "nothing") {
                    continue;
                }
                let command = match client {
                    "controller-runtime" => programs.go("controllers"),
                    _ => Some(programs.rust("controller-client")),
                };
                let Some(mut command) = command else { continue };
                eprintln!(
                    "controllers, round {round} of {}: {client} {job}",
                    options.rounds()
                );
                if client != "controller-runtime" {
                    command.arg(client);
                }
                for mut line in lines(command.arg(job).arg(&server.api).arg(objects.to_string()))? {
                    line["client"] = line["who"].take();
                    line["round"] = json!(round);
                    line["pods"] = json!(objects);
                    results.add(Case::Controllers, &line)?;
                }
            }
        }
    }
    for line in printed(
        programs
            .rust("controller-memory")
            .arg(&server.api)
            .arg(maps.to_string()),
    )?
    .lines()
    {
        results.add(
            Case::Controllers,
            &json!({"client": "kube-controller", "job": "memory", "said": line}),
        )?;
    }
    Ok(())
}
