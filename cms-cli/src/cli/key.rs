//! Arguments of `cms key`.

use clap::{
    Subcommand,
    builder::{PossibleValuesParser, TypedValueParser},
};
use cms_core::{limits, wire::key::KeyKind};

use super::{DryRun, duration};
use crate::project::{KEY_KINDS, key_kind};

#[derive(Debug, Subcommand)]
pub(crate) enum KeyCommand {
    /// List keys, without their secret tokens.
    List,
    /// Create a key and print its token, which is shown only once.
    Create {
        name: String,
        /// Set the kind of the key.
        #[arg(long, value_parser = PossibleValuesParser::new(KEY_KINDS)
            .try_map(|text| key_kind(&text).ok_or("unknown kind of key")))]
        kind: KeyKind,
        /// Give a scoped key rights on a type (or `*`): letters of create, read, update, delete.
        #[arg(long = "rule", value_name = "TYPE:CRUD")]
        rules: Vec<String>,
        #[command(flatten)]
        dry_run: DryRun,
    },
    /// Change the name or the rules of a key.
    Update {
        /// Change the key with this name or id.
        key: String,
        /// Set the name.
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
        /// Replace the rules: letters of create, read, update, delete for a type (or `*`).
        #[arg(long = "rule", value_name = "TYPE:CRUD")]
        rules: Vec<String>,
        #[command(flatten)]
        dry_run: DryRun,
    },
    /// Replace the token of a key and print the new one, which is shown only once.
    Rotate {
        /// Rotate the key with this name or id.
        key: String,
        /// Accept the old token for this time, at most `168h` or `7d`.
        #[arg(long, value_name = "TIME", value_parser = hours)]
        grace: Option<i64>,
        #[command(flatten)]
        dry_run: DryRun,
    },
    /// Revoke a key.
    Revoke {
        /// Revoke the key with this name or id.
        key: String,
        #[command(flatten)]
        dry_run: DryRun,
    },
}

/// Parses a grace period such as `24h` or `7d` into hours.
fn hours(text: &str) -> Result<i64, String> {
    duration::parse::<u32>(text, &[('h', 3600), ('d', 86_400)])
        .and_then(|grace| i64::try_from(grace.as_secs() / 3600).ok())
        .filter(|hours| *hours <= limits::MAX_GRACE_HOURS)
        .ok_or_else(|| format!("use a number with h or d, at most {}h", limits::MAX_GRACE_HOURS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grace_periods_are_hours() {
        for (text, wanted) in [("0h", 0), ("24h", 24), ("168h", 168), ("7d", 168)] {
            assert_eq!(hours(text), Ok(wanted), "{text}");
        }
        for text in ["", "h", "24", "-1h", "169h", "8d", "1m", "1.5h"] {
            assert!(hours(text).is_err(), "{text}");
        }
    }
}
