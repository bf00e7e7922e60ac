//! `cms export`: types, objects and media files as a folder that `cms import` reads.
//!
//! Exports are deterministic: types by name, objects in the order of creation, in their current
//! versions. `internal` contains only what an import restores: the dates, the status with the
//! published version of a modified object, or the workflow state. A complete export replaces an
//! earlier one. Empty built-in types without changes are left out: other spaces have them too.

use std::{
    collections::{BTreeMap, HashMap},
    fs::{self, File},
    io::{BufWriter, Write},
    path::Path,
    sync::atomic::Ordering,
};

use cms_core::{
    DEFAULT_WORKFLOW, Error,
    import::{
        definition, fetch, is_system_type, is_unchanged_builtin_type, list_ids, read_all_pages,
    },
    paging::PageRequest,
    wire::{
        content_type::ContentType,
        key::{KeyKind, Rule},
        trash::TrashRequest,
    },
};
use serde_json::{Map, Value, json};

use super::{
    NOTHING_CHANGED, count_objects, counted, interrupt,
    media::{self, extension},
    open_to_read, parallel, require_types,
};
use crate::{
    cli::ExportArgs,
    content::{
        folder::{self, StagedExport},
        stream::{self, Transfer},
    },
    failure::{Failure, Outcome, Result},
    printer::{Printer, ProgressDisplay},
    project,
    settings::Settings,
    target::{Edition, Target},
};

const OBJECTS_PER_FILE: usize = 10_000;
/// Objects in memory.
const BATCH_SIZE: usize = 200;
/// The page of a request that only counts objects.
const COUNT_PAGE: PageRequest = PageRequest { number: 1, limit: 1 };
/// Media files between two updates of the progress.
const FILES_PER_UPDATE: usize = 32;

pub(super) fn run(args: &ExportArgs, settings: &Settings, printer: &Printer) -> Result<Outcome> {
    if !args.force && !folder::may_hold_export(&args.dir)? {
        let message = format!("{} is not empty and has no earlier export", args.dir.display());
        return Err(Failure::usage(message)
            .hint("choose an empty folder, or use --force, which keeps files with other names"));
    }
    let target = open_to_read(settings)?;
    require_types(&*target, &args.types)?;
    let all = target.types()?;
    let is_complete = args.types.is_empty() && sees_all_types(&*target)?;
    // Other types of an earlier export stay, so their folders do, too.
    let kept = if is_complete { BTreeMap::new() } else { folder::folder_names(&args.dir)? };
    let (mut types, mut names) = (Vec::new(), Vec::new());
    let (mut objects, mut deleted, mut files) = (0, 0, 0);
    for (content_type, folder) in all.iter().zip(folder::names(&all, &kept)) {
        let is_named = args.types.contains(&content_type.name);
        if !args.types.is_empty() && !is_named {
            continue;
        }
        let name = &content_type.name;
        let count = count_objects(&*target, name, None)?;
        let in_trash =
            if args.trash { target.trash(&deletions(name, COUNT_PAGE))?.total_count } else { 0 };
        let is_in_every_space =
            is_system_type(&content_type.name) || is_unchanged_builtin_type(content_type);
        if is_named || count + in_trash > 0 || !is_in_every_space {
            types.push(content_type);
            names.push(folder);
            objects += count;
            deleted += in_trash;
        }
    }
    if !args.dry_run.dry_run {
        let transfer = Transfer::new(interrupt());
        let staged = StagedExport::new(&args.dir)?;
        let mut export = Export {
            target: &*target,
            dir: &args.dir,
            transfer,
            progress: printer.progress("export", objects + deleted),
            written: Written::default(),
        };
        for (content_type, name) in types.iter().zip(&names) {
            export.advance(0)?;
            let path = staged.path().join(name);
            export.write_type(content_type, &path)?;
            if args.trash {
                export.write_deleted(&content_type.name, &path)?;
            }
        }
        if let Some(text) = project::print_workflows(&target.workflows()?) {
            let path = staged.path().join(folder::WORKFLOWS);
            fs::write(&path, text).map_err(|error| Failure::unwritable(path.display(), error))?;
        }
        export.require_unchanged(&types)?;
        staged.move_into_folder(&names)?;
        let Export { written, progress, .. } = export;
        drop(progress);
        (objects, deleted, files) = (written.objects, written.deleted, written.files);
        if written.scheduled > 0 {
            let publications = counted(written.scheduled, "scheduled publication");
            printer
                .note(&format!("{publications} not exported: exports do not contain schedules"))?;
        }
        if written.missing > 0 {
            printer
                .note(&format!("{} without a file", counted(written.missing, "media object")))?;
        }
        if args.types.is_empty() {
            let others = staged.other_types(&names)?;
            if is_complete {
                folder::remove_types(&others)?;
            } else if !others.is_empty() {
                let types = counted(others.len() as u64, "other type");
                let cause = "the key does not see all types";
                printer.note(&format!("kept {types} of an earlier export: {cause}"))?;
            }
        }
        staged.finish()?;
    }
    if deleted > 0 {
        let objects = counted(deleted, "deleted object");
        printer.note(&format!("{objects} for `cms import --keep-dates`"))?;
    }
    let mut value = json!({ "contentTypes": types.len(), "objects": objects });
    // A dry run does not read the files.
    if !args.dry_run.dry_run {
        value["files"] = json!(files);
    }
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

/// Returns whether the key may see all types.
fn sees_all_types(target: &dyn Target) -> Result<bool> {
    Ok(target.auth_context()?.api_key.is_none_or(|key| {
        key.kind != KeyKind::Scoped || key.rules.iter().any(Rule::covers_all_types)
    }))
}

/// Number of written objects and files.
#[derive(Default)]
struct Written {
    objects: u64,
    /// Objects with a scheduled publication.
    scheduled: u64,
    deleted: u64,
    /// Files of media objects.
    files: u64,
    /// Media objects without a file.
    missing: u64,
}

struct Export<'a> {
    target: &'a dyn Target,
    /// The folder of the export.
    dir: &'a Path,
    transfer: Transfer,
    progress: ProgressDisplay,
    written: Written,
}

impl Export<'_> {
    /// Shows the progress; fails after Ctrl-C.
    fn advance(&mut self, count: u64) -> Result<()> {
        self.progress.advance(count);
        if self.transfer.stop.load(Ordering::Relaxed) {
            let folder = self.dir.display();
            return Err(Failure::local(format!("interrupted; {folder} did not change")));
        }
        Ok(())
    }

    /// Fails if a type was changed or deleted since its definition was read: its objects may have two
    /// shapes.
    fn require_unchanged(&self, types: &[&ContentType]) -> Result<()> {
        let current = self.target.types()?;
        match types.iter().find(|content_type| !current.contains(content_type)) {
            None => Ok(()),
            Some(ContentType { name, .. }) => {
                let folder = self.dir.display();
                let message = format!("the type {name} was changed during the export");
                Err(Failure::local(format!("{message}; {folder} did not change"))
                    .hint("repeat the export when no content types are being changed"))
            }
        }
    }

    /// Writes the folder of one type.
    fn write_type(&mut self, content_type: &ContentType, path: &Path) -> Result<()> {
        let unwritable = |error| Failure::unwritable(path.display(), error);
        fs::create_dir_all(path).map_err(unwritable)?;
        let definition = Value::Object(definition(content_type));
        fs::write(path.join(folder::DEFINITION), format!("{definition:#}\n"))
            .map_err(unwritable)?;

        let name = &content_type.name;
        let ids = list_ids(self.target, name)?;
        let files = ids.chunks(OBJECTS_PER_FILE);
        let count = files.len();
        for (number, ids) in (1..).zip(files) {
            let file = File::create(path.join(folder::object_file_name(name, number, count)))
                .map_err(unwritable)?;
            let mut file = BufWriter::new(file);
            for ids in ids.chunks(BATCH_SIZE) {
                let mut found = fetch(self.target, name, ids, Edition::Current)?;
                // An object that was deleted since it was listed is missing.
                let objects = ids.iter().filter_map(|id| found.remove(&id.to_lowercase()));
                let objects: Vec<Value> = objects.collect();
                let is_modified = |object: &&Value| object["internal"]["status"] == "modified";
                let modified = objects.iter().filter(is_modified);
                let modified: Vec<&str> = modified.filter_map(|o| o["id"].as_str()).collect();
                let published = fetch(self.target, name, &modified, Edition::Published)?;
                for object in &objects {
                    let row = row(content_type, object, &published);
                    writeln!(file, "{row}").map_err(unwritable)?;
                    let is_scheduled = object["internal"].get("scheduledAt").is_some();
                    self.written.scheduled += u64::from(is_scheduled);
                }
                let written = objects.len() as u64;
                self.written.objects += written;
                if name == media::TYPE {
                    for objects in objects.chunks(FILES_PER_UPDATE) {
                        self.write_files(objects, path)?;
                        self.advance(objects.len() as u64)?;
                    }
                } else {
                    self.advance(written)?;
                }
            }
            file.flush().map_err(unwritable)?;
        }
        Ok(())
    }

    /// Writes the deleted objects of a type, oldest deletion first.
    fn write_deleted(&mut self, name: &str, path: &Path) -> Result<()> {
        let mut entries = read_all_pages(|page| {
            let list = self.target.trash(&deletions(name, page))?;
            Ok((list.total_count, list.data.into_iter().map(|item| item.entry).collect()))
        })?;
        if entries.is_empty() {
            return Ok(());
        }
        entries.reverse();
        let path = path.join(folder::deleted_name(name));
        let unwritable = |error| Failure::unwritable(path.display(), error);
        let mut file = BufWriter::new(File::create(&path).map_err(unwritable)?);
        let target = self.target;
        let read = |entry: &String| match target.trash_entry(entry) {
            Ok(mut item) => Ok(Some(item["object"].take())),
            // Restored or removed since it was listed.
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        };
        for entries in entries.chunks(FILES_PER_UPDATE) {
            let threads = parallel::DEFAULT_THREADS;
            let objects = parallel::map(entries, threads, &self.transfer.stop, read, || ())?;
            for object in objects.into_iter().flatten().flatten() {
                let mut row = without_internal(&object);
                let dates = dates(&object, &["createdAt", "updatedAt", "deletedAt"]);
                row.insert("internal".to_owned(), Value::Object(dates));
                writeln!(file, "{}", Value::Object(row)).map_err(unwritable)?;
                self.written.deleted += 1;
            }
            self.advance(entries.len() as u64)?;
        }
        file.flush().map_err(unwritable)
    }

    /// Writes the files of media objects.
    fn write_files(&mut self, objects: &[Value], folder: &Path) -> Result<()> {
        let (target, transfer) = (self.target, &self.transfer);
        let write = |object: &Value| {
            let (id, extension) = (object["id"].as_str().unwrap_or_default(), extension(object));
            let mut stored = match target.file(id, extension) {
                Ok(stored) => stored,
                Err(Error::NotFound { .. }) => return Ok(false),
                Err(error) => {
                    let hint = format!(
                        "`cms check --digests` finds damaged files; this is the file of {id}"
                    );
                    return Err(Failure::from(error).hint(hint));
                }
            };
            let path = folder.join(folder::file_name(id, extension));
            let unwritable = |error| Failure::unwritable(path.display(), error);
            let mut file = File::create(&path).map_err(unwritable)?;
            stream::copy(&mut *stored, &mut file, unwritable, transfer).map(|size| size.is_some())
        };
        let threads = parallel::DEFAULT_THREADS;
        let written = parallel::map(objects, threads, &transfer.stop, write, || ())?;
        let files = written.iter().filter(|written| **written == Some(true)).count();
        self.written.files += files as u64;
        self.written.missing += (objects.len() - files) as u64;
        Ok(())
    }
}

fn deletions(content_type: &str, page: PageRequest) -> TrashRequest {
    let content_types = Some(vec![content_type.to_owned()]);
    TrashRequest { page, content_types, ..TrashRequest::default() }
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

fn without_internal(object: &Value) -> Map<String, Value> {
    let members = object.as_object().into_iter().flatten();
    let own = members.filter(|(name, _)| *name != "internal");
    own.map(|(name, value)| (name.clone(), value.clone())).collect()
}
