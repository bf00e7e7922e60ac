//! Showing how far a change of content types is, while it rewrites objects.

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
    let rewriting = target.rewriting();
    let mut progress = match &rewriting {
        Some(_) => printer.progress("objects rewritten", 0),
        None => printer.waiting("the server is at work"),
    };
    thread::scope(|scope| {
        let (ends, ended) = channel::<()>();
        scope.spawn(move || {
            while ended.recv_timeout(PAUSE) == Err(RecvTimeoutError::Timeout) {
                match &rewriting {
                    None => progress.tick(),
                    Some(rewriting) => {
                        if let Some((done, total)) = rewriting() {
                            progress.set(done, total);
                        }
                    }
                }
            }
        });
        let result = job();
        drop(ends);
        result
    })
}
