//! Line numbers by byte offset, and whether the last quote is closed, found while the CSV reader reads.
//!
//! The line numbers of the CSV reader are wrong in files with CRLF, and for rows after empty lines. The
//! CSV reader accepts a quote that is not closed: all rows below become one cell.

use std::{
    cell::RefCell,
    collections::VecDeque,
    io::{self, Read},
    mem,
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
    /// Line breaks in these bytes; CRLF is one.
    lines: u64,
    ends_in_return: bool,
    /// Line breaks before the last requested row.
    passed: u64,
    quotes: Quotes,
    is_at_end: bool,
}

/// Where in a cell the last byte read so far is, by the rules of the CSV reader.
#[derive(Default, PartialEq, Eq)]
enum Quotes {
    /// At the start of a cell: only here a quote begins a quoted cell.
    #[default]
    Start,
    Plain,
    Quoted,
    /// After a quote in a quoted cell, which closes it unless another one follows.
    Closing,
}

impl Quotes {
    fn after(self, byte: u8) -> Self {
        match (self, byte) {
            (Self::Quoted, b'"') => Self::Closing,
            (Self::Quoted, _) | (Self::Start | Self::Closing, b'"') => Self::Quoted,
            (_, b',' | b'\r' | b'\n') => Self::Start,
            _ => Self::Plain,
        }
    }
}

/// Consecutive line breaks.
struct Run {
    start: u64,
    end: u64,
    /// Line breaks from the start of the text to the end of this run.
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

    /// Skips line breaks at an offset, and returns the line of the byte after them. Offsets must not
    /// decrease from call to call.
    pub(super) fn at(&self, offset: u64) -> u64 {
        let breaks = &mut *self.0.borrow_mut();
        while let Some(run) = breaks.runs.front().filter(|run| run.start <= offset) {
            breaks.passed = run.lines;
            breaks.runs.pop_front();
        }
        breaks.passed + 1
    }

    /// Returns whether the text ended within quotes: then the last row did not end.
    pub(super) fn end_in_quotes(&self) -> bool {
        let breaks = self.0.borrow();
        breaks.is_at_end && breaks.quotes == Quotes::Quoted
    }
}

impl Breaks {
    fn take(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.quotes = mem::take(&mut self.quotes).after(*byte);
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
        let mut breaks = self.lines.0.borrow_mut();
        breaks.take(&buffer[..read]);
        breaks.is_at_end |= read == 0 && !buffer.is_empty();
        Ok(read)
    }
}
