//! Which server, with which credentials; and single requests to it whose failures are told in one line.

use crate::args::ConnectionArgs;
use crate::failure::{Usage, chain};
use anyhow::{anyhow, bail};
use http::{Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Limited};
use kube::client::Body;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config};
use serde_json::Value;
use std::io;
use std::time::Duration;

/// How long a single request may take.
const TIMEOUT: Duration = Duration::from_secs(20);
/// How large its answer may be.
const LIMIT: usize = 256 << 20;

/// A server, and how to talk to it.
pub(crate) struct Connection {
    pub(crate) client: Client,
    /// For messages.
    pub(crate) url: String,
    /// Where objects are unless a namespace is named.
    pub(crate) default_namespace: String,
}

/// An answer that is JSON.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) body: Value,
}

impl Connection {
    /// Finds out which server is meant. Nothing is sent yet.
    ///
    /// # Errors
    /// A URL that is none, a kubeconfig that cannot be used.
    pub(crate) async fn new(args: &ConnectionArgs) -> anyhow::Result<Self> {
        let config = match &args.server {
            Some(url) => Config::new(server_url(url)?),
            None => from_kubeconfig(args).await?,
        };
        Self::with_config(config)
    }

    /// A connection to the server of `config`.
    ///
    /// # Errors
    /// Certificates or credentials that cannot be used.
    pub(crate) fn with_config(mut config: Config) -> anyhow::Result<Self> {
        // The reflector does the waiting, and tells of it.
        config.default_retry = false;
        let url = config.cluster_url.to_string().trim_end_matches('/').to_owned();
        let default_namespace = config.default_namespace.clone();
        let client = Client::try_from(config)
            .map_err(|error| anyhow!("cannot set up a connection to {url}: {}", chain(&error)))?;
        Ok(Self {
            client,
            url,
            default_namespace,
        })
    }

    /// Sends a GET request and reads the answer.
    ///
    /// # Errors
    /// No answer, or one that no Kubernetes API server gives.
    pub(crate) async fn get(&self, path_and_query: &str, accept: &str) -> anyhow::Result<Answer> {
        let request = Request::get(path_and_query)
            .header(header::ACCEPT, accept)
            .body(Body::empty())?;
        let exchange = async {
            let (head, body) = self.client.send(request).await?.into_parts();
            let body = Limited::new(body, LIMIT).collect().await;
            anyhow::Ok(Response::from_parts(
                head,
                body.map_err(anyhow::Error::from_boxed)?.to_bytes(),
            ))
        };
        let response = tokio::time::timeout(TIMEOUT, exchange)
            .await
            .map_err(|_| self.unreachable(&format!("no answer within {} s", TIMEOUT.as_secs())))?
            .map_err(|error| self.failed(&error))?;
        let status = response.status();
        let Ok(body) = serde_json::from_slice(response.body()) else {
            let media_type = response.headers().get(header::CONTENT_TYPE);
            let media_type = media_type
                .and_then(|value| value.to_str().ok())
                .unwrap_or("no media type");
            return Err(self.not_kubernetes(&format!("GET {path_and_query} gave {status}, {media_type}")));
        };
        Ok(Answer { status, body })
    }

    /// The error for a server that answers, but not as an API server does.
    pub(crate) fn not_kubernetes(&self, what: &str) -> anyhow::Error {
        anyhow!(
            "{} does not look like a Kubernetes API server: {what}; check the address",
            self.url
        )
    }

    fn unreachable(&self, why: &str) -> anyhow::Error {
        anyhow!(
            "cannot reach a server at {}: {why}; is it running, and is the address right?",
            self.url
        )
    }

    /// What it means that a request got no answer.
    fn failed(&self, error: &anyhow::Error) -> anyhow::Error {
        // What the client puts around the cause says nothing.
        let cause = match error.downcast_ref::<kube::Error>() {
            Some(kube::Error::Service(cause)) => &**cause,
            _ => error.as_ref() as &(dyn std::error::Error + 'static),
        };
        let (why, url) = (chain(cause), &self.url);
        if matches!(error.downcast_ref(), Some(kube::Error::Auth(_))) {
            return anyhow!("cannot get credentials for {url}: {why}; check the user in the kubeconfig");
        }
        if error.chain().any(is_tls_error) {
            return anyhow!(
                "cannot agree on TLS with {url}: {why}; http instead of https, or a certificate authority that is not known?"
            );
        }
        self.unreachable(&why)
    }
}

/// Whether this is what TLS libraries report: invalid data of the stream below, possibly wrapped once more.
fn is_tls_error(cause: &(dyn std::error::Error + 'static)) -> bool {
    let mut next = cause.downcast_ref::<io::Error>();
    while let Some(error) = next {
        if error.kind() == io::ErrorKind::InvalidData {
            return true;
        }
        next = error.get_ref().and_then(|inner| inner.downcast_ref());
    }
    false
}

/// The address that `--server` gives.
fn server_url(text: &str) -> anyhow::Result<http::Uri> {
    let uri = text.parse::<http::Uri>().ok();
    let uri = uri.filter(|uri| matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some());
    uri.ok_or_else(|| {
        let problem =
            format!("--server {text:?} is not a URL; expected http://HOST:PORT or https://HOST:PORT");
        Usage(problem).into()
    })
}

async fn from_kubeconfig(args: &ConnectionArgs) -> anyhow::Result<Config> {
    if args.kubeconfig.is_none() && args.context.is_none() && !has_kubeconfig() {
        return Config::incluster().map_err(|_| {
            anyhow!("no kubeconfig: neither $KUBECONFIG nor ~/.kube/config is there; give --server URL or --kubeconfig FILE")
        });
    }
    let (read, origin) = match &args.kubeconfig {
        Some(path) => (Kubeconfig::read_from(path), path.display().to_string()),
        None => (Kubeconfig::read(), default_origin()),
    };
    let kubeconfig =
        read.map_err(|error| anyhow!("cannot read the kubeconfig {origin}: {}", chain(&error)))?;
    let context = context(&kubeconfig, args.context.as_deref(), &origin)?;
    let options = KubeConfigOptions {
        context: Some(context.clone()),
        ..Default::default()
    };
    Config::from_custom_kubeconfig(kubeconfig, &options)
        .await
        .map_err(|error| {
            anyhow!(
                "cannot use context {context:?} of the kubeconfig {origin}: {}",
                chain(&error)
            )
        })
}

/// The context that is meant, if it exists.
fn context(kubeconfig: &Kubeconfig, wanted: Option<&str>, origin: &str) -> anyhow::Result<String> {
    let names: Vec<_> = kubeconfig.contexts.iter().map(|context| &*context.name).collect();
    let there_are = match &*names {
        [] => "it has none".to_owned(),
        names => format!("it has: {}", names.join(", ")),
    };
    let current = kubeconfig
        .current_context
        .as_deref()
        .filter(|name| !name.is_empty());
    let Some(name) = wanted.or(current) else {
        bail!("the kubeconfig {origin} has no current context; name one with --context ({there_are})");
    };
    if !names.contains(&name) {
        bail!("the kubeconfig {origin} has no context {name:?} ({there_are})");
    }
    Ok(name.to_owned())
}

fn default_kubeconfig() -> Option<std::path::PathBuf> {
    std::env::home_dir().map(|home| home.join(".kube/config"))
}

fn has_kubeconfig() -> bool {
    let named = std::env::var_os("KUBECONFIG").is_some_and(|value| !value.is_empty());
    named || default_kubeconfig().is_some_and(|path| path.exists())
}

/// Where a kubeconfig that was not named comes from.
fn default_origin() -> String {
    match std::env::var("KUBECONFIG") {
        Ok(value) if !value.is_empty() => value,
        _ => "~/.kube/config".into(),
    }
}
