//! The table of routes: every route of the server is a row here and nowhere else.
//!
//! `Allow` headers, the ignored query parameters of contract 1.11 and the coverage test come from
//! the same rows. Reserved words of contract 1.7 stand before the parameter that they win over.

use std::sync::Arc;

use axum::{
    Router,
    body::Body,
    http::{Method, Request, request::Parts},
};
use cms_core::{Access, Cms, Error, Permission, Result, paging};

use crate::{
    blocking::Work,
    config::ServerConfig,
    extract::query::Query,
    http::{
        auth_context, batch, check, content_types, docs, graphql, health, keys, media, objects,
        openapi, publish, search, webhooks, workflow,
    },
    net::connection::Connection,
    response::Answer,
    response::error,
    routing::request::{self, Call},
    state::App,
};

/// One row: what is asked, what it takes, who answers.
pub struct Route {
    pub method: Method,
    /// Segments in braces are parameters; one with a star stands for all that follow.
    pub path: &'static str,
    pub(crate) action: Action,
    pub(crate) work: Work,
    /// Answers without crossing to blocking work when that is certain to be quick.
    pub(crate) quick: Option<QuickHandler>,
    pub(crate) reads: Reads,
    /// How it is told that something went wrong before or in the handler.
    pub(crate) failure: fn(Error) -> Answer,
    /// Query parameters that the route knows; `[]` at the end marks an array, `[*]` a map.
    pub(crate) query: &'static [&'static str],
}

/// Who answers, and what the key must allow.
#[derive(Clone, Copy)]
pub(crate) enum Action {
    /// Asks for no key.
    Public(PublicHandler),
    /// Asks for no key: a picture, which may take several steps.
    Image,
    /// Asks for any key: a page of changes, or a stream of them that goes on.
    Changes,
    Keyed(Needs, Handler),
    /// A backup, which takes long and is sent as it is made.
    Backup,
}

/// What a route takes from a body; any other body is refused, or ignored by those that take none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reads {
    Nothing,
    Json,
    /// A query of GraphQL: JSON that nobody sends much of.
    Query,
    /// A form with a file.
    Form,
}

/// Answers whoever asks.
pub(crate) type PublicHandler = fn(&App, &Parts) -> Answer;

/// Unpacks a call, asks the core once, packs the answer.
pub(crate) type Handler = fn(&Cms, &mut Call<'_>) -> Result<Answer>;

/// The same, or none when the answer may take long.
pub(crate) type QuickHandler = fn(&Cms, &mut Call<'_>) -> Result<Option<Answer>>;

/// What a key must allow (contract 10). The type is the first parameter of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Needs {
    AnyKey,
    Content(Access),
    /// Create media objects.
    Upload,
    /// Create, and read what is copied.
    Duplicate,
    /// Create, and update when existing objects are to be replaced.
    BatchCreate,
    Query,
    ReadType,
    ChangeType,
    AdministerTypes,
    Manage,
}

impl Needs {
    /// Returns what a request asks of the core's permission check.
    pub(crate) fn permission<'a>(self, name: &'a str, query: &Query<'_>) -> Permission<'a> {
        let content = |needs| Permission::Content { content_type: name, needs };
        match self {
            Self::AnyKey => Permission::AnyKey,
            Self::Content(needs) => content(needs),
            Self::Upload => Permission::Content { content_type: "_media", needs: Access::CREATE },
            Self::Duplicate => content(Access::CREATE | Access::READ),
            Self::BatchCreate if paging::boolean(query.get("updateExisting")) => {
                content(Access::CREATE | Access::UPDATE)
            }
            Self::BatchCreate => content(Access::CREATE),
            Self::Query => Permission::Query,
            Self::ReadType => Permission::ReadType { content_type: name },
            Self::ChangeType => Permission::ChangeType { content_type: name },
            Self::AdministerTypes => Permission::AdministerTypes,
            Self::Manage => Permission::Manage,
        }
    }
}

impl Needs {
    /// Tells whether requests create objects, which may have dates of their own then.
    pub(crate) fn takes_dates(self) -> bool {
        matches!(self, Self::BatchCreate | Self::Content(Access::CREATE))
    }
}

impl Route {
    const fn new(method: Method, path: &'static str, work: Work, action: Action) -> Self {
        let (quick, reads, query): (_, _, &[&str]) = (None, Reads::Nothing, &[]);
        let failure = <Answer as From<Error>>::from;
        Self { method, path, action, work, quick, reads, failure, query }
    }

    /// A row that asks for no key.
    const fn public(path: &'static str, handler: PublicHandler) -> Self {
        Self::new(Method::GET, path, Work::Short, Action::Public(handler))
    }

    /// A row of pictures.
    const fn image(path: &'static str) -> Self {
        Self::new(Method::GET, path, Work::Short, Action::Image)
    }

    /// A row that reads.
    const fn get(path: &'static str, work: Work, needs: Needs, handler: Handler) -> Self {
        Self::new(Method::GET, path, work, Action::Keyed(needs, handler))
    }

    /// A row that changes something and reads a JSON body.
    const fn write(method: Method, path: &'static str, needs: Needs, handler: Handler) -> Self {
        let mut row = Self::new(method, path, Work::Write, Action::Keyed(needs, handler));
        row.reads = Reads::Json;
        row
    }

    /// A row that sends a backup.
    const fn backup(path: &'static str) -> Self {
        Self::new(Method::GET, path, Work::File, Action::Backup)
    }

    /// A row that reads a form with a file.
    const fn upload(path: &'static str, handler: Handler) -> Self {
        let action = Action::Keyed(Needs::Upload, handler);
        let mut row = Self::new(Method::POST, path, Work::Inspect, action);
        row.reads = Reads::Form;
        row
    }

    /// A row that answers queries, and tells failures as GraphQL has them.
    const fn graphql(method: Method, path: &'static str, reads: Reads, handler: Handler) -> Self {
        let mut row = Self::new(method, path, Work::Read, Action::Keyed(Needs::Query, handler));
        row.reads = reads;
        row.failure = error::of_graphql;
        row
    }

    /// The same row, where a body is ignored whatever its type.
    const fn without_body(mut self) -> Self {
        self.reads = Reads::Nothing;
        self
    }

    /// The same row on a thread that may block, for longer than a look-up.
    const fn beside(mut self) -> Self {
        self.work = Work::File;
        self
    }

    /// The same row with a handler that is tried first.
    const fn quick(mut self, handler: QuickHandler) -> Self {
        self.quick = Some(handler);
        self
    }

    /// The same row with the query parameters that it knows.
    const fn query(mut self, names: &'static [&'static str]) -> Self {
        self.query = names;
        self
    }

    /// Tells whether the row asks for no key.
    pub fn is_public(&self) -> bool {
        matches!(self.action, Action::Public(_) | Action::Image)
    }
}

const READ: Needs = Needs::Content(Access::READ);
const CREATE: Needs = Needs::Content(Access::CREATE);
const UPDATE: Needs = Needs::Content(Access::UPDATE);
const DELETE: Needs = Needs::Content(Access::DELETE);
const READ_REMOVED: Needs = Needs::Content(Access::READ_REMOVED);

const TYPES: &str = "/api/v1/internal/contenttype";
const TYPE: &str = "/api/v1/internal/contenttype/{name}";
const OBJECTS: &str = "/api/v1/content/{name}";
const OBJECT: &str = "/api/v1/content/{name}/{id}";
const BATCH: &str = "/api/v1/content/{name}/batch";
const VERSIONS: &str = "/api/v1/content/{name}/{id}/version";
const SCHEDULE: &str = "/api/v1/content/{name}/{id}/schedule";
const OBJECT_STATE: &str = "/api/v1/workflow/{content_type}/{object_id}";
const WORKFLOWS: &str = "/api/v1/internal/workflow";
const WORKFLOW: &str = "/api/v1/internal/workflow/{id}";
const KEYS: &str = "/api/v1/internal/key";
const GRAPHQL: &str = "/api/graphql";
const GRAPHQL_V2: &str = "/api/v2/graphql";
const GRAPHQL_PARAMETERS: &[&str] = &["query", "variables", "operationName", "extensions"];
const WEBHOOKS: &str = "/api/v1/internal/webhook";

/// Every route of the server.
#[rustfmt::skip]
pub static ROUTES: &[Route] = &[
    Route::public("/healthz", health::alive),
    Route::public("/readyz", health::ready).beside(),
    Route::public("/metrics", health::metrics).beside(),

    Route::get("/api/auth-context", Work::Short, Needs::AnyKey, auth_context::get),

    Route::get(TYPES, Work::Read, Needs::AnyKey, content_types::list)
        .query(&["page", "limit", "order_by", "order_direction", "name", "label", "names[]", "internal"]),
    Route::write(Method::POST, TYPES, Needs::AdministerTypes, content_types::create),
    Route::write(Method::POST, "/api/v1/internal/contenttype/plan", Needs::AdministerTypes, content_types::plan),
    Route::write(Method::POST, "/api/v1/internal/contenttype/apply", Needs::AdministerTypes, content_types::apply),
    Route::get(TYPE, Work::Short, Needs::ReadType, content_types::get).query(&["resolveRef", "strictSchema"]),
    Route::write(Method::PUT, TYPE, Needs::ChangeType, content_types::update),
    Route::write(Method::DELETE, TYPE, Needs::ChangeType, content_types::delete).without_body(),
    Route::write(Method::POST, "/api/v1/internal/contenttype/{name}/purge", Needs::ChangeType, content_types::purge),
    Route::write(Method::POST, "/api/v1/spaces/{space}/purge", Needs::AdministerTypes, content_types::purge_space)
        .without_body(),

    Route::get(OBJECTS, Work::Read, READ, objects::list)
        .query(&["page", "limit", "order_by", "order_direction", "empty_first", "hydrate", "filters", "ids[]"])
        .quick(objects::list_if_quick),
    Route::write(Method::POST, OBJECTS, CREATE, objects::create),
    Route::write(Method::POST, BATCH, Needs::BatchCreate, batch::create).query(&["updateExisting"]),
    Route::write(Method::PATCH, BATCH, UPDATE, batch::patch),
    Route::write(Method::POST, "/api/v1/content/{name}/batch-delete", DELETE, batch::delete),
    Route::write(Method::POST, "/api/v1/content/{name}/batch-publish", UPDATE, publish::batch_publish),
    Route::write(Method::POST, "/api/v1/content/{name}/batch-unpublish", UPDATE, publish::batch_unpublish),
    Route::write(Method::POST, "/api/v1/content/{name}/batch-archive", UPDATE, publish::batch_archive),
    Route::get("/api/v1/content/{name}/removed", Work::Read, READ_REMOVED, objects::removed)
        .query(&["deletedAfter"]),
    Route::get(OBJECT, Work::Read, READ, objects::get).query(&["hydrate"]).quick(objects::get_if_quick),
    Route::write(Method::PUT, OBJECT, UPDATE, objects::replace),
    Route::write(Method::PATCH, OBJECT, UPDATE, objects::patch),
    Route::write(Method::DELETE, OBJECT, DELETE, objects::delete).without_body(),
    Route::get(VERSIONS, Work::Read, READ, objects::versions)
        .query(&["page", "limit", "order_by", "order_direction"]),
    Route::get("/api/v1/content/{name}/{id}/version/{version}", Work::Short, READ, objects::version),
    Route::write(Method::POST, "/api/v1/content/{name}/{id}/duplicate", Needs::Duplicate, objects::duplicate),

    Route::write(Method::POST, "/api/v1/content/{name}/{id}/publish", UPDATE, publish::publish)
        .query(&["hydrate"]).without_body(),
    Route::write(Method::POST, "/api/v1/content/{name}/{id}/unpublish", UPDATE, publish::unpublish)
        .query(&["hydrate"]).without_body(),
    Route::write(Method::POST, "/api/v1/content/{name}/{id}/archive", UPDATE, publish::archive)
        .query(&["hydrate"]).without_body(),
    Route::write(Method::PUT, SCHEDULE, UPDATE, publish::schedule),
    Route::write(Method::DELETE, SCHEDULE, UPDATE, publish::unschedule).without_body(),

    Route::upload("/api/media", media::upload),
    Route::upload("/api/v1/media", media::upload),
    Route::image("/image/{*path}").query(&["transform", "format", "quality"]),

    Route::get("/api/v1/workflow", Work::Read, Needs::AnyKey, workflow::list),
    Route::get(OBJECT_STATE, Work::Short, READ, workflow::state),
    Route::write(Method::PUT, OBJECT_STATE, UPDATE, workflow::act),
    Route::get(WORKFLOWS, Work::Read, Needs::Manage, workflow::definitions),
    Route::write(Method::POST, WORKFLOWS, Needs::Manage, workflow::create),
    Route::get(WORKFLOW, Work::Read, Needs::Manage, workflow::get),
    Route::write(Method::PUT, WORKFLOW, Needs::Manage, workflow::replace),
    Route::write(Method::DELETE, WORKFLOW, Needs::Manage, workflow::delete).without_body(),

    Route::get("/api/v1/search", Work::Search, Needs::AnyKey, search::search).query(&[
        "q", "page", "limit", "content_type[]", "fields[]", "filters[*]", "post_filters[*]", "geo_filters[*]",
        "order_by", "order_direction", "order_missing", "random_seed", "hydrate", "query_mode", "decay_old",
        "aggregate_by[]", "aggregate_by_numeric[]", "indices_boost[*]",
    ]),
    Route::new(Method::GET, "/api/v1/changes", Work::Read, Action::Changes).query(&["since", "types[]", "limit"]),
    Route::write(Method::POST, "/api/v1/internal/reindex", Needs::Manage, search::reindex),
    Route::write(Method::POST, "/api/v1/internal/check", Needs::Manage, check::check),
    Route::backup("/api/v1/internal/backup"),
    Route::get("/api/v1/internal/job/{id}", Work::Short, Needs::Manage, search::job),

    Route::graphql(Method::GET, GRAPHQL, Reads::Nothing, graphql::get).query(GRAPHQL_PARAMETERS),
    Route::graphql(Method::POST, GRAPHQL, Reads::Query, graphql::query),
    Route::get("/api/graphql/schema", Work::Read, Needs::Query, graphql::schema),
    Route::graphql(Method::GET, GRAPHQL_V2, Reads::Nothing, graphql::get_v2).query(GRAPHQL_PARAMETERS),
    Route::graphql(Method::POST, GRAPHQL_V2, Reads::Query, graphql::query_v2),
    Route::get("/api/v2/graphql/schema", Work::Read, Needs::Query, graphql::schema_v2),

    Route::get("/api/v1/open-api-schema.json", Work::Read, Needs::AnyKey, openapi::get)
        .query(&["version", "hydrate", "user_only"]),
    Route::public("/docs", docs::page),
    Route::public("/docs/page.css", docs::style),
    Route::public("/docs/page.js", docs::script),
    Route::public("/docs/swagger-ui.css", docs::swagger_style),
    Route::public("/docs/swagger-ui.js", docs::swagger_script),

    Route::get(KEYS, Work::Read, Needs::Manage, keys::list),
    Route::write(Method::POST, KEYS, Needs::Manage, keys::create),
    Route::write(Method::DELETE, "/api/v1/internal/key/{id}", Needs::Manage, keys::revoke).without_body(),

    Route::get(WEBHOOKS, Work::Read, Needs::Manage, webhooks::list),
    Route::get("/api/v1/internal/webhook/{id}/log", Work::Read, Needs::Manage, webhooks::log)
        .query(&["page", "limit"]),
    Route::write(Method::POST, "/api/v1/internal/webhook/{id}/replay", Needs::Manage, webhooks::replay),
    Route::write(Method::POST, "/api/v1/internal/webhook/{id}/test", Needs::Manage, webhooks::test).without_body(),
];

/// Returns the whole HTTP interface on a data folder, without a socket.
pub fn router(config: &ServerConfig, cms: Arc<Cms>) -> Router {
    let app = Arc::new(App::new(config, cms));
    // All routing is in the table: checks come in the order of contract 1.4, where a key is asked for
    // before a method is refused.
    Router::new().fallback_service(tower::service_fn(move |request: Request<Body>| {
        let app = Arc::clone(&app);
        async move {
            let connection = Arc::new(Connection::new(&app.memory, &app.memory, None));
            Ok(request::answer(app, &connection, request).await.map(Body::new))
        }
    }))
}
