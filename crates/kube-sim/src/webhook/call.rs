//! One request to a webhook: HTTPS, a connection for each.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, CONNECTION, CONTENT_TYPE, HOST, USER_AGENT};
use http::{Request, Uri};
use http_body_util::{BodyExt as _, Full, Limited};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::client::WebPkiServerVerifier;
use tokio_rustls::rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use tokio_rustls::rustls::client::verify_server_name;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use tokio_rustls::rustls::server::ParsedCertificate;
use tokio_rustls::rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error as TlsError, RootCertStore, SignatureScheme,
};

use super::answer::Answer;
use super::authorities::anchors;
use crate::api::Api;
use crate::object::join_key;
use crate::target::MAX_BODY;

/// The largest answer that is read: a patch may hold an object and more.
const MAX_ANSWER: usize = 2 * MAX_BODY;

const UNTRUSTED: &str = "tls: failed to verify certificate: x509: certificate signed by unknown authority";

/// Where a webhook is.
struct Endpoint {
    /// As messages show it, without the query.
    url: String,
    /// The name in its certificate.
    server: String,
    /// Where to connect to.
    host: String,
    port: u16,
    invalid_port: Option<String>,
    authorities: Vec<u8>,
}

/// Who asks, and how long the webhook may take.
#[derive(Clone, Copy)]
pub(crate) enum Caller {
    Admission(Duration),
    Conversion(Duration),
}

impl Caller {
    fn timeout(self) -> Duration {
        match self {
            Self::Admission(timeout) | Self::Conversion(timeout) => timeout,
        }
    }

    /// What Go says when the time is over. For admission it is the request that has no more time, for conversion the client.
    fn late(self) -> &'static str {
        match self {
            Self::Admission(_) => "context deadline exceeded",
            Self::Conversion(_) => {
                "net/http: request canceled (Client.Timeout exceeded while awaiting headers)"
            }
        }
    }
}

/// Posts a review to the webhook of a client configuration; returns its answer, or why there is none in the words of Go.
pub(crate) async fn post(api: &Api, client: &Value, caller: Caller, body: Vec<u8>) -> Result<Answer, String> {
    let endpoint = endpoint(client)?;
    let timeout = caller.timeout();
    let url = format!("{}?timeout={}s", endpoint.url, timeout.as_secs());
    if let Some(port) = &endpoint.invalid_port {
        return Err(format!("Post \"{url}\": dial tcp: address {port}: invalid port"));
    }
    let asked = tokio::time::timeout(timeout, exchange(api, client, &endpoint, &url, body)).await;
    asked.unwrap_or_else(|_| Err(format!("Post \"{url}\": {}", caller.late())))
}

async fn exchange(
    api: &Api,
    client: &Value,
    endpoint: &Endpoint,
    url: &str,
    body: Vec<u8>,
) -> Result<Answer, String> {
    let failed = |why: String| format!("Post \"{url}\": {why}");
    let (host, port) = match client["service"].is_object() {
        true => backend(api, &client["service"]).map_err(failed)?,
        false => (endpoint.host.clone(), endpoint.port),
    };
    let stream = connect(&host, port).await.map_err(failed)?;
    let name = ServerName::try_from(endpoint.server.clone()).map_err(|error| failed(error.to_string()))?;
    let config = config(&endpoint.authorities).map_err(failed)?;
    let stream = TlsConnector::from(Arc::new(config))
        .connect(name, stream)
        .await
        .map_err(|error| failed(untrusted(&error, &endpoint.server)))?;
    let uri: Uri = url.parse().map_err(|_| failed("invalid URL".into()))?;
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    let request = Request::post(path)
        .header(HOST, authority)
        .header(USER_AGENT, "kube-apiserver-admission")
        .header(ACCEPT, "application/json, */*")
        .header(CONTENT_TYPE, "application/json")
        .header(CONNECTION, "close")
        .body(Full::new(Bytes::from(body)))
        .map_err(|error| failed(error.to_string()))?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .map_err(|error| failed(error.to_string()))?;
    let answer = async move {
        let response = sender.send_request(request).await.map_err(broken)?;
        let code = response.status().as_u16();
        let media = response.headers().get(CONTENT_TYPE);
        let media = media.map(|media| String::from_utf8_lossy(media.as_bytes()).into_owned());
        let body = Limited::new(response.into_body(), MAX_ANSWER).collect().await;
        let body = body.map_err(|error| error.to_string())?.to_bytes();
        Ok::<_, String>(Answer { code, media, body })
    };
    // The connection ends with the answer, and makes no progress unless it is polled.
    let (answer, _) = futures::future::join(answer, connection).await;
    answer.map_err(failed)
}

async fn connect(host: &str, port: u16) -> Result<TcpStream, String> {
    let addresses = tokio::net::lookup_host((host, port)).await;
    let addresses = addresses.map_err(|_| format!("dial tcp: lookup {host}: no such host"))?;
    let stream = TcpStream::connect(&addresses.collect::<Vec<_>>()[..]).await;
    stream.map_err(|error| {
        let why = match error.kind() {
            std::io::ErrorKind::ConnectionRefused => "connect: connection refused".to_owned(),
            _ => error.to_string(),
        };
        format!("dial tcp {host}:{port}: {why}")
    })
}

/// Why there is no answer on a connection that was made.
fn broken(error: hyper::Error) -> String {
    use std::error::Error as _;
    let cause = error
        .source()
        .and_then(|cause| cause.downcast_ref::<std::io::Error>());
    let has_ended = cause.is_some_and(|cause| cause.kind() == std::io::ErrorKind::UnexpectedEof);
    match error.is_incomplete_message() || has_ended {
        true => "EOF".to_owned(),
        false => error.to_string(),
    }
}

/// Where a configuration says that its webhook is.
fn endpoint(client: &Value) -> Result<Endpoint, String> {
    use base64::Engine as _;
    let authorities = client["caBundle"].as_str().unwrap_or("");
    let authorities = base64::engine::general_purpose::STANDARD
        .decode(authorities)
        .map_err(|error| error.to_string())?;
    let text = |value: &Value| value.as_str().unwrap_or("").to_owned();
    let service = &client["service"];
    if service.is_object() {
        let (name, namespace) = (text(&service["name"]), text(&service["namespace"]));
        let port = service["port"].as_u64().unwrap_or(443);
        let server = format!("{name}.{namespace}.svc");
        return Ok(Endpoint {
            url: format!("https://{server}:{port}{}", cleaned(&text(&service["path"]))),
            host: server.clone(),
            server,
            port: 443,
            invalid_port: None,
            authorities,
        });
    }
    let url = text(&client["url"]);
    let parsed: Uri = url
        .replace(' ', "%20")
        .parse()
        .map_err(|_| format!("invalid url {url:?}"))?;
    let authority = parsed.authority().map_or("", |authority| authority.as_str());
    let host = parsed.host().unwrap_or("").trim_matches(['[', ']']).to_owned();
    let port = authority.rsplit_once(':').map_or("", |(_, port)| port);
    let is_port = parsed.port_u16().is_some() || port.is_empty() || port.ends_with(']');
    Ok(Endpoint {
        server: host.clone(),
        host,
        port: parsed.port_u16().unwrap_or(443),
        invalid_port: (!is_port).then(|| port.to_owned()),
        url: format!("https://{authority}{}", cleaned(parsed.path())),
        authorities,
    })
}

/// A path as Go joins its parts: with one slash between two of them.
fn cleaned(path: &str) -> String {
    let parts = path.split('/').filter(|part| !matches!(*part, "" | "."));
    format!("/{}", parts.collect::<Vec<_>>().join("/"))
}

/// Where a Service leads to. Nothing runs at the addresses of this cluster, so it is an address of this machine: one of the Service's
/// endpoints if they are, or the Service's target port on 127.0.0.1.
fn backend(api: &Api, reference: &Value) -> Result<(String, u16), String> {
    let text = |name: &str| reference[name].as_str().unwrap_or("");
    let key = join_key(text("namespace"), text("name"));
    let find = |plural: &str| {
        let resource = api.find("", "v1", plural)?;
        Some(api.storage.get(&resource, &key)?.decode(&resource.head("v1")))
    };
    let missing = || format!("service \"{}\" not found", text("name"));
    let service = find("services").ok_or_else(missing)?;
    let asked = reference["port"].as_u64().unwrap_or(443);
    let ports = service.get("spec").map_or(&Value::Null, |spec| &spec["ports"]);
    let mut ports = ports.as_array().into_iter().flatten();
    let port = ports
        .find(|port| port["port"] == asked)
        .ok_or_else(|| format!("no service port {asked} found for service \"{}\"", text("name")))?;
    let number = |value: &Value| value.as_u64().and_then(|port| u16::try_from(port).ok());
    let endpoints = find("endpoints").unwrap_or_default();
    let subsets = endpoints.get("subsets").and_then(Value::as_array);
    for subset in subsets.into_iter().flatten() {
        let mut addresses = subset["addresses"].as_array().into_iter().flatten();
        let address = addresses.find_map(|address| {
            let address = address["ip"].as_str()?;
            let ip: std::net::IpAddr = address.parse().ok()?;
            ip.is_loopback().then_some(address)
        });
        let mut ports = subset["ports"].as_array().into_iter().flatten();
        let found = ports.find(|found| found["name"] == port["name"]);
        if let (Some(address), Some(port)) = (address, found.and_then(|port| number(&port["port"]))) {
            return Ok((address.to_owned(), port));
        }
    }
    let target = number(&port["targetPort"]).or_else(|| number(&port["port"]));
    Ok(("127.0.0.1".to_owned(), target.unwrap_or(443)))
}

fn config(authorities: &[u8]) -> Result<ClientConfig, String> {
    let provider = Arc::new(default_provider());
    let anchors = anchors(authorities);
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(anchors.iter().cloned());
    let inner = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone())
        .build()
        .map_err(|_| UNTRUSTED.to_owned())?;
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(Verifier { inner, anchors }))
        .with_no_client_auth();
    Ok(config)
}

/// What Go says of a connection that was not made.
fn untrusted(error: &std::io::Error, server: &str) -> String {
    let tls = error.get_ref().and_then(|inner| inner.downcast_ref::<TlsError>());
    match tls {
        Some(TlsError::InvalidCertificate(why)) => match why {
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                format!("tls: failed to verify certificate: x509: certificate is not valid for {server}")
            }
            CertificateError::Expired
            | CertificateError::ExpiredContext { .. }
            | CertificateError::NotValidYet
            | CertificateError::NotValidYetContext { .. } => {
                "tls: failed to verify certificate: x509: certificate has expired or is not yet valid".into()
            }
            _ => UNTRUSTED.into(),
        },
        _ => error.to_string(),
    }
}

/// Trusts a certificate that is among the authorities, even if it is that of an authority, as Go does: many webhooks have made
/// theirs so.
#[derive(Debug)]
struct Verifier {
    inner: Arc<WebPkiServerVerifier>,
    anchors: Vec<CertificateDer<'static>>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, TlsError> {
        let verified = self
            .inner
            .verify_server_cert(certificate, intermediates, name, ocsp, now);
        match verified {
            Err(TlsError::InvalidCertificate(
                CertificateError::Other(_) | CertificateError::UnknownIssuer,
            )) if self.anchors.iter().any(|anchor| anchor == certificate) => {
                verify_server_name(&ParsedCertificate::try_from(certificate)?, name)?;
                Ok(ServerCertVerified::assertion())
            }
            other => other,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        self.inner.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        self.inner.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.inner.supported_verify_schemes()
    }
}
