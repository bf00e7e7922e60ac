//! Size and SHA-256 of stored files, as they were uploaded.
//!
//! A row is written with the media object, or by an upload that makes none, and removed just before
//! the file is. A crash in between may leave a row without a file; an upload under its id replaces it.

use cms_model::{
    clock::Timestamp,
    error::Result,
    media::{fingerprint::Fingerprint, id::FileId},
};
use rusqlite::{OptionalExtension, params};

use super::{Reader, Writer, error::map};

/// A media object, and what is known of its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MediaFile {
    /// Id of the object. Those that are no [`FileId`] have no file.
    pub id: String,
    /// None for a file that an earlier version received.
    pub recorded: Option<Fingerprint>,
    /// Property `size` of the object, which people may edit.
    pub declared_size: Option<u64>,
}

impl Reader<'_> {
    /// Returns what was recorded of a file when it was uploaded.
    pub fn stored_file(&self, id: &FileId) -> Result<Option<Fingerprint>> {
        self.statement("SELECT size, sha256 FROM stored_file WHERE id = ?1")?
            .query_row([id.to_string()], |row| {
                Ok(Fingerprint { size: row.get(0)?, sha256: row.get(1)? })
            })
            .optional()
            .map_err(map)
    }

    /// Returns objects of a type that is given by its name, in the order of ids after `last`.
    pub fn media_files_after(
        &self,
        type_name: &str,
        last: &str,
        limit: u32,
    ) -> Result<Vec<MediaFile>> {
        let mut statement = self.statement(
            "SELECT o.id, f.size, f.sha256,
                    json_extract(iif(json_valid(o.data), o.data, '{}'), '$.size')
             FROM object o LEFT JOIN stored_file f ON f.id = lower(o.id)
             WHERE o.ctd = (SELECT pk FROM ctd WHERE name = ?1) AND o.id > ?2
             ORDER BY o.id LIMIT ?3",
        )?;
        let files = statement.query_map(params![type_name, last, limit], |row| {
            let (size, sha256): (Option<u64>, Option<[u8; 32]>) = (row.get(1)?, row.get(2)?);
            let recorded = size.zip(sha256).map(|(size, sha256)| Fingerprint { size, sha256 });
            // Anything may stand in an object.
            Ok(MediaFile { id: row.get(0)?, recorded, declared_size: row.get(3).ok() })
        });
        files.map_err(map)?.map(|file| file.map_err(map)).collect()
    }
}

impl Writer<'_> {
    /// Records what was uploaded under an id.
    pub fn record_file(
        &self,
        id: &FileId,
        Fingerprint { size, sha256 }: &Fingerprint,
        at: Timestamp,
    ) -> Result<()> {
        self.statement(
            "INSERT OR REPLACE INTO stored_file (id, size, sha256, stored_at) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute(params![id.to_string(), size, sha256, at.0])
        .map_err(map)?;
        Ok(())
    }

    /// Removes what was recorded of files that are removed.
    pub fn remove_file_records(&self, ids: &[FileId]) -> Result<()> {
        let mut statement = self.statement("DELETE FROM stored_file WHERE id = ?1")?;
        for id in ids {
            statement.execute([id.to_string()]).map_err(map)?;
        }
        Ok(())
    }
}
