//! `measure`: measures what a cache of a resource costs.

mod forms;

use crate::args::{Decode, MeasureArgs, MeasureOutput};
use crate::cmd::cache;
use crate::failure::{Usage, reason};
use crate::feed::{Feed, Step};
use crate::informers::BESIDE;
use crate::kinds::{self, Typed};
use crate::output;
use crate::process::{self, Memory};
use crate::progress;
use crate::signals::{Meaning, Stop};
use crate::target::Target;
use crate::text::counted;
use anyhow::bail;
use futures::StreamExt as _;
use indicatif::ProgressBar;
use kube::core::{DynamicObject, PartialObjectMeta};
use kube_informer::form::{DecoderConfig, Packed, Packer, PackerStats};
use kube_informer::low_level::wire::Encoding;
use kube_informer::source::{
    ApiError, ClientSource, Item, ListPart, ListRequest, ListVersion, ListerWatcher,
};
use kube_informer::{CachedObject, Delivery, HandlerOptions, Partition, SharedInformer, form};
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// The time after a signal at which the program ends even if a task hangs.
const GRACE: Duration = Duration::from_secs(4);

/// The number of objects that are listed and forgotten before the measurement, and how long that may take.
const WARM_UP: u32 = 20;
const WARM_UP_TIME: Duration = Duration::from_secs(5);

/// The cost of a phase. The CPU time of the sync is that of the process so far but for the warm-up, because connecting is part of the
/// cost.
#[derive(Debug, Serialize)]
struct Cost {
    phase: &'static str,
    /// Whether the cache started with saved objects.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    restored: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    objects: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    events: Option<u64>,
    wall_s: f64,
    cpu_s: f64,
    rss_mib: f64,
    peak_mib: f64,
    /// The memory of the program before the list, which it would take for any number of objects.
    #[serde(skip_serializing_if = "Option::is_none")]
    base_mib: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes_received: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    encoding: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    packing: Option<Packing>,
}

/// The size of packed objects.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Packing {
    /// The bytes of the objects without managedFields, and their compressed size.
    body_bytes_per_object: u64,
    kept_bytes_per_object: u64,
    /// The size of all stored bytes, without the key and the store.
    bytes_per_object: u64,
    /// The size of all that the cache has: also of keys, the store, families, and dictionaries.
    cache_bytes: u64,
    dictionaries: u64,
    dictionary_bytes: u64,
    families: u64,
    family_bytes: u64,
    label_sets: u64,
}

impl From<PackerStats> for Packing {
    fn from(stats: PackerStats) -> Self {
        let each = |bytes: u64| bytes.checked_div(stats.objects).unwrap_or_default();
        Self {
            body_bytes_per_object: each(stats.body_bytes),
            kept_bytes_per_object: each(stats.kept_bytes),
            bytes_per_object: each(stats.total_bytes),
            cache_bytes: stats.total_bytes
                + stats.objects * BESIDE
                + stats.family_bytes
                + stats.dictionaries * stats.dictionary_bytes,
            dictionaries: stats.dictionaries,
            dictionary_bytes: stats.dictionary_bytes,
            families: stats.families,
            family_bytes: stats.family_bytes,
            label_sets: stats.label_sets,
        }
    }
}

impl Packing {
    fn text(&self) -> String {
        let dictionary = match self.dictionaries {
            0 => "no dictionary".to_owned(),
            1 => format!("a dictionary of {} bytes", self.dictionary_bytes),
            many => format!(
                "{many} dictionaries, the last one of {} bytes",
                self.dictionary_bytes
            ),
        };
        let families = match self.families {
            0 => String::new(),
            many => format!(", {many} families of {} bytes", self.family_bytes),
        };
        let ratio = self.body_bytes_per_object as f64 / self.kept_bytes_per_object.max(1) as f64;
        format!(
            "packed  {} bytes an object: {} as sent, kept in {} ({ratio:.1} to 1), {dictionary}{families}, {} sets of labels",
            self.bytes_per_object, self.body_bytes_per_object, self.kept_bytes_per_object, self.label_sets
        )
    }
}

pub(crate) async fn run(mut args: MeasureArgs) -> anyhow::Result<ExitCode> {
    let grace = args.cache.as_ref().map_or(GRACE, |_| cache::GRACE);
    let stop = Stop::on_signal(Meaning::Interruption, Some(grace))?;
    let form = match (args.alone, &*args.form) {
        (Some(form), _) => {
            args.output = MeasureOutput::Json;
            form
        }
        (None, [form]) => *form,
        (None, _) if args.cache.is_some() => bail!(Usage("--cache takes one form, which is packed".into())),
        (None, _) => return forms::measure(&args, &stop).await,
    };
    let found = stop.token.run_until_cancelled(Target::find(&args.selection));
    let target = match found.await {
        Some(target) => target?,
        None => return Err(stop.interrupted("before the server told what it has; nothing was measured")),
    };
    let measured = match form {
        Decode::Typed => {
            if !kinds::has_type(&target.resource.api()) {
                let name = target.resource.full_name();
                output::diagnostic(&format!(
                    "no Rust type is built in for {name}: held as DynamicObject"
                ));
            }
            measure::<Typed>(&target, target.source(), &args, stop, |_| None).await
        }
        Decode::Packed => {
            let stats = |packer: &Packer<DynamicObject>| Some(packer.stats());
            // Nobody reads them: they need not have what only a newer server knows.
            let source = target.source().encoding(Encoding::Protobuf);
            measure::<Packed<DynamicObject>>(&target, source, &args, stop, stats).await
        }
        Decode::Metadata => {
            let source = target.source().metadata_only();
            measure::<PartialObjectMeta<DynamicObject>>(&target, source, &args, stop, |_| None).await
        }
    };
    measured.map(|()| ExitCode::SUCCESS)
}

/// Runs an informer of this form and prints its costs.
async fn measure<O: form::Decode>(
    target: &Target,
    source: ClientSource,
    args: &MeasureArgs,
    stop: Stop,
    packing: fn(&O::Decoder) -> Option<PackerStats>,
) -> anyhow::Result<()> {
    let mut builder =
        SharedInformer::<O>::builder(source.clone()).reflector_options(args.selection.reflector());
    if let Some(directory) = &args.cache {
        builder = cache::in_directory(builder, directory)?;
    }
    let (informer, runner) = builder.build();
    let decoder = runner.decoder();
    let shown = progress::doing("measuring");
    let cpu = process::cpu_time();
    let warming_up = tokio::time::timeout(WARM_UP_TIME, warm_up::<O>(&source));
    // What goes wrong is told by the informer.
    let _ = stop.token.run_until_cancelled(warming_up).await;
    let warm_up = (process::cpu_time().saturating_sub(cpu), source.bytes_received());
    let base = Memory::now();
    let mut measurement = Measurement {
        target,
        // Of several forms, the first one says it for all.
        says_none: args.alone.is_none_or(|form| args.form.first() == Some(&form)),
        informer,
        source,
        base,
        warm_up,
        started: Instant::now(),
        output: args.output,
        packing: Box::new(move || packing(&decoder)),
        changes: Cell::new(None),
        told: Cell::default(),
        shown,
    };
    let running = tokio::spawn(runner.run(stop.token.clone()));
    let measured = stop.token.run_until_cancelled(measurement.run(args.events)).await;
    measurement.shown.finish_and_clear();
    stop.token.cancel();
    running.await??;
    match measured.transpose()? {
        Some(Ended::Measured) => Ok(()),
        Some(Ended::Stopped) | None => Err(stop.interrupted(&measurement.progress(args.events))),
    }
}

/// Lists and decodes some objects, and forgets them. The memory that the program has then it has for any number of objects.
async fn warm_up<O: form::Decode>(source: &ClientSource) -> Result<(), ApiError> {
    let mut request = ListRequest::new(ListVersion::MostRecent);
    request.limit = Some(WARM_UP);
    let decoder = O::decoder(DecoderConfig::default());
    let mut parts = ListerWatcher::<O>::list(source, request).await?;
    while let Some(part) = parts.next().await {
        if let ListPart::Item(Item::Raw(raw)) = part? {
            let raw = raw.into_owned();
            let _ = O::decode_raw(&decoder, &raw.key(), &raw);
        }
    }
    Ok(())
}

/// Why a measurement ended.
enum Ended {
    Measured,
    /// The informer has stopped.
    Stopped,
}

/// An informer whose costs are measured.
struct Measurement<'t, O: CachedObject> {
    target: &'t Target,
    /// Whether to say that there are no objects.
    says_none: bool,
    informer: SharedInformer<O>,
    source: ClientSource,
    /// The memory before the list.
    base: Memory,
    /// The CPU time and the bytes of the warm-up, which is no part of the cost.
    warm_up: (Duration, u64),
    started: Instant,
    output: MeasureOutput,
    packing: Box<dyn Fn() -> Option<PackerStats> + Send>,
    /// The number of changes after the sync.
    changes: Cell<Option<u64>>,
    /// The numbers of the failures and of the unreadable objects that have been told.
    told: Cell<(u64, u64)>,
    /// What shows that it is at work.
    shown: ProgressBar,
}

impl<O: CachedObject> Measurement<'_, O> {
    async fn run(&mut self, events: Option<u64>) -> anyhow::Result<Ended> {
        if let Ok(true) = self.informer.restored().await {
            let cost = Cost {
                restored: true,
                objects: Some(self.informer.store().len()),
                ..Cost::of("restore", self.started, self.warm_up.0)
            };
            self.tell(&cost)?;
        }
        tokio::select! {
            // What is left out is told before the result.
            biased;
            failure = self.hopeless() => bail!("{failure}"),
            synced = self.informer.synced() => if synced.is_err() {
                return Ok(Ended::Stopped);
            },
        }
        let (warm_up_cpu, warm_up_bytes) = self.warm_up;
        let cost = Cost {
            restored: cache::is_restored(&self.informer),
            objects: Some(self.informer.store().len()),
            base_mib: Some(rounded(self.base.rss_mib)),
            bytes_received: Some(self.source.bytes_received().saturating_sub(warm_up_bytes)),
            encoding: self.informer.status().reflector.encoding.map(name_of),
            packing: (self.packing)().map(Packing::from),
            ..Cost::of("sync", self.started, warm_up_cpu)
        };
        if self.says_none && cost.objects == Some(0) {
            let none = self.target.none().await;
            self.shown.suspend(|| output::diagnostic(&none));
        }
        let Some(events) = events else {
            self.tell(&cost)?;
            return Ok(Ended::Measured);
        };
        // Merged changes would not be counted.
        let options = HandlerOptions::named("measure").delivery(Delivery::Unbounded);
        let mut feed = Feed::new(self.informer.subscribe(options)?);
        // What somebody changes after the line has to be counted.
        if !until_synced(&mut feed).await {
            return Ok(Ended::Stopped);
        }
        self.tell(&cost)?;
        let (started, cpu) = (Instant::now(), process::cpu_time());
        let changes = &self.changes;
        let counted = async {
            for seen in 0..events {
                changes.set(Some(seen));
                feed.next().await?;
            }
            Some(())
        };
        tokio::select! {
            biased;
            failure = self.hopeless() => bail!("{failure}"),
            counted = counted => if counted.is_none() {
                return Ok(Ended::Stopped);
            },
        }
        let cost = Cost {
            events: Some(events),
            ..Cost::of("events", started, cpu)
        };
        self.tell(&cost)?;
        Ok(Ended::Measured)
    }

    /// Tells of failures, and ends with the first that is not worth retrying.
    async fn hopeless(&self) -> String {
        let mut reflector = self.informer.reflector_status(Partition::SINGLE);
        let resource = self.target.resource.full_name();
        let tell = |what: String| {
            self.shown
                .suspend(|| output::diagnostic(&format!("{resource}: {what}")))
        };
        loop {
            let (failures, invalid) = self.told.get();
            let status = reflector.borrow_and_update().clone();
            if let Some(object) = status
                .last_invalid_object
                .filter(|_| status.invalid_objects > invalid)
            {
                self.told.set((failures, status.invalid_objects));
                tell(format!("left out: {object}"));
            }
            if let Some(error) = status.last_error.filter(|error| error.number > failures) {
                self.told.set((error.number, self.told.get().1));
                let (operation, why) = (error.operation, reason(&error));
                if !error.class.is_retryable() {
                    return format!("cannot {operation} {resource}: {why}");
                }
                tell(format!("reconnecting: {operation}: {why}"));
            }
            if reflector.changed().await.is_err() {
                // The informer has stopped; its runner reports why.
                return std::future::pending().await;
            }
        }
    }

    /// The progress of a measurement that was interrupted.
    fn progress(&self, events: Option<u64>) -> String {
        match (self.changes.get(), events) {
            (Some(seen), Some(events)) => format!("after {seen} of {events} changes"),
            _ => "before the cache had synced; nothing was measured".into(),
        }
    }

    fn tell(&self, cost: &Cost) -> anyhow::Result<()> {
        let text = match self.output {
            MeasureOutput::Json => serde_json::to_string(cost)?,
            MeasureOutput::Text => cost.text(),
        };
        Ok(self.shown.suspend(|| output::lines(&text))?)
    }
}

impl Cost {
    /// The measurements of a phase; `cpu` is the CPU time used before it.
    fn of(phase: &'static str, started: Instant, cpu: Duration) -> Self {
        let memory = Memory::now();
        Self {
            phase,
            restored: false,
            objects: None,
            events: None,
            wall_s: rounded(started.elapsed().as_secs_f64()),
            cpu_s: rounded(process::cpu_time().saturating_sub(cpu).as_secs_f64()),
            rss_mib: rounded(memory.rss_mib),
            peak_mib: rounded(memory.peak_mib),
            base_mib: None,
            bytes_received: None,
            encoding: None,
            packing: None,
        }
    }

    fn text(&self) -> String {
        let Self {
            phase,
            wall_s,
            cpu_s,
            rss_mib,
            peak_mib,
            ..
        } = self;
        let objects = self
            .objects
            .map(|objects| counted(objects as u64, "object") + ", ");
        let events = self.events.map(|events| counted(events, "event") + ", ");
        let received = self
            .bytes_received
            .map(|bytes| format!(", received {:.1} MiB", mib(bytes)));
        let base = self
            .base_mib
            .map(|base| format!(", {base:.1} MiB before the list"));
        let encoding = self.encoding.map(|encoding| format!(" in {encoding}"));
        format!(
            "{phase:<7} {}{wall_s:.2} s, CPU {cpu_s:.2} s, memory {rss_mib:.1} MiB (peak {peak_mib:.1} MiB{}){}{}",
            objects.or(events).unwrap_or_default(),
            base.unwrap_or_default(),
            received.unwrap_or_default(),
            encoding.unwrap_or_default(),
        ) + &self
            .packing
            .as_ref()
            .map_or(String::new(), |packing| format!("\n{}", packing.text()))
    }
}

fn name_of(encoding: Encoding) -> &'static str {
    match encoding {
        Encoding::Protobuf => "protobuf",
        _ => "JSON",
    }
}

fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

/// Rounded to three decimal places.
fn rounded(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

/// Returns false if the informer stopped before.
async fn until_synced<O: CachedObject>(feed: &mut Feed<O>) -> bool {
    loop {
        match feed.next().await {
            Some(Step::Change(_)) => {}
            Some(Step::Synced) => return true,
            None => return false,
        }
    }
}
