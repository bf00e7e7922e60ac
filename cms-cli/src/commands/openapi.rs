//! `cms openapi`: prints the OpenAPI document.

use std::path::Path;

use cms_core::wire::openapi::{OpenApiRequest, OpenApiVersion};

use super::{open_to_read, public_url};
use crate::{
    cli::{OpenapiArgs, VersionChoice},
    content::stream::write_file,
    failure::{Outcome, Result},
    printer::Printer,
    settings::Settings,
};

/// The document is deterministic and indented, so that files can be compared by line.
pub(super) fn run(args: OpenapiArgs, settings: &Settings, printer: &Printer) -> Result<Outcome> {
    let request = OpenApiRequest {
        version: match args.version {
            VersionChoice::V30 => OpenApiVersion::V30,
            VersionChoice::V31 => OpenApiVersion::V31,
            VersionChoice::V2 => OpenApiVersion::V2,
        },
        hydrate: args.hydrate,
        user_only: args.user_only && !args.management,
        management: args.management,
        open_id: false,
        base_url: public_url(args.public_url, settings)?,
    };
    let document = open_to_read(settings)?.openapi(&request)?;
    let text = format!("{document:#}\n");
    match args.file.as_deref().filter(|file| *file != "-") {
        Some(file) => {
            write_file(Path::new(file), &text)?;
            printer.note(&format!("the document is in {file}"))?;
        }
        None => printer.text(&text)?,
    }
    Ok(Outcome::Done)
}
