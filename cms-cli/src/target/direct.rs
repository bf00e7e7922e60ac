//! A data directory, opened by this process.

mod import;

use std::{
    io::{self, Read, Write},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use cms_core::{
    Caller, Cms, CoreConfig, Durability, Edition, Error, ImageBody, NewDatabase, Progress, Result,
    Visibility, limits,
    paging::PageRequest,
    wire::{
        activity::{ActivityPage, ActivityRequest},
        bulk::{BulkJob, BulkResponse},
        check::{CheckReport, CheckRequest},
        content_type::{ContentType, TypeListRequest},
        context::AuthContext,
        graphql::{GraphQlRequest, GraphQlVersion},
        json,
        key::{CreatedKey, Key, KeyUpdate, NewKey},
        list::List,
        media::{ImageRequest, UploadRequest},
        object::{Direction, IncomingLinks, Json, ObjectRequest, ValidateRequest},
        openapi::OpenApiRequest,
        plan::{ApplyRequest, PlanRequest, ProjectPlan},
        preview::{Preview, PreviewRequest},
        publish::PublishAction,
        schedule::{ScheduledObject, SchedulesRequest},
        search::{ReindexCreated, ReindexJob, SearchRequest},
        session::LinkKind,
        trash::{EmptiedTrash, EmptyTrashRequest, RestoreRequest, TrashItem, TrashRequest},
        user::{CreatedUser, Link, User, UserListRequest},
        webhook::{Delivery, ReplayRequest, Replayed, WebhookStatus},
        workflow::{Workflow, WorkflowState},
    },
};
use serde_json::{Map, Value};
use tempfile::TempDir;

use super::{FileUpload, Target, all_pages, link_payload, reindex_payload, schedule_payload};
use crate::{
    failure::{self, Failure},
    settings::Settings,
};

/// How long a search waits until all objects are indexed.
const SEARCH_WAIT: Duration = Duration::from_mins(10);

/// A data directory and a caller with all rights.
pub(crate) struct Direct {
    cms: Arc<Cms>,
    /// Sees current versions in every status.
    caller: Caller,
    /// Sees published versions.
    reader: Caller,
    /// Set when the data directory does not exist yet. Declared last: the temporary files are
    /// removed after `cms` is closed.
    placeholder: Option<Placeholder>,
}

/// A temporary data directory instead of one that does not exist yet.
struct Placeholder {
    path: PathBuf,
    _folder: TempDir,
}

impl Direct {
    /// Opens a temporary empty data directory instead of a new one at `path`.
    pub(crate) fn empty(path: &Path) -> failure::Result<Self> {
        let temporary = tempfile::tempdir().map_err(|error| {
            Failure::unwritable("a temporary directory", error)
                .hint("set TMPDIR to a writable directory")
        })?;
        let config =
            CoreConfig { durability: Durability::Normal, ..CoreConfig::new(temporary.path()) };
        let mut target = Self::new(Arc::new(open_directory(config)?));
        target.placeholder = Some(Placeholder { path: path.to_owned(), _folder: temporary });
        Ok(target)
    }

    /// Opens a data directory; only a command that changes something creates its database.
    pub(crate) fn open(folder: &Path, settings: &Settings, changes: bool) -> failure::Result<Self> {
        let config = CoreConfig {
            search_wait: SEARCH_WAIT,
            media: settings.media.clone(),
            http_webhooks: settings.http_webhooks,
            new_database: if changes { settings.new_database() } else { NewDatabase::Never },
            ..CoreConfig::new(folder)
        };
        Ok(Self::new(Arc::new(open_directory(config)?)))
    }

    /// Uses an open data directory.
    pub(crate) fn new(cms: Arc<Cms>) -> Self {
        let preview = Visibility { preview: true, public_only: false };
        let caller = Caller::local().with_visibility(preview);
        Self { cms, caller, reader: Caller::local(), placeholder: None }
    }

    fn caller_of(&self, edition: Edition) -> &Caller {
        match edition {
            Edition::Published => &self.reader,
            Edition::Current => &self.caller,
        }
    }
}

/// Opens a data directory. An unusable one is a usage error.
pub(crate) fn open_directory(config: CoreConfig) -> failure::Result<Cms> {
    let name = config.folder.display().to_string();
    Cms::open(config).map_err(|error| match error {
        Error::Internal(reason) => {
            Failure::usage(format!("cannot open data directory {name}: {reason}")).hint(
                "check that it is writable and its database is not damaged, use another one with \
                 --data, or restore a backup with `cms restore`",
            )
        }
        missing @ Error::NotFound { .. } => Failure::from(missing)
            .hint("create it with `cms serve --data DIR` or any command that changes something"),
        other => other.into(),
    })
}

impl Target for Direct {
    fn describe(&self) -> Result<String> {
        let folder = &self.cms.config().folder;
        Ok(self.placeholder.as_ref().map_or(folder, |new| &new.path).display().to_string())
    }

    fn auth_context(&self) -> Result<AuthContext> {
        self.cms.auth_context(&self.caller)
    }

    fn parts(&self) -> Result<Map<String, Value>> {
        let state = |error: Option<String>| error.unwrap_or_else(|| "ok".to_owned()).into();
        Ok(self
            .cms
            .readiness()
            .into_iter()
            .map(|part| (part.name.to_owned(), state(part.error)))
            .collect())
    }

    fn types(&self) -> Result<Vec<ContentType>> {
        all_pages(limits::MAX_TYPE_PAGE_SIZE, |page| {
            let request = TypeListRequest { page, ..TypeListRequest::default() };
            self.cms.types().list(&self.caller, &request)
        })
    }

    fn get_type(&self, name: &str) -> Result<ContentType> {
        self.cms.types().get(&self.caller, name)
    }

    fn delete_type(&self, name: &str) -> Result<()> {
        self.cms.types().delete(&self.caller, name)
    }

    fn plan(&self, request: &PlanRequest, progress: &Progress) -> Result<ProjectPlan> {
        self.cms.types().plan_with_progress(&self.caller, request, progress)
    }

    fn apply(&self, request: &ApplyRequest, progress: &Arc<Progress>) -> Result<ProjectPlan> {
        self.cms.types().apply_with_progress(&self.caller, request, Arc::clone(progress))
    }

    fn object(&self, content_type: &str, id: &str, request: &ObjectRequest) -> Result<Value> {
        let objects = self.cms.objects();
        Ok(objects.render(&self.caller, content_type, id, request)?.json.to_value())
    }

    fn create_object(&self, content_type: &str, object: Map<String, Value>) -> Result<Value> {
        Ok(self.cms.objects().create(&self.caller, content_type, object)?.to_value())
    }

    fn update_object(
        &self,
        content_type: &str,
        id: &str,
        object: Map<String, Value>,
        patch: bool,
    ) -> Result<Value> {
        let objects = self.cms.objects();
        let updated = if patch {
            objects.patch(&self.caller, content_type, id, object)?
        } else {
            objects.replace(&self.caller, content_type, id, object)?
        };
        Ok(updated.to_value())
    }

    fn validate_object(
        &self,
        content_type: &str,
        object: Map<String, Value>,
        request: &ValidateRequest,
    ) -> Result<()> {
        self.cms.objects().validate(&self.caller, content_type, request, object)
    }

    fn incoming(&self, content_type: &str, id: &str, page: PageRequest) -> Result<IncomingLinks> {
        self.cms.objects().incoming(&self.caller, content_type, id, None, page)
    }

    fn delete_objects(&self, content_type: &str, ids: &[String]) -> Result<u64> {
        self.cms.objects().batch_delete(&self.caller, content_type, ids)
    }

    fn deleted_ids(&self, content_type: &str) -> Result<Vec<String>> {
        self.cms.objects().deleted_ids(&self.caller, content_type, None)
    }

    fn trash(&self, request: &TrashRequest) -> Result<List<TrashItem>> {
        self.cms.trash().list(&self.caller, request)
    }

    fn trash_entry(&self, entry: &str) -> Result<Value> {
        Ok(self.cms.trash().get(&self.caller, entry)?.to_value())
    }

    fn restore(&self, entry: &str, request: &RestoreRequest) -> Result<Value> {
        Ok(self.cms.trash().restore(&self.caller, entry, request.clone())?.to_value())
    }

    fn remove_trash(&self, entry: &str) -> Result<()> {
        self.cms.trash().remove(&self.caller, entry)
    }

    fn empty_trash(&self, request: &EmptyTrashRequest) -> Result<EmptiedTrash> {
        self.cms.trash().empty(&self.caller, request)
    }

    fn versions(&self, content_type: &str, id: &str) -> Result<Vec<Value>> {
        all_pages(limits::MAX_PAGE_SIZE, |page| {
            let direction = Direction::Ascending;
            list(&self.cms.objects().versions(&self.caller, content_type, id, page, direction)?)
        })
    }

    fn version(&self, content_type: &str, id: &str, version: u64) -> Result<Value> {
        let version = version.to_string();
        Ok(self.cms.objects().version(&self.caller, content_type, id, &version)?.to_value())
    }

    fn upload(&self, file: FileUpload, request: &UploadRequest) -> Result<Value> {
        let mut incoming = self.cms.media().receive()?;
        io::copy(&mut (file.open)().map_err(Error::from_io)?, &mut incoming)
            .map_err(Error::from_io)?;
        Ok(self.cms.media().upload(&self.caller, Some(incoming), request)?.to_value())
    }

    fn file(&self, id: &str, extension: &str) -> Result<Box<dyn Read + '_>> {
        let name = format!("{id}.{extension}");
        let request = ImageRequest { path: &["0x0", &name], ..ImageRequest::default() };
        let image = self.cms.media().find(&request)?;
        let ImageBody::Original { size } = self.cms.media().image_body(&image)? else {
            return Err(Error::internal("the original file was requested"));
        };
        Ok(Box::new(self.cms.media().open(image, size)))
    }

    fn set_status(
        &self,
        content_type: &str,
        id: &str,
        action: PublishAction,
        cascade: bool,
    ) -> Result<()> {
        self.cms.publishing().set_status(&self.caller, content_type, id, action, cascade)
    }

    fn schedules(&self, content_types: &[String]) -> Result<Vec<ScheduledObject>> {
        let content_types = (!content_types.is_empty()).then(|| content_types.to_vec());
        all_pages(limits::MAX_PAGE_SIZE, |page| {
            let content_types = content_types.clone();
            let request = SchedulesRequest { page, content_types, ..SchedulesRequest::default() };
            self.cms.publishing().schedules(&self.caller, &request)
        })
    }

    fn schedule(&self, content_type: &str, id: &str, at: &str, zone: &str) -> Result<Value> {
        let payload = schedule_payload(at, zone);
        Ok(self.cms.publishing().schedule(&self.caller, content_type, id, payload)?.to_value())
    }

    fn unschedule(&self, content_type: &str, id: &str) -> Result<()> {
        self.cms.publishing().unschedule(&self.caller, content_type, id)
    }

    fn create_workflow(&self, definition: Map<String, Value>) -> Result<Workflow> {
        self.cms.workflows().create(&self.caller, definition)
    }

    fn replace_workflow(&self, id: &str, definition: Map<String, Value>) -> Result<Workflow> {
        self.cms.workflows().replace(&self.caller, id, definition)
    }

    fn delete_workflow(&self, id: &str) -> Result<()> {
        self.cms.workflows().delete(&self.caller, id)
    }

    fn workflow_state(&self, content_type: &str, id: &str) -> Result<WorkflowState> {
        self.cms.workflows().state(&self.caller, content_type, id)
    }

    fn search(&self, request: &SearchRequest, edition: Edition) -> Result<Value> {
        Ok(self.cms.search().search(self.caller_of(edition), request)?.to_value())
    }

    fn reindex(&self, content_types: &[String]) -> Result<ReindexCreated> {
        self.cms.search().reindex(&self.caller, &reindex_payload(content_types))
    }

    fn reindex_job(&self, id: &str) -> Result<ReindexJob> {
        // Without a server, this process does the work.
        self.cms.search().index_batch()?;
        self.cms.search().job(&self.caller, id)
    }

    fn bulk(&self, content_type: &str, request: &Map<String, Value>) -> Result<BulkResponse> {
        self.cms.bulk().create(&self.caller, content_type, request)
    }

    fn bulk_jobs(&self) -> Result<Vec<BulkJob>> {
        all_pages(limits::MAX_PAGE_SIZE, |page| self.cms.bulk().list(&self.caller, page))
    }

    fn bulk_job(&self, id: &str) -> Result<BulkJob> {
        self.cms.bulk().get(&self.caller, id)
    }

    fn stop_bulk_job(&self, id: &str) -> Result<()> {
        self.cms.bulk().stop(&self.caller, id)
    }

    fn advance_bulk_jobs(&self) -> Result<bool> {
        self.cms.bulk().advance()
    }

    fn backup(&self, output: &mut dyn Write) -> Result<()> {
        let copied = self.cms.backups().begin()?;
        self.cms.backups().write(copied, output).map(drop)
    }

    fn check(&self, request: &CheckRequest) -> Result<CheckReport> {
        self.cms.check(request)
    }

    fn openapi(&self, request: &OpenApiRequest) -> Result<Value> {
        Ok(self.cms.openapi().document(&self.caller, request)?.text.to_value())
    }

    fn preview(&self, request: &PreviewRequest, base_url: &str) -> Result<Preview> {
        self.cms.previews().create(&self.caller, request, base_url)
    }

    fn graphql_schema(&self, version: GraphQlVersion) -> Result<String> {
        self.cms.graphql().schema(&self.caller, version)
    }

    fn graphql(
        &self,
        version: GraphQlVersion,
        request: &GraphQlRequest,
        edition: Edition,
    ) -> Result<Value> {
        let response = self.cms.graphql().execute(self.caller_of(edition), version, request)?;
        serde_json::from_slice(&response.body).map_err(Error::internal)
    }

    fn keys(&self) -> Result<Vec<Key>> {
        Ok(self.cms.keys().list(&self.caller)?.data)
    }

    fn create_key(&self, new: &NewKey) -> Result<CreatedKey> {
        self.cms.keys().create(&self.caller, new)
    }

    fn update_key(&self, id: &str, update: &KeyUpdate) -> Result<Key> {
        self.cms.keys().update(&self.caller, id, update)
    }

    fn rotate_key(&self, id: &str, grace_hours: i64) -> Result<CreatedKey> {
        self.cms.keys().rotate(&self.caller, id, grace_hours)
    }

    fn activity(&self, request: &ActivityRequest) -> Result<ActivityPage> {
        self.cms.activity().list(&self.caller, request)
    }

    fn revoke_key(&self, id: &str) -> Result<()> {
        self.cms.keys().revoke(&self.caller, id)
    }

    fn users(&self, request: &UserListRequest) -> Result<Vec<User>> {
        all_pages(limits::MAX_PAGE_SIZE, |page| {
            let request = UserListRequest { page, ..request.clone() };
            self.cms.users().list(&self.caller, &request)
        })
    }

    fn user(&self, id: &str) -> Result<User> {
        self.cms.users().get(&self.caller, id)
    }

    fn create_user(&self, payload: &Map<String, Value>, public_url: &str) -> Result<CreatedUser> {
        self.cms.users().create(&self.caller, payload, public_url)
    }

    fn update_user(&self, id: &str, payload: &Map<String, Value>) -> Result<User> {
        self.cms.users().update(&self.caller, id, payload)
    }

    fn delete_user(&self, id: &str) -> Result<()> {
        self.cms.users().delete(&self.caller, id)
    }

    fn create_user_link(&self, id: &str, kind: Option<LinkKind>, public_url: &str) -> Result<Link> {
        self.cms.users().create_link(&self.caller, id, &link_payload(kind), public_url)
    }

    fn sign_out_user(&self, id: &str) -> Result<()> {
        self.cms.users().end_sessions(&self.caller, id)
    }

    fn webhooks(&self) -> Result<Vec<WebhookStatus>> {
        Ok(self.cms.webhooks().list(&self.caller)?.data)
    }

    fn webhook_log(&self, id: &str, limit: u32) -> Result<Vec<Delivery>> {
        Ok(self.cms.webhooks().log(&self.caller, id, PageRequest { number: 1, limit })?.data)
    }

    fn replay_webhook(&self, id: &str, request: &ReplayRequest) -> Result<Replayed> {
        self.cms.webhooks().replay(&self.caller, id, request)
    }

    fn test_webhook(&self, id: &str) -> Result<Delivery> {
        self.cms.webhooks().test(&self.caller, id)
    }
}

/// Parses the list envelope that the core returns as text.
fn list(list: &Json) -> Result<List<Value>> {
    json::from_slice(&list.0).map_err(Error::internal)
}
