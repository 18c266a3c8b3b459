//! The statuses of the control plane's components, as an API server that is alone reports them: it reaches its etcd, and nobody
//! else.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::object::Stored;
use crate::target::Target;

/// What a real server warns of who asks for them.
pub(crate) const DEPRECATED: &str = "v1 ComponentStatus is deprecated in v1.19+";

/// All components, in the order of a real server.
pub(crate) fn all(target: &Target) -> Vec<Arc<Stored>> {
    let refused = |port: u16| {
        let message = format!(
            "Get \"https://127.0.0.1:{port}/healthz\": dial tcp 127.0.0.1:{port}: connect: connection refused"
        );
        ("False", message)
    };
    let components = [
        ("controller-manager", refused(10257)),
        ("scheduler", refused(10259)),
        ("etcd-0", ("True", "ok".to_owned())),
    ];
    components
        .into_iter()
        .map(|(name, (status, message))| {
            let condition = json!({"type": "Healthy", "status": status, "message": message});
            let status = json!({"metadata": {"name": name}, "conditions": [condition]});
            let Value::Object(status) = status else {
                unreachable!("it was written as an object")
            };
            Arc::new(Stored::encode(&target.resource, &status, 0))
        })
        .collect()
}
