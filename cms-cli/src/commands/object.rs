//! `cms object`: list, get, create, update and delete content objects, and their versions.

use std::{fs, io, path::Path};

use cms_core::{Error, limits, paging::Page, wire::object::ListRequest};
use serde_json::{Map, Value};

use super::{
    NOTHING_CHANGED, advice, changing, counted,
    many::{Report, no_object, rehearse, with_standard_input, without_repeats},
    reading,
};
use crate::{
    cli::{ListArgs, ObjectCommand},
    content,
    failure::{Failure, Fault, Kind, Outcome, Result},
    printer::Printer,
    report::{self, Column, column},
    settings::Settings,
    target::{Edition, Target},
    yaml,
};

/// Ids in one request, unless the target allows fewer.
const BATCH: usize = 500;

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

pub(super) fn run(
    command: ObjectCommand,
    settings: &Settings,
    printer: &mut Printer,
) -> Result<Outcome> {
    match command {
        ObjectCommand::List(args) => {
            let target = reading(settings)?;
            let edition = if args.preview { Edition::Current } else { Edition::Published };
            let list = list(&*target, &args.r#type, args.list, edition)?;
            printer.rows(&list.objects, &COLUMNS)?;
            list.tell_rest(printer)?;
        }
        ObjectCommand::Get { r#type, id, hydrate, version } => {
            let target = reading(settings)?;
            let object = match version {
                Some(version) => target.version(&r#type, &id, version)?,
                None => target.object(&r#type, &id, hydrate)?,
            };
            printer.value(&object, || report::members(&object))?;
        }
        ObjectCommand::Create { r#type, file, dry_run } => {
            let object = read(&file)?;
            let target = changing(settings, printer, dry_run.dry_run)?;
            if dry_run.dry_run {
                target.get_type(&r#type)?;
                return planned(printer, &format!("would create an object of type \"{type}\""));
            }
            let created = target
                .create_object(&r#type, object)
                .map_err(|error| advice::on_object(&r#type, error))?;
            show(&created, "created", printer)?;
        }
        ObjectCommand::Update { r#type, id, file, patch, dry_run } => {
            let object = read(&file)?;
            let target = changing(settings, printer, dry_run.dry_run)?;
            if dry_run.dry_run {
                target.object(&r#type, &id, 0)?;
                return planned(printer, &format!("would update {type}/{id}"));
            }
            let updated = if patch {
                target.patch_object(&r#type, &id, object)
            } else {
                target.replace_object(&r#type, &id, object)
            };
            let updated = updated.map_err(|error| advice::on_object(&r#type, error))?;
            show(&updated, "updated", printer)?;
        }
        ObjectCommand::Delete { r#type, ids, dry_run } => {
            let ids = without_repeats(with_standard_input(ids)?);
            let target = changing(settings, printer, dry_run.dry_run)?;
            if dry_run.dry_run {
                return rehearse(&*target, &r#type, &ids)?.tell("deleted", true, printer);
            }
            let what = counted(ids.len() as u64, "object");
            settings.confirm(&format!("delete {what} of type \"{type}\"?"))?;
            return delete(&*target, &r#type, &ids)?.tell("deleted", false, printer);
        }
        ObjectCommand::Versions { r#type, id } => {
            let versions = reading(settings)?.versions(&r#type, &id)?;
            printer.rows(&versions, &VERSION_COLUMNS)?;
        }
    }
    Ok(Outcome::Done)
}

fn planned(printer: &mut Printer, what: &str) -> Result<Outcome> {
    printer.note(&format!("{what}\n{NOTHING_CHANGED}"))?;
    Ok(Outcome::Done)
}

/// Objects that were asked for, and how many there are.
pub(super) struct Listed {
    pub(super) objects: Vec<Value>,
    total: u64,
}

impl Listed {
    /// Says that there are more, if there are.
    pub(super) fn tell_rest(&self, printer: &mut Printer) -> Result<()> {
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
    edition: Edition,
) -> Result<Listed> {
    let limit = if args.all { limits::MAX_PAGE_SIZE } else { args.limit };
    let mut request = ListRequest {
        page: Page { number: args.page, limit },
        order_by: args.order_by,
        descending: args.desc,
        empty_first: args.empty_first,
        hydrate: args.hydrate,
        filters: args.filters,
        ids: (!args.ids.is_empty()).then_some(args.ids),
    };
    let mut list = target.objects(content_type, &request, edition).map_err(advice::on_filters)?;
    let mut objects = list.data;
    while args.all && u64::from(request.page.number) < list.total_pages {
        request.page.number += 1;
        list = target.objects(content_type, &request, edition)?;
        objects.append(&mut list.data);
    }
    Ok(Listed { objects, total: list.total_count })
}

fn show(object: &Value, what: &str, printer: &mut Printer) -> Result<()> {
    printer.value(object, || {
        let content_type = report::cell(&object["internal"]["contentType"]);
        format!("{what} {content_type}/{}\n", report::cell(&object["id"]))
    })
}

/// Reads one object from a JSON or YAML file. Standard input may be either: YAML includes JSON.
fn read(path: &Path) -> Result<Map<String, Value>> {
    let is_stdin = path == Path::new("-");
    let name = if is_stdin { "<stdin>".to_owned() } else { path.display().to_string() };
    let text = if is_stdin { io::read_to_string(io::stdin()) } else { fs::read_to_string(path) };
    let text = text.map_err(|error| Failure::unreadable(&name, error))?;
    let fault = |place, message| Failure::from(Kind::Faults(vec![Fault { place, message }]));
    let is_json = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
    let value = if is_json {
        serde_json::from_str(&text).map_err(|error| content::syntax(&name, &error))?
    } else {
        let document = yaml::parse(&text).map_err(|error| {
            let mark = error.mark.map(|mark| format!(":{}:{}", mark.line, mark.column));
            fault(format!("{name}{}", mark.unwrap_or_default()), error.message)
        })?;
        document.value
    };
    match value {
        Value::Object(object) => Ok(object),
        _ => Err(fault(name, "one object is expected".to_owned())),
    }
}

/// Deletes in calls of so many ids as the target allows. What cannot be deleted does not keep the
/// rest from being deleted.
fn delete(target: &dyn Target, content_type: &str, ids: &[String]) -> Result<Report> {
    let mut report = Report::default();
    let mut size = BATCH;
    let mut rest = ids;
    while !rest.is_empty() {
        let (part, after) = rest.split_at(size.min(rest.len()));
        let reasons = match target.delete_objects(content_type, part) {
            Ok(_) => Vec::new(),
            Err(Error::Rejected(reasons)) => match limit(&reasons) {
                Some(limit) if limit > 0 && limit < part.len() => {
                    size = limit;
                    continue;
                }
                _ => reasons,
            },
            Err(error) => return Err(report.failure(error, "deleted")),
        };
        report.done += (part.len() - reasons.len().min(part.len())) as u64;
        let refused = reasons.into_iter().map(|reason| refusal(content_type, reason));
        report.refused.extend(refused);
        rest = after;
    }
    Ok(report)
}

/// The limit, when that is why a deletion was refused: it stands among the reasons (contract 4.5).
fn limit(reasons: &[String]) -> Option<usize> {
    let [reason] = reasons else { return None };
    reason.strip_prefix("Batch limit exceeded, limit: ")?.parse().ok()
}

/// Which object a reason is about (contract 3.8).
fn refusal(content_type: &str, reason: String) -> (String, Error) {
    let rest = reason.strip_prefix("Content object: \"").unwrap_or_default();
    if let Some(id) = rest.strip_suffix("\" doesn't exist") {
        return (id.to_owned(), no_object(content_type, id));
    }
    let id = rest.strip_suffix("\" is used in another content object.").unwrap_or_default();
    (id.to_owned(), Error::Rejected(vec![reason]))
}
