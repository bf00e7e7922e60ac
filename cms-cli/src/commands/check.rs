//! `cms check`: whether database, search index and stored files fit together.

use std::fmt::Write as _;

use cms_core::{
    check_file,
    wire::check::{CheckArea, CheckReport, CheckRequest, Finding},
};
use serde_json::json;

use super::{counted, reading, watch::waited};
use crate::{
    cli::CheckArgs,
    failure::{Kind, Outcome, Result},
    printer::Printer,
    settings::{Place, Settings},
};

pub(super) fn run(args: &CheckArgs, settings: &Settings, printer: &mut Printer) -> Result<Outcome> {
    // A missing folder is not made: there is nothing in it to check.
    let check = match reading(settings) {
        Ok(target) => {
            if args.repair {
                printer.target(&target.describe()?)?;
            }
            let request = CheckRequest { repair: args.repair, digests: args.digests };
            waited("check", printer, || target.check(&request))?
        }
        Err(failure) => match failure.kind {
            Kind::Usage(_) => damage(settings).ok_or(failure)?,
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
            "hint: a damaged database is not repaired: stop the server, and restore a backup into \
             another folder with `cms restore`",
        )?;
        return Ok(Outcome::Unsound);
    }
    if !args.repair && check.findings.iter().any(|finding| finding.derived) {
        printer.note("hint: `cms check --repair` makes again what follows from content")?;
    }
    if !args.repair && !check.media.orphaned.is_empty() {
        printer.note("hint: `cms check --repair` removes files without a media object")?;
    }
    Ok(Outcome::Unsound)
}

/// Finds out whether a folder cannot be opened because its database is damaged.
fn damage(settings: &Settings) -> Option<CheckReport> {
    let Some(Place::Folder(folder)) = &settings.place else { return None };
    check_file(folder).ok().filter(|check| !check.findings.is_empty())
}

/// Tells whether the database cannot be repaired; files were not compared with it then.
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
        writeln!(text, "{waiting} without a media object yet; after a day without they go").ok();
    }
    for Finding { part, place, message, repaired, .. } in &check.findings {
        let place = if place.is_empty() { String::new() } else { format!(" {place}") };
        let repaired = if *repaired { " (mended)" } else { "" };
        writeln!(text, "{}{place}: {message}{repaired}", part.as_str()).ok();
    }
    if check.more > 0 {
        writeln!(text, "and {} more", check.more).ok();
    }
    let lists =
        [("without its file", &media.missing), ("file without a media object", &media.orphaned)];
    for (what, ids) in lists {
        for id in ids {
            writeln!(text, "{what}: {id}").ok();
        }
    }
    if media.removed > 0 {
        writeln!(text, "removed {}", counted(media.removed, "file")).ok();
    }
    if check.is_sound() {
        text.push_str("sound\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use cms_core::wire::check::MediaCheck;

    use super::*;

    #[test]
    fn what_is_wrong_stands_in_lines() {
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
        let wrong = "1 stored file\n2 stored files without a recorded size and digest\n\
                     recorded size and digest of 1 stored file\n1 file without a media object yet; after a day without they go\n\
                     links post/a: other\nlinks: all (mended)\nand 2 more\n\
                     without its file: a\nfile without a media object: b\n\
                     file without a media object: c\nremoved 2 files\n";
        assert_eq!(describe(&check), wrong);
        // What was removed is no longer wrong.
        check.media.missing.clear();
        check.findings.remove(0);
        check.more = 0;
        assert!(describe(&check).ends_with("removed 2 files\nsound\n"));
    }
}
