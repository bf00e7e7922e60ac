//! What a check of a data folder finds.

use serde::{Deserialize, Serialize};

/// `POST /api/v1/internal/check`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckRequest {
    /// Mends what can be mended without losing content.
    #[serde(default)]
    pub repair: bool,
    /// Reads all stored files and compares their digests with those of the uploads.
    #[serde(default)]
    pub digests: bool,
}

/// What was found, before anything was mended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckReport {
    pub media: MediaCheck,
    /// What does not fit together in the database and the search index.
    #[serde(default)]
    pub findings: Vec<Finding>,
    /// How many more there are than are told.
    #[serde(default)]
    pub more: u64,
}

/// Where something does not fit together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CheckArea {
    /// The file of the database, and what refers to rows that are not there.
    Database,
    /// The text of objects.
    Objects,
    /// How many objects a type has.
    Counters,
    /// The public view of Draft & Public types.
    Published,
    Versions,
    /// What indexed properties hold.
    Slots,
    /// Who links to whom.
    Links,
    /// Unique properties.
    Unique,
    /// The search index.
    Index,
    /// Stored files against what was uploaded.
    Files,
}

/// One thing that does not fit together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    pub part: CheckArea,
    /// A type, or an object as `type/id`; empty when it concerns everything.
    pub place: String,
    pub message: String,
    /// It concerns only what follows from content, and can be made again.
    pub derived: bool,
    /// It was made again.
    pub repaired: bool,
}

impl CheckArea {
    /// As it is spelt on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Database => "database",
            Self::Objects => "objects",
            Self::Counters => "counters",
            Self::Published => "published",
            Self::Versions => "versions",
            Self::Slots => "slots",
            Self::Links => "links",
            Self::Unique => "unique",
            Self::Index => "index",
            Self::Files => "files",
        }
    }
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
    /// Files of which an earlier version recorded neither size nor digest at the upload.
    #[serde(default)]
    pub unrecorded: u64,
    /// How many of these were recorded by this check.
    #[serde(default)]
    pub recorded: u64,
}

impl CheckReport {
    /// Tells whether everything is as it should be, or was mended.
    pub fn is_sound(&self) -> bool {
        let files = self.media.orphaned.len() as u64 == self.media.removed;
        let content = self.more == 0 && self.findings.iter().all(|finding| finding.repaired);
        self.media.missing.is_empty() && files && content
    }
}
