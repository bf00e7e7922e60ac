//! The change feed, as far as `--watch` needs it.

use cms_core::Result;
use serde::Deserialize;

use super::{
    http::{Remote, SERVER},
    path::{CHANGES, segment},
};

/// Maximum number of changes in one response. If there are more, it is cheaper to read the types.
const MAX_CHANGES: u32 = 100;

#[derive(Deserialize)]
struct Changes {
    data: Vec<Change>,
    /// The position after these changes.
    next: String,
    #[serde(default)]
    more: bool,
}

#[derive(Deserialize)]
struct Change {
    action: String,
}

impl Remote {
    /// Returns whether types may have changed since the position, and moves the position to the newest
    /// change. Also returns true if the feed cannot be read: an older server has no feed, and positions
    /// expire.
    pub(super) fn has_type_changes(&self, position: &mut Option<String>) -> bool {
        let Some(since) = position.take() else {
            *position = self.changes(CHANGES).map(|newest| newest.next).ok();
            return true;
        };
        let path = format!("{CHANGES}?since={}&limit={MAX_CHANGES}", segment(&since));
        let Ok(changes) = self.changes(&path) else { return true };
        if changes.more {
            *position = self.changes(CHANGES).map(|newest| newest.next).ok();
            return true;
        }
        *position = Some(changes.next);
        changes.data.iter().any(|change| change.action.starts_with("type."))
    }

    fn changes(&self, path: &str) -> Result<Changes> {
        self.get(path, SERVER)
    }
}
