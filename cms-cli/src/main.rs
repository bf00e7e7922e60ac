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

use clap::{Parser, error::ErrorKind};

use cli::{Cli, Format};
use failure::{Failure, Kind, Outcome, Result};
use printer::Printer;
use settings::Settings;

/// Answers are large, short-lived buffers on many threads: measured, this allocator hydrates lists a
/// fifth faster and holds half of the memory afterwards.
#[cfg(feature = "serve")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return parse_failure(&error),
    };
    let json = cli.global.json || cli.global.o.as_deref() == Some("json");
    match run(cli) {
        Ok(outcome) => outcome.exit_code().into(),
        Err(failure) => {
            tell(&failure, json);
            failure.exit_code().into()
        }
    }
}

fn run(cli: Cli) -> Result<Outcome> {
    #[cfg(feature = "serve")]
    let cli = config_file::completed(cli)?;
    let settings = Settings::resolve(&cli)?;
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
