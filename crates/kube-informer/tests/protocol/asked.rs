//! Pauses that the server asks for, and versions that it does not have.

use super::*;

#[tokio::test(start_paused = true)]
async fn retry_after_may_be_seconds_a_date_or_in_the_status() {
    let in_seconds = || Answer::status(429, "TooManyRequests", "slow down").header("retry-after", "100");
    let as_date = || {
        let date = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(100));
        Answer::status(503, "ServiceUnavailable", "slow down").header("retry-after", &date)
    };
    let in_status = || {
        let mut status = status(429, "TooManyRequests", "slow down");
        status["details"] = json!({"retryAfterSeconds": 100});
        Answer::status_body(429, &status)
    };
    let without_body = || Answer::code(429).header("retry-after", "100");
    for answer in [
        &in_seconds as &dyn Fn() -> Answer,
        &as_date,
        &in_status,
        &without_body,
    ] {
        let scene = Scene::lists([
            (request(ANY), answer()),
            (request(ANY), listed(10, "")),
            (watch(10), watched("")),
        ]);
        let scene = scene.plays("").await;
        // A date has no fractions of a second.
        assert!(
            (98_000..=100_001).contains(&scene.pauses()[0]),
            "{:?}",
            scene.pauses()
        );
        scene.stop().await;
    }
    for answer in [&in_seconds as &dyn Fn() -> Answer, &in_status] {
        let scene = Scene::lists([
            (request(ANY), listed(10, "")),
            (watch(10), answer()),
            (watch(10), watched("")),
        ]);
        let scene = scene.plays("").await;
        assert_eq!(scene.pauses(), [0, 100_000]);
        scene.stop().await;
    }
    let scene = Scene::streams([(stream(None), in_seconds()), (stream(None), watched("|10"))]);
    assert_eq!(scene.plays("").await.pauses(), [100_000]);
}

#[tokio::test(start_paused = true)]
async fn no_server_can_ask_for_more_than_five_minutes() {
    let by_header = |seconds: u64| {
        Answer::status(429, "TooManyRequests", "slow down").header("retry-after", &seconds.to_string())
    };
    let said = |seconds: u64| {
        let mut status = status(429, "TooManyRequests", "slow down");
        status["details"] = json!({"retryAfterSeconds": seconds});
        status
    };
    for seconds in [301, 1_000_000_000_000, u64::MAX] {
        let lists = Scene::lists([
            (request(ANY), by_header(seconds)),
            (request(ANY), Answer::status_body(429, &said(seconds))),
            (request(ANY), listed(10, "")),
            (watch(10), by_header(seconds)),
            (watch(10), Answer::watch([event("ERROR", &said(seconds))])),
            (watch(10), watched("")),
        ]);
        waits_less(lists, seconds, &[300_000, 300_000, 0, 300_000, 300_000]).await;
        let streams = Scene::streams([
            (stream(None), by_header(seconds)),
            (stream(None), Answer::watch([event("ERROR", &said(seconds))])),
            (stream(None), watched("|10")),
        ]);
        waits_less(streams, seconds, &[300_000, 300_000]).await;
    }
}

/// Plays a script of which each refusal asks for a pause of so many seconds.
async fn waits_less(mut scene: Scene, seconds: u64, pauses: &[u128]) {
    let time = pauses.iter().sum::<u128>() as u64 + 50_000;
    scene.after(Duration::from_millis(time)).await;
    scene.server.assert_finished();
    assert_eq!(scene.pauses(), pauses);
    let text = format!("(it asks for a pause of {seconds} s, which is cut to 300 s)");
    let error = scene.last_error();
    assert!(error.message.ends_with(&text), "{error:?}");
    scene.stop().await;
}

/// The three forms in which servers say that they have not reached a version.
fn too_large() -> [Value; 3] {
    let mut by_cause = status(504, "Timeout", "Timeout");
    by_cause["details"] =
        json!({"causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}]});
    let mut by_message_of_cause = status(504, "Timeout", "Timeout");
    by_message_of_cause["details"] = json!({"causes": [{"message": "Too large resource version"}]});
    let by_message = status(
        504,
        "Timeout",
        "Timeout: Too large resource version: 10, current: 5",
    );
    [by_cause, by_message_of_cause, by_message]
}

#[tokio::test(start_paused = true)]
async fn a_version_in_the_servers_future_leads_to_the_newest_state() {
    for status in too_large() {
        let refusal = || Answer::status_body(504, &status);
        let scene = Scene::lists([
            (request(ANY), listed(10, "a@1")),
            (watch(10), Answer::watch([expired_event()])),
            (list_at(10), refusal()),
            (request(NEWEST), listed(5, "a@1")),
            (watch(5), refusal()),
            // What a watch says counts too.
            (request(NEWEST), listed(6, "a@1")),
            (watch(6), watched("").chunk(event("ERROR", &status))),
            (request(NEWEST), listed(7, "a@1")),
            (watch(7), watched("")),
        ]);
        let scene = scene.plays("Add(ns/a@1, initial)").await;
        assert_eq!(scene.pauses()[2], 0, "at once");
        scene.stop().await;
        let scene = Scene::streams([
            (stream(None), watched("+a@1 |10").chunk(expired_event())),
            (stream(Some(10)), refusal()),
            (stream(None), watched("+a@1 |5")),
        ]);
        let scene = scene.plays("Add(ns/a@1, initial)").await;
        assert_eq!(scene.last_error().class, ErrorClass::VersionRegressed);
        assert_eq!(scene.pauses()[1], 0, "at once");
        scene.stop().await;
    }
}
