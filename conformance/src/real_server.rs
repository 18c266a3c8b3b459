//! A real API server with its etcd, for one test.
//!
//! ```no_run
//! # async fn f() -> Result<(), Box<dyn std::error::Error>> {
//! use conformance::real_server::{Part, RealServer, User};
//!
//! let server = RealServer::builder().gate("ShardedListAndWatch", true).start().await?;
//! let client = server.client(&User::admin()).await?;
//! server.kill(Part::ApiServer)?;
//! server.start_again(Part::ApiServer)?;
//! server.ready().await?;
//! # drop(client); Ok(()) }
//! ```
//!
//! # Who may what
//!
//! Users are known by token ([`RealServer::admit`]) or by certificate ([`RealServer::certificate`]); what they may do
//! is role-based ([`RealServer::allow`]). `admin` may everything, `nobody` nothing beyond what all users may.
//! A real API server reads its tokens when it starts: to revoke one takes [`RealServer::dismiss`] and a new start.
//!
//! # What is left behind
//!
//! Nothing. A guardian process ends both programs and removes their folder when the server is dropped, and also when
//! the test's process dies in whatever way.

mod guardian;
mod part;
mod pki;
mod rights;
mod user;

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use kube::config::Kubeconfig;

use guardian::Guardian;
use part::{Parts, Running};
use pki::Authority;

pub use part::Part;
pub use user::{Certificate, User};

/// The Kubernetes version of the API server.
pub const VERSION: &str = "1.36.3";

/// How long the API server may take to answer after a start; a busy machine may need many seconds.
const PATIENCE: Duration = Duration::from_secs(120);

/// Why a real API server cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// The programs are not there.
    #[error("{} is missing: `conformance/server/build` makes it", .0.display())]
    NotBuilt(PathBuf),
    /// A process or a file could not be made.
    #[error("cannot run a real API server")]
    System(#[from] std::io::Error),
    /// It ended by itself, or did not answer in time; with the end of its log.
    #[error("the {part} {what}:\n{log}")]
    NotReady {
        /// Which of the two.
        part: Part,
        /// What happened.
        what: &'static str,
        /// The last lines of its log.
        log: String,
    },
    /// The server refused what was asked of it.
    #[error("{request}: {message} ({code})")]
    #[non_exhaustive]
    Refused {
        /// The request.
        request: String,
        /// The status code.
        code: u16,
        /// The message of the answer.
        message: String,
    },
    /// No client could be made, or it got no answer.
    #[error("cannot reach the server")]
    Client(#[source] Box<dyn std::error::Error + Send + Sync>),
}

impl ServerError {
    fn client(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self::Client(error.into())
    }
}

/// How a [`RealServer`] is started.
#[derive(Debug, Clone, Default)]
#[must_use = "a builder does nothing until `start`"]
pub struct RealServerBuilder {
    gates: BTreeMap<String, bool>,
    flags: Vec<String>,
    etcd_flags: Vec<String>,
}

impl RealServerBuilder {
    /// Switches a feature gate of the API server.
    pub fn gate(mut self, name: &str, on: bool) -> Self {
        self.gates.insert(name.to_owned(), on);
        self
    }

    /// One more flag of the API server, such as `--etcd-compaction-interval=20s`; it wins over a default.
    pub fn flag(mut self, flag: &str) -> Self {
        self.flags.push(flag.to_owned());
        self
    }

    /// One more flag of etcd.
    pub fn etcd_flag(mut self, flag: &str) -> Self {
        self.etcd_flags.push(flag.to_owned());
        self
    }

    /// Starts etcd and the API server on free ports of 127.0.0.1, and waits until it answers.
    ///
    /// # Errors
    ///
    /// [`ServerError::NotBuilt`] when the programs are not there; otherwise with the end of the log of what failed.
    pub async fn start(self) -> Result<RealServer, ServerError> {
        let mut attempts = 3;
        loop {
            attempts -= 1;
            match RealServer::launch(&self).await {
                // Somebody else was faster at a port.
                Err(ServerError::NotReady { log, .. })
                    if attempts > 0 && log.contains("address already in use") => {}
                result => return result,
            }
        }
    }
}

/// An API server and its etcd; both end when it is dropped.
#[must_use = "the server ends when it is dropped"]
pub struct RealServer {
    authority: Authority,
    parts: Parts,
    api: Mutex<Running>,
    etcd: Mutex<Running>,
    users: Mutex<Vec<User>>,
    admin: kube::Client,
    // The last: it removes the folder.
    guardian: Guardian,
}

impl RealServer {
    /// A server with the defaults.
    ///
    /// # Errors
    ///
    /// As [`RealServerBuilder::start`].
    pub async fn start() -> Result<Self, ServerError> {
        Self::builder().start().await
    }

    /// A builder with the defaults: no gates, no flags beyond what it takes.
    pub fn builder() -> RealServerBuilder {
        RealServerBuilder::default()
    }

    async fn launch(options: &RealServerBuilder) -> Result<Self, ServerError> {
        let binaries = binaries()?;
        let guardian = Guardian::new()?;
        let authority = Authority::new();
        authority.write(guardian.folder())?;
        let users = vec![User::admin(), User::nobody()];
        user::write_tokens(guardian.folder(), &users)?;
        let parts = Parts::new(binaries, guardian.folder(), options)?;
        let admin = user::admin(&parts.url(Part::ApiServer), guardian.folder()).await?;
        let etcd = Mutex::new(parts.run(Part::Etcd, &guardian)?);
        let api = Mutex::new(parts.run(Part::ApiServer, &guardian)?);
        let server = Self {
            authority,
            parts,
            api,
            etcd,
            users: Mutex::new(users),
            admin,
            guardian,
        };
        server.write_kubeconfig()?;
        server.ready().await?;
        Ok(server)
    }

    /// The API server's address, such as `https://127.0.0.1:21345`; it stays the same over restarts.
    pub fn url(&self) -> String {
        self.parts.url(Part::ApiServer)
    }

    /// etcd's address, without TLS.
    pub fn etcd_url(&self) -> String {
        self.parts.url(Part::Etcd)
    }

    /// The folder of keys, logs and data; removed in the end.
    pub fn folder(&self) -> &Path {
        self.guardian.folder()
    }

    /// A kubeconfig file with one context for each user, named as the user; `admin` is the current one.
    pub fn kubeconfig(&self) -> PathBuf {
        self.folder().join("kubeconfig.yaml")
    }

    /// Kills one of the two at once, as SIGKILL does, and returns when it is gone.
    ///
    /// # Errors
    ///
    /// The system's, if the process cannot be signalled.
    pub fn kill(&self, part: Part) -> Result<(), ServerError> {
        Ok(self.running(part).kill(&self.guardian)?)
    }

    /// Suspends one of the two (SIGSTOP), and returns when it stands: its connections stay open and silent.
    ///
    /// # Errors
    ///
    /// The system's, if the process cannot be signalled.
    pub fn suspend(&self, part: Part) -> Result<(), ServerError> {
        Ok(self.running(part).suspend(&self.guardian)?)
    }

    /// Lets a suspended one go on (SIGCONT).
    ///
    /// # Errors
    ///
    /// The system's, if the process cannot be signalled.
    pub fn resume(&self, part: Part) -> Result<(), ServerError> {
        Ok(self.running(part).signal(nix::sys::signal::Signal::SIGCONT)?)
    }

    /// Kills one of the two, if it runs, and starts it again with its ports and data; [`ready`](Self::ready) waits.
    ///
    /// # Errors
    ///
    /// The system's, if the process cannot be made.
    pub fn start_again(&self, part: Part) -> Result<(), ServerError> {
        let mut running = self.running(part);
        running.kill(&self.guardian)?;
        *running = self.parts.run(part, &self.guardian)?;
        Ok(())
    }

    /// Waits until the API server answers, and its namespaces are there.
    ///
    /// # Errors
    ///
    /// [`ServerError::NotReady`] when one of the two has ended, or the time is over.
    pub async fn ready(&self) -> Result<(), ServerError> {
        let answers = async {
            loop {
                let asked = tokio::time::timeout(Duration::from_secs(5), is_ready(&self.admin));
                let ready = asked.await.unwrap_or(false);
                for part in [Part::Etcd, Part::ApiServer] {
                    if self.running(part).has_ended()? {
                        return Err(self.not_ready(part, "has ended"));
                    }
                }
                if ready {
                    return Ok(());
                }
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        };
        match tokio::time::timeout(PATIENCE, answers).await {
            Ok(result) => result,
            Err(_) => Err(self.not_ready(Part::ApiServer, "is not ready in time")),
        }
    }

    fn running(&self, part: Part) -> std::sync::MutexGuard<'_, Running> {
        let running = match part {
            Part::ApiServer => &self.api,
            Part::Etcd => &self.etcd,
        };
        running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn not_ready(&self, part: Part, what: &'static str) -> ServerError {
        let log = self.log(part);
        let lines: Vec<_> = log.lines().collect();
        let log = lines[lines.len().saturating_sub(20)..].join("\n");
        ServerError::NotReady { part, what, log }
    }

    /// What one of the two has written to its log.
    pub fn log(&self, part: Part) -> String {
        let log = std::fs::read(self.folder().join(part.log())).unwrap_or_default();
        String::from_utf8_lossy(&log).into_owned()
    }

    fn write_kubeconfig(&self) -> Result<(), ServerError> {
        let users = self.users.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let mut all: Option<Kubeconfig> = None;
        for user in &users {
            let one = self.kubeconfig_of(user);
            all = Some(match all {
                None => one,
                Some(all) => all.merge(one).map_err(ServerError::client)?,
            });
        }
        // JSON is YAML too.
        let file = File::create(self.kubeconfig())?;
        serde_json::to_writer_pretty(file, &all).map_err(std::io::Error::from)?;
        Ok(())
    }
}

impl std::fmt::Debug for RealServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RealServer")
            .field("url", &self.url())
            .finish_non_exhaustive()
    }
}

impl Drop for RealServer {
    fn drop(&mut self) {
        for part in [Part::ApiServer, Part::Etcd] {
            // The guardian kills what cannot be killed here.
            let _ = self.running(part).kill(&self.guardian);
        }
    }
}

async fn is_ready(client: &kube::Client) -> bool {
    let get = |path: &str| {
        http::Request::get(path)
            .body(Vec::new())
            .expect("a path that is a URI")
    };
    if client.request_text(get("/readyz")).await.is_err() {
        return false;
    }
    let namespaces: Result<serde_json::Value, _> = client.request(get("/api/v1/namespaces")).await;
    let namespaces = namespaces.unwrap_or_default();
    let count = namespaces["items"].as_array().map_or(0, Vec::len);
    count >= 4 // default, kube-system, kube-public, kube-node-lease
}

/// Where the programs are kept: in the user's cache folder, by version.
pub fn binaries_folder() -> PathBuf {
    crate::cache_folder().join(format!("realserver-{VERSION}"))
}

/// The folder, if both programs are in it.
fn binaries() -> Result<PathBuf, ServerError> {
    let folder = binaries_folder();
    for part in [Part::Etcd, Part::ApiServer] {
        let path = folder.join(part.program());
        if !path.is_file() {
            return Err(ServerError::NotBuilt(path));
        }
    }
    Ok(folder)
}
