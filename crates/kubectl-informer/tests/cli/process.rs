//! The program as a process.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};
use tokio::time::timeout;

/// Long enough for a busy machine; nothing waits for it unless it fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// The program while it runs. Dropping it kills it.
pub(crate) struct Running {
    child: Child,
    out: Lines<BufReader<ChildStdout>>,
    err: Option<Lines<BufReader<ChildStderr>>>,
}

/// How the program ended, and what it said that was not read before.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Running {
    /// Starts it with arguments, separated by spaces. It finds no kubeconfig.
    pub(crate) fn start(args: &str) -> Self {
        let args: Vec<_> = args.split_whitespace().collect();
        Self::start_with(&args)
    }

    pub(crate) fn start_with(args: &[&str]) -> Self {
        Self::start_in(&[], args)
    }

    /// Starts it with a pipe as its input.
    pub(crate) fn start_with_input(args: &[&str]) -> Self {
        Self::start_reading(Stdio::piped(), &[], args)
    }

    /// Starts it with these environment variables.
    pub(crate) fn start_in(variables: &[(&str, &str)], args: &[&str]) -> Self {
        Self::start_reading(Stdio::null(), variables, args)
    }

    fn start_reading(input: Stdio, variables: &[(&str, &str)], args: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kubectl-informer"));
        for name in ["KUBECONFIG", "KUBERNETES_SERVICE_HOST", "RUST_LOG"] {
            command.env_remove(name);
        }
        for name in ["HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"] {
            command.env_remove(name).env_remove(name.to_lowercase());
        }
        let mut child = command
            .args(args)
            .env("HOME", "/nonexistent")
            .envs(variables.iter().copied())
            .stdin(input)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let out = BufReader::new(child.stdout.take().unwrap()).lines();
        let err = child.stderr.take().map(|err| BufReader::new(err).lines());
        Self { child, out, err }
    }

    /// The next line of its output.
    pub(crate) async fn line(&mut self) -> String {
        let line = timeout(PATIENCE, self.out.next_line()).await;
        match line.expect("no line came in time").unwrap() {
            Some(line) => line,
            None => panic!("it ended: {}", self.error_output().await),
        }
    }

    /// The next line, which is JSON.
    pub(crate) async fn json(&mut self) -> Value {
        let line = self.line().await;
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// The lines, which are JSON, up to one with this event, which comes last.
    pub(crate) async fn until(&mut self, event: &str) -> Vec<Value> {
        let mut lines = Vec::new();
        loop {
            lines.push(self.json().await);
            if lines.last().unwrap()["event"] == event {
                return lines;
            }
        }
    }

    async fn error_output(&mut self) -> String {
        match &mut self.err {
            Some(err) => rest(err).await,
            None => String::new(),
        }
    }

    /// The next line on standard error that contains this; others before it are skipped.
    pub(crate) async fn said(&mut self, text: &str) -> String {
        let err = self.err.as_mut().unwrap();
        loop {
            let line = timeout(PATIENCE, err.next_line()).await;
            let line = line
                .unwrap_or_else(|_| panic!("it did not say {text:?} in time"))
                .unwrap();
            let line = line.unwrap_or_else(|| panic!("it ended without saying {text:?}"));
            if line.contains(text) {
                return line;
            }
        }
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let pid = self.child.id().expect("it runs");
        kill(Pid::from_raw(pid.try_into().unwrap()), signal).unwrap();
    }

    /// Writes a line to its input.
    pub(crate) async fn type_line(&mut self, line: &str) {
        let input = self.child.stdin.as_mut().expect("it has an input");
        input.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    /// Ends its input.
    pub(crate) fn close_input(&mut self) {
        self.child.stdin = None;
    }

    /// Stops reading what it prints.
    pub(crate) fn close_output(&mut self) {
        // Another pipe takes the place of the one that is closed.
        let (nothing, _) = nix::unistd::pipe().unwrap();
        let nothing = std::process::ChildStdout::from(nothing);
        self.out = BufReader::new(ChildStdout::from_std(nothing).unwrap()).lines();
    }

    /// Stops reading what it says on standard error.
    pub(crate) fn close_errors(&mut self) {
        self.err = None;
    }

    /// Waits for the end without reading its output.
    pub(crate) async fn exit_code(&mut self) -> Option<i32> {
        let status = timeout(PATIENCE, self.child.wait()).await;
        status.expect("it did not end in time").unwrap().code()
    }

    /// Waits for the end.
    pub(crate) async fn end(mut self) -> Ended {
        let mut err = self.err.take().unwrap();
        let read = async { tokio::join!(rest(&mut self.out), rest(&mut err)) };
        let (out, err) = timeout(PATIENCE, read).await.expect("it did not end in time");
        let code = self.exit_code().await;
        Ended {
            code,
            out: out.trim_end().to_owned(),
            err,
        }
    }
}

/// All further lines.
async fn rest(lines: &mut Lines<impl AsyncBufRead + Unpin>) -> String {
    let mut text = String::new();
    while let Some(line) = lines.next_line().await.unwrap() {
        text.push_str(&line);
        text.push('\n');
    }
    text
}

/// Runs it to its end.
pub(crate) async fn run(args: &str) -> Ended {
    Running::start(args).end().await
}
