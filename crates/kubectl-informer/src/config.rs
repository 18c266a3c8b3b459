//! The server, the credentials and the proxy, as kubectl determines them from the same command line, files and
//! environment.
//!
//! Where `kube` differs, this module does what kubectl does: a missing file of `$KUBECONFIG` is skipped; a file with an
//! empty current-context does not set it; an empty namespace is `default`; the environment's proxies apply however the
//! server was given, except to servers that `NO_PROXY` lists. One difference remains: if a kubeconfig is read and
//! `HTTPS_PROXY` is set, `kube` rejects a `NO_PROXY` with an empty entry.
//!
//! Errors contain no password, token or key.

use crate::args::ConnectionArgs;
use crate::failure::{Usage, chain};
use anyhow::{anyhow, bail};
use http::{HeaderValue, Uri};
use hyper_util::client::proxy::matcher::Matcher;
use kube::Config;
use kube::client::AuthError;
use kube::config::{AuthInfo, KubeConfigOptions, Kubeconfig, KubeconfigError};
use percent_encoding::percent_decode_str;
use secrecy::ExposeSecret as _;
use std::io;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

/// The configuration of a client.
///
/// # Errors
/// The URL is malformed, or the kubeconfig cannot be used.
pub(crate) async fn config(args: &ConnectionArgs) -> anyhow::Result<Config> {
    let (mut config, proxy) = match given(&args.server) {
        Some(url) => {
            no_kubeconfig(args)?;
            (Config::new(server_url(url)?), None)
        }
        None => of_kubeconfig(args).await?,
    };
    if config.default_namespace.trim().is_empty() {
        config.default_namespace = "default".into();
    }
    take_user_info(&mut config)?;
    override_with(&mut config, args)?;
    config.proxy_url = match proxy {
        Some(proxy) => Some(proxy_url(&proxy, "proxy-url of the kubeconfig")?),
        None => match environment_proxy(&config.cluster_url, |name| std::env::var(name).ok()) {
            Some(proxy) => Some(proxy_url(&proxy, "proxy of the environment")?),
            None => None,
        },
    };
    Ok(config)
}

/// An option that is given and not empty; kubectl ignores empty ones.
pub(crate) fn given(option: &Option<String>) -> Option<&str> {
    option.as_deref().filter(|text| !text.is_empty())
}

/// The URL for messages: without user information and query.
pub(crate) fn shown(url: &Uri) -> String {
    let scheme = url.scheme_str().unwrap_or("http");
    let authority = url.authority().map_or("", |authority| authority.as_str());
    let shown = format!("{scheme}://{authority}{}", url.path());
    without_user_info(shown.trim_end_matches('/'))
}

/// A URL, possibly malformed, without anything that might be a password.
fn without_user_info(url: &str) -> String {
    let Some((before, after)) = url.rsplit_once('@') else {
        return url.to_owned();
    };
    match before.split_once("://") {
        Some((scheme, _)) => format!("{scheme}://...@{after}"),
        None => format!("...@{after}"),
    }
}

/// The address that `--server` gives.
fn server_url(text: &str) -> anyhow::Result<Uri> {
    http_url(text).ok_or_else(|| {
        let text = without_user_info(text);
        let problem =
            format!("--server {text:?} is not a URL; expected http://HOST:PORT or https://HOST:PORT");
        Usage(problem).into()
    })
}

fn http_url(text: &str) -> Option<Uri> {
    let uri = text.parse::<Uri>().ok()?;
    let http = matches!(uri.scheme_str(), Some("http" | "https"));
    let authority = uri.authority()?;
    let address = authority.as_str().rsplit('@').next()?;
    // Text after a colon that is not a port may be a password with a slash in it.
    let port = authority.port_u16().is_some() || address.ends_with(']') || !address.contains(':');
    (http && !authority.host().is_empty() && port).then_some(uri)
}

fn proxy_url(text: &str, what: &str) -> anyhow::Result<Uri> {
    let url = if text.contains("://") {
        http_url(text)
    } else {
        http_url(&format!("http://{text}"))
    };
    url.ok_or_else(|| {
        let text = without_user_info(text);
        anyhow!("cannot use the {what}, {text:?}; expected http://HOST:PORT or https://HOST:PORT")
    })
}

/// Moves user information in the server's URL to the credentials, where it takes precedence, as in kubectl.
fn take_user_info(config: &mut Config) -> anyhow::Result<()> {
    let url = config.cluster_url.clone();
    let Some((user_info, address)) = url.authority().and_then(|all| all.as_str().rsplit_once('@')) else {
        return Ok(());
    };
    let (user, password) = user_info.split_once(':').unwrap_or((user_info, ""));
    let decoded = |text| percent_decode_str(text).decode_utf8_lossy().into_owned();
    use_instead(&mut config.auth_info);
    config.auth_info.username = Some(decoded(user));
    config.auth_info.password = Some(decoded(password).into());
    let mut parts = url.clone().into_parts();
    parts.authority = Some(address.parse().map_err(|_| bad_address(&url))?);
    config.cluster_url = Uri::from_parts(parts).map_err(|_| bad_address(&url))?;
    Ok(())
}

fn bad_address(url: &Uri) -> anyhow::Error {
    anyhow!("the server's address {} is not a URL", shown(url))
}

/// Removes credentials that would take precedence over a token or a password.
fn use_instead(auth: &mut AuthInfo) {
    (auth.username, auth.password) = (None, None);
    (auth.token, auth.token_file) = (None, None);
    (auth.auth_provider, auth.exec) = (None, None);
}

/// Rejects a token that a header cannot contain, such as one with a line break, because `kube` panics on it.
pub(crate) fn check_token(auth: &AuthInfo) -> anyhow::Result<()> {
    match &auth.token {
        Some(token) if HeaderValue::from_str(token.expose_secret()).is_err() => {
            bail!("the token cannot be sent: it has a line break or another control character")
        }
        _ => Ok(()),
    }
}

/// Applies the options of the command line, which take precedence over the kubeconfig.
fn override_with(config: &mut Config, args: &ConnectionArgs) -> anyhow::Result<()> {
    let auth = &mut config.auth_info;
    if let Some(token) = given(&args.token) {
        use_instead(auth);
        auth.token = Some(token.to_owned().into());
    }
    if let Some(file) = given(&args.client_certificate) {
        auth.client_certificate = Some(file.to_owned());
        auth.client_certificate_data = None;
    }
    if let Some(file) = given(&args.client_key) {
        auth.client_key = Some(file.to_owned());
        auth.client_key_data = None;
    }
    if let Some(user) = given(&args.impersonate) {
        auth.impersonate = Some(user.to_owned());
    }
    if let Some(uid) = given(&args.impersonate_uid) {
        auth.impersonate_uid = Some(uid.to_owned());
    }
    if !args.impersonate_groups.is_empty() {
        auth.impersonate_groups = Some(args.impersonate_groups.clone());
    }
    if let Some(name) = given(&args.tls_server_name) {
        config.tls_server_name = Some(name.to_owned());
    }
    if let Some(file) = &args.certificate_authority {
        // The client's error does not name the file.
        let content =
            std::fs::read(file).map_err(|error| anyhow!("cannot read {}: {error}", file.display()))?;
        if !String::from_utf8_lossy(&content).contains("-BEGIN CERTIFICATE-") {
            bail!("{} holds no certificate in PEM", file.display());
        }
        config.root_cert_file = Some(file.clone());
    }
    if args.insecure_skip_tls_verify {
        config.accept_invalid_certs = true;
    }
    Ok(())
}

/// Rejects options that need a kubeconfig.
fn no_kubeconfig(args: &ConnectionArgs) -> Result<(), Usage> {
    let options = [
        ("--kubeconfig", named_file(args).is_some()),
        ("--context", given(&args.context).is_some()),
        ("--cluster", given(&args.cluster).is_some()),
        ("--user", given(&args.user).is_some()),
    ];
    match options.iter().find(|(_, given)| *given) {
        Some((option, _)) => Err(Usage(format!(
            "--server cannot be used with {option}: no kubeconfig is read then"
        ))),
        None => Ok(()),
    }
}

fn named_file(args: &ConnectionArgs) -> Option<&PathBuf> {
    args.kubeconfig
        .as_ref()
        .filter(|path| !path.as_os_str().is_empty())
}

/// The configuration from the kubeconfig, with its proxy, or from the pod that this runs in.
/// The kubeconfig that these arguments name, or the default one; `None` if there is none.
///
/// # Errors
/// It cannot be read.
pub(crate) fn kubeconfig(args: &ConnectionArgs) -> Result<Option<Kubeconfig>, KubeconfigError> {
    match named_file(args) {
        Some(file) => read_file(file).map(Some),
        None => Ok(read_files(&default_files()).unwrap_or_default()),
    }
}

async fn of_kubeconfig(args: &ConnectionArgs) -> anyhow::Result<(Config, Option<String>)> {
    let (read, files) = match named_file(args) {
        Some(file) => (
            Some(read_file(file).map_err(|e| unreadable(file, &e))?),
            vec![file.clone()],
        ),
        None => {
            let files = default_files();
            (read_files(&files)?, files)
        }
    };
    let files: Vec<_> = files.iter().map(|file| file.display().to_string()).collect();
    let origin = files.join(", ");
    let Some(kubeconfig) = read else {
        if given(&args.context).is_none()
            && let Ok(config) = Config::incluster()
        {
            let default_namespace = config.default_namespace.trim().to_owned();
            return Ok((with_namespace(config, default_namespace), None));
        }
        bail!(
            "no kubeconfig: there is no {}; give --server URL or --kubeconfig FILE",
            files.join(" or ")
        );
    };
    let context = context(&kubeconfig, given(&args.context), &origin)?;
    let proxy = proxy_of(&kubeconfig, &context, given(&args.cluster));
    let options = KubeConfigOptions {
        context: Some(context.clone()),
        cluster: given(&args.cluster).map(ToOwned::to_owned),
        user: given(&args.user).map(ToOwned::to_owned),
    };
    if let Some(user) = &options.user
        && !kubeconfig.auth_infos.iter().any(|named| named.name == *user)
    {
        let names = there_are(kubeconfig.auth_infos.iter().map(|named| &*named.name));
        bail!("the kubeconfig {origin} has no user {user:?} ({names})");
    }
    if let Some(cluster) = &options.cluster
        && !kubeconfig.clusters.iter().any(|named| named.name == *cluster)
    {
        let names = there_are(kubeconfig.clusters.iter().map(|named| &*named.name));
        bail!("the kubeconfig {origin} has no cluster {cluster:?} ({names})");
    }
    let config = Config::from_custom_kubeconfig(kubeconfig, &options).await;
    let config = config.map_err(|error| {
        let problem = problem(&error);
        anyhow!("cannot use context {context:?} of the kubeconfig {origin}: {problem}")
    })?;
    Ok((config, proxy))
}

fn with_namespace(mut config: Config, namespace: String) -> Config {
    config.default_namespace = namespace;
    config
}

/// The files that `$KUBECONFIG` names, or `~/.kube/config`.
fn default_files() -> Vec<PathBuf> {
    match std::env::var_os("KUBECONFIG") {
        Some(value) if !value.is_empty() => std::env::split_paths(&value)
            .filter(|path| !path.as_os_str().is_empty())
            .collect(),
        _ => std::env::home_dir()
            .map(|home| home.join(".kube/config"))
            .into_iter()
            .collect(),
    }
}

/// The files merged; the first file that sets a value takes precedence. `None` if none of them exists.
fn read_files(files: &[PathBuf]) -> anyhow::Result<Option<Kubeconfig>> {
    let mut merged: Option<Kubeconfig> = None;
    for file in files {
        let next = match read_file(file) {
            Err(KubeconfigError::ReadConfig(error, _)) if error.kind() == io::ErrorKind::NotFound => continue,
            read => read.map_err(|error| unreadable(file, &error))?,
        };
        merged = Some(match merged {
            None => next,
            Some(merged) => merged.merge(next).map_err(|error| unreadable(file, &error))?,
        });
    }
    Ok(merged)
}

fn read_file(file: &Path) -> Result<Kubeconfig, KubeconfigError> {
    let mut kubeconfig = Kubeconfig::read_from(file)?;
    kubeconfig.current_context = kubeconfig.current_context.filter(|name| !name.is_empty());
    Ok(kubeconfig)
}

fn unreadable(file: &Path, error: &KubeconfigError) -> anyhow::Error {
    anyhow!(
        "cannot read the kubeconfig {}: {}",
        file.display(),
        problem(error)
    )
}

/// The error without the file's content.
fn problem(error: &KubeconfigError) -> String {
    match error {
        KubeconfigError::Parse(error) => match error.location() {
            Some(place) => format!(
                "it is no YAML of a kubeconfig at line {}, column {}",
                place.line(),
                place.column()
            ),
            None => "it is no YAML of a kubeconfig".into(),
        },
        error => chain(error),
    }
}

/// The error without a credential plugin's input and output.
pub(crate) fn auth_problem(error: &AuthError) -> String {
    match error {
        AuthError::AuthExecRun { out, .. } => format!("the credential plugin failed with {}", out.status),
        AuthError::AuthExecParse(_) => "the credential plugin printed no ExecCredential".into(),
        error => chain(error),
    }
}

/// The selected context, if it exists.
fn context(kubeconfig: &Kubeconfig, wanted: Option<&str>, origin: &str) -> anyhow::Result<String> {
    let names: Vec<_> = kubeconfig.contexts.iter().map(|context| &*context.name).collect();
    let there_are = there_are(names.iter().copied());
    let Some(name) = wanted.or(kubeconfig.current_context.as_deref()) else {
        bail!("the kubeconfig {origin} has no current context; name one with --context ({there_are})");
    };
    if !names.contains(&name) {
        bail!("the kubeconfig {origin} has no context {name:?} ({there_are})");
    }
    Ok(name.to_owned())
}

fn there_are<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<_> = names.collect();
    match names.is_empty() {
        true => "it has none".to_owned(),
        false => format!("it has: {}", names.join(", ")),
    }
}

/// The cluster's proxy in the kubeconfig.
fn proxy_of(kubeconfig: &Kubeconfig, context: &str, cluster: Option<&str>) -> Option<String> {
    let mut contexts = kubeconfig.contexts.iter();
    let context = contexts.find(|named| named.name == context)?.context.as_ref()?;
    let cluster = cluster.unwrap_or(&context.cluster);
    let mut clusters = kubeconfig.clusters.iter();
    let cluster = clusters.find(|named| named.name == cluster)?.cluster.as_ref()?;
    cluster.proxy_url.clone().filter(|proxy| !proxy.is_empty())
}

/// The proxy of the environment variables for a server, by the rules of Go's `http.ProxyFromEnvironment`.
fn environment_proxy(server: &Uri, variable: impl Fn(&str) -> Option<String>) -> Option<String> {
    let first = |names: [&str; 2]| {
        names
            .into_iter()
            .filter_map(&variable)
            .find(|value| !value.is_empty())
    };
    let proxy = match server.scheme_str() {
        Some("http") => first(["HTTP_PROXY", "http_proxy"])?,
        _ => first(["HTTPS_PROXY", "https_proxy"])?,
    };
    let host = server.host()?.trim_matches(['[', ']']);
    let is_local = host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    let exceptions = exceptions(&first(["NO_PROXY", "no_proxy"]).unwrap_or_default(), server);
    // The proxy does not matter; the matcher only decides which servers have none.
    let matcher = Matcher::builder().all("http://proxy").no(exceptions).build();
    (!is_local && matcher.intercept(server).is_some()).then_some(proxy)
}

/// The entries of `NO_PROXY` without leading stars and ports, which the matcher does not know.
fn exceptions(no_proxy: &str, server: &Uri) -> String {
    let default = if server.scheme_str() == Some("http") {
        80
    } else {
        443
    };
    let server_port = server.port_u16().unwrap_or(default);
    let entries = no_proxy.split(',').map(str::trim).filter_map(|entry| {
        let entry = entry
            .strip_prefix('*')
            .filter(|rest| !rest.is_empty())
            .unwrap_or(entry);
        match entry.rsplit_once(':') {
            Some((host, port)) if host.ends_with(']') || !host.contains(':') => {
                (port.parse() == Ok(server_port)).then(|| host.trim_matches(['[', ']']))
            }
            _ => Some(entry.trim_matches(['[', ']'])),
        }
    });
    entries
        .filter(|entry| !entry.is_empty())
        .collect::<Vec<_>>()
        .join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(url: &str) -> Config {
        Config::new(url.parse().unwrap())
    }

    #[test]
    fn user_info_becomes_basic_authentication() {
        let mut with = config("https://jane:pa%40ss%3Aword@host:6443/prefix");
        with.auth_info.token = Some("token".to_owned().into());
        take_user_info(&mut with).unwrap();
        assert_eq!(with.cluster_url.to_string(), "https://host:6443/prefix");
        let auth = &with.auth_info;
        assert_eq!(auth.username.as_deref(), Some("jane"));
        assert_eq!(auth.password.as_ref().unwrap().expose_secret(), "pa@ss:word");
        assert!(auth.token.is_none());

        let mut without = config("https://host:6443");
        take_user_info(&mut without).unwrap();
        assert!(without.auth_info.username.is_none());
    }

    #[test]
    fn messages_show_urls_without_passwords() {
        for (text, expected) in [
            ("https://host:6443/", "https://host:6443"),
            ("http://u:hunter2@host:1", "http://...@host:1"),
            ("http://u:hunter2/x@host", "http://...@host"),
            ("http://u@x:hunter2@host", "http://...@host"),
            ("u:hunter2@host", "...@host"),
        ] {
            assert_eq!(without_user_info(text.trim_end_matches('/')), expected);
        }
        for text in [
            "http://u:hunter2/x@host",
            "http://u:hunter2@ho st",
            "ftp://u:hunter2@host",
        ] {
            let error = server_url(text).unwrap_err().to_string();
            assert!(!error.contains("hunter2"), "{error}");
        }
        for (url, expected) in [
            ("http://h?token=hunter2", "http://h"),
            ("https://h:1/a/", "https://h:1/a"),
            ("https://[::1]:1", "https://[::1]:1"),
        ] {
            assert_eq!(shown(&server_url(url).unwrap()), expected);
        }
    }

    #[test]
    fn proxies_of_the_environment_are_those_of_kubectl() {
        for (server, no_proxy, expected) in [
            ("https://example.com:6443", "", Some("p:1")),
            ("http://example.com", "", Some("q:2")),
            ("https://localhost:6443", "", None),
            ("https://127.0.0.1:6443", "", None),
            ("https://[::1]:6443", "", None),
            ("https://example.com", "*", None),
            ("https://example.com", "other.com,example.com", None),
            ("https://api.example.com", "example.com", None),
            ("https://api.example.com", "*.example.com", None),
            ("https://api.example.com", ".example.com,", None),
            ("https://notexample.com", "example.com", Some("p:1")),
            ("https://example.com:6443", "example.com:6443", None),
            ("https://example.com:6443", "example.com:443", Some("p:1")),
            ("https://example.com", "example.com:443", None),
            ("https://10.1.2.3", "10.0.0.0/8", None),
            ("https://10.1.2.3", " 10.1.2.3 ", None),
            ("https://11.1.2.3", "10.0.0.0/8,p", Some("p:1")),
            ("https://[fd00::1]:6443", "fd00::/8", None),
            ("https://[fd00::1]:6443", "[fd00::1]:6443", None),
        ] {
            let variable = |name: &str| match name {
                "HTTPS_PROXY" => Some("p:1".to_owned()),
                "HTTP_PROXY" => Some(String::new()),
                "http_proxy" => Some("q:2".to_owned()),
                "NO_PROXY" => Some(no_proxy.to_owned()),
                _ => None,
            };
            let proxy = environment_proxy(&server.parse().unwrap(), variable);
            assert_eq!(proxy.as_deref(), expected, "{server} {no_proxy}");
        }
        assert_eq!(
            environment_proxy(&"https://example.com".parse().unwrap(), |_| None),
            None
        );
    }

    #[test]
    fn a_proxy_needs_no_scheme_and_shows_no_password() {
        assert_eq!(
            proxy_url("p:3128", "proxy").unwrap().to_string(),
            "http://p:3128/"
        );
        assert_eq!(
            proxy_url("https://u:x@p:1", "proxy").unwrap().to_string(),
            "https://u:x@p:1/"
        );
        let error = proxy_url("socks5://u:hunter2@p:1", "proxy")
            .unwrap_err()
            .to_string();
        assert!(error.contains("...@p:1") && !error.contains("hunter2"), "{error}");
    }

    #[test]
    fn missing_files_are_skipped_and_empty_contexts_passed_on() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, content: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, content).unwrap();
            path
        };
        let contexts = "contexts: [{name: one, context: {cluster: c, user: u}}]";
        let empty = file("empty", &format!("current-context: ''\n{contexts}"));
        let full = file("full", "current-context: two");
        let last = file("last", "current-context: three");
        let missing = folder.path().join("missing");

        let all = [missing.clone(), empty, full, missing.clone(), last];
        let merged = read_files(&all).unwrap().unwrap();
        assert_eq!(merged.current_context.as_deref(), Some("two"));
        assert_eq!(merged.contexts.len(), 1);
        assert!(read_files(&[missing.clone(), missing.clone()]).unwrap().is_none());
        let directory = read_files(&[missing, folder.path().to_owned()]);
        assert!(
            directory
                .unwrap_err()
                .to_string()
                .contains("cannot read the kubeconfig")
        );
    }
}
