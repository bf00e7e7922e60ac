//! Creates, shows and stops bulk jobs.

use cms_model::{
    content_type::catalog::CompiledType,
    context::Caller,
    dates,
    error::{Error, FieldErrors, Result},
    limits, message,
    object::replace::Replacement,
    paging::PageRequest,
    wire::{
        bulk::{BulkAction, BulkJob, BulkJobState, BulkRequest, BulkResponse, JobRefusal},
        list::List,
    },
};
use cms_store::{ActorRef, Authors, JobFilter, JobRow, NewJob, Reader};
use serde_json::{Map, Value};

use super::{RequestedChange, StoredRequest, dry_run::BulkDryRun, matching, rights};
use crate::{cms::service, object::write::Context};

/// The kind of the jobs in responses.
const KIND: &str = "bulk";

service! {
    /// Bulk jobs.
    Bulk, bulk
}

impl Bulk<'_> {
    /// Creates a job from a payload, or shows what it would do.
    ///
    /// # Errors
    /// [`Error::MatchesChanged`] when the number of matching objects is not the expected one; then
    /// nothing is done.
    pub fn create(
        &self,
        caller: &Caller,
        name: &str,
        payload: &Map<String, Value>,
    ) -> Result<BulkResponse> {
        let objects = self.cms.objects();
        let text = |member| payload.get(member).and_then(Value::as_str).unwrap_or_default();
        let wanted = BulkAction::parse(text("action"));
        let needs = rights::needs(wanted.unwrap_or(BulkAction::Patch));
        let content_type = objects.content_type(caller, name, needs)?;
        if let Some(action) = wanted {
            rights::require(caller, &content_type, action, text("transition"))?;
        }
        let request = BulkRequest::from_payload(payload)?;
        let (action, transition) = (request.action, request.transition.as_str());
        if let Some(response) = objects.stored_response(caller)? {
            return serde_json::from_slice(&response).map_err(Error::internal);
        }
        rights::require_supported(&content_type, action, transition)?;
        require_properties(&content_type, &request.replace)?;
        let change = RequestedChange {
            action,
            request: StoredRequest {
                patch: request.patch.clone(),
                replace: request.replace.clone(),
                transition: transition.to_owned(),
                public_only: caller.visibility.public_only,
            },
        };
        let search = self.cms.search();
        let found = request.q.as_deref().map(|q| search.matches(&content_type, q)).transpose()?;
        let context = Context::new(caller, &self.cms.config);
        let pks = self.cms.read_with_catalog(|reader, catalog| {
            let content_type = catalog.get(name)?;
            let of_type = (catalog, &**content_type);
            let pks = matching::object_pks(reader, caller, of_type, &request, found.as_ref())?;
            let (context, change) = (&context, &change);
            Ok(match request.expect {
                None => {
                    let dry_run =
                        BulkDryRun { caller, reader, catalog, content_type, context, change };
                    Err(dry_run.response(&pks)?)
                }
                Some(expected) if expected != pks.len() as u64 => {
                    return Err(Error::MatchesChanged { expected, found: pks.len() as u64 });
                }
                Some(_) => Ok(pks),
            })
        })?;
        let pks = match pks {
            Ok(pks) => pks,
            Err(result) => return Ok(BulkResponse::DryRun(result)),
        };
        let new = NewJob {
            id: self.cms.config.ids.uuid(),
            content_type: (content_type.pk, name.to_owned()),
            action: action.as_str(),
            request: serde_json::to_string(&change.request).map_err(Error::internal)?,
            actor: caller.actor().pk,
            at: self.cms.now(),
        };
        let response = objects.begin_once(caller, name, move |writer, _, _| {
            if writer.count_open_bulk_jobs()? >= limits::MAX_OPEN_JOBS {
                return Err(Error::Busy("too many jobs are waiting".to_owned()));
            }
            writer.insert_bulk_job(&new, &pks)?;
            let response = BulkResponse::Created { id: new.id };
            serde_json::to_vec(&response).map_err(Error::internal)
        })?;
        serde_json::from_slice(&response.wait()?).map_err(Error::internal)
    }

    /// Returns the paths of the filters in a payload that the type does not declare.
    pub fn unknown_filters(
        &self,
        caller: &Caller,
        name: &str,
        payload: &Map<String, Value>,
    ) -> Vec<String> {
        match payload.get("filters") {
            Some(filters) => self.cms.objects().unknown_filters(caller, name, &filters.to_string()),
            None => Vec::new(),
        }
    }

    /// Lists the jobs of the caller, newest first; for an admin all jobs.
    pub fn list(&self, caller: &Caller, page: PageRequest) -> Result<List<BulkJob>> {
        let owner = if caller.is_admin() {
            JobFilter::All
        } else {
            JobFilter::StartedBy(caller.actor().pk)
        };
        self.cms.store.read(|reader| {
            let total = reader.count_bulk_jobs(owner)?;
            let rows = reader.bulk_jobs(owner, page.offset(), page.limit)?;
            let authors = reader.authors(rows.iter().map(|job| job.actor))?;
            let jobs = rows.into_iter().map(|job| to_wire(caller, &authors, job, None));
            Ok(List::new(page, total, jobs.collect()))
        })
    }

    /// Returns a job of the caller, or for an admin any job.
    pub fn get(&self, caller: &Caller, id: &str) -> Result<BulkJob> {
        self.cms.store.read(|reader| {
            let job = find(reader, caller, id)?;
            let refused = reader.refused_job_objects(job.pk)?;
            let authors = reader.authors([job.actor])?;
            let errors = refused.into_iter().map(|(id, errors)| JobRefusal { id, errors });
            Ok(to_wire(caller, &authors, job, Some(errors.collect())))
        })
    }

    /// Stops a job: no further transaction begins. A job that has ended stays as it is.
    pub fn stop(&self, caller: &Caller, id: &str) -> Result<()> {
        let (caller, id, at) = (caller.clone(), id.to_owned(), self.cms.now());
        self.cms.store.write(move |writer| {
            let job = find(writer, &caller, &id)?;
            if job.state.is_final() {
                return Ok(());
            }
            writer.finish_bulk_job(job.pk, BulkJobState::Stopped, None, at)
        })
    }
}

/// Refuses to replace values of properties that the type does not have.
fn require_properties(content_type: &CompiledType, replace: &[Replacement]) -> Result<()> {
    let properties = content_type.definition.properties();
    let mut errors = FieldErrors::default();
    for (index, replacement) in replace.iter().enumerate() {
        let name = replacement.property();
        if !properties.iter().any(|property| property.name == name) {
            errors.add(format!("replace[{index}].path"), message::undeclared(name));
        }
    }
    errors.into_result()
}

fn find(reader: &Reader<'_>, caller: &Caller, id: &str) -> Result<JobRow> {
    let is_visible =
        |job: &JobRow| caller.is_admin() || job.actor == ActorRef::from(caller.actor().pk);
    let found = reader.bulk_job(id)?.filter(is_visible);
    found.ok_or_else(|| Error::not_found("job", id))
}

fn to_wire(
    caller: &Caller,
    authors: &Authors,
    job: JobRow,
    errors: Option<Vec<JobRefusal>>,
) -> BulkJob {
    BulkJob {
        id: job.id,
        kind: KIND.to_owned(),
        state: job.state,
        action: job.action,
        total: job.total,
        done: job.done,
        succeeded: job.succeeded,
        refused: job.refused,
        errors,
        error: job.error,
        by: authors.author_of(job.actor).shown_to(caller, &job.type_name),
        content_type: job.type_name,
        created_at: dates::microsecond_date(job.created_at),
        finished_at: job.finished_at.map(dates::microsecond_date),
    }
}
