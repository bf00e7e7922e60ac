//! Arguments of `cms backup`, `cms restore` and `cms check`.

use std::path::PathBuf;
#[cfg(feature = "serve")]
use std::time::Duration;

use clap::Args;

use super::DryRun;
#[cfg(feature = "serve")]
use super::duration;

/// Back up everything into one file, while the server runs.
///
/// The file contains every write that was acknowledged before, and all media files. It is verified
/// before it gets its name. The search index and rendered images are not included: they are
/// rebuilt.
#[derive(Debug, Args)]
pub(crate) struct BackupArgs {
    /// Write to this file; an earlier one is replaced when the new one is complete.
    pub(crate) file: PathBuf,
}

/// Restore a data directory from a backup file.
///
/// --data names the directory, which must be empty or missing. Nothing is restored when the file is
/// damaged or incomplete. After an interruption, run the same command again.
#[derive(Debug, Args)]
pub(crate) struct RestoreArgs {
    /// Read this file of `cms backup`.
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) dry_run: DryRun,
}

/// Check data integrity and repair it.
///
/// Verifies the database, links, unique values, versions, the public view, property indexes, the
/// search index against the database, and media files against media objects and their uploaded
/// sizes. Exits with code 6 when problems remain.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Rebuild derived data, remove all files that were recorded as orphaned more than a day ago,
    /// and record the size and digest of files that were uploaded to an earlier version of cms.
    /// Content is never changed.
    #[arg(long)]
    pub(crate) repair: bool,
    /// Read all media files and compare their SHA-256 with that of the upload.
    #[arg(long)]
    pub(crate) digests: bool,
}

/// Settings of scheduled backups.
#[cfg(feature = "serve")]
#[derive(Debug, Args)]
pub(crate) struct BackupScheduleArgs {
    /// Write scheduled backups to this directory or to S3-compatible storage: `s3://BUCKET/PREFIX`.
    #[arg(long = "backup-to", value_name = "DIR|URL", env = "CMS_BACKUP_TO")]
    pub(crate) to: Option<String>,
    /// Set the time between two backups: a number with m, h or d.
    #[arg(long = "backup-every", value_name = "TIME", default_value = "24h", env = "CMS_BACKUP_EVERY",
        value_parser = interval)]
    pub(crate) every: Duration,
    /// Keep this many backups and remove older ones.
    #[arg(long = "backup-keep", value_name = "N", default_value_t = 7, env = "CMS_BACKUP_KEEP",
        value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) keep: u16,
}

/// Parses the time between two backups, such as `90m`, `24h` or `7d`.
#[cfg(feature = "serve")]
fn interval(text: &str) -> Result<Duration, String> {
    duration::parse::<u32>(text, &[('m', 60), ('h', 3600), ('d', 86_400)])
        .filter(|duration| !duration.is_zero())
        .ok_or_else(|| "use a number of minutes, hours or days, such as 90m, 24h or 7d".to_owned())
}

#[cfg(all(test, feature = "serve"))]
mod tests {
    use super::*;

    #[test]
    fn time_between_backups_needs_a_number_and_a_unit() {
        for (text, minutes) in [("1m", 1), ("90m", 90), ("24h", 1440), ("7d", 10_080)] {
            assert_eq!(interval(text), Ok(Duration::from_mins(minutes)), "{text}");
        }
        for text in ["", "m", "0h", "24", "1.5h", "-1d", "24 h", "1w", "24ħ", "99999999999d"] {
            assert!(interval(text).is_err(), "{text}");
        }
    }
}
