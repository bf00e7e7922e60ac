//! `cms ctd`: list, get, export and delete content types. Plan and apply are in [`super::apply`].

use std::path::Path;

use cms_core::{
    DEFAULT_WORKFLOW, Error,
    import::{definition, is_system_type, is_unchanged_builtin_type},
    wire::{content_type::ContentType, object::ListRequest},
};
use serde_json::{Value, json};

use super::{apply, counted, open_to_read, open_to_write, print_dry_run};
use crate::{
    cli::CtdCommand,
    content::stream::write_file,
    failure::{Failure, Outcome, Result},
    printer::Printer,
    project,
    settings::Settings,
    target::{Edition, Target},
    text_output::{self, Column, column},
};

const COLUMNS: [Column; 4] = [
    column("NAME", "/name"),
    column("LABEL", "/label"),
    column("PROPERTIES", "/metaDefinition/order"),
    column("PUBLISHING", "/workflowId"),
];

const PROPERTY_COLUMNS: [Column; 5] = [
    column("PROPERTY", "/name"),
    column("LABEL", "/label"),
    column("TYPE", "/inputType"),
    column("TO", "/to"),
    column("RULES", "/rules"),
];

pub(super) fn run(command: CtdCommand, settings: &Settings, printer: &Printer) -> Result<Outcome> {
    match command {
        CtdCommand::List => list(&*open_to_read(settings)?, printer)?,
        CtdCommand::Get { name } => {
            let content_type = open_to_read(settings)?.get_type(&name)?;
            printer.value(&json!(content_type), || describe(&content_type))?;
        }
        CtdCommand::Plan(args) => return apply::plan(&args, settings, printer),
        CtdCommand::Apply(args) => return apply::apply(args, settings, printer),
        CtdCommand::Export { file } => export(&*open_to_read(settings)?, file.as_deref(), printer)?,
        CtdCommand::Delete { name, dry_run } => {
            let target = open_to_write(settings, printer, dry_run.dry_run)?;
            if dry_run.dry_run {
                let request = ListRequest::default();
                let objects = target.objects(&name, &request, Edition::Current)?.total_count;
                let objects = counted(objects, "object");
                let change = format!("delete the content type \"{name}\", which has {objects}");
                return print_dry_run(printer, &change);
            }
            settings.confirm(&format!("delete the content type \"{name}\"?"))?;
            target.delete_type(&name).map_err(|error| match error {
                Error::Forbidden if is_system_type(&name) => {
                    Failure::from(error).hint("system types cannot be deleted")
                }
                error => error.into(),
            })?;
            printer.note(&format!("the content type \"{name}\" is deleted"))?;
        }
        CtdCommand::Schema => printer.text(project::SCHEMA)?,
    }
    Ok(Outcome::Done)
}

fn list(target: &dyn Target, printer: &Printer) -> Result<()> {
    let types = target.types()?;
    if printer.is_table() {
        let readable = types.iter().map(|content_type| {
            let mut row = json!(content_type);
            let order = content_type.meta_definition["order"].as_array().map_or(0, Vec::len);
            row["metaDefinition"]["order"] = json!(order);
            row["workflowId"] = json!(publishing(content_type));
            row
        });
        return printer.rows(&readable.collect::<Vec<_>>(), &COLUMNS);
    }
    printer.rows(&types, &COLUMNS)
}

fn publishing(content_type: &ContentType) -> &str {
    match content_type.workflow_id.as_str() {
        _ if content_type.draft_public => "draft & public",
        DEFAULT_WORKFLOW => "immediately",
        workflow => workflow,
    }
}

fn describe(content_type: &ContentType) -> String {
    let schema = &content_type.schema_definition;
    let configs = &content_type.meta_definition["propertiesConfig"];
    let names = content_type.meta_definition["order"].as_array().into_iter().flatten();
    let rows = names.filter_map(Value::as_str).map(|name| {
        let config = &configs[name];
        let required = schema["required"].as_array().is_some_and(|r| r.iter().any(|n| n == name));
        let flags = [
            ("required", required),
            ("unique", config["unique"] == true),
            ("title", config["isTitlePart"] == true),
            ("read-only", config["readonly"] == true),
            ("hidden", config["hidden"] == true),
        ];
        let rules: Vec<&str> =
            flags.into_iter().filter_map(|(rule, is_on)| is_on.then_some(rule)).collect();
        json!({
            "name": name,
            "label": config["label"],
            "inputType": config["inputType"],
            "to": config["validation"]["relationContenttype"],
            "rules": rules.join(", "),
        })
    });
    let rows: Vec<Value> = rows.collect();
    format!(
        "{} ({}), {}\n\n{}",
        content_type.name,
        content_type.label,
        publishing(content_type),
        text_output::table(&rows, &PROPERTY_COLUMNS)
    )
}

/// Writes all types except system types, which cannot be changed, and unchanged built-in types, which
/// exist in every space.
fn export(target: &dyn Target, file: Option<&str>, printer: &Printer) -> Result<()> {
    let types = target.types()?.into_iter().filter(|content_type| {
        !is_system_type(&content_type.name) && !is_unchanged_builtin_type(content_type)
    });
    let types: Vec<ContentType> = types.collect();
    let workflows = target.workflows()?;
    let text = project::print(&types, &workflows);
    match file.filter(|file| *file != "-") {
        Some(file) => {
            write_file(Path::new(file), &text)?;
            printer.note(&format!("{} in {file}", counted(types.len() as u64, "content type")))
        }
        None if printer.is_table() => printer.text(&text),
        None => {
            let types: Vec<Value> = types.iter().map(|t| Value::Object(definition(t))).collect();
            let own = workflows.iter().filter(|workflow| !project::is_built_in(&workflow.id));
            let own: Vec<_> = own.collect();
            let mut value = json!({ "version": 1, "contentTypes": types });
            if !own.is_empty() {
                value["workflows"] = json!(own);
            }
            printer.value(&value, String::new)
        }
    }
}
