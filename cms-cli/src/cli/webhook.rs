//! Arguments of `cms webhook`.

use clap::Subcommand;

use super::DryRun;

#[derive(Debug, Subcommand)]
pub(crate) enum WebhookCommand {
    /// List webhooks, with the secrets that receivers check signatures with.
    List,
    /// Show the deliveries of a webhook, sent and waiting, newest first.
    Log {
        id: String,
        /// Most entries that are shown; the log itself keeps 300.
        #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000))]
        limit: u32,
    },
    /// Send deliveries again: those that are named, else all that were given up; what waits is tried
    /// immediately.
    Replay {
        id: String,
        /// Numbers of entries of the log.
        #[arg(value_name = "DELIVERY")]
        deliveries: Vec<i64>,
        #[command(flatten)]
        dry_run: DryRun,
    },
    /// Send a test delivery to a webhook; a running server does it.
    Test {
        id: String,
        #[command(flatten)]
        dry_run: DryRun,
    },
}
