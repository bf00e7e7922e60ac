//! How objects are imported.

use std::collections::HashSet;

use super::ImportRecord;

/// The handling of existing objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnConflict {
    /// They are refused.
    #[default]
    Refuse,
    /// They are replaced, unless they are equal.
    Update,
    /// They stay as they are, and deleted ones stay deleted.
    Keep,
}

impl OnConflict {
    /// Returns whether an object is not created because it was deleted before.
    pub fn stays_deleted(self, deleted_ids: &HashSet<String>, id: &str) -> bool {
        self == Self::Keep && deleted_ids.contains(&id.to_lowercase())
    }
}

/// How objects are imported.
#[derive(Clone, Copy, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of its own")]
pub struct ImportOptions<'a> {
    pub on_conflict: OnConflict,
    /// The interrupted import that this one resumes.
    pub resumed: Option<&'a ImportRecord<'a>>,
    /// Store the dates that `internal` contains.
    pub keep_dates: bool,
    pub stop_on_error: bool,
    pub dry_run: bool,
    /// The objects are from an export: restore statuses, published versions and workflow states.
    pub from_export: bool,
}
