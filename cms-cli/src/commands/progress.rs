//! Progress while a target works.

use std::{
    sync::{
        Arc,
        mpsc::{RecvTimeoutError, channel},
    },
    thread,
    time::Duration,
};

use cms_core::{Progress, wire::plan::PlanProgress};

use crate::printer::{self, Printer};

/// Time between two updates.
const UPDATE_INTERVAL: Duration = Duration::from_millis(200);

/// Runs a plan or an apply, and shows its progress. Until the first progress report, it shows the
/// elapsed time.
pub(super) fn with_plan_progress<T>(
    printer: &Printer,
    work: impl FnOnce(&Arc<Progress>) -> T,
) -> T {
    let progress = Arc::<Progress>::default();
    let shown = Arc::clone(&progress);
    let mut waiting = Some(printer.spinner("waiting"));
    let mut bar: Option<(String, printer::ProgressDisplay)> = None;
    let update = move || match shown.get() {
        Some(PlanProgress { content_type, phase, done, total }) => {
            waiting = None;
            let label = format!("{} of {content_type}", phase.as_str());
            let shown = bar.take().filter(|(shown, _)| *shown == label);
            let (_, bar) = bar.insert(shown.unwrap_or_else(|| {
                let new = printer.progress(&label, total);
                (label, new)
            }));
            bar.set(done, total);
        }
        None => waiting.iter_mut().for_each(printer::ProgressDisplay::tick),
    };
    with_updates(update, || work(&progress))
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
