//! `replay`: plays a recording to any client, through a simulated API server.

use super::show::Recording;
use crate::args::{ReplayArgs, Speed};
use crate::discovery::Resource;
use crate::output;
use crate::progress;
use crate::recording::{Change, Entry, Event};
use crate::signals::{Meaning, Stop};
use crate::text::counted;
use anyhow::{Context as _, bail};
use kube::config::Kubeconfig;
use kube_sim::{SimServer, StartError, Store};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;
use tokio::time::Instant;

/// The number of changes after which others have a turn.
const BATCH: u64 = 64;

/// The name of the context of a simulated server's kubeconfig.
const SIMULATED: &str = "kube-sim";
/// The namespaces that a cluster has from the beginning.
const NAMESPACES: [&str; 4] = ["default", "kube-node-lease", "kube-public", "kube-system"];

pub(crate) async fn run(args: ReplayArgs) -> anyhow::Result<ExitCode> {
    let stop = Stop::on_signal(Meaning::End, None)?.token;
    let mut recording = Recording::open(&args.file)?;
    let resources = recording.reader.header().resources.clone();
    let synced = synced(&mut Recording::open(&args.file)?)?;
    if let Some(path) = &args.kubeconfig {
        check_kubeconfig(path)?;
    }
    let server = start(&args).await?;
    if recording.reader.header().secrets {
        output::diagnostic(
            "the recording has the values of secrets; while it is played, every user of this machine can read them",
        );
    }
    let mut player = Player::new(server.store(), &resources)?;
    let played = async {
        let progress = progress::doing("reading what was there when the recording began");
        let next = player.initial(&mut recording, synced).await;
        drop(progress);
        announce(&server, &args, &resources)?;
        player.play(&mut recording, next, args.speed).await;
        // What could be read is served all the same.
        let ended = recording.ended();
        if let Err(damage) = &ended {
            output::diagnostic(&format!("error: {damage}"));
        }
        output::diagnostic(&player.told());
        anyhow::Ok(match ended {
            Ok(code) => code,
            Err(_) => ExitCode::FAILURE,
        })
    };
    let played = stop.run_until_cancelled(played).await;
    if let Some(Ok(_)) = played {
        stop.cancelled().await;
    }
    server.shutdown().await;
    played.unwrap_or(Ok(ExitCode::SUCCESS))
}

/// The number of resources whose first list is in the recording. It is read up to the last of them: to its end only if some were
/// never listed.
fn synced(recording: &mut Recording) -> anyhow::Result<usize> {
    let resources = recording.reader.header().resources.len();
    let mut synced = BTreeSet::new();
    while synced.len() < resources {
        // What is damaged is told when it is played.
        let Ok(Some(entry)) = recording.reader.next() else {
            break;
        };
        if entry.event == Event::Synced {
            synced.insert(entry.resource);
        }
    }
    Ok(synced.len())
}

/// A kubeconfig is written where there is no file, or one of a simulated server.
fn check_kubeconfig(path: &Path) -> anyhow::Result<()> {
    let text = match std::fs::read_to_string(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        read => read.with_context(|| format!("cannot read what is at --kubeconfig {}", path.display()))?,
    };
    let of_a_simulation = Kubeconfig::from_yaml(&text).is_ok_and(|config| {
        let ours = config.contexts.iter().all(|context| context.name == SIMULATED);
        ours && config.contexts.len() == 1 && config.current_context.as_deref() == Some(SIMULATED)
    });
    if !of_a_simulation {
        bail!(
            "{} exists, and is not the kubeconfig of a replay; --kubeconfig names the file that is written: choose another",
            path.display()
        );
    }
    Ok(())
}

/// Starts a server whose controllers do nothing by themselves.
async fn start(args: &ReplayArgs) -> anyhow::Result<SimServer> {
    match SimServer::builder().port(args.port).controllers([]).start().await {
        Err(StartError::Listen { address, source }) => {
            bail!(
                "cannot listen on {address}: {source}; choose another --port, or leave it out for any free one"
            )
        }
        started => started.context("cannot start the simulated API server"),
    }
}

/// The definition of a custom resource that takes any object, in all these versions of it.
fn definition(resource: &Resource, versions: &BTreeSet<&str>) -> Value {
    let versions = versions.iter().enumerate().map(|(number, version)| {
        json!({"name": version, "served": true, "storage": number == 0, "schema": {"openAPIV3Schema": {
            "type": "object", "x-kubernetes-preserve-unknown-fields": true,
        }}})
    });
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {
            "name": resource.full_name(),
            // Without it, groups of Kubernetes are refused.
            "annotations": {"api-approved.kubernetes.io": "unapproved, played from a recording"},
        },
        "spec": {
            "group": resource.group, "scope": if resource.namespaced { "Namespaced" } else { "Cluster" },
            "names": {"plural": resource.plural, "singular": resource.singular, "kind": resource.kind},
            "versions": versions.collect::<Vec<_>>(),
        },
    })
}

/// Prints the server's address and how to use it, as `kube-sim` does.
fn announce(server: &SimServer, args: &ReplayArgs, resources: &[Resource]) -> anyhow::Result<()> {
    let cluster = match &args.kubeconfig {
        None => format!("--server={}", server.url()),
        Some(path) => {
            check_kubeconfig(path)?;
            std::fs::write(path, server.kubeconfig())
                .with_context(|| format!("cannot write the kubeconfig {}", path.display()))?;
            format!("--kubeconfig={}", path.display())
        }
    };
    let resource = resources.first().map(Resource::full_name);
    let usage = format!(
        "kubectl {cluster} get {} -A",
        resource.as_deref().unwrap_or("pods")
    );
    Ok(output::lines(&format!(
        "{}\n\ntry: {usage}\nend: Ctrl-C",
        server.url()
    ))?)
}

/// Makes the changes of a recording.
struct Player {
    store: Store,
    /// Whether namespaces are recorded; else those of the objects are made.
    has_namespaces: bool,
    /// The objects that were there, and what was made of them and of the changes.
    initial: u64,
    played: u64,
    refused: u64,
    first_refusal: Option<String>,
}

impl Player {
    /// Makes the store one that knows the resources, and has nothing of what is recorded.
    ///
    /// # Errors
    /// A resource cannot be defined.
    fn new(store: Store, resources: &[Resource]) -> anyhow::Result<Self> {
        let is_known = |resource: &Resource| {
            let api_version = resource.api().api_version;
            store.list(&api_version, &resource.kind, None).is_ok()
        };
        for resource in resources {
            if is_known(resource) {
                continue;
            }
            let name = resource.full_name();
            let of_it = resources.iter().filter(|other| other.full_name() == name);
            let versions = of_it.map(|resource| resource.version.as_str()).collect();
            let defined = store.create(definition(resource, &versions));
            defined.with_context(|| format!("the simulated API server cannot have {name}"))?;
        }
        let is_namespaces =
            |resource: &Resource| resource.group.is_empty() && resource.plural == "namespaces";
        let has_namespaces = resources.iter().any(is_namespaces);
        if has_namespaces {
            for name in NAMESPACES {
                store.remove("v1", "Namespace", None, name)?;
            }
        }
        Ok(Self {
            store,
            has_namespaces,
            initial: 0,
            played: 0,
            refused: 0,
            first_refusal: None,
        })
    }

    /// Makes what was there when so many resources had been listed: all, but those that never were. Returns the first entry
    /// after that.
    async fn initial(&mut self, recording: &mut Recording, resources: usize) -> Option<Entry> {
        let mut synced = BTreeSet::new();
        while synced.len() < resources {
            let mut entry = recording.next()?;
            if entry.event == Event::Synced {
                synced.insert(entry.resource);
            }
            self.entry(recording, &mut entry).await;
        }
        recording.next()
    }

    /// Makes the changes in their time.
    async fn play(&mut self, recording: &mut Recording, mut next: Option<Entry>, speed: Speed) {
        let Some(first) = next.as_ref().map(|entry| entry.time) else {
            return;
        };
        let started = Instant::now();
        while let Some(mut entry) = next {
            if let Speed::Times(times) = speed {
                let after = Duration::from_millis(entry.time.saturating_sub(first));
                let after = Duration::try_from_secs_f64(after.as_secs_f64() / times).unwrap_or(Duration::MAX);
                if let Some(due) = started.checked_add(after) {
                    tokio::time::sleep_until(due).await;
                }
            }
            self.entry(recording, &mut entry).await;
            next = recording.next();
        }
    }

    async fn entry(&mut self, recording: &mut Recording, entry: &mut Entry) {
        let Some(change) = recording.apply(entry) else {
            return;
        };
        if entry.event == Event::Synced {
            return;
        }
        self.played += 1;
        self.initial += u64::from(entry.event == Event::Initial);
        let resource = &recording.reader.header().resources[entry.resource];
        if let Err(why) = self.make(change, resource) {
            self.refused += 1;
            let refusal = format!("{} {}: {why}", entry.event.name(), entry.key);
            self.first_refusal.get_or_insert(refusal);
        }
        if self.played.is_multiple_of(BATCH) {
            tokio::task::yield_now().await;
        }
    }

    /// Makes a change: an object is stored as it was recorded, and one that is deleted is gone at once.
    ///
    /// # Errors
    /// Why it cannot be made.
    fn make(&self, change: Change, resource: &Resource) -> Result<(), String> {
        let made = match (change.old, change.new) {
            (_, Some(object)) => {
                let object = object.value(resource)?;
                self.make_namespace(&object);
                self.store.put(object)
            }
            (Some(object), None) => {
                let object = object.value(resource)?;
                let (api_version, kind, namespace, name) = identity(&object);
                match self.store.remove(api_version, kind, namespace, name) {
                    // It went with its definition.
                    Err(error) if error.code() == 404 => Ok(()),
                    removed => removed,
                }
            }
            (None, None) => Ok(()),
        };
        made.map_err(|error| error.message().to_owned())
    }

    /// Makes the namespace of an object, unless it is there, or namespaces are recorded.
    fn make_namespace(&self, object: &Value) {
        if let (_, _, Some(namespace), _) = identity(object)
            && !self.has_namespaces
            && self.store.get("v1", "Namespace", None, namespace).is_err()
        {
            let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}});
            // If it cannot be made, the objects are there without it.
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
            "played {} and {}; serving until Ctrl-C{}",
            counted(self.initial, "object"),
            counted(self.played - self.initial, "change"),
            refused.unwrap_or_default()
        )
    }
}

fn identity(object: &Value) -> (&str, &str, Option<&str>, &str) {
    (
        object["apiVersion"].as_str().unwrap_or_default(),
        object["kind"].as_str().unwrap_or_default(),
        object["metadata"]["namespace"].as_str(),
        object["metadata"]["name"].as_str().unwrap_or_default(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::discovery::tests::resource;
    use crate::recording::{Header, Writer};
    use kube_sim::Sim;
    use serde_json::value::to_raw_value;
    use std::fs::File;

    /// A recording of these entries: resource, event, object.
    fn recording(
        resources: &[Resource],
        entries: &[(usize, Event, Value)],
    ) -> (tempfile::TempDir, Recording) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.rec");
        let header = Header {
            started: "2026-01-01T00:00:00Z".parse().unwrap(),
            server: "http://127.0.0.1:1".into(),
            resources: resources.to_vec(),
            secrets: false,
        };
        let mut writer = Writer::new(File::create(&path).unwrap(), &header).unwrap();
        for (number, (resource, event, object)) in entries.iter().enumerate() {
            let text = |name: &str| object["metadata"][name].as_str();
            let key = match text("namespace") {
                Some(namespace) => format!("{namespace}/{}", text("name").unwrap()),
                None => text("name").unwrap_or_default().to_owned(),
            };
            let object =
                (!matches!(event, Event::Synced | Event::Delete)).then(|| to_raw_value(object).unwrap());
            writer
                .write(&Entry {
                    time: 1000 * number as u64,
                    resource: *resource,
                    event: *event,
                    key,
                    object,
                    patch: None,
                })
                .unwrap();
        }
        writer.flush().unwrap();
        let recording = Recording::open(&path).unwrap();
        (folder, recording)
    }

    /// Plays the first entries of a recording; each is looked at.
    async fn play(
        resources: &[Resource],
        entries: &[(usize, Event, Value)],
        mut look: impl FnMut(usize, &Store),
    ) {
        let (_folder, mut recording) = recording(resources, entries);
        let store = Sim::builder().controllers([]).build().unwrap().store();
        let mut player = Player::new(store.clone(), resources).unwrap();
        let mut number = 0;
        while let Some(mut entry) = recording.next() {
            player.entry(&mut recording, &mut entry).await;
            assert_eq!(player.first_refusal, None, "{number}");
            look(number, &store);
            number += 1;
        }
        assert_eq!(number, entries.len());
    }

    #[tokio::test]
    async fn termination_and_generations_are_played() {
        let deployments = resource("apps", "v1", "Deployment", "deployments", "deploy");
        let at = |generation: u64, more: Value| {
            let mut object = json!({
                "apiVersion": "apps/v1", "kind": "Deployment",
                "metadata": {
                    "namespace": "ns", "name": "a", "uid": "1", "generation": generation, "finalizers": ["example.com/hold"],
                },
                "spec": {"replicas": generation},
            });
            object["metadata"]
                .as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
            object
        };
        let ending = json!({"deletionTimestamp": "2026-01-01T00:00:00Z", "deletionGracePeriodSeconds": 30});
        let entries = [
            (0, Event::Initial, at(7, json!({}))),
            (0, Event::Update, at(9, json!({}))),
            (0, Event::Update, at(9, ending.clone())),
            (0, Event::Delete, at(9, ending)),
        ];
        play(&[deployments], &entries, |number, store| {
            let found = store.get("apps/v1", "Deployment", Some("ns"), "a");
            let Ok(mut found) = found else {
                return assert_eq!(number, 3);
            };
            found["metadata"]
                .as_object_mut()
                .unwrap()
                .remove("resourceVersion");
            assert_eq!(found, entries[number].2, "{number}");
        })
        .await;
    }

    #[tokio::test]
    async fn namespaces_are_those_of_the_recording() {
        let mut namespaces = resource("", "v1", "Namespace", "namespaces", "ns");
        namespaces.namespaced = false;
        let resources = [resource("", "v1", "ConfigMap", "configmaps", "cm"), namespaces];
        let namespace = |name: &str, uid: &str| {
            json!({
                "apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "uid": uid},
                "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"},
            })
        };
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": "ns", "name": "a", "uid": "m"}});
        let entries = [
            (0, Event::Initial, map),
            (1, Event::Initial, namespace("ns", "1")),
            (1, Event::Initial, namespace("default", "2")),
            (1, Event::Delete, namespace("ns", "1")),
            (1, Event::Add, namespace("ns", "3")),
        ];
        play(&resources, &entries, |number, store| {
            let found = store.list("v1", "Namespace", None).unwrap();
            let uids: Vec<_> = found
                .iter()
                .map(|found| found["metadata"]["uid"].as_str().unwrap())
                .collect();
            let expected: [&[&str]; 5] = [&[], &["1"], &["2", "1"], &["2"], &["2", "3"]];
            assert_eq!(uids, expected[number], "{number}");
        })
        .await;
    }

    #[tokio::test]
    async fn kinds_of_any_group_are_served() {
        let gateways =
            |version: &str| resource("gateway.networking.k8s.io", version, "Gateway", "gateways", "gtw");
        let gateway = |version: &str, name: &str| {
            json!({
                "apiVersion": format!("gateway.networking.k8s.io/{version}"), "kind": "Gateway",
                "metadata": {"namespace": "ns", "name": name, "uid": name}, "spec": {"gatewayClassName": "x"},
            })
        };
        let entries = [
            (0, Event::Initial, gateway("v1", "a")),
            (1, Event::Initial, gateway("v1beta1", "b")),
        ];
        play(
            &[gateways("v1"), gateways("v1beta1")],
            &entries,
            |number, store| {
                let found = store
                    .list("gateway.networking.k8s.io/v1", "Gateway", None)
                    .unwrap();
                assert_eq!(found.len(), number + 1);
            },
        )
        .await;
    }

    #[tokio::test]
    async fn what_was_never_listed_is_not_waited_for() {
        let resources = [
            resource("", "v1", "ConfigMap", "configmaps", "cm"),
            resource("", "v1", "Secret", "secrets", "secret"),
        ];
        let map = |name: &str| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": "ns", "name": name, "uid": name}});
        let entries = [
            (0, Event::Initial, map("a")),
            (0, Event::Synced, Value::Null),
            (0, Event::Add, map("b")),
        ];
        let (folder, mut played) = recording(&resources, &entries);
        let mut again = Recording::open(&folder.path().join("a.rec")).unwrap();
        let store = Sim::builder().controllers([]).build().unwrap().store();
        let mut player = Player::new(store.clone(), &resources).unwrap();
        let next = player.initial(&mut played, synced(&mut again).unwrap()).await;
        assert_eq!(next.map(|entry| entry.key).as_deref(), Some("ns/b"));
        assert_eq!(store.list("v1", "ConfigMap", None).unwrap().len(), 1);
    }

    #[test]
    fn only_kubeconfigs_of_replays_are_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config");
        assert!(check_kubeconfig(&path).is_ok());
        let context = |name: &str| json!({"name": name, "context": {"cluster": name, "user": name}});
        let mut config = json!({
            "apiVersion": "v1", "kind": "Config", "clusters": [], "users": [],
            "contexts": [context("kube-sim")], "current-context": "kube-sim",
        });
        std::fs::write(&path, config.to_string()).unwrap();
        assert!(check_kubeconfig(&path).is_ok());
        config["contexts"] = json!([context("kube-sim"), context("production")]);
        for text in [
            &config.to_string(),
            "",
            "hello",
            "apiVersion: v1\nkind: Config\ncurrent-context: production\n",
        ] {
            std::fs::write(&path, text).unwrap();
            let why = check_kubeconfig(&path).unwrap_err().to_string();
            assert!(why.contains("is not the kubeconfig of a replay"), "{why}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), *text);
        }
    }
}
