//! Custom workflows, and the workflow states of objects.

use cms_model::{context::Stamp, error::Result, wire::workflow::Workflow};
use rusqlite::params;

use super::{Reader, WriteTransaction, json, to_json};

impl Reader<'_> {
    /// Returns the custom workflows in the order of their definition.
    pub fn workflows(&self) -> Result<Vec<Workflow>> {
        let sql = "SELECT definition FROM workflow ORDER BY pk";
        self.query_rows(sql, [], |row| json(row, 0))
    }

    /// Returns a workflow state that an object of the type has and this list does not contain, if any.
    pub fn state_outside(&self, ctd: i64, states: &[String]) -> Result<Option<String>> {
        let known = serde_json::to_string(states).expect("strings are valid JSON");
        self.query_optional(
            "SELECT workflow_state FROM object
             WHERE ctd = ?1 AND workflow_state NOT IN (SELECT value FROM json_each(?2)) LIMIT 1",
            params![ctd, known],
            |row| row.get(0),
        )
    }
}

impl WriteTransaction<'_> {
    /// Stores a workflow, and replaces one with the same id.
    pub fn put_workflow(&self, workflow: &Workflow) -> Result<()> {
        let definition = to_json(workflow)?;
        self.execute(
            "INSERT INTO workflow (id, definition) VALUES (?1, ?2)
             ON CONFLICT (id) DO UPDATE SET definition = excluded.definition",
            [&workflow.id, &definition],
        )
    }

    pub fn delete_workflow(&self, id: &str) -> Result<()> {
        self.execute("DELETE FROM workflow WHERE id = ?1", [id])
    }

    /// Moves an object to a state; `approval` is version and time of its latest approved version.
    pub fn set_state(
        &self,
        ctd: i64,
        pk: i64,
        state: &str,
        approval: Option<(i64, i64)>,
        stamp: Stamp,
    ) -> Result<()> {
        self.execute(
            "UPDATE object SET workflow_state = ?2, workflow_public_version = ?3,
                 workflow_published_at = ?4, updated_at = ?5, updated_by = ?6
             WHERE pk = ?1",
            params![
                pk,
                state,
                approval.map(|(version, _)| version),
                approval.map(|(_, at)| at),
                stamp.at.seconds(),
                stamp.actor
            ],
        )?;
        self.record_change(ctd, 0)
    }

    /// Removes the approval from the versions of an object.
    pub fn clear_approval(&self, pk: i64, version: i64) -> Result<()> {
        self.execute(
            "UPDATE object_version SET workflow_public_version = NULL,
                 workflow_published_at = NULL
             WHERE object = ?1 AND workflow_public_version = ?2",
            [pk, version],
        )
    }

    /// Moves objects in a state that the workflow lacks to its initial state (see
    /// docs/reference/workflows.md#change-the-workflow-of-a-type). Objects that thereby leave or
    /// enter `public` lose or gain their approval.
    pub fn enter_workflow(&self, ctd: i64, workflow: &Workflow, public: &str) -> Result<()> {
        let known = serde_json::to_string(&workflow.states).expect("strings are valid JSON");
        self.execute(
            "UPDATE object_version SET workflow_public_version = NULL,
                 workflow_published_at = NULL
             WHERE (object, workflow_public_version) IN (
                 SELECT pk, workflow_public_version FROM object
                 WHERE ctd = ?1 AND workflow_state NOT IN (SELECT value FROM json_each(?2)))",
            params![ctd, known],
        )?;
        self.execute(
            "UPDATE object SET workflow_state = ?2,
                 workflow_public_version = iif(?2 = ?4, version, NULL),
                 workflow_published_at = iif(?2 = ?4, updated_at, NULL)
             WHERE ctd = ?1 AND workflow_state NOT IN (SELECT value FROM json_each(?3))",
            params![ctd, workflow.initial_state, known, public],
        )
    }
}
