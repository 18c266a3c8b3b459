//! Bugs of published studies of controllers (Sieve: stale states, observability gaps, intermediate states; Acto; time travel), as
//! small controllers. Each is found within 1,000 schedules; corrected, it passes all that are run.
//!
//! `KUBE_SIM_SCHEDULES=10000 cargo test -p kube-sim --test simulation corrected` runs the corrected ones for longer.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Service};
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams, Preconditions};
use kube::runtime::controller::{Action, Controller};
use kube::runtime::watcher;
use kube::{Client, ResourceExt as _};
use kube_sim::simulation::{Broken, Cluster, Simulation};
use serde_json::json;

use crate::objects::{
    cached, creates_a_service, every_five_seconds, generated, map, maps, named, service, services,
    unless_exists, unless_gone, until, value, with_data,
};

/// How a controller is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Version {
    Buggy,
    Corrected,
}

use Version::{Buggy, Corrected};

/// So many schedules are passed by a corrected version in a usual run of the tests.
const PASSED: u64 = 75;

/// The bug is found, as this condition that does not hold.
pub(crate) fn is_found(simulation: Simulation, expected: &str) {
    let failure = simulation
        .schedules(1000)
        .check()
        .expect_err("there is a bug to find");
    let (Broken::Always { condition, .. } | Broken::Eventually { condition, .. }) = failure.broken() else {
        panic!("{failure}");
    };
    assert_eq!(condition, expected, "{failure}");
    assert!(failure.nth() <= 1000, "{failure}");
}

pub(crate) fn passes(simulation: Simulation) {
    let report = simulation.schedules(PASSED).run();
    assert!(report.faults > report.schedules / 2, "{report:?}");
}

macro_rules! pattern {
    ($name:ident, $simulation:expr, $condition:expr) => {
        mod $name {
            #[test]
            fn is_found() {
                super::is_found($simulation(super::Buggy), $condition);
            }

            #[test]
            fn is_passed_when_corrected() {
                super::passes($simulation(super::Corrected));
            }
        }
    };
}

pattern!(stale_list_duplicates_a_child, super::stale_list, super::ONE_CHILD);
pattern!(
    time_travel_deletes_a_newer_child,
    super::time_travel,
    super::CONTENT_IS_KEPT
);
pattern!(
    crash_between_two_writes_orphans,
    super::intermediate_state,
    super::ONE_CHILD
);
pattern!(
    deletion_missed_while_down_leaks,
    super::missed_deletion,
    super::NO_LEAK
);
pattern!(
    skipped_state_is_not_acted_on,
    super::skipped_state,
    super::BACKED_UP
);
pattern!(
    finalizer_removed_before_cleanup_leaks,
    super::finalizer_first,
    super::NO_LEAK
);
pattern!(
    update_without_version_loses_a_write,
    super::blind_update,
    super::BLUE
);
pattern!(
    conflict_taken_for_success_is_lost,
    super::conflict_as_success,
    super::CHILD_IS_BLUE
);
pattern!(lost_answer_repeats_a_write, super::lost_answer, super::ONE_CHILD);
pattern!(
    stale_spec_reported_as_observed,
    super::observed_generation,
    super::OBSERVED
);

const ONE_CHILD: &str = "a service has one child at the most";
const CONTENT_IS_KEPT: &str = "the content of the child is kept";
const NO_LEAK: &str = "a service that is gone leaves no bucket";
const BACKED_UP: &str = "a service that was drained has a backup";
const BLUE: &str = "the workload's write is kept";
const CHILD_IS_BLUE: &str = "the child has its parent's color";
const OBSERVED: &str = "what is reported as observed has been done";

fn one_child(simulation: Simulation) -> Simulation {
    simulation
        .workload(creates_a_service)
        .always(ONE_CHILD, |cluster| cluster.list::<ConfigMap>().len() <= 1)
        .eventually("a service has a child", |cluster| {
            cluster.list::<ConfigMap>().len() == 1
        })
}

/// Stale state: the list from a cache does not show a child that exists, and another one is created.
fn stale_list(version: Version) -> Simulation {
    one_child(Simulation::new(move |client| async move {
        every_five_seconds(async || {
            for service in services(&client).list(&cached()).await? {
                let name = service.name_any();
                let children = maps(&client)
                    .list(&cached().labels(&format!("of={name}")))
                    .await?;
                if children.items.is_empty() {
                    let mut child = map(match version {
                        Buggy => generated(&name),
                        Corrected => named(&name),
                    });
                    child.labels_mut().insert("of".into(), name);
                    unless_exists(maps(&client).create(&PostParams::default(), &child).await)?;
                }
            }
            Ok(())
        })
        .await;
    }))
}

/// Time travel: after a restart, the program sees that the service is gone, which it was once, and deletes the child of the
/// one that exists now.
fn time_travel(version: Version) -> Simulation {
    async fn pass(client: &Client, version: Version) -> kube::Result<()> {
        let (services, maps) = (services(client), maps(client));
        let seen = services.list(&cached()).await?;
        let is_seen = |name: &str| seen.items.iter().any(|service| service.name_any() == name);
        for child in maps.list(&cached()).await? {
            let name = child.name_any();
            if is_seen(&name) {
                continue;
            }
            let mut options = DeleteParams::default();
            if version == Corrected {
                if services.get_opt(&name).await?.is_some() {
                    continue;
                }
                options.preconditions = Some(Preconditions {
                    uid: child.uid(),
                    resource_version: child.resource_version(),
                });
            }
            unless_gone(maps.delete(&name, &options).await)?;
        }
        for service in seen {
            let child = map(named(&service.name_any()));
            unless_exists(maps.create(&PostParams::default(), &child).await)?;
        }
        Ok(())
    }
    Simulation::new(
        move |client| async move { every_five_seconds(async || pass(&client, version).await).await },
    )
    .workload(|client| async move {
        let (services, maps) = (services(&client), maps(&client));
        let has_child = async |wanted| {
            until(async || maps.get_opt("web").await.expect("an answer").is_some() == wanted).await;
        };
        services
            .create(&PostParams::default(), &service("web"))
            .await
            .expect("created");
        has_child(true).await;
        services
            .delete("web", &DeleteParams::default())
            .await
            .expect("deleted");
        has_child(false).await;
        services
            .create(&PostParams::default(), &service("web"))
            .await
            .expect("created");
        has_child(true).await;
        let content = Patch::Merge(json!({"data": {"content": "precious"}}));
        maps.patch("web", &PatchParams::default(), &content)
            .await
            .expect("written");
        tokio::time::sleep(Duration::from_secs(60)).await;
    })
    .eventually(CONTENT_IS_KEPT, |cluster| {
        let child = cluster.get::<ConfigMap>("default", "web");
        child.is_some_and(|child| value(&child, "content") == Some("precious"))
    })
}

/// Intermediate state: the program ends after it has created a child and before it has noted its name.
fn intermediate_state(version: Version) -> Simulation {
    one_child(Simulation::new(move |client| async move {
        every_five_seconds(async || {
            for service in services(&client).list(&ListParams::default()).await? {
                if service.annotations().contains_key("child") {
                    continue;
                }
                let name = service.name_any();
                let child = match version {
                    Buggy => maps(&client)
                        .create(&PostParams::default(), &map(generated(&name)))
                        .await?
                        .name_any(),
                    Corrected => {
                        let created = maps(&client)
                            .create(&PostParams::default(), &map(named(&name)))
                            .await;
                        unless_exists(created)?;
                        name.clone()
                    }
                };
                let note = Patch::Merge(json!({"metadata": {"annotations": {"child": child}}}));
                services(&client)
                    .patch(&name, &PatchParams::default(), &note)
                    .await?;
            }
            Ok(())
        })
        .await;
    }))
}

/// The namespace of the objects that stand for an external system.
const CLOUD: &str = "cloud";

fn buckets(client: &Client) -> Api<ConfigMap> {
    Api::namespaced(client.clone(), CLOUD)
}

async fn ensure_bucket(client: &Client, name: &str) -> kube::Result<()> {
    unless_exists(
        buckets(client)
            .create(&PostParams::default(), &map(named(name)))
            .await,
    )
}

async fn remove_bucket(client: &Client, name: &str) -> kube::Result<()> {
    unless_gone(buckets(client).delete(name, &DeleteParams::default()).await)
}

const FINALIZER: &str = "example.com/bucket";

/// Writes the finalizers of a service, if it is as it was seen.
async fn set_finalizers(client: &Client, service: &Service, finalizers: &[&str]) -> kube::Result<()> {
    let patch = Patch::Merge(json!({
        "metadata": {"finalizers": finalizers, "resourceVersion": service.resource_version()},
    }));
    unless_gone(
        services(client)
            .patch(&service.name_any(), &PatchParams::default(), &patch)
            .await,
    )
}

/// Keeps a bucket for a service, until it is deleted.
async fn with_finalizer(client: &Client, service: &Service, version: Version) -> kube::Result<()> {
    let name = service.name_any();
    let (deleting, held) = (
        service.metadata.deletion_timestamp.is_some(),
        !service.finalizers().is_empty(),
    );
    match (deleting, held, version) {
        (true, true, Buggy) => {
            set_finalizers(client, service, &[]).await?;
            remove_bucket(client, &name).await
        }
        (true, true, Corrected) => {
            remove_bucket(client, &name).await?;
            set_finalizers(client, service, &[]).await
        }
        (true, false, _) => Ok(()),
        (false, false, _) => set_finalizers(client, service, &[FINALIZER]).await,
        (false, true, _) => ensure_bucket(client, &name).await,
    }
}

/// A service comes, gets its bucket, and goes again.
fn no_leak(simulation: Simulation) -> Simulation {
    simulation
        .setup(|sim| {
            let cloud = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": CLOUD}});
            sim.store().create(cloud).expect("a namespace");
        })
        .workload(|client| async move {
            services(&client)
                .create(&PostParams::default(), &service("web"))
                .await
                .expect("created");
            until(async || {
                buckets(&client)
                    .get_opt("web")
                    .await
                    .expect("an answer")
                    .is_some()
            })
            .await;
            services(&client)
                .delete("web", &DeleteParams::default())
                .await
                .expect("deleted");
        })
        .eventually(NO_LEAK, |cluster| {
            cluster.list::<Service>().is_empty() && all_buckets(cluster) == 0
        })
}

fn all_buckets(cluster: &Cluster<'_>) -> usize {
    let maps = cluster.list::<ConfigMap>();
    maps.iter()
        .filter(|map| map.namespace().as_deref() == Some(CLOUD))
        .count()
}

/// Observability gap: the program is told of a deletion only while it runs and its watch is open.
fn missed_deletion(version: Version) -> Simulation {
    use futures::TryStreamExt as _;
    use kube::core::WatchEvent;

    async fn watches(client: &Client) -> kube::Result<()> {
        let listed = services(client).list(&cached()).await?;
        for service in &listed {
            ensure_bucket(client, &service.name_any()).await?;
        }
        let from = listed.metadata.resource_version.unwrap_or_default();
        let events = services(client).watch(&Default::default(), &from).await?;
        let mut events = std::pin::pin!(events);
        while let Some(event) = events.try_next().await? {
            match event {
                WatchEvent::Added(service) => ensure_bucket(client, &service.name_any()).await?,
                WatchEvent::Deleted(service) => remove_bucket(client, &service.name_any()).await?,
                WatchEvent::Error(_) => return Ok(()),
                WatchEvent::Modified(_) | WatchEvent::Bookmark(_) => {}
            }
        }
        Ok(())
    }
    no_leak(Simulation::new(move |client| async move {
        every_five_seconds(async || match version {
            Buggy => watches(&client).await,
            Corrected => {
                for service in services(&client).list(&ListParams::default()).await? {
                    with_finalizer(&client, &service, Corrected).await?;
                }
                Ok(())
            }
        })
        .await;
    }))
}

/// A level is acted on only while it is passed: the program does not see each state.
fn skipped_state(version: Version) -> Simulation {
    let phase = |service: &Service| service.annotations().get("phase").cloned().unwrap_or_default();
    Simulation::new(move |client| async move {
        every_five_seconds(async || {
            for service in services(&client).list(&cached()).await? {
                let acts = match phase(&service).as_str() {
                    "draining" => true,
                    "drained" => version == Corrected,
                    _ => false,
                };
                if acts {
                    let backup = map(named(&service.name_any()));
                    unless_exists(maps(&client).create(&PostParams::default(), &backup).await)?;
                }
            }
            Ok(())
        })
        .await;
    })
    .workload(|client| async move {
        services(&client)
            .create(&PostParams::default(), &service("web"))
            .await
            .expect("created");
        for phase in ["draining", "drained"] {
            let patch = Patch::Merge(json!({"metadata": {"annotations": {"phase": phase}}}));
            services(&client)
                .patch("web", &PatchParams::default(), &patch)
                .await
                .expect("patched");
        }
    })
    .eventually(BACKED_UP, move |cluster| {
        let drained = cluster
            .get::<Service>("default", "web")
            .is_some_and(|service| phase(&service) == "drained");
        drained && cluster.get::<ConfigMap>("default", "web").is_some()
    })
}

/// Intermediate state: the finalizer is gone, and what it stands for is not done. On the `Controller` of kube's runtime.
fn finalizer_first(version: Version) -> Simulation {
    no_leak(Simulation::new(move |client: Client| async move {
        let reconcile = move |service: Arc<Service>, client: Arc<Client>| async move {
            with_finalizer(&client, &service, version)
                .await
                .map(|()| Action::await_change())
        };
        let error_policy = |_: Arc<Service>, _: &kube::Error, _| Action::requeue(Duration::from_secs(5));
        Controller::new(services(&client), watcher::Config::default())
            .run(reconcile, error_policy, Arc::new(client))
            .for_each(async |_| {})
            .await;
    }))
}

/// A map that the workload paints red, then blue.
async fn paints(client: Client) {
    let red = with_data("web", json!({"color": "red"}));
    maps(&client)
        .create(&PostParams::default(), &red)
        .await
        .expect("created");
    let blue = Patch::Merge(json!({"data": {"color": "blue"}}));
    maps(&client)
        .patch("web", &PatchParams::default(), &blue)
        .await
        .expect("patched");
    tokio::time::sleep(Duration::from_secs(20)).await;
}

/// A write of the whole object, with what was read before, undoes what somebody else has written since.
fn blind_update(version: Version) -> Simulation {
    Simulation::new(move |client| async move {
        every_five_seconds(async || {
            for mut found in maps(&client).list(&cached()).await? {
                if found
                    .annotations_mut()
                    .insert("seen".into(), "yes".into())
                    .is_some()
                {
                    continue;
                }
                if version == Buggy {
                    found.metadata.resource_version = None;
                }
                maps(&client)
                    .replace(&found.name_any(), &PostParams::default(), &found)
                    .await?;
            }
            Ok(())
        })
        .await;
    })
    .workload(paints)
    .eventually(BLUE, |cluster| {
        let found = cluster.get::<ConfigMap>("default", "web");
        found.is_some_and(|found| {
            value(&found, "color") == Some("blue") && found.annotations().contains_key("seen")
        })
    })
}

/// A conflict is taken for "somebody has done it": the write is not tried again.
fn conflict_as_success(version: Version) -> Simulation {
    Simulation::new(move |client| async move {
        let mut done = BTreeMap::new();
        every_five_seconds(async || {
            let Some(parent) = maps(&client).get_opt("web").await? else {
                return Ok(());
            };
            let seen = parent.resource_version().unwrap_or_default();
            if done.get("web") == Some(&seen) {
                return Ok(());
            }
            let data = json!({"color": value(&parent, "color")});
            let written = match maps(&client).get_opt("web-child").await? {
                None => {
                    maps(&client)
                        .create(&PostParams::default(), &with_data("web-child", data))
                        .await
                }
                Some(child) => {
                    let mut new = with_data("web-child", data);
                    new.metadata.resource_version = child.resource_version();
                    maps(&client)
                        .replace("web-child", &PostParams::default(), &new)
                        .await
                }
            };
            match written {
                Err(kube::Error::Api(status)) if status.code == 409 && version == Buggy => {}
                written => drop(written?),
            }
            done.insert("web", seen);
            Ok(())
        })
        .await;
    })
    .workload(paints)
    .eventually(CHILD_IS_BLUE, |cluster| {
        let child = cluster.get::<ConfigMap>("default", "web-child");
        child.is_some_and(|child| value(&child, "color") == Some("blue"))
    })
}

/// A write whose answer was lost is repeated, though it has taken effect.
fn lost_answer(version: Version) -> Simulation {
    one_child(Simulation::new(move |client| async move {
        every_five_seconds(async || {
            let children = maps(&client).list(&ListParams::default()).await?;
            let Some(service) = services(&client).get_opt("web").await? else {
                return Ok(());
            };
            if !children.items.is_empty() {
                return Ok(());
            }
            let child = map(match version {
                Buggy => generated("web"),
                Corrected => named(&format!("web-{}", service.uid().unwrap_or_default())),
            });
            while let Err(error) = unless_exists(maps(&client).create(&PostParams::default(), &child).await) {
                tracing::debug!(%error, "tries again");
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
            Ok(())
        })
        .await;
    }))
}

/// The status names the newest generation, though what was done follows from an older one.
fn observed_generation(version: Version) -> Simulation {
    fn replicas(deployment: &Deployment) -> Option<String> {
        Some(deployment.spec.replicas?.to_string())
    }
    async fn pass(client: &Client, version: Version) -> kube::Result<()> {
        let deployments = Api::<Deployment>::default_namespaced(client.clone());
        for seen in deployments.list(&cached()).await? {
            let (name, generation) = (seen.name_any(), seen.metadata.generation.unwrap_or_default());
            let mut child = with_data(
                &name,
                json!({"replicas": replicas(&seen), "generation": generation.to_string()}),
            );
            match maps(client).get_opt(&name).await? {
                None => drop(maps(client).create(&PostParams::default(), &child).await?),
                Some(old) => {
                    let done: i64 = value(&old, "generation")
                        .and_then(|text| text.parse().ok())
                        .unwrap_or_default();
                    if done > generation && version == Corrected {
                        continue;
                    }
                    if done != generation {
                        child.metadata.resource_version = old.resource_version();
                        maps(client)
                            .replace(&name, &PostParams::default(), &child)
                            .await?;
                    }
                }
            }
            let observed = match version {
                Buggy => deployments.get(&name).await?.metadata.generation,
                Corrected => Some(generation),
            };
            let told = seen.status.as_ref().and_then(|status| status.observed_generation);
            if told != observed {
                let status = Patch::Merge(json!({"status": {"observedGeneration": observed}}));
                deployments
                    .patch_status(&name, &PatchParams::default(), &status)
                    .await?;
            }
        }
        Ok(())
    }
    Simulation::new(
        move |client| async move { every_five_seconds(async || pass(&client, version).await).await },
    )
    .workload(|client| async move {
        let deployments = Api::<Deployment>::default_namespaced(client);
        let labels = json!({"app": "web"});
        let web = serde_json::from_value(json!({
            "metadata": {"name": "web"},
            "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": {
                "metadata": {"labels": labels}, "spec": {"containers": [{"name": "web", "image": "web"}]},
            }},
        }));
        deployments
            .create(&PostParams::default(), &web.expect("a deployment"))
            .await
            .expect("created");
        for replicas in 2..5 {
            let patch = Patch::Merge(json!({"spec": {"replicas": replicas}}));
            deployments
                .patch("web", &PatchParams::default(), &patch)
                .await
                .expect("patched");
        }
        tokio::time::sleep(Duration::from_secs(20)).await;
    })
    .always(OBSERVED, |cluster| {
        cluster.list::<Deployment>().iter().all(|deployment| {
            let observed = deployment
                .status
                .as_ref()
                .and_then(|status| status.observed_generation);
            let child = cluster.get::<ConfigMap>("default", &deployment.name_any());
            let done = child.and_then(|child| value(&child, "replicas").map(str::to_owned));
            observed.is_none() || observed != deployment.metadata.generation || done == replicas(deployment)
        })
    })
    .eventually("the newest generation is observed", |cluster| {
        let found = cluster.get::<Deployment>("default", "web");
        found.is_some_and(|found| {
            let observed = found.status.and_then(|status| status.observed_generation);
            observed == found.metadata.generation
        })
    })
}
