//! Reads a large file in chunks. Knows no storage: the caller fetches each chunk.

use std::{
    io::{self, Read},
    ops::Range,
};

use bytes::{Buf, Bytes};

/// Reads a file, and keeps one chunk of it in memory.
pub struct ChunkReader<F> {
    remaining: Range<u64>,
    chunk_bytes: u64,
    chunk: Bytes,
    fetch: F,
}

impl<F: FnMut(Range<u64>) -> io::Result<Bytes>> ChunkReader<F> {
    /// `fetch` returns the bytes of a range, and is called for one range after the other.
    pub fn new(size: u64, chunk_bytes: u64, fetch: F) -> Self {
        Self { remaining: 0..size, chunk_bytes, chunk: Bytes::new(), fetch }
    }
}

impl<F: FnMut(Range<u64>) -> io::Result<Bytes>> Read for ChunkReader<F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.chunk.is_empty() && !buffer.is_empty() && !self.remaining.is_empty() {
            let end = self.remaining.end.min(self.remaining.start + self.chunk_bytes);
            self.chunk = (self.fetch)(self.remaining.start..end)?;
            self.remaining.start = end;
        }
        (&mut self.chunk).reader().read(buffer)
    }
}
