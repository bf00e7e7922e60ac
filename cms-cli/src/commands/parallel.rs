//! Doing the same to many things, several at a time.

use std::{
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc::{RecvTimeoutError, channel},
    },
    thread,
    time::Duration,
};

use crate::failure::{Failure, Result};

/// Things at a time, unless the user says otherwise.
pub(super) const USUAL: usize = 4;

/// How often somebody looks.
const PAUSE: Duration = Duration::from_millis(200);

/// Does a job for each item and looks at something again and again meanwhile. Returns what came out,
/// in the order of the items; none for those that `stop` kept from being done.
///
/// # Errors
/// The first failure, which stops the others.
pub(super) fn each<I: Sync, O: Send>(
    items: &[I],
    threads: usize,
    stop: &AtomicBool,
    job: impl Fn(&I) -> Result<O> + Sync,
    mut look: impl FnMut(),
) -> Result<Vec<Option<O>>> {
    let next = AtomicUsize::new(0);
    let failure: Mutex<Option<Failure>> = Mutex::new(None);
    let work = |tell: &dyn Fn(usize, O)| {
        while !stop.load(Ordering::Relaxed) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(number) else { break };
            match job(item) {
                Ok(out) => tell(number, out),
                // What fails after that fails because it was stopped.
                Err(error) if !stop.swap(true, Ordering::Relaxed) => {
                    *failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
                }
                Err(_) => {}
            }
        }
    };
    let mut results: Vec<Option<O>> = items.iter().map(|_| None).collect();
    thread::scope(|scope| {
        let (tell, heard) = channel();
        for _ in 0..threads.min(items.len()) {
            let (tell, work) = (tell.clone(), &work);
            // Somebody hears it as long as anybody tells.
            scope.spawn(move || work(&|number, out| tell.send((number, out)).unwrap_or_default()));
        }
        drop(tell);
        loop {
            match heard.recv_timeout(PAUSE) {
                Ok((number, out)) => results[number] = Some(out),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            look();
        }
    });
    match failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(failure) => Err(failure),
        None => Ok(results),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_stand_in_the_order_of_the_items() {
        let items: Vec<u64> = (0..100).collect();
        for threads in [1, 3, 200] {
            let stop = AtomicBool::new(false);
            let doubled = each(&items, threads, &stop, |item| Ok(item * 2), || ()).unwrap();
            let doubled: Vec<u64> = doubled.into_iter().map(Option::unwrap).collect();
            assert_eq!(doubled, items.iter().map(|item| item * 2).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_failure_stops_the_others_and_comes_first() {
        let items: Vec<u32> = (0..1000).collect();
        let stop = AtomicBool::new(false);
        let job = |item: &u32| match item {
            ..10 => Ok(()),
            _ if stop.load(Ordering::Relaxed) => Err(Failure::local("stopped")),
            _ => Err(Failure::usage("broken")),
        };
        assert_eq!(each(&items, 4, &stop, job, || ()).unwrap_err().exit_code(), 2);
    }

    #[test]
    fn what_is_stopped_is_told_apart() {
        let stop = AtomicBool::new(false);
        let job = |item: &u32| {
            stop.store(*item == 2, Ordering::Relaxed);
            Ok(*item)
        };
        let results = each(&[1, 2, 3, 4], 1, &stop, job, || ()).unwrap();
        assert_eq!(results, [Some(1), Some(2), None, None]);
    }
}
