//! Arguments of `cms schedule`.

use clap::Subcommand;

use super::DryRun;

#[derive(Debug, Subcommand)]
pub(crate) enum ScheduleCommand {
    /// List scheduled publications, earliest first.
    List {
        /// List objects of this type only; may be repeated.
        #[arg(long = "type", value_name = "TYPE")]
        types: Vec<String>,
    },
    /// Publish an object at a local time, more than five minutes ahead.
    ///
    /// A running server publishes it. A schedule on a data directory is carried out by the next
    /// server that runs on it.
    Set {
        r#type: String,
        id: String,
        /// Publish at this local time, for example 2026-12-01T09:00.
        #[arg(long, value_name = "TIME")]
        at: String,
        /// Use the local time of this zone, for example Europe/Warsaw.
        #[arg(long, value_name = "ZONE")]
        zone: String,
        #[command(flatten)]
        dry_run: DryRun,
    },
    /// Cancel scheduled publications.
    Remove {
        r#type: String,
        /// Use these ids, or `-` to read them from standard input, one per line.
        #[arg(required = true)]
        ids: Vec<String>,
        #[command(flatten)]
        dry_run: DryRun,
    },
}
