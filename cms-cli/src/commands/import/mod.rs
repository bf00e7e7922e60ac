//! `cms import`: objects from files, or types and objects from an exported folder.
//!
//! [`loader`] brings objects in, [`element`] is what it knows of one object, [`counts`] what became
//! of all of them, [`types`] applies the types of a folder and says in which order they come.

mod counts;
mod element;
mod loader;
mod types;

#[cfg(feature = "serve")]
use std::sync::Arc;
use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

#[cfg(feature = "serve")]
use cms_core::Cms;
use cms_core::{Error, wire::content_type::ContentType};
use serde_json::{Map, Value, json};

pub(super) use self::loader::Existing;
use self::{
    counts::{Counts, FileCounts, Refusal},
    loader::{Loader, Options},
};
use super::{NOTHING_CHANGED, changing, counted};
#[cfg(feature = "serve")]
use crate::target::Direct;
use crate::{
    cli::ImportArgs,
    content::{
        Source,
        folder::{self, MediaFiles},
    },
    failure::{Failure, Kind, Outcome, Result},
    printer::Printer,
    project::{self, Present},
    report,
    settings::Settings,
    target::Target,
};

/// The objects of one type, and where they are.
struct Job {
    content_type: ContentType,
    sources: Vec<Source>,
    /// Ids in lower case of deleted objects, where they matter.
    deleted: HashSet<String>,
    /// Files of media objects.
    files: MediaFiles,
}

pub(super) fn run(
    args: &ImportArgs,
    settings: &Settings,
    printer: &mut Printer,
) -> Result<Outcome> {
    let options = Options {
        existing: if args.update_existing { Existing::Update } else { Existing::Refuse },
        interrupted: None,
        keep_dates: args.keep_dates,
        stop_on_error: args.stop_on_error,
        rejects: args.rejects.as_deref(),
        dry_run: args.dry_run.dry_run,
        from_folder: args.files.is_empty(),
    };
    let folder = Path::new(&args.what);
    let counts = import(args, folder, &options, settings, printer).map_err(|failure| {
        let is_forbidden = matches!(failure.kind, Kind::Target(Error::Forbidden));
        if options.keep_dates && is_forbidden {
            failure.hint("--keep-dates takes an admin key")
        } else {
            failure
        }
    })?;
    tell(&counts, &options, printer)?;
    let partly = counts.refused + counts.files.refused > 0 || counts.interrupted;
    Ok(if partly { Outcome::Partly } else { Outcome::Done })
}

fn import(
    args: &ImportArgs,
    folder: &Path,
    options: &Options<'_>,
    settings: &Settings,
    printer: &mut Printer,
) -> Result<Counts> {
    if args.files.is_empty() {
        if !folder.is_dir() {
            return Err(Failure::usage(format!("there is no folder \"{}\"", args.what))
                .hint("cms import TYPE FILE..., or cms import DIR"));
        }
        let target = changing(settings, printer, options.dry_run)?;
        import_folder(&*target, folder, options, printer)
    } else {
        let sources = sources(&args.files)?;
        let target = changing(settings, printer, options.dry_run)?;
        let content_type = target.get_type(&args.what)?;
        let files = MediaFiles::default();
        let job = Job { content_type, sources, deleted: HashSet::new(), files };
        Loader::new(&*target, options)?.run(&[job], printer)
    }
}

/// Imports the content folder of a server that starts. Objects that existed before, or were deleted,
/// are left alone, so that a restart neither makes versions nor undoes what editors did. An import
/// that was interrupted is resumed: of the objects that it created it completes those that nobody
/// else has changed.
#[cfg(feature = "serve")]
pub(super) fn at_start(cms: &Arc<Cms>, folder: &Path, printer: &mut Printer) -> Result<()> {
    let target = Direct::over(Arc::clone(cms));
    let absolute =
        folder.canonicalize().map_err(|error| Failure::unreadable(folder.display(), error))?;
    let import = cms.begin_import(&absolute.to_string_lossy())?;
    if import.was_interrupted() {
        printer.note(&format!("resuming the interrupted import of {}", folder.display()))?;
    }
    let options = Options {
        existing: Existing::Keep,
        interrupted: import.was_interrupted().then_some(&import),
        keep_dates: false,
        stop_on_error: false,
        rejects: None,
        dry_run: false,
        from_folder: true,
    };
    let counts = import_folder(&target, folder, &options, printer)?;
    if counts.interrupted {
        return Err(Failure::local("interrupted before the server listened")
            .hint("the next start with the same --import resumes the import"));
    }
    import.finish()?;
    if counts.created + counts.updated + counts.refused + counts.statuses > 0 {
        printer.note(&counts.sentence())?;
    }
    match counts.files.sentence() {
        Some(sentence) if counts.files.stored + counts.files.refused > 0 => printer.note(&sentence),
        _ => Ok(()),
    }
}

fn import_folder(
    target: &dyn Target,
    path: &Path,
    options: &Options<'_>,
    printer: &mut Printer,
) -> Result<Counts> {
    let folders = folder::read(path)?;
    let update = options.existing == Existing::Update;
    types::apply(target, &folders, workflows(path)?, update, options.dry_run, printer)?;

    let present = target.types()?;
    let mut jobs = Vec::new();
    for folder in &folders {
        // A deletion comes before the object that got the same id afterwards.
        let deleted: &[PathBuf] = if options.keep_dates { &folder.deleted } else { &[] };
        let sources = sources(&[deleted, &folder.pages].concat())?;
        match present.iter().find(|content_type| content_type.name == folder.name) {
            Some(content_type) => {
                let deleted = if options.existing == Existing::Keep || options.keep_dates {
                    target.deleted(&folder.name)?.iter().map(|id| id.to_lowercase()).collect()
                } else {
                    HashSet::new()
                };
                let (content_type, files) = (content_type.clone(), folder.files.clone());
                jobs.push(Job { content_type, sources, deleted, files });
            }
            // A dry run has not made the type.
            None if options.dry_run => {
                let content_type = types::unmade(folder);
                let files = folder.files.clone();
                jobs.push(Job { content_type, sources, deleted: HashSet::new(), files });
            }
            None => printer
                .note(&format!("there is no type \"{}\" here, it is left out", folder.name))?,
        }
    }
    let counts = Loader::new(target, options)?.run(&types::ordered(jobs), printer)?;
    if !options.dry_run && !counts.interrupted {
        types::apply_pictures(target, &folders, update)?;
    }
    Ok(counts)
}

/// The workflows that an exported folder holds.
fn workflows(folder: &Path) -> Result<Vec<Map<String, Value>>> {
    let file = folder.join(folder::WORKFLOWS);
    if !file.is_file() {
        return Ok(Vec::new());
    }
    Ok(project::load(&[file], &Present::default())?.workflows)
}

fn sources(files: &[PathBuf]) -> Result<Vec<Source>> {
    files.iter().map(|file| Source::new(file)).collect()
}

fn tell(counts: &Counts, options: &Options<'_>, printer: &mut Printer) -> Result<()> {
    let mut value = json!({
        "created": counts.created,
        "updated": counts.updated,
        "unchanged": counts.unchanged,
        "refused": counts.refused,
        "statusesSet": counts.statuses,
        "refusals": counts.refusals,
    });
    if options.from_folder {
        value["files"] = json!(counts.files);
    }
    printer.value(&value, || {
        let lines = [Some(counts.sentence()), counts.files.sentence()];
        lines.into_iter().flatten().map(|line| line + "\n").collect()
    })?;
    let FileCounts { missing, without_object, .. } = counts.files;
    if missing > 0 {
        printer
            .note(&format!("{} without a file in the folder", counted(missing, "media object")))?;
    }
    if without_object > 0 {
        let files = counted(without_object, "file");
        printer.note(&format!("{files} without a media object in the folder, left out"))?;
    }
    if counts.interrupted {
        printer.note("interrupted; the same command with --update-existing goes on")?;
    } else if counts.refused + counts.files.refused > 0 {
        printer.note(&match options.rejects {
            Some(file) => {
                format!("hint: refused objects and the reasons are in {}", file.display())
            }
            None => "hint: --rejects FILE keeps refused objects with the reasons".to_owned(),
        })?;
    }
    let mut refusals = counts.refusals.iter();
    if let Some(hint) = refusals.find_map(Refusal::advice) {
        printer.note(&report::hint(&hint))?;
    }
    if options.dry_run {
        printer.note(NOTHING_CHANGED)?;
    }
    Ok(())
}
