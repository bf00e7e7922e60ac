//! Arguments of `cms init`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::DryRun;

/// Create a project folder, and start a server on it.
///
/// Writes project.yaml with its JSON Schema, sample content, .gitignore, README.md and a GitHub
/// workflow. If one of these files exists, nothing is written, and the exit code is 5. On a terminal, the
/// command prompts for the values that no flag sets.
#[derive(Debug, Args)]
pub(crate) struct InitArgs {
    /// Create the project in this folder instead of the current one.
    pub(crate) dir: Option<PathBuf>,
    /// Start from this template instead of `blog`.
    #[arg(long)]
    pub(crate) template: Option<Template>,
    /// Write the files only, and start no server.
    #[arg(long)]
    pub(crate) no_serve: bool,
    #[command(flatten)]
    pub(crate) dry_run: DryRun,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Template {
    /// Authors and posts, with sample content.
    Blog,
    /// A project file without content types.
    Empty,
}
