//! Size and SHA-256 of stored files, recorded at upload.
//!
//! A row is written with the media object, or by an upload that creates none, and removed just
//! before the file. In a bucket, an upload under an id that the client chose also writes the row, before
//! it sends the file. A crash in between may leave a row without a file; a later upload with the same id
//! replaces it.

use std::ops::Range;

use cms_model::{
    clock::Timestamp,
    error::Result,
    media::{fingerprint::Fingerprint, id::FileId},
};
use rusqlite::params;

use super::{Reader, WriteTransaction};

/// A media object, live or in the trash, and the record of its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MediaFile {
    /// Id of the object. An id that is not a [`FileId`] has no file.
    pub id: String,
    /// None for a file received by an earlier version.
    pub recorded: Option<Fingerprint>,
    /// Property `size` of the object, which users may edit.
    pub declared_size: Option<u64>,
    pub is_in_trash: bool,
}

impl Reader<'_> {
    /// Returns the record of a file.
    pub fn stored_file(&self, id: &FileId) -> Result<Option<Fingerprint>> {
        self.query_optional(
            "SELECT size, sha256 FROM stored_file WHERE id = ?1",
            [id.to_string()],
            |row| Ok(Fingerprint { size: row.get(0)?, sha256: row.get(1)? }),
        )
    }

    /// Returns objects of the type of this name with ids greater than `last`, ordered by id. Includes
    /// objects in the trash.
    pub fn media_files_after(
        &self,
        type_name: &str,
        last: &str,
        limit: u32,
    ) -> Result<Vec<MediaFile>> {
        self.query_rows(
            "SELECT o.id, f.size, f.sha256,
                    json_extract(iif(json_valid(o.data), o.data, '{}'), '$.size'), 0
             FROM object o LEFT JOIN stored_file f ON f.id = lower(o.id)
             WHERE o.ctd = (SELECT pk FROM ctd WHERE name = ?1) AND o.id > ?2
             UNION ALL
             SELECT t.id, f.size, f.sha256, NULL, 1
             FROM trash t LEFT JOIN stored_file f ON f.id = lower(t.id)
             WHERE t.ctd = (SELECT pk FROM ctd WHERE name = ?1) AND t.id > ?2
               AND NOT EXISTS (SELECT 1 FROM object o WHERE o.ctd = t.ctd AND o.id = t.id)
             GROUP BY t.id
             ORDER BY 1 LIMIT ?3",
            params![type_name, last, limit],
            |row| {
                let (size, sha256): (Option<u64>, Option<[u8; 32]>) = (row.get(1)?, row.get(2)?);
                let recorded = size.zip(sha256).map(|(size, sha256)| Fingerprint { size, sha256 });
                // The property may have any value.
                Ok(MediaFile {
                    id: row.get(0)?,
                    recorded,
                    declared_size: row.get(3).ok(),
                    is_in_trash: row.get(4)?,
                })
            },
        )
    }
}

impl WriteTransaction<'_> {
    /// Records the upload of an id.
    pub fn record_file(
        &self,
        id: &FileId,
        Fingerprint { size, sha256 }: &Fingerprint,
        at: Timestamp,
    ) -> Result<()> {
        self.execute(
            "INSERT INTO stored_file (id, size, sha256, stored_at) VALUES (?1, ?2, ?3, ?4)
             ON CONFLICT (id) DO UPDATE SET
                 size = excluded.size, sha256 = excluded.sha256, stored_at = excluded.stored_at",
            params![id.to_string(), size, sha256, at.0],
        )
    }

    /// Records an upload whose file is sent next. Returns false, without a change, if an upload of other
    /// content was recorded within a period: that upload may still be sending its file.
    pub fn reserve_file(
        &self,
        id: &FileId,
        fingerprint: &Fingerprint,
        at: Timestamp,
        recent: Range<Timestamp>,
    ) -> Result<bool> {
        let is_free = self.stored_file(id)?.as_ref() == Some(fingerprint)
            || self.remove_file_record_unless_recent(id, recent)?;
        if is_free {
            self.record_file(id, fingerprint, at)?;
        }
        Ok(is_free)
    }

    /// Removes the record of a file, unless it was recorded within the period `recent`. Returns whether the file has no
    /// record now: also true if it had none.
    pub fn remove_file_record_unless_recent(
        &self,
        id: &FileId,
        recent: Range<Timestamp>,
    ) -> Result<bool> {
        let id = id.to_string();
        self.execute(
            "DELETE FROM stored_file WHERE id = ?1 AND NOT (stored_at > ?2 AND stored_at < ?3)",
            params![id, recent.start.0, recent.end.0],
        )?;
        self.query_value("SELECT NOT EXISTS (SELECT 1 FROM stored_file WHERE id = ?1)", [id])
    }
}
