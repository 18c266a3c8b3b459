//! One client of the bench, in a process of its own: `informer-client FORM LIST API CONTROL PODS CHANGES RATE PHASE...`.
//!
//! FORM is how the pods are held, LIST how they are asked for: `stream` or `list`. API is a URL or a kubeconfig file, CONTROL
//! the URL of what changes the pods; both as the server prints them. After the sync come the phases: `churn`, `burst`,
//! `relist`, `latency`, `reads`; see [`Phase`]. `bench/run` runs it.
//!
//! With the variable SHARDS, which is `I/N`, an informer of ours is one of N members of a shard group: it has the I-th (from 0) N-th of 64
//! shards. Then the first phase is `base`: what the process takes before it has a shard. The mark may be of another member, so a
//! phase ends when all changes have been made and the process has come to rest, and `changes` is what the handler was told of.

mod informer;
mod measure;
mod reflector;
mod usage;

use anyhow::{Context as _, bail};
use informer::{Access, PodView};
use k8s_openapi::api::core::v1::Pod;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::core::PartialObjectMeta;
use kube_informer::{FieldPlan, form::Packed, low_level::wire::Encoding};
use measure::{Counter, Measurement, Phase};
use tokio::runtime::Handle;

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[cfg(all(feature = "jemalloc", not(feature = "mimalloc")))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// What is measured.
pub struct Arguments {
    pub form: String,
    pub list: String,
    pub api: String,
    pub control: String,
    /// How many pods the server has besides the mark.
    pub pods: usize,
    /// How many of them are changed in a phase.
    pub changes: usize,
    /// How many changes a second there are.
    pub rate: usize,
    /// How many workers of a work queue take the keys; 0: the handler does, without a queue. From the variable WORKERS.
    pub workers: usize,
    /// As which member of a shard group, of how many. From the variable SHARDS.
    pub member: Option<(u16, u16)>,
    pub phases: Vec<Phase>,
}

impl Arguments {
    fn read() -> anyhow::Result<Self> {
        let mut arguments = std::env::args().skip(1);
        let fixed: Vec<String> = arguments.by_ref().take(7).collect();
        let [form, list, api, control, pods, changes, rate] = <[String; 7]>::try_from(fixed)
            .ok()
            .context("usage: informer-client FORM stream|list API CONTROL PODS CHANGES RATE PHASE...")?;
        anyhow::ensure!(
            matches!(&*list, "stream" | "list"),
            "LIST is stream or list, not {list}"
        );
        Ok(Self {
            form,
            list,
            api,
            control,
            pods: pods.parse()?,
            changes: changes.parse()?,
            rate: rate.parse()?,
            workers: std::env::var("WORKERS").map_or(Ok(0), |workers| workers.parse())?,
            member: std::env::var("SHARDS").ok().map(member).transpose()?,
            phases: arguments
                .map(|name| Phase::read(&name))
                .collect::<anyhow::Result<_>>()?,
        })
    }

    fn streaming(&self) -> bool {
        self.list == "stream"
    }

    async fn config(&self) -> anyhow::Result<kube::Config> {
        if self.api.starts_with("http://") {
            return Ok(kube::Config::new(self.api.parse()?));
        }
        let kubeconfig = Kubeconfig::read_from(&self.api)?;
        Ok(kube::Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?)
    }
}

/// Reads `I/N`.
fn member(text: String) -> anyhow::Result<(u16, u16)> {
    let read = || {
        let (member, members) = text.split_once('/')?;
        let (member, members) = (member.parse().ok()?, members.parse().ok()?);
        (member < members).then_some((member, members))
    };
    read().with_context(|| format!("SHARDS is I/N, not {text}"))
}

/// A runtime of one thread, which runs as long as the process.
fn own_thread() -> anyhow::Result<Handle> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let handle = runtime.handle().clone();
    std::thread::spawn(move || runtime.block_on(std::future::pending::<()>()));
    Ok(handle)
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::read()?;
    let config = arguments.config().await?;
    let kube_client = kube::Client::try_from(config.clone())?;
    let control = kube::Client::try_from(kube::Config::new(arguments.control.parse()?))?;
    let (form, streaming) = (arguments.form.clone(), arguments.streaming());
    let counter = Counter::default();
    // "packed-kube" is the form "packed", read by kube's own client.
    let (form, client) = match form.strip_suffix("-kube") {
        Some(form) => (form, kube_client.clone()),
        None => (&*form, kube_informer::client::try_from(config)?),
    };
    let mut source = informer::source(client);
    // "packed-json" is the form "packed", asked for in JSON.
    let form = match form.strip_suffix("-json") {
        Some(form) => {
            source = source.encoding(Encoding::Json);
            form
        }
        None => form,
    };
    // "packed-thread" is the form "packed", whose informer runs on a thread of its own.
    let (form, runtime) = match form.strip_suffix("-thread") {
        Some(form) => (form, own_thread()?),
        None => (form, Handle::current()),
    };
    let measurement = Measurement {
        arguments,
        control,
        counter: counter.clone(),
        source: (form != "kube-rs").then(|| source.clone()),
    };
    let running = informer::Running {
        source,
        plan: None,
        streaming,
        counter,
        measurement,
        runtime,
    };
    match form {
        "typed" => running.run::<Pod>(informer::POD).await,
        "pruned" => {
            let plan = Some(FieldPlan::without_managed_fields());
            informer::Running { plan, ..running }
                .run::<Pod>(informer::POD)
                .await
        }
        "packed" => running.run::<Packed<Pod>>(informer::PACKED).await,
        "projection" => running.run::<PodView>(Access::none()).await,
        "metadata" | "metadata-managed" => {
            let source = running.source.clone().metadata_only();
            // It prunes managedFields by itself.
            let plan = (form == "metadata-managed").then(FieldPlan::default);
            let running = informer::Running {
                source,
                plan,
                ..running
            };
            running.run::<PartialObjectMeta<Pod>>(informer::METADATA).await
        }
        "kube-rs" => reflector::run(kube_client, streaming, running.counter, running.measurement).await,
        other => bail!("no form is called {other}"),
    }
}
