//! `cms openapi`: prints the OpenAPI document.

use std::fs;

use cms_core::wire::openapi::{OpenApiRequest, OpenApiVersion};

use super::open_to_read;
use crate::{
    cli::{OpenapiArgs, VersionChoice},
    failure::{Failure, Outcome, Result},
    printer::Printer,
    settings::{Settings, TargetAddress},
};

/// The server URL in the document of a data directory.
const DEFAULT_URL: &str = "http://127.0.0.1:8080";

/// The document is deterministic and indented, so that files can be compared by line.
pub(super) fn run(
    args: OpenapiArgs,
    settings: &Settings,
    printer: &mut Printer,
) -> Result<Outcome> {
    if args.public_url.is_some() && matches!(settings.target, Some(TargetAddress::Server { .. })) {
        return Err(Failure::usage("--public-url works on a data directory only")
            .hint("set the URL of a server with `cms serve --public-url URL`"));
    }
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
        base_url: args.public_url.unwrap_or_else(|| DEFAULT_URL.to_owned()),
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
