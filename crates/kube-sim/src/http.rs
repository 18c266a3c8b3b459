//! Requests in, responses out: routing and content negotiation.

use std::io;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use http::header::{ACCEPT, HOST};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, Version};
use tokio::runtime::Handle;

use crate::access::{Attributes, User};
use crate::admission::Admission;
use crate::api::Api;
use crate::api::fields::FieldValidation;
use crate::api::options::{self, Query};
use crate::api::render::{Encoding, Form, Render};
use crate::discovery;
use crate::faults::{self, DELETE, Decided, Effect, Facts, GET, LIST, Meeting, PATCH, POST, PUT, WATCH};
use crate::issuer;
use crate::media::{self, RequestBody};
use crate::meta::uid_from;
use crate::metrics;
use crate::nesting;
use crate::object::Stored;
use crate::response::{BoxError, SimBody, refusal, text, whole};
use crate::script::Received;
use crate::status::StatusError;
use crate::target::{Target, segments};
use crate::warnings::Warnings;
use crate::yaml::RepeatedKeys;

mod body;
mod flow;
mod form;
mod measurable;
mod read;
mod route;
mod special;
mod subresource;
mod warning;
mod write;

use body::{faults_of_patch, read_body};
use form::{Asked, negotiate};
use measurable::measurable;
use read::ended_by_first;
use route::Route;
use subresource::{connects, is_form_of_its_own};
use warning::warn_first;

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
        // `hyper` leaves out bodies that may not be there in HTTP/1 only.
        let is_bare = request.method() == Method::HEAD && request.version() == Version::HTTP_2;
        let audit = audit_id(&api, request.headers());
        async move {
            let answer = |request, encoding| respond(api.clone(), user.clone(), request, encoding);
            let answer = media::translated(&api, request, answer).await;
            let answer = answer.map(|response| match is_bare {
                true => response.map(|_| whole(Bytes::new())),
                false => response,
            });
            let answer = answer.map(|mut response| {
                if let Some(id) = audit {
                    response.headers_mut().entry(AUDIT_ID).or_insert(id);
                }
                metrics::measured(response)
            });
            if let Ok(runtime) = Handle::try_current()
                && let Some(alarm) = api.storage.alarm()
            {
                runtime.spawn(async move {
                    tokio::time::sleep_until(alarm).await;
                    api.settle();
                });
            }
            answer
        }
        .boxed()
    }
}

const AUDIT_ID: HeaderName = HeaderName::from_static("audit-id");

/// By what a request is found in an audit log: what the client says, or else something new. In a simulation it is nothing new, since
/// a draw would change all that follow.
fn audit_id(api: &Api, headers: &HeaderMap) -> Option<HeaderValue> {
    let given = headers.get(AUDIT_ID).filter(|id| !id.is_empty());
    given.cloned().or_else(|| match api.is_simulated {
        true => None,
        false => uid_from(fastrand::u128(..)).parse().ok(),
    })
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
    /// What was found about the object that is written.
    warnings: Warnings,
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
    let repeated = parts.extensions.remove::<RepeatedKeys>().unwrap_or_default();
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
    let (user, allowed) = match admit(&api, given.as_deref(), &request, &query) {
        Ok(admitted) => admitted,
        Err(error) => return Ok(refusal(&error)),
    };
    let told = |mut answer: Response<SimBody>| {
        flow::tell(&api, user.as_ref(), answer.headers_mut());
        answer
    };
    // A request has its flow before anybody asks whether it may be made.
    if let Err(error) = allowed {
        return Ok(told(refusal(&error)));
    }
    let route = match name(&api, &request, &query, unread) {
        Ok(Named::Resource(route)) => *route,
        Ok(Named::Answer(answer)) => return Ok(told(answer)),
        Err(error) => return Ok(told(refusal(&error))),
    };
    let mut flow = HeaderMap::new();
    flow::tell(&api, user.as_ref(), &mut flow);
    let measured = api.metrics.began(measurable(&route, &request, &query));
    let call = Call {
        fields: FieldValidation::of(&query)
            .and_of_patch(|| faults_of_patch(&request))
            .and_of_yaml(repeated),
        api,
        request,
        query,
        encoding,
        decided,
        user,
        admission: None,
        warnings: Warnings::default(),
    };
    let mut answer = call.disturbed(route).await?;
    answer.headers_mut().extend(flow);
    measured.answered(&mut answer);
    Ok(answer)
}

/// Whose request it is, and whether he may make it; an error if nobody knows who he is.
fn admit(
    api: &Api,
    given: Option<&User>,
    request: &Received,
    query: &Query,
) -> Result<(Option<User>, Result<(), StatusError>), StatusError> {
    let Some(access) = &api.access else {
        return Ok((None, Ok(())));
    };
    let path = percent_encoding::percent_decode_str(&request.path).decode_utf8_lossy();
    let attributes = Attributes::of_request(&request.method, &segments(&path), &path, query);
    let user = api.identify(access, &request.headers, given, &attributes)?;
    let allowed = api.authorize(&user, &attributes);
    Ok((Some(user), allowed))
}

/// What a request is about; an error if it could not be `read`.
fn name(
    api: &Arc<Api>,
    request: &Received,
    query: &Query,
    unread: Option<StatusError>,
) -> Result<Named, StatusError> {
    let not_found = || Named::Answer(text(StatusCode::NOT_FOUND, "404 page not found\n"));
    let path = percent_encoding::percent_decode_str(&request.path)
        .decode_utf8_lossy()
        .into_owned();
    let segments = segments(&path);
    if let ["kube-sim", path @ ..] = &segments[..]
        && api.control_endpoint
    {
        let answer = faults::control(api, &request.method, path, query, &request.body);
        return Ok(Named::Answer(answer));
    }
    if path.starts_with("//") {
        return Ok(not_found());
    }
    if path == "/metrics" {
        return Ok(Named::Answer(api.metrics.answer()));
    }
    let gets = request.method == Method::GET;
    if let Some(answer) = issuer::answer(|| api.issuer(), &request.headers, &segments) {
        return match gets {
            true => Ok(Named::Answer(answer)),
            false => Err(StatusError::method_not_allowed()),
        };
    }
    let asked = discovery::Asked {
        path: &path,
        accept: accept(&request.headers),
        verbose: query.flag("verbose").is_some(),
        host: request.headers.get(HOST).and_then(|host| host.to_str().ok()),
    };
    if let Some(answer) = discovery::answer(&api.registry(), &segments, &asked) {
        // Where no router is in front, nobody looks at the method.
        if !gets && discovery::knows_methods(&api.registry(), &segments) {
            return Err(StatusError::method_not_allowed());
        }
        return Ok(Named::Answer(discovery::unless_known(&request.headers, answer)));
    }
    let Some(mut route) = Route::parse(api, request, &segments)? else {
        return Ok(not_found());
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
            true => Some(self.answer(route, &meeting).await),
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

    async fn answer(self, route: Route, faults: &Meeting) -> Response<SimBody> {
        let warning = route
            .target
            .resource
            .deprecation(&route.target.version)
            .map(str::to_owned);
        let patches = self.request.method == Method::PATCH;
        let answer = self.answer_of(route, faults).await;
        let mut response = answer.unwrap_or_else(|error| refusal(&error));
        let is_routed = match response.status() {
            StatusCode::METHOD_NOT_ALLOWED | StatusCode::NOT_ACCEPTABLE => false,
            StatusCode::UNSUPPORTED_MEDIA_TYPE => !patches,
            _ => true,
        };
        if is_routed {
            warn_first(&mut response, warning.as_slice());
        }
        response
    }

    async fn answer_of(mut self, route: Route, faults: &Meeting) -> Result<Response<SimBody>, StatusError> {
        let target = route.target;
        let is_asked = target.resource.review && !target.resource.is_bindings();
        let changes = !matches!(self.request.method.as_str(), "GET" | "HEAD")
            || connects(target.subresource.as_deref());
        let converts = target.resource.definition.webhook.is_some();
        if (changes || converts) && !is_asked {
            let options = self.options();
            let dry_run = options["dryRun"][0] == "All";
            self.admission = self.api.admission(&target, self.user.as_ref(), options, dry_run);
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
            Asked::Metadata { .. } => {
                let mut name = target.name.as_deref();
                name = name.filter(|_| matches!(self.request.method.as_str(), "GET" | "PATCH" | "DELETE"));
                let is_there = || self.api.storage.get(&target.resource, &target.key()).is_some();
                return Err(match name.filter(|_| !is_there()) {
                    Some(name) => StatusError::not_found(&target.resource, name),
                    None => StatusError::other_form(&target.resource, lists),
                });
            }
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
}

async fn pause(time: Duration) {
    if !time.is_zero() {
        tokio::time::sleep(time).await;
    }
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
