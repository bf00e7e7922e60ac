//! The report of an integrity check of a data directory.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    error::{FieldErrors, Result},
    read,
};

/// `POST /api/v1/internal/check`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckRequest {
    /// Repair what can be repaired without losing content.
    #[serde(default)]
    pub repair: bool,
    /// Read all stored files and compare their digests with those at the upload.
    #[serde(default)]
    pub digests: bool,
}

impl CheckRequest {
    /// Parses a payload; other members are ignored.
    ///
    /// # Errors
    /// [`crate::error::Error::Invalid`] for values of another type.
    pub fn from_payload(payload: &Map<String, Value>) -> Result<Self> {
        let mut errors = FieldErrors::default();
        let mut flag =
            |key: &str| read::optional::<bool>(payload, key, "", &mut errors).unwrap_or_default();
        let request = Self { repair: flag("repair"), digests: flag("digests") };
        errors.into_result()?;
        Ok(request)
    }
}

/// The findings, before repairs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckReport {
    pub media: MediaCheck,
    /// Inconsistencies in the database and the search index.
    #[serde(default)]
    pub findings: Vec<Finding>,
    /// Number of findings beyond those in the list.
    #[serde(default)]
    pub more: u64,
}

crate::named_enum! {
    /// The area of a finding.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum CheckArea {
        /// The database file, and references to missing rows.
        Database => "database",
        /// The stored text of objects.
        Objects => "objects",
        /// Numbers of objects per type.
        Counters => "counters",
        /// The public view of Draft & Public types.
        Published => "published",
        Versions => "versions",
        /// Values of indexed properties.
        Slots => "slots",
        /// Links between objects.
        Links => "links",
        /// Unique properties.
        Unique => "unique",
        /// The search index.
        Index => "index",
        /// Stored files.
        Files => "files",
    }
}

/// One inconsistency.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    pub part: CheckArea,
    /// A type, or an object as `type/id`; empty when the finding concerns all data.
    pub place: String,
    pub message: String,
    /// The finding concerns only derived data, which can be rebuilt from the content.
    pub derived: bool,
    pub repaired: bool,
}

/// Consistency of stored files and media objects.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MediaCheck {
    /// Number of stored files.
    pub files: u64,
    /// Media objects whose file is missing.
    pub missing: Vec<String>,
    /// Number of files that have been recorded as orphaned for less than a day: a media object may
    /// still be created.
    pub waiting: u64,
    /// Files that have been recorded as orphaned for a day.
    pub orphaned: Vec<String>,
    /// Number of removed orphaned files.
    pub removed: u64,
    /// Number of files without a recorded size and digest, which an earlier version did not store.
    #[serde(default)]
    pub unrecorded: u64,
    /// Number of these that this check recorded.
    #[serde(default)]
    pub recorded: u64,
}

impl CheckReport {
    /// Returns whether there are no inconsistencies, or all are repaired.
    pub fn is_sound(&self) -> bool {
        let files = self.media.orphaned.len() as u64 == self.media.removed;
        let content = self.more == 0 && self.findings.iter().all(|finding| finding.repaired);
        self.media.missing.is_empty() && files && content
    }
}
