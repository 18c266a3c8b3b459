//! Informers by every way to a real API server: HTTP/1.1 and HTTP/2, authorities, certificates, tokens, exec plugins;
//! and rights that come and go.

use conformance::real_server::{Part, RealServer, User};
use instances as _;
use k8s_openapi::api::core::v1::{Namespace, Secret};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube_informer::reflector::ReflectorOptions;
use kube_informer::source::ErrorClass;
use kube_informer::{Partition, SharedInformer, SharedInformerFactory};
use serde_json::{Value, json};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(60);

async fn client(kubeconfig: Kubeconfig) -> kube::Client {
    let options = KubeConfigOptions::default();
    let mut config = kube::Config::from_custom_kubeconfig(kubeconfig, &options)
        .await
        .unwrap();
    config.default_retry = false;
    kube::Client::try_from(config).unwrap()
}

/// How many namespaces an informer finds, or what is in its way.
async fn namespaces(client: kube::Client, patience: Duration) -> Result<usize, String> {
    let factory = SharedInformerFactory::new(client);
    let namespaces = factory.informer::<Namespace>();
    factory.start();
    let synced = factory.wait_for_sync(patience).await;
    let result = synced
        .map(|()| namespaces.store().len())
        .map_err(|error| error.to_string());
    factory.shutdown().await.unwrap();
    result
}

/// By these credentials the namespaces are found.
async fn leads_there(server: &RealServer, what: &str, credentials: Value) {
    let client = client(server.kubeconfig_with("user", credentials)).await;
    assert_eq!(namespaces(client, PATIENCE).await, Ok(4), "{what}");
}

/// By these credentials nothing is found, for this reason.
async fn is_refused(server: &RealServer, what: &str, credentials: Value, why: &str) {
    let client = client(server.kubeconfig_with("user", credentials)).await;
    let error = namespaces(client, Duration::from_secs(2)).await.unwrap_err();
    assert!(error.contains(why), "{what}: {error}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a real API server: conformance/run"]
async fn credentials_of_every_kind() {
    let server = RealServer::start().await.unwrap();
    server.allow("nobody", "", "namespaces").await.unwrap();
    let (folder, certificate) = (server.folder(), server.certificate("nobody", None));
    let file = |name: &str, content: &str| {
        std::fs::write(folder.join(name), content).unwrap();
        folder.join(name)
    };
    let base64 = |text: &str| base64::Engine::encode(&base64::engine::general_purpose::STANDARD, text);
    let certificate_files = json!({
        "client-certificate": file("nobody.crt", &certificate.certificate),
        "client-key": file("nobody.key", &certificate.key),
    });
    let credential = json!({
        "apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": "nobody-token"},
    });
    let plugin = |command: &str, arguments: Value| json!({"exec": {"apiVersion": "client.authentication.k8s.io/v1", "command": command, "args": arguments, "interactiveMode": "Never"}});
    let answer = file("credential.json", &credential.to_string());

    leads_there(&server, "a token", json!({"token": "nobody-token"})).await;
    leads_there(
        &server,
        "a token in a file",
        json!({"tokenFile": file("token", "nobody-token")}),
    )
    .await;
    leads_there(&server, "a certificate in files", certificate_files).await;
    let inline = json!({
        "client-certificate-data": base64(&certificate.certificate), "client-key-data": base64(&certificate.key),
    });
    leads_there(&server, "a certificate in the kubeconfig", inline).await;
    leads_there(&server, "an exec plugin", plugin("cat", json!([answer]))).await;

    is_refused(&server, "no credentials", json!({}), "forbidden").await;
    is_refused(
        &server,
        "a wrong token",
        json!({"token": "wrong"}),
        "unauthorized",
    )
    .await;
    let stranger = server.certificate("stranger", None);
    let stranger = json!({
        "client-certificate-data": base64(&stranger.certificate), "client-key-data": base64(&stranger.key),
    });
    is_refused(&server, "a certificate without rights", stranger, "forbidden").await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a real API server: conformance/run"]
async fn the_authority() {
    let server = RealServer::start().await.unwrap();
    let admin = serde_json::to_value(server.kubeconfig_of(&User::admin())).unwrap();
    // Without its authority the server is not who it should be, unless nobody asks.
    let with = |member: &str, value: Value| -> Kubeconfig {
        let mut kubeconfig = admin.clone();
        let cluster = kubeconfig["clusters"][0]["cluster"].as_object_mut().unwrap();
        cluster.remove("certificate-authority");
        cluster.insert(member.to_owned(), value);
        serde_json::from_value(kubeconfig).unwrap()
    };
    let unknown = client(with("insecure-skip-tls-verify", false.into())).await;
    let error = namespaces(unknown, Duration::from_secs(2)).await.unwrap_err();
    assert!(
        error.contains("tls: ") && error.contains("certificate"),
        "{error}"
    );
    let insecure = client(with("insecure-skip-tls-verify", true.into())).await;
    assert_eq!(namespaces(insecure, PATIENCE).await, Ok(4), "insecure");
    let authority = std::fs::read(server.folder().join("ca.crt")).unwrap();
    let authority = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, authority);
    let inline = client(with("certificate-authority-data", authority.into())).await;
    assert_eq!(
        namespaces(inline, PATIENCE).await,
        Ok(4),
        "the authority in the kubeconfig"
    );
}

/// A client that speaks only HTTP/2; that of a kubeconfig speaks HTTP/1.1.
async fn http2_client(server: &RealServer) -> kube::Client {
    use kube::client::ConfigExt;

    let config = server.config(&User::admin()).await.unwrap();
    let tls = config.rustls_client_config().unwrap();
    let connector = hyper_rustls::HttpsConnectorBuilder::new()
        .with_tls_config(tls)
        .https_only()
        .enable_http2()
        .build();
    let client =
        hyper_util::client::legacy::Client::builder(hyper_util::rt::TokioExecutor::new()).build(connector);
    let service = tower::ServiceBuilder::new()
        .layer(config.base_uri_layer())
        .option_layer(config.auth_layer().unwrap())
        .map_err(tower::BoxError::from)
        .service(client);
    kube::Client::new(service, "default")
}

async fn version(client: &kube::Client) -> http::Version {
    let request = http::Request::get("/readyz")
        .body(kube::client::Body::empty())
        .unwrap();
    client.send(request).await.unwrap().version()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a real API server: conformance/run"]
async fn both_versions_of_http() {
    let server = RealServer::start().await.unwrap();
    let old = client(server.kubeconfig_of(&User::admin())).await;
    let new = http2_client(&server).await;
    assert_eq!(version(&old).await, http::Version::HTTP_11);
    assert_eq!(version(&new).await, http::Version::HTTP_2);
    let factories = [old, new].map(SharedInformerFactory::new);
    let informers = factories.each_ref().map(|factory| factory.informer::<Secret>());
    for factory in &factories {
        factory.start();
        factory.wait_for_sync(PATIENCE).await.unwrap();
    }
    let path = "/api/v1/namespaces/default/secrets";
    for n in 1..=3 {
        let secret = json!({"metadata": {"name": format!("s{n}")}});
        server.request("POST", path, Some(&secret)).await.unwrap();
        for informer in &informers {
            until_it_holds(informer, n).await;
        }
    }
    // Its connections are gone, all streams with them.
    server.start_again(Part::ApiServer).unwrap();
    server.ready().await.unwrap();
    server
        .request("DELETE", &format!("{path}/s1"), None)
        .await
        .unwrap();
    for informer in &informers {
        until_it_holds(informer, 2).await;
    }
    for factory in factories {
        factory.shutdown().await.unwrap();
    }
}

async fn failed_with(informer: &SharedInformer<Secret>, class: ErrorClass) {
    let mut status = informer.reflector_status(Partition::SINGLE);
    let failed = status.wait_for(|status| {
        status
            .last_error
            .as_ref()
            .is_some_and(|error| error.class == class)
    });
    let failed = tokio::time::timeout(PATIENCE, failed).await;
    assert!(
        failed.is_ok(),
        "never {class:?}: {:?}",
        informer.reflector_status(Partition::SINGLE).borrow()
    );
}

async fn until_it_holds(informer: &SharedInformer<Secret>, count: usize) {
    let wait = async {
        while informer.store().len() != count {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let waited = tokio::time::timeout(PATIENCE, wait).await;
    assert!(
        waited.is_ok(),
        "never {count}: {:?}",
        informer.reflector_status(Partition::SINGLE).borrow()
    );
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a real API server: conformance/run"]
async fn rights_come_and_go_without_a_restart() {
    let server = RealServer::start().await.unwrap();
    let secret = |name: &str| json!({"metadata": {"name": name}});
    let path = "/api/v1/namespaces/default/secrets";
    server.request("POST", path, Some(&secret("a"))).await.unwrap();
    let client = client(server.kubeconfig_of(&User::nobody())).await;
    // Failures are part of it: short pauses, so that it does not take minutes.
    let mut options = ReflectorOptions::default();
    options.backoff.cap = Duration::from_secs(1);
    let factory = SharedInformerFactory::builder(client)
        .reflector_options(options)
        .build();
    let secrets = factory.informer::<Secret>();
    factory.start();

    // Forbidden, then allowed by a new binding.
    let error = factory.wait_for_sync(Duration::from_secs(2)).await.unwrap_err();
    assert!(error.unsynced[0].why.starts_with("forbidden: "), "{error}");
    server.allow("nobody", "", "secrets").await.unwrap();
    factory.wait_for_sync(PATIENCE).await.unwrap();
    assert_eq!(secrets.store().len(), 1);

    // Withdrawn: the watch that is open goes on; when it ends, what is known stays, and the reason is told.
    server.forbid("nobody", "", "secrets").await.unwrap();
    server.request("POST", path, Some(&secret("b"))).await.unwrap();
    until_it_holds(&secrets, 2).await;
    server.start_again(Part::ApiServer).unwrap();
    server.ready().await.unwrap();
    failed_with(&secrets, ErrorClass::Forbidden).await;
    server.request("POST", path, Some(&secret("c"))).await.unwrap();
    assert_eq!(secrets.store().len(), 2);
    server.allow("nobody", "", "secrets").await.unwrap();
    until_it_holds(&secrets, 3).await;

    // A token that is no longer known, and then is.
    server.dismiss("nobody").unwrap();
    server.start_again(Part::ApiServer).unwrap();
    server.ready().await.unwrap();
    failed_with(&secrets, ErrorClass::Unauthorized).await;
    server
        .request("DELETE", &format!("{path}/a"), None)
        .await
        .unwrap();
    server.admit(User::nobody()).unwrap();
    server.start_again(Part::ApiServer).unwrap();
    server.ready().await.unwrap();
    until_it_holds(&secrets, 2).await;
    factory.shutdown().await.unwrap();
}
