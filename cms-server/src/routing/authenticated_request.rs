//! A request with a key or a session, from its authentication to its response.

use std::{net::IpAddr, sync::Arc};

use axum::{
    body::{Body, Bytes, HttpBody},
    http::{Method, request::Parts},
};
use cms_core::{Caller, Error, Progress, Reservation, Result, limits};
use tracing::Span;

use super::{
    checks::{Outputs, authenticate, body_limit, ignored_parameters, require_accepted},
    path::PathParameters,
    permissions::RequiredPermission,
    route::{BodyKind, Execution, Handler, Route},
};
use crate::{
    blocking,
    extract::{
        auth,
        body::{self, BufferedBody},
        form::{self, Form},
        header::accepts,
        query::{Query, UnknownPaths},
        visibility, write_guards,
    },
    http::{
        context::RequestContext,
        event_stream,
        progress::{self, CancelOnDrop},
    },
    net::permits::{Permit, Work},
    response::{
        Response,
        cache::{Lookup, PendingEntry},
        ignored_names,
    },
    state::App,
    telemetry::request_log::{LoggedQuery, RequestLog},
};

/// A request to a route that needs a key or a session.
pub(super) struct AuthenticatedRequest {
    pub(super) route: &'static Route,
    pub(super) permission: RequiredPermission,
    pub(super) handler: Handler,
    pub(super) parts: Parts,
    pub(super) parameters: PathParameters,
    /// The address of the client.
    pub(super) address: Option<IpAddr>,
    /// Memory of the response.
    pub(super) memory: Arc<Reservation>,
    /// Only on routes with progress. It is cancelled when the client disconnects.
    pub(super) progress: Option<Arc<Progress>>,
}

/// The result of a handler that ran on the thread of the connection.
enum InlineResult {
    Response(Response),
    /// The handler has to run again on a thread that may block, with the permit if it already has one.
    WouldBlock(Option<Permit>),
}

impl AuthenticatedRequest {
    pub(super) async fn respond(
        self: Arc<Self>,
        app: &Arc<App>,
        body: &mut Body,
        outputs: &mut Outputs,
    ) -> Result<Response> {
        let (mut caller, newest) = authenticate(app, &self.parts, &self.memory, outputs)?;
        require_accepted(self.route, &caller)?;
        auth::require_named_user(&caller, &self.parts.headers)?;
        auth::require_same_origin(&caller, &self.parts.method, &self.parts.headers)?;
        let creates = self.permission.creates_objects(&Query::of(&self.parts));
        if creates && visibility::keeps_dates(&self.parts.headers) {
            caller.keeps_dates = true;
        }
        let (json, form) = if self.route.body == BodyKind::None {
            // No body to read: the service checks the permission before everything else.
            (BufferedBody::default(), Form::default())
        } else {
            self.authorise(app, &caller)?;
            if self.route.body == BodyKind::Credentials {
                app.sign_in_limits.check_address(self.address, app.uptime())?;
            }
            Box::pin(self.read_body(app, body, &mut outputs.log)).await?
        };
        let is_change = self.permission.has_write_guards() && self.parts.method != Method::GET;
        if is_change {
            let is_post = self.parts.method == Method::POST && !json.bytes.is_empty();
            let takes_key = is_post && self.permission.takes_idempotency_key();
            let repeatable = takes_key.then_some(&*json.bytes);
            caller.write_guards = write_guards::read(&self.parts, repeatable)?;
        }
        let mut entry = None;
        if self.route.is_cached {
            match app.response_cache.find(newest, &caller, &self.parts) {
                Lookup::Hit(cached) => return Ok(self.negotiated(app, Response::from(cached))),
                Lookup::Miss(new) => entry = new,
            }
        }
        let work = self.route.work;
        let is_short = json.bytes.len() <= limits::FAST_WRITE_BYTES;
        let mut permit = None;
        if self.route.execution == Execution::Inline && is_short {
            match self.respond_inline(app, &caller, &json.bytes, entry.as_ref()).await? {
                InlineResult::Response(response) => return Ok(response),
                InlineResult::WouldBlock(kept) => permit = kept,
            }
        }
        // When the client disconnects, this future is dropped, and with it this guard, which cancels the work.
        let mut progress = self.progress.clone().map(CancelOnDrop);
        if self.route.has_progress
            && accepts(&self.parts.headers, event_stream::MEDIA_TYPE)
            && let Some(progress) = progress.take()
        {
            let ignored = ignored_parameters(self.route, &self.parts);
            let call = move |app: &App| {
                let response = self.call_handler(app, caller, &json.bytes, form);
                response.unwrap_or_else(Response::from)
            };
            let stream = Box::pin(progress::respond(app, work, progress, call)).await?;
            return Ok(stream.with_optional(ignored_names::QUERY, ignored));
        }
        let permit = match permit {
            Some(permit) => permit,
            None => app.permits.acquire(work).await?,
        };
        let call = move |app: &App| self.call(app, caller, &json.bytes, form, entry.as_ref());
        Box::pin(blocking::run_with_permit(app, work, permit, call)).await?
    }

    /// Calls the handler on the thread of the connection, and awaits the commit of a write.
    async fn respond_inline(
        &self,
        app: &Arc<App>,
        caller: &Caller,
        body: &Bytes,
        entry: Option<&PendingEntry>,
    ) -> Result<InlineResult> {
        let is_write = self.route.work == Work::Write;
        let permit = if is_write { Some(app.permits.acquire(Work::Write).await?) } else { None };
        let span = if is_write { blocking::span(Work::Write) } else { Span::none() };
        let caller = caller.clone().fast_only();
        let call =
            |app: &App| span.in_scope(|| self.call(app, caller, body, Form::default(), entry));
        match blocking::run_inline(app, call)? {
            Err(Error::WouldBlock) => Ok(InlineResult::WouldBlock(permit)),
            Ok(response) if response.is_pending() => {
                let response = response.committed(self.route.error_response).await;
                Ok(InlineResult::Response(self.negotiated(app, response)))
            }
            response => response.map(InlineResult::Response),
        }
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
        let limit = body_limit(app, self.route.body);
        let (json, time) = body::read_json(app, headers, body, limit).await;
        log.body_time = time;
        let json = json?;
        if self.route.body == BodyKind::GraphQl {
            log.query = LoggedQuery::GraphQl(json.bytes.clone());
        }
        Ok((json, Form::default()))
    }

    /// Calls the handler, and completes its response for the client.
    ///
    /// # Errors
    /// Only [`Error::WouldBlock`]; other errors become responses.
    fn call(
        &self,
        app: &App,
        caller: Caller,
        body: &Bytes,
        form: Form,
        entry: Option<&PendingEntry>,
    ) -> Result<Response> {
        let response = self.call_handler(app, caller, body, form)?;
        let response = match entry {
            Some(entry) => response.insert_into(&app.response_cache, &app.cms, entry),
            None => response,
        };
        Ok(self.negotiated(app, response))
    }

    fn negotiated(&self, app: &App, response: Response) -> Response {
        let Parts { method, headers, .. } = &self.parts;
        response.negotiated(method, headers, &self.memory, &app.response_cache)
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
            query: Query::of(&self.parts),
            known_parameters: self.route.query,
            head: &self.parts,
            app,
            address: self.address,
            body,
            form,
            progress: self.progress.clone(),
            ignored_payload: None,
            unknown_paths: UnknownPaths::default(),
        };
        let response = match (self.handler)(&app.cms, &mut context) {
            Err(Error::WouldBlock) => return Err(Error::WouldBlock),
            response => response.unwrap_or_else(self.route.error_response),
        };
        let ignored = context.query.ignored(context.known_parameters, &context.unknown_paths);
        Ok(response
            .with_optional(ignored_names::QUERY, ignored)
            .with_optional(ignored_names::PAYLOAD, context.ignored_payload))
    }
}
