//! What is asked for under the paths of discovery, and how.

use crate::resources::Registry;

/// The media type of aggregated discovery: all of it at once. The beta version is gone since 1.36.
pub(crate) const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// Whether a path asks what groups, versions and resources there are.
pub(crate) fn is_about(segments: &[&str]) -> bool {
    matches!(
        segments,
        ["api"] | ["api", _] | ["apis"] | ["apis", _] | ["apis", _, _]
    )
}

/// Whether discovery can be had at once by a path.
pub(crate) fn aggregates(path: &str) -> bool {
    matches!(path, "/api" | "/api/" | "/apis")
}

/// Whether a real server has a router in front of a path of discovery, which looks at media types, too.
pub(crate) fn is_routed(registry: &Registry, segments: &[&str]) -> bool {
    match segments {
        ["apis", group, _] => !registry.iter().any(|r| r.custom && r.group == *group),
        _ => segments[0] == "api",
    }
}
