//! Arguments that select the objects of a bulk job, and those of `cms job`.

use clap::{Args, Subcommand};

/// The objects of a bulk job, instead of ids.
#[derive(Debug, Args)]
#[command(next_help_heading = "Selection instead of ids")]
pub(crate) struct SelectionArgs {
    /// Select objects as in the API, for example '{"title":{"type":"contains","filter":"a"}}'.
    #[arg(long, value_name = "JSON")]
    pub(crate) filters: Option<String>,
    /// Select objects by a search text.
    #[arg(long, value_name = "TEXT")]
    pub(crate) q: Option<String>,
    /// Select all objects of the type.
    #[arg(long, conflicts_with_all = ["filters", "q"])]
    pub(crate) all: bool,
    /// Change nothing unless exactly this many objects match.
    #[arg(long, value_name = "N")]
    pub(crate) expect: Option<u64>,
}

impl SelectionArgs {
    /// Returns whether objects are selected without ids.
    pub(crate) fn is_set(&self) -> bool {
        self.filters.is_some() || self.q.is_some() || self.all
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum JobCommand {
    /// List bulk jobs, newest first.
    List,
    /// Show one bulk job with the first refused objects.
    Get { id: String },
    /// Stop a bulk job; objects that are changed already stay changed.
    Stop { id: String },
}
