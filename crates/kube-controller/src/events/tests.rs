//! The cases of client-go's recorders, on a server that keeps events, and on a paused clock.

use super::*;
use k8s_openapi::api::core::v1::Pod;
use kube::{Client, Resource as _};
use kube_sim::script::{Answer, Received, ScriptedServer};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::sleep;

/// A server of events that answers as a test says.
#[derive(Clone, Default)]
struct Events {
    stored: Arc<Mutex<BTreeMap<String, Value>>>,
    requests: Arc<Mutex<Vec<String>>>,
    /// What is answered instead.
    refusal: Arc<Mutex<Option<Answer>>>,
    /// How long the others take.
    delay: Arc<Mutex<Duration>>,
}

impl Events {
    fn recorder(&self) -> Recorder {
        let this = self.clone();
        let server = ScriptedServer::new().otherwise(move |request| {
            let delay = *this.delay.lock().unwrap();
            this.answer(request).delayed(delay)
        });
        let client = Client::new(server.service(), "default");
        Recorder::new(client, Reporter::from("tests".to_owned()))
    }

    fn answer(&self, request: &Received) -> Answer {
        self.requests.lock().unwrap().push(request.method.to_string());
        if let Some(refusal) = &*self.refusal.lock().unwrap() {
            return refusal.clone();
        }
        let body: Value = serde_json::from_slice(&request.body).unwrap();
        let mut stored = self.stored.lock().unwrap();
        let name = match request.path.rsplit('/').next() {
            Some("events") => body["metadata"]["name"].as_str().unwrap().to_owned(),
            name => name.unwrap().to_owned(),
        };
        match (request.method.as_str(), stored.get_mut(&name)) {
            ("POST", Some(_)) => Answer::status(409, "AlreadyExists", "it exists"),
            ("POST", None) => {
                stored.insert(name, body.clone());
                Answer::json(body.to_string())
            }
            (_, None) => Answer::status(404, "NotFound", "it does not exist"),
            (_, Some(event)) => {
                json_patch::merge(event, &body);
                let metadata = json!({
                    "apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": event["metadata"],
                });
                Answer::json(metadata.to_string())
            }
        }
    }

    fn refuse(&self, answer: Option<Answer>) {
        *self.refusal.lock().unwrap() = answer;
    }

    /// What is stored, without names, in the order of names, which is that of creation.
    fn notes(&self) -> Vec<(String, i64)> {
        let stored = self.stored.lock().unwrap();
        let note = |event: &Value| {
            let note = event["note"].as_str().unwrap_or_default();
            (note.to_owned(), event["series"]["count"].as_i64().unwrap_or(1))
        };
        stored.values().map(note).collect()
    }

    fn requests(&self) -> String {
        std::mem::take(&mut *self.requests.lock().unwrap()).join(" ")
    }
}

fn pod(name: &str) -> ObjectReference {
    let mut pod = Pod::default();
    pod.metadata.name = Some(name.into());
    pod.metadata.namespace = Some("shop".into());
    pod.metadata.uid = Some(format!("uid-{name}"));
    pod.object_ref(&())
}

fn event(reason: &str, note: &str) -> Event {
    Event {
        type_: EventType::Normal,
        reason: reason.into(),
        note: Some(note.into()),
        action: "Testing".into(),
        secondary: None,
    }
}

fn publish(recorder: &Recorder, reason: &str, note: &str) {
    publish_about(recorder, &pod("a"), reason, note);
}

fn publish_about(recorder: &Recorder, regarding: &ObjectReference, reason: &str, note: &str) {
    let event = event(reason, note);
    recorder.record(&event, regarding).expect("a good event");
}

/// Until everything is written that can be.
async fn settle() {
    sleep(Duration::from_millis(1)).await;
}

fn minutes(minutes: u64) -> Duration {
    Duration::from_secs(60 * minutes)
}

#[tokio::test(start_paused = true)]
async fn equal_events_are_a_series() {
    // Case 113.
    let (events, start) = (Events::default(), jiff::Timestamp::now());
    let recorder = events.recorder();
    publish(&recorder, "Pulled", "an image");
    settle().await;
    let stored = events.stored.lock().unwrap().clone();
    let (name, first) = stored.first_key_value().unwrap();
    assert!(name.starts_with("a."), "{name}");
    assert_eq!(first["metadata"]["namespace"], "shop");
    assert_eq!(first["regarding"]["uid"], "uid-a");
    assert_eq!(
        (&first["type"], &first["action"]),
        (&"Normal".into(), &"Testing".into())
    );
    assert_eq!(first["reportingController"], "tests");
    assert_eq!(first["reportingInstance"], "tests");
    assert!(
        first["eventTime"]
            .as_str()
            .unwrap()
            .parse::<jiff::Timestamp>()
            .unwrap()
            >= start
    );
    assert_eq!(first["series"], Value::Null);

    publish(&recorder, "Pulled", "an image");
    settle().await;
    assert_eq!(events.notes(), [("an image".into(), 2)]);
    assert_eq!(events.requests(), "POST PATCH");
}

#[tokio::test(start_paused = true)]
async fn the_tenth_note_is_combined_with_later_ones() {
    // Case 113.
    let events = Events::default();
    let recorder = events.recorder();
    for number in 0..12 {
        publish(&recorder, "Failed", &format!("try {number}"));
        settle().await;
    }
    let mut expected: Vec<_> = (0..9).map(|number| (format!("try {number}"), 1)).collect();
    // The eleventh was written as the first repetition; the twelfth is counted.
    expected.push(("(combined from similar events): try 9".into(), 2));
    assert_eq!(events.notes(), expected);
    publish(&recorder, "Failed", "try 3");
    settle().await;
    assert_eq!(events.notes()[3], ("try 3".into(), 2), "a note that was before");

    sleep(minutes(11)).await;
    publish(&recorder, "Failed", "later");
    settle().await;
    assert_eq!(events.notes().last().unwrap().0, "later");
}

#[tokio::test(start_paused = true)]
async fn a_burst_about_one_object_is_cut_off() {
    // Case 114.
    let events = Events::default();
    let recorder = events.recorder();
    for number in 0..26 {
        publish(&recorder, &format!("Reason{number}"), "");
    }
    publish(&recorder, "Reason0", "");
    publish_about(&recorder, &pod("b"), "Reason0", "");
    settle().await;
    let status = recorder.status();
    assert_eq!((status.spam, status.dropped, status.waiting), (1, 0, 0));
    assert_eq!(events.notes().len(), 26);
    sleep(minutes(5)).await;
    publish(&recorder, "Reason26", "");
    publish(&recorder, "Reason27", "");
    settle().await;
    assert_eq!(recorder.status().spam, 2, "one more in five minutes");
    assert_eq!(events.notes().len(), 27);
}

#[tokio::test(start_paused = true)]
async fn a_write_of_the_object_starts_no_other_series() {
    let events = Events::default();
    let recorder = events.recorder();
    let (mut regarding, mut related) = (pod("a"), pod("b"));
    for version in 1..=3 {
        regarding.resource_version = Some(format!("{version}"));
        related.resource_version = Some(format!("{version}0"));
        let event = Event {
            secondary: Some(related.clone()),
            ..event("Pulled", "an image")
        };
        recorder.publish(&event, &regarding).await.unwrap();
        settle().await;
    }
    assert_eq!(events.notes(), [("an image".into(), 2)], "the third is counted");
    let resource_version = |of: &str| {
        let stored = events.stored.lock().unwrap();
        stored.first_key_value().unwrap().1[of]["resourceVersion"].clone()
    };
    assert_eq!(resource_version("regarding"), "1");
    assert_eq!(resource_version("related"), "10");

    // The spam filter does not tell its containers apart either.
    for number in 0..25 {
        regarding.resource_version = Some(format!("{}", 4 + number));
        regarding.field_path = Some(format!("spec.containers{{c{number}}}"));
        publish_about(&recorder, &regarding, "Pulled", "another image");
    }
    assert_eq!(recorder.status().spam, 1);
}

#[tokio::test(start_paused = true)]
async fn notes_that_are_cut_to_the_same_are_a_series() {
    let events = Events::default();
    let recorder = events.recorder();
    let long = "x".repeat(2000);
    publish(&recorder, "Failed", &format!("{long} 1"));
    publish(&recorder, "Failed", &format!("{long} 2"));
    settle().await;
    assert_eq!(events.notes(), [(format!("{}...", &long[..1021]), 2)]);
}

#[tokio::test(start_paused = true)]
async fn a_full_line_does_not_hold_up_the_end_of_a_series() {
    let events = Events::default();
    let recorder = events.recorder();
    for _ in 0..3 {
        publish(&recorder, "Pulled", "an image");
        settle().await;
    }
    *events.delay.lock().unwrap() = Duration::from_secs(1);
    for number in 0..900 {
        publish_about(&recorder, &pod(&format!("b-{number}")), "Pulled", "");
    }
    assert_eq!(events.notes()[0].1, 2);
    sleep(minutes(13)).await;
    assert!(recorder.status().waiting > 0);
    assert_eq!(events.notes()[0].1, 3);
}

#[tokio::test(start_paused = true)]
async fn what_is_not_answered_is_retried_and_refusals_are_not() {
    // Case 115.
    let events = Events::default();
    let recorder = events.recorder();
    for (number, outage) in [Answer::refused(), Answer::code(503), Answer::code(429)]
        .into_iter()
        .enumerate()
    {
        events.refuse(Some(outage));
        publish(&recorder, "Pulled", &number.to_string());
        sleep(Duration::from_secs(45)).await;
        assert_eq!((events.notes().len(), recorder.status().failed), (number, 0));
        events.refuse(None);
        sleep(Duration::from_secs(10)).await;
        assert_eq!(events.notes().len(), number + 1);
    }
    events.requests();
    events.refuse(Some(Answer::status(403, "Forbidden", "no")));
    publish(&recorder, "Pulled", "refused");
    sleep(minutes(3)).await;
    assert_eq!(events.requests(), "POST");
    assert_eq!(recorder.status().refused, 1);

    events.refuse(Some(Answer::refused()));
    publish(&recorder, "Pulled", "given up");
    sleep(minutes(3)).await;
    assert_eq!(events.requests().split(' ').count(), 12);
    assert_eq!(recorder.status().failed, 1);
}

/// As programs written for kube expect: what they do next comes after the event.
#[tokio::test(start_paused = true)]
async fn publishing_waits_for_an_answer_while_there_are_some() {
    let events = Events::default();
    let recorder = events.recorder();
    *events.delay.lock().unwrap() = Duration::from_secs(2);
    let mut number = 0;
    let mut seconds = async || {
        number += 1;
        let began = tokio::time::Instant::now();
        let event = event("Pulled", &number.to_string());
        recorder.publish(&event, &pod("a")).await.unwrap();
        began.elapsed().as_secs()
    };
    assert_eq!((seconds().await, events.notes().len()), (2, 1));
    events.refuse(Some(Answer::status(403, "Forbidden", "no")));
    assert_eq!(seconds().await, 2, "a refusal is an answer");
    events.refuse(Some(Answer::never()));
    assert_eq!(seconds().await, 30);
    assert_eq!(seconds().await, 0, "it is known not to answer");
    events.refuse(None);
    sleep(minutes(1)).await;
    assert_eq!((seconds().await, events.notes().len()), (2, 4));
    recorder.shutdown(Duration::from_secs(5)).await.unwrap();
    assert_eq!(seconds().await, 0, "it is dropped");
}

#[tokio::test(start_paused = true)]
async fn an_event_that_has_expired_is_created_again() {
    // Case 116.
    let events = Events::default();
    let recorder = events.recorder();
    publish(&recorder, "Pulled", "an image");
    settle().await;
    events.stored.lock().unwrap().clear();
    publish(&recorder, "Pulled", "an image");
    settle().await;
    assert_eq!(events.requests(), "POST PATCH POST");
    assert_eq!(events.notes(), [("an image".into(), 2)]);

    let terminating = json!({
        "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 403, "reason": "Forbidden",
        "message": "it is being terminated", "details": {"causes": [{"reason": "NamespaceTerminating"}]},
    });
    let refusal = Answer::code(403)
        .header("content-type", "application/json")
        .chunk(terminating.to_string());
    events.refuse(Some(refusal));
    publish(&recorder, "Killing", "a container");
    settle().await;
    assert_eq!(
        (events.requests().as_str(), recorder.status().refused),
        ("POST", 1)
    );
}

#[tokio::test(start_paused = true)]
async fn a_series_is_refreshed_and_finished() {
    // Case 117.
    let events = Events::default();
    let recorder = events.recorder();
    for _ in 0..35 {
        publish(&recorder, "Pulled", "an image");
        sleep(minutes(1)).await;
    }
    // The repetition, and what was counted after half an hour.
    assert_eq!(events.requests(), "POST PATCH PATCH");
    let count = events.notes()[0].1;
    assert!((29..=31).contains(&count), "{count}");
    sleep(minutes(13)).await;
    assert_eq!(events.requests(), "PATCH");
    assert_eq!(events.notes(), [("an image".into(), 35)]);
    assert_eq!(recorder.correlator().remembered(), 0);

    publish(&recorder, "Pulled", "an image");
    sleep(minutes(13)).await;
    assert_eq!(events.requests(), "POST", "a new series, of one");
    assert_eq!(recorder.correlator().remembered(), 0);
}

#[tokio::test(start_paused = true)]
async fn stopping_tries_once_more_and_leaves_nothing() {
    // Case 118.
    let events = Events::default();
    let recorder = events.recorder();
    events.refuse(Some(Answer::refused()));
    for number in 0..3 {
        publish(&recorder, "Pulled", &number.to_string());
    }
    sleep(Duration::from_secs(15)).await;
    events.refuse(None);
    recorder.shutdown(Duration::from_secs(5)).await.unwrap();
    assert_eq!(events.notes().len(), 3);
    publish(&recorder, "Pulled", "late");
    settle().await;
    assert_eq!((events.notes().len(), recorder.status().dropped), (3, 1));

    // Without a shutdown, when the last handle is dropped.
    let recorder = events.recorder();
    for _ in 0..4 {
        publish(&recorder, "Killed", "");
    }
    drop(recorder);
    settle().await;
    assert_eq!(events.notes().last().unwrap().1, 4);
    assert_eq!(tokio::runtime::Handle::current().metrics().num_alive_tasks(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_stop_is_bounded_and_says_what_is_lost() {
    let events = Events::default();
    events.refuse(Some(Answer::never()));
    let recorder = events.recorder();
    for number in 0..3 {
        publish(&recorder, "Pulled", &number.to_string());
    }
    settle().await;
    let begin = tokio::time::Instant::now();
    let error = recorder.shutdown(Duration::from_secs(2)).await.unwrap_err();
    assert_eq!(begin.elapsed(), Duration::from_secs(2));
    assert_eq!(error.to_string(), "2 events were not written within 2s");
}

#[tokio::test(start_paused = true)]
async fn a_stop_takes_30_seconds_at_most_whatever_hangs() {
    let (events, silent) = (Events::default(), Some(Answer::never()));
    for counts in [false, true] {
        let recorder = events.recorder();
        events.refuse(None);
        if counts {
            // Three counts that are to be written when their series are over.
            for number in 0..9 {
                publish_about(&recorder, &pod(&format!("a-{}", number % 3)), "Pulled", "");
                settle().await;
            }
            events.refuse(silent.clone());
            sleep(Duration::from_secs(725)).await;
        } else {
            events.refuse(silent.clone());
            for number in 0..3 {
                publish(&recorder, "Pulled", &number.to_string());
            }
            sleep(Duration::from_secs(5)).await;
        }
        let begin = tokio::time::Instant::now();
        recorder.shutdown(Duration::MAX).await.unwrap();
        assert_eq!(begin.elapsed(), Duration::from_secs(30), "counts: {counts}");
        assert_eq!(recorder.status().failed, 3, "counts: {counts}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_full_line_drops_events_and_counts_them() {
    let events = Events::default();
    events.refuse(Some(Answer::never()));
    let recorder = events.recorder();
    let about = |number: usize| pod(&format!("pod-{number}"));
    for number in 0..1100 {
        recorder.record(&event("Pulled", ""), &about(number)).unwrap();
    }
    let status = recorder.status();
    assert_eq!((status.waiting, status.dropped), (1000, 100));
    events.refuse(None);
    sleep(minutes(1)).await;
    // What was dropped is no series that goes on.
    recorder.record(&event("Pulled", ""), &about(1099)).unwrap();
    sleep(minutes(1)).await;
    assert_eq!(events.notes().len(), 1001);
}

#[tokio::test(start_paused = true)]
async fn a_bad_event_is_refused_and_a_long_note_cut() {
    let events = Events::default();
    let recorder = events.recorder();
    let error = recorder.publish(&event("", "note"), &pod("a")).await.unwrap_err();
    let source = std::error::Error::source(&error).unwrap();
    assert_eq!(
        source.to_string(),
        "an event's reason has to have 1 to 128 bytes, not 0"
    );
    publish(&recorder, "Pulled", &"ü".repeat(1000));
    // A name that is none for an event, and no namespace.
    let role = ObjectReference {
        kind: Some("ClusterRole".into()),
        name: Some("system:node".into()),
        ..ObjectReference::default()
    };
    publish_about(&recorder, &role, "Granted", "");
    settle().await;
    let stored = events.stored.lock().unwrap();
    let of = |reason| stored.values().find(|event| event["reason"] == reason).unwrap();
    let note = of("Pulled")["note"].as_str().unwrap();
    assert!(note.len() <= 1024 && note.ends_with("ü..."), "{}", note.len());
    let metadata = &of("Granted")["metadata"];
    assert_eq!(metadata["namespace"], "default");
    assert!(crate::names::is_dns_subdomain(metadata["name"].as_str().unwrap()));
}
