//! What a backup says of itself.

use serde::{Deserialize, Serialize};

/// The last entry of a backup file. A file without it is cut off.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Backup {
    /// How the file is laid out.
    pub format: u32,
    /// The version of the program that wrote it.
    pub version: String,
    /// When the copy of the database was made.
    pub created_at: String,
    /// The space that was copied.
    pub space: String,
    /// The last change that is in it.
    pub journal: i64,
    /// Live objects of all types.
    pub objects: u64,
    /// Stored files.
    pub files: u64,
    /// Bytes of the database and of the files.
    pub bytes: u64,
    /// Media objects whose file was lost before.
    pub missing: Vec<String>,
    /// SHA-256 of names, sizes and contents of all entries before this one, and of what it says.
    pub sha256: String,
}
