//! Databases and checks of the cost of statements, for unit tests. This module knows no table.

use cms_model::settings::{Durability, NewDatabase};
use rusqlite::{Connection, Params, StatementStatus};
use tempfile::TempDir;

use crate::Store;

/// Creates a database and inserts rows, whose references are not checked.
pub(crate) fn database_with(sql: &str) -> (TempDir, Connection) {
    let folder = TempDir::new().unwrap();
    Store::open(folder.path(), NewDatabase::InNewDirectory, Durability::Normal).unwrap();
    let database = Connection::open(folder.path().join("cms.db")).unwrap();
    database.execute_batch(&format!("PRAGMA foreign_keys = OFF; {sql}")).unwrap();
    (folder, database)
}

/// Asserts that a statement returns the primary keys `wanted`, reads only one index, and has a cost
/// that does not depend on the size of the table.
pub(crate) fn assert_read_by_index<P: Params>(
    database: &Connection,
    sql: &str,
    parameters: impl Fn() -> P,
    wanted: &[i64],
    index: &str,
) {
    let mut statement = database.prepare(sql).unwrap();
    let rows = statement.query_map(parameters(), |row| row.get(0)).unwrap();
    let found: Vec<i64> = rows.map(Result::unwrap).collect();
    assert_eq!(found, wanted, "{sql}");
    let steps = statement.get_status(StatementStatus::VmStep);
    assert!(steps < 200, "{steps} steps: {sql}");
    let mut plan = database.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).unwrap();
    let rows = plan.query_map(parameters(), |row| row.get("detail")).unwrap();
    let plan: Vec<String> = rows.map(Result::unwrap).collect();
    assert!(plan.len() == 1 && plan[0].contains(index), "{plan:?}: {sql}");
}
