//! `cms backup` and `cms restore`.

use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::Path,
};

use cms_core::{
    CoreConfig, Error, restore as restore_directory, verify_backup, wire::backup::Backup,
};
use serde_json::json;

use super::{NOTHING_CHANGED, counted, open_to_read, progress::with_spinner};
use crate::{
    cli::{BackupArgs, RestoreArgs},
    content::stream::AtomicFile,
    failure::{Failure, Outcome, Result},
    printer::Printer,
    settings::{Settings, TargetAddress},
    target::Target,
};

pub(super) fn run(args: &BackupArgs, settings: &Settings, printer: &Printer) -> Result<Outcome> {
    let target = open_to_read(settings)?;
    let (new_file, file) = AtomicFile::create_private(&args.file)?;
    let backup = with_spinner("backup", printer, || {
        write(&*target, &file, &args.file)?;
        let backup = verify_backup(new_file.path())?;
        new_file.finish()?;
        Ok::<_, Failure>(backup)
    })?;
    let path = args.file.display();
    printer.value(&json!(backup), || format!("{path}: {}\n", describe(&backup)))?;
    for id in &backup.missing {
        printer.note(&format!("missing file: {id}"))?;
    }
    if backup.has_no_files() {
        printer.note("no file was found: use the same --media as the server")?;
        return Ok(Outcome::Partial);
    }
    if !backup.missing.is_empty() {
        printer.note("these files were lost before; `cms check` lists them")?;
    }
    Ok(Outcome::Done)
}

fn write(target: &dyn Target, file: &File, name: &Path) -> Result<()> {
    let unwritable = |error: &io::Error| Failure::unwritable(name.display(), error);
    let mut output = BufWriter::with_capacity(256 * 1024, Output { file, error: None });
    if let Err(error) = target.backup(&mut output) {
        if let Some(error) = &output.get_ref().error {
            return Err(unwritable(error));
        }
        let has_begun =
            !output.buffer().is_empty() || file.metadata().is_ok_and(|found| found.len() > 0);
        // A server that finds damage while it sends can only abort the response.
        let may_be_damaged = match error {
            Error::Damaged(_) => true,
            Error::Unreachable(_) => has_begun,
            _ => false,
        };
        let hint = "`cms check --digests` names stored files that are damaged";
        return Err(Failure::from(error).hints(may_be_damaged.then_some(hint)));
    }
    output.flush().map_err(|error| unwritable(&error))
}

/// The file of a backup. It keeps its error, which the target reports as one of its own.
struct Output<'f> {
    file: &'f File,
    error: Option<io::Error>,
}

impl Write for Output<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes).map_err(|error| {
            let kind = error.kind();
            self.error = Some(error);
            kind.into()
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

pub(super) fn restore(
    args: &RestoreArgs,
    settings: &Settings,
    printer: &Printer,
) -> Result<Outcome> {
    let Some(TargetAddress::Directory(folder)) = &settings.target else {
        return Err(Failure::usage("`cms restore` does not work on a running server")
            .hint("restore into an empty directory with --data DIR, and start a server on it"));
    };
    let path = folder.display();
    printer.target(&path.to_string())?;
    File::open(&args.file).map_err(|error| Failure::unreadable(args.file.display(), error))?;
    if args.dry_run.dry_run {
        let backup = with_spinner("backup", printer, || verify_backup(&args.file))?;
        printer.value(&json!(backup), || format!("{}\n", describe(&backup)))?;
        printer.note(NOTHING_CHANGED)?;
        return Ok(Outcome::Done);
    }
    let config = CoreConfig { media: settings.media.clone(), ..CoreConfig::new(folder) };
    let restored = with_spinner("restore", printer, || restore_directory(&args.file, &config));
    let backup = restored?;
    printer.value(&json!(backup), || format!("{path}: {}\n", describe(&backup)))?;
    Ok(Outcome::Done)
}

fn describe(backup: &Backup) -> String {
    let (objects, files) = (counted(backup.objects, "object"), counted(backup.files, "file"));
    let bytes = counted(backup.bytes, "byte");
    format!("{objects}, {files}, {bytes}, as of {}", backup.created_at)
}
