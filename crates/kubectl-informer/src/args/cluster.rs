//! Which server, which namespaces and which objects.

use super::duration;
use clap::builder::{OsStringValueParser, TypedValueParser as _};
use clap::{Args as ArgGroup, ValueEnum};
use kube_informer::reflector::{InitialState, ReflectorOptions};
use std::path::PathBuf;
use std::time::Duration;

/// A server, and some or all kinds of its objects.
#[derive(Debug, ArgGroup)]
pub(crate) struct ClusterArgs {
    /// Only these resources, such as pods,deployments; by default all that can be listed and watched
    #[arg(value_name = "RESOURCE", value_delimiter = ',')]
    pub(crate) resources: Vec<String>,
    /// Only objects of this namespace; by default those of all, and those of none
    #[arg(short, long, value_name = "NS")]
    pub(crate) namespace: Option<String>,
    /// All namespaces, which is the default; overrides --namespace
    #[arg(short = 'A', long)]
    pub(crate) all_namespaces: bool,
    #[command(flatten)]
    pub(crate) connection: ConnectionArgs,
}

impl ClusterArgs {
    /// What to try instead, for a message that says why nothing can be listed.
    pub(crate) fn instead(&self, why: &str) -> &'static str {
        match (self.all_namespaces, &self.namespace) {
            _ if !why.contains("403 Forbidden") => "",
            (true, _) => "; if you may list them in one namespace, give it with -n, without -A",
            (false, None) => "; if you may list them in one namespace, give it with -n",
            (false, Some(_)) => "",
        }
    }
}

/// A server, and a selection of its objects of one resource.
#[derive(Debug, ArgGroup)]
pub(crate) struct SelectionArgs {
    /// What to watch, as kubectl has it: pods, pod, po, Deployment, deployments.apps, deployments.v1.apps
    pub(crate) resource: String,
    #[command(flatten)]
    pub(crate) scope: ScopeArgs,
}

/// A server, and a selection of its objects of any resource.
#[derive(Debug, ArgGroup)]
pub(crate) struct ScopeArgs {
    /// All namespaces; overrides --namespace
    #[arg(short = 'A', long)]
    pub(crate) all_namespaces: bool,
    /// This namespace; by default that of the kubeconfig's context, or `default`
    #[arg(short, long, value_name = "NS")]
    pub(crate) namespace: Option<String>,
    /// Only objects with these labels, such as `app=web,tier!=cache`
    #[arg(short = 'l', long, value_name = "SELECTOR")]
    pub(crate) selector: Option<String>,
    /// Only objects with these fields, such as `spec.nodeName=node-1`; the server decides which fields it supports
    #[arg(long, value_name = "SELECTOR")]
    pub(crate) field_selector: Option<String>,
    /// Where the initial state comes from
    #[arg(long, value_enum, default_value_t = Initial::Auto, value_name = "MODE")]
    pub(crate) initial: Initial,
    /// How long a streaming list may make no progress before a LIST is requested instead
    #[arg(long, default_value = "30s", value_name = "DURATION", value_parser = duration)]
    pub(crate) watch_list_deadline: Duration,
    /// The number of objects in a page of a LIST; 0: all at once. A streaming list has no pages
    #[arg(long, default_value_t = 500, value_name = "N", value_parser = clap::value_parser!(u32).range(..=100_000))]
    pub(crate) chunk_size: u32,
    #[command(flatten)]
    pub(crate) connection: ConnectionArgs,
}

/// The server and the credentials: kubectl's options. An empty option counts as not given.
#[derive(Debug, ArgGroup)]
#[command(next_help_heading = "Connection")]
pub(crate) struct ConnectionArgs {
    /// The server's URL, http or https; then no kubeconfig is read
    #[arg(short = 's', long, value_name = "URL")]
    pub(crate) server: Option<String>,
    /// The kubeconfig file; by default those of $KUBECONFIG, or ~/.kube/config, or that of the pod this runs in
    #[arg(long, value_name = "FILE", value_parser = OsStringValueParser::new().map(PathBuf::from))]
    pub(crate) kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig; by default its current one
    #[arg(long, value_name = "NAME")]
    pub(crate) context: Option<String>,
    /// The cluster of the kubeconfig; by default the context's
    #[arg(long, value_name = "NAME")]
    pub(crate) cluster: Option<String>,
    /// The user of the kubeconfig; by default the context's
    #[arg(long, value_name = "NAME")]
    pub(crate) user: Option<String>,
    /// The bearer token to authenticate with
    #[arg(long, value_name = "TOKEN")]
    pub(crate) token: Option<String>,
    /// The file of a client certificate
    #[arg(long, value_name = "FILE")]
    pub(crate) client_certificate: Option<String>,
    /// The file of its key
    #[arg(long, value_name = "FILE")]
    pub(crate) client_key: Option<String>,
    /// Act as this user
    #[arg(long = "as", value_name = "USER")]
    pub(crate) impersonate: Option<String>,
    /// Act as a member of this group; can be repeated
    #[arg(long = "as-group", value_name = "GROUP", requires = "impersonate")]
    pub(crate) impersonate_groups: Vec<String>,
    /// Act as the user with this UID
    #[arg(long = "as-uid", value_name = "UID", requires = "impersonate")]
    pub(crate) impersonate_uid: Option<String>,
    /// The file of the certificate authorities to trust
    #[arg(long, value_name = "FILE", conflicts_with = "insecure_skip_tls_verify")]
    pub(crate) certificate_authority: Option<PathBuf>,
    /// The server's name in its certificate; by default that of its URL
    #[arg(long, value_name = "NAME")]
    pub(crate) tls_server_name: Option<String>,
    /// Trust any certificate of the server, which makes the connection insecure
    #[arg(long)]
    pub(crate) insecure_skip_tls_verify: bool,
    /// The time limit of a request for what the server has; 0: none. Lists and watches have deadlines of their own
    #[arg(long, default_value = "20s", value_name = "DURATION", value_parser = duration)]
    pub(crate) request_timeout: Duration,
}

/// Where an informer's initial state comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Initial {
    /// A streaming list if the server supports it, else a LIST
    Auto,
    /// A LIST
    List,
    /// Always a streaming list
    WatchList,
}

impl From<Initial> for InitialState {
    fn from(initial: Initial) -> Self {
        match initial {
            Initial::Auto => Self::Auto,
            Initial::List => Self::List,
            Initial::WatchList => Self::WatchList,
        }
    }
}

impl SelectionArgs {
    /// The reflector's options.
    pub(crate) fn reflector(&self) -> ReflectorOptions {
        self.scope.reflector()
    }
}

impl ScopeArgs {
    /// The reflector's options.
    pub(crate) fn reflector(&self) -> ReflectorOptions {
        ReflectorOptions {
            initial: self.initial.into(),
            streaming_timeout: self.watch_list_deadline,
            page_size: Some(self.chunk_size).filter(|size| *size > 0),
            ..reflector_options()
        }
    }
}

/// The options of all reflectors.
pub(crate) fn reflector_options() -> ReflectorOptions {
    ReflectorOptions {
        // A silent connection may be one that a router has dropped.
        bookmark_timeout: Some(BOOKMARKS),
        ..ReflectorOptions::default()
    }
}

/// The longest silence of a server that sends bookmarks, which it does every minute.
const BOOKMARKS: Duration = Duration::from_secs(150);
