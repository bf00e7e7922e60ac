//! Values that were asked for lately, so many bytes of them.

use std::{
    collections::HashMap,
    mem,
    sync::{Mutex, PoisonError},
};

/// Values by key. What is not asked for while others fill half of the room is forgotten.
pub(crate) struct Recent<V> {
    kept: Mutex<Kept<V>>,
    /// Bytes that all of them may have.
    room: usize,
}

struct Kept<V> {
    young: HashMap<String, (V, usize)>,
    old: HashMap<String, (V, usize)>,
    young_bytes: usize,
}

impl<V: Clone> Recent<V> {
    pub(crate) fn new(room: usize) -> Self {
        let kept = Kept { young: HashMap::new(), old: HashMap::new(), young_bytes: 0 };
        Self { kept: Mutex::new(kept), room }
    }

    pub(crate) fn get(&self, key: &str) -> Option<V> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((value, _)) = kept.young.get(key) {
            return Some(value.clone());
        }
        let (key, (value, bytes)) = kept.old.remove_entry(key)?;
        kept.add(key, value.clone(), bytes, self.room);
        Some(value)
    }

    /// Keeps a value that stands for so many bytes.
    pub(crate) fn keep(&self, key: String, value: V, bytes: usize) {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).add(key, value, bytes, self.room);
    }
}

impl<V> Kept<V> {
    fn add(&mut self, key: String, value: V, bytes: usize, room: usize) {
        if bytes > room / 2 {
            return;
        }
        if let Some((_, before)) = self.young.remove(&key) {
            self.young_bytes -= before;
        }
        if self.young_bytes + bytes > room / 2 {
            self.old = mem::take(&mut self.young);
            self.young_bytes = 0;
        }
        self.young.insert(key, (value, bytes));
        self.young_bytes += bytes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_stays_and_the_rest_goes() {
        let recent = Recent::new(200);
        for number in 0..100 {
            recent.keep(number.to_string(), number, 20);
            assert_eq!(recent.get("0"), Some(0), "asked for all the time");
            assert_eq!(recent.get(&number.to_string()), Some(number), "just kept");
        }
        let known = (0..100).filter(|number| recent.get(&number.to_string()).is_some()).count();
        assert!((5..=10).contains(&known), "{known} of 20 bytes are in 200");
    }

    #[test]
    fn what_is_kept_twice_takes_its_room_once() {
        let recent = Recent::new(100);
        recent.keep("a".to_owned(), 1, 20);
        for number in 0..100 {
            recent.keep("b".to_owned(), number, 25);
        }
        assert_eq!((recent.get("a"), recent.get("b")), (Some(1), Some(99)));
    }

    #[test]
    fn what_is_larger_than_half_of_the_room_is_not_kept() {
        let recent = Recent::new(100);
        recent.keep("a".to_owned(), 1, 50);
        recent.keep("b".to_owned(), 2, 51);
        assert_eq!((recent.get("a"), recent.get("b")), (Some(1), None));
    }
}
