//! Arguments of `cms validate`.

use std::path::PathBuf;

use clap::Args;

/// Validate project files and content folders offline.
///
/// Needs neither a server nor a data directory. Reads project files as `cms ctd plan` does, and
/// folders that `cms export` wrote as `cms import DIR` does, and tries them on an empty temporary
/// data directory. Content is validated against the types in the folder and in the given project
/// files; if no project files are given, also against those in `project.yaml` next to the folder.
/// Exits with 6 when something is not valid.
#[derive(Debug, Args)]
pub(crate) struct ValidateArgs {
    /// Validate these project files, directories of them, or content folders.
    #[arg(required = true, value_name = "FILE|DIR")]
    pub(crate) paths: Vec<PathBuf>,
}
