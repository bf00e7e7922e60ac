//! How many objects came in, and how many did not. Every object is counted once.

/// What became of the objects.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) created: u64,
    pub(super) updated: u64,
    pub(super) unchanged: u64,
    pub(super) refused: u64,
    /// Objects that were brought into their status or workflow state.
    pub(super) statuses: u64,
    pub(super) interrupted: bool,
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
