//! One client of the bench, in a process of its own: `client FORM LIST URL PODS CHANGES RATE`.
//!
//! FORM is how the pods are held, LIST how they are asked for: `stream` or `list`. See `run.sh`.

mod informer;
mod measure;
mod reflector;

use anyhow::{Context as _, bail};
use k8s_openapi::api::core::v1::Pod;
use kube::core::PartialObjectMeta;
use kube_informer::{form::Packed, wire::Plan};
use measure::{Counter, Measurement};

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
    pub url: String,
    /// How many pods the server has besides the mark.
    pub pods: usize,
    /// How many of them are changed in a phase.
    pub changes: usize,
    /// How many changes a second there are.
    pub rate: usize,
}

impl Arguments {
    fn read() -> anyhow::Result<Self> {
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        let [form, list, url, pods, changes, rate] = <[String; 6]>::try_from(arguments)
            .ok()
            .context("usage: client FORM stream|list URL PODS CHANGES RATE")?;
        anyhow::ensure!(
            matches!(&*list, "stream" | "list"),
            "LIST is stream or list, not {list}"
        );
        Ok(Self {
            form,
            list,
            url,
            pods: pods.parse()?,
            changes: changes.parse()?,
            rate: rate.parse()?,
        })
    }

    fn streaming(&self) -> bool {
        self.list == "stream"
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let arguments = Arguments::read()?;
    let client = kube::Client::try_from(kube::Config::new(arguments.url.parse()?))?;
    let (form, streaming) = (arguments.form.clone(), arguments.streaming());
    let counter = Counter::default();
    let measurement = Measurement {
        arguments,
        client: client.clone(),
        counter: counter.clone(),
    };
    let source = informer::source(client.clone());
    match &*form {
        "typed" => informer::run::<Pod>(source, None, streaming, counter, measurement).await,
        "pruned" => {
            let plan = Some(Plan::without_managed_fields());
            informer::run::<Pod>(source, plan, streaming, counter, measurement).await
        }
        "packed" => informer::run::<Packed<Pod>>(source, None, streaming, counter, measurement).await,
        "metadata" => {
            let source = source.metadata_only();
            informer::run::<PartialObjectMeta<Pod>>(source, None, streaming, counter, measurement).await
        }
        "kube-rs" => reflector::run(client, streaming, counter, measurement).await,
        other => bail!("no form is called {other}"),
    }
}
