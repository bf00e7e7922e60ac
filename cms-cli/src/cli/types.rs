//! Arguments of `cms types`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub(crate) enum TypesCommand {
    Typescript(TypescriptArgs),
}

/// Write the content types as TypeScript.
///
/// Reads the content types of the target, or of project files: then it needs neither a server nor a
/// data directory. The same types give the same file.
#[derive(Debug, Args)]
pub(crate) struct TypescriptArgs {
    /// Read these project files, or directories of them, instead of the target.
    #[arg(value_name = "FILE|DIR")]
    pub(crate) paths: Vec<PathBuf>,
    /// Write to this file instead of standard output; an unchanged file is not written.
    #[arg(id = "o", short, long = "output", value_name = "FILE")]
    pub(crate) file: Option<String>,
    /// Write the file again whenever the content types change, until interrupted; needs -o.
    #[arg(long, requires = "o")]
    pub(crate) watch: bool,
}
