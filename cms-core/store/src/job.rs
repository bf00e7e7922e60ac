//! Rows of bulk jobs, and of the objects that they have still to process or have refused.

use cms_model::{
    clock::Timestamp,
    error::{Error, FieldErrors, Result},
    wire::bulk::JobState,
};
use rusqlite::{Row, params};

use super::{Reader, Writer, actor::ActorRef};

/// A job to be stored with its objects.
#[derive(Clone, Debug)]
pub struct NewJob {
    pub id: String,
    pub content_type: (i64, String),
    pub action: &'static str,
    /// What the action needs, as JSON.
    pub request: String,
    pub actor: Option<i64>,
    pub at: Timestamp,
}

/// A job.
#[derive(Clone, Debug)]
pub struct JobRow {
    pub pk: i64,
    pub id: String,
    pub state: JobState,
    pub ctd: i64,
    pub type_name: String,
    pub action: String,
    pub request: String,
    pub actor: ActorRef,
    pub total: u64,
    pub done: u64,
    pub succeeded: u64,
    pub refused: u64,
    pub error: Option<String>,
    pub created_at: Timestamp,
    pub finished_at: Option<Timestamp>,
}

/// The numbers of processed objects of one transaction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JobProgress {
    pub done: u64,
    pub succeeded: u64,
    pub refused: u64,
}

/// The jobs in a list.
#[derive(Clone, Copy, Debug)]
pub enum JobOwner {
    Everyone,
    /// A row of `actor`; none for commands on the data directory.
    Actor(Option<i64>),
}

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT pk, id, state, ctd, type_name, action, request, actor, total, done, succeeded,
                 refused, error, created_at, finished_at
             FROM job ",
            $rest
        )
    };
}

fn read(row: &Row<'_>) -> rusqlite::Result<Result<JobRow>> {
    let state: String = row.get(2)?;
    let Some(state) = JobState::parse(&state) else {
        return Ok(Err(Error::internal(format!("unknown job state {state} in the database"))));
    };
    Ok(Ok(JobRow {
        pk: row.get(0)?,
        id: row.get(1)?,
        state,
        ctd: row.get(3)?,
        type_name: row.get(4)?,
        action: row.get(5)?,
        request: row.get(6)?,
        actor: ActorRef::from_column(row.get(7)?),
        total: row.get(8)?,
        done: row.get(9)?,
        succeeded: row.get(10)?,
        refused: row.get(11)?,
        error: row.get(12)?,
        created_at: Timestamp(row.get(13)?),
        finished_at: row.get::<_, Option<i64>>(14)?.map(Timestamp),
    }))
}

impl Reader<'_> {
    /// Returns one job.
    pub fn bulk_job(&self, id: &str) -> Result<Option<JobRow>> {
        self.query_optional(select!("WHERE id = ?1"), [id], read)?.transpose()
    }

    /// Returns jobs, newest first.
    pub fn bulk_jobs(&self, owner: JobOwner, offset: u64, limit: u32) -> Result<Vec<JobRow>> {
        let offset = i64::try_from(offset).unwrap_or(i64::MAX);
        let rows = match owner {
            JobOwner::Everyone => {
                let sql = select!("ORDER BY pk DESC LIMIT ?2 OFFSET ?1");
                self.query_rows(sql, params![offset, limit], read)
            }
            JobOwner::Actor(actor) => {
                let sql = select!("WHERE actor IS ?3 ORDER BY pk DESC LIMIT ?2 OFFSET ?1");
                self.query_rows(sql, params![offset, limit, actor], read)
            }
        };
        rows?.into_iter().collect()
    }

    /// Counts the jobs of a list.
    pub fn count_bulk_jobs(&self, owner: JobOwner) -> Result<u64> {
        match owner {
            JobOwner::Everyone => self.query_row("SELECT count(*) FROM job", [], |row| row.get(0)),
            JobOwner::Actor(actor) => {
                let sql = "SELECT count(*) FROM job WHERE actor IS ?1";
                self.query_row(sql, [actor], |row| row.get(0))
            }
        }
    }

    /// Returns the oldest job that has not ended.
    pub fn next_bulk_job(&self) -> Result<Option<JobRow>> {
        let sql = select!("WHERE finished_at IS NULL ORDER BY pk LIMIT 1");
        self.query_optional(sql, [], read)?.transpose()
    }

    /// Counts the jobs that have not ended.
    pub fn count_open_bulk_jobs(&self) -> Result<u64> {
        let sql = "SELECT count(*) FROM job WHERE finished_at IS NULL";
        self.query_row(sql, [], |row| row.get(0))
    }

    /// Returns the next objects of a job, each with its position.
    pub fn next_job_objects(&self, job: i64, limit: usize) -> Result<Vec<(u64, i64)>> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        self.query_rows(
            "SELECT position, object FROM job_object WHERE job = ?1 AND errors IS NULL
             ORDER BY position LIMIT ?2",
            [job, limit],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
    }

    /// Returns the refused objects of a job: id and errors.
    pub fn refused_job_objects(&self, job: i64) -> Result<Vec<(String, FieldErrors)>> {
        let rows = self.query_rows(
            "SELECT errors FROM job_object WHERE job = ?1 AND errors IS NOT NULL ORDER BY position",
            [job],
            |row| row.get::<_, String>(0),
        )?;
        let parse = |text: String| serde_json::from_str(&text);
        rows.into_iter()
            .map(|text| parse(text).map_err(|error| Error::Internal(Box::new(error))))
            .collect()
    }

    /// Returns whether a job ended before a time.
    pub fn has_bulk_job_before(&self, before: Timestamp) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM job WHERE finished_at < ?1)";
        self.query_row(sql, [before.0], |row| row.get(0))
    }
}

impl Writer<'_> {
    /// Stores a job with its objects.
    pub fn insert_bulk_job(&self, job: &NewJob, objects: &[i64]) -> Result<()> {
        let (ctd, name) = &job.content_type;
        let pk: i64 = self.query_row(
            "INSERT INTO job (id, state, ctd, type_name, action, request, actor, total, created_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) RETURNING pk",
            params![
                job.id,
                JobState::Waiting.as_str(),
                ctd,
                name,
                job.action,
                job.request,
                job.actor,
                objects.len() as u64,
                job.at.0
            ],
            |row| row.get(0),
        )?;
        for (position, object) in (1_u64..).zip(objects) {
            self.execute(
                "INSERT INTO job_object (job, position, object) VALUES (?1, ?2, ?3)",
                params![pk, position, object],
            )?;
        }
        Ok(())
    }

    /// Removes a processed object from a job.
    pub fn remove_job_object(&self, job: i64, position: u64) -> Result<()> {
        let sql = "DELETE FROM job_object WHERE job = ?1 AND position = ?2";
        self.execute(sql, params![job, position])
    }

    /// Keeps the errors of a refused object.
    pub fn refuse_job_object(
        &self,
        job: i64,
        position: u64,
        refused: (&str, &FieldErrors),
    ) -> Result<()> {
        let refused =
            serde_json::to_string(&refused).map_err(|error| Error::Internal(Box::new(error)))?;
        let sql = "UPDATE job_object SET errors = ?3 WHERE job = ?1 AND position = ?2";
        self.execute(sql, params![job, position, refused])
    }

    /// Moves an object to the end of its job.
    pub fn defer_job_object(&self, job: i64, position: u64) -> Result<()> {
        self.execute(
            "UPDATE job_object
             SET position = 1 + max(
                 (SELECT position FROM job_object WHERE job = ?1 ORDER BY position DESC LIMIT 1),
                 (SELECT total FROM job WHERE pk = ?1))
             WHERE job = ?1 AND position = ?2",
            params![job, position],
        )
    }

    /// Adds to the numbers of a job, which is running from now on.
    pub fn advance_bulk_job(&self, job: i64, progress: JobProgress) -> Result<()> {
        self.execute(
            "UPDATE job SET state = ?2, done = done + ?3, succeeded = succeeded + ?4,
                 refused = refused + ?5
             WHERE pk = ?1",
            params![
                job,
                JobState::Running.as_str(),
                progress.done,
                progress.succeeded,
                progress.refused
            ],
        )
    }

    /// Ends a job; rows of objects that are not processed are removed.
    pub fn finish_bulk_job(
        &self,
        job: i64,
        state: JobState,
        error: Option<&str>,
        at: Timestamp,
    ) -> Result<()> {
        self.execute("DELETE FROM job_object WHERE job = ?1 AND errors IS NULL", [job])?;
        self.execute(
            "UPDATE job SET state = ?2, error = ?3, finished_at = ?4 WHERE pk = ?1",
            params![job, state.as_str(), error, at.0],
        )
    }

    /// Removes jobs that ended before a time.
    pub fn remove_bulk_jobs(&self, before: Timestamp) -> Result<()> {
        self.execute("DELETE FROM job WHERE finished_at < ?1", [before.0])
    }
}
