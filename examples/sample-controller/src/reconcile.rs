//! What the controller does for a `Foo`.

use crate::foo::Foo;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{Container, PodSpec, PodTemplateSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, LabelSelector, ObjectMeta, Time};
use k8s_openapi::jiff::Timestamp;
use kube::{Api, Client, Resource as _, ResourceExt as _};
use kube_controller::controller::Action;
use kube_controller::controllerutil::{
    CreateOrUpdateError, OperationResult, OwnerError, create_or_update, patch_status, set_condition,
    set_controller_reference,
};
use kube_controller::events::{Event, EventType, InvalidEvent, Recorder};
use kube_controller::finalizer::{self, finalizer};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Holds a `Foo` until it is cleaned up after.
const FINALIZER: &str = "samplecontroller.example.com/cleanup";

/// What every reconcile needs.
pub(crate) struct Context {
    client: Client,
    recorder: Recorder,
}

/// Why a `Foo` is not as it should be. It is tried again, ever more rarely.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("deployment {0} exists, and is not managed by this Foo")]
    NotOurs(String),
    #[error("the deployment cannot be owned")]
    Owner(#[from] OwnerError),
    #[error("cannot write the deployment")]
    Deployment(#[source] Box<CreateOrUpdateError<Error>>),
    #[error("cannot write the status")]
    Status(#[source] kube::Error),
    #[error("cannot publish an event")]
    Event(#[from] InvalidEvent),
}

impl Context {
    pub(crate) fn new(client: Client, recorder: Recorder) -> Self {
        Self { client, recorder }
    }

    /// Without waiting for the server.
    fn publish(&self, foo: &Foo, type_: EventType, reason: &str, note: String) -> Result<(), Error> {
        let event = Event {
            type_,
            reason: reason.into(),
            note: Some(note),
            action: "Reconciling".into(),
            secondary: None,
        };
        self.recorder.record(&event, &foo.object_ref(&()))?;
        Ok(())
    }

    /// Brings the Deployment and the status into the state that the `Foo` asks for.
    async fn apply(&self, foo: &Foo) -> Result<Action, Error> {
        let namespace = foo.namespace().unwrap_or_default();
        let deployments: Api<Deployment> = Api::namespaced(self.client.clone(), &namespace);
        let written = create_or_update(&deployments, named(foo), |deployment| shape(foo, deployment)).await;
        let (result, deployment) = match written {
            Ok(written) => written,
            Err(CreateOrUpdateError::Mutate(error)) => {
                let note = error.to_string();
                self.publish(foo, EventType::Warning, "ErrResourceExists", note.clone())?;
                self.write_status(foo, 0, available(foo, "False", "ErrResourceExists", note))
                    .await?;
                return Err(error);
            }
            Err(error) => return Err(Error::Deployment(Box::new(error))),
        };
        if result != OperationResult::Unchanged {
            let note = format!(
                "deployment {} has {} replicas",
                foo.spec.deployment_name, foo.spec.replicas
            );
            self.publish(foo, EventType::Normal, "Synced", note)?;
        }
        let (replicas, wanted) = (available_replicas(&deployment), foo.spec.replicas);
        let (status, reason) = match replicas >= wanted {
            true => ("True", "AllReplicasAvailable"),
            false => ("False", "ReplicasUnavailable"),
        };
        let message = format!("{replicas} of {wanted} replicas are available");
        self.write_status(foo, replicas, available(foo, status, reason, message))
            .await?;
        Ok(Action::await_change())
    }

    /// Writes the status, if it differs.
    async fn write_status(&self, foo: &Foo, replicas: i32, condition: Condition) -> Result<(), Error> {
        let mut status = foo.status.clone().unwrap_or_default();
        status.available_replicas = replicas;
        set_condition(&mut status.conditions, condition);
        let namespace = foo.namespace().unwrap_or_default();
        let foos: Api<Foo> = Api::namespaced(self.client.clone(), &namespace);
        patch_status(&foos, foo, &status).await.map_err(Error::Status)?;
        Ok(())
    }

    /// Cleans up what Kubernetes does not: the Deployment goes with its owner.
    async fn cleanup(&self, foo: &Foo) -> Result<Action, Error> {
        let note = format!("deployment {} is deleted", foo.spec.deployment_name);
        self.publish(foo, EventType::Normal, "Deleted", note)?;
        Ok(Action::await_change())
    }
}

/// Reconciles one `Foo`: called when it, or its Deployment, has changed.
pub(crate) async fn reconcile(
    foo: Arc<Foo>,
    context: Arc<Context>,
) -> Result<Action, finalizer::Error<Error>> {
    let namespace = foo.namespace().unwrap_or_default();
    let foos: Api<Foo> = Api::namespaced(context.client.clone(), &namespace);
    finalizer(&foos, FINALIZER, foo, async |event| match event {
        finalizer::Event::Apply(foo) => context.apply(&foo).await,
        finalizer::Event::Cleanup(foo) => context.cleanup(&foo).await,
    })
    .await
}

/// What follows a failure.
pub(crate) fn on_error(_: Arc<Foo>, _: &finalizer::Error<Error>, _: Arc<Context>) -> Action {
    Action::backoff()
}

/// The condition that says whether all replicas are available.
fn available(foo: &Foo, status: &str, reason: &str, message: String) -> Condition {
    Condition {
        type_: "Available".into(),
        status: status.into(),
        reason: reason.into(),
        message,
        observed_generation: foo.metadata.generation,
        last_transition_time: Time(Timestamp::now()),
    }
}

fn available_replicas(deployment: &Deployment) -> i32 {
    let status = deployment.status.as_ref();
    status.and_then(|status| status.available_replicas).unwrap_or(0)
}

/// The Deployment, as far as it says which one it is.
fn named(foo: &Foo) -> Deployment {
    Deployment {
        metadata: ObjectMeta {
            name: Some(foo.spec.deployment_name.clone()),
            namespace: foo.namespace(),
            ..ObjectMeta::default()
        },
        ..Deployment::default()
    }
}

/// Gives a Deployment, new or not, what the `Foo` asks for, and leaves the rest as it is.
fn shape(foo: &Foo, deployment: &mut Deployment) -> Result<(), Error> {
    let exists = deployment.metadata.uid.is_some();
    let owners = deployment.metadata.owner_references.iter().flatten();
    let is_ours = owners
        .into_iter()
        .any(|owner| Some(&owner.uid) == foo.metadata.uid.as_ref());
    if exists && !is_ours {
        return Err(Error::NotOurs(foo.spec.deployment_name.clone()));
    }
    set_controller_reference(foo, deployment)?;
    let spec = &mut deployment.spec;
    spec.replicas = Some(foo.spec.replicas);
    if exists {
        return Ok(());
    }
    let labels = [("app", "nginx".to_owned()), ("controller", foo.name_any())];
    let labels = Some(BTreeMap::from(
        labels.map(|(name, value)| (name.to_owned(), value)),
    ));
    spec.selector = LabelSelector {
        match_labels: labels.clone(),
        ..LabelSelector::default()
    };
    spec.template = PodTemplateSpec {
        metadata: Some(ObjectMeta {
            labels,
            ..ObjectMeta::default()
        }),
        spec: Some(PodSpec {
            containers: vec![Container {
                name: "nginx".into(),
                image: Some("nginx:stable".into()),
                ..Container::default()
            }],
            ..PodSpec::default()
        }),
    };
    Ok(())
}
