//! Line numbers by byte offset, counted while the CSV reader reads.
//!
//! The line numbers of the CSV reader are wrong in files with CRLF, and for rows after empty lines.

use std::{
    cell::RefCell,
    collections::VecDeque,
    io::{self, Read},
    rc::Rc,
};

/// The lines of a text that were read so far.
#[derive(Clone, Default)]
pub(super) struct Lines(Rc<RefCell<Breaks>>);

#[derive(Default)]
struct Breaks {
    /// Consecutive line breaks after the last requested row.
    runs: VecDeque<Run>,
    /// Bytes read so far.
    read: u64,
    /// Line breaks in them; CRLF is one.
    lines: u64,
    ends_in_return: bool,
    /// Line breaks before the last requested row.
    passed: u64,
}

/// Consecutive line breaks.
struct Run {
    start: u64,
    end: u64,
    /// Line breaks before its end.
    lines: u64,
}

/// A reader whose line breaks are counted.
pub(super) struct CountingReader<R> {
    reader: R,
    lines: Lines,
}

impl Lines {
    pub(super) fn count<R: Read>(reader: R) -> (CountingReader<R>, Self) {
        let lines = Self::default();
        (CountingReader { reader, lines: lines.clone() }, lines)
    }

    /// Returns the line of the first byte at or after an offset that is no line break. Offsets must
    /// not decrease from call to call.
    pub(super) fn at(&self, offset: u64) -> u64 {
        let breaks = &mut *self.0.borrow_mut();
        while let Some(run) = breaks.runs.front().filter(|run| run.start <= offset) {
            breaks.passed = run.lines;
            breaks.runs.pop_front();
        }
        breaks.passed + 1
    }
}

impl Breaks {
    fn take(&mut self, bytes: &[u8]) {
        for byte in bytes {
            let at = self.read;
            self.read += 1;
            if matches!(byte, b'\r' | b'\n') {
                // The line feed of CRLF belongs to the line break before it.
                self.lines += u64::from(*byte == b'\r' || !self.ends_in_return);
                match self.runs.back_mut().filter(|run| run.end == at) {
                    Some(run) => (run.end, run.lines) = (at + 1, self.lines),
                    None => self.runs.push_back(Run { start: at, end: at + 1, lines: self.lines }),
                }
            }
            self.ends_in_return = *byte == b'\r';
        }
    }
}

impl<R: Read> Read for CountingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.lines.0.borrow_mut().take(&buffer[..read]);
        Ok(read)
    }
}
