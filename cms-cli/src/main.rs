//! `cms`: the command line, and with the feature `serve` the server.
//!
//! [`cli`] is what clap reads, [`settings`] what it means, [`commands`] what is done, [`target`]
//! where, [`printer`] and [`report`] how it looks, [`failure`] how it ends.

mod cli;
mod commands;
#[cfg(feature = "serve")]
mod config_file;
mod content;
mod failure;
mod printer;
mod project;
mod report;
mod settings;
mod table;
mod target;
mod yaml;

use std::{env, process::ExitCode};

use clap::{ArgMatches, CommandFactory, FromArgMatches, error::ErrorKind};

use cli::{Cli, Format};
use failure::{Failure, Kind, Outcome, Result};
use printer::Printer;
use settings::Settings;

/// Answers are large, short-lived buffers on many threads: measured, this allocator hydrates lists a
/// fifth faster and holds half of the memory afterwards.
#[cfg(feature = "serve")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Width of the help where the terminal does not know its own, as without a terminal.
const HELP_WIDTH: usize = 100;

fn main() -> ExitCode {
    let (cli, matches) = match parse() {
        Ok(parsed) => parsed,
        Err(error) => return parse_failure(&error),
    };
    let json = cli.global.json || cli.global.o.as_deref() == Some("json");
    match run(cli, &matches) {
        Ok(outcome) => outcome.exit_code().into(),
        Err(failure) => {
            tell(&failure, json);
            failure.exit_code().into()
        }
    }
}

/// Parses the arguments; the matches say which values are flags and which are variables.
fn parse() -> std::result::Result<(Cli, ArgMatches), clap::Error> {
    let mut command = Cli::command();
    // Clap would break the help after each word.
    if settings::variable("COLUMNS").is_some_and(|columns| columns.parse() == Ok(0_u8)) {
        command = command.term_width(HELP_WIDTH);
    }
    let matches = command.try_get_matches_from_mut(env::args_os())?;
    let cli = Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
    Ok((cli, matches))
}

fn run(cli: Cli, matches: &ArgMatches) -> Result<Outcome> {
    #[cfg(feature = "serve")]
    let cli = config_file::completed(cli)?;
    let settings = Settings::resolve(&cli, matches)?;
    let mut printer = Printer::new(settings.format, settings.quiet);
    let outcome = commands::run(cli.command, &settings, &mut printer)?;
    printer.flush()?;
    Ok(outcome)
}

/// Prints help and version as they are, and wrong usage in the form of other errors.
fn parse_failure(error: &clap::Error) -> ExitCode {
    let wants_json = env::args().any(|argument| argument == "--json");
    let is_answer = matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
    if wants_json && !is_answer {
        let message = error.to_string();
        let message = message.trim_start_matches("error: ").trim_end();
        tell(&Failure::usage(message), true);
        return ExitCode::from(2);
    }
    // Fails only when nobody reads the output.
    error.print().ok();
    ExitCode::from(if is_answer { 0 } else { 2 })
}

fn tell(failure: &Failure, json: bool) {
    if matches!(failure.kind, Kind::Closed) {
        return;
    }
    if json {
        let mut printer = Printer::new(Format::Json, true);
        let body = report::failure_body(failure);
        // The exit code still tells, should nobody read the output.
        printer.value(&body, String::new).and_then(|()| printer.flush()).ok();
    } else {
        printer::error_line(&report::failure_lines(failure));
    }
}
