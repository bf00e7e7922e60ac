//! A running server, asked through its HTTP API. Its addresses are in [`path`], files
//! in [`media`].

mod media;
mod path;

use std::{io::Read, sync::OnceLock, thread, time::Duration};

use cms_core::{
    Error, Result, limits,
    wire::{
        batch::BatchReport,
        check::{Check, CheckRequest},
        context::AuthContext,
        ctd::ContentType,
        error::from_response,
        graphql::{GraphQlRequest, GraphQlVersion},
        key::{CreatedKey, Key, NewKey},
        list::List,
        media::UploadRequest,
        object::ListRequest,
        openapi::OpenApiRequest,
        plan::{ApplyRequest, Plan, PlanRequest},
        publish::PublishAction,
        search::{Job, JobCreated, SearchRequest},
        workflow::{Workflow, WorkflowState},
    },
};
use reqwest::{
    Method, Url,
    blocking::{Client, Response},
    header::{CONTENT_TYPE, RETRY_AFTER},
    redirect::Policy,
};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

use self::path::{
    CHECK, JOBS, KEYS, REINDEX, SEARCH, TYPES, WHO, WORKFLOW_STATES, WORKFLOWS, list_query,
    object_path, objects_path, openapi_path, search_query, segment, state_path, type_path,
};
use super::{Edition, Outgoing, Rewriting, Target, all_pages, reindex_payload};
use crate::failure::{self, Failure, Kind};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// A plan or a batch over a large type takes its time.
const ANSWER_TIMEOUT: Duration = Duration::from_mins(5);
/// Attempts of a request that may be repeated.
const ATTEMPTS: u32 = 4;
/// Longest pause that a server can ask for.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// A server and the key for it.
pub(crate) struct Remote {
    base: String,
    key: String,
    client: OnceLock<Client>,
}

/// What a request is about, for "not found".
#[derive(Clone, Copy)]
struct About<'a> {
    what: &'static str,
    name: &'a str,
}

const SERVER: About<'_> = About { what: "server", name: "" };

impl Remote {
    pub(crate) fn new(url: &str, key: Option<&str>) -> failure::Result<Self> {
        let parsed = Url::parse(url)
            .ok()
            .filter(|parsed| matches!(parsed.scheme(), "http" | "https") && parsed.has_host());
        if parsed.is_none() {
            return Err(Failure::usage(format!("\"{url}\" is not the URL of a server"))
                .hint("for example --server http://127.0.0.1:8080"));
        }
        let Some(key) = key else {
            return Err(Failure::from(Kind::Target(Error::Unauthenticated))
                .hint("set CMS_KEY, or name a file with --key-file"));
        };
        Ok(Self {
            base: url.trim_end_matches('/').to_owned(),
            key: key.to_owned(),
            client: OnceLock::new(),
        })
    }

    fn client(&self) -> Result<&Client> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        // Fails only when a provider is installed already, which is as good.
        rustls::crypto::ring::default_provider().install_default().ok();
        let client = Client::builder()
            .user_agent(concat!("cms/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT_TIMEOUT)
            .timeout(ANSWER_TIMEOUT)
            .redirect(Policy::none())
            .build()
            .map_err(|error| Error::Internal(Box::new(error)))?;
        Ok(self.client.get_or_init(|| client))
    }

    /// Sends a request and returns status and body of the answer. Only what is `safe` to do twice
    /// is repeated when the server is busy.
    fn send(
        &self,
        method: &Method,
        path: &str,
        body: Option<&[u8]>,
        safe: bool,
    ) -> Result<(u16, Vec<u8>)> {
        self.send_for(Edition::Current, method, path, body, safe)
    }

    fn send_for(
        &self,
        edition: Edition,
        method: &Method,
        path: &str,
        body: Option<&[u8]>,
        safe: bool,
    ) -> Result<(u16, Vec<u8>)> {
        let answer = self.answer(edition, method, path, body, safe)?;
        let status = answer.status().as_u16();
        let bytes = answer.bytes().map_err(|error| self.unreachable(&error))?;
        Ok((status, bytes.to_vec()))
    }

    /// Sends a request; the body of the answer is still to be read.
    fn answer(
        &self,
        edition: Edition,
        method: &Method,
        path: &str,
        body: Option<&[u8]>,
        safe: bool,
    ) -> Result<Response> {
        let url = format!("{}{path}", self.base);
        for attempt in 1.. {
            let mut request =
                self.client()?.request(method.clone(), &url).header("X-AUTH-TOKEN", &self.key);
            if edition == Edition::Current {
                request = request.header("X-MODE", "preview");
            }
            if let Some(body) = body {
                request = request.header(CONTENT_TYPE, "application/json").body(body.to_vec());
            }
            let answer = request.send().map_err(|error| self.unreachable(&error))?;
            if safe && attempt < ATTEMPTS && matches!(answer.status().as_u16(), 429 | 503) {
                thread::sleep(pause(&answer));
                continue;
            }
            return Ok(answer);
        }
        unreachable!("the loop ends by returning")
    }

    /// Why there is no answer, without what would differ from one machine to the next.
    fn unreachable(&self, error: &reqwest::Error) -> Error {
        let reason = if error.is_timeout() {
            "did not answer in time"
        } else if error.is_connect() {
            "cannot be reached"
        } else {
            "broke the connection off"
        };
        Error::Unreachable(format!("{} {reason}", self.base))
    }

    fn ask<T: DeserializeOwned>(
        &self,
        method: &Method,
        path: &str,
        body: Option<&[u8]>,
        about: About<'_>,
    ) -> Result<T> {
        let safe = *method == Method::GET;
        let (status, bytes) = self.send(method, path, body, safe)?;
        parse(status, &bytes, about)
    }

    fn get<T: DeserializeOwned>(&self, path: &str, about: About<'_>) -> Result<T> {
        self.ask(&Method::GET, path, None, about)
    }

    fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
        about: About<'_>,
    ) -> Result<T> {
        self.ask(&Method::POST, path, Some(&text(body)?), about)
    }

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

    /// Deletes; the answer has no body.
    fn delete(&self, path: &str, about: About<'_>) -> Result<()> {
        let (status, bytes) = self.send(&Method::DELETE, path, None, false)?;
        done(status, &bytes, about)
    }

    /// Brings something into a state in which it may be already; the answer has no body.
    fn bring(&self, path: &str, body: Option<&[u8]>, about: About<'_>) -> Result<()> {
        let (status, bytes) = self.send(&Method::POST, path, body, true)?;
        done(status, &bytes, about)
    }
}

impl Target for Remote {
    fn describe(&self) -> Result<String> {
        let context: AuthContext = self.get(WHO, SERVER)?;
        Ok(format!("{} (key \"{}\")", self.base, context.api_key.name))
    }

    fn types(&self) -> Result<Vec<ContentType>> {
        all_pages(|number| {
            self.get(&format!("{TYPES}?page={number}&limit={}", limits::TYPE_PAGE_MAX), SERVER)
        })
    }

    fn get_type(&self, name: &str) -> Result<ContentType> {
        self.get(&type_path(name), type_named(name))
    }

    fn delete_type(&self, name: &str) -> Result<()> {
        self.delete(&type_path(name), type_named(name))
    }

    fn plan(&self, request: &PlanRequest) -> Result<Plan> {
        // A plan changes nothing, so it may be asked for again.
        let path = format!("{TYPES}/plan");
        let (status, bytes) = self.send(&Method::POST, &path, Some(&text(request)?), true)?;
        parse(status, &bytes, SERVER)
    }

    fn apply(&self, request: &ApplyRequest) -> Result<Plan> {
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

    fn versions(&self, content_type: &str, id: &str) -> Result<Vec<Value>> {
        let name = format!("{content_type}/{id}");
        let path = format!("{}/version", object_path(content_type, id));
        let versions = all_pages(|number| {
            let path = format!("{path}?page={number}&limit={}", limits::PAGE_MAX);
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
        update_existing: bool,
    ) -> Result<BatchReport> {
        let path = format!("{}/batch?updateExisting={update_existing}", objects_path(content_type));
        let (status, bytes) = self.send(&Method::POST, &path, Some(&text(&elements)?), false)?;
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

    fn check(&self, request: &CheckRequest) -> Result<Check> {
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
}

fn text(body: &impl Serialize) -> Result<Vec<u8>> {
    serde_json::to_vec(body).map_err(|error| Error::Internal(Box::new(error)))
}

/// Whether the answer says that something was done.
fn done(status: u16, bytes: &[u8], about: About<'_>) -> Result<()> {
    if status < 300 { Ok(()) } else { Err(from_response(status, bytes, about.what, about.name)) }
}

fn parse<T: DeserializeOwned>(status: u16, bytes: &[u8], about: About<'_>) -> Result<T> {
    done(status, bytes, about)?;
    serde_json::from_slice(bytes)
        .map_err(|error| Error::internal(format!("the server's answer cannot be read: {error}")))
}

/// How long a busy server wants to be left alone.
fn pause(answer: &Response) -> Duration {
    let seconds =
        answer.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
    Duration::from_secs(seconds.unwrap_or(1)).min(LONGEST_PAUSE)
}

fn type_named(name: &str) -> About<'_> {
    About { what: "content type", name }
}

fn object_named(name: &str) -> About<'_> {
    About { what: "object", name }
}

fn workflow_named(id: &str) -> About<'_> {
    About { what: "workflow", name: id }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_urls_of_servers_are_taken() {
        for url in ["", "localhost:8080", "ftp://x", "http://", "/data"] {
            assert!(Remote::new(url, Some("k")).is_err(), "{url}");
        }
        assert_eq!(Remote::new("http://h:1/p/", Some("k")).unwrap().base, "http://h:1/p");
        assert_eq!(Remote::new("http://h", None).err().unwrap().exit_code(), 3);
    }
}
