//! One seed is one run.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use k8s_openapi::api::core::v1::{ConfigMap, Service};
use kube::Client;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::runtime::controller::{Action, Controller};
use kube::runtime::watcher;
use kube::{Resource as _, ResourceExt as _};
use kube_sim::simulation::{Schedule, Simulation};
use serde_json::json;

use crate::objects::{cached, every_five_seconds, map, maps, named, service, services, unless_exists};

/// The same seed, twice: the same trace and the same faults.
fn one_seed_is_one_run(simulation: &Simulation) {
    let (mut faults, mut different) = (0, 0);
    let mut before = String::new();
    for seed in 0..25 {
        let [one, two] = [1, 2].map(|_| simulation.replay(&Schedule::of_seed(seed)));
        let trace = one.trace.to_string();
        same(&trace, &two.trace.to_string(), seed);
        assert_eq!(one, two);
        assert!(one.broken.is_none(), "{:?}\n{trace}", one.broken);
        // A run can also be told by its faults.
        let again = simulation.replay(&one.schedule);
        same(&trace, &again.trace.to_string(), seed);
        faults += one.schedule.to_string().matches('=').count();
        different += usize::from(before != trace);
        before = trace;
    }
    assert!(faults > 25, "{faults}");
    assert_eq!(different, 25);
}

fn same(one: &str, other: &str, seed: u64) {
    let different = one
        .lines()
        .zip(other.lines())
        .position(|(one, other)| one != other);
    assert!(
        one == other,
        "seed {seed}: different from line {different:?} on:\n{one}\nand\n{other}"
    );
}

async fn child_of(client: &Client, service: &Service) -> kube::Result<()> {
    let child = ConfigMap {
        metadata: kube::api::ObjectMeta {
            owner_references: service.controller_owner_ref(&()).map(|owner| vec![owner]),
            ..named(&service.name_any())
        },
        ..map(named(""))
    };
    unless_exists(maps(client).create(&PostParams::default(), &child).await)?;
    let status = Patch::Merge(json!({"metadata": {"annotations": {"child": service.name_any()}}}));
    services(client)
        .patch(&service.name_any(), &PatchParams::default(), &status)
        .await
        .map(drop)
}

fn with_workload(simulation: Simulation) -> Simulation {
    simulation
        .workload(|client| async move {
            services(&client)
                .create(&PostParams::default(), &service("web"))
                .await
                .expect("created");
            maps(&client).delete("web", &DeleteParams::default()).await.ok();
            tokio::time::sleep(Duration::from_secs(30)).await;
        })
        .eventually("a child", |cluster| {
            cluster.get::<ConfigMap>("default", "web").is_some()
        })
}

#[test]
fn one_seed_is_one_run_of_a_loop() {
    one_seed_is_one_run(&with_workload(Simulation::new(|client| async move {
        every_five_seconds(async || {
            for service in services(&client).list(&cached()).await? {
                child_of(&client, &service).await?;
            }
            Ok(())
        })
        .await;
    })));
}

#[test]
fn one_seed_is_one_run_of_kubes_controller() {
    async fn reconcile(service: Arc<Service>, client: Arc<Client>) -> kube::Result<Action> {
        child_of(&client, &service).await?;
        Ok(Action::await_change())
    }
    one_seed_is_one_run(&with_workload(Simulation::new(|client: Client| async move {
        Controller::new(services(&client), watcher::Config::default())
            .owns(maps(&client), watcher::Config::default())
            .run(
                reconcile,
                |_, _, _| Action::requeue(Duration::from_secs(5)),
                Arc::new(client),
            )
            .for_each(async |_| {})
            .await;
    })));
}

/// Creates config maps at once, under a policy that costs more or less for each of them.
async fn costly_maps(client: Client) {
    use k8s_openapi::api::admissionregistration::v1::{
        ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding,
    };
    let rounds = "lists.range(100).all(a, lists.range(int(object.data.rounds)).all(b, b >= 0))";
    let policy: ValidatingAdmissionPolicy = serde_json::from_value(json!({"metadata": {"name": "p"}, "spec": {
        "matchConstraints": {"resourceRules": [{
            "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"],
        }]},
        "validations": [{"expression": rounds}],
    }}))
    .expect("a policy");
    let binding: ValidatingAdmissionPolicyBinding = serde_json::from_value(
        json!({"metadata": {"name": "b"}, "spec": {"policyName": "p", "validationActions": ["Deny"]}}),
    )
    .expect("a binding");
    let params = PostParams::default();
    let (policies, bindings) = (kube::Api::all(client.clone()), kube::Api::all(client.clone()));
    policies.create(&params, &policy).await.expect("created");
    bindings.create(&params, &binding).await.expect("created");
    let creations = (0..20).map(|n: u64| {
        let client = client.clone();
        async move {
            let map = ConfigMap {
                data: Some([("rounds".to_owned(), (60 - n * 2).to_string())].into()),
                ..map(named(&format!("m{n}")))
            };
            maps(&client)
                .create(&PostParams::default(), &map)
                .await
                .expect("created");
        }
    });
    futures::future::join_all(creations).await;
}

#[test]
fn policies_are_evaluated_in_the_order_of_the_run() {
    let idle = Simulation::new(|_| std::future::pending::<()>()).faults([]);
    let simulation = idle.workload(costly_maps);
    for seed in 0..3 {
        let [one, two] = [1, 2].map(|_| simulation.replay(&Schedule::of_seed(seed)));
        assert!(one.broken.is_none(), "{:?}", one.broken);
        same(&one.trace.to_string(), &two.trace.to_string(), seed);
    }
}
