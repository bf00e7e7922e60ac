//! What each command does: unpack the arguments, ask the target, print.

mod advice;
mod apply;
mod backup;
mod check;
mod ctd;
mod cure;
mod docs;
mod export;
mod graphql;
mod import;
mod key;
mod many;
mod media;
mod object;
mod openapi;
mod parallel;
mod plan_text;
mod publish;
mod reindex;
mod search;
#[cfg(feature = "serve")]
mod serve;
mod switch;
mod watch;
mod webhook;
mod workflow;

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use cms_core::wire::publish::PublishAction;

use crate::{
    cli::Command,
    failure::{Failure, Outcome, Result},
    printer::Printer,
    settings::Settings,
    target::{self, Target},
};

/// Carries a command out.
pub(crate) fn run(command: Command, settings: &Settings, printer: &mut Printer) -> Result<Outcome> {
    dispatch(command, settings, printer).map_err(|failure| advice::on_missing(failure, settings))
}

fn dispatch(command: Command, settings: &Settings, printer: &mut Printer) -> Result<Outcome> {
    match command {
        #[cfg(feature = "serve")]
        Command::Serve(args) => serve::run(&args, settings, printer),
        Command::Ctd(command) => ctd::run(command, settings, printer),
        Command::Object(command) => object::run(command, settings, printer),
        Command::Import(args) => import::run(&args, settings, printer),
        Command::Export(args) => export::run(&args, settings, printer),
        Command::Publish(args) => publish::run(args, PublishAction::Publish, settings, printer),
        Command::Unpublish(args) => publish::run(args, PublishAction::Unpublish, settings, printer),
        Command::Archive(args) => publish::run(args, PublishAction::Archive, settings, printer),
        Command::Workflow(command) => workflow::run(command, settings, printer),
        Command::Media(command) => media::run(command, settings, printer),
        Command::Search(args) => search::run(*args, settings, printer),
        Command::Reindex(args) => reindex::run(&args, settings, printer),
        Command::Backup(args) => backup::run(&args, settings, printer),
        Command::Restore(args) => backup::restore(&args, settings, printer),
        Command::Check(args) => check::run(&args, settings, printer),
        Command::Graphql(command) => graphql::run(command, settings, printer),
        Command::Openapi(args) => openapi::run(args, settings, printer),
        Command::Key(command) => key::run(command, settings, printer),
        Command::Webhook(command) => webhook::run(command, settings, printer),
        Command::Completions { shell } => docs::completions(shell, printer),
        Command::Man { dir } => docs::man(&dir, printer),
    }
}

/// Opens the target of a command that only reads.
fn reading(settings: &Settings) -> Result<Box<dyn Target>> {
    open(settings, false)
}

/// Opens the target of a command that changes something and says what it is. A dry run changes
/// nothing, so it does not make a data folder either.
fn changing(settings: &Settings, printer: &mut Printer, dry_run: bool) -> Result<Box<dyn Target>> {
    let target = open(settings, !dry_run)?;
    printer.target(&target.describe()?)?;
    Ok(target)
}

/// Opens the target of a plan. A data directory that does not exist yet counts as an empty one: the
/// first apply creates it.
fn planning(settings: &Settings, printer: &mut Printer) -> Result<Box<dyn Target>> {
    let new = settings.place.as_ref().map(target::open_new).transpose()?.flatten();
    let Some(target) = new else { return changing(settings, printer, true) };
    printer.target(&target.describe()?)?;
    printer.note("the data directory does not exist yet: this plans against an empty one")?;
    Ok(target)
}

fn open(settings: &Settings, changes: bool) -> Result<Box<dyn Target>> {
    match &settings.place {
        Some(place) => target::open(place, settings, changes),
        None => Err(Failure::usage("neither a server nor a data directory is given")),
    }
}

/// Refuses names of types that do not exist.
fn require_types(target: &dyn Target, names: &[String]) -> Result<()> {
    for name in names {
        target.get_type(name)?;
    }
    Ok(())
}

/// Becomes true when the user presses Ctrl-C. Where no handler can be set, Ctrl-C ends the process.
fn interrupt() -> Arc<AtomicBool> {
    let interrupt = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&interrupt);
    ctrlc::set_handler(move || flag.store(true, Ordering::Relaxed)).ok();
    interrupt
}

/// What a dry run ends with.
const NOTHING_CHANGED: &str = "nothing was changed";

/// A number with its noun, in the plural where it needs one.
fn counted(number: u64, noun: &str) -> String {
    match noun.strip_suffix('y') {
        _ if number == 1 => format!("1 {noun}"),
        Some(stem) => format!("{number} {stem}ies"),
        None => format!("{number} {noun}s"),
    }
}
