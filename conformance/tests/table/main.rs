//! One table of requests, answered by the simulator and by a real API server.
//!
//! The real server's answers are recorded in `table/answers.jsonl`, so that the simulator can be held against them
//! without one. A request whose answers differ is a bug of the simulator, or is listed in `table/differences.md` with the
//! reason. What is listed and no longer differs fails too.

#![recursion_limit = "512"] // for large objects in `json!`

mod access;
mod advice;
mod apply;
mod case;
mod certificates;
mod compare;
mod connections;
mod control;
mod costs;
mod definition_faults;
mod definitions;
mod deletes;
mod empties;
mod forms;
mod functions;
mod kinds;
mod limits;
mod lists;
mod metadata;
mod mutations;
mod normal;
mod objects;
mod patches;
mod pod_security;
mod policies;
mod policy_details;
mod published;
mod quantities;
mod rules;
mod run;
mod schemas;
mod selectors;
mod specs;
mod subresources;
mod tables;
mod validation;
mod versions;
mod watches;
mod webhooks;
mod writes;
mod yaml;

use case::Case;
use conformance::real_server::{Part, RealServer, User};
use kube_sim::SimServer;
use run::Subject;
use std::collections::BTreeSet;

fn cases() -> Vec<Case> {
    let reading = [
        lists::cases(),
        watches::cases(),
        selectors::cases(),
        forms::cases(),
        tables::cases(),
    ];
    let writing = [
        writes::cases(),
        deletes::cases(),
        patches::cases(),
        apply::cases(),
        control::cases(),
        subresources::cases(),
        connections::cases(),
        kinds::cases(),
        definitions::cases(),
        definition_faults::cases(),
        published::cases(),
        schemas::cases(),
        costs::cases(),
        functions::cases(),
        rules::cases(),
        specs::cases(),
        validation::cases(),
        versions::cases(),
        access::cases(),
        certificates::cases(),
        advice::cases(),
        webhooks::cases(),
        policies::cases(),
        policy_details::cases(),
        mutations::cases(),
        limits::cases(),
        pod_security::cases(),
        empties::cases(),
        quantities::cases(),
        yaml::cases(),
        metadata::cases(),
    ];
    reading.into_iter().chain(writing).flatten().collect()
}

struct Simulator(SimServer, kube::Client);

impl Subject for Simulator {
    fn client(&self) -> &kube::Client {
        &self.1
    }

    async fn forget(&self, resource_version: u64) {
        self.0.store().compact(resource_version);
    }
}

struct Real(RealServer, kube::Client);

impl Subject for Real {
    fn client(&self) -> &kube::Client {
        &self.1
    }

    async fn forget(&self, resource_version: u64) {
        self.0.compact(resource_version).await.unwrap();
        self.0.start_again(Part::ApiServer).unwrap();
        self.0.ready().await.unwrap();
    }
}

async fn simulator() -> run::Answers {
    // The real server is alone, too.
    let server = SimServer::builder()
        .controllers([])
        .token(ADMIN, ADMIN, ["system:masters"]);
    let server = server.start().await.unwrap();
    let mut config = kube::Config::new(server.url().parse().unwrap());
    config.auth_info.token = Some(ADMIN.to_owned().into());
    let client = client(config);
    run::answers(&Simulator(server, client), cases()).await
}

async fn real() -> run::Answers {
    let server = RealServer::start().await.unwrap();
    let client = client(server.config(&User::admin()).await.unwrap());
    run::answers(&Real(server, client), cases()).await
}

/// A client that tells what the server answers, rather than ask again.
fn client(mut config: kube::Config) -> kube::Client {
    config.default_retry = false;
    kube::Client::try_from(config).unwrap()
}

/// The administrator of the simulator, and his token.
const ADMIN: &str = "admin";

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/table");

/// What a real server answered; one line for each request.
fn recorded() -> run::Answers {
    let lines = include_str!("../../table/answers.jsonl").lines();
    lines
        .map(|line| serde_json::from_str(line).expect("a name and an answer"))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_simulator_answers_as_a_real_server_did() {
    let (simulator, recorded) = (simulator().await, recorded());
    assert!(
        simulator.keys().eq(recorded.keys()),
        "record the answers to new requests: see the README"
    );
    let found: BTreeSet<_> = compare::differences(&simulator, &recorded).into_iter().collect();
    let known = compare::known(include_str!("../../table/differences.md"));
    let known: BTreeSet<_> = known.into_iter().collect();
    let lines = |set: Vec<&String>| {
        set.into_iter()
            .map(|line| format!("- {line}\n"))
            .collect::<String>()
    };
    let new = lines(found.difference(&known).collect());
    let gone = lines(known.difference(&found).collect());
    assert!(
        new.is_empty() && gone.is_empty(),
        "new differences:\n{new}\nlisted, but no longer there:\n{gone}"
    );
}

/// With `CONFORMANCE_RECORD=1` it records the answers anew.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a real API server: conformance/run"]
async fn a_real_server_answers_as_it_did() {
    let real = real().await;
    if std::env::var_os("CONFORMANCE_RECORD").is_some() {
        let lines = real
            .iter()
            .map(|answer| serde_json::to_string(&answer).unwrap() + "\n");
        std::fs::write(format!("{FOLDER}/answers.jsonl"), lines.collect::<String>()).unwrap();
        return;
    }
    let differences = compare::differences(&real, &recorded());
    assert!(
        differences.is_empty(),
        "(`simulator` is the server as it is now)\n{}",
        differences.join("\n")
    );
}
