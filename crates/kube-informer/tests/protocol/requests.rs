//! The requests.

use super::*;

#[tokio::test(start_paused = true)]
async fn requests_have_exactly_these_shapes() {
    let scene = Scene::streams([
        (stream(None), Answer::watch(frames("+a@1 |10 +b@11")).close()),
        (watch(11), Answer::watch([expired_event()])),
        (stream(Some(11)), Answer::status(422, "Invalid", "no")),
        (list_at(11), listed(12, "a@1 b@11")),
        (watch(12), watched("")),
    ]);
    let scene = scene.plays("Add(ns/a@1, initial); Add(ns/b@11)").await;
    let timeouts: Vec<u64> = scene
        .server
        .requests()
        .iter()
        .filter_map(|request| request.parameter("timeoutSeconds")?.parse().ok())
        .collect();
    assert_eq!(timeouts.len(), 4);
    assert!(
        timeouts.windows(2).any(|pair| pair[0] != pair[1]),
        "random: {timeouts:?}"
    );
    assert!(
        scene
            .server
            .requests()
            .iter()
            .all(|request| request.body.is_empty())
    );
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_selection_is_part_of_every_request() {
    let path = "/apis/example.com/v1/namespaces/shop/widgets";
    let chosen = "labelSelector=app in (web,db)&fieldSelector=metadata.name!=x";
    let widgets = Kind::new("example.com/v1", "Widget");
    let widget = widgets.object("shop/w", "5");
    let server = ScriptedServer::new()
        .expect(
            format!("GET {path}?{chosen}&limit=500&resourceVersion=0"),
            Answer::json(widgets.page("9", [&widget], "t")),
        )
        .expect(
            format!("GET {path}?{chosen}&limit=500&continue=t"),
            Answer::json(widgets.list("9", [(); 0])),
        )
        .expect(
            format!("GET {path}?{chosen}&{WATCH}&resourceVersion=9"),
            Answer::watch([""; 0]),
        );
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk("example.com", "v1", "Widget"));
    let selection = Selection {
        namespace: Some("shop".into()),
        label_selector: Some("app in (web,db)".into()),
        field_selector: Some("metadata.name!=x".into()),
        shards: None,
    };
    let scene: Scene<DynamicObject> = Scene::of(server, resource, selection, InitialState::List);
    scene.plays("Add(shop/w@5, initial)").await.stop().await;
}

#[tokio::test(start_paused = true)]
async fn the_remaining_items_are_shown_while_a_list_is_read() {
    let metadata = json!({"resourceVersion": "10", "continue": "t", "remainingItemCount": 7});
    let mut scene = Scene::lists([
        (
            request(ANY),
            Answer::json(maps().list_of(&metadata, objects("a@1"))),
        ),
        (request("limit=500&continue=t"), Answer::never()),
    ]);
    scene.after(Duration::from_secs(1)).await;
    let phase = scene.informer.status().reflector.phase;
    assert!(
        matches!(
            phase,
            Phase::Listing {
                remaining: Some(7),
                ..
            }
        ),
        "{phase:?}"
    );
    scene.stop().await;
}
