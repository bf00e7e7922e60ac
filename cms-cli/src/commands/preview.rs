//! `cms preview`: creates a preview token and prints the preview URL of an object.

use cms_core::wire::{object::ObjectRequest, preview::PreviewRequest};
use serde_json::json;

use super::{open_to_write, print_dry_run, public_url};
use crate::{
    cli::PreviewArgs,
    failure::{Outcome, Result},
    printer::Printer,
    settings::Settings,
};

pub(super) fn run(args: PreviewArgs, settings: &Settings, printer: &Printer) -> Result<Outcome> {
    let base_url = public_url(args.public_url, settings)?;
    let request = PreviewRequest { content_type: args.r#type, id: args.id };
    let target = open_to_write(settings, printer, args.dry_run.dry_run)?;
    // Fails with "not found" for an unknown type or object.
    target.object(&request.content_type, &request.id, &ObjectRequest::default())?;
    if args.dry_run.dry_run {
        let PreviewRequest { content_type, id } = request;
        return print_dry_run(printer, &format!("create a preview token for {content_type}/{id}"));
    }
    let preview = target.preview(&request, &base_url)?;
    printer.value(&json!(preview), || {
        format!("{}\n", preview.url.as_ref().unwrap_or(&preview.token))
    })?;
    Ok(Outcome::Done)
}
