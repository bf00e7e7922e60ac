//! `cms media` as clap reads it.

use clap::{Args, Subcommand, ValueEnum, value_parser};

use super::{DryRun, ListArgs};

#[derive(Debug, Subcommand)]
pub(crate) enum MediaCommand {
    Upload(UploadArgs),
    /// List media objects.
    List(ListArgs),
    /// Fetch the stored file of a media object, as it was uploaded.
    Get {
        id: String,
        /// Write into this file instead of standard output, which `-` stands for.
        #[arg(id = "o", short, long = "output", value_name = "FILE")]
        file: Option<String>,
    },
}

/// Upload files into the library.
///
/// A file whose very bytes are in the library already is not uploaded again, and the same bytes under
/// several names are uploaded once; so the command can be repeated at any time.
#[derive(Debug, Args)]
pub(crate) struct UploadArgs {
    /// Files, folders with all that is in them, and patterns such as 'photos/**/*.jpg'. Names that
    /// begin with a dot are left out unless they are spelled out.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<String>,
    /// What the media objects are; otherwise pictures, told by their names, become images.
    #[arg(long = "type", value_name = "TYPE")]
    pub(crate) kind: Option<MediaKind>,
    /// Text that stands for the picture.
    #[arg(long, value_name = "TEXT")]
    pub(crate) alt: Option<String>,
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// Name of a tag, which is made when there is none; may be repeated.
    #[arg(long = "tag", value_name = "NAME")]
    pub(crate) tags: Vec<String>,
    /// Files that are on their way at the same time.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = value_parser!(u8).range(1..=64))]
    pub(crate) parallel: u8,
    #[command(flatten)]
    pub(crate) dry_run: DryRun,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum MediaKind {
    Image,
    File,
}

impl MediaKind {
    /// As the API spells it.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Image => "image",
            Self::File => "file",
        }
    }
}
