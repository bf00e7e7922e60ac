//! `cms object`: list, get, create, update and delete content objects, and their versions.

use std::{iter, path::Path, sync::atomic::Ordering};

use cms_core::{
    Error, Reason,
    import::expand_links,
    limits,
    paging::PageRequest,
    wire::{
        bulk::BulkAction,
        object::{ListRequest, ObjectRequest, ValidateRequest},
    },
};
use serde_json::{Map, Value};

use super::{
    bulk_job::BulkChange,
    counted, hints, interrupt,
    many_objects::{ObjectsReport, deduplicated, dry_run_report, read_ids},
    open_to_read, open_to_write, print_dry_run,
};
use crate::{
    cli::{ListArgs, ObjectCommand},
    content,
    failure::{Diagnostic, Failure, Outcome, Result},
    printer::Printer,
    project,
    settings::Settings,
    target::{Edition, Target, all_pages},
    text_output::{self, Column, column},
    yaml::YamlDocument,
};

/// Ids in one request, unless the target accepts fewer.
const BATCH_SIZE: usize = 500;

const COLUMNS: [Column; 5] = [
    column("ID", "/id"),
    column("TITLE", "/internal/objectTitle"),
    column("STATUS", "/internal/status"),
    column("VERSION", "/internal/latestVersion"),
    column("UPDATED", "/internal/updatedAt"),
];

const VERSION_COLUMNS: [Column; 4] = [
    column("VERSION", "/version"),
    column("CURRENT", "/current"),
    column("CREATED", "/createdAt"),
    column("EDITOR", "/editor/username"),
];

const INCOMING_COLUMNS: [Column; 6] = [
    column("TYPE", "/contentType"),
    column("ID", "/id"),
    column("TITLE", "/objectTitle"),
    column("PROPERTIES", "/properties"),
    column("CURRENT", "/current"),
    column("PUBLISHED", "/published"),
];

pub(super) fn run(
    command: ObjectCommand,
    settings: &Settings,
    printer: &Printer,
) -> Result<Outcome> {
    match command {
        ObjectCommand::List(args) => {
            let target = open_to_read(settings)?;
            let edition = if args.preview { Edition::Current } else { Edition::Published };
            let fields = text_output::field_columns(&args.fields, "");
            let columns = fields.as_ref().map_or(COLUMNS.to_vec(), |fields| {
                let named = fields.iter().map(|(header, pointer)| column(header, pointer));
                COLUMNS[..1].iter().copied().chain(named).collect()
            });
            let list = list(&*target, &args.r#type, args.list, &args.fields, edition)?;
            let header = csv_header(&*target, &args.r#type, &args.fields, printer)?;
            printer.rows_with_header(&list.objects, &columns, &header)?;
            list.print_remaining(printer)?;
        }
        ObjectCommand::Get { r#type, id, hydrate, version, fields } => {
            let target = open_to_read(settings)?;
            let object = match version {
                Some(version) => target.version(&r#type, &id, version)?,
                None => target.object(&r#type, &id, &ObjectRequest { hydrate, fields })?,
            };
            printer.members(&object)?;
        }
        ObjectCommand::Create { r#type, file, dry_run } => {
            let object = read(&file)?;
            let target = open_to_write(settings, printer, dry_run.dry_run)?;
            let object = with_links(&*target, &r#type, object)?;
            if dry_run.dry_run {
                validate(&*target, &r#type, object, &ValidateRequest::default())?;
                return print_dry_run(printer, &format!("create an object of type \"{type}\""));
            }
            let created = target
                .create_object(&r#type, object)
                .map_err(|error| hints::add_object_hints(&*target, &r#type, error))?;
            show(&created, "created", printer)?;
        }
        ObjectCommand::Update { r#type, id_and_file, patch, selection, dry_run } => {
            let (id, file) = match id_and_file.as_slice() {
                [file] if selection.is_set() => {
                    if !patch {
                        return Err(Failure::usage("--filters, --q and --all need --patch"));
                    }
                    let object = read(Path::new(file))?;
                    let object = with_links(&*open_to_read(settings)?, &r#type, object)?;
                    let change = BulkChange {
                        content_type: &r#type,
                        action: BulkAction::Patch,
                        members: Map::from_iter([("patch".to_owned(), Value::Object(object))]),
                        selection: &selection,
                        verb: "updated",
                    };
                    return change.run(dry_run.dry_run, settings, printer);
                }
                [id, file] if !selection.is_set() => (id.clone(), Path::new(file)),
                _ => {
                    return Err(Failure::usage("use an id, or one of --filters, --q and --all")
                        .hint("cms object update TYPE ID FILE"));
                }
            };
            let object = read(file)?;
            let target = open_to_write(settings, printer, dry_run.dry_run)?;
            let object = with_links(&*target, &r#type, object)?;
            if dry_run.dry_run {
                let request = ValidateRequest { id: Some(id.clone()), patch };
                validate(&*target, &r#type, object, &request)?;
                return print_dry_run(printer, &format!("update {type}/{id}"));
            }
            let updated = target
                .update_object(&r#type, &id, object, patch)
                .map_err(|error| hints::add_object_hints(&*target, &r#type, error))?;
            show(&updated, "updated", printer)?;
        }
        ObjectCommand::Validate { r#type, file, id, patch } => {
            let object = read(&file)?;
            let target = open_to_read(settings)?;
            let object = with_links(&*target, &r#type, object)?;
            validate(&*target, &r#type, object, &ValidateRequest { id, patch })?;
            printer.note("the object is valid")?;
        }
        ObjectCommand::Incoming { r#type, id } => {
            let target = open_to_read(settings)?;
            let mut hidden = false;
            let rows = all_pages(limits::MAX_PAGE_SIZE, |page| {
                let links = target.incoming(&r#type, &id, page)?;
                hidden = links.hidden;
                Ok(links.list)
            })?;
            printer.rows(&rows, &INCOMING_COLUMNS)?;
            if hidden {
                printer.note("other objects link to it too; the key may not read their types")?;
            }
        }
        ObjectCommand::Delete { r#type, ids, selection, dry_run } => {
            if selection.is_set() {
                let change = BulkChange {
                    content_type: &r#type,
                    action: BulkAction::Delete,
                    members: Map::new(),
                    selection: &selection,
                    verb: "deleted",
                };
                return change.run(dry_run.dry_run, settings, printer);
            }
            let ids = deduplicated(read_ids(ids)?);
            let target = open_to_write(settings, printer, dry_run.dry_run)?;
            if dry_run.dry_run {
                return dry_run_report(&*target, &r#type, &ids)?.print("deleted", true, printer);
            }
            let objects = counted(ids.len() as u64, "object");
            settings.confirm(&format!("delete {objects} of type \"{type}\"?"))?;
            return delete(&*target, &r#type, &ids, printer)?.print("deleted", false, printer);
        }
        ObjectCommand::Versions { r#type, id } => {
            let versions = open_to_read(settings)?.versions(&r#type, &id)?;
            printer.rows(&versions, &VERSION_COLUMNS)?;
        }
    }
    Ok(Outcome::Done)
}

/// Fails as the write of an object would.
fn validate(
    target: &dyn Target,
    content_type: &str,
    object: Map<String, Value>,
    request: &ValidateRequest,
) -> Result<()> {
    target
        .validate_object(content_type, object, request)
        .map_err(|error| hints::add_object_hints(target, content_type, error))
}

/// The requested objects, and the number of all matching objects.
pub(super) struct Listed {
    pub(super) objects: Vec<Value>,
    total: u64,
    /// About properties that the type does not have.
    hints: Vec<String>,
}

impl Listed {
    /// Prints hints, and how many objects are not listed.
    pub(super) fn print_remaining(self, printer: &Printer) -> Result<()> {
        printer.hints(self.hints)?;
        let shown = self.objects.len();
        if (shown as u64) < self.total {
            printer.note(&format!("{shown} of {}; --page and --all show more", self.total))?;
        }
        Ok(())
    }
}

pub(super) fn list(
    target: &dyn Target,
    content_type: &str,
    args: ListArgs,
    fields: &[String],
    edition: Edition,
) -> Result<Listed> {
    let limit = if args.all { limits::MAX_PAGE_SIZE } else { args.limit };
    let mut request = ListRequest {
        page: PageRequest { number: args.page, limit },
        order_by: args.order_by,
        descending: args.desc,
        empty_first: args.empty_first,
        hydrate: args.hydrate,
        filters: args.filters,
        ids: (!args.ids.is_empty()).then_some(args.ids),
        fields: fields.to_vec(),
    };
    let paths: Vec<_> = fields.iter().chain(&request.order_by).map(String::as_str).collect();
    let hints = hints::unknown_properties(target, content_type, &paths, request.filters.as_deref());
    let mut objects = Vec::new();
    loop {
        match target.objects(content_type, &request, edition) {
            Ok(mut list) => {
                objects.append(&mut list.data);
                if !args.all || u64::from(request.page.number) >= list.total_pages {
                    return Ok(Listed { objects, total: list.total_count, hints });
                }
                request.page.number += 1;
            }
            Err(error) if args.all && error.is_response_too_large() && request.page.limit > 1 => {
                request.page = smaller_page(request.page);
            }
            Err(error) => return Err(hints::add_filter_hint(error)),
        }
    }
}

/// The page with the same first entry and a tenth of the entries. The limit is a power of ten.
fn smaller_page(PageRequest { number, limit }: PageRequest) -> PageRequest {
    let smaller = (limit / 10).max(1);
    PageRequest { number: (number - 1) * (limit / smaller) + 1, limit: smaller }
}

fn show(object: &Value, verb: &str, printer: &Printer) -> Result<()> {
    printer.value(object, || {
        let content_type = text_output::cell(&object["internal"]["contentType"]);
        format!("{verb} {content_type}/{}\n", text_output::cell(&object["id"]))
    })
}

/// Reads one object from a JSON or YAML file. Standard input may be either.
fn read(path: &Path) -> Result<Map<String, Value>> {
    let (name, text) = project::read_text(path)?;
    if text.trim().is_empty() {
        let message = "the file is empty: it needs one object".to_owned();
        return Err(Diagnostic { location: name, message }.into());
    }
    let is_json = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
    let value = if is_json {
        serde_json::from_str(&text).map_err(|error| content::syntax(&name, &error))?
    } else {
        YamlDocument::parse(&name, text)?.value
    };
    if let Value::Object(object) = value {
        return Ok(object);
    }
    let message = "not an object: the file needs one object".to_owned();
    Err(Diagnostic { location: name, message }.into())
}

/// Completes the links of an object from a file.
fn with_links(
    target: &dyn Target,
    content_type: &str,
    mut object: Map<String, Value>,
) -> Result<Map<String, Value>> {
    let may_be_link = |value: &Value| value.is_string() || value.is_array() || value.is_object();
    if object.values().any(may_be_link) {
        let content_type = target.get_type(content_type)?;
        expand_links(&content_type, &mut object).into_result()?;
    }
    Ok(object)
}

/// Deletes in batches of the size that the target accepts. Objects that cannot be deleted do not
/// stop the others.
fn delete(
    target: &dyn Target,
    content_type: &str,
    ids: &[String],
    printer: &Printer,
) -> Result<ObjectsReport> {
    let interrupt = interrupt();
    let mut progress = printer.progress("delete", ids.len() as u64);
    let mut report = ObjectsReport::default();
    let mut size = BATCH_SIZE;
    let mut remaining = ids;
    // Objects that others link to, which may be deleted by a later batch.
    let mut in_use = Vec::new();
    while !remaining.is_empty() {
        if interrupt.load(Ordering::Relaxed) {
            report.interrupted = true;
            break;
        }
        let (batch, after) = remaining.split_at(size.min(remaining.len()));
        let reasons = match target.delete_objects(content_type, batch) {
            Ok(_) => Vec::new(),
            Err(Error::Rejected(reasons)) => match reasons.as_slice() {
                [Reason::BatchLimit(limit)] if (1..batch.len()).contains(limit) => {
                    size = *limit;
                    continue;
                }
                _ => reasons,
            },
            Err(error) => return Err(report.failure(error, "deleted")),
        };
        report.done += (batch.len() - reasons.len().min(batch.len())) as u64;
        let is_in_use = |reason: &Reason| matches!(reason, Reason::ObjectInUse(_));
        let (used, refused): (Vec<_>, Vec<_>) = reasons.into_iter().partition(is_in_use);
        let refusals =
            |reasons: Vec<Reason>| reasons.into_iter().map(|reason| refusal(content_type, reason));
        in_use.extend(refusals(used));
        report.refused.extend(refusals(refused));
        progress.advance(batch.len() as u64);
        remaining = after;
    }
    let may_repeat = report.done > 0 && ids.len() > size && !report.interrupted;
    if in_use.is_empty() || !may_repeat {
        report.refused.extend(in_use);
        return Ok(report);
    }
    // The last ones first: objects often link to those that were created before them.
    let again: Vec<String> = in_use.into_iter().map(|(id, _)| id).rev().collect();
    let rest = delete(target, content_type, &again, printer)?;
    report.done += rest.done;
    report.refused.extend(rest.refused);
    report.interrupted = rest.interrupted;
    Ok(report)
}

/// The object that a reason is about, and the error.
fn refusal(content_type: &str, reason: Reason) -> (String, Error) {
    match reason {
        Reason::ObjectMissing(id) => {
            let error = Error::object_not_found(content_type, &id);
            (id, error)
        }
        Reason::ObjectForbidden(id) => (id, Error::Forbidden),
        Reason::ObjectInUse(ref id) => (id.clone(), Error::Rejected(vec![reason])),
        other => (String::new(), Error::Rejected(vec![other])),
    }
}

/// The members of objects in the CSV format, so that its columns do not depend on the listed objects: the requested
/// fields, or all properties in the order of the form. Empty for other formats.
pub(super) fn csv_header(
    target: &dyn Target,
    content_type: &str,
    fields: &[String],
    printer: &Printer,
) -> Result<Vec<String>> {
    if !printer.is_csv() {
        return Ok(Vec::new());
    }
    let names: Vec<String> = if let Some(columns) = text_output::field_columns(fields, "") {
        columns.into_iter().map(|(name, _)| name).collect()
    } else {
        let content_type = target.get_type(content_type)?;
        let order = content_type.meta_definition["order"].as_array();
        let names = order.into_iter().flatten().filter_map(Value::as_str);
        names.map(str::to_owned).collect()
    };
    let of_internal = |name: &String| name.starts_with("internal.");
    Ok(iter::once("id".to_owned()).chain(names.into_iter().filter(|n| !of_internal(n))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn smaller_page_has_the_same_first_entry() {
        let page = |number, limit| PageRequest { number, limit };
        for (from, wanted) in [
            (page(1, limits::MAX_PAGE_SIZE), page(1, limits::MAX_PAGE_SIZE / 10)),
            (page(3, 1000), page(21, 100)),
            (page(3, 100), page(21, 10)),
            (page(7, 10), page(61, 1)),
        ] {
            assert_eq!(smaller_page(from), wanted);
        }
    }
}
