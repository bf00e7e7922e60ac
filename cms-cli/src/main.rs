//! `cms`: the command line, and with the feature `serve` the server.
//!
//! [`cli`] declares the arguments for clap, [`settings`] resolves them, [`commands`] runs a command
//! on a [`target`], which a [profile](profiles) may name, [`printer`] and [`text_output`] write the
//! output, [`failure`] has errors and exit codes.

mod cli;
mod commands;
#[cfg(feature = "serve")]
mod config_file;
mod content;
mod failure;
mod printer;
mod profiles;
mod project;
mod settings;
mod table;
mod target;
mod text_output;
mod yaml;

use std::{env, ffi::OsString, process::ExitCode};

use clap::{ArgMatches, CommandFactory, FromArgMatches, error::ErrorKind};

use cli::{Cli, OutputFormat};
use failure::{Failure, FailureKind, Outcome, Result};
use printer::Printer;
use settings::Settings;

/// Responses are large, short-lived buffers on many threads: with this allocator, hydrated lists
/// take a fifth less time, and half as much memory stays allocated afterwards (measured).
#[cfg(feature = "serve")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Columns of the help text where the terminal width is unknown.
const HELP_COLUMNS: usize = 100;

fn main() -> ExitCode {
    let (cli, matches) = match parse() {
        Ok(parsed) => parsed,
        Err(error) => return parse_failure(&error),
    };
    let json = cli.global.json || cli.global.o.as_deref() == Some("json");
    match run(cli, &matches) {
        Ok(outcome) => outcome.exit_code().into(),
        Err(failure) => {
            print_failure(&failure, json);
            failure.exit_code().into()
        }
    }
}

/// Parses the arguments. `ArgMatches` knows which values come from flags, and which from the
/// environment.
fn parse() -> std::result::Result<(Cli, ArgMatches), clap::Error> {
    let mut command = Cli::command();
    // With COLUMNS=0, clap would wrap the help after each word.
    if settings::variable("COLUMNS").is_some_and(|columns| columns.parse() == Ok(0_u8)) {
        command = command.term_width(HELP_COLUMNS);
    }
    let matches = command.try_get_matches_from_mut(env::args_os())?;
    let cli = Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
    Ok((cli, matches))
}

fn run(cli: Cli, matches: &ArgMatches) -> Result<Outcome> {
    #[cfg(feature = "serve")]
    let cli = config_file::merge(cli, matches)?;
    let settings = Settings::resolve(&cli, matches)?;
    let printer = Printer::new(settings.format, settings.quiet);
    let outcome = commands::run(cli.command, &settings, &printer)?;
    printer.flush()?;
    Ok(outcome)
}

/// Prints help and version unchanged, and usage errors like other errors.
fn parse_failure(error: &clap::Error) -> ExitCode {
    let arguments: Vec<OsString> = env::args_os().collect();
    let is_output = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    if asks_for_json(&arguments) && !is_output {
        let message = error.to_string();
        let message = message.trim_start_matches("error: ").trim_end();
        print_failure(&Failure::usage(message), true);
        return ExitCode::from(2);
    }
    // A closed output is no error.
    error.print().ok();
    ExitCode::from(if is_output { 0 } else { 2 })
}

/// Returns whether arguments that clap could not parse select JSON as output format.
fn asks_for_json(arguments: &[OsString]) -> bool {
    let is_one_of = |argument: &OsString, forms: &[&str]| forms.iter().any(|form| argument == form);
    arguments
        .iter()
        .any(|argument| is_one_of(argument, &["--json", "-ojson", "-o=json", "--output=json"]))
        || arguments
            .windows(2)
            .any(|pair| is_one_of(&pair[0], &["-o", "--output"]) && pair[1] == "json")
}

fn print_failure(failure: &Failure, json: bool) {
    if matches!(failure.kind, FailureKind::Closed) {
        return;
    }
    if json {
        let printer = Printer::new(OutputFormat::Json, true);
        let body = text_output::failure_body(failure);
        // A closed output is no error: the exit code remains.
        printer.value(&body, String::new).and_then(|()| printer.flush()).ok();
    } else {
        printer::error_line(&text_output::failure_lines(failure));
    }
}
