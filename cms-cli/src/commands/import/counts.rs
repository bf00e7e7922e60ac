//! How many objects and files came in, and how many did not. Each is counted once.

use serde::Serialize;

/// What became of the objects.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) created: u64,
    pub(super) updated: u64,
    pub(super) unchanged: u64,
    pub(super) refused: u64,
    /// Objects that were brought into their status or workflow state.
    pub(super) statuses: u64,
    pub(super) files: FileCounts,
    pub(super) interrupted: bool,
}

/// What became of the files of media objects.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FileCounts {
    pub(super) stored: u64,
    /// They were there before.
    pub(super) unchanged: u64,
    pub(super) refused: u64,
    /// Media objects of which the folder holds no file.
    pub(super) missing: u64,
    /// Files of which the folder holds no media object.
    pub(super) without_object: u64,
}

impl FileCounts {
    pub(super) fn sentence(&self) -> Option<String> {
        let Self { stored, unchanged, refused, .. } = self;
        let sentence = format!("files: stored {stored}, unchanged {unchanged}, refused {refused}");
        (stored + unchanged + refused > 0).then_some(sentence)
    }
}

/// As what an object that is there was counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counted {
    Created,
    Updated,
    Unchanged,
}

impl Counts {
    pub(super) fn add(&mut self, counted: Counted) {
        *self.of(counted) += 1;
    }

    /// Takes an object out that is refused after all.
    pub(super) fn take_back(&mut self, counted: Counted) {
        *self.of(counted) -= 1;
    }

    fn of(&mut self, counted: Counted) -> &mut u64 {
        match counted {
            Counted::Created => &mut self.created,
            Counted::Updated => &mut self.updated,
            Counted::Unchanged => &mut self.unchanged,
        }
    }

    pub(super) fn sentence(&self) -> String {
        let Self { created, updated, unchanged, refused, statuses, .. } = self;
        let statuses = match statuses {
            0 => String::new(),
            _ => format!(", statuses set {statuses}"),
        };
        format!(
            "created {created}, updated {updated}, unchanged {unchanged}, refused {refused}{statuses}"
        )
    }
}
