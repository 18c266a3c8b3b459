//! When informers are saved: one after the other.

use crate::time::later;
use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::{Mutex, OwnedMutexGuard};
use tokio::time::Instant;

/// The turns in which informers are saved. All are equal.
#[derive(Debug, Clone, Default)]
pub(crate) struct Turns {
    /// When the next save from time to time may begin.
    next: Arc<Mutex<Option<Instant>>>,
    /// Held by the one that writes: when the disk was found to take nothing.
    writing: Arc<Mutex<Option<Instant>>>,
}

/// How far a write on a blocking thread is.
#[derive(Debug, Default)]
pub(crate) struct Writing {
    bytes: AtomicU64,
    given_up: AtomicBool,
}

impl Writing {
    fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    fn add(&self, bytes: u64) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    fn give_up(&self) {
        self.given_up.store(true, Ordering::SeqCst);
    }

    /// Whether nobody waits for it any more. Others may have written since.
    pub(crate) fn is_given_up(&self) -> bool {
        self.given_up.load(Ordering::SeqCst)
    }

    /// # Errors
    /// It was given up.
    pub(crate) fn check(&self) -> io::Result<()> {
        match self.is_given_up() {
            true => Err(io::Error::new(io::ErrorKind::TimedOut, "the write was given up")),
            false => Ok(()),
        }
    }
}

/// The time between two saves is at least this many times what the last one took.
const SPACING: u32 = 100;
/// A disk that takes nothing for so long is given up.
pub(crate) const STALLED: Duration = Duration::from_secs(10);
/// How long a disk that was given up is not tried again by those who cannot wait.
const HUNG: Duration = Duration::from_secs(60);
/// After so many bytes the disk is asked to keep them, so that the last time does not take long.
const SYNC: u64 = 32 << 20;

impl Turns {
    /// Waits for a turn, which lasts until the returned guard is dropped.
    pub(crate) async fn next(&self) -> Turn {
        let next = self.next.clone().lock_owned().await;
        if let Some(next) = *next {
            tokio::time::sleep_until(next).await;
        }
        Turn(next)
    }

    /// Writes on a blocking thread when nobody else does. `write` counts what it has written; if that stays the same for `stalled`, it
    /// is given up, though the thread goes on until it finds that out. How long it has to wait for others does not count. `is_last` says not to try a disk that
    /// others have given up.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        stalled: Duration,
        is_last: bool,
        write: impl FnOnce(Arc<Writing>) -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        let hangs = || {
            let seconds = stalled.as_secs();
            io::Error::new(
                io::ErrorKind::TimedOut,
                format!("the disk took nothing for {seconds} s"),
            )
        };
        let mut hung = self.writing.lock().await;
        if is_last && hung.is_some_and(|hung| hung.elapsed() < HUNG) {
            return Err(hangs());
        }
        let progress = Arc::<Writing>::default();
        let written = progress.clone();
        let mut writing = tokio::task::spawn_blocking(move || write(written));
        loop {
            let before = progress.bytes();
            match tokio::time::timeout(stalled, &mut writing).await {
                Ok(written) => {
                    *hung = None;
                    return written.unwrap_or_else(|error| Err(io::Error::other(error)));
                }
                Err(_) if progress.bytes() != before => {}
                Err(_) => {
                    progress.give_up();
                    *hung = Some(Instant::now());
                    return Err(hangs());
                }
            }
        }
    }
}

/// An informer may be saved.
pub(crate) struct Turn(OwnedMutexGuard<Option<Instant>>);

impl Turn {
    /// Ends the turn after a save that took so long.
    pub(crate) fn end(mut self, took: Duration) {
        *self.0 = Some(later(Instant::now(), took.saturating_mul(SPACING)));
    }
}

impl PartialEq for Turns {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Turns {}

/// A file that counts what is written to it.
pub(crate) struct Counted<'a> {
    file: &'a mut File,
    written: Arc<Writing>,
    unsynced: u64,
}

impl<'a> Counted<'a> {
    pub(crate) fn new(file: &'a mut File, written: Arc<Writing>) -> Self {
        Self {
            file,
            written,
            unsynced: 0,
        }
    }
}

impl Write for Counted<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.written.check()?;
        let length = self.file.write(bytes)?;
        self.unsynced += length as u64;
        if self.unsynced >= SYNC {
            self.file.sync_data()?;
            self.unsynced = 0;
        }
        self.written.add(length as u64);
        Ok(length)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::warm_start::directory::replace;
    use futures::future::join_all;
    use std::thread::sleep;

    #[tokio::test(start_paused = true)]
    async fn saving_takes_one_percent_of_the_time_of_all() {
        let turns = Turns::default();
        let turns = [turns.clone(), turns];
        let started = Instant::now();
        for _ in 0..10 {
            for turns in &turns {
                let turn = turns.next().await;
                tokio::time::advance(Duration::from_secs(1)).await;
                turn.end(Duration::from_secs(1));
            }
        }
        assert!(started.elapsed() >= Duration::from_secs(19 * 100));
    }

    #[tokio::test]
    async fn who_waits_for_others_to_write_has_its_time_all_the_same() {
        let (turns, stalled) = (Turns::default(), Duration::from_millis(200));
        let one = |written: Arc<Writing>| {
            for _ in 0..5 {
                sleep(Duration::from_millis(10));
                written.add(1);
            }
            Ok(())
        };
        // Together, and each of the last ones with what it waits for, they take longer than a disk may be silent.
        let all = (0..10).map(|_| turns.write(stalled, true, one));
        let all: io::Result<Vec<()>> = join_all(all).await.into_iter().collect();
        assert!(all.is_ok(), "{all:?}");
    }

    #[tokio::test]
    async fn a_disk_that_hangs_is_waited_for_once() {
        let (turns, stalled) = (Turns::default(), Duration::from_millis(50));
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let hangs = move |_| {
            let _ = ended.recv();
            Ok(())
        };
        let hangs = turns.write(stalled, true, hangs).await;
        assert_eq!(hangs.unwrap_err().kind(), io::ErrorKind::TimedOut);
        let next = turns.write(stalled, true, |_| Ok(())).await;
        assert_eq!(next.unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert!(
            turns.write(stalled, false, |_| Ok(())).await.is_ok(),
            "who can wait tries again"
        );
        assert!(
            turns.write(stalled, true, |_| Ok(())).await.is_ok(),
            "the disk takes something again"
        );
        drop(end);
    }

    #[tokio::test]
    async fn a_write_that_was_given_up_replaces_nothing() {
        let (turns, directory) = (Turns::default(), tempfile::TempDir::new().unwrap());
        let path = directory.path().join("pods.cache");
        let (end, hanging) = std::sync::mpsc::channel::<()>();
        let (told, ended) = tokio::sync::oneshot::channel();
        let old = path.clone();
        let hangs = move |writing: Arc<Writing>| {
            let replaced = replace(&old, &writing, |file| {
                let _ = hanging.recv();
                file.write_all(b"old")
            });
            told.send(replaced.is_err()).unwrap();
            Ok(())
        };
        let given_up = turns.write(Duration::from_millis(50), false, hangs).await;
        assert!(given_up.is_err());
        let new = path.clone();
        let write = move |writing: Arc<Writing>| replace(&new, &writing, |file| file.write_all(b"new"));
        turns.write(STALLED, false, write).await.unwrap();
        drop(end);
        assert!(ended.await.unwrap(), "it is said to have failed");
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        assert_eq!(
            std::fs::read_dir(&directory).unwrap().count(),
            1,
            "nothing is left"
        );
    }
}
