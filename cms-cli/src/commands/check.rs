//! `cms check`: the integrity of database, search index and stored files.

use std::fmt::Write as _;

use cms_core::{
    check_file,
    wire::check::{CheckArea, CheckReport, CheckRequest, Finding},
};
use serde_json::json;

use super::{counted, open_to_read, progress::with_spinner};
use crate::{
    cli::CheckArgs,
    failure::{FailureKind, Outcome, Result},
    printer::Printer,
    settings::{Settings, TargetAddress},
};

pub(super) fn run(args: &CheckArgs, settings: &Settings, printer: &Printer) -> Result<Outcome> {
    // A missing data directory is not created.
    let check = match open_to_read(settings) {
        Ok(target) => {
            if args.repair {
                printer.target(&target.describe()?)?;
            }
            let request = CheckRequest { repair: args.repair, digests: args.digests };
            with_spinner("check", printer, || target.check(&request))?
        }
        Err(failure) => match failure.kind {
            FailureKind::Usage(_) => damage(settings).ok_or(failure)?,
            _ => return Err(failure),
        },
    };
    printer.value(&json!(check), || describe(&check))?;
    if !args.repair && check.media.unrecorded > 0 {
        printer
            .note("hint: `cms check --repair` records size and digest of files that have none")?;
    }
    if check.is_sound() {
        return Ok(Outcome::Done);
    }
    if is_damaged(&check) {
        printer.note(
            "hint: a damaged database cannot be repaired: stop the server, and restore a backup into \
             another directory with `cms restore`",
        )?;
        return Ok(Outcome::CheckFailed);
    }
    if !args.repair && check.findings.iter().any(|finding| finding.derived) {
        printer.note("hint: `cms check --repair` rebuilds derived data")?;
    }
    if !args.repair && !check.media.orphaned.is_empty() {
        printer.note("hint: `cms check --repair` removes files without a media object")?;
    }
    Ok(Outcome::CheckFailed)
}

/// Checks a data directory that cannot be opened, for a damaged database.
fn damage(settings: &Settings) -> Option<CheckReport> {
    let Some(TargetAddress::Directory(folder)) = &settings.target else { return None };
    check_file(folder).ok().filter(|check| !check.findings.is_empty())
}

/// Returns whether the database is damaged. If so, files were not compared with it.
fn is_damaged(check: &CheckReport) -> bool {
    check.findings.iter().any(|found| found.part == CheckArea::Database && !found.derived)
}

fn describe(check: &CheckReport) -> String {
    let media = &check.media;
    let mut text = String::new();
    if !is_damaged(check) {
        writeln!(text, "{}", counted(media.files, "stored file")).ok();
    }
    if media.unrecorded > media.recorded {
        let unrecorded = counted(media.unrecorded - media.recorded, "stored file");
        writeln!(text, "{unrecorded} without a recorded size and digest").ok();
    }
    if media.recorded > 0 {
        writeln!(text, "recorded size and digest of {}", counted(media.recorded, "stored file"))
            .ok();
    }
    if media.waiting > 0 {
        let waiting = counted(media.waiting, "file");
        writeln!(text, "{waiting} without a media object yet; removed after one day").ok();
    }
    for Finding { part, place, message, repaired, .. } in &check.findings {
        let place = if place.is_empty() { String::new() } else { format!(" {place}") };
        let repaired = if *repaired { " (repaired)" } else { "" };
        writeln!(text, "{}{place}: {message}{repaired}", part.as_str()).ok();
    }
    if check.more > 0 {
        writeln!(text, "and {} more", check.more).ok();
    }
    let lists = [("missing file", &media.missing), ("orphaned file", &media.orphaned)];
    for (what, ids) in lists {
        for id in ids {
            writeln!(text, "{what}: {id}").ok();
        }
    }
    if media.removed > 0 {
        writeln!(text, "removed {}", counted(media.removed, "file")).ok();
    }
    if check.is_sound() {
        text.push_str("no problems found\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use cms_core::wire::check::MediaCheck;

    use super::*;

    #[test]
    fn findings_are_printed_as_lines() {
        let media = MediaCheck {
            files: 1,
            missing: vec!["a".to_owned()],
            waiting: 1,
            orphaned: vec!["b".to_owned(), "c".to_owned()],
            removed: 2,
            unrecorded: 3,
            recorded: 1,
        };
        let finding = |place: &str, message: &str, repaired| Finding {
            part: CheckArea::Links,
            place: place.to_owned(),
            message: message.to_owned(),
            derived: true,
            repaired,
        };
        let findings = vec![finding("post/a", "other", false), finding("", "all", true)];
        let mut check = CheckReport { media, findings, more: 2 };
        let expected = "1 stored file\n2 stored files without a recorded size and digest\n\
                        recorded size and digest of 1 stored file\n1 file without a media object yet; removed after one day\n\
                        links post/a: other\nlinks: all (repaired)\nand 2 more\n\
                        missing file: a\norphaned file: b\n\
                        orphaned file: c\nremoved 2 files\n";
        assert_eq!(describe(&check), expected);
        // Removed files are no problem any more.
        check.media.missing.clear();
        check.findings.remove(0);
        check.more = 0;
        assert!(describe(&check).ends_with("removed 2 files\nno problems found\n"));
    }
}
