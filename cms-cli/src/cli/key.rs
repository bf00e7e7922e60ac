//! Arguments of `cms key`.

use clap::{
    Subcommand,
    builder::{PossibleValuesParser, TypedValueParser},
};
use cms_core::wire::key::KeyKind;

use super::{DryRun, values::hours};
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
        /// Revoke the key with this id, from `cms key list`.
        id: String,
        #[command(flatten)]
        dry_run: DryRun,
    },
}
