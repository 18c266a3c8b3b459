//! `record`: records the changes of resources in a file.

use crate::args::RecordArgs;
use crate::discovery::Resource;
use crate::failure::{Usage, reason};
use crate::feed::Step;
use crate::informers::{Form, Informers};
use crate::output;
use crate::progress;
use crate::recording::{Entry, Event, Header, MOST_OF_LEVELS, MOST_OF_LINE, Writer};
use crate::signals::{Meaning, Stop};
use crate::target::Target;
use crate::text::{bytes, counted, elapsed};
use anyhow::{Context as _, bail};
use indicatif::ProgressBar;
use jiff::Timestamp;
use k8s_openapi::ByteString;
use kube_informer::reflector::{Phase, ReflectorStatus};
use kube_informer::{Notification, ObjectKey};
use serde_json::Value;
use serde_json::value::to_raw_value;
use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::process::ExitCode;
use std::time::Duration;
use tokio::time::{Instant, MissedTickBehavior};

/// How often what has been recorded is written.
const FLUSH: Duration = Duration::from_secs(2);
/// The time after a signal at which the program ends even if a task hangs.
const GRACE: Duration = Duration::from_secs(4);
/// What begins that which stands in the place of a secret's value.
const REDACTED: &str = "redacted";
/// The bytes of a line for what is beside the object, and for how it is written.
const REST_OF_LINE: usize = 64 << 10;

pub(crate) async fn run(args: RecordArgs) -> anyhow::Result<ExitCode> {
    if args.file.as_os_str() == "-" {
        bail!(Usage(
            "--file: a recording is not written to standard output; name a file, or ./- for one of that name"
                .into()
        ));
    }
    let stop = Stop::on_signal(Meaning::End, Some(GRACE))?;
    let found = Target::find_all(&args.resources, &args.scope);
    let Some(targets) = stop.token.run_until_cancelled(found).await else {
        return Err(stop.interrupted("before the server told what it has; nothing was recorded"));
    };
    let targets = targets?;
    let path = args.file.display();
    let mut recorder = match Recorder::create(&args, &targets) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            bail!("{path} exists, and is not written over; give another --file, or remove it")
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            bail!(
                "cannot create {path}: there is no such folder; --file names a file in a folder that exists"
            )
        }
        created => created.with_context(|| format!("cannot create {path}"))?,
    };
    let mut informers = Informers::start(&targets, &args.scope.reflector(), &stop.token)?;
    let recorded = async {
        match args.period {
            Some(period) => tokio::time::timeout(period, recorder.record(&targets, &mut informers)).await,
            None => Ok(recorder.record(&targets, &mut informers).await),
        }
    };
    let recorded = stop.token.run_until_cancelled(recorded).await;
    let is_interrupted = stop.token.is_cancelled();
    let recorded = match recorded {
        Some(Ok(recorded)) => recorded,
        // The end of the time, or a signal, is the end that was asked for, but for what has failed since the last look.
        Some(Err(_)) | None => recorder.check(&informers),
    };
    stop.token.cancel();
    let written = recorder.finish().with_context(|| format!("cannot write {path}"));
    let unlisted = recorder.unlisted();
    let nothing = unlisted.len() == targets.len() && recorder.is_empty();
    if nothing {
        // There is nothing in it, and it would be in the way of the next attempt.
        let _ = std::fs::remove_file(&args.file);
    }
    recorded.with_context(|| format!("cannot record to {path}"))?;
    informers.stopped().await?;
    if !nothing {
        output::diagnostic(&format!("{path}: {}", written?));
    }
    if unlisted.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    let lacks = match nothing {
        true => format!("nothing was recorded: {}", unlisted.join("; ")),
        false => format!("{path} lacks what was not listed: {}", unlisted.join("; ")),
    };
    match is_interrupted && !recorder.is_failing() {
        true => Err(stop.interrupted(&format!("before everything was listed; {lacks}"))),
        false => bail!(lacks),
    }
}

/// A resource that was synced, and whose changes do not arrive.
#[derive(Debug, Clone, Copy)]
struct Away {
    since: Instant,
    lists: u64,
    watches: u64,
}

/// Writes what informers tell.
struct Recorder {
    writer: Writer<File>,
    resources: Vec<Resource>,
    started: Instant,
    secrets: bool,
    /// Which have told all objects that existed.
    synced: Vec<bool>,
    /// The failures that have been told of each.
    failures: Vec<u64>,
    /// Which are away, since when, and how many lists and watches there had been by then.
    away: Vec<Option<Away>>,
    /// The last failure of each that has not been listed.
    reasons: Vec<Option<String>>,
    /// The objects that cannot be recorded as they are.
    left_out: HashSet<(usize, ObjectKey)>,
    redaction: Redaction,
    initial: u64,
    changes: u64,
    progress: ProgressBar,
}

impl Recorder {
    fn create(args: &RecordArgs, targets: &[Target]) -> io::Result<Self> {
        let mut resources = Vec::new();
        for target in targets {
            resources.push(target.resource.clone());
        }
        let server = targets.first().map(|target| target.connection.url.clone());
        let header = Header {
            started: Timestamp::now(),
            server: server.unwrap_or_default(),
            resources: resources.clone(),
            secrets: args.with_secrets,
        };
        // Objects may contain what only some may read.
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&args.file)?;
        Ok(Self {
            writer: Writer::new(file, &header)?,
            synced: vec![false; resources.len()],
            failures: vec![0; resources.len()],
            away: vec![None; resources.len()],
            reasons: vec![None; resources.len()],
            left_out: HashSet::new(),
            redaction: Redaction::default(),
            resources,
            started: Instant::now(),
            secrets: args.with_secrets,
            initial: 0,
            changes: 0,
            progress: progress::line(),
        })
    }

    /// Records until the informers have stopped. Cancel safe: what has been told is written by [`finish`](Self::finish).
    async fn record(&mut self, targets: &[Target], informers: &mut Informers) -> anyhow::Result<()> {
        let mut ticks = tokio::time::interval(FLUSH);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                happened = informers.next() => match happened {
                    Some((number, step)) => {
                        self.step(number, &step)?;
                        let objects = informers.statuses().nth(number).map(|status| status.objects);
                        if matches!(step, Step::Synced) && objects == Some(0) {
                            self.say(&targets[number].none().await);
                        }
                    }
                    None => return Ok(()),
                },
                _ = ticks.tick() => {
                    self.writer.flush()?;
                    self.progress.set_message(self.told());
                    self.progress.tick();
                    self.check(informers)?;
                }
            }
        }
    }

    /// Tells of failures; one that no retry helps ends the recording if nothing is known of its resource yet.
    fn check(&mut self, informers: &Informers) -> anyhow::Result<()> {
        for (number, status) in informers.statuses().enumerate() {
            self.is_back(number, &status.reflector);
            let Some(error) = status.reflector.last_error else {
                continue;
            };
            let resource = self.resources[number].full_name();
            let why = reason(&error);
            self.reasons[number] = Some(why.clone());
            if !self.synced[number] && !error.class.is_retryable() {
                bail!("cannot {} {resource}: {why}", error.operation);
            }
            if error.number > self.failures[number] && status.reflector.phase != Phase::Watching {
                self.failures[number] = error.number;
                let operation = error.operation;
                if self.synced[number] {
                    self.away[number].get_or_insert_with(|| Away {
                        since: Instant::now(),
                        lists: status.reflector.lists,
                        watches: status.reflector.watches,
                    });
                }
                self.say(&format!("{resource}: reconnecting: {operation}: {why}"));
            }
        }
        Ok(())
    }

    /// Tells that the changes of a resource arrive again. Those of the meantime are recorded one by one if the watch goes on where it
    /// was; what a new list shows has its time.
    fn is_back(&mut self, number: usize, status: &ReflectorStatus) {
        let Some(away) = self.away[number] else { return };
        if status.phase != Phase::Watching || status.failures > 0 || status.watches == away.watches {
            return;
        }
        self.away[number] = None;
        let resource = self.resources[number].full_name();
        let after = elapsed(away.since.elapsed());
        let how = match status.lists > away.lists {
            true => "listed again; what changed meanwhile is recorded as of now",
            false => "the watch goes on where it was",
        };
        self.say(&format!("{resource}: back after {after}; {how}"));
    }

    /// Says something on standard error, not in the line that shows the progress.
    fn say(&self, message: &str) {
        self.progress.suspend(|| output::diagnostic(message));
    }

    fn step(&mut self, number: usize, step: &Step<Form>) -> io::Result<()> {
        let change = match step {
            Step::Synced => {
                self.synced[number] = true;
                self.entry(number, Event::Synced, None, None, None)?;
                if self.synced.iter().all(|synced| *synced) {
                    self.writer.flush()?;
                    let objects = counted(self.initial, "object");
                    self.say(&format!("synced: {objects}; recording changes"));
                }
                return Ok(());
            }
            Step::Change(change) => change,
        };
        let key = change.key();
        let place = (number, key.clone());
        let was_left_out = self.left_out.contains(&place);
        let (old, object) = match change {
            Notification::Add { object, .. } => (None, object),
            Notification::Update { old, new } => (Some(old), new),
            Notification::Delete(_) => {
                if self.left_out.remove(&place) {
                    return Ok(());
                }
                self.changes += 1;
                return self.entry(number, Event::Delete, Some(&key), None, None);
            }
        };
        let new = match self.object(number, object) {
            Ok(new) => new,
            Err(why) => {
                if self.left_out.insert(place) {
                    let resource = self.resources[number].full_name();
                    self.say(&format!("{resource} {key} is left out: {why}"));
                }
                // From here on it is none of the recording's.
                if old.is_some() && !was_left_out {
                    self.changes += 1;
                    return self.entry(number, Event::Delete, Some(&key), None, None);
                }
                return Ok(());
            }
        };
        self.left_out.remove(&place);
        match old.filter(|_| !was_left_out) {
            None if !self.synced[number] => {
                self.initial += 1;
                self.entry(number, Event::Initial, Some(&key), None, Some(new))
            }
            None => {
                self.changes += 1;
                self.entry(number, Event::Add, Some(&key), None, Some(new))
            }
            Some(old) if old.uid() != object.uid() => {
                self.changes += 2;
                self.entry(number, Event::Delete, Some(&key), None, None)?;
                self.entry(number, Event::Add, Some(&key), None, Some(new))
            }
            Some(old) => {
                self.changes += 1;
                // One that was recorded can be read again.
                let old = self.object(number, old).ok();
                self.entry(number, Event::Update, Some(&key), old.as_ref(), Some(new))
            }
        }
    }

    /// An object as it is recorded, or why it cannot be read again if it is.
    fn object(&self, number: usize, object: &Form) -> Result<Value, String> {
        let resource = &self.resources[number];
        let body = object.body();
        if body.len() > MOST_OF_LINE - REST_OF_LINE {
            return Err(format!("it has {}", bytes(body.len() as u64)));
        }
        let mut value = resource.object(&body).map_err(|error| error.to_string())?;
        if levels(&value) > MOST_OF_LEVELS {
            return Err(format!("it is nested more than {MOST_OF_LEVELS} levels deep"));
        }
        if resource.is_secret() && !self.secrets {
            self.redaction.redact(&mut value);
        }
        Ok(value)
    }

    /// Whether a resource was not listed because of a failure.
    fn is_failing(&self) -> bool {
        let mut resources = self.synced.iter().zip(&self.reasons);
        resources.any(|(synced, reason)| !synced && reason.is_some())
    }

    /// The resources that were never listed, and why.
    fn unlisted(&self) -> Vec<String> {
        let unlisted = (0..self.resources.len()).filter(|number| !self.synced[*number]);
        let told = unlisted.map(|number| {
            let why = self.reasons[number].as_deref();
            let resource = self.resources[number].full_name();
            format!("{resource} ({})", why.unwrap_or("its list was not complete"))
        });
        told.collect()
    }

    /// Writes an entry; an update as a patch, if that is shorter.
    fn entry(
        &mut self,
        resource: usize,
        event: Event,
        key: Option<&ObjectKey>,
        old: Option<&Value>,
        new: Option<Value>,
    ) -> io::Result<()> {
        let mut entry = Entry {
            time: self.millis(),
            resource,
            event,
            key: key.map(ToString::to_string).unwrap_or_default(),
            object: None,
            patch: None,
        };
        if let Some(new) = new {
            let whole = to_raw_value(&new)?;
            let patch = old.map(|old| to_raw_value(&json_patch::diff(old, &new)));
            match patch
                .transpose()?
                .filter(|patch| patch.get().len() < whole.get().len())
            {
                Some(patch) => entry.patch = Some(patch),
                None => entry.object = Some(whole),
            }
        }
        self.writer.write(&entry)
    }

    /// Milliseconds since the recording began.
    fn millis(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// Whether nothing has been told yet.
    fn is_empty(&self) -> bool {
        self.initial == 0 && self.synced.iter().all(|synced| !synced)
    }

    fn told(&self) -> String {
        format!(
            "{}, {} in {:.0?}, {}",
            counted(self.initial, "object"),
            counted(self.changes, "change"),
            self.started.elapsed(),
            bytes(self.writer.written())
        )
    }

    /// Writes what is left and when it ended, and says what has been recorded.
    fn finish(&mut self) -> io::Result<String> {
        self.progress.finish_and_clear();
        self.writer.end(self.millis())?;
        Ok(self.told())
    }
}

/// The levels of arrays and objects, at most 128 in parsed JSON.
fn levels(value: &Value) -> usize {
    let inner = match value {
        Value::Array(elements) => elements.iter().map(levels).max(),
        Value::Object(members) => members.values().map(levels).max(),
        _ => return 0,
    };
    1 + inner.unwrap_or_default()
}

/// Replaces the values of secrets by what tells only whether they have changed: a hash of the value and its place, whose random key
/// nobody learns.
#[derive(Default)]
struct Redaction(RandomState);

impl Redaction {
    /// Replaces the values of a secret, and those of its annotations, which may contain what was applied.
    fn redact(&self, secret: &mut Value) {
        let uid = secret["metadata"]["uid"].as_str().unwrap_or_default().to_owned();
        for pointer in ["/data", "/stringData", "/metadata/annotations"] {
            let values = secret.pointer_mut(pointer).and_then(Value::as_object_mut);
            for (name, value) in values.into_iter().flatten() {
                let hash = self.0.hash_one((&uid, pointer, name, value.to_string()));
                let text = format!("{REDACTED}-{hash:016x}");
                *value = match pointer {
                    "/data" => serde_json::to_value(ByteString(text.into_bytes())).unwrap_or_default(),
                    _ => text.into(),
                };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn redacted_secrets_tell_only_that_they_changed() {
        let secret = |value: &str| {
            json!({
                "metadata": {"name": "s", "uid": "1", "annotations": {"a": value}}, "type": "Opaque",
                "data": {"password": value, "again": value}, "stringData": {"password": value},
            })
        };
        let redaction = Redaction::default();
        let redacted = |redaction: &Redaction, value: &str| {
            let mut secret = secret(value);
            redaction.redact(&mut secret);
            secret
        };
        let one = redacted(&redaction, "aHVudGVyMg==");
        assert_eq!(one, redacted(&redaction, "aHVudGVyMg=="));
        assert_ne!(
            one,
            redacted(&Redaction::default(), "aHVudGVyMg=="),
            "the key is one of the recording"
        );
        assert_ne!(
            one["data"]["password"], one["data"]["again"],
            "equal values are not told"
        );
        let other = redacted(&redaction, "aHVudGVyMw==");
        for pointer in [
            "/data/password",
            "/stringData/password",
            "/metadata/annotations/a",
        ] {
            assert_ne!(one.pointer(pointer), other.pointer(pointer), "{pointer}");
        }
        let data: ByteString = serde_json::from_value(one["data"]["password"].clone()).unwrap();
        assert!(data.0.starts_with(b"redacted-"));
        assert!(
            one["stringData"]["password"]
                .as_str()
                .unwrap()
                .starts_with("redacted-")
        );
        assert!(
            one["metadata"]["annotations"]["a"]
                .as_str()
                .unwrap()
                .starts_with("redacted-")
        );
        assert_eq!(
            (&one["type"], &one["metadata"]["name"]),
            (&json!("Opaque"), &json!("s"))
        );
        // Whatever a server sends.
        for mut odd in [
            json!({"data": "x", "metadata": []}),
            json!({"metadata": {"uid": 1}}),
        ] {
            redaction.redact(&mut odd);
        }
    }

    #[test]
    fn levels_of_nesting_are_counted() {
        for (value, expected) in [(json!(1), 0), (json!({}), 1), (json!({"a": [1, [2]], "b": 1}), 3)] {
            assert_eq!(levels(&value), expected, "{value}");
        }
    }
}
