//! Reads the files of an import and passes their objects to [`Importer`], which has the rules.

use std::sync::{Arc, atomic::AtomicBool};

use cms_core::import::{ImportOptions, Importer};
use serde::Deserialize;
use serde_json::Value;

use super::{super::interrupt, OnConflict, Options, TypeFiles, report::Report};
use crate::{
    content::ImportRow,
    failure::{Failure, Result},
    printer::Printer,
    target::Target,
};

/// The id of an object.
#[derive(Deserialize)]
struct IdOnly {
    #[serde(default)]
    id: Value,
}

/// An import into a target.
pub(super) struct Import<'a> {
    pub(super) target: &'a dyn Target,
    pub(super) rules: ImportOptions<'a>,
    pub(super) report: Report,
    pub(super) interrupt: Arc<AtomicBool>,
}

/// Imports the files and objects of all types; returns the report with what it did.
pub(super) fn run(
    target: &dyn Target,
    options: &Options<'_>,
    files_by_type: &[TypeFiles],
    report: Report,
    printer: &Printer,
) -> Result<Report> {
    let rules = options.rules;
    report.start()?;
    // If no handler can be installed, Ctrl-C ends the process. The objects of finished requests are
    // saved completely then, too.
    let interrupt = interrupt();
    let mut importer = Importer::new(target, rules, &interrupt);
    let mut import = Import { target, rules, report, interrupt: Arc::clone(&interrupt) };
    let empty = announce(files_by_type, &mut importer)?;
    for name in empty.iter().filter(|_| !rules.from_export) {
        printer.note(&format!("{name} has no objects"))?;
    }
    import.send_files(files_by_type, printer)?;
    let mut finished = Ok(());
    if !rules.stop_on_error || import.report.files.refused == 0 {
        let objects = if rules.dry_run { 0 } else { importer.announced() };
        let names = files_by_type.iter().map(|files| files.content_type.name.as_str());
        let loaded = target.bulk_load(&names.collect::<Vec<_>>(), objects, &mut || {
            let sent = import.send_objects(files_by_type, &mut importer, printer);
            let completed = importer.complete_batch();
            finished = sent.and(import.report_refusals(&mut importer, completed, printer));
        });
        finished = finished.and(loaded.map_err(Failure::from));
    }
    import.report.objects = importer.counts();
    import.report.interrupted |= importer.counts().interrupted;
    for files in files_by_type {
        import.report.add_hints(&files.content_type);
    }
    import.report.flush()?;
    finished.map_err(|failure| {
        let (created, updated) = (importer.counts().created, importer.counts().updated);
        let again = match rules.on_conflict {
            OnConflict::Keep => "start again with the same --import",
            OnConflict::Refuse | OnConflict::Update => {
                "run the same command with --update-existing"
            }
        };
        failure.hint(format!(
            "at least {created} objects were created and {updated} updated; {again} to continue"
        ))
    })?;
    Ok(import.report)
}

/// Reads the ids of all objects, so that links to later objects are known; returns the files without
/// objects.
fn announce<'a>(
    files_by_type: &'a [TypeFiles],
    importer: &mut Importer<'_>,
) -> Result<Vec<&'a str>> {
    let mut empty = Vec::new();
    for TypeFiles { content_type, sources, .. } in files_by_type {
        for source in sources {
            let mut rows = 0_u64;
            source.rows(content_type, &mut |row: ImportRow<IdOnly>| {
                rows += 1;
                let id = row.value.ok().and_then(|head| head.id.as_str().map(str::to_owned));
                importer.announce(&content_type.name, id.as_deref());
                Ok(())
            })?;
            if rows == 0 {
                empty.push(source.name());
            }
        }
    }
    Ok(empty)
}

impl Import<'_> {
    fn send_objects<'a>(
        &mut self,
        files_by_type: &'a [TypeFiles],
        importer: &mut Importer<'a>,
        printer: &Printer,
    ) -> Result<()> {
        let mut progress = printer.progress("import", importer.announced());
        for TypeFiles { content_type, sources, deleted_ids, .. } in files_by_type {
            importer.begin(content_type, deleted_ids);
            for source in sources {
                source.rows(content_type, &mut |row: ImportRow<Value>| {
                    progress.advance(1);
                    let pushed = importer.push(row.location, row.value);
                    self.report_refusals(importer, pushed, printer)
                })?;
            }
            let ended = importer.end();
            self.report_refusals(importer, ended, printer)?;
        }
        let finished = importer.finish();
        self.report_refusals(importer, finished, printer)?;
        drop(progress);
        self.set_statuses(files_by_type, importer, printer)
    }

    /// Sets the statuses of all imported objects. The files are read once more.
    fn set_statuses(
        &mut self,
        files_by_type: &[TypeFiles],
        importer: &mut Importer<'_>,
        printer: &Printer,
    ) -> Result<()> {
        if importer.pending_statuses() == 0 {
            return Ok(());
        }
        let mut progress = printer.progress("statuses", importer.pending_statuses());
        for TypeFiles { content_type, sources, .. } in files_by_type {
            for source in sources {
                source.rows(content_type, &mut |row: ImportRow<Value>| {
                    let Ok(value) = row.value else { return Ok(()) };
                    let pushed = importer.push_status(content_type, row.location, value);
                    let pushed = pushed.map(|is_pending| progress.advance(is_pending.into()));
                    self.report_refusals(importer, pushed, printer)
                })?;
            }
            let ended = importer.end_statuses(content_type);
            self.report_refusals(importer, ended, printer)?;
        }
        Ok(())
    }

    /// Reports what a step of the import refused, and returns the step's result.
    fn report_refusals(
        &mut self,
        importer: &mut Importer<'_>,
        result: cms_core::Result<()>,
        printer: &Printer,
    ) -> Result<()> {
        for refusal in importer.take_refusals() {
            self.report.refuse(refusal, printer)?;
        }
        result.map_err(Failure::from)
    }
}
