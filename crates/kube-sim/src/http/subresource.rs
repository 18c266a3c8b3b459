//! What subresources are like.

/// Whether a request connects somebody to what a node runs: a log is only read.
pub(super) fn connects(subresource: Option<&str>) -> bool {
    is_of_node(subresource) && subresource != Some("log")
}

/// Whether a subresource is sent as something else than its object.
pub(super) fn is_form_of_its_own(subresource: Option<&str>) -> bool {
    matches!(subresource, Some("scale" | "eviction" | "binding" | "token")) || is_of_node(subresource)
}

/// Whether a subresource is answered by a node, of which there are none here but in name.
pub(super) fn is_of_node(subresource: Option<&str>) -> bool {
    matches!(
        subresource,
        Some("attach" | "exec" | "log" | "portforward" | "proxy")
    )
}
