//! `cms backup` and `cms restore`.

use std::{
    fs::File,
    io::{BufWriter, Write},
    path::Path,
};

use cms_core::{CoreConfig, Error, restore as make_folder, verify_backup, wire::backup::Backup};
use serde_json::json;

use super::{NOTHING_CHANGED, counted, open_to_read, waiting::with_spinner};
use crate::{
    cli::{BackupArgs, RestoreArgs},
    content::stream::AtomicFile,
    failure::{Failure, Outcome, Result},
    printer::Printer,
    settings::{Settings, TargetAddress},
    target::Target,
};

pub(super) fn run(
    args: &BackupArgs,
    settings: &Settings,
    printer: &mut Printer,
) -> Result<Outcome> {
    let target = open_to_read(settings)?;
    let (draft, mut file) = AtomicFile::create_private(&args.file)?;
    let backup = with_spinner("backup", printer, || {
        write(&*target, &mut file, &args.file)?;
        let backup = verify_backup(draft.path())?;
        draft.finish()?;
        Ok::<_, Failure>(backup)
    })?;
    let place = args.file.display();
    printer.value(&json!(backup), || format!("{place}: {}\n", describe(&backup)))?;
    for id in &backup.missing {
        printer.note(&format!("without its file: {id}"))?;
    }
    if !backup.missing.is_empty() {
        printer.note("these files were lost before; `cms check` tells about them")?;
    }
    Ok(Outcome::Done)
}

fn write(target: &dyn Target, file: &mut File, name: &Path) -> Result<()> {
    let unwritable = |error| Failure::unwritable(name.display(), error);
    let mut output = BufWriter::with_capacity(256 * 1024, &*file);
    target.backup(&mut output).map_err(|error| match error {
        // A server that finds one while it sends can only break the response off.
        Error::Damaged(_) | Error::Unreachable(_) => {
            Failure::from(error).hint("`cms check --digests` names stored files that are damaged")
        }
        other => Failure::from(other),
    })?;
    output.flush().map_err(unwritable)?;
    drop(output);
    file.sync_all().map_err(unwritable)
}

pub(super) fn restore(
    args: &RestoreArgs,
    settings: &Settings,
    printer: &mut Printer,
) -> Result<Outcome> {
    let Some(TargetAddress::Directory(folder)) = &settings.target else {
        return Err(Failure::usage("a running server cannot be restored into")
            .hint("restore into an empty folder with --data DIR, and start a server on it"));
    };
    let place = folder.display();
    printer.target(&place.to_string())?;
    if args.dry_run.dry_run {
        let backup = with_spinner("backup", printer, || verify_backup(&args.file))?;
        printer.value(&json!(backup), || format!("{}\n", describe(&backup)))?;
        printer.note(NOTHING_CHANGED)?;
        return Ok(Outcome::Done);
    }
    let config = CoreConfig { media: settings.media.clone(), ..CoreConfig::new(folder) };
    let restored = with_spinner("restore", printer, || make_folder(&args.file, &config));
    let backup = restored.map_err(|error| match error {
        Error::Conflict(_) => Failure::from(error).hint("--data names an empty or a new folder"),
        other => Failure::from(other),
    })?;
    printer.value(&json!(backup), || format!("{place}: {}\n", describe(&backup)))?;
    Ok(Outcome::Done)
}

fn describe(backup: &Backup) -> String {
    let (objects, files) = (counted(backup.objects, "object"), counted(backup.files, "file"));
    let bytes = counted(backup.bytes, "byte");
    format!("{objects}, {files}, {bytes}, as of {}", backup.created_at)
}
