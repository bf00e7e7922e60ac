//! The tables of a cluster, and how a new database is filled.

use std::pin::Pin;

use bytes::Bytes;
use cms_model::error::{Error, Result};
use cms_store::cluster::database::{ColumnValues, Head, RowSink, Rows, SharedTable};
use tokio_postgres::{
    CopyInSink,
    binary_copy::BinaryCopyInWriter,
    types::{ToSql, Type},
};

use crate::{
    PostgresDatabase,
    connection::{Purpose, Session},
    error::Attempt,
    escape::escape,
    value::{column_names, key_name, quoted, table_name, type_name, value_type},
};

/// Tables with rows that many commits update. Their pages are only half filled: if PostgreSQL can
/// store the new version of a row in the same page, it needs no new index entry.
const HOT_TABLES: [&str; 2] = ["meta", "ctd_state"];

/// No statement timeout, and a long idle timeout: copying a large data directory takes minutes.
const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
SET LOCAL statement_timeout = 0;
SET LOCAL idle_in_transaction_session_timeout = '5min';
CREATE SCHEMA cms";

/// The column `knows` of the table `node` has `NodeReport::accepted_schema`: with `hold-upgrade` this
/// is the present schema, even if the node knows a newer one.
const CLUSTER_TABLES: &str = r#"
CREATE TABLE "cms"."head" (
    id bigint PRIMARY KEY CHECK (id = 1),
    cluster text NOT NULL,
    commit_no bigint NOT NULL,
    nonce bigint NOT NULL,
    schema bigint NOT NULL,
    sequences text NOT NULL
) WITH (fillfactor = 50);
CREATE TABLE "cms"."commit_log" (
    commit_no bigint PRIMARY KEY,
    nonce bigint NOT NULL,
    at timestamptz NOT NULL,
    node text NOT NULL
);
CREATE TABLE "cms"."change" (
    commit_no bigint NOT NULL,
    part bigint NOT NULL,
    table_name text NOT NULL,
    keys bigint[] NOT NULL,
    PRIMARY KEY (commit_no, part)
);
CREATE TABLE "cms"."node" (
    id text PRIMARY KEY,
    name text NOT NULL,
    version text NOT NULL,
    knows bigint NOT NULL,
    address text,
    token text NOT NULL,
    applied bigint NOT NULL,
    index_seq bigint NOT NULL,
    staleness_ms bigint NOT NULL,
    read_bound_ms bigint NOT NULL,
    seen timestamptz NOT NULL
);
CREATE TABLE "cms"."duty" (
    name text PRIMARY KEY,
    node text NOT NULL,
    until timestamptz NOT NULL
)"#;

const ENCODING: &str = "SELECT pg_catalog.current_setting('server_encoding')";

const ADD_HEAD: &str = r#"INSERT INTO "cms"."head" (id, commit_no, nonce, schema, sequences, cluster)
VALUES (1, $1, $2, $3, $4, $5)"#;

const ADD_COMMIT: &str = r#"INSERT INTO "cms"."commit_log" (commit_no, nonce, at, node)
VALUES ($1, $2, pg_catalog.clock_timestamp(), $3)"#;

impl PostgresDatabase {
    pub(crate) fn create_schema(
        &self,
        tables: &[SharedTable],
        head: &Head,
        fill: &mut dyn FnMut(&mut dyn RowSink) -> Result<()>,
    ) -> Result<()> {
        // Uses a separate connection, which is closed when this function returns: every error ends the transaction.
        let failed = |failure| self.error(failure);
        let session = self.wait(self.server.connect(Purpose::Fill)).map_err(failed)?;
        let encoding = self.wait(read_encoding(&session)).map_err(failed)?;
        if encoding != "UTF8" {
            return Err(Error::Conflict(format!(
                "{} has the encoding {encoding}: create the database with ENCODING 'UTF8'",
                self.server.name
            )));
        }
        let filled = self.wait(create_tables(&session, tables)).map_err(|failure| {
            if failure.is_duplicate() {
                let name = &self.server.name;
                Error::Conflict(format!("{name} contains a cluster already"))
            } else {
                self.error(failure)
            }
        });
        filled.and_then(|()| {
            let mut sink = CopySink { database: self, session: &session, open: None };
            fill(&mut sink)?;
            sink.finish()?;
            self.wait(self.finish_creation(&session, head)).map_err(failed)
        })
    }

    async fn finish_creation(&self, session: &Session, head: &Head) -> Attempt<()> {
        let client = session.client();
        let position = head.position;
        let statement = session.statement(ADD_HEAD).await?;
        client
            .execute(
                &statement,
                &[&position.commit, &position.nonce, &head.schema, &head.sequences, &head.cluster],
            )
            .await?;
        let statement = session.statement(ADD_COMMIT).await?;
        let node = &self.server.node;
        client.execute(&statement, &[&position.commit, &position.nonce, node]).await?;
        // All earlier statements have succeeded, so the server does not turn this into a rollback.
        client.batch_execute("COMMIT").await?;
        Ok(())
    }
}

/// Returns the encoding of the database. It has to be UTF8: most other encodings lack characters.
async fn read_encoding(session: &Session) -> Attempt<String> {
    let statement = session.statement(ENCODING).await?;
    Ok(session.client().query_one(&statement, &[]).await?.try_get(0)?)
}

async fn create_tables(session: &Session, tables: &[SharedTable]) -> Attempt<()> {
    session.client().batch_execute(BEGIN).await?;
    session.client().batch_execute(CLUSTER_TABLES).await?;
    for table in tables {
        session.client().batch_execute(&definition(table)).await?;
    }
    Ok(())
}

/// The table has no constraint except the key: SQLite has enforced the others, and the order in which
/// rows arrive would violate them.
fn definition(table: &SharedTable) -> String {
    let columns: Vec<String> = table
        .columns
        .iter()
        .map(|column| format!("{} {}", quoted(&column.name), type_name(column)))
        .collect();
    let options =
        if HOT_TABLES.contains(&table.name.as_str()) { " WITH (fillfactor = 50)" } else { "" };
    format!(
        "CREATE TABLE {} ({}, PRIMARY KEY ({})){options}",
        table_name(table),
        columns.join(", "),
        key_name(table)
    )
}

/// Copies rows to one table after the other.
struct CopySink<'s> {
    database: &'s PostgresDatabase,
    session: &'s Session,
    open: Option<OpenCopy>,
}

struct OpenCopy {
    table: String,
    writer: Pin<Box<BinaryCopyInWriter>>,
}

impl OpenCopy {
    async fn begin(session: &Session, table: &SharedTable) -> Attempt<Self> {
        let (name, columns) = (table_name(table), column_names(table));
        let sql = format!("COPY {name} ({columns}) FROM STDIN BINARY");
        let sink: CopyInSink<Bytes> = session.client().copy_in(&sql).await?;
        let types: Vec<Type> = table.columns.iter().map(value_type).collect();
        let writer = Box::pin(BinaryCopyInWriter::new(sink, &types));
        Ok(Self { table: table.name.clone(), writer })
    }

    async fn write(&mut self, rows: Rows) -> Attempt<()> {
        let mut columns = rows.values;
        for (index, key) in rows.keys.into_iter().enumerate() {
            let values: Vec<Box<dyn ToSql + Sync + Send>> =
                columns.iter_mut().map(|column| take_value(column, index)).collect();
            let values = std::iter::once::<&(dyn ToSql + Sync)>(&key)
                .chain(values.iter().map(|value| value.as_ref() as &(dyn ToSql + Sync)));
            self.writer.as_mut().write(&values.collect::<Vec<_>>()).await?;
        }
        Ok(())
    }

    async fn finish(mut self) -> Attempt<()> {
        self.writer.as_mut().finish().await?;
        Ok(())
    }
}

fn take_value(column: &mut ColumnValues, index: usize) -> Box<dyn ToSql + Sync + Send> {
    match column {
        ColumnValues::Integer(values) => Box::new(values[index]),
        ColumnValues::Text(values) => Box::new(values[index].take().map(escape)),
        ColumnValues::Blob(values) => Box::new(values[index].take()),
    }
}

impl CopySink<'_> {
    fn finish(&mut self) -> Result<()> {
        let Some(open) = self.open.take() else { return Ok(()) };
        self.database.wait(open.finish()).map_err(|failure| self.database.error(failure))
    }
}

impl RowSink for CopySink<'_> {
    fn send(&mut self, table: &SharedTable, rows: Rows) -> Result<()> {
        if self.open.as_ref().is_some_and(|open| open.table != table.name) {
            self.finish()?;
        }
        let (open, session) = (&mut self.open, self.session);
        let written = self.database.wait(async {
            let open = match open {
                Some(open) => open,
                None => open.insert(OpenCopy::begin(session, table).await?),
            };
            open.write(rows).await
        });
        written.map_err(|failure| self.database.error(failure))
    }
}
