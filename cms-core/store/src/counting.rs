//! Counts the statements of a thread, for tests of the cost of a read.

use std::cell::Cell;

thread_local!(static STATEMENTS: Cell<usize> = const { Cell::new(0) });

pub(super) fn count() {
    STATEMENTS.set(STATEMENTS.get() + 1);
}

/// Returns the number of statements that this thread has run.
pub fn statements() -> usize {
    STATEMENTS.get()
}
