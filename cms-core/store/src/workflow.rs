//! Custom workflows, and the workflow states of objects.

use cms_model::{
    context::Stamp,
    error::{Error, Result},
    wire::workflow::Workflow,
};
use rusqlite::{OptionalExtension, params};

use super::{Reader, Writer, error::map};

impl Reader<'_> {
    /// Returns the workflows of the operator in the order of their definition.
    pub fn workflows(&self) -> Result<Vec<Workflow>> {
        let mut statement = self.statement("SELECT definition FROM workflow ORDER BY pk")?;
        let rows = statement.query_map([], |row| row.get::<_, String>(0)).map_err(map)?;
        rows.map(|row| {
            let definition = row.map_err(map)?;
            serde_json::from_str(&definition).map_err(|error| Error::Internal(Box::new(error)))
        })
        .collect()
    }

    /// Returns a state of an object of the type that is not in this list, if any.
    pub fn state_outside(&self, ctd: i64, states: &[String]) -> Result<Option<String>> {
        let known = serde_json::to_string(states).expect("strings are valid JSON");
        self.statement(
            "SELECT workflow_state FROM object
             WHERE ctd = ?1 AND workflow_state NOT IN (SELECT value FROM json_each(?2)) LIMIT 1",
        )?
        .query_row(params![ctd, known], |row| row.get(0))
        .optional()
        .map_err(map)
    }
}

impl Writer<'_> {
    /// Stores a workflow, and replaces one with the same id.
    pub fn put_workflow(&self, workflow: &Workflow) -> Result<()> {
        let definition =
            serde_json::to_string(workflow).map_err(|error| Error::Internal(Box::new(error)))?;
        self.statement(
            "INSERT INTO workflow (id, definition) VALUES (?1, ?2)
             ON CONFLICT (id) DO UPDATE SET definition = excluded.definition",
        )?
        .execute([&workflow.id, &definition])
        .map_err(map)?;
        Ok(())
    }

    pub fn delete_workflow(&self, id: &str) -> Result<()> {
        self.statement("DELETE FROM workflow WHERE id = ?1")?.execute([id]).map_err(map)?;
        Ok(())
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
        self.statement(
            "UPDATE object SET workflow_state = ?2, workflow_public_version = ?3,
                 workflow_published_at = ?4, updated_at = ?5, updated_by = ?6
             WHERE pk = ?1",
        )?
        .execute(params![
            pk,
            state,
            approval.map(|(version, _)| version),
            approval.map(|(_, at)| at),
            stamp.at.seconds(),
            stamp.actor
        ])
        .map_err(map)?;
        self.count_objects(ctd, 0)
    }

    /// Removes the approval from the versions of an object.
    pub fn clear_approval(&self, pk: i64, version: i64) -> Result<()> {
        self.statement(
            "UPDATE object_version SET workflow_public_version = NULL,
                 workflow_published_at = NULL
             WHERE object = ?1 AND workflow_public_version = ?2",
        )?
        .execute([pk, version])
        .map_err(map)?;
        Ok(())
    }

    /// Moves objects in a state that the workflow lacks to its first state (see
    /// docs/reference/workflows.md#change-the-workflow-of-a-type). Objects that thereby leave or
    /// enter `public` lose or gain their approval.
    pub fn enter_workflow(&self, ctd: i64, workflow: &Workflow, public: &str) -> Result<()> {
        let known = serde_json::to_string(&workflow.states).expect("strings are valid JSON");
        self.statement(
            "UPDATE object_version SET workflow_public_version = NULL,
                 workflow_published_at = NULL
             WHERE (object, workflow_public_version) IN (
                 SELECT pk, workflow_public_version FROM object
                 WHERE ctd = ?1 AND workflow_state NOT IN (SELECT value FROM json_each(?2)))",
        )?
        .execute(params![ctd, known])
        .map_err(map)?;
        self.statement(
            "UPDATE object SET workflow_state = ?2,
                 workflow_public_version = iif(?2 = ?4, version, NULL),
                 workflow_published_at = iif(?2 = ?4, updated_at, NULL)
             WHERE ctd = ?1 AND workflow_state NOT IN (SELECT value FROM json_each(?3))",
        )?
        .execute(params![ctd, workflow.initial_state, known, public])
        .map_err(map)?;
        Ok(())
    }
}
