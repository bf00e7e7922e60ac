//! `cms completions`, `cms man`: generated from the declared arguments.

use std::{fs, path::Path};

use clap::CommandFactory;

use crate::{
    cli::Cli,
    failure::{Failure, Outcome, Result},
    printer::Printer,
};

pub(super) fn completions(shell: clap_complete::Shell, printer: &mut Printer) -> Result<Outcome> {
    // Generated in memory: the generator panics when it cannot write.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "cms", &mut script);
    printer.text(&String::from_utf8_lossy(&script))?;
    Ok(Outcome::Done)
}

pub(super) fn man(folder: &Path, printer: &mut Printer) -> Result<Outcome> {
    let unwritable = |error| Failure::unwritable(folder.display(), error);
    fs::create_dir_all(folder).map_err(unwritable)?;
    clap_mangen::generate_to(Cli::command(), folder).map_err(unwritable)?;
    printer.note(&format!("manual pages are in {}", folder.display()))?;
    Ok(Outcome::Done)
}
