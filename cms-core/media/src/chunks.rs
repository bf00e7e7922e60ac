//! Reads a large file in chunks. Knows no storage: the caller fetches each chunk.

use std::{
    io::{self, Read},
    ops::Range,
};

use bytes::{Buf, Bytes};

/// A reader of a file, of which one chunk is in memory.
pub struct ChunkReader<F> {
    rest: Range<u64>,
    chunk_bytes: u64,
    chunk: Bytes,
    fetch: F,
}

impl<F: FnMut(Range<u64>) -> io::Result<Bytes>> ChunkReader<F> {
    /// `fetch` returns the bytes of a range, and is called for one range after the other.
    pub fn new(size: u64, chunk_bytes: u64, fetch: F) -> Self {
        Self { rest: 0..size, chunk_bytes, chunk: Bytes::new(), fetch }
    }
}

impl<F: FnMut(Range<u64>) -> io::Result<Bytes>> Read for ChunkReader<F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.chunk.is_empty() && !buffer.is_empty() && !self.rest.is_empty() {
            let end = self.rest.end.min(self.rest.start + self.chunk_bytes);
            self.chunk = (self.fetch)(self.rest.start..end)?;
            self.rest.start = end;
        }
        (&mut self.chunk).reader().read(buffer)
    }
}
