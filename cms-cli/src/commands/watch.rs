//! Showing how far a change of content types is, while it rewrites objects.

use std::{
    sync::mpsc::{RecvTimeoutError, channel},
    thread,
    time::Duration,
};

use crate::{printer::Printer, target::Target};

/// How often somebody looks.
const PAUSE: Duration = Duration::from_millis(200);

/// Runs a job on a target, and shows meanwhile how many objects it has rewritten, where the
/// target can tell.
pub(super) fn watched<T>(target: &dyn Target, printer: &Printer, job: impl FnOnce() -> T) -> T {
    let Some(rewriting) = target.rewriting() else { return job() };
    let mut progress = printer.progress("objects rewritten", 0);
    thread::scope(|scope| {
        let (ends, ended) = channel::<()>();
        scope.spawn(move || {
            while ended.recv_timeout(PAUSE) == Err(RecvTimeoutError::Timeout) {
                if let Some((done, total)) = rewriting() {
                    progress.set(done, total);
                }
            }
        });
        let result = job();
        drop(ends);
        result
    })
}
