//! Informers as programs: client-go's, which is the oracle, and the command line of this project.
//!
//! Both print what a handler is told, one line of JSON for each notification, in the form of
//! `kubectl informer watch -o json --show-object`.

use std::io;
use std::path::PathBuf;
use std::process::Stdio;

use serde::Deserialize;
use tokio::io::{AsyncBufReadExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

/// One line that such a program prints.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Line {
    /// `add`, `update`, `delete`; `synced`, `error`.
    pub event: String,
    /// The key of the object.
    pub key: String,
    /// The version it was updated from.
    pub old_resource_version: String,
    /// Its version; of what is gone, the last one known.
    pub resource_version: String,
    /// Whether it belongs to the initial state.
    pub initial: bool,
    /// Whether its deletion was missed.
    pub tombstone: bool,
    /// What went wrong.
    pub message: String,
    /// The object.
    pub object: serde_json::Value,
}

/// Why a program cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// It is not there.
    #[error("{} is missing: `{build}` makes it", path.display())]
    NotBuilt {
        /// Where it should be.
        path: PathBuf,
        /// What builds it.
        build: &'static str,
    },
    /// It cannot be started, or not be read from.
    #[error("cannot run a program")]
    System(#[from] io::Error),
    /// What it printed is none of its lines.
    #[error("not a line of an informer: {0}")]
    NotALine(String),
}

/// A program that prints what its informer is told; it ends when this is dropped.
#[derive(Debug)]
#[must_use = "the program ends when this is dropped"]
pub struct Program {
    lines: Lines<BufReader<ChildStdout>>,
    _process: Child,
}

impl Program {
    /// client-go's informer. Its arguments are those of `conformance/oracle/main.go`.
    ///
    /// # Errors
    /// The program is not there, or cannot be started.
    pub fn oracle(arguments: &[&str]) -> Result<Self, ProgramError> {
        let path = crate::cache_folder().join("oracle");
        let build = "conformance/oracle/build";
        Self::start(path, build, arguments)
    }

    /// `kubectl informer`, as it was built last beside the test that calls this.
    ///
    /// # Errors
    /// The program is not there, or cannot be started.
    pub fn command_line(arguments: &[&str]) -> Result<Self, ProgramError> {
        let mut path = std::env::current_exe()?;
        path.pop();
        path.set_file_name("kubectl-informer");
        Self::start(path, "cargo build -p kubectl-informer", arguments)
    }

    fn start(path: PathBuf, build: &'static str, arguments: &[&str]) -> Result<Self, ProgramError> {
        if !path.is_file() {
            return Err(ProgramError::NotBuilt { path, build });
        }
        let mut process = Command::new(path)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()?;
        let output = process.stdout.take().expect("a pipe");
        Ok(Self {
            lines: BufReader::new(output).lines(),
            _process: process,
        })
    }

    /// The next line; none when the program has ended.
    ///
    /// # Errors
    /// It cannot be read, or is none.
    ///
    /// # Cancel safety
    /// Nothing is lost.
    pub async fn next(&mut self) -> Result<Option<Line>, ProgramError> {
        let Some(text) = self.lines.next_line().await? else {
            return Ok(None);
        };
        match serde_json::from_str(&text) {
            Ok(line) => Ok(Some(line)),
            Err(_) => Err(ProgramError::NotALine(text.chars().take(200).collect())),
        }
    }
}
