//! Requests in, responses out: routing and content negotiation.

use std::collections::HashSet;
use std::io;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures::future::BoxFuture;
use futures::{FutureExt as _, StreamExt as _, stream};
use http::header::{ACCEPT, CACHE_CONTROL, CONTENT_TYPE, USER_AGENT, WARNING};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::{BodyExt as _, BodyStream, LengthLimitError, Limited};
use kube_protobuf::{Descriptor, strict_errors};
use serde_json::{Map, Value, json};

use crate::access::{Attributes, User};
use crate::admission::{Admission, Operation};
use crate::api::Api;
use crate::api::components;
use crate::api::fields::{self, FieldValidation};
use crate::api::options::{self, ListOptions, Query, WatchOptions};
use crate::api::patch::{self, Patch};
use crate::api::render::{self, Encoding, Form, Render};
use crate::api::write::{DeleteOptions, Deleted, Propagation, Scale, Writer};
use crate::discovery;
use crate::faults::{self, DELETE, Decided, Effect, Facts, GET, LIST, Meeting, PATCH, POST, PUT, WATCH};
use crate::media::{self, RequestBody};
use crate::nesting::{self, Unreadable};
use crate::object::Stored;
use crate::response::{self, BoxError, SimBody, json_value, refusal, streamed, text, whole};
use crate::script::Received;
use crate::selector::Selector;
use crate::status::{Cause, StatusError, unregistered};
use crate::target::MAX_BODY;
use crate::target::Target;

mod form;
mod route;

use form::{Asked, negotiate};
use route::Route;

/// What a real server says first of a body that it cannot read.
const UNREADABLE: &str = "couldn't get version/kind; json parse error: ";

/// The server as a tower service, to be called in the process or behind any HTTP server.
///
/// All clones are one server. It is always ready. It fails only where a [fault](crate::faults) breaks the connection;
/// refusals are responses.
#[derive(Clone)]
pub struct SimService {
    api: Arc<Api>,
    user: Option<Arc<User>>,
}

impl SimService {
    pub(crate) fn new(api: Arc<Api>) -> Self {
        Self { api, user: None }
    }

    /// The same server, to which all requests are those of a user, in a cluster with [`rbac`](crate::SimBuilder::rbac); their
    /// tokens are not looked at. In other clusters nobody asks who it is.
    pub fn as_user<G: Into<String>>(
        mut self,
        name: impl Into<String>,
        groups: impl IntoIterator<Item = G>,
    ) -> Self {
        let groups = groups.into_iter().map(Into::into);
        self.user = Some(Arc::new(User::new(name, "", groups)));
        self
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
    type Error = io::Error;
    type Future = BoxFuture<'static, io::Result<Self::Response>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let (api, user) = (self.api.clone(), self.user.clone());
        async move {
            let answer = |request, encoding| respond(api.clone(), user.clone(), request, encoding);
            media::translated(&api, request, answer).await
        }
        .boxed()
    }
}

/// A request, read.
struct Call {
    api: Arc<Api>,
    request: Arc<Received>,
    query: Query,
    fields: FieldValidation,
    /// Of objects and lists in the answer.
    encoding: Encoding,
    decided: Option<Decided>,
    /// Who asks, in a cluster with access control.
    user: Option<User>,
    /// The webhooks to be asked about a write.
    admission: Option<Admission>,
}

/// What a request names.
enum Named {
    /// Something that is answered without a look at objects.
    Answer(Response<SimBody>),
    Resource(Box<Route>),
}

async fn respond(
    api: Arc<Api>,
    given: Option<Arc<User>>,
    request: Request<RequestBody>,
    encoding: Encoding,
) -> io::Result<Response<SimBody>> {
    let (mut parts, body) = request.into_parts();
    let decided = parts.extensions.remove::<Decided>();
    let reads = matches!(parts.method, Method::GET | Method::HEAD);
    let (body, unread) = match reads {
        true => (Bytes::new(), None),
        false => match read_body(body).await {
            Ok(body) => (body, None),
            Err(error) => (Bytes::new(), Some(error)),
        },
    };
    let request = Arc::new(Received::new(parts, body));
    api.requests.add(request.clone());
    let query = Query::of(&request.query);
    let user = match admit(&api, given.as_deref(), &request, &query) {
        Ok(user) => user,
        Err(error) => return Ok(refusal(&error)),
    };
    let route = match name(&api, &request, &query, unread) {
        Ok(Named::Resource(route)) => *route,
        Ok(Named::Answer(answer)) => return Ok(answer),
        Err(error) => return Ok(refusal(&error)),
    };
    let call = Call {
        fields: match duplicates_of_patch(&request) {
            duplicates if duplicates.is_empty() => FieldValidation::of(&query),
            duplicates => FieldValidation::of_patch(&query, duplicates),
        },
        api,
        request,
        query,
        encoding,
        decided,
        user,
        admission: None,
    };
    call.disturbed(route).await
}

/// Whose request it is, if he may make it.
fn admit(
    api: &Api,
    given: Option<&User>,
    request: &Received,
    query: &Query,
) -> Result<Option<User>, StatusError> {
    if api.access.is_none() {
        return Ok(None);
    }
    let path = percent_encoding::percent_decode_str(&request.path).decode_utf8_lossy();
    let segments: Vec<_> = path.split('/').filter(|s| !s.is_empty()).collect();
    let attributes = Attributes::of_request(&request.method, &segments, &path, query);
    api.admit(&request.headers, given, &attributes)
}

/// What a request is about; an error if it could not be `read`.
fn name(
    api: &Arc<Api>,
    request: &Received,
    query: &Query,
    unread: Option<StatusError>,
) -> Result<Named, StatusError> {
    let path = percent_encoding::percent_decode_str(&request.path)
        .decode_utf8_lossy()
        .into_owned();
    let segments: Vec<_> = path.split('/').filter(|s| !s.is_empty()).collect();
    if let ["kube-sim", path @ ..] = &segments[..]
        && api.control_endpoint
    {
        let answer = faults::control(api, &request.method, path, query, &request.body);
        return Ok(Named::Answer(answer));
    }
    let reads = matches!(request.method, Method::GET | Method::HEAD);
    let accept = accept(&request.headers);
    if reads
        && let Some(answer) = discovery::answer(
            &api.registry(),
            &segments,
            accept,
            query.flag("verbose").is_some(),
        )
    {
        return Ok(Named::Answer(answer));
    }
    // Two slashes are not one: there is a part without a name between them.
    if matches!(segments[..], ["api" | "apis", ..]) && path.trim_start_matches('/').contains("//") {
        return Err(StatusError::no_such_resource());
    }
    let Some(mut route) = Route::parse(api, &segments)? else {
        return Ok(Named::Answer(text(StatusCode::NOT_FOUND, "404 page not found\n")));
    };
    // Such a path says what to watch: it names nothing to be written.
    if route.watch && request.method != Method::GET {
        return Err(StatusError::method_not_allowed());
    }
    if let Some(error) = unread {
        return Err(error);
    }
    route.watch |= query.flag("watch") == Some(true);
    Ok(Named::Resource(Box::new(route)))
}

/// The members that are twice in a merge patch.
fn duplicates_of_patch(request: &Received) -> Vec<String> {
    let content_type = request
        .headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .unwrap_or("");
    let is_merge = content_type.starts_with("application/merge-patch+json");
    if request.method != Method::PATCH || !is_merge || nesting::of_json(&request.body) > nesting::COMMON {
        return Vec::new();
    }
    nesting::parse_object(&request.body).map_or_else(|_| Vec::new(), |(_, duplicates)| duplicates)
}

async fn read_body<B>(body: B) -> Result<Bytes, StatusError>
where
    B: http_body::Body,
    B::Error: Into<BoxError>,
{
    match Limited::new(body, MAX_BODY).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(StatusError::too_large_body(MAX_BODY)),
        Err(_) => Err(StatusError::unread_body()),
    }
}

impl Call {
    /// Answers, as far as the faults let it.
    async fn disturbed(self, route: Route) -> io::Result<Response<SimBody>> {
        let (api, target) = (self.api.clone(), route.target.clone());
        let facts = self.facts(&route);
        let mut meeting = api.faults.meet(&target, &facts);
        if let Some(decided) = &self.decided {
            meeting.follow(decided, &api.storage, &target);
        }
        pause(meeting.delay).await;
        let acts = meeting
            .ending
            .as_ref()
            .is_none_or(|(effect, applied)| *applied || matches!(effect, Effect::Truncate));
        let (ending, late) = (meeting.ending.clone(), meeting.late);
        let watched = (route.watch && acts).then(|| (api, target.clone(), facts));
        let answer = match acts {
            true => {
                let answer = self.answer(route, &meeting).await;
                Some(answer.unwrap_or_else(|error| refusal(&error)))
            }
            false => None,
        };
        pause(late).await;
        match (ending.map(|(effect, _)| effect), answer) {
            (Some(Effect::Cut), _) => Err(io::ErrorKind::ConnectionReset.into()),
            (Some(Effect::Silence), _) => std::future::pending().await,
            (Some(Effect::Answer(answer)), _) => answer.give().await,
            (Some(Effect::Refuse { code, retry_after }), _) => {
                let created = watched.is_none() && target.name.is_none();
                Ok(refusal(&StatusError::fault(code, &target, created, retry_after)))
            }
            (ending, Some(answer)) => {
                let breaks = matches!(ending, Some(Effect::Truncate));
                Ok(answer.map(|body| faults::disturbed(body, breaks, watched)))
            }
            (_, None) => Err(io::ErrorKind::ConnectionReset.into()),
        }
    }

    /// What rules ask of a request.
    fn facts(&self, route: &Route) -> Facts {
        let collection = route.target.name.is_none();
        let verb = match self.request.method.as_str() {
            "GET" | "HEAD" if route.watch => WATCH,
            "GET" | "HEAD" if collection => LIST,
            "GET" | "HEAD" => GET,
            "POST" => POST,
            "PUT" => PUT,
            "PATCH" => PATCH,
            _ => DELETE,
        };
        let name = route.target.name.clone().or_else(|| route.watched.clone());
        // Only a rule that is there asks for the name within the body.
        let creates = verb == POST && name.is_none() && self.api.faults.are_there();
        Facts {
            verb,
            name: if creates {
                name_in(&self.request.body)
            } else {
                name
            },
            continues: !self.query.get("continue").is_empty(),
            streams: self.query.flag("sendInitialEvents") == Some(true),
        }
    }

    async fn answer(self, route: Route, faults: &Meeting) -> Result<Response<SimBody>, StatusError> {
        let warning = route
            .target
            .resource
            .deprecation(&route.target.version)
            .map(str::to_owned);
        let mut response = self.answer_of(route, faults).await?;
        warn(&mut response, warning.as_slice());
        Ok(response)
    }

    async fn answer_of(mut self, route: Route, faults: &Meeting) -> Result<Response<SimBody>, StatusError> {
        let target = route.target;
        if !matches!(self.request.method.as_str(), "GET" | "HEAD") && !target.resource.review {
            let options = self.options();
            let dry_run = options["dryRun"][0] == "All";
            self.admission = self.api.admission(self.user.as_ref(), options, dry_run);
        }
        let collection = target.name.is_none();
        if target.resource.review {
            let accept = accept(&self.request.headers);
            let asked = negotiate(accept, self.query.get("includeObject"), false);
            if matches!(asked, None | Some(Ok(Asked::Form(Form::Table(..))))) {
                return Err(media::not_acceptable(accept, false, true));
            }
        }
        if target.resource.review || is_form_of_its_own(target.subresource.as_deref()) {
            let tried = || nesting::with_room(self.depth(), || self.special(&target));
            return Ok(self.admitted_by_webhooks(tried).await);
        }
        let custom = target.resource.custom;
        let accept = accept(&self.request.headers);
        let form = negotiate(accept, self.query.get("includeObject"), custom)
            .unwrap_or_else(|| Err(media::not_acceptable(accept, custom, collection)))?;
        let lists = collection && matches!(self.request.method.as_str(), "GET" | "DELETE");
        let form = match form {
            Asked::Form(form) => form,
            Asked::Metadata { list: true } if route.watch => {
                // No event can be made a list: a real server ends the watch at the first one.
                let watch = self.watch(target, route.watched.as_deref(), Form::Metadata, faults)?;
                return Ok(watch.map(ended_by_first));
            }
            Asked::Metadata { list } if list == lists || route.watch => Form::Metadata,
            Asked::Metadata { .. } => return Err(StatusError::other_form(&target.resource, lists)),
        };
        if target.resource.report {
            return self.report(&target, form);
        }
        match self.request.method.as_str() {
            "GET" if collection && route.watch => self.watch(target, route.watched.as_deref(), form, faults),
            "GET" if collection => self.list(&target, form, faults).await,
            "GET" if target.subresource.as_deref() == Some("finalize") => {
                Err(StatusError::method_not_allowed())
            }
            "GET" => {
                if !matches!(
                    self.query.get("export"),
                    "" | "0" | "f" | "F" | "false" | "FALSE" | "False"
                ) {
                    let why = "the export parameter, deprecated since v1.14, is no longer supported";
                    return Err(StatusError::bad_request(why));
                }
                let minimum = options::minimum(&self.query)?;
                let stale = faults
                    .stale
                    .as_ref()
                    .filter(|_| self.query.get("resourceVersion") == "0");
                let object = self.api.get(&target, minimum, stale).await?;
                self.object(&target, form, StatusCode::OK, &object)
            }
            _ => {
                let tried = || nesting::with_room(self.depth(), || self.write(&target, form));
                Ok(self.admitted_by_webhooks(tried).await)
            }
        }
    }

    /// The answer to a write, or its refusal, with the warnings that belong to it.
    async fn admitted_by_webhooks(
        &self,
        write: impl Fn() -> Result<Response<SimBody>, StatusError> + Send + Sync,
    ) -> Response<SimBody> {
        let timeout = self.query.get("timeout");
        let written = self.api.admitted(self.admission.as_ref(), timeout, write).await;
        let mut response = written.unwrap_or_else(|error| refusal(&error));
        warn(&mut response, &self.warnings());
        response
    }

    /// Answers what has a form of its own, which is no object that is stored.
    fn special(&self, target: &Target) -> Result<Response<SimBody>, StatusError> {
        let done = || json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201});
        let method = self.request.method.as_str();
        let (code, value) = match (method, target.subresource.as_deref()) {
            ("POST", None) if target.name.is_none() && target.resource.review => (
                StatusCode::CREATED,
                self.api.review(
                    target,
                    self.read_object(target)?,
                    self.manager(),
                    self.user.as_ref(),
                )?,
            ),
            ("GET", Some("scale")) => (StatusCode::OK, self.api.scale(target)?),
            ("PUT", Some("scale")) => {
                options::check_write(&self.query, "UpdateOptions")?;
                let scale = Scale::Replace(self.read_object(target)?);
                (StatusCode::OK, self.api.rescale(target, scale, self.writer())?)
            }
            ("PATCH", Some("scale")) if patch::is_apply(self.content_type()) => {
                options::check_apply(&self.query)?;
                let config = patch::read_config(&self.request.body)?;
                let scale = Scale::Apply {
                    config: &config,
                    manager: self.query.get("fieldManager"),
                    force: self.query.flag("force") == Some(true),
                };
                (StatusCode::OK, self.api.rescale(target, scale, self.applier())?)
            }
            ("PATCH", Some("scale")) => {
                options::check_write(&self.query, "PatchOptions")?;
                let body = &self.request.body;
                let patch = Patch::read(self.content_type(), body, target.resource.custom)?;
                (
                    StatusCode::OK,
                    self.api.rescale(target, Scale::Patch(&patch), self.writer())?,
                )
            }
            ("POST", Some("eviction")) => {
                let eviction = self.admitted(target, self.read_object(target)?)?;
                let options = eviction.get("deleteOptions").unwrap_or(&Value::Null);
                self.api
                    .evict(target, &eviction, &self.delete_options_of(options)?)?;
                (StatusCode::CREATED, done())
            }
            ("POST", Some("binding")) => {
                options::check_write(&self.query, "CreateOptions")?;
                let binding = self.admitted(target, self.read_object(target)?)?;
                self.api.bind(target, &binding, self.writer())?;
                (StatusCode::CREATED, done())
            }
            ("POST", Some("token")) => {
                let request = self.admitted(target, self.read_object(target)?)?;
                (StatusCode::CREATED, self.api.token(target, &request)?)
            }
            (_, Some(subresource)) if is_of_node(Some(subresource)) => {
                self.api
                    .of_node(target, subresource, self.query.get("container"))?;
                return Ok(response::text(StatusCode::OK, ""));
            }
            _ => return Err(StatusError::method_not_allowed()),
        };
        let of_scale = target.subresource.as_deref() == Some("scale");
        let accept = accept(&self.request.headers);
        match negotiate(accept, self.query.get("includeObject"), target.resource.custom) {
            Some(Ok(Asked::Form(Form::Table(include, version)))) if of_scale => {
                let table = render::scale_table(&value, include, version, self.api.now());
                Ok(json_value(code, &table))
            }
            _ => Ok(json_value(code, &value)),
        }
    }

    /// What the client is to be warned of, once.
    fn warnings(&self) -> Vec<String> {
        let of_webhooks = self.admission.as_ref().map(Admission::warnings);
        let mut warnings = [self.fields.warnings(), of_webhooks.unwrap_or_default()].concat();
        let mut seen = HashSet::new();
        warnings.retain(|warning| seen.insert(warning.clone()));
        warnings
    }

    /// The options of a write as webhooks see them.
    fn options(&self) -> Value {
        let kind = match self.request.method.as_str() {
            "POST" => "CreateOptions",
            "PUT" => "UpdateOptions",
            "PATCH" => "PatchOptions",
            _ => "DeleteOptions",
        };
        let mut options = match kind {
            "DeleteOptions" if nesting::of_json(&self.request.body) <= nesting::COMMON => {
                nesting::parse(&self.request.body).unwrap_or_default()
            }
            _ => Map::new(),
        };
        options.insert("kind".into(), kind.into());
        options.insert("apiVersion".into(), "meta.k8s.io/v1".into());
        if self.query.get("dryRun") == "All" {
            options.insert("dryRun".into(), json!(["All"]));
        }
        for name in ["fieldManager", "fieldValidation", "propagationPolicy"] {
            if !self.query.get(name).is_empty() {
                options.insert(name.into(), self.query.get(name).into());
            }
        }
        if self.query.flag("force") == Some(true) {
            options.insert("force".into(), true.into());
        }
        Value::Object(options)
    }

    /// What is posted to a subresource, as webhooks leave it.
    fn admitted(
        &self,
        target: &Target,
        object: Map<String, Value>,
    ) -> Result<Map<String, Value>, StatusError> {
        match &self.admission {
            Some(admission) => {
                let creates = Operation::Create;
                self.api.admit_posted(admission, creates, target, object, None)
            }
            None => Ok(object),
        }
    }

    /// How many levels what is made of the body may have.
    fn depth(&self) -> usize {
        // An operation of a JSON patch puts what there is deeper by the length of a path, whose slashes may be escaped.
        let paths = match self.content_type().starts_with("application/json-patch") {
            true => self
                .request
                .body
                .iter()
                .filter(|b| matches!(b, b'/' | b'\\'))
                .count(),
            false => 0,
        };
        nesting::of_json(&self.request.body) + paths
    }

    /// Answers what is no GET.
    fn write(&self, target: &Target, form: Form) -> Result<Response<SimBody>, StatusError> {
        let collection = target.name.is_none();
        // Objects are made in one namespace, or in none.
        let placed = target.namespace.is_some() || !target.resource.namespaced;
        let finalizes = target.subresource.as_deref() == Some("finalize");
        match self.request.method.as_str() {
            "POST" if collection && placed => {
                options::check_write(&self.query, "CreateOptions")?;
                let object = self
                    .api
                    .create(target, self.read_object(target)?, self.writer())?;
                self.object(target, form, StatusCode::CREATED, &object)
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
                self.object(target, form, code, &object)
            }
            "PATCH" if !collection && !finalizes && patch::is_apply(self.content_type()) => {
                options::check_apply(&self.query)?;
                let (object, created) = self.apply(target)?;
                let code = if created {
                    StatusCode::CREATED
                } else {
                    StatusCode::OK
                };
                self.object(target, form, code, &object)
            }
            "PATCH" if !collection && !finalizes => {
                options::check_write(&self.query, "PatchOptions")?;
                let patch = Patch::read(self.content_type(), &self.request.body, target.resource.custom)?;
                let object = self.api.patch(target, &patch, &self.fields, self.writer())?;
                self.object(target, form, StatusCode::OK, &object)
            }
            "DELETE" if !collection && target.subresource.is_none() => self.delete(target, form),
            "DELETE" if collection && placed && target.resource.id() != "namespaces" => {
                self.delete_collection(target, form)
            }
            // A definition's scope is a part of its paths.
            "POST" | "DELETE" if collection && !placed && target.resource.custom => {
                Err(StatusError::no_such_resource())
            }
            _ => Err(StatusError::method_not_allowed()),
        }
    }

    fn apply(&self, target: &Target) -> Result<(Arc<Stored>, bool), StatusError> {
        let config = Value::Object(patch::read_config(&self.request.body)?);
        nesting::with_room(nesting::of(&config), || {
            let Value::Object(config) = &config else {
                return Err(StatusError::method_not_allowed());
            };
            let manager = self.query.get("fieldManager");
            let force = self.query.flag("force") == Some(true);
            if let Some(repeated) = patch::repeated_key(&self.request.body) {
                self.fields.note_of_apply(repeated)?;
            }
            self.api.apply(target, config, manager, force, self.applier())
        })
    }

    fn selector(&self, target: &Target) -> Result<Selector, StatusError> {
        Selector::parse(
            &target.resource,
            self.query.get("labelSelector"),
            self.query.get("fieldSelector"),
        )
    }

    /// Restricts a selection to what the request asks for of shards, unless the server ignores that.
    fn sharded(&self, selector: Selector) -> Result<Selector, StatusError> {
        match self.api.sharded_lists {
            true => selector.and_shards(self.query.get("shardSelector")),
            false => Ok(selector),
        }
    }

    fn watch(
        self,
        target: Target,
        name: Option<&str>,
        form: Form,
        faults: &Meeting,
    ) -> Result<Response<SimBody>, StatusError> {
        let mut selector = self.selector(&target)?;
        if let Some(name) = name {
            selector = selector.and_named(name);
        }
        let options = WatchOptions::parse(&self.query)?;
        let selector = self.sharded(selector)?;
        let written = (form, self.encoding);
        let frames = self.api.watch(target, selector, &options, written, faults)?;
        let mut response = media::rendered_watch(self.encoding, streamed(frames));
        response
            .headers_mut()
            .insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
        Ok(response)
    }

    async fn list(
        &self,
        target: &Target,
        form: Form,
        faults: &Meeting,
    ) -> Result<Response<SimBody>, StatusError> {
        let selector = self.selector(target)?;
        let options = ListOptions::parse(&self.query)?;
        let selector = self.sharded(selector)?;
        if let (true, Some(token)) = (faults.expire_continue, &options.token) {
            return Err(token.expired(&target.prefix()));
        }
        let stale = faults.stale.as_ref();
        let written = (form, self.encoding);
        let mut target = target.clone();
        if target.resource.namespaced && target.namespace.is_none() {
            // What a field selector says of the namespace is as good as a path: tokens to continue with are relative to it.
            target.namespace = selector.namespace().map(str::to_owned);
        }
        let list = self.api.list(&target, &selector, &options, written, stale);
        let list = list.await?;
        Ok(self.rendered(StatusCode::OK, streamed(stream::iter(list))))
    }

    /// Answers what is computed when somebody reads it.
    fn report(&self, target: &Target, form: Form) -> Result<Response<SimBody>, StatusError> {
        if !matches!(self.request.method.as_str(), "GET" | "HEAD") || self.query.flag("watch") == Some(true) {
            return Err(StatusError::method_not_allowed());
        }
        let mut components = components::all(target);
        let mut response = match target.name.as_deref() {
            Some(name) => {
                let found = components.iter().find(|component| component.name() == name);
                let found = found.ok_or_else(|| StatusError::not_found(&target.resource, name))?;
                self.object(target, form, StatusCode::OK, found)?
            }
            None => {
                let selector = self.selector(target)?;
                components.retain(|component| selector.matches(component));
                let list = self
                    .api
                    .list_of(target, &selector, components, (form, self.encoding))?;
                self.rendered(StatusCode::OK, streamed(stream::iter(list)))
            }
        };
        warn(&mut response, &[components::DEPRECATED.to_owned()]);
        Ok(response)
    }

    fn delete(&self, target: &Target, form: Form) -> Result<Response<SimBody>, StatusError> {
        let options = self.delete_options()?;
        match self.api.delete(target, &options, self.admission.as_ref())? {
            Deleted::Object(object) => {
                // As the old way to ask for what an object owns to be deleted has it.
                let stays = || self.api.storage.get(&target.resource, &target.key());
                let is_held =
                    options.deletes_dependents && stays().is_some_and(|now| now.uid() == object.uid());
                let code = if is_held {
                    StatusCode::ACCEPTED
                } else {
                    StatusCode::OK
                };
                self.object(target, form, code, &object)
            }
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
        let selector = self.sharded(self.selector(target)?)?;
        let objects = self.api.delete_collection(
            target,
            &selector,
            &self.delete_options()?,
            self.admission.as_ref(),
        )?;
        let written = (form, self.encoding);
        let list = self.api.list_of(target, &selector, objects, written)?;
        Ok(self.rendered(StatusCode::OK, streamed(stream::iter(list))))
    }

    fn object(
        &self,
        target: &Target,
        form: Form,
        status: StatusCode,
        object: &Stored,
    ) -> Result<Response<SimBody>, StatusError> {
        let mut out = BytesMut::with_capacity(object.len() + 128);
        let render = Render::new(target, form, self.encoding, self.api.now())?;
        render.object(&mut out, object)?;
        Ok(self.rendered(status, whole(out.freeze())))
    }

    fn rendered(&self, status: StatusCode, body: SimBody) -> Response<SimBody> {
        media::rendered(self.encoding, status, body)
    }

    fn writer(&self) -> Writer<'_> {
        Writer::Client {
            dry_run: self.query.get("dryRun") == "All",
            manager: Some(self.manager()),
            user: self.user.as_ref(),
            admission: self.admission.as_ref(),
        }
    }

    /// The writer of what is applied.
    fn applier(&self) -> Writer<'_> {
        Writer::Client {
            dry_run: self.query.get("dryRun") == "All",
            manager: None,
            user: self.user.as_ref(),
            admission: self.admission.as_ref(),
        }
    }

    /// Who writes: by default the name of the client's program.
    fn manager(&self) -> &str {
        match self.query.get("fieldManager") {
            "" => {
                let agent = self.request.headers.get(USER_AGENT);
                let agent = agent.and_then(|agent| agent.to_str().ok()).unwrap_or("");
                let name = agent.split('/').next().unwrap_or("");
                &name[..name.len().min(options::MAX_MANAGER)]
            }
            manager => manager,
        }
    }

    fn content_type(&self) -> &str {
        self.request
            .headers
            .get(CONTENT_TYPE)
            .and_then(|v| v.to_str().ok())
            .unwrap_or("")
    }

    fn read_object(&self, target: &Target) -> Result<Map<String, Value>, StatusError> {
        if !matches!(
            self.content_type().split(';').next().unwrap_or("").trim(),
            "" | "application/json"
        ) {
            let accepted = media::accepted(target.resource.custom);
            return Err(StatusError::unsupported_media_type(accepted));
        }
        // Nothing is an object without members.
        let body: &[u8] = match self.request.body.trim_ascii() {
            b"null" if !target.resource.custom => b"{}",
            _ => &self.request.body,
        };
        let (mut object, duplicates) = nesting::parse_object(body).map_err(|error| {
            let (head, tail) = match error {
                Unreadable::TooDeep(_) | Unreadable::Syntax(_) => (UNREADABLE, ""),
                Unreadable::Empty => (UNREADABLE, " (<empty>)"),
                Unreadable::Invalid { .. } => ("", ""),
            };
            let kind = &target.resource.kind;
            StatusError::bad_request(format!(
                "the object provided is unrecognized (must be of type {kind}): {head}{error}{tail}"
            ))
        })?;
        if let Some(version) = text_of(&object, "apiVersion").strip_prefix('/') {
            // Of no group, said explicitly.
            let version = version.into();
            object.insert("apiVersion".into(), version);
        }
        if !target.resource.custom {
            if self.fields.is_strict() {
                self.check_strictly(target, &object)?;
            }
            // It says how the object is to be read.
            if target.resource.is_autoscaler() && target.subresource.is_none() {
                let version = || target.resource.api_version(&target.version).into();
                object.entry("apiVersion").or_insert_with(version);
            }
        }
        if is_form_of_its_own(target.subresource.as_deref()) || target.resource.review {
            return Ok(object);
        }
        self.fields.dedup_owners(&mut object);
        let mut errors = duplicates;
        fields::fit(target, &mut object)
            .and_then(|dropped| {
                errors.extend(dropped);
                self.fields.note(errors)
            })
            .map_err(|error| {
                let (kind, version) = (&target.resource.kind, &target.version);
                StatusError::bad_request(format!(
                    "{kind} in version \"{version}\" cannot be handled as a {kind}: {error}"
                ))
            })?;
        Ok(object)
    }

    /// Refuses fields that a built-in kind does not have, and those that are there twice.
    fn check_strictly(&self, target: &Target, object: &Map<String, Value>) -> Result<(), StatusError> {
        let kind = target.resource.kind.as_str();
        let api_version = target.resource.api_version(&target.version);
        // Another kind is refused for that, or is that of a subresource.
        let is_meant = object.get("kind").is_none_or(|given| given == kind);
        let Some(message) = Descriptor::of(&api_version, kind).filter(|_| is_meant) else {
            return Ok(());
        };
        // The text has been read before; at most it is too deep.
        let errors = strict_errors(message, &self.request.body).unwrap_or_default();
        if errors.is_empty() {
            return Ok(());
        }
        // What is twice is told once.
        let mut told: Vec<String> = Vec::new();
        for error in errors.iter().map(ToString::to_string) {
            if !told.contains(&error) {
                told.push(error);
            }
        }
        Err(StatusError::bad_request(format!(
            "{kind} in version \"{}\" cannot be handled as a {kind}: strict decoding error: {}",
            target.version,
            told.join(", ")
        )))
    }

    fn delete_options(&self) -> Result<DeleteOptions, StatusError> {
        let body: Value = match self.request.body.is_empty() {
            true => json!({}),
            false => nesting::parse(&self.request.body).map_err(|error| {
                StatusError::bad_request(match error {
                    Unreadable::TooDeep(_) | Unreadable::Syntax(_) | Unreadable::Empty => {
                        format!("{UNREADABLE}{error}")
                    }
                    Unreadable::Invalid { line, column } => {
                        format!("invalid JSON in DeleteOptions at line {line}, column {column}")
                    }
                })
            })?,
        };
        let text = |name: &str| body[name].as_str().unwrap_or("");
        if !matches!(text("kind"), "" | "DeleteOptions") {
            return Err(StatusError::bad_request(unregistered(
                text("kind"),
                text("apiVersion"),
            )));
        }
        self.delete_options_of(&body)
    }

    fn delete_options_of(&self, body: &Value) -> Result<DeleteOptions, StatusError> {
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
            deletes_dependents: orphans == Some(Propagation::Background),
            dry_run: self.query.get("dryRun") == "All" || body["dryRun"][0] == "All",
        })
    }
}

/// The most characters of all warnings of a response, and of each if they are more.
const WARNINGS: usize = 4096;
const LONG_WARNING: usize = 256;

/// Adds warnings to a response, in the form of RFC 7234: as many as a real server adds.
fn warn(response: &mut Response<SimBody>, warnings: &[String]) {
    let all: usize = warnings.iter().map(|warning| warning.chars().count()).sum();
    let longest = if all > WARNINGS { LONG_WARNING } else { WARNINGS };
    let mut room = WARNINGS;
    for warning in warnings {
        let warning: String = warning.chars().take(longest).collect();
        let Some(left) = room.checked_sub(warning.chars().count()) else {
            return;
        };
        room = left;
        let quoted = warning.replace('\\', "\\\\").replace('"', "\\\"");
        if let Ok(value) = HeaderValue::try_from(format!("299 - \"{quoted}\"")) {
            response.headers_mut().append(WARNING, value);
        }
    }
}

/// A body that ends where this one begins.
fn ended_by_first(body: SimBody) -> SimBody {
    let first = BodyStream::new(body).take(1);
    response::frames(first.filter_map(|_| std::future::ready(None)))
}

async fn pause(time: Duration) {
    if !time.is_zero() {
        tokio::time::sleep(time).await;
    }
}

/// Whether a subresource is sent as something else than its object.
fn is_form_of_its_own(subresource: Option<&str>) -> bool {
    matches!(subresource, Some("scale" | "eviction" | "binding" | "token")) || is_of_node(subresource)
}

fn text_of<'a>(object: &'a Map<String, Value>, name: &str) -> &'a str {
    object.get(name).and_then(Value::as_str).unwrap_or("")
}

/// Whether a subresource is answered by a node, of which there are none here but in name.
fn is_of_node(subresource: Option<&str>) -> bool {
    matches!(
        subresource,
        Some("attach" | "exec" | "log" | "portforward" | "proxy")
    )
}

/// The name of an object that is to be created.
fn name_in(body: &[u8]) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Object {
        metadata: Metadata,
    }
    #[derive(serde::Deserialize)]
    struct Metadata {
        name: String,
    }
    let object: Object = serde_json::from_slice(body).ok()?;
    Some(object.metadata.name)
}

pub(crate) fn accept(headers: &HeaderMap) -> &str {
    headers
        .get(ACCEPT)
        .and_then(|value| value.to_str().ok())
        .unwrap_or("")
}
