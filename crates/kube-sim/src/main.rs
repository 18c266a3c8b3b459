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
    /// The controllers that run: '*' for all that run by default, NAME for this one, -NAME for all but this one.
    /// Leave out those that another program brings, such as a kube-controller-manager
    #[arg(
        long,
        value_name = "NAME,...",
        value_delimiter = ',',
        allow_hyphen_values = true,
        default_value = "*",
        value_parser = choice,
        long_help = controllers_help()
    )]
    controllers: Vec<Choice>,
}

/// The controllers by name; those of a kube-controller-manager have its names. The last ones do not run by
/// default.
const CONTROLLERS: [(&str, Controller); 12] = [
    ("garbage-collector-controller", Controller::GarbageCollector),
    ("namespace-controller", Controller::NamespaceLifecycle),
    (
        "clusterrole-aggregation-controller",
        Controller::ClusterRoleAggregation,
    ),
    (
        "persistentvolumeclaim-protection-controller",
        Controller::PersistentVolumeClaimProtection,
    ),
    (
        "persistentvolume-protection-controller",
        Controller::PersistentVolumeProtection,
    ),
    (
        "volumeattributesclass-protection-controller",
        Controller::VolumeAttributesClassProtection,
    ),
    ("kubelet", Controller::Kubelet),
    ("kubernetes-service", Controller::KubernetesService),
    ("bootstrap-roles", Controller::BootstrapRoles),
    ("bootstrap-objects", Controller::BootstrapObjects),
    (
        "root-ca-certificate-publisher-controller",
        Controller::RootCaPublisher,
    ),
    ("serviceaccount-controller", Controller::ServiceAccount),
];

/// How many of them run by default.
const BY_DEFAULT: usize = 10;

/// A word of `--controllers`.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Choice {
    Defaults,
    With(Controller),
    Without(Controller),
}

fn choice(text: &str) -> Result<Choice, String> {
    let named = |name: &str| {
        let found = CONTROLLERS.iter().find(|(known, _)| *known == name);
        found.map(|(_, controller)| *controller).ok_or_else(|| {
            let known: Vec<&str> = CONTROLLERS.iter().map(|(known, _)| *known).collect();
            format!(
                "there is no controller \"{name}\"; there are {}",
                known.join(", ")
            )
        })
    };
    match text.strip_prefix('-') {
        _ if text == "*" => Ok(Choice::Defaults),
        Some(name) => named(name).map(Choice::Without),
        None => named(text).map(Choice::With),
    }
}

/// The controllers that run by these choices: what is named is stronger than `*`, as in a
/// kube-controller-manager.
fn controllers(choices: &[Choice]) -> impl Iterator<Item = Controller> + '_ {
    let all = CONTROLLERS.iter().map(|(_, controller)| *controller);
    all.enumerate()
        .filter(|(index, controller)| {
            let by_default = *index < BY_DEFAULT && choices.contains(&Choice::Defaults);
            let named = choices.contains(&Choice::With(*controller));
            (by_default || named) && !choices.contains(&Choice::Without(*controller))
        })
        .map(|(_, controller)| controller)
}

fn controllers_help() -> String {
    let (on, off) = CONTROLLERS.split_at(BY_DEFAULT);
    let list = |part: &[(&str, Controller)]| {
        let names: Vec<&str> = part.iter().map(|(name, _)| *name).collect();
        names.join(", ")
    };
    format!(
        "The controllers that run: '*' for all that run by default, NAME for this one, -NAME for all but this one. \
         Leave out those that another program brings, such as a kube-controller-manager.\n\n\
         By default: {}.\nOthers: {}.",
        list(on),
        list(off)
    )
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
        // By default, as an API server that is alone begins: tests written for envtest count what is in their
        // namespaces.
        .controllers(controllers(&args.controllers));
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

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(text: &str) -> Vec<Controller> {
        let args = Args::try_parse_from(["kube-sim", &format!("--controllers={text}")]).expect(text);
        controllers(&args.controllers).collect()
    }

    #[test]
    fn default_controllers_are_those_of_a_lone_api_server() {
        let args = Args::try_parse_from(["kube-sim"]).expect("no arguments");
        let by_default: Vec<Controller> = controllers(&args.controllers).collect();
        let alone = [
            Controller::KubernetesService,
            Controller::BootstrapRoles,
            Controller::BootstrapObjects,
        ];
        let expected: Vec<Controller> = Controller::DEFAULT.into_iter().chain(alone).collect();
        assert_eq!(by_default.len(), expected.len());
        assert!(expected.iter().all(|controller| by_default.contains(controller)));
        assert_eq!(chosen("*"), by_default);
    }

    #[test]
    fn controllers_are_named_added_and_left_out() {
        assert_eq!(chosen("kubelet"), [Controller::Kubelet]);
        assert_eq!(chosen("-kubelet"), []);
        let without = chosen("*,-garbage-collector-controller,serviceaccount-controller");
        assert!(!without.contains(&Controller::GarbageCollector));
        assert!(without.contains(&Controller::ServiceAccount) && without.contains(&Controller::Kubelet));
    }

    #[test]
    fn unknown_controllers_are_refused_by_name() {
        let error = choice("-bogus").expect_err("no such controller");
        assert!(
            error.starts_with("there is no controller \"bogus\"; there are garbage-collector-controller, ")
        );
    }

    #[test]
    fn every_controller_has_a_name() {
        assert!(
            Controller::ALL
                .iter()
                .all(|one| CONTROLLERS.iter().any(|(_, named)| named == one))
        );
    }
}
