//! The two programs and their flags.

use std::fmt;
use std::io;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Child;

use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use rand::Rng;

use super::RealServerBuilder;
use super::guardian::Guardian;

/// One of the two programs that make a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Part {
    /// kube-apiserver.
    ApiServer,
    /// etcd.
    Etcd,
}

impl Part {
    pub(super) fn program(self) -> &'static str {
        match self {
            Self::ApiServer => "kube-apiserver",
            Self::Etcd => "etcd",
        }
    }

    pub(super) fn log(self) -> &'static str {
        match self {
            Self::ApiServer => "kube-apiserver.log",
            Self::Etcd => "etcd.log",
        }
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.program())
    }
}

/// What it takes to start each of them, again and again.
#[derive(Debug)]
pub(super) struct Parts {
    binaries: PathBuf,
    api_port: u16,
    etcd_port: u16,
    api_flags: Vec<String>,
    etcd_flags: Vec<String>,
}

impl Parts {
    pub(super) fn new(binaries: PathBuf, folder: &Path, options: &RealServerBuilder) -> io::Result<Self> {
        let (api_port, etcd_port) = (free_port()?, free_port()?);
        let mut api_flags = api_flags(api_port, etcd_port);
        // Should the port be lost to the etcd of another test, then this server at least does not meddle with its data.
        let unique = folder.file_name().unwrap_or_default().to_string_lossy();
        api_flags.push(format!("--etcd-prefix=/{unique}"));
        if !options.gates.is_empty() {
            let gates: Vec<_> = options
                .gates
                .iter()
                .map(|(name, on)| format!("{name}={on}"))
                .collect();
            api_flags.push(format!("--feature-gates={}", gates.join(",")));
        }
        api_flags.extend(options.flags.iter().cloned());
        let mut etcd_flags = etcd_flags(etcd_port);
        etcd_flags.extend(options.etcd_flags.iter().cloned());
        Ok(Self {
            binaries,
            api_port,
            etcd_port,
            api_flags,
            etcd_flags,
        })
    }

    pub(super) fn url(&self, part: Part) -> String {
        match part {
            Part::ApiServer => format!("https://127.0.0.1:{}", self.api_port),
            Part::Etcd => format!("http://127.0.0.1:{}", self.etcd_port),
        }
    }

    pub(super) fn run(&self, part: Part, guardian: &Guardian) -> io::Result<Running> {
        let flags = match part {
            Part::ApiServer => &self.api_flags,
            Part::Etcd => &self.etcd_flags,
        };
        let program = self.binaries.join(part.program());
        let child = guardian.run(&program, flags, part.log())?;
        Ok(Running { child: Some(child) })
    }
}

fn api_flags(port: u16, etcd: u16) -> Vec<String> {
    let mut flags = vec![
        format!("--etcd-servers=http://127.0.0.1:{etcd}"),
        format!("--secure-port={port}"),
    ];
    let fixed = [
        "--bind-address=127.0.0.1",
        "--cert-dir=.",
        "--tls-cert-file=server.crt",
        "--tls-private-key-file=server.key",
        "--client-ca-file=ca.crt",
        "--token-auth-file=tokens.csv",
        "--service-account-key-file=service-accounts.pub",
        "--service-account-signing-key-file=service-accounts.key",
        "--service-account-issuer=https://kubernetes.default.svc",
        "--api-audiences=api",
        "--authorization-mode=RBAC",
        // Nobody makes the service accounts that it asks for.
        "--disable-admission-plugins=ServiceAccount",
        // As every cluster has it: its own components are such pods.
        "--allow-privileged=true",
        "--service-cluster-ip-range=10.96.0.0/24",
        "--endpoint-reconciler-type=none",
        "--max-requests-inflight=3000",
        "--max-mutating-requests-inflight=3000",
    ];
    flags.extend(fixed.map(str::to_owned));
    flags
}

fn etcd_flags(port: u16) -> Vec<String> {
    vec![
        "--data-dir=etcd".into(),
        format!("--listen-client-urls=http://127.0.0.1:{port}"),
        format!("--advertise-client-urls=http://127.0.0.1:{port}"),
        "--listen-peer-urls=http://127.0.0.1:0".into(),
        // What is in it is worth nothing after a crash of the machine.
        "--unsafe-no-fsync".into(),
        "--log-level=warn".into(),
    ]
}

/// A port that is free, also for a restart: systems take the ports of outgoing connections from above these.
fn free_port() -> io::Result<u16> {
    let mut error = None;
    for _ in 0..100 {
        let port = rand::rng().random_range(20_000..32_000);
        match TcpListener::bind(("127.0.0.1", port)) {
            Ok(_) => return Ok(port),
            Err(e) => error = Some(e),
        }
    }
    Err(error.unwrap_or_else(|| io::ErrorKind::AddrInUse.into()))
}

/// One of the two as a process; none after it was killed.
#[derive(Debug)]
pub(super) struct Running {
    child: Option<Child>,
}

impl Running {
    pub(super) fn kill(&mut self, guardian: &Guardian) -> io::Result<()> {
        let Some(mut child) = self.child.take() else {
            return Ok(());
        };
        child.kill()?;
        guardian.release(child.id())?;
        child.wait()?;
        Ok(())
    }

    pub(super) fn signal(&self, signal: Signal) -> io::Result<()> {
        match &self.child {
            Some(child) => Ok(kill(Pid::from_raw(child.id().cast_signed()), signal)?),
            None => Err(io::Error::new(io::ErrorKind::NotFound, "it does not run")),
        }
    }

    /// Stops it, and waits until it has stopped: under load that is later.
    pub(super) fn suspend(&mut self, guardian: &Guardian) -> io::Result<()> {
        self.signal(Signal::SIGSTOP)?;
        let Some(child) = &self.child else { return Ok(()) };
        let id = child.id();
        match waitpid(Pid::from_raw(id.cast_signed()), Some(WaitPidFlag::WUNTRACED))? {
            WaitStatus::Stopped(..) => Ok(()),
            _ => {
                // It was about to end, and has been waited for.
                self.child = None;
                guardian.release(id)?;
                Err(io::Error::new(io::ErrorKind::NotFound, "it has ended"))
            }
        }
    }

    /// Whether it has ended by itself.
    pub(super) fn has_ended(&mut self) -> io::Result<bool> {
        match &mut self.child {
            Some(child) => Ok(child.try_wait()?.is_some()),
            None => Ok(true),
        }
    }
}
