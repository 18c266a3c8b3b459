//! The programs that measure, and how they are built and run.

use crate::cases::Case;
use anyhow::{Context as _, Result, ensure};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use wait_timeout::ChildExt as _;

/// When a program that measures is ended: it takes minutes at most.
const PATIENCE: Duration = Duration::from_secs(1200);

/// Where the programs are.
pub struct Programs {
    rust: PathBuf,
    go: PathBuf,
    /// Whether there are programs in Go.
    has_go: bool,
}

/// Builds what the cases need, unless it is there already. Without Go, only what is in Rust.
pub fn build(cases: &[Case], built: bool) -> Result<Programs> {
    let target = PathBuf::from(std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into()));
    let has_go = Command::new("go")
        .arg("version")
        .output()
        .is_ok_and(|output| output.status.success());
    if !has_go {
        eprintln!("go is not here: client-go, controller-runtime and the real API server are left out");
    }
    let programs = Programs {
        rust: target.join("release"),
        go: target.join("go"),
        has_go,
    };
    if built {
        return Ok(programs);
    }
    fs::create_dir_all(&programs.go)?;
    let (mut packages, mut modules) = (vec!["bench-forms"], vec!["forms"]);
    for case in cases {
        match case {
            Case::Gets => (packages.push("store-bench"), ()),
            Case::Queue => (packages.push("bench-workqueue"), modules.push("workqueue")),
            Case::Controllers => (packages.push("bench-controllers"), modules.push("controllers")),
            Case::Handlers => (packages.push("informer-bench"), ()),
            _ => continue,
        };
    }
    eprintln!("building");
    for package in packages {
        run(Command::new("cargo").args(["build", "--release", "--locked", "--quiet", "-p", package]))?;
    }
    if has_go {
        for module in modules {
            run(Command::new("go")
                .args(["build", "-o"])
                .arg(fs::canonicalize(&programs.go)?.join(module))
                .arg(".")
                .current_dir(format!("{module}/go")))?;
        }
        if cases.contains(&Case::Real) {
            run(&mut Command::new("../conformance/server/build"))?;
        }
    }
    Ok(programs)
}

fn run(command: &mut Command) -> Result<()> {
    // What a build prints on its standard output is none of ours.
    let status = command
        .stdout(Stdio::null())
        .status()
        .with_context(|| format!("cannot run {command:?}"))?;
    ensure!(status.success(), "{command:?} failed: {status}");
    Ok(())
}

impl Programs {
    /// A program in Rust.
    pub fn rust(&self, name: &str) -> Command {
        Command::new(self.rust.join(name))
    }

    /// The program of a Go module of the bench; `None` without Go.
    pub fn go(&self, module: &str) -> Option<Command> {
        self.has_go.then(|| Command::new(self.go.join(module)))
    }

    pub fn has_go(&self) -> bool {
        self.has_go
    }
}

/// Runs a program to its end and returns what it has printed.
pub fn printed(command: &mut Command) -> Result<String> {
    let (text, ended) = run_to_end(command)?;
    ended.map(|()| text)
}

/// What a program has printed, and whether it has succeeded.
fn run_to_end(command: &mut Command) -> Result<(String, Result<()>)> {
    let mut child = command
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot run {command:?}"))?;
    let mut stdout = child.stdout.take().context("it has an output")?;
    let reading = std::thread::spawn(move || {
        let mut text = String::new();
        stdout.read_to_string(&mut text).map(|_| text)
    });
    let status = child.wait_timeout(PATIENCE)?;
    if status.is_none() {
        child.kill()?;
        child.wait()?;
    }
    let text = reading
        .join()
        .map_err(|_| anyhow::anyhow!("reading panicked"))??;
    let ended = match status {
        Some(status) if status.success() => Ok(()),
        Some(status) => Err(anyhow::anyhow!("{command:?} failed: {status}")),
        None => Err(anyhow::anyhow!("{command:?} did not end within {PATIENCE:?}")),
    };
    Ok((text, ended))
}

/// The lines of JSON that a program prints.
pub fn lines(command: &mut Command) -> Result<Vec<Value>> {
    let (lines, ended) = lines_so_far(command)?;
    ended.map(|()| lines)
}

/// The lines of JSON that a program has printed, and whether it has succeeded in the end.
pub fn lines_so_far(command: &mut Command) -> Result<(Vec<Value>, Result<()>)> {
    let (text, ended) = run_to_end(command)?;
    let read = |line: &str| serde_json::from_str(line).with_context(|| format!("{command:?} printed {line}"));
    Ok((text.lines().map(read).collect::<Result<_>>()?, ended))
}

/// A server that ends when this is dropped.
pub struct Server {
    child: Child,
    pub api: String,
    pub control: String,
    /// Whose CPU time is measured: that of kube-sim, or of the real API server.
    pub api_pid: Option<u32>,
}

impl Server {
    /// Starts `pod-server` and waits until it is filled.
    pub fn start(programs: &Programs, kind: &str, arguments: &[usize]) -> Result<Self> {
        let mut command = programs.rust("pod-server");
        command.arg(kind).args(arguments.iter().map(usize::to_string));
        Self::of(&mut command, |line| {
            let (api, control) = line.split_once(' ').context("the server prints two addresses")?;
            Ok((api.to_owned(), control.to_owned()))
        })
        .map(|mut server| {
            if kind == "real" {
                server.api_pid = child_named(server.child.id(), "kube-apiserver");
            }
            server
        })
    }

    /// Starts a server whose first line says where it is.
    pub fn of(command: &mut Command, read: impl FnOnce(&str) -> Result<(String, String)>) -> Result<Self> {
        let child = command
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot run {command:?}"))?;
        let api_pid = Some(child.id());
        let mut server = Self {
            child,
            api: String::new(),
            control: String::new(),
            api_pid,
        };
        let mut line = String::new();
        let stdout = server.child.stdout.take().context("it has an output")?;
        BufReader::new(stdout).read_line(&mut line)?;
        ensure!(
            !line.is_empty(),
            "{command:?} did not start: {:?}",
            server.child.wait()?
        );
        (server.api, server.control) = read(line.trim_end())?;
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It ends what it has started itself.
        let ended =
            i32::try_from(self.child.id()).is_ok_and(|pid| kill(Pid::from_raw(pid), Signal::SIGTERM).is_ok());
        if !ended || !matches!(self.child.wait_timeout(Duration::from_secs(30)), Ok(Some(_))) {
            _ = self.child.kill();
            _ = self.child.wait();
        }
    }
}

/// The child of this process that has this name.
fn child_named(parent: u32, name: &str) -> Option<u32> {
    let children = fs::read_to_string(Path::new("/proc").join(format!("{parent}/task/{parent}/children")));
    let mut ids: Vec<u32> = children
        .ok()?
        .split_whitespace()
        .filter_map(|id| id.parse().ok())
        .collect();
    // A thread of the server may have started it.
    if let Ok(threads) = fs::read_dir(format!("/proc/{parent}/task")) {
        for thread in threads.flatten() {
            let children = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
            ids.extend(
                children
                    .split_whitespace()
                    .filter_map(|id| id.parse::<u32>().ok()),
            );
        }
    }
    ids.into_iter()
        .find(|id| fs::read_to_string(format!("/proc/{id}/comm")).is_ok_and(|comm| comm.trim() == name))
}
