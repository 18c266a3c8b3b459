//! Servers that go away and come back: how soon they are found, and how often they are asked.

use super::*;
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, stream};
use kube_informer::source::*;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::sync::{Arc, Mutex};
use tokio::time::Instant;

/// A server that is away from time to time. It forgets its history then, unless it `remembers`.
#[derive(Clone)]
struct Server {
    started: Instant,
    /// When it goes away and when it is back, since it was started.
    outages: Arc<Vec<(Duration, Duration)>>,
    remembers: bool,
    /// When which request came, and whether it was the opening of a watch.
    requests: Arc<Mutex<Vec<(Duration, bool)>>>,
}

impl Server {
    /// How many outages are over; an error in the middle of one.
    fn epoch(&self) -> Result<u64, ApiError> {
        let now = self.started.elapsed();
        let over = self.outages.partition_point(|(_, end)| *end <= now);
        match self.outages.get(over) {
            Some((start, _)) if *start <= now => Err(refused()),
            _ => Ok(over as u64),
        }
    }

    fn came(&self, watching: bool) {
        self.requests
            .lock()
            .unwrap()
            .push((self.started.elapsed(), watching));
    }
}

impl ListerWatcher<ConfigMap> for Server {
    fn resource(&self) -> String {
        "configmaps".into()
    }

    fn list(&self, _: ListRequest) -> BoxFuture<'_, Result<ListStream<ConfigMap>, ApiError>> {
        self.came(false);
        async {
            let end = ListMeta {
                resource_version: Some((self.epoch()? + 1).into()),
                ..Default::default()
            };
            Ok(stream::iter([Ok(ListPart::End(end))]).boxed())
        }
        .boxed()
    }

    fn watch(&self, request: WatchRequest) -> BoxFuture<'_, Result<WatchStream<ConfigMap>, ApiError>> {
        let epoch = self.epoch();
        let from = WatchFrom::Version((epoch.as_ref().copied().unwrap_or_default() + 1).into());
        let opens = epoch.is_ok() && (self.remembers || request.from == from);
        self.came(opens);
        async move {
            let epoch = epoch?;
            if !opens {
                return Err(expired());
            }
            let next = self.outages.get(epoch as usize).copied();
            let started = self.started;
            let breaks = async move {
                match next {
                    Some((start, _)) => tokio::time::sleep_until(started + start).await,
                    None => std::future::pending().await,
                }
                Err(ApiError::Interrupted("the server went away".into()))
            };
            Ok(stream::once(breaks).boxed())
        }
        .boxed()
    }
}

/// What became of an outage.
struct Outcome {
    /// How long after the return there was a watch again.
    found_after: Duration,
    requests: usize,
}

/// The requests that a server gets until so long after its last outage.
async fn run(outages: &[(Duration, Duration)], remembers: bool, after: Duration) -> Vec<(Duration, bool)> {
    let server = Server {
        started: Instant::now(),
        outages: Arc::new(outages.to_vec()),
        remembers,
        requests: Arc::default(),
    };
    let (_informer, runner) = SharedInformer::<ConfigMap>::builder(server.clone()).build();
    let stop = CancellationToken::new();
    let running = tokio::spawn(runner.run(stop.clone()));
    tokio::time::sleep_until(server.started + outages.last().unwrap().1 + after).await;
    stop.cancel();
    running.await.unwrap().unwrap();
    std::mem::take(&mut *server.requests.lock().unwrap())
}

async fn play(outages: &[(Duration, Duration)], remembers: bool) -> Vec<Outcome> {
    let requests = run(outages, remembers, Duration::from_secs(300)).await;
    let outcome = |(start, end): &(Duration, Duration)| {
        let since = &requests[requests.partition_point(|(at, _)| at < start)..];
        let found = since
            .iter()
            .position(|(at, opens)| *opens && at >= end)
            .expect("found");
        Outcome {
            found_after: since[found].0 - *end,
            requests: found + 1,
        }
    };
    outages.iter().map(outcome).collect()
}

/// How many requests client-go makes of an outage, if its pauses have just started over (else fewer).
fn requests_of_client_go(outage: f64, remembers: bool, rng: &mut StdRng) -> usize {
    let (mut at, mut base, mut requests) = (0.0, 0.8, 1);
    while at < outage {
        at += base * (1.0 + rng.random::<f64>());
        base = f64::min(2.0 * base, 30.0);
        requests += 1;
    }
    // A list and another watch follow if the server has forgotten the version.
    if remembers { requests } else { requests + 2 }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_returns_is_found_soon() {
    const OUTAGES: usize = 3000;
    for remembers in [true, false] {
        let mut rng = StdRng::seed_from_u64(7);
        let (mut at, mut outages, mut of_client_go) = (0.0, vec![], 0);
        for _ in 0..OUTAGES {
            at += rng.random_range(12.0..60.0);
            let outage = rng.random_range(0.1..10.0);
            let [start, end] = [at, at + outage].map(Duration::from_secs_f64);
            outages.push((start, end));
            of_client_go += requests_of_client_go(outage, remembers, &mut rng);
            at += outage;
        }
        let outcomes = play(&outages, remembers).await;
        let mut found: Vec<_> = outcomes
            .iter()
            .map(|outcome| outcome.found_after.as_millis())
            .collect();
        found.sort();
        let (median, worst) = (found[OUTAGES / 2], found[OUTAGES - 1]);
        assert!(
            median <= 2000 && worst <= 5001,
            "median {median} ms, worst {worst} ms"
        );
        let requests: usize = outcomes.iter().map(|outcome| outcome.requests).sum();
        assert!(requests <= of_client_go, "{requests}, client-go {of_client_go}");
    }
}

/// A watch that brings nothing for so many seconds.
fn silent(seconds: u64) -> Answer {
    Watch(vec![After(Duration::from_secs(seconds))])
}

/// client-go waits for events that are newer than what it has seen: what the restored server has, and what changes there until it has come
/// that far, it never learns.
#[tokio::test(start_paused = true)]
async fn a_server_that_comes_back_with_an_older_state_is_noticed() {
    let slow_down = || Error(status(429, "storage is initializing"));
    let outages = [
        // It was away.
        vec![("WATCH 10", Error(refused())), ("WATCH 10", silent(500))],
        vec![("WATCH 10", slow_down()), ("WATCH 10", silent(500))],
        // It came back before anybody noticed. It had sent bookmarks. Its watches are shorter than it takes to ask.
        vec![
            ("WATCH 10", Watch(vec![Bookmark(10), Close])),
            ("WATCH 10", Watch(vec![After(Duration::from_secs(50)), Close])),
            ("WATCH 10", silent(500)),
        ],
        // It does not answer at first.
        vec![
            ("WATCH 10", Error(refused())),
            ("WATCH 10", silent(500)),
            ("LIST newest 1", slow_down()),
            ("LIST newest 1", Hang),
        ],
    ];
    for before in outages {
        let first = [("LIST any 500", List(10, vec![("a", 7), ("b", 8)]))];
        let restored = [
            ("LIST newest 1", List(9, vec![("b", 8)])),
            ("LIST newest 500", List(9, vec![("b", 8), ("c", 9)])),
            ("WATCH 9", Watch(vec![Modified("c", 11)])),
        ];
        let mut scene = Scene::start(first.into_iter().chain(before).chain(restored));
        let told = scene.after(Duration::from_secs(300)).await.join("; ");
        for change in ["Delete(ns/a", "Add(ns/c@9)", "Update(ns/c@9->11)"] {
            assert_eq!(told.matches(change).count(), 1, "{told}");
        }
        let error = scene.informer.status().reflector.last_error.unwrap();
        assert_eq!(error.class, ErrorClass::VersionRegressed);
        assert!(scene.script.is_over());
        scene.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_silent_server_is_asked_for_its_version_once_in_a_watch() {
    let mut scene = Scene::start([
        ("LIST any 500", List(10, vec![("a", 1)])),
        ("WATCH 10", Error(refused())),
        ("WATCH 10", silent(5000)),
        ("LIST newest 1", List(11, vec![("a", 1)])),
    ]);
    scene.after(Duration::from_secs(4000)).await;
    assert_eq!(scene.script.requests().len(), 4);
    let pauses = scene.script.pauses();
    assert!((75_000..=90_000).contains(&pauses[2]), "{pauses:?}");
    scene.stop().await;
    // An event that comes while the server is asked is an answer, too.
    let late = Watch(vec![After(Duration::from_secs(92)), Modified("a", 12)]);
    let scene = Scene::start([
        ("LIST any 500", List(10, vec![("a", 1)])),
        ("WATCH 10", Error(refused())),
        ("WATCH 10", late),
        ("LIST newest 1", Hang),
    ]);
    let scene = scene.plays(&["Add(ns/a@1, initial)", "Update(ns/a@1->12)"]).await;
    let requests = scene.script.requests().len();
    assert!((4..=5).contains(&requests), "{requests}");
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_silent_server_that_gives_no_answer_is_asked_again() {
    let mut scene = Scene::start([
        ("LIST any 500", List(10, vec![("a", 1)])),
        ("WATCH 10", Error(refused())),
        ("WATCH 10", silent(5000)),
        ("LIST newest 1", Hang),
        ("LIST newest 1", Error(refused())),
        ("LIST newest 1", Hang),
        ("LIST newest 1", Hang),
        ("LIST newest 1", List(11, vec![("a", 1)])),
    ]);
    scene.after(Duration::from_secs(200)).await;
    let status = scene.informer.status().reflector;
    assert!((2..=3).contains(&status.failures), "{status:?}");
    scene.after(Duration::from_secs(2000)).await;
    assert!(scene.script.is_over());
    assert_eq!(scene.informer.status().reflector.failures, 0);
    // Each waits for an answer for 5 s first.
    assert_eq!(scene.script.pauses()[3..], [35_000, 60_000, 65_000, 65_000]);
    scene.stop().await;
}

/// It may be one whose lists do not have the version of the collection.
#[tokio::test(start_paused = true)]
async fn a_server_that_had_not_gone_back_is_asked_less_and_less() {
    let round = || {
        [
            (
                "WATCH 10",
                Watch(vec![Bookmark(10), After(Duration::from_secs(1)), Close]),
            ),
            ("WATCH 10", silent(5000)),
            ("LIST newest 1", List(7, vec![("a", 1)])),
            ("LIST newest 500", List(10, vec![("a", 1)])),
        ]
    };
    let script = [("LIST any 500", List(10, vec![("a", 1)]))];
    let script = script.into_iter().chain(round()).chain(round()).chain(round());
    let mut scene = Scene::start(script.chain([("WATCH 10", silent(5000))]));
    scene.after(Duration::from_secs(4000)).await;
    assert!(scene.script.is_over());
    let pauses = scene.script.pauses();
    for (at, seconds) in [(2, 75), (6, 300), (10, 1200)] {
        let range = 1000 * seconds..=1200 * seconds;
        assert!(range.contains(&pauses[at]), "{pauses:?}");
    }
    scene.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_shows_its_version_is_not_asked_for_it() {
    let shows = |event| {
        Watch(vec![
            After(Duration::from_secs(70)),
            event,
            After(Duration::from_secs(5000)),
        ])
    };
    let refused = || ("WATCH 10", Error(refused()));
    for rest in [
        vec![refused(), ("WATCH 10", shows(Modified("a", 11)))],
        vec![refused(), ("WATCH 10", shows(Bookmark(11)))],
        // A list shows it, too.
        vec![
            refused(),
            ("WATCH 10", Error(expired())),
            ("LIST 10 all", List(12, vec![("a", 1)])),
            ("WATCH 12", silent(5000)),
        ],
        // This one was never away, and sends no bookmarks.
        vec![("WATCH 10", silent(5000))],
    ] {
        let first = ("LIST any 500", List(10, vec![("a", 1)]));
        let requests = 1 + rest.len();
        let mut scene = Scene::start([first].into_iter().chain(rest));
        scene.after(Duration::from_secs(4000)).await;
        assert_eq!(scene.script.requests().len(), requests);
        scene.stop().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_flaps_is_asked_less_and_less() {
    for up in [0.5, 2.0, 4.5] {
        let times = (0..120).map(|n| f64::from(n) * (up + 3.0) + 60.0);
        let outages = times.map(|at| [at, at + 3.0].map(Duration::from_secs_f64).into());
        let outages: Vec<(Duration, Duration)> = outages.collect();
        let (start, end) = (outages[0].0, outages[119].1);
        let seconds = (end - start).as_secs() as usize;
        let requests = run(&outages, false, Duration::ZERO).await;
        let requests = requests.iter().filter(|(at, _)| *at >= start).count();
        // Four requests for a pause of half a minute or more, and some until the pauses are that long.
        assert!(
            requests <= 25 + 4 * seconds / 30,
            "{requests} requests in {seconds} s of {up} s up, 3 s down"
        );
    }
}
