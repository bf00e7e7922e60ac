//! Arguments of `cms activity`.

use clap::Args;

/// Show the activity log, newest changes first.
///
/// Only admins see changes of keys, users and workflows, and sign-ins.
#[derive(Debug, Args)]
pub(crate) struct ActivityArgs {
    /// Show only changes of this type and its objects; may be repeated.
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) types: Vec<String>,
    /// Show only changes of the object with this id.
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,
    /// Show only changes by the user or key with this name or id.
    #[arg(long, value_name = "NAME|ID")]
    pub(crate) by: Option<String>,
    /// Show only this action, for example `publish`; may be repeated.
    #[arg(long = "action", value_name = "ACTION")]
    pub(crate) actions: Vec<String>,
    /// Show only changes at or after this time, for example 2026-01-31 or 2026-01-31T09:00:00Z.
    #[arg(long, value_name = "TIME")]
    pub(crate) from: Option<String>,
    /// Show only changes before this time.
    #[arg(long, value_name = "TIME")]
    pub(crate) to: Option<String>,
    /// Show at most this many entries.
    #[arg(long, value_name = "N", default_value_t = 20,
        value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) limit: u32,
}
