//! Transforms.

use super::*;

/// What is told by name and uid, by a plain handler and by a filtered one, if the objects are changed like this.
async fn told_after(
    transform: impl Fn(Arc<ConfigMap>) -> Arc<ConfigMap> + Send + Sync + 'static,
) -> (Vec<String>, Vec<String>, SharedInformer<ConfigMap>) {
    let script = Script::new([
        ("LIST any 500", List(10, vec![("a", 1)])),
        (
            "WATCH 10",
            Watch(vec![
                After(Duration::from_secs(1)),
                Modified("a", 11),
                After(Duration::from_secs(1)),
                // The deletion was missed.
                Modified("a#2", 12),
                After(Duration::from_secs(1)),
                Deleted("a#2", 13),
            ]),
        ),
    ]);
    let (informer, runner) = SharedInformer::<ConfigMap>::builder(script)
        .transform(move |object| Ok(transform(object)))
        .build();
    let (plain, record) = recorder();
    informer.add_handler("plain", record).unwrap().detach();
    let (filtered, record) = recorder();
    let even = |object: &Arc<ConfigMap>| ConfigMap::resource_version_of(object) != Some("13".into());
    informer
        .add_handler("filtered", record.filtered(even))
        .unwrap()
        .detach();
    tokio::spawn(runner.run(CancellationToken::new()));
    tokio::time::sleep(Duration::from_secs(5)).await;
    let told = [plain, filtered].map(|told| told.lock().unwrap().clone());
    let [plain, filtered] = told;
    (plain, filtered, informer)
}

#[tokio::test(start_paused = true)]
async fn a_transform_that_strips_all_metadata_takes_no_identity() {
    let expected = [
        "Add(ns/a@1, initial)",
        "Update(ns/a@1->11)",
        "Delete(ns/a@11, Missed)",
        "Add(ns/a@12)",
        "Delete(ns/a@13, Event)",
    ];
    let strip = |mut object: Arc<ConfigMap>| {
        Arc::make_mut(&mut object).metadata = Default::default();
        object
    };
    let (plain, filtered, _) = told_after(strip).await;
    assert_eq!(plain, expected);
    assert_eq!(filtered, expected);

    // The same object for all can have no identity.
    let shared = Arc::<ConfigMap>::default();
    let (plain, filtered, informer) = told_after(move |_| shared.clone()).await;
    assert!(plain.is_empty() && filtered.is_empty());
    let status = informer.status().reflector;
    assert!(
        status
            .last_invalid_object
            .unwrap()
            .reason
            .contains("the transform changed its name")
    );
}

#[tokio::test(start_paused = true)]
async fn a_transform_sees_each_object_once_and_may_fail() {
    let script = Script::new([
        ("LIST any 500", List(10, vec![("a", 1), ("b", 2), ("c", 3)])),
        ("WATCH 10", Watch(vec![Modified("a", 11), Deleted("a", 12)])),
    ]);
    let seen = Arc::new(Mutex::new(vec![]));
    let record = seen.clone();
    let (informer, runner) = SharedInformer::<ConfigMap>::builder(script)
        .transform(move |mut object| {
            record
                .lock()
                .unwrap()
                .push(format!("{}", ConfigMap::key_of(&object)));
            match ConfigMap::name_of(&object) {
                "b" => Err(TransformError("not b".into())),
                "c" => panic!("not c either"),
                _ => {
                    let metadata = &mut Arc::make_mut(&mut object).metadata;
                    metadata.namespace = Some("elsewhere".into());
                    metadata.labels = Some([("changed".to_owned(), "yes".to_owned())].into());
                    Ok(object)
                }
            }
        })
        .build();
    let mut changes = informer.subscribe("test").unwrap();
    tokio::spawn(runner.run(CancellationToken::new()));
    let mut told = vec![];
    while let Ok(Some(change)) = tokio::time::timeout(Duration::from_secs(5), changes.next()).await {
        told.push((
            change.key().to_string(),
            ConfigMap::label_of(change.object().unwrap(), "changed") == Some("yes"),
        ));
    }
    assert_eq!(*seen.lock().unwrap(), ["ns/a", "ns/b", "ns/c", "ns/a", "ns/a"]);
    let expected = ("ns/a".to_owned(), true);
    assert_eq!(
        told,
        [&expected; 3].map(Clone::clone),
        "changed, but for the namespace"
    );
    let status = informer.status().reflector;
    assert_eq!(status.invalid_objects, 2);
    assert_eq!(
        status.last_invalid_object.unwrap().to_string(),
        "ns/c: the transform panicked"
    );
}
