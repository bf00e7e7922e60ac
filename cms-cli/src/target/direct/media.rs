//! Stored files of a data directory, read in chunks.

use std::io::{self, Cursor, Read};

use cms_core::{Cms, Error, Image, ImageBody, Result, wire::media::ImageRequest};

const CHUNK_BYTES: u64 = 1024 * 1024;

/// A stored file that is being read.
pub(super) struct StoredFile<'c> {
    cms: &'c Cms,
    image: Image,
    size: u64,
    /// Bytes read from storage so far.
    fetched: u64,
    chunk: Cursor<Vec<u8>>,
}

impl<'c> StoredFile<'c> {
    pub(super) fn open(cms: &'c Cms, id: &str, extension: &str) -> Result<Self> {
        let name = format!("{id}.{extension}");
        let request = ImageRequest { path: &["0x0", &name], ..ImageRequest::default() };
        let image = cms.media().find(&request)?;
        let ImageBody::Original { size } = cms.media().image_body(&image)? else {
            return Err(Error::internal("the original file was requested"));
        };
        Ok(Self { cms, image, size, fetched: 0, chunk: Cursor::default() })
    }
}

impl Read for StoredFile<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.chunk.read(buffer)?;
        if read > 0 || buffer.is_empty() || self.fetched >= self.size {
            return Ok(read);
        }
        let end = self.size.min(self.fetched + CHUNK_BYTES);
        let chunk =
            self.cms.media().read(&self.image, self.fetched..end).map_err(io::Error::other)?;
        self.fetched = end;
        self.chunk = Cursor::new(chunk.to_vec());
        self.chunk.read(buffer)
    }
}
