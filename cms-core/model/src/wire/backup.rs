//! Metadata of a backup.

use serde::{Deserialize, Serialize};

/// The last entry of a backup file. A file without it is truncated.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Backup {
    /// Version of the file format.
    pub format: u32,
    /// Version of the program that wrote the file.
    pub version: String,
    /// Time of the copy of the database.
    pub created_at: String,
    /// Id of the space.
    pub space: String,
    /// Sequence number of the last included change.
    pub journal: i64,
    /// Number of objects of all types that are not deleted.
    pub objects: u64,
    /// Number of stored files.
    pub files: u64,
    /// Total size of the database and the files.
    pub bytes: u64,
    /// Media objects whose file was missing already.
    pub missing: Vec<String>,
    /// SHA-256 of names, sizes and contents of all other entries and of the other fields.
    pub sha256: String,
}

impl Backup {
    /// Returns whether all files were missing, probably because the configured media storage is not the one that holds
    /// the files.
    pub fn has_no_files(&self) -> bool {
        self.files == 0 && !self.missing.is_empty()
    }
}
