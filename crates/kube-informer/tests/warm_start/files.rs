//! Which informers have a file, when it is written, and which files are not used.

use std::time::Duration;

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::core::{ApiResource, DynamicObject};
use kube_informer::form::Packed;
use kube_informer::low_level::wire::Encoding;
use kube_informer::reflector::TransformError;
use kube_informer::source::{ClientSource, Selection};
use kube_informer::warm_start::{Start, WarmStart, WarmStartError};
use kube_informer::{FieldPlan, SharedInformer, SharedInformerFactory};
use kube_sim::faults::ANY;
use serde_json::json;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::{Maps, Run, builder, cluster, put, save, saved_file, source};

#[tokio::test(start_paused = true)]
async fn a_file_belongs_to_one_selection_plan_and_encoding() {
    let (sim, directory) = (cluster(3), TempDir::new().unwrap());
    save(&sim, directory.path()).await;
    let client = || kube::Client::new(sim.service(), "default");
    let resource = ApiResource::erase::<ConfigMap>(&());
    let select = |selection| ClientSource::new(client(), resource.clone(), selection);
    let in_namespace = Selection {
        namespace: Some("default".into()),
        ..Selection::default()
    };
    let labelled = Selection {
        label_selector: Some("!absent".into()),
        ..Selection::default()
    };
    for other in [
        builder(select(in_namespace), directory.path()),
        builder(select(labelled), directory.path()),
        builder(source(&sim).encoding(Encoding::Json), directory.path()),
        builder(source(&sim), directory.path()).plan(FieldPlan::default()),
        builder(source(&sim), directory.path()).name("other"),
    ] {
        let run = Run::synced(other).await;
        assert_eq!(run.cold(), "there is no file yet");
        run.stop().await;
    }
    let run = Run::synced(builder(source(&sim), directory.path())).await;
    assert_eq!(run.restored(), 3, "its own file is still there");
    run.stop().await;
}

#[tokio::test]
async fn what_cannot_be_saved_is_refused_with_the_reason() {
    let sim = cluster(0);
    let directory = || WarmStart::in_directory("/nowhere");
    let form = SharedInformer::<ConfigMap>::builder(source(&sim)).warm_start(directory());
    let form = form.err().unwrap();
    assert_eq!(
        form.to_string(),
        "objects held as ConfigMap cannot be saved; Packed and DynamicObject can"
    );
    let secrets = || {
        let client = kube::Client::new(sim.service(), "default");
        let source = ClientSource::new(client, ApiResource::erase::<Secret>(&()), Selection::default());
        SharedInformer::<Packed<Secret>>::builder(source)
    };
    assert_eq!(
        secrets().warm_start(directory()).err(),
        Some(WarmStartError::Secrets)
    );
    assert!(secrets().warm_start(directory().allow_secrets()).is_ok());
    let transform = SharedInformer::<Maps>::builder(source(&sim))
        .transform(Ok::<_, TransformError>)
        .warm_start(directory());
    assert!(matches!(transform.err(), Some(WarmStartError::Transform { .. })));
}

#[tokio::test(start_paused = true)]
async fn a_factory_saves_what_can_be_saved() {
    let (sim, directory) = (cluster(3), TempDir::new().unwrap());
    for restored in [false, true] {
        let client = kube::Client::new(sim.service(), "default");
        let factory = SharedInformerFactory::builder(client)
            .warm_start(WarmStart::in_directory(directory.path()))
            .build();
        let packed = factory.informer::<Maps>();
        let typed = factory.informer::<ConfigMap>();
        factory.start();
        assert_eq!(packed.restored().await, Ok(restored));
        assert_eq!(typed.restored().await, Ok(false));
        factory.wait_for_sync(Duration::from_secs(60)).await.unwrap();
        let status = typed.status().warm_start.unwrap();
        assert!(matches!(
            status.start,
            Start::Disabled(WarmStartError::Form { .. })
        ));
        factory.shutdown().await.unwrap();
    }
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[tokio::test(start_paused = true)]
async fn dynamic_objects_are_saved_too() {
    let (sim, directory) = (cluster(3), TempDir::new().unwrap());
    for restored in [false, true] {
        let (maps, runner) = SharedInformer::<DynamicObject>::builder(source(&sim))
            .warm_start(WarmStart::in_directory(directory.path()))
            .unwrap()
            .build();
        let stop = CancellationToken::new();
        let running = tokio::spawn(runner.run(stop.clone()));
        assert_eq!(maps.restored().await, Ok(restored));
        let held = maps.store().get("default/m-1");
        maps.synced().await.unwrap();
        let now = maps.store().get("default/m-1").unwrap();
        assert_eq!(now.types.as_ref().unwrap().kind, "ConfigMap");
        assert_eq!(now.data["data"]["value"], "old");
        if restored {
            assert!(std::sync::Arc::ptr_eq(&held.unwrap(), &now));
        }
        stop.cancel();
        running.await.unwrap().unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn an_informer_works_where_it_cannot_be_saved() {
    let (sim, directory) = (cluster(3), TempDir::new().unwrap());
    let file = directory.path().join("file");
    std::fs::write(&file, "in the way").unwrap();
    let run = Run::synced(builder(source(&sim), &file)).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    let status = run.maps.status().warm_start.unwrap();
    let error = status.save_error.expect("an error");
    assert!(error.starts_with(file.to_str().unwrap()), "{error}");
    assert_eq!((status.saves, run.maps.store().len()), (0, 3));
    run.stop().await;
}

#[tokio::test(start_paused = true)]
async fn an_informer_that_did_not_sync_leaves_its_file() {
    let (sim, directory) = (cluster(3), TempDir::new().unwrap());
    save(&sim, directory.path()).await;
    let file = saved_file(directory.path());
    let saved = std::fs::read(&file).unwrap();
    let down = sim.faults().refuse(ANY, "*", 503).start();
    let run = Run::start(builder(source(&sim), directory.path()));
    assert!(run.maps.restored().await.unwrap());
    run.stop().await;
    down.remove();
    assert_eq!(std::fs::read(&file).unwrap(), saved);
}

#[tokio::test(start_paused = true)]
async fn a_cache_is_saved_after_each_interval_in_which_it_changed() {
    let (sim, directory) = (cluster(3), TempDir::new().unwrap());
    let options = WarmStart::in_directory(directory.path()).interval(Duration::from_secs(60));
    let builder = SharedInformer::<Maps>::builder(source(&sim)).warm_start(options);
    let run = Run::synced(builder.unwrap()).await;
    let saves = || run.maps.status().warm_start.unwrap().saves;
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(saves(), 1, "soon after it has synced");
    put(&sim, "m-1", "new");
    tokio::time::sleep(Duration::from_secs(50)).await;
    assert_eq!(saves(), 1);
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(saves(), 2);
    run.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_cache_whose_version_moves_on_is_saved_hourly() {
    let (sim, directory) = (cluster(3), TempDir::new().unwrap());
    let options = WarmStart::in_directory(directory.path()).interval(Duration::from_secs(1));
    let informer = SharedInformer::<Maps>::builder(source(&sim)).warm_start(options);
    let run = Run::synced(informer.unwrap()).await;
    let saves = || run.maps.status().warm_start.unwrap().saves;
    let minutes = async |numbers: std::ops::Range<u32>| {
        for number in numbers {
            // Another resource moves the version on, which bookmarks show.
            let name = format!("n-{number}");
            let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}});
            sim.store().create(node).unwrap();
            tokio::time::sleep(Duration::from_secs(60)).await;
        }
    };
    minutes(0..10).await;
    assert_eq!(saves(), 1);
    minutes(10..130).await;
    assert!((2..=3).contains(&saves()), "{}", saves());
    put(&sim, "m-1", "new");
    let before = saves();
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(saves(), before + 1);
    run.stop().await;
}

#[tokio::test(start_paused = true)]
async fn saved_secrets_are_removed_when_they_are_not_allowed() {
    let (sim, directory) = (cluster(0), TempDir::new().unwrap());
    let secrets = |options: WarmStart| {
        let client = kube::Client::new(sim.service(), "default");
        let source = ClientSource::new(client, ApiResource::erase::<Secret>(&()), Selection::default());
        SharedInformer::<Packed<Secret>>::builder(source).warm_start(options)
    };
    let options = || WarmStart::in_directory(directory.path());
    let (informer, runner) = secrets(options().allow_secrets()).unwrap().build();
    let stop = CancellationToken::new();
    let running = tokio::spawn(runner.run(stop.clone()));
    informer.synced().await.unwrap();
    stop.cancel();
    running.await.unwrap().unwrap();
    let files = || std::fs::read_dir(directory.path()).unwrap().count();
    assert_eq!(files(), 1);
    assert!(secrets(options()).is_err());
    assert_eq!(files(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_damaged_file_is_not_used() {
    let (sim, directory) = (cluster(3), TempDir::new().unwrap());
    save(&sim, directory.path()).await;
    let file = saved_file(directory.path());
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    let run = Run::synced(builder(source(&sim), directory.path())).await;
    assert_eq!(run.cold(), "it is damaged or incomplete: a checksum is wrong");
    assert_eq!(run.maps.store().len(), 3);
    run.stop().await;
    let run = Run::synced(builder(source(&sim), directory.path())).await;
    assert_eq!(run.restored(), 3, "it was replaced");
    run.stop().await;
}

#[tokio::test(start_paused = true)]
async fn sources_of_ones_own_have_files_of_their_own() {
    let (sim, other, directory) = (cluster(3), cluster(5), TempDir::new().unwrap());
    for restored in [false, true] {
        let client = kube::Client::new(sim.service(), "default");
        let factory = SharedInformerFactory::builder(client)
            .warm_start(WarmStart::in_directory(directory.path()))
            .build();
        let here = factory.informer_with_source::<Maps, _>("here", || source(&sim));
        let there = factory.informer_with_source::<Maps, _>("there", || source(&other));
        factory.start();
        assert_eq!(here.restored().await, Ok(restored));
        assert_eq!(there.restored().await, Ok(restored));
        factory.wait_for_sync(Duration::from_secs(60)).await.unwrap();
        assert_eq!((here.store().len(), there.store().len()), (3, 5));
        factory.shutdown().await.unwrap();
    }
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 2);
}
