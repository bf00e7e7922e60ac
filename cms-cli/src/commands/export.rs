//! `cms export`: types, objects and media files as a folder that `cms import` reads.
//!
//! Exports are deterministic: types by name, objects in the order of creation, in their current
//! versions. `internal` contains only what an import restores: the dates, the status with the
//! published version of a modified object, or the workflow state. A complete export replaces an
//! earlier one. Empty built-in types without changes are left out: other spaces have them too.

use std::{
    collections::{HashMap, HashSet},
    fs::{self, File},
    io::{BufWriter, Write},
    path::Path,
    sync::{Arc, atomic::Ordering},
};

use cms_core::{
    DEFAULT_WORKFLOW, Error,
    import::{definition, fetch, is_system_type, is_unchanged_builtin_type},
    limits,
    paging::PageRequest,
    wire::{content_type::ContentType, list::List, object::ListRequest, trash::TrashRequest},
};
use serde_json::{Map, Value, json};

use super::{
    NOTHING_CHANGED, counted, interrupt,
    media::{self, extension},
    open_to_read, parallel, require_types,
};
use crate::{
    cli::ExportArgs,
    content::{
        folder,
        stream::{self, Transfer},
    },
    failure::{Failure, Outcome, Result},
    printer::Printer,
    project,
    settings::Settings,
    target::{Edition, Target},
};

const OBJECTS_PER_FILE: u64 = 10_000;
/// Objects in one request.
const PAGE_SIZE: u32 = limits::MAX_PAGE_SIZE;
/// The page of a request that only counts objects.
const COUNT_PAGE: PageRequest = PageRequest { number: 1, limit: 1 };
/// Media files between two updates of the progress.
const FILES_PER_UPDATE: usize = 32;

pub(super) fn run(
    args: &ExportArgs,
    settings: &Settings,
    printer: &mut Printer,
) -> Result<Outcome> {
    if !args.force && !folder::may_hold_export(&args.dir)? {
        let message = format!("{} is not empty and has no earlier export", args.dir.display());
        return Err(Failure::usage(message)
            .hint("choose an empty folder, or use --force, which keeps files with other names"));
    }
    let target = open_to_read(settings)?;
    require_types(&*target, &args.types)?;
    let all = target.types()?;
    let mut types = Vec::new();
    let (mut objects, mut files) = (0, 0);
    for content_type in &all {
        let is_named = args.types.contains(&content_type.name);
        if !args.types.is_empty() && !is_named {
            continue;
        }
        let name = &content_type.name;
        let count = page(&*target, name, 1, 1)?.total_count;
        let deleted =
            if args.trash { target.trash(&deletions(name, COUNT_PAGE))?.total_count } else { 0 };
        let count = count + deleted;
        let is_in_every_space =
            is_system_type(&content_type.name) || is_unchanged_builtin_type(content_type);
        if is_named || count > 0 || !is_in_every_space {
            types.push((content_type, count));
            objects += count;
        }
    }
    let names =
        folder::names(&types.iter().map(|(content_type, _)| *content_type).collect::<Vec<_>>());
    if !args.dry_run.dry_run {
        let interrupt = interrupt();
        let transfer = Transfer::new(Arc::clone(&interrupt));
        let staged = folder::StagedExport::new(&args.dir)?;
        let mut progress = printer.progress("export", objects);
        objects = 0;
        let mut advance = |count| {
            progress.advance(count);
            if interrupt.load(Ordering::Relaxed) { Err(interrupted(&args.dir)) } else { Ok(()) }
        };
        let (mut scheduled, mut missing, mut deleted) = (0, 0, 0);
        for ((content_type, _), name) in types.iter().zip(&names) {
            advance(0)?;
            let path = staged.path().join(name);
            let written = write_type(&*target, content_type, &path, &transfer, &mut advance)?;
            if args.trash {
                let name = &content_type.name;
                deleted += write_deleted(&*target, name, &path, &transfer, &mut advance)?;
            }
            objects += written.objects;
            scheduled += written.scheduled;
            files += written.files;
            missing += written.missing;
        }
        if let Some(text) = project::print_workflows(&target.workflows()?) {
            let path = staged.path().join(folder::WORKFLOWS);
            fs::write(&path, text).map_err(|error| Failure::unwritable(path.display(), error))?;
        }
        staged.move_into(&args.dir, &names)?;
        drop(progress);
        if scheduled > 0 {
            let publications = counted(scheduled, "scheduled publication");
            printer
                .note(&format!("{publications} not exported: exports do not contain schedules"))?;
        }
        if deleted > 0 {
            let objects = counted(deleted, "deleted object");
            printer.note(&format!("{objects} for `cms import --keep-dates`"))?;
        }
        if missing > 0 {
            printer.note(&format!("{} without a file", counted(missing, "media object")))?;
        }
        if args.types.is_empty() {
            folder::clear_others(&args.dir, &names)?;
        }
    }
    let value = json!({ "contentTypes": types.len(), "objects": objects, "files": files });
    printer.value(&value, || {
        let types = counted(types.len() as u64, "type");
        let files = if files > 0 { format!(", {}", counted(files, "file")) } else { String::new() };
        format!("{types}, {}{files}\n", counted(objects, "object"))
    })?;
    if args.dry_run.dry_run {
        printer.note(NOTHING_CHANGED)?;
    }
    Ok(Outcome::Done)
}

/// Number of objects and files in the folder of a type.
#[derive(Default)]
struct Written {
    objects: u64,
    /// Objects with a scheduled publication.
    scheduled: u64,
    /// Files of media objects.
    files: u64,
    /// Media objects without a file.
    missing: u64,
}

/// Writes the folder of one type.
fn write_type(
    target: &dyn Target,
    content_type: &ContentType,
    path: &Path,
    transfer: &Transfer,
    advance: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<Written> {
    let unwritable = |error| Failure::unwritable(path.display(), error);
    fs::create_dir_all(path).map_err(unwritable)?;
    let definition = Value::Object(definition(content_type));
    fs::write(path.join(folder::DEFINITION), format!("{definition:#}\n")).map_err(unwritable)?;

    let name = &content_type.name;
    let mut list = page(target, name, 1, PAGE_SIZE)?;
    let files = list.total_count.div_ceil(OBJECTS_PER_FILE);
    let pages_in_file = OBJECTS_PER_FILE / u64::from(PAGE_SIZE);
    let mut written = Written::default();
    for number in 1..=files {
        let file = File::create(path.join(folder::object_file_name(name, number, files)))
            .map_err(unwritable)?;
        let mut file = BufWriter::new(file);
        for _ in 0..pages_in_file {
            let is_modified = |object: &&Value| object["internal"]["status"] == "modified";
            let modified = list.data.iter().filter(is_modified).filter_map(|o| o["id"].as_str());
            let modified: Vec<&str> = modified.collect();
            let published = fetch(target, name, &modified, Edition::Published)?;
            for object in &list.data {
                let row = row(content_type, object, &published);
                writeln!(file, "{row}").map_err(unwritable)?;
                written.scheduled += u64::from(object["internal"].get("scheduledAt").is_some());
            }
            written.objects += list.count;
            if name == media::TYPE {
                for objects in list.data.chunks(FILES_PER_UPDATE) {
                    let files = write_files(target, objects, path, transfer)?;
                    written.files += files;
                    written.missing += objects.len() as u64 - files;
                    advance(objects.len() as u64)?;
                }
            } else {
                advance(list.count)?;
            }
            if u64::from(list.current_page) >= list.total_pages {
                break;
            }
            list = page(target, name, list.current_page + 1, PAGE_SIZE)?;
        }
        file.flush().map_err(unwritable)?;
    }
    Ok(written)
}

/// Writes the deleted objects of a type, oldest deletion first; returns how many.
fn write_deleted(
    target: &dyn Target,
    name: &str,
    path: &Path,
    transfer: &Transfer,
    advance: &mut dyn FnMut(u64) -> Result<()>,
) -> Result<u64> {
    // Newest first: what is deleted meanwhile moves entries to later pages, so none is missed.
    let (mut entries, mut seen) = (Vec::new(), HashSet::new());
    for number in 1.. {
        let list = target.trash(&deletions(name, PageRequest { number, limit: PAGE_SIZE }))?;
        let new = list.data.into_iter().map(|item| item.entry);
        entries.extend(new.filter(|entry| seen.insert(entry.clone())));
        if u64::from(number) >= list.total_pages {
            break;
        }
    }
    if entries.is_empty() {
        return Ok(0);
    }
    entries.reverse();
    let path = path.join(folder::deleted_name(name));
    let unwritable = |error| Failure::unwritable(path.display(), error);
    let mut file = BufWriter::new(File::create(&path).map_err(unwritable)?);
    let read = |entry: &String| match target.trash_entry(entry) {
        Ok(mut item) => Ok(Some(item["object"].take())),
        // Restored or removed since it was listed.
        Err(Error::NotFound { .. }) => Ok(None),
        Err(error) => Err(error.into()),
    };
    let mut written = 0;
    for entries in entries.chunks(FILES_PER_UPDATE) {
        let threads = parallel::DEFAULT_THREADS;
        let objects = parallel::map(entries, threads, &transfer.stop, read, || ())?;
        for object in objects.into_iter().flatten().flatten() {
            let mut row = without_internal(&object);
            let dates = dates(&object, &["createdAt", "updatedAt", "deletedAt"]);
            row.insert("internal".to_owned(), Value::Object(dates));
            writeln!(file, "{}", Value::Object(row)).map_err(unwritable)?;
            written += 1;
        }
        advance(entries.len() as u64)?;
    }
    file.flush().map_err(unwritable)?;
    Ok(written)
}

fn deletions(content_type: &str, page: PageRequest) -> TrashRequest {
    let content_types = Some(vec![content_type.to_owned()]);
    TrashRequest { page, content_types, ..TrashRequest::default() }
}

/// Writes the files of media objects; returns how many exist.
fn write_files(
    target: &dyn Target,
    objects: &[Value],
    folder: &Path,
    transfer: &Transfer,
) -> Result<u64> {
    let write = |object: &Value| {
        let (id, extension) = (object["id"].as_str().unwrap_or_default(), extension(object));
        let mut stored = match target.file(id, extension) {
            Ok(stored) => stored,
            Err(Error::NotFound { .. }) => return Ok(false),
            Err(error) => return Err(error.into()),
        };
        let path = folder.join(folder::file_name(id, extension));
        let unwritable = |error| Failure::unwritable(path.display(), error);
        let mut file = File::create(&path).map_err(unwritable)?;
        stream::copy(&mut *stored, &mut file, unwritable, transfer).map(|size| size.is_some())
    };
    let written = parallel::map(objects, parallel::DEFAULT_THREADS, &transfer.stop, write, || ())?;
    Ok(written.iter().filter(|written| **written == Some(true)).count() as u64)
}

/// The row of an object; `published` contains the published versions of modified objects.
fn row(content_type: &ContentType, object: &Value, published: &HashMap<String, Value>) -> Value {
    let mut row = without_internal(object);
    let mut internal = dates(object, &["createdAt", "updatedAt"]);
    if content_type.draft_public {
        internal.insert("status".to_owned(), object["internal"]["status"].clone());
        let id = object["id"].as_str().unwrap_or_default().to_lowercase();
        if let Some(published) = published.get(&id) {
            internal.insert("published".to_owned(), Value::Object(without_internal(published)));
        }
    } else if content_type.workflow_id != DEFAULT_WORKFLOW {
        internal.insert("workflowState".to_owned(), object["internal"]["workflowState"].clone());
    }
    row.insert("internal".to_owned(), Value::Object(internal));
    Value::Object(row)
}

fn dates(object: &Value, names: &[&str]) -> Map<String, Value> {
    names.iter().map(|&name| (name.to_owned(), object["internal"][name].clone())).collect()
}

fn interrupted(folder: &Path) -> Failure {
    Failure::local(format!("interrupted; {} did not change", folder.display()))
}

fn page(target: &dyn Target, content_type: &str, number: u32, limit: u32) -> Result<List<Value>> {
    let page = PageRequest { number, limit };
    let request = ListRequest { page, ..ListRequest::default() };
    Ok(target.objects(content_type, &request, Edition::Current)?)
}

fn without_internal(object: &Value) -> Map<String, Value> {
    let members = object.as_object().into_iter().flatten();
    let own = members.filter(|(name, _)| *name != "internal");
    own.map(|(name, value)| (name.clone(), value.clone())).collect()
}
