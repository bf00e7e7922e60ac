//! Arguments of `cms webhook`.

use clap::Subcommand;

use super::DryRun;

#[derive(Debug, Subcommand)]
pub(crate) enum WebhookCommand {
    /// List webhooks with their signing secrets.
    List,
    /// List the sent and pending deliveries of a webhook, newest first.
    Log {
        id: String,
        /// Show at most this many deliveries; the log keeps all pending deliveries and the last 300 that are no longer
        /// tried.
        #[arg(long, value_name = "N", default_value_t = 20,
            value_parser = clap::value_parser!(u32).range(1..=1000))]
        limit: u32,
    },
    /// Replay deliveries: the named ones, or all failed ones. In both cases all pending ones are sent
    /// immediately.
    Replay {
        id: String,
        /// Replay the deliveries with these ids from the log.
        #[arg(value_name = "DELIVERY")]
        deliveries: Vec<i64>,
        #[command(flatten)]
        dry_run: DryRun,
    },
    /// Queue a test delivery; a running server sends it.
    Test {
        id: String,
        #[command(flatten)]
        dry_run: DryRun,
    },
}
