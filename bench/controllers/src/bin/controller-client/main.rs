//! One controller of the bench, in a process of its own: `controller-client ours|ours-decoded|kube-rs nothing|pods URL OBJECTS`, or
//! `reader pods URL OBJECTS`, which is no controller. It prints lines of JSON.
//!
//! - `nothing`: a controller of the config maps does nothing with each of them, ten times, asking for the next run at once.
//! - `pods`: a controller of the pods does nothing with each of them. Then it is at rest, then pods change: 20 a second, 1,000 a
//!   second. A pod is late by the time since the server changed it, and by that since the controller was told of it.

mod kube_rs;
mod measure;
mod ours;
mod reader;
#[path = "../../../../forms/src/bin/informer-client/usage.rs"]
mod usage;

use anyhow::{Context as _, bail};
use k8s_openapi::api::core::v1::Pod;
use kube_informer::form::Packed;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [who, job, url, objects] = <[String; 4]>::try_from(arguments)
        .ok()
        .context("usage: controller-client ours|ours-decoded|kube-rs|reader nothing|pods URL OBJECTS")?;
    let client = kube::Client::try_from(kube::Config::new(url.parse()?))?;
    let objects = objects.parse()?;
    match (&*who, &*job) {
        ("ours", "nothing") => {
            measure::nothing("kube-controller", objects, |runs| ours::nothing(client, runs)).await
        }
        ("ours-decoded", "nothing") => {
            let who = "kube-controller, decoded";
            measure::nothing(who, objects, |runs| ours::nothing_decoded(client, runs)).await
        }
        ("kube-rs", "nothing") => {
            measure::nothing("kube-rs", objects, |runs| kube_rs::nothing(client, runs)).await
        }
        ("ours", "pods") => {
            let control = client.clone();
            measure::pods("kube-controller", control, objects, |pods| {
                ours::pods::<Packed<Pod>>(client, pods)
            })
            .await
        }
        ("ours-decoded", "pods") => {
            let control = client.clone();
            measure::pods("kube-controller, decoded", control, objects, |pods| {
                ours::pods::<Pod>(client, pods)
            })
            .await
        }
        ("kube-rs", "pods") => {
            let control = client.clone();
            measure::pods("kube-rs", control, objects, |pods| kube_rs::pods(client, pods)).await
        }
        ("reader", "pods") => {
            let control = client.clone();
            measure::pods("reader", control, objects, |pods| async move {
                if let Err(error) = reader::pods(client, pods, objects).await {
                    eprintln!("the reader failed: {error:#}");
                }
            })
            .await
        }
        _ => bail!("no job is called {who} {job}"),
    }
}
