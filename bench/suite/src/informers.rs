//! Informers: `bench/forms`.

use crate::cases::Case;
use crate::machine;
use crate::options::Options;
use crate::programs::{Programs, Server, lines_so_far};
use crate::results::Results;
use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use std::process::Command;

/// Whose informers are measured, unless the command line says otherwise.
const CLIENTS: [&str; 6] = [
    "packed",
    "pruned",
    "kube-rs",
    "client-go-protobuf",
    "client-go",
    "controller-runtime",
];

/// What a collection is measured for.
struct Plan<'a> {
    cases: &'a [Case],
    /// Where what the client prints of a sync belongs.
    sync: Option<Case>,
    pods: usize,
    changes: usize,
    rate: usize,
}

/// The cases whose server is kube-sim.
pub fn measure(programs: &Programs, options: &Options, cases: &[Case], results: &Results) -> Result<()> {
    let at_one_size: Vec<Case> = cases
        .iter()
        .copied()
        .filter(|case| !matches!(case, Case::Real) && !case.phases().is_empty())
        .collect();
    let by_size = cases.contains(&Case::Size);
    let mut sizes = if by_size { options.sizes() } else { Vec::new() };
    if !at_one_size.is_empty() && !sizes.contains(&options.objects()) {
        sizes.push(options.objects());
        sizes.sort_unstable();
    }
    for pods in sizes {
        let plan = Plan {
            cases: if pods == options.objects() {
                &at_one_size
            } else {
                &[]
            },
            sync: by_size.then_some(Case::Size),
            pods,
            changes: pods.min(5_000),
            rate: 1000,
        };
        // Bodies in both encodings.
        let server_mib = 100 + pods as u64 * 21 / 1024;
        turns(programs, options, results, "sim", &plan, server_mib, &CLIENTS)?;
    }
    Ok(())
}

/// The same on a real API server.
pub fn measure_real(programs: &Programs, options: &Options, results: &Results) -> Result<()> {
    let pods = options.real_objects();
    if !programs.has_go() {
        return results.skip(
            Case::Real,
            "all",
            pods,
            "the API server is built with Go, which is not here",
        );
    }
    // As many changes a second as two processors write beside a client.
    let plan = Plan {
        cases: &[Case::Real],
        sync: Some(Case::Real),
        pods,
        changes: pods.min(1_500),
        rate: 150,
    };
    let server_mib = 1500 + pods as u64 * 60 / 1024;
    turns(programs, options, results, "real", &plan, server_mib, &CLIENTS)
}

/// Each client in turn on one server, as often as there are rounds.
fn turns(
    programs: &Programs,
    options: &Options,
    results: &Results,
    kind: &str,
    plan: &Plan<'_>,
    server_mib: u64,
    usual: &[&str],
) -> Result<()> {
    let cases: Vec<Case> = plan.cases.iter().copied().chain(plan.sync).collect();
    if let Some(why) = machine::too_large(server_mib)? {
        for case in cases {
            results.skip(case, "all", plan.pods, &format!("the server: {why}"))?;
        }
        return Ok(());
    }
    eprintln!("filling a server ({kind}) with {} pods", plan.pods);
    let server = Server::start(programs, kind, &[plan.pods, options.templates as usize])?;
    let mut out: Vec<String> = Vec::new();
    for round in 1..=options.rounds() {
        for client in options.clients(usual) {
            if out.contains(&client) {
                continue;
            }
            let Some(mut command) = command(programs, &server, &client, plan)? else {
                left_out(
                    results,
                    &cases,
                    &client,
                    plan,
                    "it is built with Go, which is not here",
                )?;
                out.push(client);
                continue;
            };
            if let Some(why) = machine::too_large(mib(&client, plan))? {
                left_out(results, &cases, &client, plan, &why)?;
                out.push(client);
                continue;
            }
            let load = machine::load().unwrap_or_default();
            eprintln!(
                "{} pods, round {round} of {}: {client}; load {load}",
                plan.pods,
                options.rounds()
            );
            let (lines, ended) = lines_so_far(&mut command)?;
            note(results, plan, kind, round, &client, lines)?;
            // That must not end what may have taken an hour so far.
            if let Err(error) = ended {
                results.fail(cases[0], &client, plan.pods, &format!("{error:#}"))?;
                out.push(client);
            }
        }
    }
    Ok(())
}

fn left_out(results: &Results, cases: &[Case], client: &str, plan: &Plan<'_>, why: &str) -> Result<()> {
    cases
        .iter()
        .try_for_each(|case| results.skip(*case, client, plan.pods, why))
}

/// Writes what a client has printed to the files of the cases.
fn note(
    results: &Results,
    plan: &Plan<'_>,
    kind: &str,
    round: u32,
    client: &str,
    lines: Vec<Value>,
) -> Result<()> {
    for mut line in lines {
        let phase = line["phase"]
            .as_str()
            .context("a line without a phase")?
            .to_owned();
        let case = match &*phase {
            "sync" => plan.sync,
            _ => plan
                .cases
                .iter()
                .copied()
                .find(|case| case.phases().contains(&&*phase)),
        };
        let Some(case) = case else { continue };
        // What all clients have is found by the same name; the list they asked for is part of it, if it is not the usual one.
        let name = client.strip_suffix("/list").unwrap_or(client);
        line["client"] = json!(name);
        line["round"] = json!(round);
        line["server"] = json!(kind);
        line["rate"] = json!(plan.rate);
        results.add(case, &line)?;
    }
    Ok(())
}

/// `None`: the client cannot be built here.
fn command(programs: &Programs, server: &Server, client: &str, plan: &Plan<'_>) -> Result<Option<Command>> {
    let (form, list) = client.split_once('/').context("a client is FORM/LIST")?;
    let mut command = match form {
        "client-go" | "client-go-protobuf" | "controller-runtime" => match programs.go("forms") {
            Some(command) => command,
            None => return Ok(None),
        },
        _ => programs.rust("informer-client"),
    };
    command.args([form, list, &server.api, &server.control]);
    command.args([plan.pods, plan.changes, plan.rate].map(|number| number.to_string()));
    // What holds only a part of a pod cannot say when it was changed, or on which node it is.
    let knows = |phase: &&str| match *phase {
        "latency" => !form.starts_with("projection"),
        "reads" => !form.starts_with("projection") && !form.starts_with("metadata"),
        _ => true,
    };
    command.args(
        plan.cases
            .iter()
            .flat_map(|case| case.phases())
            .copied()
            .filter(knows),
    );
    if let Some(pid) = server.api_pid {
        command.env("API_PID", pid.to_string());
    }
    Ok(Some(command))
}

/// What a client takes at most, in MiB: as measured, per pod of 10.8 KB.
fn mib(client: &str, plan: &Plan<'_>) -> u64 {
    let form = client.split('/').next().unwrap_or_default();
    let relists = plan.cases.contains(&Case::Relist);
    let (kib, kib_of_a_relist) = match form.trim_end_matches("-kube").trim_end_matches("-json").trim_end_matches("-thread") {
        "packed" => (2, 2),
        "projection" => (4, 4),
        "metadata" => (4, 5),
        "metadata-managed" => (48, 50),
        "pruned" => (42, 44),
        "typed" => (84, 86),
        "kube-rs" => (85, 165),
        _ => (50, 100),
    };
    100 + plan.pods as u64 * if relists { kib_of_a_relist } else { kib } / 1024
}
