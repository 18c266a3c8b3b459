//! The custom resource.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What somebody asks for.
#[derive(CustomResource, Serialize, Deserialize, JsonSchema, Debug, Clone, PartialEq, Eq)]
#[kube(
    group = "samplecontroller.example.com",
    version = "v1alpha1",
    kind = "Foo",
    namespaced
)]
#[kube(status = "FooStatus")]
#[serde(rename_all = "camelCase")]
pub struct FooSpec {
    /// The name of the Deployment.
    pub deployment_name: String,
    /// How many replicas it has.
    #[schemars(range(min = 0, max = 100))]
    pub replicas: i32,
}

/// What has become of it.
#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone, Default, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct FooStatus {
    /// How many replicas are available.
    #[serde(default)]
    pub available_replicas: i32,
}
