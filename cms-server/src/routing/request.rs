//! The handling of one request, with the checks in this order:
//!
//! address rate limit 429, unknown path 404, key or session 401, key rate limit 429, method 405,
//! cross-site request 403, permission 403 or 404, media type 415, size 413, then the handler: body
//! syntax 400, and the errors of the core.
//!
//! Key and content types are read once, in one snapshot; the permission is checked against them. A
//! body is read only after that: a client without the right to write cannot make the server read
//! one. On routes without a body, the handler or the service checks the permission; those of backups and
//! sign-out are checked here.

use std::{
    sync::{Arc, LazyLock},
    time::{Duration, Instant},
};

use axum::{
    Router,
    body::{Body, HttpBody},
    http::{
        HeaderMap, HeaderValue, Method, Request, StatusCode, Uri, Version, header, request::Parts,
    },
    response::Response as HttpResponse,
};
use cms_core::{Cms, Error, Permission, Reservation, Result};
use tracing::Instrument;

use super::{
    authenticated_request::AuthenticatedRequest,
    checks::{Outputs, authenticate, body_limit, ignored_parameters, require_accepted},
    path::{RouteMatch, RouteMatcher},
    route::{BodyKind, Endpoint, Execution, Route, UnauthenticatedPostHandler},
    table::ROUTES,
};
use crate::{
    blocking,
    config::ServerConfig,
    consistency::{self, Consistency},
    extract::{
        auth, body, cookie,
        query::{Query, UnknownPaths},
    },
    forward,
    http::{
        backup, changes,
        context::{UnauthenticatedRequest, client},
        images, openid,
    },
    net::{
        connection::{Connection, ResponseBody},
        permits::Work,
    },
    response::{Response, error, ignored_names},
    state::App,
    telemetry::{
        request_log::{LoggedQuery, RequestLog},
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
            Ok(handle(app, connection, request).await.map(Body::new))
        }
    }))
}

/// Handles a request of a connection. An error is a response too.
///
/// The HTTP library moves this future several times, and each move copies all its bytes. So large
/// futures within it are boxed, except those that a cached response needs.
pub(crate) async fn handle(
    app: Arc<App>,
    connection: Arc<Connection>,
    request: Request<Body>,
) -> HttpResponse<ResponseBody> {
    let started = Instant::now();
    let running = connection.start_request();
    let memory = connection.reservation();
    let (parts, mut body) = request.into_parts();
    let waits_for_continue = parts.headers.contains_key(header::EXPECT);
    let announced_bytes = body.size_hint().exact();
    let (method, uri, version) = (parts.method.clone(), parts.uri.clone(), parts.version);
    let request_id = app.request_ids.of(&parts.headers);
    let matched = MATCHER.find(&parts.method, parts.uri.path());
    let route = match matched {
        RouteMatch::Route(route, _) => Some(route),
        _ => None,
    };
    let forwarded = forward::client_address(&app, &parts.headers);
    let address = forwarded.or_else(|| app.config.client_address(connection.peer, &parts.headers));
    let mut outputs = Outputs { log: RequestLog::new(route, address), remove_cookie: None };
    let span = trace::start(route, &parts, &request_id);
    let response = respond(&app, matched, parts, (&request_id, &mut body), &memory, &mut outputs);
    let response = response.instrument(span.clone()).await.unwrap_or_else(Response::from);
    let Outputs { log, remove_cookie } = outputs;
    let response = response.with_optional(header::SET_COOKIE, remove_cookie);
    let response = if depends_on_caller(&uri) { response.varying_by_caller() } else { response };
    let succeeded = response.status.is_success();
    let came_from_another_node = response.has_header(&consistency::POSITION);
    let revokes_access =
        response.revokes_access || succeeded && route.is_some_and(|route| route.revokes_access);
    if revokes_access && !came_from_another_node {
        consistency::wait_for_nodes(&app).await;
    }
    let waits_for_commit = route.is_some_and(Route::waits_for_commit);
    let response = if waits_for_commit && succeeded && !came_from_another_node {
        response.with_optional(consistency::POSITION, consistency::position_header(&app.cms))
    } else {
        response
    };
    let response = response.with_memory(&memory, waits_for_commit, &method);
    trace::end(span, log.caller.as_ref(), response.status);
    let time = started.elapsed();
    app.metrics.count_request(route, response.status, time);
    // A client that waits for "100 Continue" sends no body if it gets the response instead.
    let sends_body = !waits_for_continue || body.size_hint().exact() != announced_bytes;
    if sends_body && !body::discard(&mut body).await {
        connection.mark_body_unread();
    }
    log.write(&app, &response, &method, &uri, &request_id, time);
    let mut response =
        response.into_http(&method, request_id).map(|body| running.respond(body, memory));
    if app.is_draining() && version <= Version::HTTP_11 {
        // So the load balancer sends its next request on a new connection, to a server that is ready.
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

/// Returns whether the responses of a path depend on the key or the session of a request.
fn depends_on_caller(uri: &Uri) -> bool {
    uri.path().starts_with("/api/") || uri.path() == "/metrics"
}

async fn respond(
    app: &Arc<App>,
    matched: RouteMatch,
    parts: Parts,
    (request_id, body): (&HeaderValue, &mut Body),
    memory: &Arc<Reservation>,
    outputs: &mut Outputs,
) -> Result<Response> {
    // Monitoring, pages and their files have no rate limit; images have one.
    let is_unlimited = matches!(
        matched,
        RouteMatch::Route(Route { endpoint: Endpoint::Unauthenticated(_), path, .. }, _)
            if !path.starts_with("/api/")
    );
    if !is_unlimited && outputs.log.address.is_some_and(|address| !app.admits_address(address)) {
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
    if let Some(cluster) = app.cms.cluster().filter(|_| route.may_be_forwarded())
        && let Some(writer) = forward::target(cluster, &parts.headers)
    {
        let request = (&parts, outputs.log.address);
        match Box::pin(app.forwarding.send(app, &writer, request, request_id, body)).await {
            Ok(Some(response)) => return Ok(response),
            Ok(None) => {}
            Err(error) => return Ok((route.error_response)(error)),
        }
    }
    if let Some(needed) = needed_consistency(app, route) {
        let needed = (needed, route.reads_content());
        if let Err(error) = app.replica_sync.wait(&app.cms, needed, &parts.headers).await {
            return Ok((route.error_response)(error));
        }
    }
    match route.endpoint {
        Endpoint::Unauthenticated(handler) if route.execution == Execution::Inline => {
            blocking::run_inline(app, |app| handler(app, &parts))
        }
        Endpoint::Unauthenticated(handler) => {
            blocking::run(app, route.work, move |app| handler(app, &parts)).await
        }
        Endpoint::Image => {
            let segments: Vec<_> = parameters.decode_segments(parts.uri.path()).collect();
            let segments: Vec<&str> = segments.iter().map(AsRef::as_ref).collect();
            let query = Query::of(&parts);
            let mut response = Box::pin(images::get(app, &parts, &query, &segments)).await;
            // The file may have been uploaded on another node a moment ago.
            if response.status == StatusCode::NOT_FOUND
                && wait_for_newest_state(app, route, &parts.headers).await
            {
                response = Box::pin(images::get(app, &parts, &query, &segments)).await;
            }
            Ok(response.with_optional(
                ignored_names::QUERY,
                query.ignored(route.query, &UnknownPaths::default()),
            ))
        }
        Endpoint::UnauthenticatedPost(handler) => {
            let ignored = ignored_parameters(route, &parts);
            let log = &mut outputs.log;
            let response = respond_unauthenticated(app, route, handler, parts, body, log);
            let response = Box::pin(response).await.unwrap_or_else(route.error_response);
            Ok(response.with_optional(ignored_names::QUERY, ignored))
        }
        Endpoint::OpenId(step) => {
            let response = openid::respond(app, step, &parts, outputs.log.address);
            let response = Box::pin(response).await.unwrap_or_else(Response::from);
            Ok(response.with_optional(ignored_names::QUERY, ignored_parameters(route, &parts)))
        }
        Endpoint::SignOut => Box::pin(sign_out(app, parts, memory, outputs)).await,
        Endpoint::Changes => {
            let (caller, _) = authenticate(app, &parts, memory, outputs)?;
            auth::require_named_user(&caller, &parts.headers)?;
            require_accepted(route, &caller)?;
            let ignored = ignored_parameters(route, &parts);
            let (method, headers) = (parts.method.clone(), parts.headers.clone());
            let response = Box::pin(changes::get(app, parts)).await;
            let response = response.unwrap_or_else(Response::from);
            let response = response.with_optional(ignored_names::QUERY, ignored);
            Ok(response.negotiated(&method, &headers, memory, &app.response_cache))
        }
        Endpoint::Backup => {
            let (caller, _) = authenticate(app, &parts, memory, outputs)?;
            auth::require_named_user(&caller, &parts.headers)?;
            require_accepted(route, &caller)?;
            app.cms.authorise(&caller, Permission::Admin)?;
            let ignored = ignored_parameters(route, &parts);
            let response = Box::pin(backup::get(app, &parts.method)).await?;
            Ok(response.with_optional(ignored_names::QUERY, ignored))
        }
        Endpoint::Authenticated(permission, handler) => {
            outputs.log.query = match route.body {
                BodyKind::None if route.method == Method::GET => LoggedQuery::parameters(&parts),
                _ => LoggedQuery::None,
            };
            let request = Arc::new(AuthenticatedRequest {
                route,
                permission,
                handler,
                parts,
                parameters,
                address: outputs.log.address,
                memory: Arc::clone(memory),
                progress: route.has_progress.then(Arc::default),
            });
            let mut response = Arc::clone(&request).respond(app, body, outputs).await;
            // The key or session may have been created on another node a moment ago.
            if matches!(response, Err(Error::Unauthenticated))
                && Box::pin(wait_for_newest_state(app, route, &request.parts.headers)).await
            {
                outputs.remove_cookie = None;
                response = Box::pin(Arc::clone(&request).respond(app, body, outputs)).await;
            }
            // Errors of the checks have the list of ignored parameters too.
            Ok(response.unwrap_or_else(|error| {
                let ignored = ignored_parameters(route, &request.parts);
                (route.error_response)(error).with_optional(ignored_names::QUERY, ignored)
            }))
        }
    }
}

/// How current the data of a node has to be for a route; none for routes without content.
fn needed_consistency(app: &App, route: &Route) -> Option<Consistency> {
    let configured_or = |default| app.config.read_consistency.unwrap_or(default);
    match route.endpoint {
        Endpoint::Unauthenticated(_) => None,
        // Files never change; a deleted one may be sent for two seconds more.
        Endpoint::Image => Some(configured_or(Consistency::Within(Duration::from_secs(2)))),
        Endpoint::Authenticated(..) if route.reads_content() => {
            Some(configured_or(Consistency::Strict))
        }
        _ => Some(Consistency::Strict),
    }
}

/// Waits until the replica has the newest state, if the route may read an older one. Returns false if there is no
/// cluster, if the route always reads the newest state, or if the wait fails.
async fn wait_for_newest_state(app: &App, route: &Route, headers: &HeaderMap) -> bool {
    app.cms.cluster().is_some()
        && needed_consistency(app, route) != Some(Consistency::Strict)
        && app.replica_sync.wait(&app.cms, (Consistency::Strict, false), headers).await.is_ok()
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
    auth::require_page_of_this_server(&head.headers)?;
    app.sign_in_limits.check_address(log.address, app.uptime())?;
    let limit = body_limit(app, route.body);
    let (json, time) = body::read_json(app, &head.headers, body, limit).await;
    log.body_time = time;
    let json = json?;
    let request = UnauthenticatedRequest { head, body: json.bytes.clone(), address: log.address };
    blocking::run(app, route.work, move |app| handler(app, &request)).await?
}

/// Ends the session of a request, and removes its cookie; without a session, only removes the cookie.
async fn sign_out(
    app: &Arc<App>,
    parts: Parts,
    memory: &Arc<Reservation>,
    outputs: &mut Outputs,
) -> Result<Response> {
    let is_https = app.config.is_https(&parts.headers);
    let (caller, _) = match authenticate(app, &parts, memory, outputs) {
        Err(Error::Unauthenticated) if !auth::has_key(&parts.headers, &Query::of(&parts)) => {
            outputs.remove_cookie = Some(cookie::remove_session(is_https));
            return Ok(Response::no_content());
        }
        authenticated => authenticated?,
    };
    auth::require_named_user(&caller, &parts.headers)?;
    auth::require_same_origin(&caller, &parts.method, &parts.headers)?;
    app.cms.authorise(&caller, Permission::Session)?;
    let client = client(outputs.log.address, &parts);
    blocking::run(app, Work::Write, move |app| app.cms.sessions().sign_out(&caller, &client))
        .await??;
    outputs.remove_cookie = Some(cookie::remove_session(is_https));
    Ok(Response::no_content())
}
