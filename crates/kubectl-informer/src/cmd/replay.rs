//! `replay`: plays a recording to any client, through a simulated API server.

use super::show::Recording;
use crate::args::{ReplayArgs, Speed};
use crate::discovery::Resource;
use crate::output;
use crate::recording::{Change, Entry, Event};
use crate::signals::{Meaning, Stop};
use anyhow::{Context as _, bail};
use kube_sim::{SimServer, StartError, StatusError, Store};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::process::ExitCode;
use std::time::Duration;
use tokio::time::Instant;

/// The number of changes after which others have a turn.
const BATCH: u64 = 64;

pub(crate) async fn run(args: ReplayArgs) -> anyhow::Result<ExitCode> {
    let stop = Stop::on_signal(Meaning::End, None)?.token;
    let mut recording = Recording::open(&args.file)?;
    let resources = recording.reader.header().resources.clone();
    let server = start(&args, &resources).await?;
    let mut player = Player {
        store: server.store(),
        played: 0,
        refused: 0,
        first_refusal: None,
    };
    let played = async {
        let next = player.initial(&mut recording, resources.len()).await?;
        announce(&server, &args)?;
        player.play(&mut recording, next, args.speed).await?;
        recording.tell_cut();
        output::diagnostic(&player.told());
        anyhow::Ok(())
    };
    let played = stop.run_until_cancelled(played).await;
    if let Some(Ok(())) = played {
        stop.cancelled().await;
    }
    server.shutdown().await;
    played.unwrap_or(Ok(())).map(|()| ExitCode::SUCCESS)
}

/// Starts a server that knows the resources, and whose controllers do nothing by themselves.
async fn start(args: &ReplayArgs, resources: &[Resource]) -> anyhow::Result<SimServer> {
    let mut builder = SimServer::builder().port(args.port).controllers([]);
    let mut defined = BTreeSet::new();
    for resource in resources.iter().filter(|resource| resource.is_custom()) {
        if defined.insert(resource.full_name()) {
            builder = builder.crd(definition(resource));
        }
    }
    match builder.start().await {
        Err(StartError::Listen { address, source }) => {
            bail!(
                "cannot listen on {address}: {source}; choose another --port, or leave it out for any free one"
            )
        }
        started => started.context("cannot start the simulated API server"),
    }
}

/// The definition of a custom resource that takes any object.
fn definition(resource: &Resource) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": resource.full_name()},
        "spec": {
            "group": resource.group, "scope": if resource.namespaced { "Namespaced" } else { "Cluster" },
            "names": {"plural": resource.plural, "singular": resource.singular, "kind": resource.kind},
            "versions": [{"name": resource.version, "served": true, "storage": true, "schema": {"openAPIV3Schema": {
                "type": "object", "x-kubernetes-preserve-unknown-fields": true,
            }}}],
        },
    })
}

/// Prints the server's address and how to use it, as `kube-sim` does.
fn announce(server: &SimServer, args: &ReplayArgs) -> anyhow::Result<()> {
    let usage = match &args.kubeconfig {
        None => format!("kubectl --server={} get pods -A", server.url()),
        Some(path) => {
            std::fs::write(path, server.kubeconfig())
                .with_context(|| format!("cannot write the kubeconfig {}", path.display()))?;
            format!("kubectl --kubeconfig={} get pods -A", path.display())
        }
    };
    Ok(output::lines(&format!(
        "{}\n\ntry: {usage}\nend: Ctrl-C",
        server.url()
    ))?)
}

/// Makes the changes of a recording.
struct Player {
    store: Store,
    played: u64,
    refused: u64,
    first_refusal: Option<String>,
}

impl Player {
    /// Makes what was there when all resources had been listed. Returns the first entry after that.
    async fn initial(
        &mut self,
        recording: &mut Recording,
        resources: usize,
    ) -> anyhow::Result<Option<Entry>> {
        let mut synced = BTreeSet::new();
        while synced.len() < resources {
            let Some(entry) = recording.next()? else {
                return Ok(None);
            };
            if entry.event == Event::Synced {
                synced.insert(entry.resource);
            }
            self.entry(recording, &entry).await?;
        }
        recording.next()
    }

    /// Makes the changes in their time.
    async fn play(
        &mut self,
        recording: &mut Recording,
        mut next: Option<Entry>,
        speed: Speed,
    ) -> anyhow::Result<()> {
        let Some(first) = next.as_ref().map(|entry| entry.time) else {
            return Ok(());
        };
        let started = Instant::now();
        while let Some(entry) = next {
            if let Speed::Times(times) = speed {
                let after = Duration::from_millis(entry.time.saturating_sub(first));
                let after = Duration::try_from_secs_f64(after.as_secs_f64() / times).unwrap_or(Duration::MAX);
                if let Some(due) = started.checked_add(after) {
                    tokio::time::sleep_until(due).await;
                }
            }
            self.entry(recording, &entry).await?;
            next = recording.next()?;
        }
        Ok(())
    }

    async fn entry(&mut self, recording: &mut Recording, entry: &Entry) -> anyhow::Result<()> {
        let change = recording.apply(entry)?;
        if entry.event == Event::Synced {
            return Ok(());
        }
        self.played += 1;
        if let Err(error) = self.make(change) {
            self.refused += 1;
            let refusal = format!("{} {}: {}", entry.event.name(), entry.key, error.message());
            self.first_refusal.get_or_insert(refusal);
        }
        if self.played.is_multiple_of(BATCH) {
            tokio::task::yield_now().await;
        }
        Ok(())
    }

    /// Makes a change.
    fn make(&self, change: Change) -> Result<(), StatusError> {
        match change {
            Change {
                new: Some(object), ..
            } => {
                let object = unversioned(object);
                match self.find(&object) {
                    Some(_) => self.store.update(object).map(drop),
                    None => {
                        self.make_namespace(&object);
                        self.store.create(object).map(drop)
                    }
                }
            }
            Change {
                old: Some(mut object),
                new: None,
            } => {
                // Else it would only be marked.
                if object["metadata"].get("finalizers").is_some() {
                    if let Some(metadata) = object["metadata"].as_object_mut() {
                        metadata.remove("finalizers");
                    }
                    self.store.update(unversioned(object.clone()))?;
                }
                match self.find(&object) {
                    Some(_) => {
                        let (api_version, kind, namespace, name) = identity(&object);
                        self.store.delete(api_version, kind, namespace, name)
                    }
                    None => Ok(()),
                }
            }
            Change { old: None, new: None } => Ok(()),
        }
    }

    fn find(&self, object: &Value) -> Option<Value> {
        let (api_version, kind, namespace, name) = identity(object);
        self.store.get(api_version, kind, namespace, name).ok()
    }

    /// Makes the namespace of an object, unless it is there.
    fn make_namespace(&self, object: &Value) {
        if let (_, _, Some(namespace), _) = identity(object)
            && self.store.get("v1", "Namespace", None, namespace).is_err()
        {
            let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
            // If it cannot be made, the object says why.
            let _ = self.store.create(namespace);
        }
    }

    fn told(&self) -> String {
        let refused = self.first_refusal.as_ref().map(|first| {
            format!(
                "; the simulated server refused {} of them, the first: {first}",
                self.refused
            )
        });
        format!(
            "played {} changes; serving until Ctrl-C{}",
            self.played,
            refused.unwrap_or_default()
        )
    }
}

/// An object without the version of another server, so that it can be written.
fn unversioned(mut object: Value) -> Value {
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.remove("resourceVersion");
    }
    object
}

fn identity(object: &Value) -> (&str, &str, Option<&str>, &str) {
    (
        object["apiVersion"].as_str().unwrap_or_default(),
        object["kind"].as_str().unwrap_or_default(),
        object["metadata"]["namespace"].as_str(),
        object["metadata"]["name"].as_str().unwrap_or_default(),
    )
}
