//! How failures are found, made small, shown and repeated.

use std::time::Duration;

use k8s_openapi::api::core::v1::{ConfigMap, Service};
use kube::Client;
use kube::api::{ListParams, PostParams};
use kube_sim::simulation::{Broken, FaultKind, Schedule, Simulation};
use tokio::time::sleep;

use crate::objects::{creates_a_service, generated, map, maps, named, services};

/// Creates a child for each service that has none in the newest state: twice, if the answer is lost.
fn creates_again() -> Simulation {
    async fn pass(client: &Client) -> kube::Result<()> {
        let children = maps(client).list(&ListParams::default()).await?;
        for service in services(client).list(&ListParams::default()).await? {
            if children.items.is_empty() {
                let prefix = service.metadata.name.unwrap_or_default();
                while maps(client)
                    .create(&PostParams::default(), &map(generated(&prefix)))
                    .await
                    .is_err()
                {
                    sleep(Duration::from_secs(1)).await;
                }
            }
        }
        Ok(())
    }
    Simulation::new(|client| async move {
        loop {
            let _ = pass(&client).await;
            sleep(Duration::from_secs(5)).await;
        }
    })
    .workload(creates_a_service)
    .always("one child", |cluster| cluster.list::<ConfigMap>().len() <= 1)
}

#[test]
fn a_failure_is_small_shows_its_trace_and_can_be_repeated() {
    let simulation = creates_again();
    let failure = simulation.check().expect_err("it creates twice");
    let shown = failure.to_string();
    let schedule = failure.schedule().to_string();
    assert_eq!(
        schedule,
        format!("{}[even,p0.0:create:configmaps:1=lose-answer]", failure.seed()),
        "{shown}"
    );
    assert!(shown.starts_with("\"one child\" does not hold\n"), "{shown}");
    assert!(
        shown.contains("p0.0      loses the answer to: create configmaps in default"),
        "{shown}"
    );
    assert!(
        shown.contains(&format!("again: KUBE_SIM_SEED='{schedule}'")),
        "{shown}"
    );
    assert!(
        shown.contains(&format!("all of it: KUBE_SIM_SEED={}", failure.seed())),
        "{shown}"
    );
    assert!(failure.trace().len() < 15, "{shown}");

    // From what was printed, and from the seed alone.
    let printed: Schedule = schedule.parse().unwrap();
    let again = simulation.replay(&printed);
    assert_eq!(again.broken.as_ref(), Some(failure.broken()));
    assert_eq!(&again.trace, failure.trace());
    let all = simulation.replay(&Schedule::of_seed(failure.seed()));
    assert_eq!(all.broken.as_ref(), Some(failure.broken()));
}

#[test]
fn the_first_failure_is_the_same_each_time() {
    let seeds = [1, 2].map(|_| {
        creates_again()
            .seed(5)
            .check()
            .expect_err("it creates twice")
            .seed()
    });
    assert_eq!(seeds[0], seeds[1]);
}

#[test]
fn faults_that_are_left_out_do_not_happen() {
    let report = creates_again().faults([FaultKind::HeldWatch]).schedules(20).run();
    assert_eq!((report.schedules, report.faults), (20, 0));
}

#[test]
fn what_does_not_hold_at_the_start_fails() {
    let simulation = Simulation::new(|_| std::future::pending::<()>());
    let failure = simulation
        .always("never", |_| false)
        .check()
        .expect_err("it does not hold");
    assert_eq!(failure.nth(), 1);
    assert_eq!(failure.schedule().to_string(), "0[even]");
}

#[test]
fn a_condition_that_panics_does_not_hold_and_says_why() {
    let simulation = Simulation::new(|_| std::future::pending::<()>()).settle_within(Duration::from_secs(5));
    let simulation = simulation.eventually("a service", |cluster| {
        assert_eq!(cluster.list::<Service>().len(), 1, "services");
        true
    });
    let failure = simulation.check().expect_err("it does not hold");
    let Broken::Eventually {
        condition,
        why: Some(why),
        ..
    } = failure.broken()
    else {
        panic!("{failure}");
    };
    assert_eq!(condition, "a service");
    assert!(why.contains("services"), "{why}");
}

#[test]
fn a_panic_of_the_program_or_the_workload_fails() {
    let simulation = Simulation::new(|_| async { panic!("out of ideas") });
    let failure = simulation.check().expect_err("it panics");
    assert_eq!(failure.broken(), &Broken::Panicked("out of ideas".into()));
    let simulation = Simulation::new(|_| std::future::pending::<()>());
    let failure = simulation
        .workload(|_| async { panic!("no") })
        .check()
        .expect_err("it panics");
    assert_eq!(failure.broken(), &Broken::Workload("no".into()));
}

#[test]
fn a_panic_before_the_program_has_a_future_fails() {
    fn setting(set: Option<&str>) -> &str {
        set.expect("the setting")
    }
    let simulation = Simulation::new(|_| {
        let setting = setting(None);
        async move { assert!(!setting.is_empty()) }
    });
    let failure = simulation.check().expect_err("it panics");
    assert_eq!(failure.broken(), &Broken::Panicked("the setting".into()));
}

#[test]
fn a_workload_that_waits_in_vain_fails() {
    let simulation = Simulation::new(|_| std::future::pending::<()>()).faults([]);
    let failure = simulation
        .workload(|client: Client| async move {
            while maps(&client).get("web").await.is_err() {
                sleep(Duration::from_secs(5)).await;
            }
        })
        .check()
        .expect_err("nobody makes it");
    assert!(
        matches!(failure.broken(), Broken::WorkloadUnended(_)),
        "{failure}"
    );
    assert!(
        failure.to_string().contains("what it waits for never came"),
        "{failure}"
    );
}

#[test]
fn what_comes_and_goes_does_not_hold_in_the_end() {
    // There for 40 seconds, away for 20: never a minute in a row.
    let simulation = Simulation::new(|client: Client| async move {
        loop {
            let _ = maps(&client)
                .create(&PostParams::default(), &map(named("web")))
                .await;
            sleep(Duration::from_secs(40)).await;
            let _ = maps(&client).delete("web", &Default::default()).await;
            sleep(Duration::from_secs(20)).await;
        }
    });
    let failure = simulation
        .faults([])
        .eventually("a map", |cluster| cluster.list::<ConfigMap>().len() == 1)
        .check()
        .expect_err("it does not stay");
    assert!(matches!(failure.broken(), Broken::Eventually { .. }), "{failure}");
}

#[test]
fn a_program_that_never_waits_fails() {
    let simulation = Simulation::new(|client: Client| async move {
        loop {
            let _ = maps(&client).get("web").await;
        }
    });
    let simulation = simulation.fault_period(Duration::from_secs(3600)).faults([]);
    let failure = simulation.check().expect_err("it never waits");
    assert!(
        matches!(failure.broken(), Broken::TooManyRequests(_)),
        "{failure}"
    );
}

#[test]
fn it_runs_within_a_runtime_too() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let report = runtime.block_on(async {
        Simulation::new(|_| std::future::pending::<()>())
            .schedules(3)
            .run()
    });
    assert_eq!(report.schedules, 3);
}

#[test]
fn replicas_run_side_by_side() {
    let simulation = Simulation::new(|client: Client| async move {
        let name = format!("{:x}", fastrand::u64(..));
        let _ = maps(&client)
            .create(&PostParams::default(), &map(named(&name)))
            .await;
        std::future::pending::<()>().await
    });
    let simulation = simulation
        .replicas(3)
        .eventually("three have started", |cluster| {
            cluster.list::<ConfigMap>().len() == 3
        });
    let run = simulation.replay(&"4[]".parse().unwrap());
    assert!(run.broken.is_none(), "{}", run.trace);
    assert!(
        run.trace.to_string().contains("p2.0      starts"),
        "{}",
        run.trace
    );
}
