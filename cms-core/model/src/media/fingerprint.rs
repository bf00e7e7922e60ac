//! Fingerprints of files, which detect changes of stored files.

use std::io::{self, Write};

use sha2::{Digest, Sha256};

/// Size and SHA-256 of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    /// Bytes.
    pub size: u64,
    pub sha256: [u8; 32],
}

/// Computes the fingerprint of the bytes written to it.
#[derive(Clone, Debug, Default)]
pub struct Fingerprinter {
    size: u64,
    digest: Sha256,
}

impl Fingerprinter {
    pub fn finish(self) -> Fingerprint {
        Fingerprint { size: self.size, sha256: self.digest.finalize().into() }
    }
}

impl Write for Fingerprinter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.digest.update(bytes);
        self.size += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
