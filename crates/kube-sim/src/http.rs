//! Requests in, responses out: routing and content negotiation.

use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::{BufMut, Bytes, BytesMut};
use futures::future::BoxFuture;
use futures::{FutureExt as _, stream};
use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use serde_json::{Map, Value, json};

use crate::api::options::{self, ListOptions, Query, WatchOptions};
use crate::api::patch::Patch;
use crate::api::render::{Form, Include, Render};
use crate::api::write::{DeleteOptions, Deleted, Propagation, Writer};
use crate::api::{Api, Target};
use crate::discovery;
use crate::nesting::{self, Unreadable};
use crate::object::Stored;
use crate::response::{BoxError, SimBody, json_response, json_value, refusal, streamed, text, whole};
use crate::selector::Selector;
use crate::status::{Cause, StatusError};

/// The largest body a request may have, as for a real server.
const MAX_BODY: usize = 3 * 1024 * 1024;

/// The server as a tower service, to be called in the process or behind any HTTP server.
///
/// All clones are one server. It is always ready and never fails: refusals are responses.
#[derive(Clone)]
pub struct SimService {
    api: Arc<Api>,
}

impl SimService {
    pub(crate) fn new(api: Arc<Api>) -> Self {
        Self { api }
    }
}

impl std::fmt::Debug for SimService {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SimService").finish_non_exhaustive()
    }
}

impl<B> tower::Service<Request<B>> for SimService
where
    B: http_body::Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<BoxError>,
{
    type Response = Response<SimBody>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        // The one place through which all requests and responses pass: rules that delay, refuse or cut belong here.
        let api = self.api.clone();
        async move {
            let response = respond(api, request).await;
            Ok(response.unwrap_or_else(|error| refusal(&error)))
        }
        .boxed()
    }
}

/// A request, read.
struct Call {
    api: Arc<Api>,
    method: Method,
    query: Query,
    headers: HeaderMap,
    body: Bytes,
}

async fn respond<B>(api: Arc<Api>, request: Request<B>) -> Result<Response<SimBody>, StatusError>
where
    B: http_body::Body + Send + 'static,
    B::Error: Into<BoxError>,
{
    let (parts, body) = request.into_parts();
    let path = percent_encoding::percent_decode_str(parts.uri.path())
        .decode_utf8_lossy()
        .into_owned();
    let segments: Vec<_> = path.split('/').filter(|s| !s.is_empty()).collect();
    let reads = matches!(parts.method, Method::GET | Method::HEAD);
    if reads && let Some(answer) = discovery::answer(&api.registry(), &segments, accept(&parts.headers)) {
        return Ok(answer);
    }
    let Some(mut route) = Route::parse(&api, &segments)? else {
        return Ok(text(StatusCode::NOT_FOUND, "404 page not found\n"));
    };
    let body = if reads {
        Bytes::new()
    } else {
        read_body(body).await?
    };
    let query = Query::parse(parts.uri.query());
    route.watch |= query.flag("watch") == Some(true);
    Call {
        api,
        method: parts.method,
        query,
        headers: parts.headers,
        body,
    }
    .answer(route)
    .await
}

async fn read_body<B>(body: B) -> Result<Bytes, StatusError>
where
    B: http_body::Body,
    B::Error: Into<BoxError>,
{
    match Limited::new(body, MAX_BODY).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(StatusError::too_large_body(MAX_BODY)),
        Err(_) => Err(StatusError::bad_request(
            "the body of the request could not be read",
        )),
    }
}

/// What a path names.
struct Route {
    target: Target,
    watch: bool,
    /// The name of the one object that is watched.
    watched: Option<String>,
}

impl Route {
    /// None for a path outside the API, an error for a resource that does not exist.
    fn parse(api: &Api, segments: &[&str]) -> Result<Option<Self>, StatusError> {
        let (group, version, mut rest) = match segments {
            ["api", version, rest @ ..] => ("", *version, rest),
            ["apis", group, version, rest @ ..] => (*group, *version, rest),
            _ => return Ok(None),
        };
        let registry = api.registry();
        let mut of_group = registry.iter().filter(|r| r.group == group).peekable();
        let group_is_known = group.is_empty() || of_group.peek().is_some_and(|r| !r.custom);
        let known = of_group.any(|r| r.versions.iter().any(|v| v == version));
        if !known || rest.is_empty() {
            return if group_is_known {
                Err(StatusError::no_such_resource())
            } else {
                Ok(None)
            };
        }
        // The old way to ask for a watch, also of one object.
        let watch = rest[0] == "watch";
        if watch {
            rest = &rest[1..];
        }
        let (namespace, rest) = match rest {
            ["namespaces", namespace, plural, rest @ ..] if !matches!(*plural, "status" | "finalize") => {
                (Some(*namespace), [&[*plural], rest].concat())
            }
            rest => (None, rest.to_vec()),
        };
        let [plural, rest @ ..] = &rest[..] else {
            return Err(StatusError::no_such_resource());
        };
        let resource = api
            .find(group, version, plural)
            .ok_or_else(StatusError::no_such_resource)?;
        let (name, subresource) = match rest {
            [] => (None, None),
            [name] => (Some(*name), None),
            [name, subresource] => (Some(*name), Some(*subresource)),
            _ => return Err(StatusError::no_such_resource()),
        };
        let known = subresource.is_none_or(|subresource| resource.has_subresource(subresource));
        let fits = match namespace {
            Some(_) => resource.namespaced,
            None => !resource.namespaced || name.is_none(),
        };
        if !known || !fits {
            return Err(StatusError::no_such_resource());
        }
        let owned = |text: Option<&str>| text.map(str::to_owned);
        let (name, watched) = if watch { (None, name) } else { (name, None) };
        let target = Target {
            resource,
            version: version.to_owned(),
            namespace: owned(namespace),
            name: owned(name),
            subresource: owned(subresource),
        };
        Ok(Some(Self {
            target,
            watch,
            watched: owned(watched),
        }))
    }
}

impl Call {
    async fn answer(self, route: Route) -> Result<Response<SimBody>, StatusError> {
        let target = route.target;
        let collection = target.name.is_none();
        let custom = target.resource.custom;
        let form = negotiate(accept(&self.headers), self.query.get("includeObject"), custom)?;
        let lists = collection && matches!(self.method.as_str(), "GET" | "DELETE");
        let form = match form {
            Asked::Form(form) => form,
            // The events of a watch are metadata either way.
            Asked::Metadata { list } if list == lists || route.watch => Form::Metadata,
            Asked::Metadata { .. } => return Err(StatusError::other_form(&target.resource, lists)),
        };
        match self.method.as_str() {
            "GET" if collection && route.watch => self.watch(target, route.watched.as_deref(), form),
            "GET" if collection => self.list(&target, form).await,
            "GET" if target.subresource.as_deref() == Some("finalize") => {
                Err(StatusError::method_not_allowed())
            }
            "GET" => {
                let minimum = options::minimum(&self.query)?;
                let object = self.api.get(&target, minimum).await?;
                Ok(self.object(&target, form, StatusCode::OK, &object))
            }
            _ => nesting::with_room(self.depth(), || self.write(&target, form)),
        }
    }

    /// How many levels what is made of the body may have.
    fn depth(&self) -> usize {
        // An operation of a JSON patch puts what there is deeper by the length of a path, whose slashes may be escaped.
        let paths = match self.content_type().starts_with("application/json-patch") {
            true => self.body.iter().filter(|b| matches!(b, b'/' | b'\\')).count(),
            false => 0,
        };
        nesting::of_json(&self.body) + paths
    }

    /// Answers what is no GET.
    fn write(&self, target: &Target, form: Form) -> Result<Response<SimBody>, StatusError> {
        let collection = target.name.is_none();
        // Objects are made in one namespace, or in none.
        let placed = target.namespace.is_some() || !target.resource.namespaced;
        match self.method.as_str() {
            "POST" if collection && placed => {
                options::check_write(&self.query, "CreateOptions")?;
                let object = self
                    .api
                    .create(target, self.read_object(target)?, self.writer())?;
                Ok(self.object(target, form, StatusCode::CREATED, &object))
            }
            "PUT" if !collection => {
                options::check_write(&self.query, "UpdateOptions")?;
                let (object, created) = self
                    .api
                    .replace(target, self.read_object(target)?, self.writer())?;
                let code = if created {
                    StatusCode::CREATED
                } else {
                    StatusCode::OK
                };
                Ok(self.object(target, form, code, &object))
            }
            "PATCH" if !collection && target.subresource.as_deref() != Some("finalize") => {
                options::check_write(&self.query, "PatchOptions")?;
                let patch = Patch::read(self.content_type(), &self.body, target.resource.custom)?;
                let object = self.api.patch(target, &patch, self.writer())?;
                Ok(self.object(target, form, StatusCode::OK, &object))
            }
            "DELETE" if !collection && target.subresource.is_none() => self.delete(target, form),
            "DELETE" if collection && placed && target.resource.id() != "namespaces" => {
                self.delete_collection(target, form)
            }
            _ => Err(StatusError::method_not_allowed()),
        }
    }

    fn selector(&self, target: &Target) -> Result<Selector, StatusError> {
        Selector::parse(
            &target.resource,
            self.query.get("labelSelector"),
            self.query.get("fieldSelector"),
        )
    }

    fn watch(self, target: Target, name: Option<&str>, form: Form) -> Result<Response<SimBody>, StatusError> {
        let mut selector = self.selector(&target)?;
        if let Some(name) = name {
            selector = selector.and_named(name);
        }
        let options = WatchOptions::parse(&self.query)?;
        let mut response = json_response(
            StatusCode::OK,
            streamed(self.api.watch(target, selector, &options, form)),
        );
        response
            .headers_mut()
            .insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
        Ok(response)
    }

    async fn list(&self, target: &Target, form: Form) -> Result<Response<SimBody>, StatusError> {
        let selector = self.selector(target)?;
        let options = ListOptions::parse(&self.query)?;
        let list = self.api.list(target, &selector, &options, form).await?;
        Ok(json_response(StatusCode::OK, streamed(stream::iter(list))))
    }

    fn delete(&self, target: &Target, form: Form) -> Result<Response<SimBody>, StatusError> {
        match self.api.delete(target, &self.delete_options()?)? {
            Deleted::Object(object) => Ok(self.object(target, form, StatusCode::OK, &object)),
            Deleted::Gone(uid) => {
                let resource = &target.resource;
                let mut details = json!({"name": target.name, "kind": resource.plural, "uid": uid});
                if !resource.group.is_empty() {
                    details["group"] = resource.group.as_str().into();
                }
                let status = json!({
                    "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details,
                });
                Ok(json_value(StatusCode::OK, &status))
            }
        }
    }

    fn delete_collection(&self, target: &Target, form: Form) -> Result<Response<SimBody>, StatusError> {
        let objects = self
            .api
            .delete_collection(target, &self.selector(target)?, &self.delete_options()?)?;
        let list = self.api.list_of(target, objects, form);
        Ok(json_response(StatusCode::OK, streamed(stream::iter(list))))
    }

    fn object(&self, target: &Target, form: Form, status: StatusCode, object: &Stored) -> Response<SimBody> {
        let mut out = BytesMut::with_capacity(object.len() + 128);
        Render::new(target, form, self.api.now()).object(&mut out, object);
        out.put_u8(b'\n');
        json_response(status, whole(out.freeze()))
    }

    fn writer(&self) -> Writer {
        Writer::Client {
            dry_run: self.query.get("dryRun") == "All",
        }
    }

    fn content_type(&self) -> &str {
        self.headers
            .get(CONTENT_TYPE)
            .and_then(|v| v.to_str().ok())
            .unwrap_or("")
    }

    fn read_object(&self, target: &Target) -> Result<Map<String, Value>, StatusError> {
        if !matches!(
            self.content_type().split(';').next().unwrap_or("").trim(),
            "" | "application/json"
        ) {
            return Err(StatusError::unsupported_media_type("application/json"));
        }
        nesting::parse(&self.body).map_err(|error| {
            let head = match error {
                Unreadable::TooDeep(_) => "couldn't get version/kind; json parse error: ",
                Unreadable::Invalid { .. } => "",
            };
            let kind = &target.resource.kind;
            StatusError::bad_request(format!(
                "the object provided is unrecognized (must be of type {kind}): {head}{error}"
            ))
        })
    }

    fn delete_options(&self) -> Result<DeleteOptions, StatusError> {
        let body: Value = match self.body.is_empty() {
            true => json!({}),
            false => nesting::parse(&self.body).map_err(|error| {
                StatusError::bad_request(match error {
                    Unreadable::TooDeep(_) => format!("couldn't get version/kind; json parse error: {error}"),
                    Unreadable::Invalid { line, column } => {
                        format!("invalid JSON in DeleteOptions at line {line}, column {column}")
                    }
                })
            })?,
        };
        let precondition = |name: &str| body["preconditions"][name].as_str().map(str::to_owned);
        let policy = body["propagationPolicy"]
            .as_str()
            .unwrap_or(self.query.get("propagationPolicy"));
        let propagation = DeleteOptions::policy(policy)?;
        let policies = ["propagationPolicy", "orphanDependents"];
        if policies.iter().all(|name| !body[*name].is_null()) {
            let why = "orphanDependents and deletionPropagation cannot be both set";
            let cause = Cause::invalid("propagationPolicy", format_args!("\"{policy}\""), why);
            return Err(StatusError::invalid("meta.k8s.io", "DeleteOptions", "", &[cause]));
        }
        let orphans = body["orphanDependents"].as_bool().map(|orphans| match orphans {
            true => Propagation::Orphan,
            false => Propagation::Background,
        });
        if let Some(given) = body["dryRun"][0].as_str().filter(|given| *given != "All") {
            let cause = options::unsupported_dry_run(given);
            return Err(StatusError::invalid("meta.k8s.io", "DeleteOptions", "", &[cause]));
        }
        Ok(DeleteOptions {
            uid: precondition("uid"),
            resource_version: precondition("resourceVersion"),
            propagation: propagation.or(orphans),
            grace: match &body["gracePeriodSeconds"] {
                Value::Null => self.query.number("gracePeriodSeconds")?,
                given => given.as_i64(),
            },
            at_once: false,
            dry_run: self.query.get("dryRun") == "All" || body["dryRun"][0] == "All",
        })
    }
}

pub(crate) fn accept(headers: &HeaderMap) -> &str {
    headers
        .get(ACCEPT)
        .and_then(|value| value.to_str().ok())
        .unwrap_or("")
}

/// The form that a client asks for.
enum Asked {
    Form(Form),
    /// Metadata, of a list or of an object: one of them fits the request.
    Metadata {
        list: bool,
    },
}

/// The first form in the Accept header that the server speaks.
fn negotiate(accept: &str, include: &str, custom: bool) -> Result<Asked, StatusError> {
    if accept.trim().is_empty() {
        return Ok(Asked::Form(Form::Full));
    }
    let form = accept.split(',').find_map(|offer| {
        let mut parts = offer.split(';').map(str::trim);
        match parts.next() {
            Some("application/json" | "*/*") => {}
            // Only the part of a real server that serves custom resources understands it.
            Some("application/*") if custom => {}
            _ => return None,
        }
        let parameter = |name: &str| {
            offer
                .split(';')
                .find_map(|p| p.trim().strip_prefix(name)?.strip_prefix('='))
        };
        let meta =
            parameter("g").is_none_or(|g| g == "meta.k8s.io") && parameter("v").is_none_or(|v| v == "v1");
        match parameter("as") {
            None => Some(Ok(Asked::Form(Form::Full))),
            Some("Table") if meta => Some(included(include).map(|include| Asked::Form(Form::Table(include)))),
            Some("PartialObjectMetadata") if meta => Some(Ok(Asked::Metadata { list: false })),
            Some("PartialObjectMetadataList") if meta => Some(Ok(Asked::Metadata { list: true })),
            Some(_) => None,
        }
    });
    form.unwrap_or_else(|| Err(StatusError::not_acceptable()))
}

/// What the rows of a table carry.
fn included(include: &str) -> Result<Include, StatusError> {
    match include {
        "" | "Metadata" => Ok(Include::Metadata),
        "None" => Ok(Include::Nothing),
        "Object" => Ok(Include::Object),
        other => {
            let why = format!(
                "Unable to convert to Table as requested: includeObject: Invalid value: \"{other}\": must be \
                 'Metadata', 'Object', 'None', or empty"
            );
            Err(StatusError::bad_request(why))
        }
    }
}
