//! Caches rendered link targets, because objects in different lists often link to the same few objects,
//! such as authors.
//!
//! An entry is valid while nothing of its type has changed, see [`TypeVersion`].

use std::sync::Arc;

use cms_model::object::view::View;
use cms_store::TypeVersion;
use quick_cache::{Equivalent, Weighter, sync::Cache};

/// Larger objects are not cached: copying them takes longer than reading them.
const MAX_OBJECT_BYTES: usize = 16 * 1024;
/// Memory of an entry besides its texts.
const ENTRY_BYTES: usize = 160;
/// Typical memory of an entry, from which the number of entries is estimated.
const TYPICAL_BYTES: usize = 1024;

/// The cached link targets of this process.
pub(crate) struct LinkedObjects {
    /// None when the cache is disabled.
    entries: Option<Cache<Key, Entry, Weight>>,
}

/// Primary key of the type, the view, and the id in lower case.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    ctd: i64,
    view: View,
    id: Box<str>,
}

/// A key for looking up, without a copy of the id. It has the hash of [`Key`].
#[derive(Hash)]
struct KeyRef<'a> {
    ctd: i64,
    view: View,
    id: &'a str,
}

#[derive(Clone)]
struct Entry {
    version: TypeVersion,
    json: Arc<[u8]>,
}

impl Equivalent<Key> for KeyRef<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        self.ctd == key.ctd && self.view == key.view && *self.id == *key.id
    }
}

/// Weighs entries in bytes.
#[derive(Clone)]
struct Weight;

impl Weighter<Key, Entry> for Weight {
    fn weight(&self, key: &Key, entry: &Entry) -> u64 {
        (ENTRY_BYTES + key.id.len() + entry.json.len()) as u64
    }
}

impl LinkedObjects {
    /// Creates a cache of a maximum size in bytes; 0 disables it.
    pub(crate) fn new(max_bytes: usize) -> Self {
        let entries = || Cache::with_weighter(max_bytes / TYPICAL_BYTES, max_bytes as u64, Weight);
        Self { entries: (max_bytes > 0).then(entries) }
    }

    /// Returns the text of an object of a type in this version.
    pub(super) fn get(
        &self,
        version: TypeVersion,
        (ctd, view): (i64, View),
        id: &str,
    ) -> Option<Arc<[u8]>> {
        let entry = self.entries.as_ref()?.get(&KeyRef { ctd, view, id })?;
        (entry.version == version).then_some(entry.json)
    }

    /// Keeps the text of an object of a type in this version.
    pub(super) fn insert(
        &self,
        version: TypeVersion,
        (ctd, view): (i64, View),
        id: &str,
        json: &[u8],
    ) {
        if let Some(entries) = self.entries.as_ref().filter(|_| json.len() <= MAX_OBJECT_BYTES) {
            entries.insert(Key { ctd, view, id: id.into() }, Entry { version, json: json.into() });
        }
    }
}

#[cfg(test)]
mod tests {
    use cms_model::{context::Caller, wire::object::ListRequest};
    use cms_store::counting::statements;
    use serde_json::{Value, json};

    use crate::testing::{TestCms, map};

    /// A data directory with four projects that link to one tag.
    fn folder(linked_object_cache: usize) -> TestCms {
        let test = TestCms::with(|config| config.linked_object_cache = linked_object_cache);
        let create = |name: &str, object: Value| {
            test.cms.objects().create(&Caller::local(), name, map(object)).unwrap();
        };
        create("_tag", json!({ "id": "tag", "name": "first" }));
        let tags = json!([{ "type": "internal", "dataUrl": "/api/v1/content/_tag/tag" }]);
        for id in ["one", "two", "three", "four"] {
            create("project", json!({ "id": id, "name": id, "slug": id, "tags": tags }));
        }
        test
    }

    /// Hydrates one project; returns the name of its tag, and the number of statements. Each test reads
    /// a project once, because the number of matches of a list is cached.
    fn read(test: &TestCms, id: &str) -> (String, usize) {
        let request =
            ListRequest { hydrate: 1, ids: Some(vec![id.to_owned()]), ..ListRequest::default() };
        let before = statements();
        let list = test.cms.objects().list(&Caller::local(), "project", &request).unwrap();
        let statements = statements() - before;
        let name = list.to_value()["data"][0]["tags"][0]["name"].clone();
        (name.as_str().unwrap().to_owned(), statements)
    }

    #[test]
    fn link_target_is_read_once_per_change_of_its_type() {
        let test = folder(64 * 1024);
        let (name, first) = read(&test, "one");
        assert_eq!(name, "first");
        assert_eq!(read(&test, "two"), ("first".to_owned(), first - 1), "only the project is read");
        let rename = map(json!({ "name": "second" }));
        test.cms.objects().patch(&Caller::local(), "_tag", "tag", rename).unwrap();
        assert_eq!(read(&test, "three"), ("second".to_owned(), first));
        assert_eq!(read(&test, "four"), ("second".to_owned(), first - 1));
    }

    #[test]
    fn disabled_cache_keeps_nothing() {
        let test = folder(0);
        assert_eq!(read(&test, "one"), read(&test, "two"));
    }
}
