//! `record`: records the changes of resources in a file.

use crate::args::RecordArgs;
use crate::discovery::Resource;
use crate::feed::Step;
use crate::informers::{Form, Informers};
use crate::output;
use crate::recording::{Entry, Event, Header, Writer};
use crate::signals::{Meaning, Stop};
use crate::target::Target;
use crate::text::bytes;
use anyhow::{Context as _, bail};
use indicatif::ProgressBar;
use jiff::Timestamp;
use kube_informer::reflector::Phase;
use kube_informer::{Notification, ObjectKey};
use serde_json::Value;
use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::process::ExitCode;
use std::time::Duration;
use tokio::time::{Instant, MissedTickBehavior};

/// How often what has been recorded is written.
const FLUSH: Duration = Duration::from_secs(2);
/// The time after a signal at which the program ends even if a task hangs.
const GRACE: Duration = Duration::from_secs(4);
/// What stands in the place of a secret's value: `redacted`, in base64 where data is.
const REDACTED: &str = "redacted";
const REDACTED_DATA: &str = "cmVkYWN0ZWQ=";

pub(crate) async fn run(args: RecordArgs) -> anyhow::Result<ExitCode> {
    let stop = Stop::on_signal(Meaning::End, Some(GRACE))?;
    let found = Target::find_all(&args.resources, &args.scope);
    let Some(targets) = stop.token.run_until_cancelled(found).await else {
        return Err(stop.interrupted("before the server told what it has; nothing was recorded"));
    };
    let targets = targets?;
    let path = args.file.display();
    let mut recorder = Recorder::create(&args, &targets).with_context(|| {
        format!("cannot create {path}; --file must name a file that does not exist, in a folder that does")
    })?;
    let mut informers = Informers::start(&targets, &stop.token)?;
    let recorded = async {
        match args.period {
            Some(period) => tokio::time::timeout(period, recorder.record(&mut informers)).await,
            None => Ok(recorder.record(&mut informers).await),
        }
    };
    let recorded = stop.token.run_until_cancelled(recorded).await;
    stop.token.cancel();
    // The end of the time, or a signal, is the end that was asked for.
    let recorded = match recorded {
        Some(Ok(recorded)) => recorded,
        Some(Err(_)) | None => Ok(()),
    };
    if recorded.is_err() && recorder.is_empty() {
        // There is nothing in it, and it would be in the way of the next attempt.
        let _ = std::fs::remove_file(&args.file);
    }
    let written = recorder.finish().with_context(|| format!("cannot write {path}"));
    recorded.with_context(|| format!("cannot record to {path}"))?;
    informers.stopped().await?;
    output::diagnostic(&format!("{}: {}", args.file.display(), written?));
    Ok(ExitCode::SUCCESS)
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
        let progress = match io::stderr().is_terminal() {
            true => ProgressBar::new_spinner(),
            false => ProgressBar::hidden(),
        };
        Ok(Self {
            writer: Writer::new(file, &header)?,
            synced: vec![false; resources.len()],
            failures: vec![0; resources.len()],
            resources,
            started: Instant::now(),
            secrets: args.with_secrets,
            initial: 0,
            changes: 0,
            progress,
        })
    }

    /// Records until the informers have stopped. Cancel safe: what has been told is written by [`finish`](Self::finish).
    async fn record(&mut self, informers: &mut Informers) -> anyhow::Result<()> {
        let mut ticks = tokio::time::interval(FLUSH);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                happened = informers.next() => match happened {
                    Some((number, step)) => self.step(number, &step)?,
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
            let Some(error) = status.reflector.last_error else {
                continue;
            };
            let resource = self.resources[number].full_name();
            if !self.synced[number] && !error.class.is_retryable() {
                bail!("cannot {} {resource}: {}", error.operation, error.message);
            }
            if error.number > self.failures[number] && status.reflector.phase != Phase::Watching {
                self.failures[number] = error.number;
                output::diagnostic(&format!(
                    "{resource}: reconnecting: {}: {}",
                    error.operation, error.message
                ));
            }
        }
        Ok(())
    }

    fn step(&mut self, number: usize, step: &Step<Form>) -> io::Result<()> {
        let change = match step {
            Step::Synced => {
                self.synced[number] = true;
                self.entry(number, Event::Synced, None, None, None)?;
                if self.synced.iter().all(|synced| *synced) {
                    self.writer.flush()?;
                    output::diagnostic(&format!("synced: {} objects; recording changes", self.initial));
                }
                return Ok(());
            }
            Step::Change(change) => change,
        };
        let key = change.key();
        match change {
            Notification::Add { object, .. } if !self.synced[number] => {
                self.initial += 1;
                let object = self.object(number, object)?;
                self.entry(number, Event::Initial, Some(&key), None, Some(object))
            }
            Notification::Add { object, .. } => {
                self.changes += 1;
                let object = self.object(number, object)?;
                self.entry(number, Event::Add, Some(&key), None, Some(object))
            }
            Notification::Update { old, new } => {
                self.changes += 1;
                let replaced = old.uid() != new.uid();
                let (old, new) = (self.object(number, old)?, self.object(number, new)?);
                if replaced {
                    self.entry(number, Event::Delete, Some(&key), None, None)?;
                    return self.entry(number, Event::Add, Some(&key), None, Some(new));
                }
                self.entry(number, Event::Update, Some(&key), Some(&old), Some(new))
            }
            Notification::Delete(_) => {
                self.changes += 1;
                self.entry(number, Event::Delete, Some(&key), None, None)
            }
        }
    }

    /// An object as it is recorded.
    fn object(&self, number: usize, object: &Form) -> io::Result<Value> {
        let resource = &self.resources[number];
        let mut object = resource.object(&object.body())?;
        if resource.is_secret() && !self.secrets {
            redact(&mut object);
        }
        Ok(object)
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
            time: u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX),
            resource,
            event,
            key: key.map(ToString::to_string).unwrap_or_default(),
            object: None,
            patch: None,
        };
        match (old, new) {
            (Some(old), Some(new)) => {
                let patch = json_patch::diff(old, &new);
                match patch.to_string().len() < new.to_string().len() {
                    true => entry.patch = Some(patch),
                    false => entry.object = Some(new),
                }
            }
            (_, new) => entry.object = new,
        }
        self.writer.write(&entry)
    }

    /// Whether nothing has been told yet.
    fn is_empty(&self) -> bool {
        self.initial == 0 && self.synced.iter().all(|synced| !synced)
    }

    fn told(&self) -> String {
        format!(
            "{} objects, {} changes in {:.0?}, {}",
            self.initial,
            self.changes,
            self.started.elapsed(),
            bytes(self.writer.written())
        )
    }

    /// Writes what is left, and says what has been recorded.
    fn finish(&mut self) -> io::Result<String> {
        self.progress.finish_and_clear();
        self.writer.flush()?;
        Ok(self.told())
    }
}

/// Replaces the values of a secret, and those of its annotations, which may contain what was applied.
fn redact(secret: &mut Value) {
    for (member, instead) in [("data", REDACTED_DATA), ("stringData", REDACTED)] {
        for value in secret
            .get_mut(member)
            .and_then(Value::as_object_mut)
            .into_iter()
            .flatten()
        {
            *value.1 = instead.into();
        }
    }
    let annotations = secret
        .pointer_mut("/metadata/annotations")
        .and_then(Value::as_object_mut);
    for value in annotations.into_iter().flatten() {
        *value.1 = REDACTED.into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn secrets_are_redacted() {
        let mut secret = json!({
            "metadata": {"name": "s", "annotations": {"a": "hunter2"}}, "type": "Opaque",
            "data": {"password": "aHVudGVyMg=="}, "stringData": {"password": "hunter2"},
        });
        redact(&mut secret);
        assert_eq!(
            secret,
            json!({
                "metadata": {"name": "s", "annotations": {"a": "redacted"}}, "type": "Opaque",
                "data": {"password": "cmVkYWN0ZWQ="}, "stringData": {"password": "redacted"},
            })
        );
        // Whatever a server sends.
        for mut odd in [json!(null), json!({"data": "x", "metadata": []}), json!([1])] {
            redact(&mut odd);
        }
    }
}
