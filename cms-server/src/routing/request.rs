//! The handling of one request, with the checks in this order:
//!
//! address rate limit 429, unknown path 404, key or session 401, key rate limit 429, method 405,
//! cross-site request 403, permission 403 or 404, media type 415, size 413, then the handler: body
//! syntax 400, and the errors of the core.
//!
//! Key and content types are read once, in one snapshot; the permission is checked against them. A
//! body is read only after that: a client without the right to write cannot make the server read
//! one.

use std::{
    net::IpAddr,
    sync::{Arc, LazyLock},
    time::Instant,
};

use axum::{
    Router,
    body::{Body, Bytes, HttpBody},
    http::{HeaderValue, Method, Request, Uri, header, request::Parts},
    response::Response as HttpResponse,
};
use cms_core::{Caller, Cms, Credential, Error, Permission, Progress, Reservation, Result, limits};
use tracing::Instrument;

use super::{
    path::{PathParameters, RouteMatch, RouteMatcher},
    permissions::RequiredPermission,
    route::{BodyKind, Endpoint, Execution, Handler, Route, UnauthenticatedPostHandler},
    table::ROUTES,
};
use crate::{
    blocking,
    config::ServerConfig,
    extract::{
        auth,
        body::{self, BufferedBody},
        cookie,
        form::{self, Form},
        query::{Query, UnknownPaths, query_string},
        visibility, write_guards,
    },
    http::{
        backup, changes,
        context::{RequestContext, UnauthenticatedRequest, client},
        event_stream, images, openid,
        progress::{self, CancelOnDrop},
    },
    net::{
        connection::{Connection, ResponseBody},
        permits::Work,
    },
    response::{Response, error, ignored_fields},
    state::App,
    telemetry::{
        request_log::{LoggedQuery, RequestLog},
        route_label::RouteLabel,
        trace,
    },
};

static MATCHER: LazyLock<RouteMatcher> = LazyLock::new(|| RouteMatcher::new(ROUTES));

/// Returns the complete HTTP interface of a data directory, without a socket.
pub fn router(config: &ServerConfig, cms: Arc<Cms>) -> Router {
    let app = Arc::new(App::new(config, cms));
    // The table does all routing, since the key is checked before the method
    // (docs/decisions/0001-request-pipeline.md).
    Router::new().fallback_service(tower::service_fn(move |request: Request<Body>| {
        let app = Arc::clone(&app);
        async move {
            let memory = &app.response_memory;
            let connection = Arc::new(Connection::new(memory, memory, None));
            Ok(handle(app, &connection, request).await.map(Body::new))
        }
    }))
}

/// What the checks of a request return besides its response.
struct Outputs {
    log: RequestLog,
    /// `Set-Cookie` that removes the cookie of an ended session.
    remove_cookie: Option<HeaderValue>,
}

/// Handles a request of a connection. An error is a response too.
pub(crate) async fn handle(
    app: Arc<App>,
    connection: &Arc<Connection>,
    request: Request<Body>,
) -> HttpResponse<ResponseBody> {
    let started = Instant::now();
    let running = connection.start_request();
    let memory = connection.reservation();
    let (parts, mut body) = request.into_parts();
    // A client that waits for "100 Continue" gets the response instead, and sends no body.
    let sends_body = !parts.headers.contains_key(header::EXPECT);
    let (method, uri) = (parts.method.clone(), parts.uri.clone());
    let request_id = app.request_ids.of(&parts.headers);
    let matched = MATCHER.find(&parts.method, parts.uri.path());
    let route = match matched {
        RouteMatch::Route(route, _) => Some(route),
        _ => None,
    };
    let label = route.map(|route| RouteLabel { method: &route.method, path: route.path });
    let address = app.public_url.client_address(connection.peer, &parts.headers);
    let mut outputs = Outputs { log: RequestLog::new(label, address), remove_cookie: None };
    let span = trace::start(label, &parts, &request_id);
    let response = respond(&app, matched, parts, &mut body, &memory, &mut outputs);
    let response = response.instrument(span.clone()).await.unwrap_or_else(Response::from);
    let Outputs { log, remove_cookie } = outputs;
    let response = response.with_optional(header::SET_COOKIE, remove_cookie);
    let response = if depends_on_caller(&uri) { response.varying_by_caller() } else { response };
    let response = response.with_memory(&memory, route.is_some_and(Route::is_write), &method);
    trace::end(span, log.caller.as_ref(), response.status);
    let time = started.elapsed();
    app.metrics.count_request(label, response.status, time);
    if sends_body {
        body::discard(&mut body).await;
    }
    log.write(&app, &response, &method, &uri, &request_id, time);
    response.into_http(&method, request_id).map(|body| running.respond(body, memory))
}

/// Tells whether the responses of a path depend on the key or the session of a request.
fn depends_on_caller(uri: &Uri) -> bool {
    uri.path().starts_with("/api/") || uri.path() == "/metrics"
}

async fn respond(
    app: &Arc<App>,
    matched: RouteMatch,
    parts: Parts,
    body: &mut Body,
    memory: &Arc<Reservation>,
    outputs: &mut Outputs,
) -> Result<Response> {
    // Monitoring has no rate limit.
    let is_monitoring = matches!(
        matched,
        RouteMatch::Route(Route { endpoint: Endpoint::Unauthenticated(_), path, .. }, _)
            if !path.starts_with("/api/")
    );
    if !is_monitoring && outputs.log.address.is_some_and(|address| !app.admits_address(address)) {
        return Err(Error::TooManyRequests { retry_after_seconds: 1 });
    }
    if parts.method == Method::OPTIONS {
        return Ok(Response::preflight());
    }
    let (route, parameters) = match matched {
        RouteMatch::Route(route, parameters) => (route, parameters),
        RouteMatch::NotFound => return Ok(error::unknown_path()),
        RouteMatch::MethodNotAllowed { allow, is_unauthenticated } => {
            if !is_unauthenticated {
                authenticate(app, &parts, memory, outputs)?;
            }
            return Ok(error::method_not_allowed(allow));
        }
    };
    match route.endpoint {
        Endpoint::Unauthenticated(handler) => match route.execution {
            Execution::Inline => blocking::run_inline(app, |app| handler(app, &parts)),
            Execution::Blocking(work) => {
                blocking::run(app, work, move |app| handler(app, &parts)).await
            }
        },
        Endpoint::Image => {
            let segments: Vec<_> = parameters.decode_rest(parts.uri.path()).collect();
            let segments: Vec<&str> = segments.iter().map(AsRef::as_ref).collect();
            let query = Query::of(&parts);
            let response = images::get(app, &parts, &query, &segments).await;
            Ok(response.with_optional(
                ignored_fields::QUERY,
                query.ignored(route.query, &UnknownPaths::default()),
            ))
        }
        Endpoint::UnauthenticatedPost(handler) => {
            let ignored = ignored_parameters(route, &parts);
            let response =
                respond_unauthenticated(app, route, handler, parts, body, &mut outputs.log).await;
            let response = response.unwrap_or_else(route.error_response);
            Ok(response.with_optional(ignored_fields::QUERY, ignored))
        }
        Endpoint::OpenId(step) => {
            let response = openid::respond(app, step, &parts, outputs.log.address).await;
            let response = response.unwrap_or_else(Response::from);
            Ok(response.with_optional(ignored_fields::QUERY, ignored_parameters(route, &parts)))
        }
        Endpoint::SignOut => sign_out(app, parts, memory, outputs).await,
        Endpoint::Changes => {
            require_accepted(route, &authenticate(app, &parts, memory, outputs)?)?;
            let ignored = ignored_parameters(route, &parts);
            let (method, headers) = (parts.method.clone(), parts.headers.clone());
            let response = changes::get(app, parts).await.unwrap_or_else(Response::from);
            let response = response.with_optional(ignored_fields::QUERY, ignored);
            Ok(response.negotiated(&method, &headers, memory))
        }
        Endpoint::Backup => {
            let caller = authenticate(app, &parts, memory, outputs)?;
            require_accepted(route, &caller)?;
            app.cms.authorise(&caller, Permission::Admin)?;
            let ignored = ignored_parameters(route, &parts);
            let response = backup::get(app, &parts.method).await?;
            Ok(response.with_optional(ignored_fields::QUERY, ignored))
        }
        Endpoint::Authenticated(permission, handler) => {
            outputs.log.query = match route.body {
                BodyKind::None if route.method == Method::GET => {
                    LoggedQuery::parameters(route.query, &parts)
                }
                _ => LoggedQuery::None,
            };
            let memory = Arc::clone(memory);
            let address = outputs.log.address;
            let request = AuthenticatedRequest {
                route,
                permission,
                handler,
                parts,
                parameters,
                address,
                memory,
                progress: route.reports_progress.then(Arc::default),
            };
            let request = Arc::new(request);
            let response = Arc::clone(&request).respond(app, body, outputs).await;
            // Errors of the checks have the list of ignored parameters too.
            Ok(response.unwrap_or_else(|error| {
                let ignored = ignored_parameters(route, &request.parts);
                (route.error_response)(error).with_optional(ignored_fields::QUERY, ignored)
            }))
        }
    }
}

/// Handles a request that needs no authentication. Clients with too many failed sign-ins are refused
/// before the body is read.
async fn respond_unauthenticated(
    app: &Arc<App>,
    route: &Route,
    handler: UnauthenticatedPostHandler,
    head: Parts,
    body: &mut Body,
    log: &mut RequestLog,
) -> Result<Response> {
    auth::require_own_page(&head.headers)?;
    app.sign_in_limits.check_address(log.address, app.uptime())?;
    let json = if body.is_end_stream() {
        BufferedBody::default()
    } else {
        body::require_json(&head.headers)?;
        let started = Instant::now();
        let json = body::read(app, body, body_limit(app, route.body)).await;
        log.body_time = started.elapsed();
        json?
    };
    let request = UnauthenticatedRequest { head, body: json.bytes.clone(), address: log.address };
    let work = match route.execution {
        Execution::Inline => Work::Read,
        Execution::Blocking(work) => work,
    };
    blocking::run(app, work, move |app| handler(app, &request)).await?
}

/// Ends the session of a request. Without one there is nothing to end, and the cookie is removed.
async fn sign_out(
    app: &Arc<App>,
    parts: Parts,
    memory: &Arc<Reservation>,
    outputs: &mut Outputs,
) -> Result<Response> {
    let is_https = app.public_url.is_https(&parts.headers);
    let caller = match authenticate(app, &parts, memory, outputs) {
        Err(Error::Unauthenticated) if !auth::has_key(&parts.headers, &Query::of(&parts)) => {
            outputs.remove_cookie = Some(cookie::remove_session(is_https));
            return Ok(Response::no_content());
        }
        authenticated => authenticated?,
    };
    auth::require_same_origin(&caller, &parts.method, &parts.headers)?;
    app.cms.authorise(&caller, Permission::Session)?;
    let client = client(outputs.log.address, &parts);
    blocking::run(app, Work::Write, move |app| app.cms.sessions().sign_out(&caller, &client))
        .await??;
    outputs.remove_cookie = Some(cookie::remove_session(is_https));
    Ok(Response::no_content())
}

/// The maximum size of a JSON body.
fn body_limit(app: &App, kind: BodyKind) -> usize {
    let limit = match kind {
        BodyKind::GraphQl => limits::MAX_GRAPHQL_BODY_BYTES,
        BodyKind::Small => limits::MAX_SESSION_BODY_BYTES,
        BodyKind::Settings => limits::MAX_SETTINGS_BYTES,
        BodyKind::None | BodyKind::Json | BodyKind::Form => usize::MAX,
    };
    limit.min(app.body_limit)
}

/// Authenticates the caller, and applies the rate limit of the key. The sessions of a user count as
/// one key.
fn authenticate(
    app: &App,
    parts: &Parts,
    memory: &Arc<Reservation>,
    outputs: &mut Outputs,
) -> Result<Caller> {
    let query = Query::of(parts);
    let authenticate = |app: &App| auth::caller(app, &parts.headers, &query);
    let caller = blocking::run_inline(app, authenticate)?;
    if matches!(caller, Err(Error::Unauthenticated)) && !auth::has_key(&parts.headers, &query) {
        let is_https = app.public_url.is_https(&parts.headers);
        let cookie = cookie::value(&parts.headers, cookie::session_name(is_https));
        outputs.remove_cookie = cookie.map(|_| cookie::remove_session(is_https));
    }
    let caller = caller?.with_memory(Arc::clone(memory));
    outputs.log.caller = Some(caller.clone());
    if app.admits_key(&caller) {
        Ok(caller)
    } else {
        Err(Error::TooManyRequests { retry_after_seconds: 1 })
    }
}

/// Refuses preview tokens, unless the route accepts them.
fn require_accepted(route: &Route, caller: &Caller) -> Result<()> {
    let is_preview = caller.credential == Credential::PreviewToken;
    if is_preview && !route.accepts_preview_tokens { Err(Error::Forbidden) } else { Ok(()) }
}

/// Lists the query parameters that the route does not know.
fn ignored_parameters(route: &Route, parts: &Parts) -> Option<HeaderValue> {
    Query::of(parts).ignored(route.query, &UnknownPaths::default())
}

/// A request to a route that needs a key or a session.
struct AuthenticatedRequest {
    route: &'static Route,
    permission: RequiredPermission,
    handler: Handler,
    parts: Parts,
    parameters: PathParameters,
    /// Of the client.
    address: Option<IpAddr>,
    /// Memory of the response.
    memory: Arc<Reservation>,
    /// Where the route reports it.
    progress: Option<Arc<Progress>>,
}

impl AuthenticatedRequest {
    async fn respond(
        self: Arc<Self>,
        app: &Arc<App>,
        body: &mut Body,
        outputs: &mut Outputs,
    ) -> Result<Response> {
        let mut caller = authenticate(app, &self.parts, &self.memory, outputs)?;
        require_accepted(self.route, &caller)?;
        auth::require_same_origin(&caller, &self.parts.method, &self.parts.headers)?;
        let creates = self.permission.creates_objects(&Query::of(&self.parts));
        if creates && visibility::keeps_dates(&self.parts.headers) {
            caller = caller.keeping_dates();
        }
        let (json, form) = if self.route.body == BodyKind::None {
            // The core checks the permission, in the same order.
            (BufferedBody::default(), Form::default())
        } else {
            self.authorise(app, &caller)?;
            if self.route.body == BodyKind::Small {
                app.sign_in_limits.check_address(self.address, app.uptime())?;
            }
            self.read_body(app, body, &mut outputs.log).await?
        };
        let is_change = self.permission.has_write_guards() && self.parts.method != Method::GET;
        if is_change {
            caller = caller.with_write_guards(write_guards::read(&self.parts, &json.bytes)?);
        }
        let work = match self.route.execution {
            Execution::Blocking(work) => work,
            Execution::Inline => {
                let call = |app: &App| {
                    self.call(app, caller.clone().fast_only(), &json.bytes, Form::default())
                };
                match blocking::run_inline(app, call)? {
                    Err(Error::NotFast) => Work::Read,
                    response => return response,
                }
            }
        };
        let Some(progress) = self.progress.clone().map(CancelOnDrop) else {
            return blocking::run(app, work, move |app| self.call(app, caller, &json.bytes, form))
                .await?;
        };
        if event_stream::is_accepted(&self.parts.headers) {
            let ignored = ignored_parameters(self.route, &self.parts);
            let call = move |app: &App| {
                let response = self.call_handler(app, caller, &json.bytes, form);
                response.unwrap_or_else(Response::from)
            };
            let stream = progress::respond(app, work, progress, call).await?;
            return Ok(stream.with_optional(ignored_fields::QUERY, ignored));
        }
        // Dropped early when the client disconnects.
        let _cancels = progress;
        blocking::run(app, work, move |app| self.call(app, caller, &json.bytes, form)).await?
    }

    fn authorise(&self, app: &App, caller: &Caller) -> Result<()> {
        let query = Query::of(&self.parts);
        let [content_type, id, _] = self.parameters.decode(self.parts.uri.path());
        app.cms.authorise(caller, self.permission.of_request(&content_type, &id, &query))?;
        caller.require_right_to_keep_dates()
    }

    async fn read_body(
        &self,
        app: &Arc<App>,
        body: &mut Body,
        log: &mut RequestLog,
    ) -> Result<(BufferedBody, Form)> {
        let headers = &self.parts.headers;
        if body.is_end_stream() {
            return Ok(Default::default());
        }
        if self.route.body == BodyKind::Form {
            return Ok((BufferedBody::default(), form::read(app, headers, body).await?));
        }
        body::require_json(headers)?;
        let started = Instant::now();
        let json = body::read(app, body, body_limit(app, self.route.body)).await;
        log.body_time = started.elapsed();
        let json = json?;
        if self.route.body == BodyKind::GraphQl {
            log.query = LoggedQuery::GraphQl(json.bytes.clone());
        }
        Ok((json, Form::default()))
    }

    /// Calls the handler, and completes its response for the client.
    ///
    /// # Errors
    /// Only [`Error::NotFast`]; other errors become responses.
    fn call(&self, app: &App, caller: Caller, body: &Bytes, form: Form) -> Result<Response> {
        let response = self.call_handler(app, caller, body, form)?;
        Ok(response.negotiated(&self.parts.method, &self.parts.headers, &self.memory))
    }

    fn call_handler(
        &self,
        app: &App,
        caller: Caller,
        body: &Bytes,
        form: Form,
    ) -> Result<Response> {
        let mut context = RequestContext {
            caller,
            path: self.parameters.decode(self.parts.uri.path()),
            query: Query::parse(query_string(&self.parts)),
            known_parameters: self.route.query,
            head: &self.parts,
            public_url: &app.public_url,
            app,
            address: self.address,
            body,
            form,
            progress: self.progress.clone(),
            ignored_payload: None,
            unknown_paths: UnknownPaths::default(),
        };
        let response = match (self.handler)(&app.cms, &mut context) {
            Err(Error::NotFast) => return Err(Error::NotFast),
            response => response.unwrap_or_else(self.route.error_response),
        };
        let ignored = context.query.ignored(context.known_parameters, &context.unknown_paths);
        Ok(response
            .with_optional(ignored_fields::QUERY, ignored)
            .with_optional(ignored_fields::PAYLOAD, context.ignored_payload))
    }
}
