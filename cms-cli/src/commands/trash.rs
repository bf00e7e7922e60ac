//! `cms trash`: lists deleted objects, restores them, and removes them permanently.

use std::sync::atomic::Ordering;

use cms_core::{
    Error,
    clock::{Clock, SystemClock},
    dates, limits,
    paging::PageRequest,
    wire::trash::{EmptyTrashRequest, RestoreRequest, TrashItem, TrashRequest},
};
use serde_json::json;

use super::{counted, hints, interrupt, open_to_read, open_to_write, print_dry_run, require_types};
use crate::{
    cli::TrashCommand,
    failure::{Failure, Outcome, Result},
    printer::Printer,
    settings::Settings,
    target::{Target, find_in_pages},
    text_output::{Column, column},
};

const COLUMNS: [Column; 7] = [
    column("ENTRY", "/entry"),
    column("TYPE", "/contentType"),
    column("ID", "/id"),
    column("TITLE", "/objectTitle"),
    column("DELETED", "/deletedAt"),
    column("ID TAKEN", "/idTaken"),
    column("BY", "/by/name"),
];

pub(super) fn run(
    command: TrashCommand,
    settings: &Settings,
    printer: &Printer,
) -> Result<Outcome> {
    match command {
        TrashCommand::List { types, limit } => {
            let target = open_to_read(settings)?;
            require_types(&*target, &types)?;
            let page = PageRequest { number: 1, limit };
            let list = target.trash(&request(types, page))?;
            printer.rows(&list.data, &COLUMNS)?;
            if list.count < list.total_count {
                let note = format!("{} of {}; --limit shows more", list.count, list.total_count);
                printer.note(&note)?;
            }
        }
        TrashCommand::Restore { r#type, id, entry, new_id, draft, dry_run } => {
            let target = open_to_write(settings, printer, dry_run.dry_run)?;
            let item = find(&*target, &r#type, &id, entry)?;
            let new = new_id.as_ref().unwrap_or(&item.id);
            if dry_run.dry_run {
                return print_dry_run(printer, &format!("restore {type}/{new}"));
            }
            let restore = RestoreRequest { id: new_id, data: None, draft };
            let restored = target
                .restore(&item.entry, &restore)
                .map_err(|error| hints::add_object_hints(&*target, &r#type, error))?;
            let id = restored["id"].as_str().unwrap_or_default().to_owned();
            printer.value(&restored, || format!("restored {type}/{id}\n"))?;
        }
        TrashCommand::Remove { r#type, id, entry, dry_run } => {
            let target = open_to_write(settings, printer, dry_run.dry_run)?;
            let item = find(&*target, &r#type, &id, entry)?;
            if dry_run.dry_run {
                return print_dry_run(printer, &format!("remove {type}/{id} from the trash"));
            }
            settings.confirm(&format!("remove {type}/{id} permanently?"))?;
            target.remove_trash(&item.entry)?;
            printer.note(&format!("removed {type}/{id} permanently"))?;
        }
        TrashCommand::Empty { types, older_than, dry_run } => {
            let target = open_to_write(settings, printer, dry_run.dry_run)?;
            require_types(&*target, &types)?;
            let before = older_than.map(|days| {
                let seconds = SystemClock.now().seconds() - days * 86_400;
                format!("@{seconds}")
            });
            return empty(&*target, types, before, dry_run.dry_run, settings, printer);
        }
    }
    Ok(Outcome::Done)
}

fn request(types: Vec<String>, page: PageRequest) -> TrashRequest {
    let content_types = (!types.is_empty()).then_some(types);
    TrashRequest { page, content_types, ..TrashRequest::default() }
}

/// Finds the entry of an object: the newest one of the id, or the given one.
fn find(
    target: &dyn Target,
    content_type: &str,
    id: &str,
    entry: Option<u64>,
) -> Result<TrashItem> {
    target.get_type(content_type)?;
    let is_wanted = |item: &TrashItem| {
        let is_entry = entry.is_none_or(|entry| item.entry == entry.to_string());
        item.id.eq_ignore_ascii_case(id) && is_entry
    };
    let list = |page| {
        let all = request(vec![content_type.to_owned()], page);
        target.trash(&TrashRequest { text: Some(id.to_owned()), ..all })
    };
    let visit = |item| Ok::<_, Failure>(is_wanted(&item).then_some(item));
    let found = find_in_pages(limits::MAX_PAGE_SIZE, list, visit)?;
    let missing = || Error::not_found("deleted object", format!("{content_type}/{id}"));
    Ok(found.ok_or_else(missing)?)
}

/// Removes all entries, in requests of limited size.
fn empty(
    target: &dyn Target,
    types: Vec<String>,
    before: Option<String>,
    dry_run: bool,
    settings: &Settings,
    printer: &Printer,
) -> Result<Outcome> {
    let page = PageRequest { number: 1, limit: 1 };
    let list = TrashRequest { deleted_before: before.clone(), ..request(types.clone(), page) };
    let found = target.trash(&list)?;
    let count = found.total_count;
    let objects = counted(count, "deleted object");
    if dry_run {
        return print_dry_run(printer, &format!("remove {objects} permanently"));
    }
    if count > 0 {
        settings.confirm(&format!("remove {objects} permanently?"))?;
    }
    let content_types = (!types.is_empty()).then_some(types);
    // Excludes objects that were deleted after the confirmation. The first entry of the list is the newest.
    let after_newest = found.data.first().and_then(|newest| dates::parse_date(&newest.deleted_at));
    let before = before.or_else(|| Some(format!("@{}", after_newest?.seconds() + 1)));
    let request = EmptyTrashRequest { content_types, deleted_before: before };
    let mut progress = printer.progress("remove", count);
    let mut removed = 0;
    // If the trash was empty, there was no confirmation: entries that were added since are not removed.
    let mut more = count > 0;
    let interrupt = interrupt();
    while more && !interrupt.load(Ordering::Relaxed) {
        let emptied = target.empty_trash(&request)?;
        removed += emptied.removed_count;
        progress.advance(emptied.removed_count);
        more = emptied.more;
    }
    drop(progress);
    let objects = counted(removed, "deleted object");
    printer.value(&json!({ "removedCount": removed }), || format!("{objects} removed\n"))?;
    if more {
        printer.note("interrupted; run the same command to continue")?;
        return Ok(Outcome::Partial);
    }
    Ok(Outcome::Done)
}
