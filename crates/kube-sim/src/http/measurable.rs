//! What the metrics tell of a request.

use http::Method;

use crate::api::options::Query;
use crate::api::patch::is_apply;
use crate::metrics::{Measurable, WATCH};
use crate::script::Received;

use super::body::content_type;
use super::route::Route;
use super::subresource::is_of_node;

/// The labels of a request, as a real server writes them.
pub(super) fn measurable<'a>(route: &'a Route, request: &'a Received, query: &'a Query) -> Measurable<'a> {
    let target = &route.target;
    let is_of_one = target.name.is_some() || route.watched.is_some() || request.method == Method::POST;
    let scope = match &target.namespace {
        _ if is_of_one => "resource",
        Some(_) => "namespace",
        None => "cluster",
    };
    let verb = match request.method.as_str() {
        _ if is_of_node(target.subresource.as_deref()) => "CONNECT",
        _ if route.watch => WATCH,
        "GET" | "HEAD" if is_of_one => "GET",
        "GET" | "HEAD" => "LIST",
        "PATCH" if is_apply(content_type(&request.headers)) => "APPLY",
        method => method,
    };
    Measurable {
        target,
        scope,
        verb,
        // Labels are no place for whatever a client writes.
        dry_run: match query.given("dryRun") {
            None => "",
            Some("All") => "All",
            Some(_) => "invalid",
        },
    }
}
