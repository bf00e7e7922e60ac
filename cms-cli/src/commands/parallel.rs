//! Calls a function for many items on several threads.

use std::{
    sync::{
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc::{RecvTimeoutError, channel},
    },
    thread,
    time::Duration,
};

use parking_lot::Mutex;

use crate::failure::{Failure, Result};

/// Threads, unless the user sets another number.
pub(super) const DEFAULT_THREADS: usize = 4;

/// Time between two updates of the progress.
const UPDATE_INTERVAL: Duration = Duration::from_millis(200);

/// Calls a function for each item, and `update` regularly. Returns the results in the order of the
/// items; none for items that were not started before `stop` was set.
///
/// # Errors
/// The first failure, which stops the other calls.
pub(super) fn map<I: Sync, O: Send>(
    items: &[I],
    threads: usize,
    stop: &AtomicBool,
    call: impl Fn(&I) -> Result<O> + Sync,
    mut update: impl FnMut(),
) -> Result<Vec<Option<O>>> {
    let next = AtomicUsize::new(0);
    let failure: Mutex<Option<Failure>> = Mutex::new(None);
    let work = |send: &dyn Fn(usize, O)| {
        while !stop.load(Ordering::Relaxed) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(number) else { break };
            match call(item) {
                Ok(output) => send(number, output),
                // This ends running calls too: their failures are consequences of it.
                Err(error) if !stop.swap(true, Ordering::Relaxed) => {
                    *failure.lock() = Some(error);
                }
                Err(_) => {}
            }
        }
    };
    let mut results: Vec<Option<O>> = items.iter().map(|_| None).collect();
    thread::scope(|scope| {
        let (sender, receiver) = channel();
        for _ in 0..threads.min(items.len()) {
            let (sender, work) = (sender.clone(), &work);
            // The receiver exists as long as a sender does.
            scope.spawn(move || {
                work(&|number, output| sender.send((number, output)).unwrap_or_default());
            });
        }
        drop(sender);
        loop {
            match receiver.recv_timeout(UPDATE_INTERVAL) {
                Ok((number, output)) => results[number] = Some(output),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            update();
        }
    });
    match failure.into_inner() {
        Some(failure) => Err(failure),
        None => Ok(results),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_have_the_order_of_the_items() {
        let items: Vec<u64> = (0..100).collect();
        for threads in [1, 3, 200] {
            let stop = AtomicBool::new(false);
            let doubled = map(&items, threads, &stop, |item| Ok(item * 2), || ()).unwrap();
            let doubled: Vec<u64> = doubled.into_iter().map(Option::unwrap).collect();
            assert_eq!(doubled, items.iter().map(|item| item * 2).collect::<Vec<_>>());
        }
    }

    #[test]
    fn failure_stops_the_other_calls() {
        let items: Vec<u32> = (0..1000).collect();
        let stop = AtomicBool::new(false);
        let call = |item: &u32| match item {
            ..10 => Ok(()),
            _ if stop.load(Ordering::Relaxed) => Err(Failure::local("stopped")),
            _ => Err(Failure::usage("broken")),
        };
        assert_eq!(map(&items, 4, &stop, call, || ()).unwrap_err().exit_code(), 2);
    }

    #[test]
    fn stopped_items_have_no_result() {
        let stop = AtomicBool::new(false);
        let call = |item: &u32| {
            stop.store(*item == 2, Ordering::Relaxed);
            Ok(*item)
        };
        let results = map(&[1, 2, 3, 4], 1, &stop, call, || ()).unwrap();
        assert_eq!(results, [Some(1), Some(2), None, None]);
    }
}
