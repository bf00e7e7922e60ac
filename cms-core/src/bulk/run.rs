//! Processes the objects of bulk jobs, one job after the other.
//!
//! A step processes some objects of the oldest job in one transaction, which also stores the
//! progress. Whatever needs no write transaction, such as calls of synchronous webhooks and validation,
//! happens before.

mod change;
mod delete;

use std::sync::Arc;

use cms_model::{
    content_type::catalog::CompiledType,
    context::{Caller, Stamp, Visibility},
    error::{Error, FieldErrors, Result, split_invalid},
    limits, message,
    object::{
        model::{Columns, Edition, StoredObject},
        view::View,
    },
    publish::right::ChangeKind,
    wire::bulk::{BulkAction, BulkJobState},
};
use cms_store::{ActorRef, JobProgress, JobRow, Reader, WriteTransaction};
use cms_system::lock;

use super::{
    Patch, RequestedChange, StepPatch, StoredRequest, payload_of, retry_position, rights,
    service::Bulk,
};
use crate::{
    auth::key_ring,
    hooks::{SynchronousCalls, WriteEvent},
    object::{
        service::may_change,
        write::{self, Context, Edit},
    },
};

/// The lock file of the process that runs bulk jobs.
const LOCK: &str = "jobs.lock";
/// The error of a job whose caller has lost the required rights.
const NO_RIGHTS: &str = "the rights of the caller no longer suffice";

/// The next objects of a job, prepared before the write is queued.
struct Step {
    job: JobRow,
    change: RequestedChange,
    context: Context,
    objects: Vec<StepObject>,
}

/// An object of the next transaction.
struct StepObject {
    position: u64,
    pk: i64,
    preparation: Preparation,
}

enum Preparation {
    /// The transaction changes the object; nothing was computed before.
    Unprepared,
    Patch(Box<StepPatch>),
    /// Refused by a synchronous webhook; the object has this id.
    Refused(String, FieldErrors),
    /// Nothing to do: the object was deleted since, is no longer visible to the request, or no longer
    /// has the value to replace.
    Skipped,
}

/// What a transaction did.
#[derive(Default)]
struct StepOutcome {
    /// Whether the job has more objects.
    has_more: bool,
    deleted: Vec<String>,
}

impl Bulk<'_> {
    /// Processes the next objects of the oldest job; returns whether more is to be done. A server
    /// calls it continuously.
    ///
    /// # Errors
    /// [`Error::Busy`], [`Error::NoSpace`] and [`Error::OutcomeUnknown`]: the call may be repeated. Other
    /// errors end the job.
    pub fn advance(&self) -> Result<bool> {
        if !self.has_open_job()? {
            return Ok(false);
        }
        // Another process works on the jobs, or another thread of this one.
        let Some(_lock) = lock::try_lock(&self.cms.config.folder.join(LOCK))? else {
            return Ok(false);
        };
        let next = self.cms.store.read(|reader| {
            let Some(job) = reader.next_bulk_job()? else { return Ok(None) };
            let objects = reader.next_job_objects(job.pk)?;
            Ok(Some((job, objects)))
        })?;
        let Some((job, objects)) = next else { return Ok(false) };
        let (pk, id, name) = (job.pk, job.id.clone(), job.type_name.clone());
        let result = self.prepare(job, &objects).and_then(|step| match step {
            Some(step) => self.carry_out(&name, step),
            None => self.fail(pk, NO_RIGHTS).map(|()| StepOutcome::default()),
        });
        match result {
            Ok(outcome) => {
                self.cms.after_deletion(&name, outcome.deleted.iter().map(String::as_str));
                Ok(outcome.has_more || self.has_open_job()?)
            }
            Err(error @ (Error::Busy(_) | Error::NoSpace(_) | Error::OutcomeUnknown)) => Err(error),
            Err(error) => {
                let cause = std::error::Error::source(&error);
                tracing::warn!(job = id, %error, ?cause, "bulk job failed");
                self.fail(pk, &failure_reason(&error))?;
                self.has_open_job()
            }
        }
    }

    fn has_open_job(&self) -> Result<bool> {
        self.cms.store.read_autocommit(|reader| Ok(reader.next_bulk_job()?.is_some()))
    }

    fn fail(&self, job: i64, reason: &str) -> Result<()> {
        let (reason, at) = (reason.to_owned(), self.cms.now());
        self.cms.store.write(move |writer| {
            writer.finish_bulk_job(job, BulkJobState::Failed, Some(&reason), at)
        })
    }

    /// Prepares a step; none when the caller no longer has the rights.
    fn prepare(&self, job: JobRow, objects: &[(u64, i64)]) -> Result<Option<Step>> {
        let request: StoredRequest = serde_json::from_str(&job.request).map_err(Error::internal)?;
        let action = BulkAction::parse(&job.action)
            .ok_or_else(|| Error::internal(format!("unknown action {}", job.action)))?;
        let change = RequestedChange { action, request };
        let (caller, content_type) = self.cms.read_with_catalog(|reader, catalog| {
            let caller = caller_of(reader, &job, &change)?;
            Ok((caller, Arc::clone(catalog.look_up(&job.type_name)?)))
        })?;
        let Some(caller) = caller.filter(|caller| is_allowed(caller, &content_type, &change))
        else {
            return Ok(None);
        };
        let objects = match action {
            BulkAction::Patch => self.patches(&caller, &content_type, &change, objects)?,
            BulkAction::Delete => self.deletions(&caller, &content_type, objects)?,
            BulkAction::Publish(_) | BulkAction::Transition => {
                let unprepared = |&(position, pk)| StepObject {
                    position,
                    pk,
                    preparation: Preparation::Unprepared,
                };
                objects.iter().map(unprepared).collect()
            }
        };
        // After the calls of webhooks, so that the changes have the date of their commit.
        let context = Context::new(&caller, &self.cms.config);
        Ok(Some(Step { job, change, context, objects }))
    }

    /// Calls the webhooks about changes of objects, and validates the changes. Leaves the last objects
    /// to the next step if the prepared data exceeds a limit, or the webhooks take long.
    fn patches(
        &self,
        caller: &Caller,
        content_type: &CompiledType,
        change: &RequestedChange,
        objects: &[(u64, i64)],
    ) -> Result<Vec<StepObject>> {
        let (name, mut bytes) = (content_type.name(), 0);
        let mut calls = self.cms.before_write(caller, name, WriteEvent::Update)?;
        let context = Context::new(caller, &self.cms.config);
        let mut prepared = Vec::with_capacity(objects.len());
        for &(position, pk) in objects {
            if bytes > limits::MAX_BULK_TRANSACTION_BYTES || is_short_of_time(calls.as_ref()) {
                break;
            }
            let found = self.find(caller, content_type, (pk, Columns::All), ChangeKind::Edit)?;
            let stored = match found {
                Ok(stored) => stored,
                Err(preparation) => {
                    prepared.push(StepObject { position, pk, preparation });
                    continue;
                }
            };
            let (id, requested) = (stored.id.to_string(), change.patch(content_type, &stored)?);
            let preparation = if requested.is_empty() {
                Preparation::Skipped
            } else if write::names_another_object(&requested, &id) {
                Preparation::Refused(id, FieldErrors::one("id", message::ID_MISMATCH))
            } else {
                match call_webhooks(calls.as_mut(), &id, requested.clone())? {
                    Ok(patch) => {
                        let payload = payload_of(&id, patch);
                        bytes += stored.data.len() + payload.len();
                        let objects = self.cms.objects();
                        let validated =
                            objects.prevalidate(caller, name, (Edit::Patch, &payload), &context);
                        let webhooks_were_called = calls.is_some();
                        let patch =
                            StepPatch { requested, webhooks_were_called, payload, validated };
                        Preparation::Patch(Box::new(patch))
                    }
                    Err(errors) => Preparation::Refused(id, errors),
                }
            };
            prepared.push(StepObject { position, pk, preparation });
        }
        Ok(prepared)
    }

    /// Calls the webhooks about deletions. Leaves the last objects to the next step if they take long.
    fn deletions(
        &self,
        caller: &Caller,
        content_type: &CompiledType,
        objects: &[(u64, i64)],
    ) -> Result<Vec<StepObject>> {
        let name = content_type.name();
        let mut calls = self.cms.before_write(caller, name, WriteEvent::Delete)?;
        let mut prepared = Vec::with_capacity(objects.len());
        for &(position, pk) in objects {
            if is_short_of_time(calls.as_ref()) {
                break;
            }
            let mut preparation = Preparation::Unprepared;
            if calls.is_some() {
                let wanted = (pk, Columns::WithoutProperties);
                preparation = match self.find(caller, content_type, wanted, ChangeKind::Delete)? {
                    Err(preparation) => preparation,
                    Ok(found) => match call_webhooks(calls.as_mut(), &found.id, Patch::new())? {
                        Ok(_) => Preparation::Unprepared,
                        Err(errors) => Preparation::Refused(found.id.to_string(), errors),
                    },
                };
            }
            prepared.push(StepObject { position, pk, preparation });
        }
        Ok(prepared)
    }

    /// Returns an object to be changed; if it cannot be changed, `Skipped` or `Refused`.
    fn find(
        &self,
        caller: &Caller,
        content_type: &CompiledType,
        wanted: (i64, Columns),
        kind: ChangeKind,
    ) -> Result<std::result::Result<StoredObject<'static>, Preparation>> {
        let view = View::for_object(caller, content_type);
        self.cms.store.read(|reader| {
            Ok(match stored(reader, content_type, view, wanted)? {
                None => Err(Preparation::Skipped),
                Some(stored) if !may_change(caller, content_type, &stored, kind) => {
                    Err(Preparation::Refused(stored.id.to_string(), rights::forbidden()))
                }
                Some(stored) => Ok(stored),
            })
        })
    }

    fn carry_out(&self, name: &str, step: Step) -> Result<StepOutcome> {
        let at = self.cms.now();
        self.cms.objects().write(name, move |writer, catalog, content_type| {
            // The job was stopped, or another process was faster.
            let Some(job) = writer.bulk_job(&step.job.id)?.filter(|job| !job.state.is_final())
            else {
                return Ok(StepOutcome::default());
            };
            let next = writer.next_job_objects(job.pk)?;
            let expected = step.objects.first().map(|first| (first.position, first.pk));
            if next.first().copied() != expected {
                return Ok(StepOutcome { has_more: true, deleted: Vec::new() });
            }
            let caller = caller_of(writer, &job, &step.change)?;
            let caller = caller.filter(|caller| is_allowed(caller, content_type, &step.change));
            let Some(caller) = caller else {
                writer.finish_bulk_job(job.pk, BulkJobState::Failed, Some(NO_RIGHTS), at)?;
                return Ok(StepOutcome::default());
            };
            rights::require_supported(
                content_type,
                step.change.action,
                &step.change.request.transition,
            )?;
            let mut transaction = Transaction {
                writer,
                content_type,
                view: View::for_object(&caller, content_type),
                caller,
                kind: rights::kind(step.change.action),
                stamp: step.context.stamp,
                job,
                progress: JobProgress::default(),
                deleted: Vec::new(),
                deferred: Vec::new(),
            };
            let count = step.objects.len();
            let last = step.objects.last().map(|last| last.position);
            match step.change.action {
                BulkAction::Delete => transaction.delete(step.objects)?,
                _ => transaction.change(catalog, &step.context, &step.change, step.objects)?,
            }
            let Transaction { job, progress, deleted, deferred, .. } = transaction;
            writer.remove_job_objects(job.pk, count)?;
            if let (Some(last), false) = (last, deferred.is_empty()) {
                writer.insert_job_chunk(job.pk, retry_position(job.total, last), &deferred)?;
            }
            writer.advance_bulk_job(job.pk, progress)?;
            let has_more = !writer.next_job_objects(job.pk)?.is_empty();
            if !has_more {
                writer.finish_bulk_job(job.pk, BulkJobState::Done, None, at)?;
            }
            Ok(StepOutcome { has_more, deleted })
        })
    }
}

/// The actor of a job with its current rights; none when it was removed.
fn caller_of(
    reader: &Reader<'_>,
    job: &JobRow,
    change: &RequestedChange,
) -> Result<Option<Caller>> {
    let caller = match job.actor {
        ActorRef::Local => Some(Caller::local()),
        ActorRef::Unknown => None,
        ActorRef::Row(pk) => key_ring::actor_of(reader, pk)?.map(|actor| Caller::new(actor.into())),
    };
    let public_only = change.request.public_only;
    let visibility = Visibility { preview: true, public_only };
    Ok(caller.map(|caller| caller.with_visibility(visibility)))
}

fn is_allowed(caller: &Caller, content_type: &CompiledType, change: &RequestedChange) -> bool {
    rights::require(caller, content_type, change.action, &change.request.transition).is_ok()
}

/// Returns whether the webhooks of a step have taken so long that the next object is left to the next step.
fn is_short_of_time(calls: Option<&SynchronousCalls<'_>>) -> bool {
    calls.is_some_and(SynchronousCalls::is_short_of_time)
}

/// Calls synchronous webhooks about an object; returns the data to write, or the errors.
fn call_webhooks(
    calls: Option<&mut SynchronousCalls<'_>>,
    id: &str,
    payload: Patch,
) -> Result<std::result::Result<Patch, FieldErrors>> {
    let Some(calls) = calls else { return Ok(Ok(payload)) };
    split_invalid(calls.call_with_id(id, payload))
}

/// Returns an object of the type, if it exists and is in the view.
fn stored(
    reader: &Reader<'_>,
    content_type: &CompiledType,
    view: View,
    (pk, columns): (i64, Columns),
) -> Result<Option<StoredObject<'static>>> {
    let mut found = None;
    reader.object_rows(Edition::Current, &[pk], columns, |ctd, stored| {
        if ctd == content_type.pk && view.contains_object(&stored.internal) {
            found = Some(stored.into_owned());
        }
        Ok(())
    })?;
    Ok(found)
}

/// The transaction of a step.
struct Transaction<'a> {
    writer: &'a WriteTransaction<'a>,
    content_type: &'a CompiledType,
    caller: Caller,
    view: View,
    kind: ChangeKind,
    stamp: Stamp,
    job: JobRow,
    progress: JobProgress,
    deleted: Vec<String>,
    /// Objects to try once more: they have positions after `job.total`.
    deferred: Vec<i64>,
}

impl Transaction<'_> {
    fn may_change(&self, stored: &StoredObject<'_>) -> bool {
        may_change(&self.caller, self.content_type, stored, self.kind)
    }

    fn stored(&self, pk: i64, columns: Columns) -> Result<Option<StoredObject<'static>>> {
        stored(self.writer, self.content_type, self.view, (pk, columns))
    }

    fn succeed(&mut self) {
        self.progress.succeeded += 1;
        self.progress.done += 1;
    }

    fn refuse(&mut self, position: u64, id: &str, errors: &FieldErrors) -> Result<()> {
        self.progress.refused += 1;
        self.progress.done += 1;
        if self.job.refused + self.progress.refused > limits::MAX_JOB_REFUSALS {
            return Ok(());
        }
        self.writer.refuse_job_object(self.job.pk, position, (id, errors))
    }
}

/// Why a job failed: validation errors with their paths.
fn failure_reason(error: &Error) -> String {
    let Error::Invalid(errors) = error else { return error.to_string() };
    let with_path =
        |(path, messages): (&str, &[String])| format!("{path}: {}", messages.join("; "));
    errors.iter().map(with_path).collect::<Vec<_>>().join("; ")
}
