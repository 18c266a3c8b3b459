//! The custom resource.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
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
#[kube(printcolumn(
    name = "Available",
    type_ = "string",
    json_path = ".status.conditions[?(@.type==\"Available\")].status"
))]
#[kube(printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"))]
#[serde(rename_all = "camelCase")]
pub struct FooSpec {
    /// The name of the Deployment.
    pub deployment_name: String,
    /// How many replicas it has.
    #[schemars(range(min = 0, max = 100))]
    pub replicas: i32,
}

/// What has become of it.
#[derive(Serialize, Deserialize, JsonSchema, Debug, Clone, Default, PartialEq)]
#[serde(rename_all = "camelCase")]
pub struct FooStatus {
    /// How many replicas are available.
    #[serde(default)]
    pub available_replicas: i32,
    /// `Available`: whether all replicas are, so that `kubectl wait --for=condition=Available foo/NAME` works.
    #[serde(default)]
    #[schemars(schema_with = "conditions")]
    pub conditions: Vec<Condition>,
}

/// Conditions by their types, with what a real server wants of them
/// (<https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#condition-v1-meta>).
fn conditions(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["type"],
        "items": {
            "type": "object",
            "required": ["type", "status", "lastTransitionTime", "reason", "message"],
            "properties": {
                "type": {"type": "string", "maxLength": 316},
                "status": {"type": "string", "enum": ["True", "False", "Unknown"]},
                "observedGeneration": {"type": "integer", "format": "int64", "minimum": 0},
                "lastTransitionTime": {"type": "string", "format": "date-time"},
                "reason": {"type": "string", "minLength": 1, "maxLength": 1024},
                "message": {"type": "string", "maxLength": 32768},
            },
        },
    })
}
