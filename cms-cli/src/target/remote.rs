//! A running server and its HTTP API. [`http`] sends requests, [`path`] has the paths, [`media`]
//! transfers files, [`changes`] reads the change feed, [`progress`] reads streams with the progress of
//! a request, [`readiness`] reads `/readyz` without a key, [`other_program`] recognises responses of other
//! programs.

mod changes;
mod http;
mod media;
mod other_program;
mod path;
mod progress;
mod readiness;

use std::{
    io::{Read, Write},
    sync::Arc,
};

use cms_core::{
    Edition, Progress, Result,
    import::{ImportTarget, PendingReport, PreparedSave, SaveMode},
    limits,
    paging::PageRequest,
    wire::{
        activity::{ActivityPage, ActivityRequest},
        batch::BatchReport,
        bulk::{BulkJob, BulkResponse},
        check::{CheckReport, CheckRequest},
        content_type::ContentType,
        context::{self, AuthContext},
        graphql::{GraphQlRequest, GraphQlVersion},
        key::{CreatedKey, Key, KeyUpdate, NewKey},
        list::List,
        media::UploadRequest,
        object::{IncomingLinks, ListRequest, ObjectRequest, ValidateRequest},
        openapi::OpenApiRequest,
        plan::{ApplyRequest, PlanRequest, ProjectPlan},
        preview::{Preview, PreviewRequest},
        publish::PublishAction,
        schedule::ScheduledObject,
        search::{ReindexCreated, ReindexJob, SearchRequest},
        session::LinkKind,
        trash::{EmptiedTrash, EmptyTrashRequest, RestoreRequest, TrashItem, TrashRequest},
        user::{CreatedUser, Link, User, UserListRequest},
        webhook::{Delivery, ReplayRequest, Replayed, WebhookStatus},
        workflow::{Workflow, WorkflowState},
    },
};
use reqwest::Method;
use serde::Deserialize;
use serde_json::{Map, Value, json};

pub(crate) use self::http::Remote;
use self::{
    http::{SERVER, check_status, send_repeatedly, text, with_json},
    path::{
        ACTIVITY, AUTH_CONTEXT, BULK_JOBS, CHECK, KEYS, PREVIEW, REINDEX, REINDEX_JOBS, SEARCH,
        TRASH, TYPES, USERS, WEBHOOKS, WORKFLOW_STATES, WORKFLOWS, activity_query, list_query,
        object_path, object_query, objects_path, openapi_path, page_query, schedule_path,
        schedules_path, search_query, segment, state_path, trash_path, trash_query, type_path,
        user_path, users_path, validate_path, webhook_path,
    },
};
use super::{FileUpload, Target, all_pages, link_payload, reindex_payload, schedule_payload};

/// The part of `GET /api/auth-context` that servers of every version have.
#[derive(Deserialize)]
struct Identity {
    user: context::ContextUser,
}

impl ImportTarget for Remote {
    fn objects(
        &self,
        content_type: &str,
        request: &ListRequest,
        edition: Edition,
    ) -> Result<List<Value>> {
        let path = format!("{}?{}", objects_path(content_type), list_query(request));
        let (status, bytes) = self.send(edition, &Method::GET, &path, None, true)?;
        self.parse(status, &bytes, ("content type", content_type))
    }

    fn prepare_save(
        &self,
        content_type: &str,
        elements: &[Value],
        SaveMode { update_existing, keep_dates }: SaveMode,
    ) -> Result<PreparedSave<'_>> {
        let path = format!("{}/batch?updateExisting={update_existing}", objects_path(content_type));
        let body = text(&elements)?;
        self.require_accepted_size(&body)?;
        let mut request = with_json(self.request(&Method::POST, &path)?, body);
        if keep_dates {
            request = request.header("X-CMS-Keep-Dates", "1");
        }
        let content_type = content_type.to_owned();
        Ok(Box::new(move || {
            // An import may be repeated, but a busy server is an error: the batch may have been saved.
            let send = || self.send_once(request.try_clone().expect("the body is in memory"), true);
            let (status, bytes) = self.read(send_repeatedly(false, send)?, true)?;
            // A report with refused objects is no error.
            let report: BatchReport = match serde_json::from_slice(&bytes) {
                Ok(report) if status == 400 => report,
                _ => self.parse(status, &bytes, ("content type", &content_type))?,
            };
            Ok(Box::new(|| Ok(report)) as PendingReport)
        }))
    }

    fn set_statuses(
        &self,
        content_type: &str,
        ids: &[String],
        action: PublishAction,
    ) -> Result<()> {
        let path = format!("{}/batch-{}", objects_path(content_type), action.as_str());
        // The response does not name the unknown object.
        self.post_action(&path, Some(&text(&ids)?), ("object", content_type))
    }

    fn workflows(&self) -> Result<Vec<Workflow>> {
        Ok(self.get::<List<Workflow>>(WORKFLOW_STATES, SERVER)?.data)
    }

    fn run_transition(&self, content_type: &str, id: &str, name: &str) -> Result<WorkflowState> {
        let (path, object) = (state_path(content_type, id), format!("{content_type}/{id}"));
        let body = text(&json!({ "action": name }))?;
        self.request_json(&Method::PUT, &path, Some(&body), ("object", &object))
    }
}

impl Target for Remote {
    fn describe(&self) -> Result<String> {
        let found: Identity = self.get(AUTH_CONTEXT, SERVER)?;
        Ok(self.describe_with(&found.user.username))
    }

    fn auth_context(&self) -> Result<AuthContext> {
        self.get(AUTH_CONTEXT, SERVER)
    }

    fn parts(&self) -> Result<Map<String, Value>> {
        self.part_states()
    }

    fn types(&self) -> Result<Vec<ContentType>> {
        all_pages(limits::MAX_TYPE_PAGE_SIZE, |page| {
            self.get(&format!("{TYPES}?{}", page_query(page)), SERVER)
        })
    }

    fn types_may_differ(&self, position: &mut Option<String>) -> bool {
        self.has_type_changes(position)
    }

    fn get_type(&self, name: &str) -> Result<ContentType> {
        self.get(&type_path(name), ("content type", name))
    }

    fn delete_type(&self, name: &str) -> Result<()> {
        self.delete(&type_path(name), ("content type", name))
    }

    fn plan(&self, request: &PlanRequest, progress: &Progress) -> Result<ProjectPlan> {
        // A plan changes nothing, so the request may be repeated.
        self.post_with_progress(&format!("{TYPES}/plan"), &text(request)?, true, progress)
    }

    fn apply(&self, request: &ApplyRequest, progress: &Arc<Progress>) -> Result<ProjectPlan> {
        self.post_with_progress(&format!("{TYPES}/apply"), &text(request)?, false, progress)
    }

    fn object(&self, content_type: &str, id: &str, request: &ObjectRequest) -> Result<Value> {
        let path = format!("{}?{}", object_path(content_type, id), object_query(request));
        self.request_object(&Method::GET, &path, None, (content_type, id))
    }

    fn create_object(&self, content_type: &str, object: Map<String, Value>) -> Result<Value> {
        self.create(&objects_path(content_type), &object, ("content type", content_type))
    }

    fn update_object(
        &self,
        content_type: &str,
        id: &str,
        object: Map<String, Value>,
        patch: bool,
    ) -> Result<Value> {
        let method = if patch { Method::PATCH } else { Method::PUT };
        let path = object_path(content_type, id);
        self.request_object(&method, &path, Some(&text(&object)?), (content_type, id))
    }

    fn validate_object(
        &self,
        content_type: &str,
        object: Map<String, Value>,
        request: &ValidateRequest,
    ) -> Result<()> {
        let path = validate_path(content_type, request);
        let name = request.id.as_ref().map(|id| format!("{content_type}/{id}"));
        let resource =
            name.as_ref().map_or(("content type", content_type), |name| ("object", name));
        let valid = self.post_action(&path, Some(&text(&object)?), resource);
        self.check_type(content_type, valid)
    }

    fn incoming(&self, content_type: &str, id: &str, page: PageRequest) -> Result<IncomingLinks> {
        let path = format!("{}/incoming?{}", object_path(content_type, id), page_query(page));
        self.request_object(&Method::GET, &path, None, (content_type, id))
    }

    fn delete_objects(&self, content_type: &str, ids: &[String]) -> Result<u64> {
        let path = format!("{}/batch-delete", objects_path(content_type));
        let response: Value = self.post(&path, &ids, ("content type", content_type))?;
        Ok(response["deletedCount"].as_u64().unwrap_or(0))
    }

    fn deleted_ids(&self, content_type: &str) -> Result<Vec<String>> {
        self.get(&format!("{}/removed", objects_path(content_type)), ("content type", content_type))
    }

    fn trash(&self, request: &TrashRequest) -> Result<List<TrashItem>> {
        self.get(&format!("{TRASH}?{}", trash_query(request)), SERVER)
    }

    fn trash_entry(&self, entry: &str) -> Result<Value> {
        self.get(&trash_path(entry), ("trash entry", entry))
    }

    fn restore(&self, entry: &str, request: &RestoreRequest) -> Result<Value> {
        self.post(&format!("{}/restore", trash_path(entry)), request, ("trash entry", entry))
    }

    fn remove_trash(&self, entry: &str) -> Result<()> {
        self.delete(&trash_path(entry), ("trash entry", entry))
    }

    fn empty_trash(&self, request: &EmptyTrashRequest) -> Result<EmptiedTrash> {
        self.post(&format!("{TRASH}/empty"), request, SERVER)
    }

    fn versions(&self, content_type: &str, id: &str) -> Result<Vec<Value>> {
        let path = format!("{}/version", object_path(content_type, id));
        all_pages(limits::MAX_PAGE_SIZE, |page| {
            let path = format!("{path}?{}", page_query(page));
            self.request_object(&Method::GET, &path, None, (content_type, id))
        })
    }

    fn version(&self, content_type: &str, id: &str, version: u64) -> Result<Value> {
        let name = format!("{content_type}/{id}/{version}");
        let path = format!("{}/version/{version}", object_path(content_type, id));
        self.check_type(content_type, self.get(&path, ("version", &name)))
    }

    fn upload(&self, file: FileUpload, request: &UploadRequest) -> Result<Value> {
        self.send_file(&file, request)
    }

    fn file(&self, id: &str, extension: &str) -> Result<Box<dyn Read + '_>> {
        self.stored_file(id, extension)
    }

    fn set_status(
        &self,
        content_type: &str,
        id: &str,
        action: PublishAction,
        cascade: bool,
    ) -> Result<()> {
        let name = format!("{content_type}/{id}");
        let path = format!("{}/{}", object_path(content_type, id), action.as_str());
        let hydrate = if cascade { "?hydrate=1" } else { "" };
        self.post_action(&format!("{path}{hydrate}"), None, ("object", &name))
    }

    fn schedules(&self, content_types: &[String]) -> Result<Vec<ScheduledObject>> {
        all_pages(limits::MAX_PAGE_SIZE, |page| {
            self.get(&schedules_path(page, content_types), SERVER)
        })
    }

    fn schedule(&self, content_type: &str, id: &str, at: &str, zone: &str) -> Result<Value> {
        let path = schedule_path(content_type, id);
        let body = text(&schedule_payload(at, zone))?;
        self.request_object(&Method::PUT, &path, Some(&body), (content_type, id))
    }

    fn unschedule(&self, content_type: &str, id: &str) -> Result<()> {
        let name = format!("{content_type}/{id}");
        self.delete(&schedule_path(content_type, id), ("object", &name))
    }

    fn create_workflow(&self, definition: Map<String, Value>) -> Result<Workflow> {
        self.post(WORKFLOWS, &definition, SERVER)
    }

    fn replace_workflow(&self, id: &str, definition: Map<String, Value>) -> Result<Workflow> {
        let path = format!("{WORKFLOWS}/{}", segment(id));
        self.request_json(&Method::PUT, &path, Some(&text(&definition)?), ("workflow", id))
    }

    fn delete_workflow(&self, id: &str) -> Result<()> {
        self.delete(&format!("{WORKFLOWS}/{}", segment(id)), ("workflow", id))
    }

    fn workflow_state(&self, content_type: &str, id: &str) -> Result<WorkflowState> {
        let path = state_path(content_type, id);
        self.request_object(&Method::GET, &path, None, (content_type, id))
    }

    fn search(&self, request: &SearchRequest, edition: Edition) -> Result<Value> {
        let path = format!("{SEARCH}?{}", search_query(request));
        let (status, bytes) = self.send(edition, &Method::GET, &path, None, true)?;
        self.parse(status, &bytes, SERVER)
    }

    fn reindex(&self, content_types: &[String]) -> Result<ReindexCreated> {
        self.post(REINDEX, &reindex_payload(content_types), SERVER)
    }

    fn reindex_job(&self, id: &str) -> Result<ReindexJob> {
        self.get(&format!("{REINDEX_JOBS}/{}", segment(id)), ("job", id))
    }

    fn bulk(&self, content_type: &str, request: &Map<String, Value>) -> Result<BulkResponse> {
        let path = format!("{}/bulk", objects_path(content_type));
        self.create(&path, request, ("content type", content_type))
    }

    fn bulk_jobs(&self) -> Result<Vec<BulkJob>> {
        all_pages(limits::MAX_PAGE_SIZE, |page| {
            self.get(&format!("{BULK_JOBS}?{}", page_query(page)), SERVER)
        })
    }

    fn bulk_job(&self, id: &str) -> Result<BulkJob> {
        self.get(&format!("{BULK_JOBS}/{}", segment(id)), ("job", id))
    }

    fn stop_bulk_job(&self, id: &str) -> Result<()> {
        let path = format!("{BULK_JOBS}/{}/stop", segment(id));
        self.post_action(&path, None, ("job", id))
    }

    /// The server carries out its jobs.
    fn advance_bulk_jobs(&self) -> Result<bool> {
        Ok(false)
    }

    fn backup(&self, output: &mut dyn Write) -> Result<()> {
        self.fetch_backup(output)
    }

    fn check(&self, request: &CheckRequest) -> Result<CheckReport> {
        // A stream, which the server keeps open while it reads the complete data directory.
        self.post_with_progress(CHECK, &text(request)?, false, &Progress::default())
    }

    fn openapi(&self, request: &OpenApiRequest) -> Result<Value> {
        self.get(&openapi_path(request), SERVER)
    }

    fn preview(&self, request: &PreviewRequest, _: &str) -> Result<Preview> {
        self.post(PREVIEW, request, SERVER)
    }

    fn graphql_schema(&self, version: GraphQlVersion) -> Result<String> {
        let path = format!("{}/schema", version.path());
        let (status, bytes) = self.send(Edition::Current, &Method::GET, &path, None, true)?;
        check_status(status, &bytes, SERVER)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn graphql(
        &self,
        version: GraphQlVersion,
        request: &GraphQlRequest,
        edition: Edition,
    ) -> Result<Value> {
        let (path, body) = (version.path(), text(request)?);
        let (status, bytes) = self.send(edition, &Method::POST, path, Some(&body), true)?;
        match serde_json::from_slice(&bytes) {
            // A server without this path returns the 404 of the REST API.
            Ok(Value::Object(response))
                if matches!(status, 200 | 400 | 404) && !response.contains_key("code") =>
            {
                Ok(Value::Object(response))
            }
            _ => self.parse(status, &bytes, SERVER),
        }
    }

    fn keys(&self) -> Result<Vec<Key>> {
        Ok(self.get::<List<Key>>(KEYS, SERVER)?.data)
    }

    fn create_key(&self, new: &NewKey) -> Result<CreatedKey> {
        self.post(KEYS, new, SERVER)
    }

    fn update_key(&self, id: &str, update: &KeyUpdate) -> Result<Key> {
        let path = format!("{KEYS}/{}", segment(id));
        self.request_json(&Method::PUT, &path, Some(&text(update)?), ("key", id))
    }

    fn rotate_key(&self, id: &str, grace_hours: i64) -> Result<CreatedKey> {
        let path = format!("{KEYS}/{}/rotate", segment(id));
        self.post(&path, &json!({ "graceHours": grace_hours }), ("key", id))
    }

    fn activity(&self, request: &ActivityRequest) -> Result<ActivityPage> {
        self.get(&format!("{ACTIVITY}?{}", activity_query(request)), SERVER)
    }

    fn revoke_key(&self, id: &str) -> Result<()> {
        self.delete(&format!("{KEYS}/{}", segment(id)), ("key", id))
    }

    fn users(&self, request: &UserListRequest) -> Result<Vec<User>> {
        all_pages(limits::MAX_PAGE_SIZE, |page| self.get(&users_path(request, page), SERVER))
    }

    fn user(&self, id: &str) -> Result<User> {
        self.get(&user_path(id), ("user", id))
    }

    fn create_user(&self, payload: &Map<String, Value>, _: &str) -> Result<CreatedUser> {
        self.post(USERS, payload, SERVER)
    }

    fn update_user(&self, id: &str, payload: &Map<String, Value>) -> Result<User> {
        self.request_json(&Method::PUT, &user_path(id), Some(&text(payload)?), ("user", id))
    }

    fn delete_user(&self, id: &str) -> Result<()> {
        self.delete(&user_path(id), ("user", id))
    }

    fn create_user_link(&self, id: &str, kind: Option<LinkKind>, _: &str) -> Result<Link> {
        self.post(&format!("{}/link", user_path(id)), &link_payload(kind), ("user", id))
    }

    fn sign_out_user(&self, id: &str) -> Result<()> {
        self.delete(&format!("{}/session", user_path(id)), ("user", id))
    }

    fn webhooks(&self) -> Result<Vec<WebhookStatus>> {
        Ok(self.get::<List<WebhookStatus>>(WEBHOOKS, SERVER)?.data)
    }

    fn webhook_log(&self, id: &str, limit: u32) -> Result<Vec<Delivery>> {
        let path = format!("{}?limit={limit}", webhook_path(id, "log"));
        Ok(self.get::<List<Delivery>>(&path, ("webhook", id))?.data)
    }

    fn replay_webhook(&self, id: &str, request: &ReplayRequest) -> Result<Replayed> {
        let what = if request.ids.is_some() { "webhook or delivery" } else { "webhook" };
        self.post(&webhook_path(id, "replay"), request, (what, id))
    }

    fn test_webhook(&self, id: &str) -> Result<Delivery> {
        self.post(&webhook_path(id, "test"), &json!({}), ("webhook", id))
    }
}
