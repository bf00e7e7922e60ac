//! Nodes, duties, and old commits.

use std::time::Duration;

use cms_model::{clock::Timestamp, error::Result};
use cms_store::cluster::database::{DatabaseInfo, DutyHolder, Membership, NodeReport, NodeState};

use crate::{PostgresDatabase, value::parameter};

/// Timeout for one statement.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout for one statement that removes commits.
const PRUNE_TIMEOUT: Duration = Duration::from_mins(1);
/// Commits that one statement removes.
const MAX_COMMITS_PER_STATEMENT: i64 = 1_000;

const REPORT: &str = r#"INSERT INTO "cms"."node" AS n
    (id, name, version, knows, address, token, applied, index_seq, staleness_ms, read_bound_ms, seen)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, pg_catalog.clock_timestamp())
ON CONFLICT (id) DO UPDATE SET
    name = EXCLUDED.name, version = EXCLUDED.version, knows = EXCLUDED.knows,
    address = EXCLUDED.address, token = EXCLUDED.token, applied = EXCLUDED.applied,
    index_seq = EXCLUDED.index_seq, staleness_ms = EXCLUDED.staleness_ms,
    read_bound_ms = EXCLUDED.read_bound_ms, seen = EXCLUDED.seen
RETURNING (extract(epoch FROM n.seen) * 1000000)::bigint"#;

const NODES: &str = r#"SELECT
    id, name, version, knows, address, token, applied, index_seq, staleness_ms, read_bound_ms,
    (extract(epoch FROM seen) * 1000000)::bigint,
    seen > pg_catalog.clock_timestamp() - interval '10 seconds'
FROM "cms"."node"
WHERE seen > pg_catalog.clock_timestamp() - interval '1 day'
ORDER BY name, id"#;

const ACQUIRE: &str = r#"INSERT INTO "cms"."duty" AS d (name, node, until)
VALUES ($1, $2, pg_catalog.clock_timestamp() + $3::bigint * interval '1 microsecond')
ON CONFLICT (name) DO UPDATE SET node = EXCLUDED.node, until = EXCLUDED.until
WHERE d.node = EXCLUDED.node OR d.until <= pg_catalog.clock_timestamp()"#;

const RELEASE: &str = r#"DELETE FROM "cms"."duty" WHERE name = $1 AND node = $2"#;

const DUTIES: &str = r#"SELECT name, node, (extract(epoch FROM until) * 1000000)::bigint
FROM "cms"."duty" WHERE until > pg_catalog.clock_timestamp() ORDER BY name"#;

/// Removes the oldest commits, up to the first one younger than the age limit, and their changes, in one statement:
/// a reader sees both or none.
const PRUNE: &str = r#"WITH oldest AS (
    SELECT commit_no,
        at <= pg_catalog.clock_timestamp() - $1::bigint * interval '1 microsecond' AS is_old
    FROM "cms"."commit_log"
    WHERE commit_no < (SELECT commit_no FROM "cms"."head" WHERE id = 1)
    ORDER BY commit_no LIMIT $2::bigint
), last AS (
    SELECT max(commit_no) AS commit_no FROM oldest
    WHERE is_old AND NOT EXISTS (
        SELECT 1 FROM oldest AS young WHERE NOT young.is_old AND young.commit_no < oldest.commit_no
    )
), changes AS (
    DELETE FROM "cms"."change" WHERE commit_no <= (SELECT commit_no FROM last)
)
DELETE FROM "cms"."commit_log" WHERE commit_no <= (SELECT commit_no FROM last)"#;

const ENGINE: &str = "SELECT 'PostgreSQL ' || pg_catalog.current_setting('server_version'), \
    pg_catalog.pg_database_size(pg_catalog.current_database())";

const PRUNE_NODES: &str = r#"DELETE FROM "cms"."node"
WHERE seen < pg_catalog.clock_timestamp() - interval '1 day'"#;

impl Membership for PostgresDatabase {
    fn report(&self, node: &NodeReport) -> Result<Timestamp> {
        self.run(&self.membership, TIMEOUT, async |session| {
            let statement = session.statement(REPORT).await?;
            let parameters = vec![
                parameter(node.id.clone()),
                parameter(node.name.clone()),
                parameter(node.version.clone()),
                parameter(node.accepted_schema),
                parameter(node.address.clone()),
                // Secret: parameters of this kind are not logged.
                parameter(node.token.clone()),
                parameter(node.applied),
                parameter(node.index_seq),
                parameter(node.staleness_ms),
                parameter(node.read_bound_ms),
            ];
            let parameters: Vec<_> =
                parameters.iter().map(|parameter| parameter.as_ref() as _).collect();
            let row = session.client().query_one(&statement, &parameters).await?;
            Ok(Timestamp(row.try_get(0)?))
        })
    }

    fn database_info(&self) -> Result<DatabaseInfo> {
        self.run(&self.membership, TIMEOUT, async |session| {
            let statement = session.statement(ENGINE).await?;
            let row = session.client().query_one(&statement, &[]).await?;
            Ok(DatabaseInfo { version: row.try_get(0)?, bytes: row.try_get(1)? })
        })
    }

    fn nodes(&self) -> Result<Vec<NodeState>> {
        self.run(&self.membership, TIMEOUT, async |session| {
            let statement = session.statement(NODES).await?;
            let rows = session.client().query(&statement, &[]).await?;
            let nodes = rows.iter().map(|row| {
                let report = NodeReport {
                    id: row.try_get(0)?,
                    name: row.try_get(1)?,
                    version: row.try_get(2)?,
                    accepted_schema: row.try_get(3)?,
                    address: row.try_get(4)?,
                    token: row.try_get(5)?,
                    applied: row.try_get(6)?,
                    index_seq: row.try_get(7)?,
                    staleness_ms: row.try_get(8)?,
                    read_bound_ms: row.try_get(9)?,
                };
                let seen_at = Timestamp(row.try_get(10)?);
                Ok(NodeState { report, seen_at, is_live: row.try_get(11)? })
            });
            nodes.collect()
        })
    }

    fn acquire(&self, duty: &str, node: &str, lease: Duration) -> Result<bool> {
        let lease = micros(lease);
        self.run(&self.membership, TIMEOUT, async |session| {
            let statement = session.statement(ACQUIRE).await?;
            let rows = session.client().execute(&statement, &[&duty, &node, &lease]).await?;
            Ok(rows == 1)
        })
    }

    fn release(&self, duty: &str, node: &str) -> Result<()> {
        self.run(&self.membership, TIMEOUT, async |session| {
            let statement = session.statement(RELEASE).await?;
            session.client().execute(&statement, &[&duty, &node]).await?;
            Ok(())
        })
    }

    fn duties(&self) -> Result<Vec<DutyHolder>> {
        self.run(&self.membership, TIMEOUT, async |session| {
            let statement = session.statement(DUTIES).await?;
            let rows = session.client().query(&statement, &[]).await?;
            let duties = rows.iter().map(|row| {
                let until = Timestamp(row.try_get(2)?);
                Ok(DutyHolder { duty: row.try_get(0)?, node: row.try_get(1)?, until })
            });
            duties.collect()
        })
    }

    /// Removes some commits at a time, so that reports do not wait long for the connection.
    fn prune(&self, older_than: Duration) -> Result<()> {
        let age = micros(older_than);
        self.run(&self.membership, TIMEOUT, async |session| {
            let statement = session.statement(PRUNE_NODES).await?;
            session.client().execute(&statement, &[]).await?;
            Ok(())
        })?;
        loop {
            let removed = self.run(&self.membership, PRUNE_TIMEOUT, async |session| {
                let statement = session.statement(PRUNE).await?;
                Ok(session
                    .client()
                    .execute(&statement, &[&age, &MAX_COMMITS_PER_STATEMENT])
                    .await?)
            })?;
            if removed < MAX_COMMITS_PER_STATEMENT.unsigned_abs() {
                return Ok(());
            }
        }
    }
}

fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}
