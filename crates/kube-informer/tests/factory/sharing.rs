//! Which requests get the same informer, and what it selects.

use super::*;

#[tokio::test(start_paused = true)]
async fn what_is_selected_differently_is_never_shared() {
    let cluster = Cluster::new();
    let factory = cluster.factory().build();
    let strip = |mut config: Arc<ConfigMap>| {
        Arc::make_mut(&mut config).metadata.annotations = None;
        Ok(config)
    };
    let (slim, other) = (Transform::new(strip), Transform::new(strip));
    let tenants = NamespaceSet::new(["x"]);
    let plain = InformerRequest::<ConfigMap>::new;
    let different = [
        plain(),
        plain().namespaces(["x"]),
        plain().namespaces(["y"]),
        plain().namespaces(["x", "y"]),
        plain().namespaces(&tenants),
        plain().namespaces(NamespaceSet::new(["x"])),
        plain().label_selector("parity=odd"),
        plain().field_selector("metadata.name=a"),
        plain()
            .label_selector("parity=odd")
            .field_selector("metadata.name=a"),
        plain().transform(&slim),
        plain().transform(&other),
        plain().plan(FieldPlan::without_managed_fields()),
    ];
    let informers: Vec<_> = different
        .iter()
        .map(|request| factory.informer_with(request.clone()))
        .collect();
    for (i, a) in informers.iter().enumerate() {
        for (j, b) in informers.iter().enumerate() {
            assert_eq!(same(a, b), i == j, "{:?} and {:?}", different[i], different[j]);
        }
    }
    let alike = [
        (plain().resync(GRACE), 0),
        (
            plain()
                .namespaces(Namespaces::All)
                .label_selector("")
                .selection(Selection::default()),
            0,
        ),
        (
            plain().selection(Selection {
                namespace: Some("x".into()),
                ..Selection::default()
            }),
            1,
        ),
        (plain().namespaces(vec!["y", "x", "y"]), 3),
        (plain().namespaces(tenants.clone()), 4),
        (plain().plan(FieldPlan::default()), 0),
    ];
    for (request, like) in alike {
        assert!(
            same(&informers[like], &factory.informer_with(request.clone())),
            "{request:?}"
        );
    }
    let metadata = factory.metadata_informer::<ConfigMap>();
    assert!(same(
        &metadata,
        &factory.informer_with(InformerRequest::<PartialObjectMeta<ConfigMap>>::new())
    ));
    let dynamic = factory
        .informer_for_resource::<DynamicObject>(ApiResource::erase::<ConfigMap>(&()), Selection::default());

    factory.start();
    factory.wait_for_sync(GRACE).await.unwrap();
    let sizes: Vec<_> = informers.iter().map(|informer| informer.store().len()).collect();
    assert_eq!(sizes, [2, 1, 1, 2, 1, 1, 2, 2, 2, 2, 2, 2]);
    assert_eq!((metadata.store().len(), dynamic.store().len()), (2, 2));
    let noted = |informer: &SharedInformer<ConfigMap>| {
        informer
            .store()
            .get("x/a")
            .unwrap()
            .metadata
            .annotations
            .is_some()
    };
    assert!(noted(&informers[0]) && !noted(&informers[9]));
    factory.shutdown().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn informers_of_all_kinds_follow_one_set_of_namespaces() {
    let cluster = Cluster::new();
    let tenants = NamespaceSet::new(["x"]);
    let factory = cluster.factory().namespaces(&tenants).build();
    let (configs, secrets, nodes) = (
        factory.informer::<ConfigMap>(),
        factory.informer::<Secret>(),
        factory.informer::<Node>(),
    );
    let mut changes = configs.subscribe("test").unwrap();
    factory.start();
    factory.wait_for_sync(GRACE).await.unwrap();
    let namespaces = |status: kube_informer::informer::InformerStatus| {
        status
            .partitions
            .into_iter()
            .map(|part| part.namespace)
            .collect::<Vec<_>>()
    };
    assert_eq!(namespaces(nodes.status()), [None], "nodes have no namespace");
    assert_eq!(namespaces(secrets.status()), [Some("x".to_owned())]);

    tenants.add("y");
    factory.wait_for_sync(GRACE).await.unwrap();
    assert_eq!(namespaces(secrets.status()).len(), 2);
    assert_eq!(configs.lister().namespace("y").list().len(), 1);
    tenants.remove("x");
    let mut told = vec![];
    while let Ok(Some(change)) = tokio::time::timeout(Duration::from_secs(1), changes.next()).await {
        let version = change
            .object()
            .unwrap()
            .metadata
            .resource_version
            .clone()
            .unwrap();
        told.push(format!("{change:?}").replace(&format!("@{version}"), ""));
    }
    assert_eq!(told, ["Add(x/a, initial)", "Add(y/a)", "Delete(x/a, Unselected)"]);
    assert_eq!(configs.lister().list().len(), 1);
    factory.shutdown().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_empty_namespace_is_all_namespaces() {
    let cluster = Cluster::new();
    let empty = || Selection {
        namespace: Some(String::new()),
        ..Selection::default()
    };
    let factories = [
        cluster.factory().selection(empty()).build(),
        cluster.factory().namespaces(["x", ""]).build(),
        cluster
            .factory()
            .namespaces(Namespaces::Fixed([String::new()].into()))
            .build(),
        cluster.factory().namespaces(NamespaceSet::new(["x", ""])).build(),
    ];
    for factory in factories {
        let configs = factory.informer::<ConfigMap>();
        factory.start();
        factory.wait_for_sync(GRACE).await.unwrap();
        let lister = configs.lister();
        assert_eq!((lister.list().len(), lister.namespace("").list().len()), (2, 2));
        assert_eq!(
            lister
                .namespace("")
                .select(&LabelSelector::parse("parity").unwrap())
                .len(),
            2
        );
        factory.shutdown().await.unwrap();
    }
    let factory = cluster.factory().namespaces(["x"]).build();
    let request = InformerRequest::<ConfigMap>::new;
    let all = factory.informer_with(request().namespaces(Namespaces::All));
    assert!(same(&all, &factory.informer_with(request().namespaces([""]))));
    assert!(same(&all, &factory.informer_with(request().selection(empty()))));
    let resource = ApiResource::erase::<ConfigMap>(&());
    assert!(same(&all, &factory.informer_for_resource(resource, empty())));
    let asked = cluster.requests.lock().unwrap();
    assert!(
        asked.iter().all(|uri| uri.starts_with("/api/v1/configmaps")),
        "{asked:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn kinds_without_namespaces_ignore_which_are_selected() {
    let cluster = Cluster::new();
    let node = json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-1"}});
    cluster.sim.store().create(node).unwrap();
    let factory = cluster.factory().namespaces(["x"]).build();
    let nodes = || ApiResource::erase::<Node>(&());
    #[cfg(feature = "packed")]
    type HeldNode = kube_informer::form::Packed<Node>;
    #[cfg(not(feature = "packed"))]
    type HeldNode = Node;
    let held = factory.informer_with(InformerRequest::<HeldNode>::of(nodes()));
    let metadata = factory.metadata_informer_for_resource::<Node>(nodes(), Selection::default());
    factory.start();
    factory.wait_for_sync(GRACE).await.unwrap();
    assert_eq!((held.store().len(), metadata.store().len()), (1, 1));

    let kinds = kube::Discovery::new(cluster.client.clone())
        .run_aggregated()
        .await
        .unwrap();
    let kinds: Vec<_> = kinds
        .groups()
        .flat_map(|group| group.resources_by_stability())
        .collect();
    assert!(kinds.len() > 50);
    let covers_all = |request: InformerRequest<DynamicObject>| {
        let informer = factory.informer_with(request.label_selector("never=started"));
        informer.partition(Some("unselected")).is_some()
    };
    let watched = |capabilities: &ApiCapabilities| capabilities.supports_operation(verbs::WATCH);
    for (resource, capabilities) in kinds.into_iter().filter(|(_, kind)| watched(kind)) {
        let is_cluster = capabilities.scope == Scope::Cluster;
        assert_eq!(
            covers_all(InformerRequest::of(resource.clone())),
            is_cluster,
            "{}",
            resource.plural
        );
        let custom = ApiResource {
            group: "example.com".into(),
            ..resource
        };
        assert!(!covers_all(InformerRequest::of(custom.clone())));
        assert_eq!(
            covers_all(InformerRequest::of(custom).scope(capabilities.scope)),
            is_cluster
        );
    }
}

#[tokio::test(start_paused = true)]
async fn an_invalid_namespace_is_reported_and_never_asked_for() {
    let cluster = Cluster::new();
    for name in ["a?x=1", "a#b", "..", "a/../b", "A", "a.b", "a%2e", "-"] {
        let selection = Selection {
            namespace: Some(name.into()),
            ..Selection::default()
        };
        let factories = [
            cluster.factory().selection(selection).build(),
            cluster.factory().namespaces([name]).build(),
            cluster.factory().namespaces(NamespaceSet::new([name])).build(),
        ];
        for factory in factories {
            let configs = factory.informer::<ConfigMap>();
            factory.start();
            let error = factory.wait_for_sync(GRACE).await.unwrap_err().to_string();
            assert!(
                error.contains(&format!("invalid namespace {name:?}: expected a DNS label")),
                "{error}"
            );
            let reflector = configs.status().reflector;
            let class = reflector.last_error.unwrap().class;
            assert!(class == ErrorClass::Invalid && !class.is_retryable());
            assert!(reflector.failures < 10, "with pauses: {}", reflector.failures);
            factory.shutdown().await.unwrap();
        }
    }
    assert_eq!(cluster.requests(), 0);
    let resource = ApiResource {
        plural: "pods/../secrets".into(),
        ..ApiResource::erase::<Secret>(&())
    };
    let factory = cluster.factory().build();
    let _informer = factory.informer_for_resource::<DynamicObject>(resource, Selection::default());
    factory.start();
    let error = factory.wait_for_sync(GRACE).await.unwrap_err().to_string();
    assert!(error.contains("invalid plural name of a resource"), "{error}");
    assert_eq!(cluster.requests(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_resync_belongs_to_the_request_and_makes_no_other_informer() {
    let cluster = Cluster::new();
    let factory = cluster.factory().build();
    factory.start();
    let counter = |informer: &SharedInformer<ConfigMap>, options: HandlerOptions| {
        let count = Arc::new(Mutex::new(0));
        let updates = count.clone();
        let handler = move |change: Notification<ConfigMap>| {
            *updates.lock().unwrap() += usize::from(matches!(change, Notification::Update { .. }));
        };
        informer.add_handler(options, handler).unwrap().detach();
        count
    };
    let never = factory.informer::<ConfigMap>();
    let quiet = counter(&never, "quiet".into());
    never.synced().await.unwrap();
    // It runs already, and looked for no resync so far.
    let often = factory.informer_with(InformerRequest::<ConfigMap>::new().resync(Duration::from_secs(10)));
    let rarely = factory.informer_with(InformerRequest::<ConfigMap>::new().resync(Duration::from_secs(30)));
    assert!(same(&never, &often) && same(&never, &rarely));
    let (often, rarely, own) = (
        counter(&often, "often".into()),
        counter(&rarely, "rarely".into()),
        counter(
            &often,
            HandlerOptions::named("own").resync(Duration::from_secs(60)),
        ),
    );
    tokio::time::sleep(Duration::from_secs(61)).await;
    let count = |count: &Mutex<usize>| *count.lock().unwrap();
    assert_eq!(
        (count(&quiet), count(&often), count(&rarely), count(&own)),
        (0, 12, 4, 2)
    );
    factory.shutdown().await.unwrap();
}

/// The names of nodes, and nothing else.
#[derive(Debug, serde::Deserialize, kube_informer::CachedObject)]
#[object(resource = Node)]
struct NodeName {
    metadata: kube_informer::form::Metadata,
}

fn node(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}})
}

#[tokio::test(start_paused = true)]
async fn the_resource_and_its_scope_come_from_the_form() {
    let cluster = Cluster::new();
    cluster.sim.store().create(node("node-1")).unwrap();
    // Namespaces play no part for nodes.
    let factory = cluster.factory().namespaces(["x"]).build();
    let views = factory.informer::<NodeName>();
    assert!(same(&views, &factory.informer_with(InformerRequest::new())));
    let metadata = factory.informer::<PartialObjectMeta<Node>>();
    assert!(same(&metadata, &factory.metadata_informer::<Node>()));
    factory.start();
    factory.wait_for_sync(Duration::from_secs(5)).await.unwrap();
    assert_eq!(views.store().list()[0].metadata.name, "node-1");
    assert_eq!((views.store().len(), metadata.store().len()), (1, 1));
    factory.shutdown().await.unwrap();
}

#[cfg(feature = "packed")]
#[tokio::test(start_paused = true)]
async fn packed_objects_are_asked_for_like_typed_ones() {
    use kube_informer::form::Packed;
    let cluster = Cluster::new();
    cluster.sim.store().create(node("node-1")).unwrap();
    let factory = cluster.factory().namespaces(["x"]).build();
    let nodes = factory.informer::<Packed<Node>>();
    let configs =
        factory.informer_with(InformerRequest::<Packed<ConfigMap>>::new().label_selector("parity=odd"));
    factory.start();
    factory.wait_for_sync(Duration::from_secs(5)).await.unwrap();
    assert_eq!(nodes.store().list()[0].key().as_str(), "node-1");
    assert_eq!(configs.store().len(), 1, "those in x only");
    factory.shutdown().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_informer_over_a_source_of_ones_own_is_shared_by_name() {
    let (cluster, other) = (Cluster::new(), Cluster::new());
    other.sim.store().create(config_map("y", "b", "even")).unwrap();
    let factory = cluster.factory().namespaces(["x"]).build();
    let source = || {
        let resource = ApiResource::erase::<ConfigMap>(&());
        // Whoever makes a source may use the factory.
        factory.informer::<Secret>();
        ClientSource::new(other.client.clone(), resource, Selection::default())
    };
    let ours = factory.informer::<ConfigMap>();
    let others = factory.informer_with_source::<ConfigMap, _>("other", source);
    assert!(same(
        &others,
        &factory.informer_with_source::<ConfigMap, _>("other", source)
    ));
    assert!(!same(
        &others,
        &factory.informer_with_source::<ConfigMap, _>("third", source)
    ));
    assert!(!same(&others, &ours));
    factory.start();
    factory.wait_for_sync(Duration::from_secs(5)).await.unwrap();
    assert_eq!((ours.store().len(), others.store().len()), (1, 3));
    assert_eq!(other.watches(), 2, "the third runs for its grace period");
    drop(others);
    tokio::time::sleep(GRACE + MOMENT).await;
    assert_eq!(other.watches(), 0);
    factory.shutdown().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn metadata_is_held_without_managed_fields_unless_a_plan_says_otherwise() {
    let cluster = Cluster::new();
    let object = serde_json::from_value(config_map("x", "managed", "odd")).unwrap();
    let maps = kube::Api::<ConfigMap>::namespaced(cluster.client.clone(), "x");
    let created = maps.create(&Default::default(), &object).await.unwrap();
    assert!(created.metadata.managed_fields.is_some());

    type Metadata = PartialObjectMeta<ConfigMap>;
    let managed = |informer: &SharedInformer<Metadata>| {
        let held = informer.store().get("x/managed").unwrap();
        assert!(held.metadata.creation_timestamp.is_some());
        held.metadata.managed_fields.is_some()
    };
    let whole = ReflectorOptions {
        plan: Some(FieldPlan::default()),
        ..Default::default()
    };
    let factories = [
        (cluster.factory().build(), [false, false, true, false, false]),
        // The plan of a factory replaces those of the forms.
        (
            cluster.factory().reflector_options(whole).build(),
            [true, true, true, false, true],
        ),
    ];
    for (factory, expected) in factories {
        let request = InformerRequest::<Metadata>::new;
        // It asks for whole objects, and holds their metadata.
        let unreduced = ClientSource::new(
            cluster.client.clone(),
            ApiResource::erase::<ConfigMap>(&()),
            Selection::default(),
        );
        let informers = [
            factory.metadata_informer::<ConfigMap>(),
            factory.metadata_informer_for_resource(
                ApiResource::erase::<ConfigMap>(&()),
                Selection {
                    label_selector: Some("parity=odd".into()),
                    ..Default::default()
                },
            ),
            factory.informer_with(request().plan(FieldPlan::default())),
            factory.informer_with(request().plan(FieldPlan::without_managed_fields())),
            factory.informer_with_source("unreduced", || unreduced),
        ];
        factory.start();
        factory.wait_for_sync(GRACE).await.unwrap();
        assert_eq!(informers.each_ref().map(managed), expected);
        factory.shutdown().await.unwrap();
    }
}
