//! Arguments of `cms workflow`.

use std::path::PathBuf;

use clap::Subcommand;

use super::{DryRun, SelectionArgs};

#[derive(Debug, Subcommand)]
pub(crate) enum WorkflowCommand {
    /// List all workflows.
    List,
    /// Show the state of an object and its enabled transitions.
    State { r#type: String, id: String },
    /// Run a transition, for example `_draft_review`.
    // Written out: clap prints `...` after every argument that may have several values.
    #[command(override_usage = "cms workflow run [OPTIONS] <TYPE> [ID]... <TRANSITION>")]
    Run {
        r#type: String,
        /// Move the objects with these ids, or `-` to read them from standard input, one per line, by
        /// this transition. With --filters, --q or --all, give only TRANSITION.
        #[arg(required = true, value_name = "ID|TRANSITION")]
        ids_and_transition: Vec<String>,
        #[command(flatten)]
        selection: SelectionArgs,
        #[command(flatten)]
        dry_run: DryRun,
    },
    /// Create or replace a workflow from a JSON or YAML file.
    Define {
        /// Read this file, or `-` for standard input.
        file: PathBuf,
        #[command(flatten)]
        dry_run: DryRun,
    },
    /// Delete a workflow that no content type uses.
    Delete {
        id: String,
        #[command(flatten)]
        dry_run: DryRun,
    },
}
