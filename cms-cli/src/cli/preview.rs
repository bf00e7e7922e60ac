//! Arguments of `cms preview`.

use clap::Args;

use super::{DryRun, openapi::base_url};

/// Create a preview token for an object, and print the preview URL of its type.
///
/// The token reads drafts for one hour. Without a preview URL in the type, the token itself is
/// printed.
#[derive(Debug, Args)]
pub(crate) struct PreviewArgs {
    pub(crate) r#type: String,
    pub(crate) id: String,
    /// Set the server URL that a preview path is appended to. For a data directory.
    #[arg(long, value_name = "URL", value_parser = base_url)]
    pub(crate) public_url: Option<String>,
    #[command(flatten)]
    pub(crate) dry_run: DryRun,
}
