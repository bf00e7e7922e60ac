//! Stored files of an open folder, read piece by piece.

use std::io::{self, Cursor, Read};

use cms_core::{Cms, Error, Image, Picture, Result, wire::media::ImageRequest};

/// Bytes that are fetched at once.
const PIECE: u64 = 1024 * 1024;

/// A stored file that is being read.
pub(super) struct StoredFile<'c> {
    cms: &'c Cms,
    image: Image,
    size: u64,
    /// How many bytes were fetched.
    fetched: u64,
    piece: Cursor<Vec<u8>>,
}

impl<'c> StoredFile<'c> {
    pub(super) fn open(cms: &'c Cms, id: &str, extension: &str) -> Result<Self> {
        let name = format!("{id}.{extension}");
        let request = ImageRequest { path: &["0x0", &name], ..ImageRequest::default() };
        let image = cms.media().find(&request)?;
        let Picture::Original { size } = cms.media().picture(&image)? else {
            return Err(Error::internal("nothing was asked to be rendered"));
        };
        Ok(Self { cms, image, size, fetched: 0, piece: Cursor::default() })
    }
}

impl Read for StoredFile<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.piece.read(buffer)?;
        if read > 0 || buffer.is_empty() || self.fetched >= self.size {
            return Ok(read);
        }
        let end = self.size.min(self.fetched + PIECE);
        let piece =
            self.cms.media().read(&self.image, self.fetched..end).map_err(io::Error::other)?;
        self.fetched = end;
        self.piece = Cursor::new(piece.to_vec());
        self.piece.read(buffer)
    }
}
