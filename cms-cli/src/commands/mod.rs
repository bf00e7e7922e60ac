//! The commands: read the arguments, call the target, print the result.

mod activity;
mod apply;
mod backup;
mod bulk_job;
mod check;
#[cfg(feature = "cluster")]
mod cluster;
mod completions_and_man;
mod ctd;
mod export;
mod graphql;
mod hints;
mod import;
mod init;
mod key;
mod login;
mod many_objects;
mod media;
mod object;
mod open;
mod openapi;
mod parallel;
mod plan_hints;
mod plan_text;
mod preview;
mod progress;
mod publish;
mod publishing_changes;
mod reindex;
mod schedule;
mod search;
#[cfg(feature = "serve")]
mod serve;
mod status;
mod trash;
mod types;
mod user;
mod validate;
mod wait;
mod webhook;
mod whoami;
mod workflow;

use std::sync::{
    Arc, LazyLock,
    atomic::{AtomicBool, Ordering},
};

use cms_core::{
    paging::PageRequest,
    wire::{object::ListRequest, publish::PublishAction},
};

use crate::{
    cli::Command,
    failure::{Failure, Outcome, Result},
    printer::Printer,
    settings::{Settings, TargetAddress},
    target::{self, Edition, Target},
};

/// Runs a command.
pub(crate) fn run(command: Command, settings: &Settings, printer: &Printer) -> Result<Outcome> {
    dispatch(command, settings, printer)
        .map_err(|failure| hints::add_not_found_hint(failure, settings))
        .map_err(|failure| hints::add_login_hint(failure, settings))
}

fn dispatch(command: Command, settings: &Settings, printer: &Printer) -> Result<Outcome> {
    match command {
        Command::Login(args) => login::login(&args, printer),
        Command::Logout(args) => login::logout(&args, printer),
        Command::Open(args) => open::run(&args, settings, printer),
        Command::Init(args) => init::run(&args, settings, printer),
        #[cfg(feature = "serve")]
        Command::Serve(args) => serve::run(&args, settings, printer),
        Command::Ctd(command) => ctd::run(command, settings, printer),
        Command::Object(command) => object::run(command, settings, printer),
        Command::Import(args) => import::run(&args, settings, printer),
        Command::Export(args) => export::run(&args, settings, printer),
        Command::Publish(args) => publish::run(args, PublishAction::Publish, settings, printer),
        Command::Unpublish(args) => publish::run(args, PublishAction::Unpublish, settings, printer),
        Command::Archive(args) => publish::run(args, PublishAction::Archive, settings, printer),
        Command::Schedule(command) => schedule::run(command, settings, printer),
        Command::Workflow(command) => workflow::run(command, settings, printer),
        Command::Media(command) => media::run(command, settings, printer),
        Command::Trash(command) => trash::run(command, settings, printer),
        Command::Search(args) => search::run(*args, settings, printer),
        Command::Reindex(args) => reindex::run(&args, settings, printer),
        Command::Backup(args) => backup::run(&args, settings, printer),
        Command::Restore(args) => backup::restore(&args, settings, printer),
        Command::Check(args) => check::run(&args, settings, printer),
        #[cfg(feature = "cluster")]
        Command::Cluster(command) => cluster::run(command, settings, printer),
        Command::Graphql(command) => graphql::run(command, settings, printer),
        Command::Openapi(args) => openapi::run(args, settings, printer),
        Command::Types(command) => types::run(command, settings, printer),
        Command::Preview(args) => preview::run(args, settings, printer),
        Command::Key(command) => key::run(command, settings, printer),
        Command::Job(command) => bulk_job::run(command, settings, printer),
        Command::Activity(args) => activity::run(args, settings, printer),
        Command::User(command) => user::run(*command, settings, printer),
        Command::Webhook(command) => webhook::run(command, settings, printer),
        Command::Validate(args) => validate::run(&args, printer),
        Command::Wait(args) => wait::run(&args, settings, printer),
        Command::Whoami => whoami::run(settings, printer),
        Command::Status => status::run(settings, printer),
        Command::Completions { shell } => completions_and_man::completions(shell, printer),
        Command::Man { dir } => completions_and_man::man(&dir, printer),
    }
}

/// Opens the target of a command that only reads.
fn open_to_read(settings: &Settings) -> Result<Box<dyn Target>> {
    open(settings, false)
}

/// Opens and prints the target of a command that changes something. A dry run does not create a
/// data directory.
fn open_to_write(settings: &Settings, printer: &Printer, dry_run: bool) -> Result<Box<dyn Target>> {
    let target = open(settings, !dry_run)?;
    printer.target(&target.describe()?)?;
    Ok(target)
}

/// Opens and prints the target of a plan. A data directory that does not exist yet counts as an
/// empty one: the first apply creates it.
fn open_to_plan(settings: &Settings, printer: &Printer) -> Result<Box<dyn Target>> {
    let new = settings.target.as_ref().map(target::open_new).transpose()?.flatten();
    let Some(target) = new else { return open_to_write(settings, printer, true) };
    printer.target(&target.describe()?)?;
    printer
        .note("the data directory does not exist yet: the plan is for an empty data directory")?;
    Ok(target)
}

fn open(settings: &Settings, changes: bool) -> Result<Box<dyn Target>> {
    match &settings.target {
        Some(address) => target::open(address, settings, changes),
        None => Err(Failure::usage("neither a server nor a data directory is given")),
    }
}

/// The URL of the server in the output of a command on a data directory; a server uses its own.
fn public_url(given: Option<String>, settings: &Settings) -> Result<String> {
    match (given, &settings.target) {
        (Some(_), Some(TargetAddress::Server { .. })) => {
            Err(Failure::usage("--public-url works on a data directory only")
                .hint("set the URL of a server with `cms serve --public-url URL`"))
        }
        (given, _) => Ok(given.unwrap_or_else(|| "http://127.0.0.1:8080".to_owned())),
    }
}

/// Checks that content types exist.
fn require_types(target: &dyn Target, names: &[String]) -> Result<()> {
    for name in names {
        target.get_type(name)?;
    }
    Ok(())
}

/// Counts the objects of a type that filters select.
fn count_objects(target: &dyn Target, name: &str, filters: Option<String>) -> Result<u64> {
    let page = PageRequest { number: 1, limit: 1 };
    let request = ListRequest { page, filters, ..ListRequest::default() };
    Ok(target.objects(name, &request, Edition::Current)?.total_count)
}

/// Set while the server runs: it handles signals itself. If an import has installed the Ctrl-C handler before, that
/// handler remains, but no longer ends the process.
static IS_SERVING: AtomicBool = AtomicBool::new(false);

/// Returns a flag that Ctrl-C sets; a second Ctrl-C ends the process, for example while a server does not respond.
/// If no handler can be installed, the first Ctrl-C ends the process.
fn interrupt() -> Arc<AtomicBool> {
    // A process can install one handler only.
    static INTERRUPT: LazyLock<Arc<AtomicBool>> = LazyLock::new(|| {
        let interrupt = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&interrupt);
        let handler = move || {
            if flag.swap(true, Ordering::Relaxed) && !IS_SERVING.load(Ordering::Relaxed) {
                end_immediately();
            }
        };
        ctrlc::set_handler(handler).ok();
        interrupt
    });
    Arc::clone(&INTERRUPT)
}

#[expect(clippy::exit, clippy::disallowed_methods, reason = "the main thread waits for a response")]
fn end_immediately() {
    std::process::exit(130);
}

/// The last line of a dry run.
const NOTHING_CHANGED: &str = "nothing was changed";

/// Ends a dry run: prints what the command would do.
fn print_dry_run(printer: &Printer, change: &str) -> Result<Outcome> {
    printer.note(&format!("would {change}\n{NOTHING_CHANGED}"))?;
    Ok(Outcome::Done)
}

/// Formats a number with its noun in singular or plural.
fn counted(number: u64, noun: &str) -> String {
    match noun.strip_suffix('y') {
        _ if number == 1 => format!("1 {noun}"),
        Some(stem) => format!("{number} {stem}ies"),
        None => format!("{number} {noun}s"),
    }
}
