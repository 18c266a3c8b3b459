//! kube-sim with the pods.

use crate::HISTORY;
use crate::pods::{self, Pods, Size};
use anyhow::Context as _;
use kube_sim::Sim;
use serde_json::{Value, json};
use std::sync::Arc;

/// A simulated cluster with so many pods, the mark, and so many config maps.
pub async fn filled(generator: &Arc<Pods>, count: usize, maps: usize) -> anyhow::Result<Sim> {
    let sim = Sim::builder().history(HISTORY).build()?;
    let filling = tokio::task::spawn_blocking({
        let (sim, generator) = (sim.clone(), generator.clone());
        move || fill(&sim, &generator, count, maps)
    });
    filling.await??;
    Ok(sim)
}

/// Creates all objects, the pods on two threads.
fn fill(sim: &Sim, generator: &Pods, count: usize, maps: usize) -> anyhow::Result<()> {
    let create = |object: Value| {
        sim.store()
            .create(object)
            .map(drop)
            .context("an object was refused")
    };
    pods::namespaces().try_for_each(create)?;
    create(generator.mark(count))?;
    (0..maps).try_for_each(|n| {
        create(json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"namespace": "default", "name": format!("settings-{n:06}")},
            "data": {"number": n.to_string()},
        }))
    })?;
    let half = |first| {
        (first..count)
            .step_by(2)
            .try_for_each(|n| create(generator.pod(n)))
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(|| half(1));
        half(0)?;
        other.join().expect("no panic")
    })
}

/// Of some of the pods.
pub fn mean_size(generator: &Pods, count: usize) -> Size {
    Size::of((0..count.min(500)).map(|n| generator.pod(n)))
}
