//! The way of one request, in the order of checks of contract 1.4:
//!
//! unknown path 404 → key 401 → method 405 → key kind, type and scope 403, 404, 403 → content
//! type 415 → size 413 → the handler: body syntax 400 and whatever the core says.
//!
//! All but reading a body happens in one crossing to blocking work. A request with a body crosses
//! twice: nobody without the right to write makes the server read what they send. Pictures have a way
//! of their own, [`images`].

use std::{borrow::Cow, sync::Arc, time::Instant};

use axum::{
    body::{Body, Bytes, HttpBody},
    http::{HeaderValue, Method, Request, header, request::Parts},
    response::Response,
};
use cms_core::{
    Caller, Cms, Error, Permission, Reservation, Result, limits, wire::condition::Conditions,
};
use tracing::Instrument;

use crate::{
    answer::Answer,
    blocking::{self, Work},
    connection::{Connection, ResponseBody},
    deprecation, error,
    extract::{
        auth,
        body::{self, Whole},
        conditions::conditions,
        form::{self, Form},
        mode,
        query::Query,
    },
    http::{backup, changes, images},
    log::Line,
    path::{Found, Parameters, Row},
    router::{Action, Handler, Needs, Reads, Route},
    site::Site,
    state::App,
    target::RawQuery,
    trace,
};

/// A request as handlers see it: who asks, for what, with what.
pub(crate) struct Call<'a> {
    pub(crate) caller: Caller,
    /// Parameters of the path, decoded; empty where the route has fewer.
    pub(crate) path: [Cow<'a, str>; 3],
    pub(crate) query: Query<'a>,
    /// The head of the request.
    pub(crate) head: &'a Parts,
    pub(crate) site: &'a Site,
    /// JSON; empty where the route reads none.
    pub(crate) body: &'a Bytes,
    /// Empty where the route reads none.
    pub(crate) form: Form,
    /// Payload keys that are ignored (contract 1.11).
    pub(crate) ignored_payload: Option<HeaderValue>,
    /// Paths of `filters` that mean nothing.
    pub(crate) unknown_filters: Vec<String>,
}

/// Answers a request of a connection. Never fails: what goes wrong is an answer too.
pub(crate) async fn answer(
    app: Arc<App>,
    connection: &Arc<Connection>,
    request: Request<Body>,
) -> Response<ResponseBody> {
    let started = Instant::now();
    let running = connection.begin();
    let memory = connection.reserve();
    let (parts, mut body) = request.into_parts();
    // Who asks before sending a body is told no, not to go on.
    let sends_unasked = !parts.headers.contains_key(header::EXPECT);
    let (method, uri) = (parts.method.clone(), parts.uri.clone());
    let request_id = app.request_ids.of(&parts.headers);
    let mut line = Line::of(&app, connection.peer, &memory, &parts);
    let found = app.table.find(&parts.method, parts.uri.path());
    if let Found::Route(row, _) = found {
        line.row = Some(row);
    }
    let span = trace::begin(line.row, &parts, &request_id);
    let carried_out = carry_out(&app, found, parts, &mut body, &mut line);
    let answer = carried_out.instrument(span.clone()).await.unwrap_or_else(Answer::from);
    let work = line.row.map(|row| row.route.work);
    let answer = answer.accounted(&memory, work, &method);
    trace::end(span, &line, &answer);
    let time = started.elapsed();
    app.metrics.count(line.row, answer.status, time);
    if sends_unasked {
        body::drain(&mut body).await;
    }
    line.write(&app, &answer, &method, &uri, &request_id, time);
    let response = answer.into_response(&method, request_id);
    response.map(|body| running.respond(body, memory))
}

async fn carry_out(
    app: &Arc<App>,
    found: Found,
    parts: Parts,
    body: &mut Body,
    line: &mut Line,
) -> Result<Answer> {
    // Whoever watches over the process asks as often as they like.
    let is_watched = line.row.is_some_and(|row| matches!(row.route.action, Action::Public(_)));
    if !is_watched && line.address.is_some_and(|address| !app.admits_address(address)) {
        return Err(Error::TooManyRequests);
    }
    if parts.method == Method::OPTIONS {
        return Ok(Answer::preflight());
    }
    match found {
        Found::Nothing => Ok(error::unknown_path()),
        Found::OtherMethod { allow, public: true } => Ok(error::method_not_allowed(allow)),
        Found::OtherMethod { allow, public: false } => {
            identify(app, &parts, line)?;
            Ok(error::method_not_allowed(allow))
        }
        Found::Route(Row { route, .. }, parameters) => match route.action {
            Action::Public(handler) => {
                blocking::run(app, route.work, move |app| handler(app, &parts)).await
            }
            Action::Image => {
                let query = Query::parse(query_text(&parts));
                let answer = images::answer(app, &parts, &query, parameters).await;
                Ok(answer.with_optional(deprecation::QUERY, query.ignored(route.query, &[])))
            }
            Action::Changes => {
                identify(app, &parts, line)?;
                Ok(changes::answer(app, route, parts, &line.memory).await)
            }
            Action::Backup => {
                let ignored = Query::parse(query_text(&parts)).ignored(route.query, &[]);
                let caller = identify(app, &parts, line)?;
                app.cms.authorise(&caller, Permission::Manage)?;
                let answer = backup::answer(app, &parts.method).await?;
                Ok(answer.with_optional(deprecation::QUERY, ignored))
            }
            Action::Keyed(needs, handler) => {
                let memory = Arc::clone(&line.memory);
                let errand = Arc::new(Errand { route, needs, handler, parts, parameters, memory });
                let answered = Arc::clone(&errand).carry_out(app, body, line).await;
                // Who is refused early is told what was ignored, too.
                Ok(answered.unwrap_or_else(|error| {
                    (route.failure)(error).with_optional(deprecation::QUERY, errand.ignored())
                }))
            }
        },
    }
}

/// Finds the caller, who must not ask too often.
fn identify(app: &App, parts: &Parts, line: &mut Line) -> Result<Caller> {
    let query = Query::parse(query_text(parts));
    let caller = blocking::now(app, |app| auth::caller(&app.cms, &parts.headers, &query))??;
    let caller = caller.with_memory(Arc::clone(&line.memory));
    line.caller = Some(caller.clone());
    if app.admits_key(&caller) { Ok(caller) } else { Err(Error::TooManyRequests) }
}

/// The query as sent: also with the characters that a URI may not hold.
pub(crate) fn query_text(parts: &Parts) -> &str {
    match parts.extensions.get::<RawQuery>() {
        Some(RawQuery(text)) => text,
        None => parts.uri.query().unwrap_or(""),
    }
}

/// A request on its way through a row that asks for a key.
struct Errand {
    route: &'static Route,
    needs: Needs,
    handler: Handler,
    parts: Parts,
    parameters: Parameters,
    /// What the response takes.
    memory: Arc<Reservation>,
}

impl Errand {
    async fn carry_out(
        self: Arc<Self>,
        app: &Arc<App>,
        body: &mut Body,
        line: &mut Line,
    ) -> Result<Answer> {
        let mut caller = identify(app, &self.parts, line)?;
        if self.needs.takes_dates() && mode::keeps_dates(&self.parts.headers) {
            caller = caller.keeping_dates();
        }
        match self.route.reads {
            Reads::Nothing => self.run(app, caller).await,
            Reads::Json | Reads::Query | Reads::Form => {
                self.run_with_body(app, caller, body, line).await
            }
        }
    }

    /// A request without a body: everything in one crossing, or in none when it is quick. What
    /// the key must allow is checked by the call itself, in the same order.
    async fn run(self: Arc<Self>, app: &Arc<App>, mut caller: Caller) -> Result<Answer> {
        if self.route.work == Work::Write {
            caller = caller.with_conditions(self.conditions(&[])?);
        }
        if let Some(quick) = self.route.quick {
            let tried = blocking::now(app, |app| {
                self.call(app, caller.clone(), &Bytes::new(), Form::default(), quick)
            })?;
            if let Some(answer) = tried {
                return Ok(answer);
            }
        }
        let work = self.route.work;
        blocking::run(app, work, move |app| {
            self.perform(app, caller, &Bytes::new(), Form::default())
        })
        .await
    }

    /// A request with a body, which is looked at only once the caller may write.
    async fn run_with_body(
        self: Arc<Self>,
        app: &Arc<App>,
        caller: Caller,
        body: &mut Body,
        line: &mut Line,
    ) -> Result<Answer> {
        blocking::now(app, |app| self.admit(app, &caller))??;
        let headers = &self.parts.headers;
        let (json, form) = if body.is_end_stream() {
            (Whole::default(), Form::default())
        } else if self.route.reads == Reads::Form {
            (Whole::default(), form::read(app, headers, body).await?)
        } else {
            body::require_json(headers)?;
            let is_query = self.route.reads == Reads::Query;
            let limit = if is_query { limits::MAX_GRAPHQL_BODY_BYTES } else { usize::MAX };
            let asked = Instant::now();
            let read = body::read(app, body, limit.min(app.body_limit)).await;
            line.waited = asked.elapsed();
            let json = read?;
            if is_query {
                line.graphql = json.bytes.clone();
            }
            (json, Form::default())
        };
        let caller = caller.with_conditions(self.conditions(&json.bytes)?);
        let work = self.route.work;
        blocking::run(app, work, move |app| self.perform(app, caller, &json.bytes, form)).await
    }

    /// Reads what the change depends on, where a request is one change of objects.
    fn conditions(&self, json: &[u8]) -> Result<Conditions> {
        match self.needs {
            Needs::Content(_) | Needs::BatchCreate | Needs::Duplicate => {
                conditions(&self.parts, json)
            }
            _ => Ok(Conditions::default()),
        }
    }

    /// Names the query parameters that the route does not know (contract 1.11).
    fn ignored(&self) -> Option<HeaderValue> {
        Query::parse(query_text(&self.parts)).ignored(self.route.query, &[])
    }

    /// Checks that the caller may do this.
    fn admit(&self, app: &App, caller: &Caller) -> Result<()> {
        let query = Query::parse(query_text(&self.parts));
        let [name, ..] = self.parameters.read(self.parts.uri.path());
        app.cms.authorise(caller, self.needs.permission(&name, &query))?;
        caller.require_right_to_keep_dates()
    }

    fn perform(&self, app: &App, caller: Caller, body: &Bytes, form: Form) -> Answer {
        let handler = |cms: &Cms, call: &mut Call<'_>| (self.handler)(cms, call).map(Some);
        let answer = self.call(app, caller, body, form, handler);
        answer.expect("a handler that is not only quick always answers")
    }

    /// Unpacks the request for a handler, and packs what it answers.
    fn call(
        &self,
        app: &App,
        caller: Caller,
        body: &Bytes,
        form: Form,
        handler: impl Fn(&Cms, &mut Call<'_>) -> Result<Option<Answer>>,
    ) -> Option<Answer> {
        let path = self.parameters.read(self.parts.uri.path());
        let query = Query::parse(query_text(&self.parts));
        let (head, site) = (&self.parts, &app.site);
        let (ignored_payload, unknown_filters) = (None, Vec::new());
        let mut call =
            Call { caller, path, query, head, site, body, form, ignored_payload, unknown_filters };
        let answer = handler(&app.cms, &mut call)
            .unwrap_or_else(|error| Some((self.route.failure)(error)))?;
        let ignored = call.query.ignored(self.route.query, &call.unknown_filters);
        Some(
            answer
                .with_optional(deprecation::QUERY, ignored)
                .with_optional(deprecation::PAYLOAD, call.ignored_payload)
                .finished_for(&self.parts.method, &self.parts.headers, &self.memory),
        )
    }
}
