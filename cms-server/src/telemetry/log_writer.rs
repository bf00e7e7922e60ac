//! A bounded queue of log lines, which one thread writes to the output.
//!
//! A slow reader of the log blocks no request: lines that do not fit are dropped and counted, and
//! the log reports their number later.

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

/// Size of the queue.
const QUEUE_BYTES: usize = 1024 * 1024;
/// Poll interval of a flush.
const FLUSH_INTERVAL: Duration = Duration::from_millis(5);

/// The sender of the queue; each write is one line.
#[derive(Clone, Debug)]
pub struct LogWriter {
    lines: Sender<Vec<u8>>,
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Bytes in the queue.
    queued_bytes: AtomicUsize,
    dropped: AtomicU64,
}

impl LogWriter {
    /// Starts a thread that writes lines to an output. It calls `report` with the number of lines
    /// that were dropped since the last report, once the queue has room again.
    ///
    /// # Errors
    /// When the thread cannot be started.
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

    /// Returns the number of dropped lines.
    pub fn dropped(&self) -> u64 {
        self.state.dropped.load(Ordering::Relaxed)
    }

    /// Waits until all lines are written, or the timeout is over.
    pub fn flush(&self, timeout: Duration) {
        let start = Instant::now();
        while self.state.queued_bytes.load(Ordering::Relaxed) > 0 && start.elapsed() < timeout {
            thread::sleep(FLUSH_INTERVAL);
        }
    }
}

impl Write for LogWriter {
    /// Queues a line, or drops it; never waits, never fails.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let fits = |queued: usize| {
            let sum = queued + line.len();
            (sum <= QUEUE_BYTES).then_some(sum)
        };
        let queued = &self.state.queued_bytes;
        let is_queued = queued.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits).is_ok()
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
        // An error of the output is not an error of the server, and cannot be logged.
        output.write_all(&line).and_then(|()| output.flush()).ok();
        let queued = state.queued_bytes.fetch_sub(line.len(), Ordering::Relaxed) - line.len();
        let dropped = state.dropped.load(Ordering::Relaxed);
        // The report is a log line itself, so it needs room.
        if dropped > reported && queued < QUEUE_BYTES / 2 {
            report(dropped - reported);
            reported = dropped;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// An output that accepts a line when the test allows it.
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
    fn log_lines_are_dropped_and_counted_while_the_output_is_blocked() {
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
        assert_eq!(*written.lock().unwrap(), 0, "the flush timed out");
        // From now on the output accepts each write.
        drop(open);
        assert_eq!(reported.recv().unwrap(), 50);
        log.flush(Duration::from_mins(1));
        assert_eq!(*written.lock().unwrap(), 100);
        log.write_all(&line).unwrap();
        log.flush(Duration::from_mins(1));
        assert_eq!((*written.lock().unwrap(), log.dropped()), (101, 50));
        assert!(reported.try_recv().is_err(), "one report");
    }
}
