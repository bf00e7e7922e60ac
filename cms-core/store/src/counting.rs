//! How many statements a thread has run: for tests of what a read costs.

use std::cell::Cell;

thread_local!(static STATEMENTS: Cell<usize> = const { Cell::new(0) });

pub(super) fn count() {
    STATEMENTS.set(STATEMENTS.get() + 1);
}

/// Returns how many statements this thread has run.
pub fn statements() -> usize {
    STATEMENTS.get()
}
