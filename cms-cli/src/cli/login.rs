//! Arguments of `cms login`, `cms logout` and `cms open`.

use clap::{Args, ValueEnum};

use super::DryRun;

/// Store the URL and the key of a server as a profile, for commands without --server and --data.
///
/// Asks for the key on a terminal, and reads it from standard input elsewhere; it is checked before it
/// is stored. The file is `cms/profiles.toml` in `XDG_CONFIG_HOME` or `~/.config`, readable by its
/// owner only. The last profile that was stored is the default one.
#[derive(Debug, Args)]
pub(crate) struct LoginArgs {
    /// Use the server at this URL.
    #[arg(value_name = "URL")]
    pub(crate) address: String,
    /// Set the name of the profile. Default: the host of the URL.
    #[arg(long, value_name = "PROFILE")]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) dry_run: DryRun,
}

/// Remove a profile and its key. The key stays valid: `cms key revoke` revokes it.
#[derive(Debug, Args)]
pub(crate) struct LogoutArgs {
    /// Remove this profile instead of the default one.
    #[arg(value_name = "PROFILE")]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) dry_run: DryRun,
}

/// Open a page of the server in the browser.
#[derive(Debug, Args)]
pub(crate) struct OpenArgs {
    /// Open this page.
    #[arg(default_value = "admin")]
    pub(crate) page: PageChoice,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PageChoice {
    /// The admin page.
    Admin,
    /// The documentation (not `/docs`, which is the API explorer), or the start page, which says
    /// where to find it.
    Docs,
    /// The API explorer.
    Api,
}
