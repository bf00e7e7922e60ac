//! `cms open`: opens a page of a server in the browser.

use std::time::Duration;

use cms_core::Error;
use serde_json::json;

use crate::{
    cli::{OpenArgs, PageChoice},
    failure::{Failure, Outcome, Result},
    printer::Printer,
    settings::{Settings, TargetAddress},
    target::Remote,
};

/// The URL of the documentation of this version. Without it, `cms open docs` opens the start page,
/// which says where the documentation is.
const DOCUMENTATION: Option<&str> = option_env!("CMS_DOCS_URL");

const TIMEOUT: Duration = Duration::from_secs(5);

pub(super) fn run(args: &OpenArgs, settings: &Settings, printer: &Printer) -> Result<Outcome> {
    let Some(TargetAddress::Server { url, .. }) = &settings.target else {
        return Err(Failure::usage("`cms open` needs a server, not a data directory")
            .hint("use --server URL, set CMS_SERVER, or `cms serve --open`"));
    };
    // The routes are unauthenticated: no key is sent.
    let server = Remote::new(url, Some(""))?;
    let base = server.base();
    if let Err(reason) = server.readiness(TIMEOUT)? {
        return Err(Error::Unreachable(format!("{base}: {reason}")).into());
    }
    let page = match args.page {
        PageChoice::Admin => format!("{base}/admin"),
        PageChoice::Docs => DOCUMENTATION.map_or_else(|| format!("{base}/"), str::to_owned),
        PageChoice::Api => format!("{base}/docs"),
    };
    open::that_detached(&page).map_err(|error| {
        Failure::local(format!("cannot open a browser: {error}")).hint(format!("open {page}"))
    })?;
    printer.value(&json!({ "url": page }), || format!("{page}\n"))?;
    Ok(Outcome::Done)
}
