//! Rows of webhooks and of their deliveries, and what of other tables deliveries are made of.

use rusqlite::{OptionalExtension, Row, params};

use super::{Reader, ToldObject, Writer, error::map, object};
use crate::{clock::Timestamp, error::Result, object::model::Stored};

/// A delivery that is to be made.
#[derive(Clone, Debug)]
pub(crate) struct NewDelivery {
    pub(crate) webhook: i64,
    pub(crate) message: String,
    pub(crate) at: Timestamp,
    pub(crate) action: &'static str,
    /// Row of the type; none for a test.
    pub(crate) ctd: Option<i64>,
    pub(crate) object: Option<i64>,
    pub(crate) version: Option<i64>,
    pub(crate) type_name: String,
    pub(crate) id: String,
}

/// A delivery.
#[derive(Clone, Debug)]
pub(crate) struct DeliveryRow {
    pub(crate) pk: i64,
    pub(crate) webhook: i64,
    pub(crate) message: String,
    pub(crate) at: Timestamp,
    pub(crate) action: String,
    pub(crate) ctd: Option<i64>,
    pub(crate) object: Option<i64>,
    pub(crate) version: Option<i64>,
    pub(crate) type_name: String,
    pub(crate) id: String,
    pub(crate) queued: bool,
    pub(crate) due_at: Timestamp,
    pub(crate) state: String,
    pub(crate) attempts: u32,
    pub(crate) attempted_at: Option<Timestamp>,
    pub(crate) status: Option<u16>,
    pub(crate) response: Option<String>,
    pub(crate) error: Option<String>,
    pub(crate) request: Option<String>,
}

/// What came of an attempt.
#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    pub(crate) at: Timestamp,
    pub(crate) state: &'static str,
    /// When to try again; none when there is nothing left to try.
    pub(crate) due_at: Option<Timestamp>,
    pub(crate) status: Option<u16>,
    pub(crate) response: Option<String>,
    pub(crate) error: Option<String>,
    pub(crate) request: String,
}

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT pk, webhook, message, at, action, ctd, object, version, type_name, id, queued,
                 due_at, state, attempts, attempted_at, status, response, error, request
             FROM webhook_delivery ",
            $rest
        )
    };
}

fn delivery(row: &Row<'_>) -> rusqlite::Result<DeliveryRow> {
    Ok(DeliveryRow {
        pk: row.get(0)?,
        webhook: row.get(1)?,
        message: row.get(2)?,
        at: Timestamp(row.get(3)?),
        action: row.get(4)?,
        ctd: row.get(5)?,
        object: row.get(6)?,
        version: row.get(7)?,
        type_name: row.get(8)?,
        id: row.get(9)?,
        queued: row.get(10)?,
        due_at: Timestamp(row.get(11)?),
        state: row.get(12)?,
        attempts: row.get(13)?,
        attempted_at: row.get::<_, Option<i64>>(14)?.map(Timestamp),
        status: row.get(15)?,
        response: row.get(16)?,
        error: row.get(17)?,
        request: row.get(18)?,
    })
}

impl Reader<'_> {
    /// Returns up to which row the journal was made deliveries of.
    pub(crate) fn webhook_cursor(&self) -> Result<i64> {
        self.statement("SELECT webhook_seq FROM meta")?.query_row([], |row| row.get(0)).map_err(map)
    }

    /// Returns what the secrets of webhooks are made of; empty in a folder that never had one.
    pub(crate) fn webhook_key(&self) -> Result<String> {
        self.statement("SELECT webhook_key FROM meta")?.query_row([], |row| row.get(0)).map_err(map)
    }

    /// Returns the webhooks that are told what happens.
    pub(crate) fn webhooks(&self) -> Result<Vec<i64>> {
        let mut statement = self.statement("SELECT object FROM webhook")?;
        let rows = statement.query_map([], |row| row.get(0)).map_err(map)?;
        rows.map(|row| row.map_err(map)).collect()
    }

    /// Returns the delivery that a webhook gets next.
    pub(crate) fn next_delivery(&self, webhook: i64) -> Result<Option<DeliveryRow>> {
        self.statement(select!("WHERE webhook = ?1 AND queued ORDER BY pk LIMIT 1"))?
            .query_row([webhook], delivery)
            .optional()
            .map_err(map)
    }

    /// Returns one delivery.
    pub(crate) fn delivery(&self, pk: i64) -> Result<Option<DeliveryRow>> {
        self.statement(select!("WHERE pk = ?1"))?.query_row([pk], delivery).optional().map_err(map)
    }

    /// Returns deliveries of a webhook, newest first.
    pub(crate) fn deliveries(
        &self,
        webhook: i64,
        offset: u64,
        limit: u32,
    ) -> Result<Vec<DeliveryRow>> {
        let mut statement =
            self.statement(select!("WHERE webhook = ?1 ORDER BY pk DESC LIMIT ?3 OFFSET ?2"))?;
        let offset = i64::try_from(offset).unwrap_or(i64::MAX);
        let rows = statement.query_map(params![webhook, offset, limit], delivery).map_err(map)?;
        rows.map(|row| row.map_err(map)).collect()
    }

    /// Counts the deliveries of a webhook: all of them, and those that are yet to be sent.
    pub(crate) fn count_deliveries(&self, webhook: i64) -> Result<(u64, u64)> {
        self.statement(
            "SELECT (SELECT count(*) FROM webhook_delivery WHERE webhook = ?1 AND NOT queued),
                    (SELECT count(*) FROM webhook_delivery WHERE webhook = ?1 AND queued)",
        )?
        .query_row([webhook], |row| Ok((row.get(0)?, row.get(1)?)))
        .map(|(sent, queued): (u64, u64)| (sent + queued, queued))
        .map_err(map)
    }

    /// Returns the objects of a type that were deleted together.
    pub(crate) fn trashed_at(&self, ctd: i64, at: Timestamp) -> Result<Vec<ToldObject>> {
        let mut statement = self.statement(
            "SELECT pk, id, version FROM trash WHERE ctd = ?1 AND deleted_at = ?2 ORDER BY pk",
        )?;
        let read = |row: &Row<'_>| {
            Ok(ToldObject { pk: row.get(0)?, id: row.get(1)?, version: row.get(2)? })
        };
        let rows = statement.query_map([ctd, at.0], read).map_err(map)?;
        rows.map(|row| row.map_err(map)).collect()
    }

    /// Returns a version of an object that may have been replaced or deleted since.
    pub(crate) fn any_version(&self, pk: i64, version: i64) -> Result<Option<Stored<'static>>> {
        self.statement(
            "WITH whole AS MATERIALIZED (
                 SELECT pk, id, created_at, updated_at, version, version_at, status,
                        public_version, published_at, workflow_state, workflow_public_version,
                        workflow_published_at, owner, editor, title, data
                 FROM object WHERE pk = ?1
                 UNION ALL
                 SELECT pk, id, created_at, updated_at, version, version_at, status,
                        public_version, published_at, workflow_state, workflow_public_version,
                        workflow_published_at, owner, editor, title, data
                 FROM trash WHERE pk = ?1)
             SELECT *, NULL, NULL FROM whole WHERE version = ?2
             UNION ALL
             SELECT o.pk, o.id, o.created_at, v.updated_at, v.version, v.version_at, v.status,
                    v.public_version, v.published_at, v.workflow_state, v.workflow_public_version,
                    v.workflow_published_at, o.owner, v.editor, v.title, v.data, NULL, NULL
             FROM whole o JOIN object_version v ON v.object = o.pk WHERE v.version = ?2",
        )?
        .query_row([pk, version], |row| Ok(object::read(row)?.into_owned()))
        .optional()
        .map_err(map)
    }

    /// Counts what waits for any webhook, and tells since when the first of it does.
    pub(crate) fn waiting_deliveries(&self) -> Result<(u64, Option<Timestamp>)> {
        self.statement(
            "SELECT (SELECT count(*) FROM webhook_delivery WHERE queued),
                    (SELECT min((SELECT at FROM webhook_delivery
                                 WHERE webhook = w.object AND queued ORDER BY pk LIMIT 1))
                     FROM webhook w)",
        )?
        .query_row([], |row| Ok((row.get(0)?, row.get::<_, Option<i64>>(1)?.map(Timestamp))))
        .map_err(map)
    }

    /// Tells whether something has waited since before a time.
    pub(crate) fn has_deliveries_before(&self, before: Timestamp) -> Result<bool> {
        self.statement(
            "SELECT EXISTS (SELECT 1 FROM webhook w WHERE
                 (SELECT at FROM webhook_delivery WHERE webhook = w.object AND queued
                  ORDER BY pk LIMIT 1) < ?1)",
        )?
        .query_row([before.0], |row| row.get(0))
        .map_err(map)
    }
}

impl Writer<'_> {
    pub(crate) fn set_webhook_cursor(&self, seq: i64) -> Result<()> {
        self.statement("UPDATE meta SET webhook_seq = ?1")?.execute([seq]).map_err(map)?;
        Ok(())
    }

    pub(crate) fn set_webhook_key(&self, key: &str) -> Result<()> {
        self.statement("UPDATE meta SET webhook_key = ?1")?.execute([key]).map_err(map)?;
        Ok(())
    }

    /// Notes that a webhook is told what happens from now on.
    pub(crate) fn insert_webhook(&self, pk: i64) -> Result<()> {
        self.statement("INSERT OR IGNORE INTO webhook (object) VALUES (?1)")?
            .execute([pk])
            .map_err(map)?;
        Ok(())
    }

    /// Forgets webhooks whose objects are gone, with their deliveries.
    pub(crate) fn drop_webhooks(&self) -> Result<()> {
        self.statement("DELETE FROM webhook WHERE object NOT IN (SELECT pk FROM object)")?
            .execute([])
            .map_err(map)?;
        Ok(())
    }

    /// Appends a delivery to the queue of its webhook; returns its row.
    pub(crate) fn insert_delivery(&self, new: &NewDelivery) -> Result<i64> {
        self.statement(
            "INSERT INTO webhook_delivery
                 (webhook, message, at, action, ctd, object, version, type_name, id)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) RETURNING pk",
        )?
        .query_row(
            params![
                new.webhook,
                new.message,
                new.at.0,
                new.action,
                new.ctd,
                new.object,
                new.version,
                new.type_name,
                new.id,
            ],
            |row| row.get(0),
        )
        .map_err(map)
    }

    /// Tries what waits for a webhook at once.
    pub(crate) fn hurry_webhook(&self, webhook: i64) -> Result<()> {
        self.statement("UPDATE webhook_delivery SET due_at = 0 WHERE webhook = ?1 AND queued")?
            .execute([webhook])
            .map_err(map)?;
        Ok(())
    }

    /// Sends a delivery again that is out of the queue: it goes back to where it was.
    pub(crate) fn requeue_delivery(&self, pk: i64) -> Result<()> {
        self.statement(
            "UPDATE webhook_delivery SET queued = 1, state = 'pending', attempts = 0, due_at = 0
             WHERE pk = ?1 AND NOT queued",
        )?
        .execute([pk])
        .map_err(map)?;
        Ok(())
    }

    /// Sends all failed deliveries of a webhook again that are out of the queue; returns how many.
    pub(crate) fn requeue_failed(&self, webhook: i64) -> Result<usize> {
        self.statement(
            "UPDATE webhook_delivery SET queued = 1, state = 'pending', attempts = 0, due_at = 0
             WHERE webhook = ?1 AND NOT queued AND state = 'error'",
        )?
        .execute([webhook])
        .map_err(map)
    }

    /// Notes what came of an attempt.
    pub(crate) fn record_attempt(&self, pk: i64, attempt: &Attempt) -> Result<()> {
        self.statement(
            "UPDATE webhook_delivery
             SET attempts = attempts + 1, attempted_at = ?2, state = ?3, queued = ?4, due_at = ?5,
                 status = ?6, response = ?7, error = ?8, request = ?9
             WHERE pk = ?1",
        )?
        .execute(params![
            pk,
            attempt.at.0,
            attempt.state,
            attempt.due_at.is_some(),
            attempt.due_at.map_or(0, |at| at.0),
            attempt.status,
            attempt.response,
            attempt.error,
            attempt.request,
        ])
        .map_err(map)?;
        Ok(())
    }

    /// Gives up what has waited since before a time.
    pub(crate) fn give_up_deliveries(&self, before: Timestamp, reason: &str) -> Result<()> {
        self.statement(
            "UPDATE webhook_delivery SET queued = 0, state = 'error', error = coalesce(error, ?2)
             WHERE queued AND at < ?1",
        )?
        .execute(params![before.0, reason])
        .map_err(map)?;
        Ok(())
    }

    /// Forgets all but the newest entries of the log of a webhook.
    pub(crate) fn prune_log(&self, webhook: i64, keep: u32) -> Result<()> {
        self.statement(
            "DELETE FROM webhook_delivery WHERE webhook = ?1 AND NOT queued AND pk <=
                 (SELECT pk FROM webhook_delivery WHERE webhook = ?1 AND NOT queued
                  ORDER BY pk DESC LIMIT 1 OFFSET ?2)",
        )?
        .execute(params![webhook, keep])
        .map_err(map)?;
        Ok(())
    }
}
