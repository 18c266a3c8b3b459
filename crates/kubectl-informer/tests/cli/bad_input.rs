//! What people get wrong: one line that says what was tried and what to do, and the right exit code.

use crate::process::{Running, run};
use conformance::cluster::Cluster;
use std::path::PathBuf;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

/// Checks the exit code, and that the one line on standard error has each of these texts.
async fn check(args: &str, code: i32, expected: &[&str]) {
    let args: Vec<_> = args.split(' ').collect();
    let ended = Running::start_with(&args).end().await;
    assert_eq!(ended.code, Some(code), "{args:?}: {ended:?}");
    assert_eq!(ended.out, "", "{args:?}");
    assert!(ended.err.starts_with("error: "), "{args:?}: {ended:?}");
    assert_eq!(ended.err.trim_end().lines().count(), 1, "{args:?}: {ended:?}");
    for text in expected {
        assert!(ended.err.contains(text), "{args:?}: no {text:?} in {ended:?}");
    }
}

/// A server that gives the same bytes to everybody.
async fn server_that_says(bytes: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let _ = stream.read(&mut [0; 4096]).await;
                let _ = stream.write_all(bytes).await;
            });
        }
    });
    url
}

#[tokio::test(flavor = "multi_thread")]
async fn no_server() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let expected = [
        "cannot reach a server at",
        &*url,
        "Connection refused",
        "is the address right?",
    ];
    check(&format!("watch pods --server {url}"), 1, &expected).await;
    check(&format!("measure pods --server {url}"), 1, &expected).await;
    check(
        "watch pods --server http://no-such-host.invalid:80",
        1,
        &["cannot reach", "no-such-host"],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn not_a_kubernetes_server() {
    let not_kubernetes = ["does not look like a Kubernetes API server", "check the address"];
    for answer in [
        "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 5\r\n\r\nhello",
        "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 11\r\n\r\n{\"kind\":\"\"}",
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n[]",
    ] {
        let address = server_that_says(answer.as_bytes()).await;
        check(
            &format!("watch pods --server http://{address}"),
            1,
            &not_kubernetes,
        )
        .await;
    }
    let address = server_that_says(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await;
    check(
        &format!("watch pods --server https://{address}"),
        1,
        &["cannot agree on TLS", "http instead of https"],
    )
    .await;
    let address = server_that_says(b"").await;
    check(
        &format!("watch pods --server http://{address}"),
        1,
        &["cannot reach"],
    )
    .await;
    const REFUSAL: &[u8] =
        b"HTTP/1.1 401 Unauthorized\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n\
        {\"kind\":\"Status\",\"code\":401,\"message\":\"Unauthorized\",\"status\":\"Fail\"}";
    let address = server_that_says(REFUSAL).await;
    check(
        &format!("watch pods --server http://{address}"),
        1,
        &["401", "check the credentials"],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn resources_and_selectors() {
    let cluster = Cluster::start().await;
    let at = cluster.arguments();
    check(
        &format!("watch pots {at}"),
        1,
        &["no resource \"pots\"", "did you mean pods"],
    )
    .await;
    check(
        &format!("watch deploymints.apps {at}"),
        1,
        &["did you mean deployments.apps?"],
    )
    .await;
    check(&format!("watch xyzzyx {at}"), 1, &["kubectl api-resources"]).await;
    check(
        &format!("measure pod/web-0 {at}"),
        2,
        &["pod --field-selector metadata.name=web-0"],
    )
    .await;
    check("measure pods,nodes", 2, &["several resources; give one"]).await;
    for (args, expected) in [
        (
            "watch pods web-0 -l app=web",
            "names cannot be given together with a selector",
        ),
        ("watch pod/web-0 pods", "either TYPE/NAME everywhere"),
        ("watch pods,,nodes", "\"pods,,nodes\" has an empty resource"),
        ("watch pods a,b", "\"a,b\" is not the name of an object"),
        ("watch pods/", "\"\" is not the name of an object"),
        ("top --once pod/web-0", "name kinds, such as pods,deployments"),
        (
            "advise -n shop nodes,namespaces",
            "objects of nodes, namespaces are in no namespace; leave it out",
        ),
    ] {
        check(&format!("{args} {at}"), 2, &[expected]).await;
    }
    check(
        &format!("watch pods {at} -l a=b=c"),
        2,
        &["--selector \"a=b=c\" is malformed"],
    )
    .await;
    check(
        &format!("measure pods {at} -l (x"),
        2,
        &["--selector \"(x\" is malformed"],
    )
    .await;
    check(
        &format!("watch pods {at} --field-selector spec"),
        2,
        &["--field-selector \"spec\" is malformed"],
    )
    .await;
    check(
        &format!("watch pods {at} --field-selector spec.nope=1"),
        2,
        &["--field-selector", "spec.nope"],
    )
    .await;
    check(
        "watch pods --server localhost:8080",
        2,
        &["not a URL", "http://HOST:PORT"],
    )
    .await;
    check("watch pods --server ftp://x", 2, &["not a URL"]).await;
}

/// A file that is there while the test runs.
struct File(PathBuf);

impl File {
    fn new(name: &str, content: &str) -> Self {
        let path = std::env::temp_dir().join(format!("kubectl-informer-{}-{name}", std::process::id()));
        std::fs::write(&path, content).unwrap();
        Self(path)
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn kubeconfigs() {
    check(
        "watch pods",
        1,
        &["no kubeconfig", "--server URL or --kubeconfig FILE"],
    )
    .await;
    check(
        "watch pods --kubeconfig /nonexistent/k",
        1,
        &["cannot read the kubeconfig /nonexistent/k", "No such file"],
    )
    .await;
    const GOOD: &str = "clusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}]
users: [{name: u, user: {}}]
contexts: [{name: one, context: {cluster: c, user: u}}, {name: two, context: {cluster: nope, user: u}}]
";
    for (name, content, more, expected) in [
        ("garbage", "]]] : {", "", vec!["cannot read the kubeconfig"]),
        ("empty", "", "", vec!["has no current context", "it has none"]),
        (
            "no-current",
            GOOD,
            "",
            vec!["has no current context", "--context", "one, two"],
        ),
        (
            "context",
            GOOD,
            " --context three",
            vec!["has no context \"three\"", "it has: one, two"],
        ),
        (
            "cluster",
            GOOD,
            " --context two",
            vec!["cannot use context \"two\"", "nope"],
        ),
        (
            "no-cluster",
            GOOD,
            " --context one --cluster other",
            vec!["has no cluster \"other\"", "it has: c"],
        ),
        (
            "no-user",
            GOOD,
            " --context one --user other",
            vec!["has no user \"other\"", "it has: u"],
        ),
    ] {
        let file = File::new(name, content);
        check(
            &format!("watch pods --kubeconfig {}{more}", file.0.display()),
            1,
            &expected,
        )
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_namespace() {
    for name in ["a?x=1", "a#b", "..", "A"] {
        let expected = [
            "--namespace: invalid namespace",
            &format!("{name:?}"),
            "expected a DNS label",
        ];
        check(
            &format!("watch pods --server http://127.0.0.1:1 -n {name}"),
            2,
            &expected,
        )
        .await;
        check(
            &format!("measure pods --server http://127.0.0.1:1 -n {name}"),
            2,
            &expected,
        )
        .await;
    }
}

/// Told by the parser of the command line, in several lines.
#[tokio::test(flavor = "multi_thread")]
async fn the_command_line() {
    for (args, expected) in [
        (
            "watch pods --initial sometimes",
            "possible values: auto, list, watch-list",
        ),
        (
            "watch pods --watch-list-deadline soon",
            "expected a duration such as 15s",
        ),
        ("watch pods --resync often", "expected a duration such as 15s"),
        (
            "measure pods --form zipped",
            "possible values: typed, packed, metadata",
        ),
        ("measure pods --events many", "--events"),
        ("watch", "<RESOURCE>"),
        (
            "watch pods -o xml",
            "possible values: table, wide, name, json, yaml, custom-columns=HEADER:PATH",
        ),
        (
            "watch pods -o jsonpath={..name}",
            "but not .., slices and other filters",
        ),
        ("watch pods -o custom-columns=NAME", "is not HEADER:PATH"),
        ("watch pods --diff=some", "possible values: content, all"),
        ("watch pods --until Ready", "expected condition=TYPE[=STATUS]"),
        ("watch pods --timeout 5s", "--until <CONDITION>"),
        (
            "watch pods --server http://x --kubeconfig f",
            "cannot be used with",
        ),
        ("demo --for ever", "expected a duration such as 15s"),
        ("demo --churn=-5", "must be a number from 0 to 100000"),
        ("", "Usage: kubectl informer"),
    ] {
        let ended = run(args).await;
        assert_eq!((ended.code, &*ended.out), (Some(2), ""), "{args}: {ended:?}");
        assert!(
            ended.err.contains(expected),
            "{args}: no {expected:?} in {ended:?}"
        );
    }
    for (args, expected) in [
        ("--version", env!("CARGO_PKG_VERSION")),
        ("watch --help", "--show-object"),
        ("watch --help", "--until condition=Ready"),
        ("--help", "demo"),
    ] {
        let ended = run(args).await;
        assert_eq!(ended.code, Some(0));
        assert!(ended.out.contains(expected), "{args}: {ended:?}");
    }
}
