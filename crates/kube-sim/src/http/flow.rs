//! Which flow a request is of. There are no queues here, but clients slow themselves down if a server does not say so: those of Flux
//! and of `cli-utils`, for example.

use http::{HeaderMap, HeaderName, HeaderValue};

use crate::access::{MASTERS, User};
use crate::api::Api;

const GROUP: &str = "flowcontrol.apiserver.k8s.io";

const SCHEMA: HeaderName = HeaderName::from_static("x-kubernetes-pf-flowschema-uid");

const LEVEL: HeaderName = HeaderName::from_static("x-kubernetes-pf-prioritylevel-uid");

/// The flow schemas of a new cluster that go by the groups of who asks, with their priority levels; the first one counts.
const FLOWS: [(&str, &str, &str); 4] = [
    (MASTERS, "exempt", "exempt"),
    ("system:nodes", "system-nodes", "system"),
    (
        "system:serviceaccounts:kube-system",
        "kube-system-service-accounts",
        "workload-high",
    ),
    ("system:serviceaccounts", "service-accounts", "workload-low"),
];

/// Says in the headers of an answer which flow schema and which priority level the request has had, if they are there.
pub(super) fn tell(api: &Api, user: Option<&User>, headers: &mut HeaderMap) {
    // Where nobody asks who it is, everybody may do everything.
    let is_of = |group: &str| user.map_or(group == MASTERS, |user| user.groups.iter().any(|of| of == group));
    let flow = FLOWS.into_iter().find(|(group, ..)| is_of(group));
    let (schema, level) = flow.map_or(("global-default", "global-default"), |(_, schema, level)| {
        (schema, level)
    });
    let uid = |plural: &str, name: &str| {
        let resource = api.find(GROUP, "v1", plural)?;
        let stored = api.storage.get(&resource, name)?;
        HeaderValue::from_str(stored.uid()).ok()
    };
    let schema = uid("flowschemas", schema);
    let level = uid("prioritylevelconfigurations", level);
    if let (Some(schema), Some(level)) = (schema, level) {
        headers.insert(SCHEMA, schema);
        headers.insert(LEVEL, level);
    }
}
