//! What a check of a data folder finds.

use serde::{Deserialize, Serialize};

/// `POST /api/v1/internal/check`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckRequest {
    /// Mends what can be mended without losing content.
    #[serde(default)]
    pub repair: bool,
}

/// What was found, before anything was mended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    pub media: MediaCheck,
}

/// How stored files and media objects agree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MediaCheck {
    /// Stored files.
    pub files: u64,
    /// Media objects whose file is not there.
    pub missing: Vec<String>,
    /// Files without a media object that came less than a day ago: one may still be made for them.
    pub waiting: u64,
    /// Files that have had no media object for a day.
    pub orphaned: Vec<String>,
    /// Files that were removed because they are orphaned.
    pub removed: u64,
}

impl Check {
    /// Tells whether everything is as it should be, or was mended.
    pub fn is_sound(&self) -> bool {
        self.media.missing.is_empty() && self.media.orphaned.len() as u64 == self.media.removed
    }
}
