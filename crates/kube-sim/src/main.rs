//! The `kube-sim` binary: a simulated cluster to point kubectl at.

use std::fs::{OpenOptions, Permissions};
use std::io::Write as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Parser;
use kube_sim::{Controller, SimServer, StartError};
use tokio::signal::unix::{SignalKind, signal};

/// An in-memory Kubernetes API server with a realistic workload.
#[derive(Debug, Parser)]
#[command(version)]
struct Args {
    /// The port to listen on, on 127.0.0.1; any free one by default
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Where to write a kubeconfig for this server, which only its owner may read
    #[arg(long, value_name = "FILE")]
    kubeconfig: Option<PathBuf>,
    /// How many nodes the cluster has
    #[arg(long, default_value_t = 3, value_name = "N")]
    nodes: usize,
    /// How many pods the cluster has at the start
    #[arg(long, default_value_t = 30, value_name = "N")]
    pods: usize,
    /// How many changes a second the workload makes
    #[arg(long, default_value_t = 0.0, value_name = "N", value_parser = rate)]
    churn: f64,
    /// The seed of the objects and changes: the same seed makes the same ones
    #[arg(long, default_value_t = 0, value_name = "N")]
    seed: u64,
    /// Ask for tokens, over TLS, and let roles and their bindings decide; the kubeconfig is that of an administrator
    #[arg(long, requires = "kubeconfig")]
    rbac: bool,
    /// Let clients make faults, under /kube-sim/faults
    #[arg(long)]
    control_endpoint: bool,
    /// Feature gates of a kube-apiserver, as NAME=true or NAME=false. There is ShardedListAndWatch, which is on by default
    #[arg(long, value_name = "GATE,...", value_delimiter = ',', value_parser = gate)]
    feature_gates: Vec<bool>,
}

/// Whether `ShardedListAndWatch`, the only gate that there is, is on.
fn gate(text: &str) -> Result<bool, String> {
    match text.split_once('=') {
        Some(("ShardedListAndWatch", "true")) => Ok(true),
        Some(("ShardedListAndWatch", "false")) => Ok(false),
        _ => Err("must be ShardedListAndWatch=true or ShardedListAndWatch=false".into()),
    }
}

fn rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rate) if (0.0..=100_000.0).contains(&rate) => Ok(rate),
        _ => Err("must be a number from 0 to 100000".into()),
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::from_default_env())
        .with_writer(std::io::stderr)
        // Does not panic if standard error is closed.
        .log_internal_errors(false)
        .init();
    match run(Args::parse()).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "kube-sim: {error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run(args: Args) -> anyhow::Result<()> {
    // Installed before anything is printed, so that a signal right after that is not missed.
    let mut terminate = signal(SignalKind::terminate()).context("cannot wait for SIGTERM")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("cannot wait for SIGINT")?;
    let builder = SimServer::builder()
        .nodes(args.nodes)
        .pods(args.pods)
        .churn(args.churn)
        .seed(args.seed)
        .port(args.port)
        .sharded_lists(args.feature_gates.last().copied().unwrap_or(true))
        // As an API server that is alone begins: tests written for envtest count what is in their namespaces.
        .controllers(
            Controller::DEFAULT
                .into_iter()
                .chain([Controller::KubernetesService, Controller::BootstrapRoles]),
        );
    let builder = match args.control_endpoint {
        true => builder.control_endpoint(),
        false => builder,
    };
    let builder = match args.rbac {
        // client-go sends tokens over TLS only.
        true => builder.rbac().tls(),
        false => builder,
    };
    let started = tokio::select! {
        started = builder.start() => started,
        _ = terminate.recv() => return Ok(()),
        _ = interrupt.recv() => return Ok(()),
    };
    let server = match started {
        Err(StartError::Listen { address, source }) => anyhow::bail!(
            "cannot listen on {address}: {source}; choose another --port, or leave it out for any free one"
        ),
        other => other?,
    };
    announce(&server, args.kubeconfig)?;
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    server.shutdown().await;
    Ok(())
}

/// Writes a file that only its owner may read: it may have a token in it.
fn write_secret(path: &Path, text: &str) -> std::io::Result<()> {
    let mut options = OpenOptions::new();
    let mut file = options
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)?;
    // One that is there already keeps its mode.
    if file.metadata()?.is_file() {
        file.set_permissions(Permissions::from_mode(0o600))?;
    }
    file.write_all(text.as_bytes())
}

/// Prints the server's address and how to use it.
fn announce(server: &SimServer, kubeconfig: Option<PathBuf>) -> anyhow::Result<()> {
    let usage = match kubeconfig {
        None => format!("kubectl --server={} get pods -A", server.url()),
        Some(path) => {
            write_secret(&path, &server.kubeconfig())
                .with_context(|| format!("cannot write the kubeconfig {}", path.display()))?;
            format!("kubectl --kubeconfig={} get pods -A", path.display())
        }
    };
    // In one write, because a reader of only the first line, the URL, closes the pipe after it.
    let text = format!("{}\n\ntry: {usage}\nend: Ctrl-C\n", server.url());
    std::io::stdout()
        .write_all(text.as_bytes())
        .context("cannot write to standard output")
}
