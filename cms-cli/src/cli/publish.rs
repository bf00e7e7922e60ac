//! Arguments of `cms publish`, `cms unpublish` and `cms archive`.

use clap::{Args, value_parser};

use super::{DryRun, SelectionArgs};

/// Without --hydrate, ids are sent in batches, and the action applies to objects in every status. With
/// --hydrate, each object is sent in its own request, which fails if its status does not allow the
/// action.
#[derive(Debug, Args)]
pub(crate) struct PublishArgs {
    pub(crate) r#type: String,
    /// Use these ids, or `-` to read them from standard input, one per line.
    #[arg(required_unless_present_any = ["filters", "q", "all"],
        conflicts_with_all = ["filters", "q", "all"])]
    pub(crate) ids: Vec<String>,
    #[command(flatten)]
    pub(crate) selection: SelectionArgs,
    /// Send one request per object, which fails if the status of the object does not allow the
    /// action. With 1, the action also applies to linked objects of Draft & Public types.
    #[arg(long, value_name = "LEVELS", conflicts_with_all = ["filters", "q", "all"],
        value_parser = value_parser!(u8).range(0..=1))]
    pub(crate) hydrate: Option<u8>,
    #[command(flatten)]
    pub(crate) dry_run: DryRun,
}
