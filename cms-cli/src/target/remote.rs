//! A running server, asked through its HTTP API. How it is asked is in [`sending`], its addresses
//! are in [`path`], files in [`media`].

mod about;
mod media;
mod path;
mod sending;

use std::io::{Read, Write};

use cms_core::{
    Error, Result, limits,
    paging::Page,
    wire::{
        batch::BatchReport,
        check::{CheckReport, CheckRequest},
        content_type::ContentType,
        context::AuthContext,
        graphql::{GraphQlRequest, GraphQlVersion},
        key::{CreatedKey, Key, NewKey},
        list::List,
        media::UploadRequest,
        object::ListRequest,
        openapi::OpenApiRequest,
        plan::{ApplyRequest, PlanRequest, ProjectPlan},
        publish::PublishAction,
        search::{Job, JobCreated, SearchRequest},
        webhook::{Delivery, ReplayRequest, Replayed, Webhook},
        workflow::{Workflow, WorkflowState},
    },
};
use reqwest::Method;
use serde_json::{Map, Value, json};

pub(super) use self::sending::Remote;
use self::{
    about::{About, SERVER, object_named, type_named, webhook_named, workflow_named},
    path::{
        CHECK, JOBS, KEYS, REINDEX, SEARCH, TYPES, WEBHOOKS, WHO, WORKFLOW_STATES, WORKFLOWS,
        list_query, object_path, objects_path, openapi_path, search_query, segment, state_path,
        type_path, webhook_path,
    },
    sending::{done, parse, text},
};
use super::{Edition, ImportMode, Outgoing, Rewriting, Target, all_pages, reindex_payload};

impl Remote {
    /// Says that the type is not there, where that is why something of it was not found: the API
    /// answers both alike.
    fn of_type<T>(&self, content_type: &str, result: Result<T>) -> Result<T> {
        match result {
            Err(Error::NotFound { what, name }) => match self.get_type(content_type) {
                Err(missing @ Error::NotFound { .. }) => Err(missing),
                _ => Err(Error::NotFound { what, name }),
            },
            other => other,
        }
    }
}

impl Target for Remote {
    fn describe(&self) -> Result<String> {
        let context: AuthContext = self.get(WHO, SERVER)?;
        Ok(format!("{} (key \"{}\")", self.base(), context.api_key.name))
    }

    fn types(&self) -> Result<Vec<ContentType>> {
        all_pages(|number| {
            self.get(&format!("{TYPES}?page={number}&limit={}", limits::MAX_TYPE_PAGE_SIZE), SERVER)
        })
    }

    fn get_type(&self, name: &str) -> Result<ContentType> {
        self.get(&type_path(name), type_named(name))
    }

    fn delete_type(&self, name: &str) -> Result<()> {
        self.delete(&type_path(name), type_named(name))
    }

    fn plan(&self, request: &PlanRequest) -> Result<ProjectPlan> {
        // A plan changes nothing, so it may be asked for again.
        let path = format!("{TYPES}/plan");
        let (status, bytes) = self.send(&Method::POST, &path, Some(&text(request)?), true)?;
        parse(status, &bytes, SERVER)
    }

    fn apply(&self, request: &ApplyRequest) -> Result<ProjectPlan> {
        self.post(&format!("{TYPES}/apply"), request, SERVER)
    }

    /// A server says so in its own log.
    fn rewriting(&self) -> Option<Rewriting> {
        None
    }

    fn objects(
        &self,
        content_type: &str,
        request: &ListRequest,
        edition: Edition,
    ) -> Result<List<Value>> {
        let path = format!("{}?{}", objects_path(content_type), list_query(request));
        let (status, bytes) = self.send_for(edition, &Method::GET, &path, None, true)?;
        parse(status, &bytes, type_named(content_type))
    }

    fn object(&self, content_type: &str, id: &str, hydrate: u8) -> Result<Value> {
        let name = format!("{content_type}/{id}");
        let path = format!("{}?hydrate={hydrate}", object_path(content_type, id));
        self.of_type(content_type, self.get(&path, object_named(&name)))
    }

    fn create_object(&self, content_type: &str, object: Map<String, Value>) -> Result<Value> {
        self.post(&objects_path(content_type), &object, type_named(content_type))
    }

    fn replace_object(
        &self,
        content_type: &str,
        id: &str,
        object: Map<String, Value>,
    ) -> Result<Value> {
        let name = format!("{content_type}/{id}");
        let path = object_path(content_type, id);
        let answer = self.ask(&Method::PUT, &path, Some(&text(&object)?), object_named(&name));
        self.of_type(content_type, answer)
    }

    fn patch_object(
        &self,
        content_type: &str,
        id: &str,
        changes: Map<String, Value>,
    ) -> Result<Value> {
        let name = format!("{content_type}/{id}");
        let path = object_path(content_type, id);
        let answer = self.ask(&Method::PATCH, &path, Some(&text(&changes)?), object_named(&name));
        self.of_type(content_type, answer)
    }

    fn delete_objects(&self, content_type: &str, ids: &[String]) -> Result<u64> {
        let path = format!("{}/batch-delete", objects_path(content_type));
        let answer: Value = self.post(&path, &ids, type_named(content_type))?;
        Ok(answer["deletedCount"].as_u64().unwrap_or(0))
    }

    fn deleted(&self, content_type: &str) -> Result<Vec<String>> {
        self.get(&format!("{}/removed", objects_path(content_type)), type_named(content_type))
    }

    fn trash(&self, _: &str, _: Page) -> Result<List<Value>> {
        Err(Error::BadRequest("a server does not list deleted objects".to_owned()))
    }

    fn versions(&self, content_type: &str, id: &str) -> Result<Vec<Value>> {
        let name = format!("{content_type}/{id}");
        let path = format!("{}/version", object_path(content_type, id));
        let versions = all_pages(|number| {
            let path = format!("{path}?page={number}&limit={}", limits::MAX_PAGE_SIZE);
            self.get::<List<Value>>(&path, object_named(&name))
        });
        self.of_type(content_type, versions)
    }

    fn version(&self, content_type: &str, id: &str, version: u64) -> Result<Value> {
        let name = format!("{content_type}/{id}/{version}");
        let path = format!("{}/version/{version}", object_path(content_type, id));
        self.of_type(content_type, self.get(&path, About { what: "version", name: &name }))
    }

    fn import(
        &self,
        content_type: &str,
        elements: &[Value],
        ImportMode { update_existing, keep_dates }: ImportMode,
    ) -> Result<BatchReport> {
        let path = format!("{}/batch?updateExisting={update_existing}", objects_path(content_type));
        let mut request = self.json_request(&Method::POST, &path, text(&elements)?)?;
        if keep_dates {
            request = request.header("X-CMS-Keep-Dates", "1");
        }
        let (status, bytes) =
            self.read(request.send().map_err(|error| self.unreachable(&error))?)?;
        // A report with refused elements is an answer, not a failure.
        if status == 400
            && let Ok(report) = serde_json::from_slice(&bytes)
        {
            return Ok(report);
        }
        parse(status, &bytes, type_named(content_type))
    }

    fn upload(&self, file: Outgoing, request: &UploadRequest) -> Result<Value> {
        self.send_file(file, request)
    }

    fn file(&self, id: &str, extension: &str) -> Result<Box<dyn Read + '_>> {
        self.stored_file(id, extension)
    }

    fn act(
        &self,
        content_type: &str,
        id: &str,
        action: PublishAction,
        cascade: bool,
    ) -> Result<()> {
        let name = format!("{content_type}/{id}");
        let path = format!("{}/{}", object_path(content_type, id), action.as_str());
        let hydrate = if cascade { "?hydrate=1" } else { "" };
        self.bring(&format!("{path}{hydrate}"), None, object_named(&name))
    }

    fn act_on_many(&self, content_type: &str, ids: &[String], action: PublishAction) -> Result<()> {
        let path = format!("{}/batch-{}", objects_path(content_type), action.as_str());
        // The answer does not say which one is unknown.
        self.bring(&path, Some(&text(&ids)?), object_named(content_type))
    }

    fn workflows(&self) -> Result<Vec<Workflow>> {
        Ok(self.get::<List<Workflow>>(WORKFLOW_STATES, SERVER)?.data)
    }

    fn create_workflow(&self, definition: Map<String, Value>) -> Result<Workflow> {
        self.post(WORKFLOWS, &definition, SERVER)
    }

    fn replace_workflow(&self, id: &str, definition: Map<String, Value>) -> Result<Workflow> {
        let path = format!("{WORKFLOWS}/{}", segment(id));
        self.ask(&Method::PUT, &path, Some(&text(&definition)?), workflow_named(id))
    }

    fn delete_workflow(&self, id: &str) -> Result<()> {
        self.delete(&format!("{WORKFLOWS}/{}", segment(id)), workflow_named(id))
    }

    fn workflow_state(&self, content_type: &str, id: &str) -> Result<WorkflowState> {
        let name = format!("{content_type}/{id}");
        let state = self.get(&state_path(content_type, id), object_named(&name));
        self.of_type(content_type, state)
    }

    fn run_transition(&self, content_type: &str, id: &str, action: &str) -> Result<WorkflowState> {
        let name = format!("{content_type}/{id}");
        let body = text(&json!({ "action": action }))?;
        self.ask(&Method::PUT, &state_path(content_type, id), Some(&body), object_named(&name))
    }

    fn search(&self, request: &SearchRequest, edition: Edition) -> Result<Value> {
        let path = format!("{SEARCH}?{}", search_query(request));
        let (status, bytes) = self.send_for(edition, &Method::GET, &path, None, true)?;
        parse(status, &bytes, SERVER)
    }

    fn reindex(&self, content_types: &[String]) -> Result<JobCreated> {
        self.post(REINDEX, &reindex_payload(content_types), SERVER)
    }

    fn job(&self, id: &str) -> Result<Job> {
        self.get(&format!("{JOBS}/{}", segment(id)), About { what: "job", name: id })
    }

    fn backup(&self, output: &mut dyn Write) -> Result<()> {
        self.fetch_backup(output)
    }

    fn check(&self, request: &CheckRequest) -> Result<CheckReport> {
        self.post(CHECK, request, SERVER)
    }

    fn openapi(&self, request: &OpenApiRequest) -> Result<Value> {
        self.get(&openapi_path(request), SERVER)
    }

    fn graphql_schema(&self, version: GraphQlVersion) -> Result<String> {
        let path = format!("{}/schema", version.path());
        let (status, bytes) = self.send(&Method::GET, &path, None, true)?;
        done(status, &bytes, SERVER)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn graphql(
        &self,
        version: GraphQlVersion,
        request: &GraphQlRequest,
        edition: Edition,
    ) -> Result<Value> {
        let (path, body) = (version.path(), text(request)?);
        let (status, bytes) = self.send_for(edition, &Method::POST, path, Some(&body), true)?;
        match serde_json::from_slice(&bytes) {
            // A server without this path says not found in the words of the rest of the API.
            Ok(Value::Object(answer))
                if matches!(status, 200 | 400 | 404) && !answer.contains_key("code") =>
            {
                Ok(Value::Object(answer))
            }
            _ => parse(status, &bytes, SERVER),
        }
    }

    fn keys(&self) -> Result<Vec<Key>> {
        all_pages(|number| self.get(&format!("{KEYS}?page={number}"), SERVER))
    }

    fn create_key(&self, new: &NewKey) -> Result<CreatedKey> {
        self.post(KEYS, new, SERVER)
    }

    fn revoke_key(&self, id: &str) -> Result<()> {
        self.delete(&format!("{KEYS}/{}", segment(id)), About { what: "key", name: id })
    }

    fn webhooks(&self) -> Result<Vec<Webhook>> {
        Ok(self.get::<List<Webhook>>(WEBHOOKS, SERVER)?.data)
    }

    fn webhook_log(&self, id: &str, limit: u32) -> Result<Vec<Delivery>> {
        let path = format!("{}?limit={limit}", webhook_path(id, "log"));
        Ok(self.get::<List<Delivery>>(&path, webhook_named(id))?.data)
    }

    fn replay_webhook(&self, id: &str, request: &ReplayRequest) -> Result<Replayed> {
        let about = if request.ids.is_some() {
            About { what: "webhook or delivery", name: id }
        } else {
            webhook_named(id)
        };
        self.post(&webhook_path(id, "replay"), request, about)
    }

    fn test_webhook(&self, id: &str) -> Result<Delivery> {
        self.post(&webhook_path(id, "test"), &json!({}), webhook_named(id))
    }
}
