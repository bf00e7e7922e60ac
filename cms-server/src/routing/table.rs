//! The table of routes: every route of the server is a row here and nowhere else.
//!
//! `Allow` headers, the list of ignored query parameters and the coverage test come from the same
//! rows. Reserved words stand before the parameter that they take precedence over.

use axum::http::Method;
use cms_core::Access;

use super::{
    permissions::RequiredPermission::{
        self, Admin, AdministerTypes, AnyCaller, AnyWriter, BatchCreate, Bulk, ChangeType, Content,
        Duplicate, GraphQl, PlanTypes, Publish, ReadType, Session, Validate, Views, WorkingCopy,
    },
    route::{BodyKind, Endpoint, Route},
};
#[cfg(feature = "admin")]
use crate::http::admin;
use crate::{
    http::{
        activity, api_explorer, auth_context, batch, bulk, check, content_types, graphql, health,
        keys, media, objects, openapi,
        openid::{self, OpenIdStep},
        presence, preview, publish, search, session, settings, shared_views, start, trash, users,
        webhooks, workflow, working_copies,
    },
    net::permits::Work,
};

const READ: RequiredPermission = Content(Access::READ);
const CREATE: RequiredPermission = Content(Access::CREATE);
const UPDATE: RequiredPermission = Content(Access::UPDATE);
const DELETE: RequiredPermission = Content(Access::DELETE);
const READ_DELETED: RequiredPermission = Content(Access::READ_DELETED);

const TYPES: &str = "/api/v1/internal/contenttype";
const TYPE: &str = "/api/v1/internal/contenttype/{name}";
const VIEWS: &str = "/api/v1/internal/contenttype/{name}/views";
const VIEW: &str = "/api/v1/internal/contenttype/{name}/views/{id}";
const OBJECTS: &str = "/api/v1/content/{name}";
const OBJECT: &str = "/api/v1/content/{name}/{id}";
const BATCH: &str = "/api/v1/content/{name}/batch";
const VERSIONS: &str = "/api/v1/content/{name}/{id}/version";
const TRASH_ENTRY: &str = "/api/v1/trash/{entry}";
const SCHEDULE: &str = "/api/v1/content/{name}/{id}/schedule";
const WORKING_COPY: &str = "/api/v1/content/{name}/{id}/working-copy";
const OBJECT_STATE: &str = "/api/v1/workflow/{content_type}/{object_id}";
const WORKFLOWS: &str = "/api/v1/internal/workflow";
const WORKFLOW: &str = "/api/v1/internal/workflow/{id}";
const KEYS: &str = "/api/v1/internal/key";
const JOBS: &str = "/api/v1/job";
const KEY: &str = "/api/v1/internal/key/{id}";
const PRESENCE: &str = "/api/v1/presence";
const GRAPHQL: &str = "/api/graphql";
const GRAPHQL_V2: &str = "/api/v2/graphql";
const GRAPHQL_PARAMETERS: &[&str] = &["query", "variables", "operationName", "extensions"];
const WEBHOOKS: &str = "/api/v1/internal/webhook";
const USERS: &str = "/api/v1/internal/user";
const USER: &str = "/api/v1/internal/user/{id}";
const USER_SESSIONS: &str = "/api/v1/internal/user/{id}/session";
const SESSION: &str = "/api/v1/session";
const SETTINGS: &str = "/api/v1/session/settings";
const SESSIONS: &str = "/api/v1/sessions";

/// Every route of the server.
#[rustfmt::skip]
pub static ROUTES: &[Route] = &[
    Route::unauthenticated("/", start::get),
    Route::unauthenticated("/healthz", health::alive),
    Route::unauthenticated("/writerz", health::writer),
    // These two may wait for a disk, and have to respond while all reads and writes are busy.
    Route::unauthenticated("/readyz", health::ready).work(Work::File).blocking(),
    Route::unauthenticated("/metrics", health::metrics).work(Work::File).blocking(),

    Route::get("/api/auth-context", AnyCaller, auth_context::get).inline().accepts_preview_tokens(),

    Route::get(TYPES, AnyCaller, content_types::list)
        .query(&["page", "limit", "order_by", "order_direction", "name", "label", "names[]", "internal"])
        .accepts_preview_tokens(),
    Route::write(Method::POST, TYPES, AdministerTypes, content_types::create),
    Route::write(Method::POST, "/api/v1/internal/contenttype/plan", PlanTypes, content_types::plan)
        .with_progress(),
    Route::write(Method::POST, "/api/v1/internal/contenttype/apply", AdministerTypes, content_types::apply)
        .with_progress(),
    Route::get(TYPE, ReadType, content_types::get).inline().query(&["resolveRef", "strictSchema"]).accepts_preview_tokens(),
    Route::write(Method::PUT, TYPE, ChangeType, content_types::update),
    Route::write(Method::DELETE, TYPE, ChangeType, content_types::delete).without_body(),
    Route::write(Method::POST, "/api/v1/internal/contenttype/{name}/purge", ChangeType, content_types::purge),
    Route::get(VIEWS, Views(Access::READ), shared_views::list).query(&["page", "limit"]),
    Route::write(Method::POST, VIEWS, Views(Access::UPDATE), shared_views::create),
    Route::write(Method::PUT, VIEW, Views(Access::UPDATE), shared_views::update),
    Route::write(Method::DELETE, VIEW, Views(Access::UPDATE), shared_views::delete).without_body(),
    Route::write(Method::POST, "/api/v1/spaces/{space}/purge", AdministerTypes, content_types::purge_space)
        .without_body(),

    Route::get(OBJECTS, READ, objects::list)
        .query(&["page", "limit", "order_by", "order_direction", "empty_first", "hydrate", "filters", "ids[]", "fields[]"])
        .inline().cached().accepts_preview_tokens(),
    Route::write(Method::POST, OBJECTS, CREATE, objects::create).inline(),
    Route::write(Method::POST, BATCH, BatchCreate, batch::create).query(&["updateExisting"]),
    Route::write(Method::PATCH, BATCH, UPDATE, batch::patch),
    Route::write(Method::POST, "/api/v1/content/{name}/validate", Validate, objects::validate)
        .query(&["id", "patch"]).work(Work::Read),
    Route::write(Method::POST, "/api/v1/content/{name}/batch-delete", DELETE, batch::delete),
    Route::write(Method::POST, "/api/v1/content/{name}/batch-publish", Publish, publish::batch_publish),
    Route::write(Method::POST, "/api/v1/content/{name}/batch-unpublish", Publish, publish::batch_unpublish),
    Route::write(Method::POST, "/api/v1/content/{name}/batch-archive", Publish, publish::batch_archive),
    Route::write(Method::POST, "/api/v1/content/{name}/bulk", Bulk, bulk::create),
    Route::get("/api/v1/content/{name}/removed", READ_DELETED, objects::deleted_ids)
        .query(&["deletedAfter"]),
    Route::get(OBJECT, READ, objects::get).query(&["hydrate", "fields[]"]).inline().cached()
        .accepts_preview_tokens(),
    Route::write(Method::PUT, OBJECT, UPDATE, objects::replace).inline(),
    Route::write(Method::PATCH, OBJECT, UPDATE, objects::patch).inline(),
    Route::write(Method::DELETE, OBJECT, DELETE, objects::delete).without_body(),
    Route::get(VERSIONS, READ, objects::versions)
        .query(&["page", "limit", "order_by", "order_direction"]),
    Route::get("/api/v1/content/{name}/{id}/version/{version}", READ, objects::version).inline(),
    Route::get("/api/v1/content/{name}/{id}/incoming", READ, objects::incoming)
        .query(&["content_type[]", "page", "limit"]).accepts_preview_tokens(),
    Route::write(Method::POST, "/api/v1/content/{name}/{id}/duplicate", Duplicate, objects::duplicate),

    Route::write(Method::POST, "/api/v1/content/{name}/{id}/publish", Publish, publish::publish)
        .query(&["hydrate"]).without_body(),
    Route::write(Method::POST, "/api/v1/content/{name}/{id}/unpublish", Publish, publish::unpublish)
        .query(&["hydrate"]).without_body(),
    Route::write(Method::POST, "/api/v1/content/{name}/{id}/archive", Publish, publish::archive)
        .query(&["hydrate"]).without_body(),
    Route::write(Method::PUT, SCHEDULE, Publish, publish::schedule),
    Route::write(Method::DELETE, SCHEDULE, Publish, publish::unschedule).without_body(),
    Route::get("/api/v1/schedule", AnyCaller, publish::schedules)
        .query(&["page", "limit", "content_type[]", "from", "to"]),

    Route::get(WORKING_COPY, WorkingCopy, working_copies::get),
    Route::write(Method::PUT, WORKING_COPY, WorkingCopy, working_copies::put),
    Route::write(Method::DELETE, WORKING_COPY, WorkingCopy, working_copies::delete).without_body(),
    Route::get("/api/v1/working-copies", AnyWriter, working_copies::list)
        .query(&["page", "limit", "content_type[]"]),

    Route::get("/api/v1/trash", AnyWriter, trash::list)
        .query(&["page", "limit", "content_type[]", "q", "deletedAfter", "deletedBefore", "by"]),
    Route::write(Method::POST, "/api/v1/trash/empty", Admin, trash::empty),
    Route::get(TRASH_ENTRY, AnyWriter, trash::get),
    Route::write(Method::POST, "/api/v1/trash/{entry}/restore", AnyWriter, trash::restore),
    Route::write(Method::DELETE, TRASH_ENTRY, AnyWriter, trash::remove).without_body(),

    Route::upload("/api/media", media::upload),
    Route::upload("/api/v1/media", media::upload),
    Route::new(Method::GET, "/image/{*path}", Endpoint::Image).query(&["transform", "format", "quality"]),

    Route::get("/api/v1/workflow", AnyCaller, workflow::list).accepts_preview_tokens(),
    Route::get(OBJECT_STATE, READ, workflow::state).inline(),
    Route::write(Method::PUT, OBJECT_STATE, UPDATE, workflow::run_transition),
    Route::get(WORKFLOWS, Admin, workflow::definitions),
    Route::write(Method::POST, WORKFLOWS, Admin, workflow::create),
    Route::get(WORKFLOW, Admin, workflow::get),
    Route::write(Method::PUT, WORKFLOW, Admin, workflow::replace),
    Route::write(Method::DELETE, WORKFLOW, Admin, workflow::delete).without_body(),

    Route::get("/api/v1/search", AnyCaller, search::search).work(Work::Search).cached().query(&[
        "q", "page", "limit", "content_type[]", "fields[]", "filters[*]", "post_filters[*]", "geo_filters[*]",
        "order_by", "order_direction", "order_missing", "random_seed", "hydrate", "query_mode", "decay_old",
        "aggregate_by[]", "aggregate_by_numeric[]", "indices_boost[*]", "item_fields[]",
    ]).accepts_preview_tokens(),
    Route::new(Method::GET, "/api/v1/changes", Endpoint::Changes).query(&["since", "types[]", "limit", "presence"])
        .accepts_preview_tokens(),
    Route::get("/api/v1/activity", AnyCaller, activity::list)
        .query(&["content_type[]", "id", "by", "action[]", "from", "to", "before", "limit"]),
    Route::write(Method::POST, "/api/v1/preview", AnyWriter, preview::create),
    Route::get(PRESENCE, AnyWriter, presence::list).query(&["content_type", "id"]).inline(),
    Route::write(Method::PUT, PRESENCE, AnyWriter, presence::put).work(Work::Read),
    Route::write(Method::DELETE, "/api/v1/presence/{tab}", AnyWriter, presence::delete)
        .work(Work::Read).without_body().inline(),
    Route::get(JOBS, AnyCaller, bulk::list).query(&["page", "limit"]),
    Route::get("/api/v1/job/{id}", AnyCaller, bulk::get),
    Route::write(Method::POST, "/api/v1/job/{id}/stop", AnyCaller, bulk::stop).without_body(),
    Route::get("/api/v1/internal/reindex", Admin, search::reindex_jobs),
    Route::write(Method::POST, "/api/v1/internal/reindex", Admin, search::reindex),
    Route::write(Method::POST, "/api/v1/internal/check", Admin, check::check).with_progress(),
    Route::new(Method::GET, "/api/v1/internal/backup", Endpoint::Backup),
    Route::get("/api/v1/internal/job/{id}", Admin, search::job).inline(),

    Route::graphql(Method::GET, GRAPHQL, BodyKind::None, graphql::get).query(GRAPHQL_PARAMETERS).accepts_preview_tokens(),
    Route::graphql(Method::POST, GRAPHQL, BodyKind::GraphQl, graphql::query).accepts_preview_tokens(),
    Route::get("/api/graphql/schema", GraphQl, graphql::schema).accepts_preview_tokens(),
    Route::graphql(Method::GET, GRAPHQL_V2, BodyKind::None, graphql::get_v2).query(GRAPHQL_PARAMETERS).accepts_preview_tokens(),
    Route::graphql(Method::POST, GRAPHQL_V2, BodyKind::GraphQl, graphql::query_v2).accepts_preview_tokens(),
    Route::get("/api/v2/graphql/schema", GraphQl, graphql::schema_v2).accepts_preview_tokens(),

    Route::get("/api/v1/open-api-schema.json", AnyCaller, openapi::get)
        .query(&["version", "hydrate", "user_only", "management"]),
    #[cfg(feature = "admin")]
    Route::unauthenticated("/admin", admin::get),
    #[cfg(feature = "admin")]
    Route::unauthenticated("/admin/{*path}", admin::get),
    Route::unauthenticated("/docs", api_explorer::page),
    Route::unauthenticated("/docs/page.css", api_explorer::style),
    Route::unauthenticated("/docs/page.js", api_explorer::script),
    Route::unauthenticated("/docs/swagger-ui.css", api_explorer::swagger_style),
    Route::unauthenticated("/docs/swagger-ui.js", api_explorer::swagger_script),

    Route::get(KEYS, Admin, keys::list),
    Route::write(Method::POST, KEYS, Admin, keys::create),
    Route::write(Method::PUT, KEY, Admin, keys::update).revokes_access(),
    Route::write(Method::DELETE, KEY, Admin, keys::revoke).without_body().revokes_access(),
    Route::write(Method::POST, "/api/v1/internal/key/{id}/rotate", Admin, keys::rotate).revokes_access(),

    Route::get(USERS, Admin, users::list)
        .query(&["page", "limit", "q", "role", "disabled", "order_by", "order_direction"]),
    Route::write(Method::POST, USERS, Admin, users::create).work(Work::Password),
    Route::get(USER, Admin, users::get),
    Route::write(Method::PUT, USER, Admin, users::update).revokes_access(),
    Route::write(Method::DELETE, USER, Admin, users::delete).without_body().revokes_access(),
    Route::write(Method::POST, "/api/v1/internal/user/{id}/link", Admin, users::create_link),
    Route::get(USER_SESSIONS, Admin, users::sessions).query(&["page", "limit"]),
    Route::write(Method::DELETE, USER_SESSIONS, Admin, users::end_sessions).without_body().revokes_access(),

    Route::unauthenticated("/api/v1/session/methods", session::methods),
    Route::new(Method::GET, openid::START, Endpoint::OpenId(OpenIdStep::Start)).query(&["return"]),
    Route::new(Method::GET, openid::CALLBACK, Endpoint::OpenId(OpenIdStep::Callback)).query(
        &["code", "state", "iss", "session_state", "error", "error_description", "error_uri"],
    ),
    Route::unauthenticated_post(SESSION, session::sign_in, Work::Password),
    Route::unauthenticated_post("/api/v1/session/code", session::code, Work::Read),
    Route::get(SESSION, Session, session::current).inline(),
    Route::new(Method::DELETE, SESSION, Endpoint::SignOut).revokes_access(),
    Route::write(Method::PUT, "/api/v1/session/password", Session, session::change_password)
        .body(BodyKind::Credentials).work(Work::Password).revokes_access(),
    Route::get(SETTINGS, Session, settings::get).inline(),
    Route::write(Method::PUT, SETTINGS, Session, settings::put).body(BodyKind::Settings),
    Route::get(SESSIONS, Session, session::list).query(&["page", "limit"]),
    Route::write(Method::DELETE, SESSIONS, Session, session::end_others).without_body().revokes_access(),
    Route::write(Method::DELETE, "/api/v1/sessions/{id}", Session, session::end).without_body().revokes_access(),

    Route::get(WEBHOOKS, Admin, webhooks::list),
    Route::get("/api/v1/internal/webhook/{id}/log", Admin, webhooks::log)
        .query(&["page", "limit"]),
    Route::write(Method::POST, "/api/v1/internal/webhook/{id}/replay", Admin, webhooks::replay),
    Route::write(Method::POST, "/api/v1/internal/webhook/{id}/test", Admin, webhooks::test).without_body(),
];
