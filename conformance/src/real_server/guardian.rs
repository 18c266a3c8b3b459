//! The process that cleans up.
//!
//! It reads from a pipe which processes to guard. When the pipe ends, because the test is over or because the test's
//! process died, it kills what is still guarded and removes the folder. It is in a process group of its own, so that
//! what interrupts the test does not interrupt it.

use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, PoisonError};

const SCRIPT: &str = r#"
pids=' '
while read -r word pid; do
  case $word in
    guard) pids="$pids$pid " ;;
    release) pids="${pids%% $pid *} ${pids#* $pid }" ;;
  esac
done
for pid in $pids; do kill -KILL "$pid"; done
for attempt in 1 2 3 4 5 6 7 8 9 10; do rm -rf "$1" && break; sleep 0.2; done
"#;

/// Waits for a line before it becomes the program that is meant, so that nothing runs unguarded.
const GUARDED: &str = r#"read -r go && exec "$@" < /dev/null"#;

#[derive(Debug)]
pub(super) struct Guardian {
    process: Child,
    orders: Mutex<Option<ChildStdin>>,
    folder: PathBuf,
}

impl Guardian {
    /// A guardian of a new folder.
    pub(super) fn new() -> io::Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix("kube-informer-server-")
            .tempdir()?
            .keep();
        let mut process = Command::new("/bin/sh")
            .args(["-c", SCRIPT, "guardian"])
            .arg(&folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        let orders = Mutex::new(process.stdin.take());
        Ok(Self {
            process,
            orders,
            folder,
        })
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Runs a program in the folder, which goes on in the background, its output appended to a file there.
    pub(super) fn run(&self, program: &Path, arguments: &[String], log: &str) -> io::Result<Child> {
        let log = std::fs::File::options()
            .append(true)
            .create(true)
            .open(self.folder.join(log))?;
        let mut child = Command::new("/bin/sh")
            .args(["-c", GUARDED, "guarded"])
            .arg(program)
            .args(arguments)
            .current_dir(&self.folder)
            .stdin(Stdio::piped())
            .stdout(log.try_clone()?)
            .stderr(log)
            .process_group(0)
            .spawn()?;
        self.order("guard", child.id())?;
        if let Some(mut go) = child.stdin.take() {
            go.write_all(b"go\n")?;
        }
        Ok(child)
    }

    /// No longer guards a process that was killed. To be called before it is waited for: its id is its own till then.
    pub(super) fn release(&self, id: u32) -> io::Result<()> {
        self.order("release", id)
    }

    fn order(&self, word: &str, id: u32) -> io::Result<()> {
        let mut orders = self.orders.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *orders {
            Some(pipe) => writeln!(pipe, "{word} {id}"),
            None => Ok(()),
        }
    }
}

impl Drop for Guardian {
    fn drop(&mut self) {
        let orders = self.orders.get_mut().unwrap_or_else(PoisonError::into_inner);
        drop(orders.take());
        let _ = self.process.wait();
    }
}
