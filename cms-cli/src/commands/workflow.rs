//! `cms workflow`: list, define and delete workflows, and move objects through them.

use std::path::Path;

use cms_core::{
    Error,
    wire::{
        bulk::BulkAction,
        workflow::{Transition, Workflow, WorkflowState},
    },
};
use serde_json::{Map, Value, json};

use super::{
    bulk_job::BulkChange,
    hints,
    many_objects::{deduplicated, dry_run_report, one_by_one, read_ids},
    open_to_read, open_to_write, print_dry_run,
};
use crate::{
    cli::WorkflowCommand,
    failure::{Failure, Outcome, Result},
    printer::Printer,
    project,
    settings::Settings,
    target::Target,
    text_output::{self, Column, column},
};

const COLUMNS: [Column; 5] = [
    column("ID", "/id"),
    column("NAME", "/name"),
    column("INITIAL STATE", "/initial_state"),
    column("STATES", "/states"),
    column("TRANSITIONS", "/transitions"),
];

const TRANSITION_COLUMNS: [Column; 2] = [column("TRANSITION", "/name"), column("TO", "/tos/0")];

pub(super) fn run(
    command: WorkflowCommand,
    settings: &Settings,
    printer: &Printer,
) -> Result<Outcome> {
    match command {
        WorkflowCommand::List => list(&*open_to_read(settings)?, printer)?,
        WorkflowCommand::State { r#type, id } => {
            let state = open_to_read(settings)?.workflow_state(&r#type, &id)?;
            printer.value(&json!(state), || describe(&state))?;
        }
        WorkflowCommand::Run { r#type, ids_and_transition: mut ids, selection, dry_run } => {
            let transition = ids.pop().unwrap_or_default();
            if ids.is_empty() != selection.is_set() {
                return Err(Failure::usage("use ids, or one of --filters, --q and --all")
                    .hint("cms workflow run TYPE ID... TRANSITION"));
            }
            if selection.is_set() {
                let change = BulkChange {
                    content_type: &r#type,
                    action: BulkAction::Transition,
                    members: Map::from_iter([("transition".to_owned(), json!(transition))]),
                    selection: &selection,
                    verb: "moved",
                };
                return change.run(dry_run.dry_run, settings, printer);
            }
            let ids = deduplicated(read_ids(ids)?);
            let target = open_to_write(settings, printer, dry_run.dry_run)?;
            if dry_run.dry_run {
                target.get_type(&r#type)?;
                return dry_run_report(&*target, &r#type, &ids)?.print("moved", true, printer);
            }
            return run_transition(&*target, &r#type, &ids, &transition, printer);
        }
        WorkflowCommand::Define { file, dry_run } => {
            let target = open_to_write(settings, printer, dry_run.dry_run)?;
            define(&*target, &file, dry_run.dry_run, printer)?;
        }
        WorkflowCommand::Delete { id, dry_run } => {
            let target = open_to_write(settings, printer, dry_run.dry_run)?;
            if project::is_built_in(&id) {
                let reason = format!("the workflow \"{id}\" is built in and cannot be deleted");
                return Err(Error::Rejected(vec![reason.into()]).into());
            }
            if dry_run.dry_run {
                find(&*target, &id)?.ok_or_else(|| Error::not_found("workflow", &id))?;
                return print_dry_run(printer, &format!("delete the workflow \"{id}\""));
            }
            settings.confirm(&format!("delete the workflow \"{id}\"?"))?;
            target.delete_workflow(&id)?;
            printer.note(&format!("the workflow \"{id}\" is deleted"))?;
        }
    }
    Ok(Outcome::Done)
}

fn list(target: &dyn Target, printer: &Printer) -> Result<()> {
    let workflows = target.workflows()?;
    let rows = workflows.iter().map(|workflow| {
        let mut row = json!(workflow);
        if printer.is_table() {
            let names = workflow.transitions.iter().map(|transition| transition.name.as_str());
            row["states"] = json!(workflow.states.join(" "));
            row["transitions"] = json!(names.collect::<Vec<_>>().join(" "));
        }
        row
    });
    let rows: Vec<Value> = rows.collect();
    printer.rows(&rows, &COLUMNS)
}

fn describe(state: &WorkflowState) -> String {
    let transitions: Vec<Value> =
        state.enabled_transitions.iter().map(|transition: &Transition| json!(transition)).collect();
    if transitions.is_empty() {
        return format!("{}\n", state.state);
    }
    format!("{}\n\n{}", state.state, text_output::table(&transitions, &TRANSITION_COLUMNS))
}

/// Moves objects one by one: the API has no batch request for transitions.
fn run_transition(
    target: &dyn Target,
    content_type: &str,
    ids: &[String],
    transition: &str,
    printer: &Printer,
) -> Result<Outcome> {
    // Fails with the target's own error for an unknown type.
    target.get_type(content_type)?;
    let report = one_by_one(ids, ("workflow run", "moved"), printer, |id| {
        target.run_transition(content_type, id, transition).map(drop)
    })?;
    let hints = hints::transition_hints(target, content_type, transition, &report.refused);
    let outcome = report.print("moved", false, printer)?;
    printer.hints(hints)?;
    Ok(outcome)
}

/// Creates or replaces the workflow of a file.
fn define(target: &dyn Target, file: &Path, dry_run: bool, printer: &Printer) -> Result<()> {
    let definition = project::load_workflow(file)?;
    let id = definition.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
    let known = find(target, &id)?;
    if dry_run {
        let verb = if known.is_some() { "replace" } else { "create" };
        return print_dry_run(printer, &format!("{verb} the workflow \"{id}\"")).map(drop);
    }
    let (defined, verb) = match known {
        Some(_) => (target.replace_workflow(&id, definition)?, "replaced"),
        None => (target.create_workflow(definition)?, "created"),
    };
    printer.value(&json!(defined), || format!("{verb} the workflow \"{}\"\n", defined.id))
}

fn find(target: &dyn Target, id: &str) -> Result<Option<Workflow>> {
    Ok(target.workflows()?.into_iter().find(|workflow| workflow.id == id))
}
