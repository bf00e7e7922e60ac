//! The open tabs of this process, in memory. It knows neither rights nor content.

use std::collections::BTreeMap;

use cms_model::{
    clock::Timestamp,
    error::{Error, Result},
    limits,
    wire::author::Author,
};
use parking_lot::Mutex;

const LIFETIME_MICROS: i64 = limits::PRESENCE_LIFETIME_SECONDS * 1_000_000;

/// The tabs of all callers.
#[derive(Default)]
pub(crate) struct PresenceTable(Mutex<State>);

#[derive(Default)]
struct State {
    /// By actor and tab.
    tabs: BTreeMap<(Option<i64>, String), OpenTab>,
    /// Increases when a tab is added, changed or removed, but not when it is only refreshed.
    revision: u64,
    /// No tab is older than this time, in microseconds since the epoch.
    oldest: i64,
}

/// The object that a tab has open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OpenTab {
    pub(crate) ctd: i64,
    pub(crate) object: i64,
    /// As stored.
    pub(crate) id: String,
    pub(crate) property: Option<String>,
    pub(crate) by: Author,
    /// Time of the last request.
    pub(crate) at: Timestamp,
}

impl PresenceTable {
    /// Stores a tab, or refreshes it.
    ///
    /// # Errors
    /// [`Error::Forbidden`] when the actor or the process has too many tabs.
    pub(crate) fn put(&self, actor: Option<i64>, name: String, tab: OpenTab) -> Result<()> {
        let mut state = self.0.lock();
        state.expire(tab.at);
        let key = (actor, name);
        let is_refreshed = if let Some(known) = state.tabs.get(&key) {
            OpenTab { at: tab.at, ..known.clone() } == tab
        } else {
            let own = state.tabs.range((actor, String::new())..);
            let own = own.take_while(|((owner, _), _)| *owner == actor).count();
            if own >= limits::MAX_PRESENCE_TABS_PER_CALLER
                || state.tabs.len() >= limits::MAX_PRESENCE_TABS
            {
                return Err(Error::Forbidden);
            }
            false
        };
        let is_first = state.tabs.is_empty();
        state.oldest = if is_first { tab.at.0 } else { state.oldest.min(tab.at.0) };
        if !is_refreshed {
            state.revision += 1;
        }
        state.tabs.insert(key, tab);
        Ok(())
    }

    /// Removes a tab, if it is known.
    pub(crate) fn remove(&self, actor: Option<i64>, name: &str) {
        let mut state = self.0.lock();
        if state.tabs.remove(&(actor, name.to_owned())).is_some() {
            state.revision += 1;
        }
    }

    /// Returns the revision, and the tabs that `filter` selects with their names; none when nothing has changed
    /// since the revision `seen`.
    pub(crate) fn changed_since(
        &self,
        seen: Option<u64>,
        now: Timestamp,
        filter: impl Fn(&OpenTab) -> bool,
    ) -> Option<(u64, Vec<(String, OpenTab)>)> {
        let mut state = self.0.lock();
        state.expire(now);
        if seen == Some(state.revision) {
            return None;
        }
        let tabs = state.tabs.iter().filter(|(_, tab)| filter(tab));
        let tabs = tabs.map(|((_, name), tab)| (name.clone(), tab.clone())).collect();
        Some((state.revision, tabs))
    }

    /// Removes the tabs that were not refreshed within their lifetime.
    pub(crate) fn expire(&self, now: Timestamp) {
        self.0.lock().expire(now);
    }
}

impl State {
    /// Scans the tabs only when one may have expired.
    fn expire(&mut self, now: Timestamp) {
        let is_live = |at: i64| now.0 - at < LIFETIME_MICROS;
        if is_live(self.oldest) || self.tabs.is_empty() {
            return;
        }
        let before = self.tabs.len();
        self.tabs.retain(|_, tab| is_live(tab.at.0));
        if self.tabs.len() < before {
            self.revision += 1;
        }
        self.oldest = self.tabs.values().map(|tab| tab.at.0).min().unwrap_or(now.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: i64 = 1_000_000;

    fn tab(seconds: i64) -> OpenTab {
        OpenTab {
            ctd: 1,
            object: 2,
            id: "one".to_owned(),
            property: None,
            by: Author::local(),
            at: Timestamp(seconds * SECOND),
        }
    }

    fn names(table: &PresenceTable, seconds: i64) -> Vec<String> {
        let (_, tabs) = table.changed_since(None, Timestamp(seconds * SECOND), |_| true).unwrap();
        tabs.into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn tab_expires_45_seconds_after_its_last_request() {
        let table = PresenceTable::default();
        table.put(Some(1), "a".to_owned(), tab(0)).unwrap();
        table.put(Some(1), "b".to_owned(), tab(20)).unwrap();
        assert_eq!(names(&table, 44), ["a", "b"]);
        table.put(Some(1), "a".to_owned(), tab(44)).unwrap();
        assert_eq!(names(&table, 64), ["a", "b"]);
        assert_eq!(names(&table, 65), ["a"]);
        assert_eq!(names(&table, 88), ["a"]);
        assert!(names(&table, 89).is_empty());
        // A clock that was set back removes nothing early.
        table.put(Some(1), "a".to_owned(), tab(10)).unwrap();
        assert_eq!(names(&table, 54), ["a"]);
    }

    #[test]
    fn revision_changes_with_tabs_but_not_when_refreshed() {
        let table = PresenceTable::default();
        let changed = |seen: Option<u64>, seconds: i64| {
            table.changed_since(seen, Timestamp(seconds * SECOND), |_| true)
        };
        let (start, _) = changed(None, 0).unwrap();
        table.put(Some(1), "a".to_owned(), tab(0)).unwrap();
        let (first, _) = changed(Some(start), 0).unwrap();
        table.put(Some(1), "a".to_owned(), tab(20)).unwrap();
        table.remove(Some(2), "a");
        assert!(changed(Some(first), 20).is_none());
        let moved = OpenTab { property: Some("title".to_owned()), ..tab(20) };
        table.put(Some(1), "a".to_owned(), moved).unwrap();
        let (second, _) = changed(Some(first), 20).unwrap();
        assert!(changed(Some(second), 64).is_none());
        let (third, tabs) = changed(Some(second), 65).unwrap();
        assert!(tabs.is_empty());
        table.put(Some(1), "a".to_owned(), tab(70)).unwrap();
        let (fourth, _) = changed(Some(third), 70).unwrap();
        table.remove(Some(1), "a");
        assert!(changed(Some(fourth), 70).is_some());
    }

    #[test]
    fn tabs_are_limited_per_caller_and_process() {
        let table = PresenceTable::default();
        let put = |actor: i64, name: usize, seconds: i64| {
            table.put(Some(actor), name.to_string(), tab(seconds)).is_ok()
        };
        for name in 0..20 {
            assert!(put(1, name, 0));
        }
        assert!(!put(1, 20, 0) && put(1, 3, 1) && put(2, 20, 0));
        for actor in 2..501 {
            for name in 0..20 {
                put(actor, name, 1);
            }
        }
        assert_eq!(names(&table, 1).len(), 10_000);
        assert!(!put(501, 0, 1) && put(2, 5, 1));
        // Expired ones do not count.
        assert!(put(501, 0, 45));
    }
}
