//! Rows of bulk jobs, of the objects that they still have to process, and of those that they refused.
//!
//! Objects are stored in chunks, so that a job blocks other writes only for milliseconds when it is created
//! or stopped: a million objects are 2,000 rows of several hundred bytes each.

use std::collections::HashSet;

use cms_model::{
    clock::Timestamp,
    error::{FieldErrors, Result},
    limits,
    wire::bulk::BulkJobState,
};
use rusqlite::{Row, params};

use super::{Reader, WriteTransaction, actor::ActorRef, json, named, to_json};

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
    pub state: BulkJobState,
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

/// Which jobs a list contains.
#[derive(Clone, Copy, Debug)]
pub enum JobFilter {
    All,
    /// Primary key in the table `actor`; none for commands on the data directory.
    StartedBy(Option<i64>),
}

macro_rules! select {
    ($clauses:literal) => {
        concat!(
            "SELECT pk, id, state, ctd, type_name, action, request, actor, total, done, succeeded,
                 refused, error, created_at, finished_at
             FROM job ",
            $clauses
        )
    };
}

fn read(row: &Row<'_>) -> rusqlite::Result<JobRow> {
    Ok(JobRow {
        pk: row.get(0)?,
        id: row.get(1)?,
        state: named(row, 2, BulkJobState::parse)?,
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
    })
}

impl Reader<'_> {
    /// Returns one job.
    pub fn bulk_job(&self, id: &str) -> Result<Option<JobRow>> {
        self.query_optional(select!("WHERE id = ?1"), [id], read)
    }

    /// Returns jobs, newest first.
    pub fn bulk_jobs(&self, filter: JobFilter, offset: u64, limit: u32) -> Result<Vec<JobRow>> {
        let offset = i64::try_from(offset).unwrap_or(i64::MAX);
        match filter {
            JobFilter::All => {
                let sql = select!("ORDER BY pk DESC LIMIT ?2 OFFSET ?1");
                self.query_rows(sql, params![offset, limit], read)
            }
            JobFilter::StartedBy(actor) => {
                let sql = select!("WHERE actor IS ?3 ORDER BY pk DESC LIMIT ?2 OFFSET ?1");
                self.query_rows(sql, params![offset, limit, actor], read)
            }
        }
    }

    /// Counts the jobs of a list.
    pub fn count_bulk_jobs(&self, filter: JobFilter) -> Result<u64> {
        match filter {
            JobFilter::All => self.query_value("SELECT count(*) FROM job", []),
            JobFilter::StartedBy(actor) => {
                let sql = "SELECT count(*) FROM job WHERE actor IS ?1";
                self.query_value(sql, [actor])
            }
        }
    }

    /// Returns the oldest job that has not ended.
    pub fn next_bulk_job(&self) -> Result<Option<JobRow>> {
        let sql = select!("WHERE finished_at IS NULL ORDER BY pk LIMIT 1");
        self.query_optional(sql, [], read)
    }

    /// Counts the jobs that have not ended.
    pub fn count_open_bulk_jobs(&self) -> Result<u64> {
        let sql = "SELECT count(*) FROM job WHERE finished_at IS NULL";
        self.query_value(sql, [])
    }

    /// Returns the next objects of a job, each with its position.
    pub fn next_job_objects(&self, job: i64) -> Result<Vec<(u64, i64)>> {
        let sql =
            "SELECT position, objects FROM job_chunk WHERE job = ?1 ORDER BY position LIMIT 1";
        let chunk: Option<(u64, Vec<u8>)> =
            self.query_optional(sql, [job], |row| row.try_into())?;
        let Some((first, objects)) = chunk else { return Ok(Vec::new()) };
        Ok((first..).zip(unpack(&objects)).collect())
    }

    /// Returns all objects that a job has still to process.
    pub fn job_objects(&self, job: i64) -> Result<HashSet<i64>> {
        let sql = "SELECT objects FROM job_chunk WHERE job = ?1";
        let chunks: Vec<Vec<u8>> = self.query_values(sql, [job])?;
        Ok(chunks.iter().flat_map(|objects| unpack(objects)).collect())
    }

    /// Returns the refused objects of a job: id and errors.
    pub fn refused_job_objects(&self, job: i64) -> Result<Vec<(String, FieldErrors)>> {
        let sql = "SELECT errors FROM job_refusal WHERE job = ?1 ORDER BY position";
        self.query_rows(sql, [job], |row| json(row, 0))
    }

    /// Returns whether a job ended before a time.
    pub fn has_bulk_job_before(&self, before: Timestamp) -> Result<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM job WHERE finished_at < ?1)";
        self.query_value(sql, [before.0])
    }
}

impl WriteTransaction<'_> {
    /// Stores a job with its objects.
    pub fn insert_bulk_job(&self, job: &NewJob, objects: &[i64]) -> Result<()> {
        let (ctd, name) = &job.content_type;
        let pk: i64 = self.query_value(
            "INSERT INTO job (id, state, ctd, type_name, action, request, actor, total, created_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) RETURNING pk",
            params![
                job.id,
                BulkJobState::Waiting.as_str(),
                ctd,
                name,
                job.action,
                job.request,
                job.actor,
                objects.len() as u64,
                job.at.0
            ],
        )?;
        let chunks = objects.chunks(limits::BULK_TRANSACTION_OBJECTS);
        for (position, chunk) in (1_u64..).step_by(limits::BULK_TRANSACTION_OBJECTS).zip(chunks) {
            self.insert_job_chunk(pk, position, chunk)?;
        }
        Ok(())
    }

    /// Removes processed objects from a job: the first `count` of its first chunk.
    pub fn remove_job_objects(&self, job: i64, count: usize) -> Result<()> {
        let next = self.next_job_objects(job)?;
        let Some((first, _)) = next.first() else { return Ok(()) };
        let sql = "DELETE FROM job_chunk WHERE job = ?1 AND position = ?2";
        self.execute(sql, params![job, first])?;
        let remaining: Vec<i64> = next.iter().skip(count).map(|(_, object)| *object).collect();
        match next.get(count) {
            Some((position, _)) => self.insert_job_chunk(job, *position, &remaining),
            None => Ok(()),
        }
    }

    /// Adds a chunk of objects, the first of which has this position.
    pub fn insert_job_chunk(&self, job: i64, position: u64, objects: &[i64]) -> Result<()> {
        let sql = "INSERT INTO job_chunk (job, position, objects) VALUES (?1, ?2, ?3)";
        self.execute(sql, params![job, position, pack(objects)])
    }

    /// Stores the errors of a refused object.
    pub fn refuse_job_object(
        &self,
        job: i64,
        position: u64,
        refused: (&str, &FieldErrors),
    ) -> Result<()> {
        let sql = "INSERT INTO job_refusal (job, position, errors) VALUES (?1, ?2, ?3)";
        self.execute(sql, params![job, position, to_json(&refused)?])
    }

    /// Adds to the counters of a job, and sets its state to running.
    pub fn advance_bulk_job(&self, job: i64, progress: JobProgress) -> Result<()> {
        self.execute(
            "UPDATE job SET state = ?2, done = done + ?3, succeeded = succeeded + ?4,
                 refused = refused + ?5
             WHERE pk = ?1",
            params![
                job,
                BulkJobState::Running.as_str(),
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
        state: BulkJobState,
        error: Option<&str>,
        at: Timestamp,
    ) -> Result<()> {
        self.execute("DELETE FROM job_chunk WHERE job = ?1", [job])?;
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

/// Packs primary keys: each key as its difference to the previous one, in LEB128 (seven bits per byte,
/// the lowest first; the high bit is set in every byte except the last).
fn pack(objects: &[i64]) -> Vec<u8> {
    let (mut packed, mut before) = (Vec::with_capacity(objects.len() * 2), 0);
    for &object in objects {
        let mut difference = object.wrapping_sub(before).cast_unsigned();
        loop {
            let [low, ..] = difference.to_le_bytes();
            difference >>= 7;
            if difference == 0 {
                packed.push(low);
                break;
            }
            packed.push(low | 0x80);
        }
        before = object;
    }
    packed
}

fn unpack(packed: &[u8]) -> Vec<i64> {
    let (mut objects, mut before) = (Vec::new(), 0_i64);
    let (mut difference, mut shift) = (0_u64, 0);
    for &byte in packed {
        difference |= u64::from(byte & 0x7f).wrapping_shl(shift);
        shift += 7;
        if byte < 0x80 {
            before = before.wrapping_add(difference.cast_signed());
            objects.push(before);
            (difference, shift) = (0, 0);
        }
    }
    objects
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_primary_keys_are_unpacked() {
        let keys = [1, 2, 130, 131, 20_000, 5, 0, i64::MAX, i64::MIN, -1, 1 << 40];
        assert_eq!(unpack(&pack(&keys)), keys);
        assert!(unpack(&pack(&[])).is_empty());
        assert_eq!(pack(&[7, 8, 300]), [7, 1, 0xa4, 2]);
    }
}
