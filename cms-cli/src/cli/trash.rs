//! Arguments of `cms trash`.

use clap::Subcommand;

use super::DryRun;

#[derive(Debug, Subcommand)]
pub(crate) enum TrashCommand {
    /// List deleted objects, newest deletion first.
    List {
        /// List only this type; may be repeated.
        #[arg(long = "type", value_name = "TYPE")]
        types: Vec<String>,
        /// List at most this many.
        #[arg(long, value_name = "N", default_value_t = 20,
            value_parser = clap::value_parser!(u32).range(1..=1000))]
        limit: u32,
    },
    /// Restore a deleted object with all its versions.
    Restore {
        r#type: String,
        id: String,
        /// Restore this entry instead of the newest deletion of the id.
        #[arg(long, value_name = "N")]
        entry: Option<u64>,
        /// Give the restored object this id.
        #[arg(long = "as", value_name = "NEWID")]
        new_id: Option<String>,
        /// Restore as a draft, without the published version.
        #[arg(long)]
        draft: bool,
        #[command(flatten)]
        dry_run: DryRun,
    },
    /// Remove a deleted object permanently.
    Remove {
        r#type: String,
        id: String,
        /// Remove this entry instead of the newest deletion of the id.
        #[arg(long, value_name = "N")]
        entry: Option<u64>,
        #[command(flatten)]
        dry_run: DryRun,
    },
    /// Remove all deleted objects permanently.
    Empty {
        /// Remove only objects of this type; may be repeated.
        #[arg(long = "type", value_name = "TYPE")]
        types: Vec<String>,
        /// Remove only objects that were deleted longer ago than this number of days, such as `30d`.
        #[arg(long, value_name = "AGE", value_parser = days)]
        older_than: Option<i64>,
        #[command(flatten)]
        dry_run: DryRun,
    },
}

/// Parses a number of days such as `30d`.
fn days(text: &str) -> Result<i64, String> {
    let number = text.strip_suffix('d').and_then(|digits| digits.parse::<u16>().ok());
    number.map(i64::from).ok_or_else(|| "use a number of days, for example 30d".to_owned())
}
