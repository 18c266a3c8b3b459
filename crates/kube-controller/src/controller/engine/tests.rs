//! What the loop remembers.

use super::*;
use crate::WatchStreamExt;
use crate::reflector::{self, ObjectRef};
use crate::watcher::Event as Watched;
use k8s_openapi::api::core::v1::ConfigMap;
use std::fmt::Error as Failure;

/// A stream of objects does not tell of deletions.
#[tokio::test(start_paused = true)]
async fn failures_of_objects_that_are_gone_are_forgotten() {
    let (reader, writer) = reflector::store();
    let (tell, told) = futures::channel::mpsc::unbounded();
    let objects = told.map(Ok).reflect(writer).applied_objects();
    let controller = Controller::for_stream(objects, reader.clone());
    let mut engine = Engine::start(
        controller,
        |_: Arc<ConfigMap>, _: Arc<()>| async { Err::<Action, _>(Failure) },
        |_, _, _| Action::await_change(),
        Arc::new(()),
    );
    let map = |number: usize| {
        let mut map = ConfigMap::default();
        map.metadata.name = Some(format!("map-{number}"));
        map.metadata.uid = Some(number.to_string());
        map
    };
    tell.unbounded_send(Watched::Init).unwrap();
    tell.unbounded_send(Watched::InitDone).unwrap();
    for number in 0..5000 {
        tell.unbounded_send(Watched::Apply(map(number))).unwrap();
        let report = engine.next().await.unwrap();
        assert!(matches!(report, Err(Error::ReconcilerFailed(..))), "{report:?}");
        if number > 0 {
            tell.unbounded_send(Watched::Delete(map(number))).unwrap();
        }
    }
    assert!(reader.get(&ObjectRef::new("map-0")).is_some());
    assert!(
        engine.failures.in_a_row(&"map-0".into(), Some("0")) > 0,
        "it has failed, and is there"
    );
    let remembered = (0..5000)
        .filter(|number| {
            let key = format!("map-{number}").as_str().into();
            engine.failures.in_a_row(&key, Some(&number.to_string())) > 0
        })
        .count();
    assert!(remembered <= 256, "{remembered}");
}
