//! Showing that something goes on, while a target is at work.

use std::{
    sync::mpsc::{RecvTimeoutError, channel},
    thread,
    time::Duration,
};

use crate::{printer::Printer, target::Target};

/// How often somebody looks.
const PAUSE: Duration = Duration::from_millis(200);

/// Runs a job on a target, and shows meanwhile how many objects it has rewritten, or how long it
/// takes where the target cannot tell.
pub(super) fn watched<T>(target: &dyn Target, printer: &Printer, job: impl FnOnce() -> T) -> T {
    let Some(rewriting) = target.rewriting() else {
        return waited("the server is at work", printer, job);
    };
    let mut progress = printer.progress("objects rewritten", 0);
    let look = move || {
        if let Some((done, total)) = rewriting() {
            progress.set(done, total);
        }
    };
    beside(look, job)
}

/// Runs a job, and shows meanwhile how long it takes.
pub(super) fn waited<T>(label: &str, printer: &Printer, job: impl FnOnce() -> T) -> T {
    let mut progress = printer.waiting(label);
    beside(move || progress.tick(), job)
}

/// Runs a job, and looks at something again and again until it ends.
fn beside<T>(mut look: impl FnMut() + Send, job: impl FnOnce() -> T) -> T {
    thread::scope(|scope| {
        let (ends, ended) = channel::<()>();
        scope.spawn(move || {
            while ended.recv_timeout(PAUSE) == Err(RecvTimeoutError::Timeout) {
                look();
            }
        });
        let result = job();
        drop(ends);
        result
    })
}
