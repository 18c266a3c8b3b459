//! Bad days of controllers on this crate, by `kube_sim::simulation`: one seed is one run, and two bugs of the studies that its parts
//! prevent, found in a version without them.
//!
//! `KUBE_SIM_SCHEDULES=10000 cargo test -p kube-controller --test simulation corrected` runs the corrected ones for longer.

use futures::StreamExt as _;
use instances as _;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{ConfigMap, Service};
use kube::api::{Api, ListParams, ObjectMeta, Patch, PatchParams, PostParams};
use kube::{Client, Resource as _, ResourceExt as _};
use kube_controller::controller::{Action, Controller};
use kube_controller::leader_election::{LeaderElectionConfig, LeaderElector, unique_identity};
use kube_controller::manager::Manager;
use kube_controller::watcher;
use kube_informer::Lister;
use kube_informer::form::Packed;
use kube_informer::selector::LabelSelector;
use kube_sim::simulation::{Broken, Cluster, Schedule, Simulation};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Version {
    Buggy,
    Corrected,
}

const ONE_CHILD: &str = "each service has one child at the most";

fn services(client: &Client) -> Api<Service> {
    Api::default_namespaced(client.clone())
}

fn maps(client: &Client) -> Api<ConfigMap> {
    Api::default_namespaced(client.clone())
}

/// A child of a service, with a name of the server's choice or the service's.
fn child(service: &Service, generate: bool) -> ConfigMap {
    let name = service.name_any();
    ConfigMap {
        metadata: ObjectMeta {
            generate_name: generate.then(|| format!("{name}-")),
            name: (!generate).then(|| name.clone()),
            labels: Some([("of".to_owned(), name)].into()),
            owner_references: service.controller_owner_ref(&()).map(|owner| vec![owner]),
            ..ObjectMeta::default()
        },
        ..ConfigMap::default()
    }
}

fn unless_exists<T>(created: kube::Result<T>) -> kube::Result<()> {
    match created {
        Err(kube::Error::Api(status)) if status.is_already_exists() => Ok(()),
        created => created.map(drop),
    }
}

fn children(cluster: &Cluster<'_>, service: &Service) -> usize {
    let maps = cluster.list::<ConfigMap>();
    let name = service.name_any();
    maps.iter()
        .filter(|map| map.labels().get("of") == Some(&name))
        .count()
}

/// Creates services one after the other, with time between them.
fn one_child_each(simulation: Simulation, services: u32, pause: Duration) -> Simulation {
    simulation
        .workload(move |client| async move {
            for number in 0..services {
                let metadata = json!({"name": format!("web-{number}")});
                let service = json!({"metadata": metadata, "spec": {"ports": [{"port": 80}]}});
                let service = serde_json::from_value(service);
                let api = Api::<Service>::default_namespaced(client.clone());
                api.create(&PostParams::default(), &service.expect("a service"))
                    .await
                    .expect("created");
                sleep(pause).await;
            }
        })
        .always(ONE_CHILD, |cluster| {
            cluster
                .list::<Service>()
                .iter()
                .all(|service| children(cluster, service) <= 1)
        })
        .eventually("each service has a child", move |cluster| {
            let all = cluster.list::<Service>();
            all.len() == services as usize && all.iter().all(|service| children(cluster, service) == 1)
        })
}

fn is_found(simulation: Simulation) {
    let failure = simulation
        .schedules(1000)
        .check()
        .expect_err("there is a bug to find");
    assert!(
        matches!(failure.broken(), Broken::Always { condition, .. } if condition == ONE_CHILD),
        "{failure}"
    );
}

fn passes(simulation: Simulation) {
    let report = simulation.schedules(30).run();
    assert!(report.faults > report.schedules / 2, "{report:?}");
}

/// Stale state: the program's own cache does not show yet what the program has written.
fn own_write_not_seen(version: Version) -> Simulation {
    struct Context {
        client: Client,
        maps: Lister<Packed<ConfigMap>>,
        version: Version,
    }
    async fn reconcile(service: Arc<Service>, context: Arc<Context>) -> kube::Result<Action> {
        let name = service.name_any();
        let selector = LabelSelector::parse(&format!("of={name}")).expect("a selector");
        if context.maps.namespace("default").select(&selector).is_empty() {
            let child = child(&service, context.version == Version::Buggy);
            unless_exists(maps(&context.client).create(&PostParams::default(), &child).await)?;
        }
        let note = Patch::Merge(json!({"metadata": {"annotations": {"child": "created"}}}));
        services(&context.client)
            .patch(&name, &PatchParams::default(), &note)
            .await?;
        Ok(Action::await_change())
    }
    let simulation = Simulation::new(move |client: Client| async move {
        let manager = Manager::new(client.clone(), "simulated");
        let factory = manager.factory();
        let (services, maps) = (
            factory.informer::<Packed<Service>>(),
            factory.informer::<Packed<ConfigMap>>(),
        );
        let controller = Controller::for_informer(&services).owns_informer(&maps);
        let context = Context {
            client,
            maps: maps.lister(),
            version,
        };
        let policy = |_, _: &kube::Error, _| Action::backoff();
        manager
            .add_controller(controller, reconcile, policy, Arc::new(context))
            .expect("a controller is added");
        let _ = manager.run_until(CancellationToken::new()).await;
    });
    one_child_each(simulation, 2, Duration::from_secs(5))
}

#[test]
fn own_write_not_seen_is_found() {
    is_found(own_write_not_seen(Version::Buggy));
}

#[test]
fn own_write_not_seen_passes_when_corrected() {
    passes(own_write_not_seen(Version::Corrected));
}

/// What a leader does: a child for each service that has none. To make one takes a while.
async fn lead(client: Client) {
    async fn pass(client: &Client) -> kube::Result<()> {
        let existing = maps(client).list(&ListParams::default()).await?;
        for service in services(client).list(&ListParams::default()).await? {
            let name = service.name_any();
            if existing.iter().all(|map| map.labels().get("of") != Some(&name)) {
                sleep(Duration::from_secs(1)).await;
                maps(client)
                    .create(&PostParams::default(), &child(&service, true))
                    .await?;
            }
        }
        Ok(())
    }
    loop {
        // What has failed is tried again.
        let _ = pass(&client).await;
        sleep(Duration::from_secs(3)).await;
    }
}

/// A candidate that takes and renews the lease without saying which version of it it has seen, and leads until it sees another holder.
async fn stand_blindly(client: Client) {
    let identity = unique_identity();
    let leases = Api::<Lease>::default_namespaced(client.clone());
    let mut seen = (None, Instant::now());
    let mut leading = None;
    for renewal in 0.. {
        sleep(Duration::from_secs(2)).await;
        let Ok(found) = leases.get_opt("leader").await else {
            continue;
        };
        let version = found.as_ref().and_then(|lease| lease.resource_version());
        if seen.0 != version {
            seen = (version, Instant::now());
        }
        let holder = found.and_then(|lease| lease.spec?.holder_identity);
        let is_free = holder.is_none() || seen.1.elapsed() > Duration::from_secs(15);
        if holder.as_ref() != Some(&identity) && !is_free {
            leading = None;
            continue;
        }
        let lease = json!({
            "apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": "leader"},
            "spec": {"holderIdentity": identity, "leaseTransitions": renewal},
        });
        let params = PatchParams::apply("candidate").force();
        if leases
            .patch("leader", &params, &Patch::Apply(lease))
            .await
            .is_ok()
            && leading.is_none()
        {
            let work = tokio::spawn(lead(client.clone()));
            leading = Some(tokio_util::task::AbortOnDropHandle::new(work));
        }
    }
}

/// Two replicas, of which one is to lead.
fn two_leaders(version: Version) -> Simulation {
    let simulation = Simulation::new(move |client: Client| async move {
        if version == Version::Buggy {
            return stand_blindly(client).await;
        }
        let config = LeaderElectionConfig::new("default", "leader", unique_identity());
        let mut elector =
            LeaderElector::new(client.clone(), config).expect("a configuration that makes sense");
        loop {
            let client = client.clone();
            let led = elector.run(CancellationToken::new(), async |leadership| {
                tokio::select! {
                    biased;
                    () = leadership.cancelled() => {}
                    () = lead(client) => {}
                }
            });
            let _ = led.await;
        }
    });
    one_child_each(simulation.replicas(2), 6, Duration::from_secs(8))
}

#[test]
fn two_leaders_are_found() {
    is_found(two_leaders(Version::Buggy));
}

#[test]
fn two_leaders_are_none_when_corrected() {
    passes(two_leaders(Version::Corrected));
}

#[test]
fn one_seed_is_one_run_of_a_controller() {
    async fn reconcile(service: Arc<Service>, client: Arc<Client>) -> kube::Result<Action> {
        unless_exists(
            maps(&client)
                .create(&PostParams::default(), &child(&service, false))
                .await,
        )?;
        Ok(Action::await_change())
    }
    let simulation = Simulation::new(|client: Client| async move {
        Controller::new(services(&client), watcher::Config::default())
            .owns(maps(&client), watcher::Config::default())
            .run(reconcile, |_, _, _| Action::backoff(), Arc::new(client))
            .for_each(async |_| {})
            .await;
    });
    let simulation = one_child_each(simulation, 2, Duration::from_secs(5));
    for seed in 0..15 {
        let [one, two] = [1, 2].map(|_| simulation.replay(&Schedule::of_seed(seed)));
        let (first, second) = (one.trace.to_string(), two.trace.to_string());
        assert!(first == second, "seed {seed}:\n{first}\nand\n{second}");
        assert_eq!(one.broken, None, "seed {seed}:\n{first}");
        let again = simulation.replay(&one.schedule).trace.to_string();
        assert!(first == again, "seed {seed}:\n{first}\nand\n{again}");
    }
}
