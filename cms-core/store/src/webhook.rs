//! The endpoints of webhooks (table `webhook`), the key of webhook secrets, and the position in the journal up to which
//! deliveries exist. The webhooks themselves are objects.

use cms_model::{clock::Timestamp, error::Result, webhook::schedule::EndpointState};
use rusqlite::params;

use super::{Reader, WriteTransaction};

impl Reader<'_> {
    /// Returns the journal row up to which deliveries are created.
    pub fn webhook_cursor(&self) -> Result<i64> {
        self.query_value("SELECT webhook_seq FROM meta", [])
    }

    /// Returns the key from which webhook secrets are derived; empty if none was created yet.
    pub fn webhook_key(&self) -> Result<String> {
        self.query_value("SELECT webhook_key FROM meta", [])
    }

    /// Returns the webhooks that have an endpoint, also synchronous and disabled ones. A webhook gets its endpoint when
    /// the task that creates deliveries reads its creation in the journal, or when a test is sent to it.
    pub fn webhook_endpoints(&self) -> Result<Vec<i64>> {
        self.query_values("SELECT object FROM webhook", [])
    }

    /// Returns the state of the endpoint of a webhook; none if the webhook has no endpoint yet.
    pub fn webhook_endpoint(&self, webhook: i64) -> Result<Option<EndpointState>> {
        self.query_optional(
            "SELECT probes, resume_at FROM webhook WHERE object = ?1",
            [webhook],
            |row| {
                Ok(match row.get::<_, Option<i64>>(1)? {
                    None => EndpointState::Up,
                    Some(at) => {
                        EndpointState::Down { probes: row.get(0)?, resume_at: Timestamp(at) }
                    }
                })
            },
        )
    }

    /// Counts the webhooks whose endpoint is down.
    pub fn endpoints_down(&self) -> Result<u64> {
        self.query_value("SELECT count(*) FROM webhook WHERE resume_at IS NOT NULL", [])
    }
}

impl WriteTransaction<'_> {
    pub fn set_webhook_cursor(&self, seq: i64) -> Result<()> {
        self.execute("UPDATE meta SET webhook_seq = ?1", [seq])
    }

    pub fn set_webhook_key(&self, key: &str) -> Result<()> {
        self.execute("UPDATE meta SET webhook_key = ?1", [key])
    }

    /// Inserts the endpoint of a webhook, if it is missing.
    pub fn insert_webhook_endpoint(&self, pk: i64) -> Result<()> {
        self.execute("INSERT OR IGNORE INTO webhook (object) VALUES (?1)", [pk])
    }

    /// Removes the endpoints of deleted webhooks, with their deliveries.
    pub fn remove_endpoints_of_deleted_webhooks(&self) -> Result<()> {
        self.execute("DELETE FROM webhook WHERE object NOT IN (SELECT pk FROM object)", [])
    }

    pub fn set_webhook_endpoint(&self, webhook: i64, endpoint: EndpointState) -> Result<()> {
        let (probes, resume_at) = match endpoint {
            EndpointState::Up => (0, None),
            EndpointState::Down { probes, resume_at } => (probes, Some(resume_at.0)),
        };
        self.execute(
            "UPDATE webhook SET probes = ?2, resume_at = ?3
             WHERE object = ?1 AND (probes, resume_at) IS NOT (?2, ?3)",
            params![webhook, probes, resume_at],
        )
    }
}
