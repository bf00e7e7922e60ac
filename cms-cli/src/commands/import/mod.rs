//! `cms import`: objects from files, or types and objects from an exported folder.
//!
//! [`definitions`] applies the types of a folder, [`files`] uploads media files, [`objects`] reads
//! objects and passes them to the rules in [`cms_core::import`], [`report`] collects the result.

mod definitions;
mod files;
mod objects;
mod report;

#[cfg(feature = "serve")]
use std::sync::Arc;
use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

#[cfg(feature = "serve")]
use cms_core::Cms;
use cms_core::{
    Error,
    import::{ImportOptions, OnConflict, order_by_links, planned_type},
    wire::content_type::ContentType,
};
use serde_json::{Map, Value, json};

use self::report::{FileCounts, Report};
use super::{NOTHING_CHANGED, counted, open_to_write};
#[cfg(feature = "serve")]
use crate::target::Direct;
use crate::{
    cli::ImportArgs,
    content::{
        ContentFile,
        folder::{self, MediaFiles},
    },
    failure::{Failure, FailureKind, Outcome, Result},
    printer::Printer,
    project::{self, ExistingDefinitions},
    settings::Settings,
    target::Target,
};

/// How a command imports.
struct Options<'a> {
    rules: ImportOptions<'a>,
    rejects: Option<&'a Path>,
    /// Refusals that are printed as lines.
    max_printed: u64,
}

/// The files of one type.
struct TypeFiles {
    content_type: ContentType,
    sources: Vec<ContentFile>,
    /// Ids of deleted objects in lower case; loaded only with `OnConflict::Keep` or `--keep-dates`,
    /// otherwise empty.
    deleted_ids: HashSet<String>,
    /// Files of media objects.
    files: MediaFiles,
}

pub(super) fn run(args: &ImportArgs, settings: &Settings, printer: &Printer) -> Result<Outcome> {
    let rules = ImportOptions {
        on_conflict: if args.update_existing { OnConflict::Update } else { OnConflict::Refuse },
        resumed: None,
        keep_dates: args.keep_dates,
        stop_on_error: args.stop_on_error,
        dry_run: args.dry_run.dry_run,
        from_export: args.files.is_empty(),
    };
    let folder = Path::new(&args.source);
    if let Some(rejects) = &args.rejects {
        require_rejects_outside_input(rejects, folder, &args.files)?;
    }
    let rejects = args.rejects.as_deref().filter(|_| !rules.dry_run);
    let options = Options { rules, rejects, max_printed: report::MAX_PRINTED };
    let report = import(args, folder, &options, settings, printer).map_err(|failure| {
        let is_forbidden = matches!(failure.kind, FailureKind::Target(Error::Forbidden));
        let lacks_right = rules.keep_dates && is_forbidden;
        failure.hints(lacks_right.then_some("--keep-dates needs an admin key"))
    })?;
    print(&report, &options, printer)?;
    let is_partial = report.has_refusals() || report.interrupted;
    Ok(if is_partial { Outcome::Partial } else { Outcome::Done })
}

/// Fails if the file for refused objects is one of the files to import, or in the folder to import: it is
/// emptied before they are read.
fn require_rejects_outside_input(rejects: &Path, folder: &Path, files: &[PathBuf]) -> Result<()> {
    let parent = rejects.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new(".")).canonicalize();
    let created = parent.map(|parent| parent.join(rejects.file_name().unwrap_or_default()));
    // A path that can neither be read nor created is not an input.
    let Ok(path) = rejects.canonicalize().or(created) else { return Ok(()) };
    let is_in = |input: &Path| input.canonicalize().is_ok_and(|input| path.starts_with(input));
    let message = if files.iter().any(|file| is_in(file)) {
        format!("--rejects would overwrite the imported file {}", rejects.display())
    } else if files.is_empty() && is_in(folder) {
        format!("--rejects {} is in the imported folder", rejects.display())
    } else {
        return Ok(());
    };
    Err(Failure::usage(message).hint("choose another file for the refused objects"))
}

fn import(
    args: &ImportArgs,
    folder: &Path,
    options: &Options<'_>,
    settings: &Settings,
    printer: &Printer,
) -> Result<Report> {
    if args.files.is_empty() {
        if !folder.is_dir() {
            return Err(Failure::usage(format!("there is no folder \"{}\"", args.source))
                .hint("cms import TYPE FILE..., or cms import DIR"));
        }
        let target = open_to_write(settings, printer, options.rules.dry_run)?;
        import_folder(&*target, folder, options, printer)
    } else {
        let report = Report::new(options.rejects, options.max_printed)?;
        let sources = sources(&args.files)?;
        let target = open_to_write(settings, printer, options.rules.dry_run)?;
        let content_type = target.get_type(&args.source)?;
        let deleted_ids = deleted_ids(&*target, &content_type.name, &options.rules)?;
        let files = MediaFiles::default();
        let type_files = TypeFiles { content_type, sources, deleted_ids, files };
        objects::run(&*target, options, &[type_files], report, printer)
    }
}

/// Returns the ids of the deleted objects of a type in lower case, if the import needs them.
fn deleted_ids(
    target: &dyn Target,
    content_type: &str,
    rules: &ImportOptions<'_>,
) -> Result<HashSet<String>> {
    if rules.on_conflict != OnConflict::Keep && !rules.keep_dates {
        return Ok(HashSet::new());
    }
    Ok(target.deleted_ids(content_type)?.iter().map(|id| id.to_lowercase()).collect())
}

/// Imports a content folder before the server starts. Objects that exist or were deleted stay as
/// they are, so that a restart neither creates versions nor reverts edits. An interrupted import is
/// resumed: the objects that it created are completed, unless they were edited since.
#[cfg(feature = "serve")]
pub(super) fn at_start(cms: &Arc<Cms>, folder: &Path, printer: &Printer) -> Result<()> {
    let target = Direct::new(Arc::clone(cms));
    let absolute =
        folder.canonicalize().map_err(|error| Failure::unreadable(folder.display(), error))?;
    let import = cms.begin_import(&absolute.to_string_lossy())?;
    if import.was_interrupted() {
        printer.note(&format!("resuming the interrupted import of {}", folder.display()))?;
    }
    let rules = ImportOptions {
        on_conflict: OnConflict::Keep,
        resumed: import.was_interrupted().then_some(&import),
        from_export: true,
        ..ImportOptions::default()
    };
    let options = Options { rules, rejects: None, max_printed: report::MAX_PRINTED };
    let report = import_folder(&target, folder, &options, printer)?;
    if report.interrupted {
        return Err(Failure::local("interrupted before the server listened")
            .hint("the next start with the same --import resumes the import"));
    }
    import.finish()?;
    let counts = &report.objects;
    if counts.created + counts.updated + counts.refused + counts.statuses > 0 {
        printer.note(&report.summary())?;
    }
    match report.files.summary() {
        Some(summary) if report.files.stored + report.files.refused > 0 => printer.note(&summary),
        _ => Ok(()),
    }
}

/// Imports a content folder into a temporary target, as validation.
pub(super) fn into_empty_target(
    target: &dyn Target,
    folder: &Path,
    printer: &Printer,
) -> Result<Report> {
    let rules = ImportOptions { from_export: true, ..ImportOptions::default() };
    let options = Options { rules, rejects: None, max_printed: report::MAX_REFUSALS as u64 };
    import_folder(target, folder, &options, printer)
}

fn import_folder(
    target: &dyn Target,
    path: &Path,
    options: &Options<'_>,
    printer: &Printer,
) -> Result<Report> {
    // Before anything is changed: creating the file for refused objects may fail.
    let report = Report::new(options.rejects, options.max_printed)?;
    let folders = folder::read(path)?;
    for skipped in folder::without_definition(path)? {
        let (skipped, definition) = (skipped.display(), folder::DEFINITION);
        printer.note(&format!("skipped {skipped}: it has objects, but no {definition}"))?;
    }
    let rules = &options.rules;
    let update = rules.on_conflict == OnConflict::Update;
    let definitions =
        definitions::apply(target, &folders, workflows(path)?, update, rules.dry_run, printer)?;

    let present = target.types()?;
    let mut files_by_type = Vec::new();
    for folder in &folders {
        // Deletions come first: a later object may have got the id of a deleted one.
        let deletion_files: &[PathBuf] = if rules.keep_dates { &folder.deleted } else { &[] };
        let sources = sources(&[deletion_files, &folder.object_files].concat())?;
        let known = present.iter().find(|content_type| content_type.name == folder.name);
        let deleted_ids = match known {
            Some(known) => deleted_ids(target, &known.name, rules)?,
            None => HashSet::new(),
        };
        let planned = || definitions.iter().find(|definition| definition["name"] == folder.name);
        let content_type = match known {
            None if folder.is_reference() => {
                return Err(Error::type_not_found(&folder.name).into());
            }
            // A dry run neither creates nor changes the type.
            _ if rules.dry_run
                && let Some(planned) = planned() =>
            {
                planned_type(planned, known)
            }
            Some(known) => known.clone(),
            None => {
                let name = &folder.name;
                printer
                    .note(&format!("skipped type \"{name}\": it does not exist on the target"))?;
                continue;
            }
        };
        let files = folder.files.clone();
        files_by_type.push(TypeFiles { content_type, sources, deleted_ids, files });
    }
    let files_by_type = order_by_links(files_by_type, |type_files| &type_files.content_type);
    let report = objects::run(target, options, &files_by_type, report, printer)?;
    if !rules.dry_run && !report.interrupted {
        definitions::apply_featured_images(target, &folders, update)?;
    }
    Ok(report)
}

/// The workflows that an exported folder holds.
fn workflows(folder: &Path) -> Result<Vec<Map<String, Value>>> {
    let file = folder.join(folder::WORKFLOWS);
    if !file.is_file() {
        return Ok(Vec::new());
    }
    Ok(project::load(&[file], &ExistingDefinitions::default())?.workflows)
}

fn sources(files: &[PathBuf]) -> Result<Vec<ContentFile>> {
    files.iter().map(|file| ContentFile::new(file)).collect()
}

fn print(report: &Report, options: &Options<'_>, printer: &Printer) -> Result<()> {
    let counts = &report.objects;
    let mut value = json!({
        "created": counts.created,
        "updated": counts.updated,
        "unchanged": counts.unchanged,
        "refused": counts.refused,
        "statusesSet": counts.statuses,
        "refusals": report.refusals,
    });
    if options.rules.from_export {
        value["files"] = json!(report.files);
    }
    printer.value(&value, || {
        let lines = [Some(report.summary()), report.files.summary()];
        lines.into_iter().flatten().map(|line| line + "\n").collect()
    })?;
    let FileCounts { missing, without_object, .. } = report.files;
    if missing > 0 {
        printer
            .note(&format!("{} without a file in the folder", counted(missing, "media object")))?;
    }
    if without_object > 0 {
        let files = counted(without_object, "file");
        printer.note(&format!("skipped {files} without a media object in the folder"))?;
    }
    if report.interrupted {
        printer.note("interrupted; run the same command with --update-existing to continue")?;
    } else if report.has_refusals() {
        printer.note(&match options.rejects {
            Some(file) => {
                format!("hint: refused objects and the reasons are in {}", file.display())
            }
            None => "hint: --rejects FILE keeps refused objects with the reasons".to_owned(),
        })?;
    }
    printer.hints(report.hints.iter().cloned())?;
    if options.rules.dry_run {
        printer.note(NOTHING_CHANGED)?;
    }
    Ok(())
}
