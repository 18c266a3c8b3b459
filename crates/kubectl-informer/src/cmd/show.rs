//! `show` and `diff`: look at a recording by time and object.

use crate::age;
use crate::args::{DiffArgs, DiffOutput, Moment, RecordingArgs, ShowArgs, ShowOutput};
use crate::config::given;
use crate::diff;
use crate::discovery::{Resource, Resources};
use crate::failure::Usage;
use crate::grid::{self, Grid};
use crate::output;
use crate::progress;
use crate::recording::{Entry, Event, Header, Object, Reader, States, remove_managed_fields};
use crate::target::wanted;
use anyhow::{Context as _, anyhow, bail};
use jiff::{SignedDuration, Timestamp};
use kube_informer::ObjectKey;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

/// The objects whose names decide how wide columns are at first.
const MEASURED: usize = 1000;

/// Prints the objects of a recording as they were at a time.
///
/// # Errors
/// The recording cannot be read.
pub(crate) fn show(args: &ShowArgs) -> anyhow::Result<ExitCode> {
    let mut recording = Recording::open(&args.recording.file)?;
    let header = recording.reader.header().clone();
    let selected = Selected::of(&args.recording, &header)?;
    let end = args.at.map_or(u64::MAX, |moment| moment.millis(header.started));
    if let Some(at) = before(args.at, &header) {
        bail!(Usage(format!(
            "--at {at} is before the recording began, at {}",
            header.started
        )));
    }
    let progress = progress::doing("reading the recording");
    let Reached { last, all } = state_at(&mut recording, &selected, end);
    let states = &recording.states;
    let mut found: Vec<_> = states
        .keys()
        .filter(|(number, key)| selected.has(*number, key))
        .collect();
    found.sort_unstable();
    drop(progress);
    let ended = recording.reader.ended();
    if found.is_empty() {
        output::diagnostic(&format!("no recorded object matches; {}", told(&header, ended)));
    }
    if args.at.is_some() && all && recording.damage.is_none() && end > ended.unwrap_or_default() {
        let told = match ended {
            Some(ended) => format!(
                "the recording ended before --at, at {}",
                clock(time(&header, ended))
            ),
            None => format!(
                "the last entry before --at is of {}; the recording is incomplete, so later changes may be missing",
                clock(time(&header, last))
            ),
        };
        output::diagnostic(&told);
    }
    let now = time(&header, args.at.map_or(ended.unwrap_or(last), |_| end));
    match args.output {
        ShowOutput::Name => {
            for (number, key) in found {
                let prefix = header.resources[number].object_prefix();
                output::line(&format!("{prefix}/{}", key.name()))?;
            }
        }
        ShowOutput::Table => {
            let several = header.resources.len() > 1;
            let name = |number: usize, key: &ObjectKey| match several {
                true => format!("{}/{}", header.resources[number].object_prefix(), key.name()),
                false => key.name().to_owned(),
            };
            let rows = found.into_iter().map(|(number, key)| {
                // One that cannot be read has a row all the same.
                let body = states.body(number, key).and_then(Result::ok).unwrap_or_default();
                let Brief { metadata } = serde_json::from_slice(&body).unwrap_or_default();
                let created = metadata.creation_timestamp;
                let created: Option<Timestamp> = created.and_then(|time| time.parse().ok());
                let age = created
                    .map(|created| age::human(now.duration_since(created).try_into().unwrap_or_default()));
                let changed = states.changed(number, key).map(|millis| time(&header, millis));
                vec![
                    key.namespace().unwrap_or_default().to_owned(),
                    name(number, key),
                    age.unwrap_or_else(|| "-".into()),
                    metadata.resource_version.unwrap_or_else(|| "-".into()),
                    changed.map_or_else(|| "-".into(), clock),
                ]
            });
            let head = ["NAMESPACE", "NAME", "AGE", "VERSION", "CHANGED"].map(ToOwned::to_owned);
            if rows.len() > 0 {
                output::lines(&grid::table(std::iter::once(head.to_vec()).chain(rows)).join("\n"))?;
            }
        }
        ShowOutput::Json => {
            let mut lines = output::Bulk::new();
            for (number, key) in found {
                match states.json(number, key, args.show_managed_fields) {
                    Some(Ok(object)) => lines.line(&object)?,
                    Some(Err(why)) => bail!("{}: {key}: {why}", recording.path),
                    None => {}
                }
            }
            lines.finish()?;
        }
        ShowOutput::Yaml => {
            for (number, key) in found {
                let mut object = match states.get(number, key) {
                    Some(Ok(object)) => object,
                    Some(Err(why)) => bail!("{}: {key}: {why}", recording.path),
                    None => continue,
                };
                if !args.show_managed_fields {
                    remove_managed_fields(&mut object);
                }
                output::lines(&format!("---\n{}", serde_saphyr::to_string(&object)?.trim_end()))?;
            }
        }
    }
    recording.ended()
}

/// What a table shows of an object.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Brief {
    metadata: BriefMeta,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct BriefMeta {
    creation_timestamp: Option<String>,
    resource_version: Option<String>,
}

/// What a recording has, for those who looked for something else.
fn told(header: &Header, ended: Option<u64>) -> String {
    let resources: Vec<_> = header.resources.iter().map(Resource::full_name).collect();
    let second = |time: Timestamp| time.strftime("%Y-%m-%dT%H:%M:%SZ");
    let ended = ended.map(|ended| format!(" to {}", second(time(header, ended))));
    format!(
        "the recording has {} of {}, from {}{}",
        resources.join(", "),
        header.server,
        second(header.started),
        ended.unwrap_or_default()
    )
}

/// How far a recording was read.
struct Reached {
    /// When the last applied entry was recorded.
    last: u64,
    /// Whether nothing comes after it.
    all: bool,
}

/// Applies to the selected objects what was recorded up to a time, and what had been there at the beginning: a list takes its time to
/// arrive.
fn state_at(recording: &mut Recording, selected: &Selected, end: u64) -> Reached {
    let resources = recording.reader.header().resources.len();
    let mut synced = BTreeSet::new();
    let (mut last, mut all) = (0, true);
    while let Some(mut entry) = recording.next() {
        match entry.event {
            Event::Synced => {
                synced.insert(entry.resource);
            }
            Event::Initial => {}
            _ if entry.time > end => {
                all = false;
                if synced.len() == resources {
                    break;
                }
                continue;
            }
            _ => {}
        }
        if selected.has_entry(&entry) && recording.note(&mut entry).is_none() {
            break;
        }
        last = entry.time;
    }
    Reached { last, all }
}

/// A line of `diff -o json`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    time: String,
    event: &'a str,
    resource: String,
    key: &'a str,
    resource_version: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<Vec<diff::Change>>,
}

/// Prints the changes of a recording.
///
/// # Errors
/// The recording cannot be read, or the reader has closed the output.
pub(crate) fn diff(args: &DiffArgs) -> anyhow::Result<ExitCode> {
    let mut recording = Recording::open(&args.recording.file)?;
    let header = recording.reader.header().clone();
    let selected = Selected::of(&args.recording, &header)?;
    let from = args.from.map_or(0, |moment| moment.millis(header.started));
    let to = args.to.map_or(u64::MAX, |moment| moment.millis(header.started));
    let colors = output::has_colors(args.color);
    if to < from {
        bail!(Usage("--to is before --from".into()));
    }
    if let Some(to) = before(args.to, &header) {
        bail!(Usage(format!(
            "--to {to} is before the recording began, at {}",
            header.started
        )));
    }
    if before(args.from, &header).is_some() {
        output::diagnostic(&format!(
            "the recording began after --from, at {}",
            header.started
        ));
    }
    let several = header.resources.len() > 1;
    let mut grid = Grid::default();
    let mut progress = Some(progress::doing("reading the recording"));
    let (mut changed, mut last, mut all) = (0_u64, 0, true);
    while let Some(mut entry) = recording.next() {
        if entry.time > to {
            all = false;
            break;
        }
        last = entry.time;
        if !selected.has_entry(&entry) {
            continue;
        }
        if matches!(entry.event, Event::Initial | Event::Synced) || entry.time < from {
            match recording.note(&mut entry) {
                Some(()) => continue,
                None => break,
            }
        }
        let Some(change) = recording.apply(&mut entry) else {
            break;
        };
        let key = ObjectKey::from(entry.key.as_str());
        drop(progress.take());
        changed += 1;
        let resource = &header.resources[entry.resource];
        let value = |object: Option<Object>| object.map(|object| object.value(resource)).transpose();
        let (old, new) = match (value(change.old), value(change.new)) {
            (Ok(old), Ok(new)) => (old, new),
            (Err(why), _) | (_, Err(why)) => bail!("{}: {key}: {why}", recording.path),
        };
        let fields = match (&old, &new) {
            (Some(old), Some(new)) => Some(diff::changes(old, new, args.fields)),
            _ => None,
        };
        let version = new.as_ref().or(old.as_ref()).map(version).unwrap_or_default();
        let at = time(&header, entry.time);
        match args.output {
            DiffOutput::Json => output::line(&serde_json::to_string(&Line {
                time: at.to_string(),
                event: entry.event.name(),
                resource: resource.full_name(),
                key: &key,
                resource_version: version,
                changes: fields,
            })?)?,
            DiffOutput::Table => {
                if !grid.has_rows() {
                    let head = ["TIME", "EVENT", "NAMESPACE", "NAME", "VERSION"].map(ToOwned::to_owned);
                    grid.row(head.iter().cloned());
                    // As wide as the first row and the objects that are known need it.
                    let known = recording.states.keys();
                    let known = known
                        .filter(|(number, key)| selected.has(*number, key))
                        .take(MEASURED);
                    let known = known.map(|(number, key)| (number, key.clone()));
                    for (number, key) in known.chain([(entry.resource, key.clone())]) {
                        let resource = &header.resources[number];
                        grid.row(cells(at, "update", resource, &key, several, version).into_iter());
                    }
                    output::line(&grid.row(head.into_iter()))?;
                }
                let cells = cells(at, entry.event.name(), resource, &key, several, version);
                let row = grid.row(cells.into_iter());
                let event = entry.event.name();
                let end = row.find(event).map_or(0, |at| at + event.len());
                let (head, tail) = row.split_at(end);
                output::colored(diff::color(event).filter(|_| colors), head, tail)?;
                if let Some(fields) = fields {
                    diff::print(&fields, "    ", "--fields=all", colors)?;
                }
            }
        }
    }
    drop(progress);
    let ended = recording.reader.ended();
    if changed == 0 && all && recording.damage.is_none() && ended.unwrap_or(last) < from {
        let (what, at) = match ended {
            Some(ended) => ("the end", ended),
            None => ("the last entry", last),
        };
        bail!(Usage(format!(
            "--from is after {what} of the recording, at {}",
            clock(time(&header, at))
        )));
    }
    if changed == 0 {
        output::diagnostic(&format!("no recorded change matches; {}", told(&header, ended)));
    }
    recording.ended()
}

/// A time that is before the recording began.
fn before(moment: Option<Moment>, header: &Header) -> Option<Timestamp> {
    match moment {
        Some(Moment::At(at)) if at < header.started => Some(at),
        _ => None,
    }
}

/// The cells of a change's row.
fn cells(
    at: Timestamp,
    event: &str,
    resource: &Resource,
    key: &ObjectKey,
    several: bool,
    version: &str,
) -> [String; 5] {
    let name = match several {
        true => format!("{}/{}", resource.object_prefix(), key.name()),
        false => key.name().to_owned(),
    };
    let namespace = key.namespace().unwrap_or_default().to_owned();
    [clock(at), event.to_owned(), namespace, name, version.to_owned()]
}

/// A recording that is read, and its objects so far.
pub(super) struct Recording {
    pub(super) path: String,
    pub(super) reader: Reader<File>,
    pub(super) states: States,
    /// Why it cannot be read any further.
    damage: Option<String>,
}

impl Recording {
    /// Opens a file.
    ///
    /// # Errors
    /// It is no recording.
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        let name = path.display().to_string();
        let file = File::open(path).with_context(|| format!("cannot open {name}"))?;
        let reader = Reader::new(file).map_err(|error| anyhow!("cannot read {name}: {error}"))?;
        Ok(Self {
            states: States::new(reader.header()),
            path: name,
            reader,
            damage: None,
        })
    }

    /// The next entry; `None` at the end, and where the file is damaged.
    pub(super) fn next(&mut self) -> Option<Entry> {
        if self.damage.is_some() {
            return None;
        }
        let next = self.reader.next();
        next.unwrap_or_else(|error| {
            self.damage = Some(format!("cannot read {}: {error}", self.path));
            None
        })
    }

    /// Applies an entry to the objects; `None` if it does not fit to them, as in a damaged file.
    pub(super) fn apply(&mut self, entry: &mut Entry) -> Option<crate::recording::Change> {
        let applied = self.states.apply(entry);
        self.fits(applied)
    }

    /// Applies an entry, of which is not asked what it changes.
    fn note(&mut self, entry: &mut Entry) -> Option<()> {
        let noted = self.states.note(entry, self.reader.line());
        self.fits(noted)
    }

    fn fits<T>(&mut self, applied: Result<T, String>) -> Option<T> {
        applied
            .inspect_err(|why| {
                self.damage = Some(format!("{}: line {}: {why}", self.path, self.reader.line()));
            })
            .ok()
    }

    /// Says if the file ends before the recording does.
    ///
    /// # Errors
    /// It is damaged; what was before that has been read.
    pub(super) fn ended(&self) -> anyhow::Result<ExitCode> {
        if let Some(damage) = &self.damage {
            bail!("{damage}; what comes before it was read");
        }
        if self.reader.is_cut() {
            output::diagnostic(&format!(
                "{}: the recording is incomplete: the recorder is still running, was killed or could not write, or the file was cut",
                self.path
            ));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Which objects of a recording are wanted.
struct Selected {
    /// The numbers of resources, and names; none: all.
    wanted: Option<Vec<(usize, Option<String>)>>,
    namespace: Option<String>,
}

impl Selected {
    fn of(args: &RecordingArgs, header: &Header) -> anyhow::Result<Self> {
        let namespace = given(&args.namespace).filter(|_| !args.all_namespaces);
        let namespace = namespace.map(ToOwned::to_owned);
        if args.resources.is_empty() {
            return Ok(Self {
                wanted: None,
                namespace,
            });
        }
        let resources = Resources::recorded(&header.resources);
        let mut found = Vec::new();
        for (resource, name) in wanted(&args.resources)? {
            let resource: &Resource = resources.resolve(resource)?;
            let numbers = header
                .resources
                .iter()
                .enumerate()
                .filter(|(_, known)| *known == resource);
            found.extend(numbers.map(|(number, _)| (number, name.map(ToOwned::to_owned))));
        }
        Ok(Self {
            wanted: Some(found),
            namespace,
        })
    }

    /// Whether an entry is of a selected object. Others need not even be applied.
    fn has_entry(&self, entry: &Entry) -> bool {
        self.has(entry.resource, &ObjectKey::from(entry.key.as_str()))
    }

    fn has(&self, number: usize, key: &ObjectKey) -> bool {
        let fits = |(resource, name): &(usize, Option<String>)| {
            *resource == number && name.as_ref().is_none_or(|name| name == key.name())
        };
        let in_namespace = self
            .namespace
            .as_deref()
            .is_none_or(|namespace| key.namespace() == Some(namespace));
        in_namespace && self.wanted.as_ref().is_none_or(|wanted| wanted.iter().any(fits))
    }
}

/// A time of a recording.
fn time(header: &Header, millis: u64) -> Timestamp {
    let after = SignedDuration::try_from(Duration::from_millis(millis)).ok();
    let time = after.and_then(|after| header.started.checked_add(after).ok());
    time.unwrap_or(header.started)
}

/// A time as it is printed: in UTC, with milliseconds.
fn clock(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

fn version(object: &Value) -> &str {
    object["metadata"]["resourceVersion"].as_str().unwrap_or("-")
}
