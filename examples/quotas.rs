//! A controller over shared informers: each namespace with the label `team` gets a ResourceQuota that it owns, with as many
//! pods as its annotation `example.com/pods` says. Stop it with Ctrl-C.

use futures::StreamExt;
use k8s_openapi::api::core::v1::{Namespace, ResourceQuota};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use kube::core::ObjectMeta;
use kube::{Api, Client, ResourceExt};
use kube_controller::controller::{Action, Attempt, Config, Controller};
use kube_controller::controllerutil::{
    CreateOrUpdateError, OwnerError, create_or_update, set_controller_reference,
};
use kube_controller::predicates::{self, Predicate};
use kube_informer::SharedInformerFactory;
use std::num::ParseIntError;
use std::sync::Arc;
use std::time::Duration;

/// What every reconcile has at hand.
pub struct Context {
    /// Writes to the server.
    pub client: Client,
}

/// Why a namespace has no quota.
#[derive(Debug)]
pub enum Error {
    /// The annotation is no number. A retry does not help.
    Annotation(ParseIntError),
    /// The server did not take the quota.
    Write(CreateOrUpdateError<OwnerError>),
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Annotation(_) => f.write_str("the annotation example.com/pods is no number"),
            Self::Write(_) => f.write_str("the quota could not be written"),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Annotation(error) => Some(error),
            Self::Write(error) => Some(error),
        }
    }
}

/// Makes the quota of a namespace what it should be. It is called again when either of them changes.
pub async fn reconcile(namespace: Arc<Namespace>, context: Arc<Context>) -> Result<Action, Error> {
    if !namespace.labels().contains_key("team") || namespace.metadata.deletion_timestamp.is_some() {
        return Ok(Action::await_change());
    }
    let pods = namespace
        .annotations()
        .get("example.com/pods")
        .map_or("10", String::as_str);
    let pods: u32 = pods.parse().map_err(Error::Annotation)?;
    let quotas = Api::<ResourceQuota>::namespaced(context.client.clone(), &namespace.name_any());
    let quota = ResourceQuota {
        metadata: ObjectMeta {
            name: Some("team".into()),
            namespace: Some(namespace.name_any()),
            ..Default::default()
        },
        ..Default::default()
    };
    create_or_update(&quotas, quota, |quota| {
        let limits = quota.spec.get_or_insert_default().hard.get_or_insert_default();
        limits.insert("pods".into(), Quantity(pods.to_string()));
        set_controller_reference(&*namespace, quota)
    })
    .await
    .map_err(Error::Write)?;
    Ok(Action::await_change())
}

/// Waits longer after each failure, and not at all for what only a change can mend.
pub fn error_policy(_: Arc<Namespace>, error: &Error, _: Arc<Context>) -> Action {
    match error {
        Error::Annotation(_) => Action::await_change(),
        Error::Write(_) => match Attempt::current().map_or(0, |attempt| attempt.failures) {
            0..10 => Action::backoff(),
            _ => Action::requeue(Duration::from_secs(600)),
        },
    }
}

/// The controller. Other controllers can use the factory's informers, too.
pub fn controller(factory: &SharedInformerFactory) -> Controller<Namespace> {
    Controller::for_informer(&factory.informer::<Namespace>())
        .filter(predicates::labels.combine(predicates::annotations))
        .owns_informer(&factory.informer::<ResourceQuota>())
        .with_config(Config::default().concurrency(4))
}

#[tokio::main]
#[allow(clippy::print_stdout)] // an example talks
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let client = Client::try_default().await?;
    let factory = SharedInformerFactory::new(client.clone());
    let results =
        controller(&factory)
            .shutdown_on_signal()
            .run(reconcile, error_policy, Arc::new(Context { client }));
    factory.start();
    results
        .for_each(async |result| match result {
            Ok((namespace, _)) => println!("{namespace} is as it should be"),
            Err(error) => println!("{error}"),
        })
        .await;
    factory.shutdown().await?;
    Ok(())
}
