//! What was worked out for a list, kept for the next time that somebody asks the same.
//!
//! It stays true until an object of the type or the type itself changes, and `ctd_state.changes`,
//! read in the same snapshot as the list, tells exactly that. So nothing here can be stale; it can
//! only be missing.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Answers that are kept; past that all are forgotten, which is simple and rare.
const CAPACITY: usize = 2048;
/// Longest question that is worth remembering, in bytes.
const QUESTION_BYTES: usize = 4096;

/// Answers by type and question, each from one state of the type.
pub(crate) struct Remembered<T>(Mutex<Answers<T>>);

struct Answers<T> {
    count: usize,
    by_type: HashMap<i64, HashMap<String, Answer<T>>>,
}

struct Answer<T> {
    changes: i64,
    value: T,
}

impl<T: Clone> Remembered<T> {
    /// Returns what was remembered at the same number of changes.
    pub(crate) fn get(&self, ctd: i64, question: &str, changes: i64) -> Option<T> {
        let answers = self.lock();
        let known = answers.by_type.get(&ctd)?.get(question)?;
        (known.changes == changes).then(|| known.value.clone())
    }

    pub(crate) fn set(&self, ctd: i64, question: String, changes: i64, value: T) {
        if question.len() > QUESTION_BYTES {
            return;
        }
        let mut answers = self.lock();
        if answers.count >= CAPACITY {
            *answers = Answers::default();
        }
        let of_type = answers.by_type.entry(ctd).or_default();
        let is_new = of_type.insert(question, Answer { changes, value }).is_none();
        answers.count += usize::from(is_new);
    }

    fn lock(&self) -> MutexGuard<'_, Answers<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Default for Remembered<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Default for Answers<T> {
    fn default() -> Self {
        Self { count: 0, by_type: HashMap::new() }
    }
}
