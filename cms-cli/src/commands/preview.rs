//! `cms preview`: creates a preview token and prints the preview URL of an object.

use cms_core::wire::{object::ObjectRequest, preview::PreviewRequest};
use serde_json::json;

use super::{open_to_write, would};
use crate::{
    cli::PreviewArgs,
    failure::{Failure, Outcome, Result},
    printer::Printer,
    settings::{Settings, TargetAddress},
};

/// The server URL for a data directory.
const DEFAULT_URL: &str = "http://127.0.0.1:8080";

pub(super) fn run(
    args: PreviewArgs,
    settings: &Settings,
    printer: &mut Printer,
) -> Result<Outcome> {
    if args.public_url.is_some() && matches!(settings.target, Some(TargetAddress::Server { .. })) {
        return Err(Failure::usage("--public-url works on a data directory only")
            .hint("set the URL of a server with `cms serve --public-url URL`"));
    }
    let request = PreviewRequest { content_type: args.r#type, id: args.id };
    let target = open_to_write(settings, printer, args.dry_run.dry_run)?;
    // Fails with "not found" for an unknown type or object.
    target.object(&request.content_type, &request.id, &ObjectRequest::default())?;
    if args.dry_run.dry_run {
        let PreviewRequest { content_type, id } = request;
        return would(printer, &format!("create a preview token for {content_type}/{id}"));
    }
    let base_url = args.public_url.as_deref().unwrap_or(DEFAULT_URL);
    let preview = target.preview(&request, base_url)?;
    printer.value(&json!(preview), || {
        format!("{}\n", preview.url.as_ref().unwrap_or(&preview.token))
    })?;
    Ok(Outcome::Done)
}
