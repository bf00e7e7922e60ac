//! Where log lines go: a bounded queue, which one thread writes out.
//!
//! A reader of the log that does not read stops nothing: lines that do not fit are dropped and counted,
//! and the log says how many once it goes on. This module knows nothing of what lines say.

use std::{
    io::{self, Write},
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
        mpsc::{self, Receiver, Sender},
    },
    thread,
    time::{Duration, Instant},
};

/// Bytes of lines that may wait.
const QUEUE_BYTES: usize = 1024 * 1024;
/// How often a flush looks whether all is written.
const FLUSH_INTERVAL: Duration = Duration::from_millis(5);

/// The end of the queue that takes lines; each write is one line.
#[derive(Clone, Debug)]
pub struct LogWriter {
    lines: Sender<Vec<u8>>,
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Bytes of lines that are not written yet.
    waiting: AtomicUsize,
    dropped: AtomicU64,
}

impl LogWriter {
    /// Starts a thread that writes lines to an output, and tells `report` how many were dropped since
    /// the last time, once the output takes lines again.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start(
        output: impl Write + Send + 'static,
        report: impl Fn(u64) + Send + 'static,
    ) -> io::Result<Self> {
        let (lines, queue) = mpsc::channel();
        let state = Arc::new(State::default());
        let shared = Arc::clone(&state);
        thread::Builder::new()
            .name("log".to_owned())
            .spawn(move || write_lines(&queue, &shared, output, report))?;
        Ok(Self { lines, state })
    }

    /// How many lines were dropped so far.
    pub fn dropped(&self) -> u64 {
        self.state.dropped.load(Ordering::Relaxed)
    }

    /// Waits until all lines are written, at most so long.
    pub fn flush(&self, timeout: Duration) {
        let start = Instant::now();
        while self.state.waiting.load(Ordering::Relaxed) > 0 && start.elapsed() < timeout {
            thread::sleep(FLUSH_INTERVAL);
        }
    }
}

impl Write for LogWriter {
    /// Queues a line, or drops it: never waits, never fails.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let fits = |waiting: usize| {
            let sum = waiting + line.len();
            (sum <= QUEUE_BYTES).then_some(sum)
        };
        let waiting = &self.state.waiting;
        let is_queued = waiting.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).is_ok()
            && self.lines.send(line.to_vec()).is_ok();
        if !is_queued {
            self.state.dropped.fetch_add(1, Ordering::Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn write_lines(
    lines: &Receiver<Vec<u8>>,
    state: &State,
    mut output: impl Write,
    report: impl Fn(u64),
) {
    let mut reported = 0;
    for line in lines {
        // A log that cannot be written is no reason to fail, and there is nowhere to say so.
        output.write_all(&line).and_then(|()| output.flush()).ok();
        let waiting = state.waiting.fetch_sub(line.len(), Ordering::Relaxed) - line.len();
        let dropped = state.dropped.load(Ordering::Relaxed);
        // The report is a line of the log itself, so there has to be room for it.
        if dropped > reported && waiting < QUEUE_BYTES / 2 {
            report(dropped - reported);
            reported = dropped;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// An output that takes a line whenever the test says so.
    struct Gated(Receiver<()>, Arc<Mutex<usize>>);

    impl Write for Gated {
        fn write(&mut self, line: &[u8]) -> io::Result<usize> {
            self.0.recv().ok();
            *self.1.lock().unwrap() += 1;
            Ok(line.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn log_lines_are_dropped_and_counted_while_the_output_is_stuck() {
        let (open, gate) = mpsc::channel();
        let written = Arc::new(Mutex::new(0));
        let (reports, reported) = mpsc::channel();
        let output = Gated(gate, Arc::clone(&written));
        let mut log = LogWriter::start(output, move |lines| reports.send(lines).unwrap()).unwrap();
        let line = vec![b'x'; QUEUE_BYTES / 100];
        for _ in 0..150 {
            assert_eq!(log.write(&line).unwrap(), line.len());
        }
        assert_eq!(log.dropped(), 50);
        log.flush(Duration::from_millis(1));
        assert_eq!(*written.lock().unwrap(), 0, "a flush waits for no longer than it may");
        // From now on each write is taken at once.
        drop(open);
        assert_eq!(reported.recv().unwrap(), 50);
        log.flush(Duration::from_mins(1));
        assert_eq!(*written.lock().unwrap(), 100);
        log.write_all(&line).unwrap();
        log.flush(Duration::from_mins(1));
        assert_eq!((*written.lock().unwrap(), log.dropped()), (101, 50));
        assert!(reported.try_recv().is_err(), "it is reported once");
    }
}
