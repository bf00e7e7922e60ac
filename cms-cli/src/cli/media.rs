//! Arguments of `cms media`.

use clap::{
    Args, Subcommand,
    builder::{PossibleValuesParser, TypedValueParser},
    value_parser,
};
use cms_core::MediaKind;

use super::{DryRun, ListArgs};

#[derive(Debug, Subcommand)]
pub(crate) enum MediaCommand {
    Upload(UploadArgs),
    /// List media objects.
    List(ListArgs),
    /// Download the file of a media object as it was uploaded.
    Get {
        id: String,
        /// Write to this file, or to standard output with `-`.
        #[arg(id = "o", short, long = "output", value_name = "FILE")]
        file: Option<String>,
    },
}

/// Upload files to the media library.
///
/// A file whose content is in the library already is not uploaded again, and files with the same
/// content are uploaded once; so the command can be repeated at any time.
#[derive(Debug, Args)]
pub(crate) struct UploadArgs {
    /// Upload these files, all files in these folders, and files that match patterns such as
    /// 'photos/**/*.jpg'. Names with a leading dot must be given explicitly.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<String>,
    /// Set the type of the media objects; by default, the file extension decides.
    #[arg(long = "type", value_name = "TYPE",
        value_parser = PossibleValuesParser::new(MediaKind::ALL.map(MediaKind::as_str))
            .try_map(|text| MediaKind::parse(&text).ok_or("unknown type of media objects")))]
    pub(crate) kind: Option<MediaKind>,
    /// Set the alternative text of the image.
    #[arg(long, value_name = "TEXT")]
    pub(crate) alt: Option<String>,
    /// Set the title.
    #[arg(long, value_name = "TEXT")]
    pub(crate) title: Option<String>,
    /// Add the tag of this name, and create it if it is missing; may be repeated.
    #[arg(long = "tag", value_name = "NAME")]
    pub(crate) tags: Vec<String>,
    /// Upload this many files at the same time.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = value_parser!(u8).range(1..=64))]
    pub(crate) parallel: u8,
    #[command(flatten)]
    pub(crate) dry_run: DryRun,
}
