//! `cms wait`: waits until a server is ready.

use std::{
    thread,
    time::{Duration, Instant},
};

use cms_core::Error;
use serde_json::json;

use super::progress::with_spinner;
use crate::{
    cli::WaitArgs,
    failure::{Failure, Outcome, Result},
    printer::Printer,
    settings::{Settings, TargetAddress},
    target::Remote,
};

/// Time between two requests.
const POLL_INTERVAL: Duration = Duration::from_millis(500);
/// Longest time for one request.
const MAX_REQUEST_TIMEOUT: Duration = Duration::from_secs(5);
/// Minimum time for one request, even if less of the timeout is left, as with a timeout of zero.
const MIN_REQUEST_TIMEOUT: Duration = Duration::from_secs(1);

pub(super) fn run(args: &WaitArgs, settings: &Settings, printer: &Printer) -> Result<Outcome> {
    let Some(TargetAddress::Server { url, .. }) = &settings.target else {
        return Err(Failure::usage("`cms wait` needs a server, not a data directory")
            .hint("use --server URL, or set CMS_SERVER"));
    };
    // The route is unauthenticated: no key is sent.
    let server = Remote::new(url, Some(""))?;
    with_spinner("wait", printer, || wait(&server, args.timeout))?;
    let value = json!({ "server": url, "status": "ready" });
    printer.value(&value, || format!("{url} is ready\n"))?;
    Ok(Outcome::Done)
}

/// Waits until every part of `/readyz` is ready.
fn wait(server: &Remote, timeout: Duration) -> Result<()> {
    let start = Instant::now();
    loop {
        let left = timeout.saturating_sub(start.elapsed());
        let readiness = server.readiness(left.clamp(MIN_REQUEST_TIMEOUT, MAX_REQUEST_TIMEOUT))?;
        let problem = readiness.map_or_else(Some, |readiness| readiness.problem());
        let Some(reason) = problem else { return Ok(()) };
        let left = timeout.saturating_sub(start.elapsed());
        if left.is_zero() {
            let (url, seconds) = (server.base(), timeout.as_secs());
            let message = format!("{url} is not ready after {seconds} s: {reason}");
            return Err(Error::Unreachable(message).into());
        }
        thread::sleep(POLL_INTERVAL.min(left));
    }
}
