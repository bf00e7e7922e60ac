//! `cms openapi`: prints the OpenAPI document.

use std::fs;

use cms_core::wire::openapi::{OpenApiRequest, OpenApiVersion};

use super::{open_to_read, public_url};
use crate::{
    cli::{OpenapiArgs, VersionChoice},
    failure::{Failure, Outcome, Result},
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
    match &args.file {
        Some(file) => {
            fs::write(file, text).map_err(|error| Failure::unwritable(file, error))?;
            printer.note(&format!("the document is in {file}"))?;
        }
        None => printer.text(&text)?,
    }
    Ok(Outcome::Done)
}
