//! The server and the credentials, and single requests whose failures fit into one line.

use crate::args::ConnectionArgs;
use crate::config;
use crate::failure::chain;
use crate::wake;
use anyhow::anyhow;
use bytes::Bytes;
use http::{Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use kube::client::{AuthError, Body};
use kube::{Client, Config};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use std::io;
use std::time::Duration;

/// The default time limit of a single request.
const TIMEOUT: Duration = Duration::from_secs(20);
/// The maximum size of its answer. Discovery takes 2 KB for each resource, so this is enough for 10,000 resources.
const LIMIT: usize = 32 << 20;

/// A server and a client for it.
#[derive(Clone)]
pub(crate) struct Connection {
    pub(crate) client: Client,
    /// For messages.
    pub(crate) url: String,
    /// The namespace to use if none is given.
    pub(crate) default_namespace: String,
    /// The time limit of a single request; zero: none.
    timeout: Duration,
}

/// An answer.
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    body: Bytes,
}

impl Answer {
    /// The body as JSON.
    ///
    /// # Errors
    /// The body is not JSON, or not of this type.
    pub(crate) fn json<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        serde_json::from_slice(&self.body)
    }

    /// The message of a `Status`.
    pub(crate) fn message(&self) -> Option<String> {
        #[derive(Deserialize)]
        struct Status {
            message: Option<String>,
        }
        self.json::<Status>().ok()?.message
    }
}

impl Connection {
    /// Determines the server and the credentials. Sends nothing yet.
    ///
    /// # Errors
    /// The URL is malformed, or the kubeconfig cannot be used.
    pub(crate) async fn new(args: &ConnectionArgs) -> anyhow::Result<Self> {
        let mut connection = Self::with_config(config::config(args).await?)?;
        connection.timeout = args.request_timeout;
        Ok(connection)
    }

    /// A connection to the server of `config`.
    ///
    /// # Errors
    /// Certificates or credentials cannot be used.
    pub(crate) fn with_config(mut config: Config) -> anyhow::Result<Self> {
        // The reflector waits before it retries, and reports that it does.
        config.default_retry = false;
        let url = config::shown(&config.cluster_url);
        config::check_token(&config.auth_info)?;
        let default_namespace = config.default_namespace.clone();
        let client = kube_informer::client::try_from(config).map_err(|error| match &error {
            kube::Error::Auth(error) => no_credentials(&url, error),
            error => anyhow!("cannot set up a connection to {url}: {}", chain(error)),
        })?;
        Ok(Self {
            client: wake::client(client),
            url,
            default_namespace,
            timeout: TIMEOUT,
        })
    }

    /// Sends a GET request and reads the answer.
    ///
    /// # Errors
    /// There is no answer, or one that a Kubernetes API server does not give.
    pub(crate) async fn get(&self, path_and_query: &str, accept: &str) -> anyhow::Result<Answer> {
        let request = Request::get(path_and_query)
            .header(header::ACCEPT, accept)
            .body(Body::empty())?;
        let exchange = async {
            let (head, body) = self.client.send(request).await?.into_parts();
            let body = Limited::new(body, LIMIT).collect().await;
            anyhow::Ok(Response::from_parts(head, body.map_err(body_error)?.to_bytes()))
        };
        let response = match self.timeout {
            Duration::ZERO => exchange.await,
            timeout => match tokio::time::timeout(timeout, exchange).await {
                Ok(response) => response,
                Err(_) => return Err(self.unreachable(&format!("no answer within {timeout:?}"))),
            },
        };
        let (head, body) = response.map_err(|error| self.failed(&error))?.into_parts();
        if serde_json::from_slice::<IgnoredAny>(&body).is_err() {
            let media_type = head.headers.get(header::CONTENT_TYPE);
            let media_type = media_type
                .and_then(|value| value.to_str().ok())
                .unwrap_or("no media type");
            let status = head.status;
            return Err(self.not_kubernetes(&format!("GET {path_and_query} gave {status}, {media_type}")));
        }
        Ok(Answer {
            status: head.status,
            body,
        })
    }

    /// The error for a server whose answers are not those of a Kubernetes API server.
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

    /// Explains why a request got no answer.
    fn failed(&self, error: &anyhow::Error) -> anyhow::Error {
        // The client's wrappers around the cause add no information.
        let cause = match error.downcast_ref::<kube::Error>() {
            Some(kube::Error::Service(cause)) => &**cause,
            _ => error.as_ref() as &(dyn std::error::Error + 'static),
        };
        if error.is::<LengthLimitError>() {
            return self.not_kubernetes(&format!("it answered with more than {} MiB", LIMIT >> 20));
        }
        let (why, url) = (chain(cause), &self.url);
        let auth = |cause: &(dyn std::error::Error + 'static)| {
            cause
                .downcast_ref::<AuthError>()
                .map(|error| no_credentials(url, error))
        };
        if let Some(error) = error.chain().find_map(auth) {
            return error;
        }
        if error.chain().any(is_tls_error) {
            return anyhow!(
                "cannot agree on TLS with {url}: {why}; is it http instead of https? An unknown authority is trusted with --certificate-authority FILE, any certificate with --insecure-skip-tls-verify"
            );
        }
        self.unreachable(&why)
    }
}

/// The error itself; a boxed one is unwrapped, because a box hides its type.
fn body_error(error: Box<dyn std::error::Error + Send + Sync>) -> anyhow::Error {
    match error.downcast::<LengthLimitError>() {
        Ok(too_long) => anyhow::Error::new(*too_long),
        Err(error) => anyhow::Error::from_boxed(error),
    }
}

fn no_credentials(url: &str, error: &AuthError) -> anyhow::Error {
    let why = config::auth_problem(error);
    anyhow!("cannot get credentials for {url}: {why}; check the user in the kubeconfig")
}

/// Whether a TLS library reported it: as invalid data of the underlying stream, possibly wrapped once more.
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
