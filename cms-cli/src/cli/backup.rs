//! `cms backup`, `cms restore` and `cms check` as clap reads them.

use std::path::PathBuf;
#[cfg(feature = "serve")]
use std::time::Duration;

use clap::Args;

use super::DryRun;

/// Write everything into one file, while it is in use.
///
/// The file has every write that was acknowledged before, and all stored files. It is read again and
/// compared before it gets its name. The search index and rendered pictures are not in it: they are
/// made again.
#[derive(Debug, Args)]
pub(crate) struct BackupArgs {
    /// The file; an older one is replaced once the new one is whole.
    pub(crate) file: PathBuf,
}

/// Make a data folder from a file of `cms backup`.
///
/// --data names the folder, which must be empty or missing. Nothing is left of it when the file is
/// damaged or cut off. After an interrupt, run the same command again.
#[derive(Debug, Args)]
pub(crate) struct RestoreArgs {
    /// The file that `cms backup` wrote.
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) dry_run: DryRun,
}

/// Check data integrity and repair it.
///
/// Verifies the database, links, unique values, versions, the public view, what indexed properties
/// hold, the search index against the database, and stored files against media objects and the sizes
/// that were uploaded. Ends with 6 when something is wrong and stays so.
#[derive(Debug, Args)]
pub(crate) struct CheckArgs {
    /// Rebuild what follows from content, remove files that were first seen without a media object
    /// more than a day ago, however many they are, and record size and digest of files that an earlier
    /// version received. Content is never changed.
    #[arg(long)]
    pub(crate) repair: bool,
    /// Read all stored files and compare their SHA-256 with that of the upload.
    #[arg(long)]
    pub(crate) digests: bool,
}

/// Backups that a server makes by itself.
#[cfg(feature = "serve")]
#[derive(Debug, Args)]
pub(crate) struct ScheduleArgs {
    /// Make backups by itself, in this folder or in S3-compatible storage: `s3://BUCKET/PREFIX`.
    #[arg(long = "backup-to", value_name = "DIR|URL", env = "CMS_BACKUP_TO")]
    pub(crate) to: Option<String>,
    /// How long it is from one backup to the next: a number with m, h or d.
    #[arg(long = "backup-every", value_name = "TIME", default_value = "24h", env = "CMS_BACKUP_EVERY",
        value_parser = period)]
    pub(crate) every: Duration,
    /// How many backups are kept; older ones are removed.
    #[arg(long = "backup-keep", value_name = "N", default_value_t = 7, env = "CMS_BACKUP_KEEP",
        value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) keep: u16,
}

/// Reads a time such as `90m`, `24h` or `7d`.
#[cfg(feature = "serve")]
fn period(text: &str) -> Result<Duration, String> {
    let diagnostic = || "a number of minutes, hours or days, such as 90m, 24h or 7d".to_owned();
    let unit = match text.chars().next_back() {
        Some('m') => 60,
        Some('h') => 3600,
        Some('d') => 86_400,
        _ => return Err(diagnostic()),
    };
    let number: u32 = text[..text.len() - 1].parse().map_err(|_| diagnostic())?;
    if number == 0 { Err(diagnostic()) } else { Ok(Duration::from_secs(u64::from(number) * unit)) }
}

#[cfg(all(test, feature = "serve"))]
mod tests {
    use super::*;

    #[test]
    fn periods_have_a_number_and_a_unit() {
        for (text, minutes) in [("1m", 1), ("90m", 90), ("24h", 1440), ("7d", 10_080)] {
            assert_eq!(period(text), Ok(Duration::from_mins(minutes)), "{text}");
        }
        for text in ["", "m", "0h", "24", "1.5h", "-1d", "24 h", "1w", "24ħ", "99999999999d"] {
            assert!(period(text).is_err(), "{text}");
        }
    }
}
