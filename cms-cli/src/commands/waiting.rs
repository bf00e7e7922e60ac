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

/// Runs a plan or an apply, and shows the number of objects that it has read; before the first one
/// the elapsed time.
pub(super) fn with_plan_progress<T>(
    printer: &Printer,
    work: impl FnOnce(&Arc<Progress>) -> T,
) -> T {
    let progress = Arc::<Progress>::default();
    let shown = Arc::clone(&progress);
    let mut waiting = Some(printer.spinner("waiting"));
    let mut bars: Option<(String, printer::Progress)> = None;
    let update = move || match shown.get() {
        Some(PlanProgress { content_type, done, total }) => {
            waiting = None;
            let (_, bar) = match bars.take().filter(|(name, _)| *name == content_type) {
                Some(shown) => bars.insert(shown),
                None => {
                    let bar = printer.progress(&format!("objects of {content_type}"), total);
                    bars.insert((content_type, bar))
                }
            };
            bar.set(done, total);
        }
        None => waiting.iter_mut().for_each(printer::Progress::tick),
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
