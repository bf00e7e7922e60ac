//! `cms openapi`: the description of the API for programs.

use std::fs;

use cms_core::wire::openapi::{OpenApiRequest, OpenApiVersion};

use super::open_to_read;
use crate::{
    cli::{OpenapiArgs, VersionChoice},
    failure::{Failure, Outcome, Result},
    printer::Printer,
    settings::{Settings, TargetAddress},
};

/// Where an API on a folder would be found by default.
const LOCAL_URL: &str = "http://127.0.0.1:8080";

/// The same types give the same bytes, indented, so that files can be compared by line.
pub(super) fn run(
    args: OpenapiArgs,
    settings: &Settings,
    printer: &mut Printer,
) -> Result<Outcome> {
    if args.public_url.is_some() && matches!(settings.target, Some(TargetAddress::Server { .. })) {
        return Err(Failure::usage("a server knows itself where it is found")
            .hint("`cms serve --public-url URL` tells it"));
    }
    let request = OpenApiRequest {
        version: match args.version {
            VersionChoice::V30 => OpenApiVersion::V30,
            VersionChoice::V31 => OpenApiVersion::V31,
            VersionChoice::V2 => OpenApiVersion::V2,
        },
        hydrate: args.hydrate,
        user_only: args.user_only,
        base_url: args.public_url.unwrap_or_else(|| LOCAL_URL.to_owned()),
    };
    let document = open_to_read(settings)?.openapi(&request)?;
    let text = format!("{document:#}\n");
    match &args.file {
        Some(file) => {
            fs::write(file, text).map_err(|error| Failure::unwritable(file, error))?;
            printer.note(&format!("the description is in {file}"))?;
        }
        None => printer.text(&text)?,
    }
    Ok(Outcome::Done)
}
