//! Line numbers of a text by byte offset, counted while somebody else reads the text.
//!
//! The CSV reader counts a line when it passes the line feed. It ends a row at the carriage return
//! before, so that its numbers are too small in files with CRLF, and it takes the first of several
//! empty lines for the line of the row that follows them.

use std::{
    cell::RefCell,
    collections::VecDeque,
    io::{self, Read},
    rc::Rc,
};

/// The lines of a text as far as it was read.
#[derive(Clone, Default)]
pub(super) struct Lines(Rc<RefCell<Breaks>>);

#[derive(Default)]
struct Breaks {
    /// Line breaks that follow each other without anything in between, where no row was asked for yet.
    runs: VecDeque<Run>,
    /// Bytes that were read.
    read: u64,
    /// Line breaks in them; CRLF is one.
    lines: u64,
    ends_in_return: bool,
    /// Line breaks up to the row that was asked for last.
    passed: u64,
}

/// Line breaks, one right after the other.
struct Run {
    start: u64,
    end: u64,
    /// Line breaks up to its end.
    lines: u64,
}

/// A reader whose line breaks are counted.
pub(super) struct Counted<R> {
    reader: R,
    lines: Lines,
}

impl Lines {
    pub(super) fn count<R: Read>(reader: R) -> (Counted<R>, Self) {
        let lines = Self::default();
        (Counted { reader, lines: lines.clone() }, lines)
    }

    /// Returns the line of the first byte from an offset on that is no line break. Offsets have to
    /// grow from call to call: what lies before is forgotten.
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

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(buffer)?;
        self.lines.0.borrow_mut().take(&buffer[..read]);
        Ok(read)
    }
}
