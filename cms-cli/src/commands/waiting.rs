//! Progress while a target works.

use std::{
    sync::mpsc::{RecvTimeoutError, channel},
    thread,
    time::Duration,
};

use crate::{printer::Printer, target::Target};

/// Time between two updates.
const UPDATE_INTERVAL: Duration = Duration::from_millis(200);

/// Runs a function and shows the number of objects that the target has rewritten, or the elapsed
/// time where that is unknown.
pub(super) fn with_rewrite_progress<T>(
    target: &dyn Target,
    printer: &Printer,
    work: impl FnOnce() -> T,
) -> T {
    let Some(rewritten) = target.rewrite_progress() else {
        return with_spinner("waiting for the server", printer, work);
    };
    let mut progress = printer.progress("objects rewritten", 0);
    let update = move || {
        if let Some((done, total)) = rewritten() {
            progress.set(done, total);
        }
    };
    with_updates(update, work)
}

/// Runs a function and shows the elapsed time.
pub(super) fn with_spinner<T>(label: &str, printer: &Printer, work: impl FnOnce() -> T) -> T {
    let mut progress = printer.spinner(label);
    with_updates(move || progress.tick(), work)
}

/// Runs a function and calls `update` regularly until it ends.
fn with_updates<T>(mut update: impl FnMut() + Send, work: impl FnOnce() -> T) -> T {
    thread::scope(|scope| {
        let (running, ended) = channel::<()>();
        scope.spawn(move || {
            while ended.recv_timeout(UPDATE_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                update();
            }
        });
        let result = work();
        drop(running);
        result
    })
}
