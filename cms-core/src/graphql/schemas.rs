//! Schemas that were made, each kept as long as types stay as they are, and the queries that were
//! found valid by them.

use std::{
    collections::HashMap,
    mem,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use async_graphql::parser::{parse_query, types::ExecutableDocument};
use cms_model::{
    auth::scope::Access,
    content_type::catalog::{Catalog, CompiledType},
    context::Caller,
    error::{Error, Result},
    graphql::{
        bounds,
        fault::{Failure, Fault},
        model::{Content, Model},
        schema::Schema,
        validate,
    },
    limits,
    wire::graphql::GraphQlVersion,
};
use quick_cache::{Weighter, sync::Cache};

/// System types that a schema shows (contract 8.3).
const SHOWN_SYSTEM_TYPES: [&str; 2] = ["_media", "_tag"];

/// Queries that are kept when they are of a usual size. Room for few is not divided, so that a long
/// one has its place in it.
const USUAL_NUMBER: usize = 32;

/// Counts the bytes of the texts of queries.
#[derive(Clone)]
pub(super) struct TextBytes;

impl Weighter<String, Arc<str>> for TextBytes {
    fn weight(&self, _hash: &String, query: &Arc<str>) -> u64 {
        query.len() as u64
    }
}

impl Weighter<String, Arc<ExecutableDocument>> for TextBytes {
    fn weight(&self, query: &String, _document: &Arc<ExecutableDocument>) -> u64 {
        query.len() as u64
    }
}

/// Keeps what is asked for most, so many bytes of queries.
fn queries<V: Clone>(bytes: u64) -> Cache<String, V, TextBytes>
where
    TextBytes: Weighter<String, V>,
{
    Cache::with_weighter(USUAL_NUMBER, bytes, TextBytes)
}

/// Types that a schema shows to a caller.
pub(crate) fn shown<'c>(
    catalog: &'c Catalog,
    caller: &'c Caller,
) -> impl Iterator<Item = &'c CompiledType> {
    let types = catalog.types().iter().map(AsRef::as_ref);
    types.filter(|known: &&CompiledType| {
        let (name, is_internal) = (known.name(), known.definition.internal);
        (!is_internal || SHOWN_SYSTEM_TYPES.contains(&name)) && caller.may(Access::READ, name)
    })
}

/// Schemas by what they are made of.
pub(crate) struct Schemas {
    known: Mutex<Known>,
    /// Queries that clients name by their hashes.
    pub(super) named: Cache<String, Arc<str>, TextBytes>,
}

#[derive(Default)]
struct Known {
    /// Schema revision that all of them are of.
    rev: i64,
    /// By version, and rows of the types that are shown.
    schemas: HashMap<(GraphQlVersion, Vec<i64>), Arc<Prepared>>,
    /// What those of older revisions were for that nobody has made anew.
    outdated: Vec<Purpose>,
}

/// What a schema is for.
#[derive(Clone)]
struct Purpose {
    version: GraphQlVersion,
    /// Who asked for it first; others who may read the same types share it.
    caller: Caller,
    /// Somebody wanted to know what it says.
    is_described: bool,
}

impl Default for Schemas {
    fn default() -> Self {
        Self { known: Mutex::default(), named: queries(limits::PERSISTED_QUERY_CACHE_BYTES) }
    }
}

impl Schemas {
    /// Returns what a caller sees of the types; none when that is nothing.
    pub(super) fn get(
        &self,
        catalog: &Catalog,
        caller: &Caller,
        version: GraphQlVersion,
    ) -> Option<Arc<Prepared>> {
        let types: Vec<&CompiledType> = shown(catalog, caller).collect();
        if types.is_empty() {
            return None;
        }
        let key = (version, types.iter().map(|known| known.pk).collect());
        let prepare = || Arc::new(Prepared::of(version, caller));
        let mut known = self.lock();
        known.forget_before(catalog.rev);
        let prepared = if known.rev == catalog.rev {
            Arc::clone(known.schemas.entry(key).or_insert_with(prepare))
        } else {
            // A snapshot older than what is known gets a schema of its own.
            prepare()
        };
        drop(known);
        // Who wants the same waits here, and nobody else.
        prepared.model.get_or_init(|| {
            let contents = types
                .iter()
                .map(|known| Content { name: known.name(), properties: &known.properties });
            Model::new(version, &contents.collect::<Vec<_>>())
        });
        Some(prepared)
    }

    /// Tells whether nobody has asked for any, so that none has to be kept up to date.
    pub(super) fn are_unused(&self) -> bool {
        let known = self.lock();
        known.schemas.is_empty() && known.outdated.is_empty()
    }

    /// Makes anew what was made before types changed.
    pub(super) fn refresh(&self, catalog: &Catalog) -> Result<()> {
        let mut known = self.lock();
        known.forget_before(catalog.rev);
        let outdated = mem::take(&mut known.outdated);
        drop(known);
        for Purpose { version, caller, is_described } in outdated {
            if let Some(prepared) = self.get(catalog, &caller, version)
                && is_described
            {
                prepared.schema()?;
            }
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    /// Forgets schemas of types that have changed since, and all when there are too many.
    fn forget_before(&mut self, rev: i64) {
        if self.rev < rev {
            let purposes = self.schemas.drain().map(|(_, prepared)| prepared.purpose());
            self.outdated.extend(purposes);
            self.outdated.truncate(limits::MAX_CACHED_GRAPHQL_SCHEMAS);
            self.rev = rev;
        } else if self.schemas.len() >= limits::MAX_CACHED_GRAPHQL_SCHEMAS {
            self.schemas.clear();
        }
    }
}

/// A schema, and the queries that were found valid by it.
pub(super) struct Prepared {
    version: GraphQlVersion,
    caller: Caller,
    model: OnceLock<Model>,
    /// Made when somebody asks for it: queries for content never do.
    schema: OnceLock<std::result::Result<Schema, String>>,
    documents: Cache<String, Arc<ExecutableDocument>, TextBytes>,
}

impl Prepared {
    fn of(version: GraphQlVersion, caller: &Caller) -> Self {
        Self {
            version,
            caller: caller.clone(),
            model: OnceLock::new(),
            schema: OnceLock::new(),
            documents: queries(limits::VALIDATED_QUERY_CACHE_BYTES),
        }
    }

    fn purpose(&self) -> Purpose {
        let (caller, is_described) = (self.caller.clone(), self.schema.get().is_some());
        Purpose { version: self.version, caller, is_described }
    }

    pub(super) fn model(&self) -> &Model {
        self.model.get().expect("it was made before this was handed out")
    }

    pub(super) fn schema(&self) -> Result<&Schema> {
        let schema = self.schema.get_or_init(|| Schema::of(self.model()));
        schema.as_ref().map_err(|reason| Error::internal(reason.clone()))
    }

    /// Parses and judges a query, or remembers that it is good.
    pub(super) fn document(
        &self,
        query: &str,
    ) -> std::result::Result<Arc<ExecutableDocument>, Failure> {
        if let Some(known) = self.documents.get(query) {
            return Ok(known);
        }
        let document = parse_query(query).map_err(Fault::from)?;
        bounds::check_document(&document)?;
        let faults = validate::validate(self.model(), &document);
        if !faults.is_empty() {
            return Err(Failure::Faults(faults));
        }
        let document = Arc::new(document);
        self.documents.insert(query.to_owned(), Arc::clone(&document));
        Ok(document)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TestCms;

    fn change_types(test: &TestCms) {
        let types = test.cms.types();
        let about = types.get(&Caller::local(), "about").unwrap();
        let serde_json::Value::Object(payload) = serde_json::json!(about) else { panic!("no map") };
        types.update(&Caller::local(), "about", payload).unwrap();
    }

    fn legacy(test: &TestCms) -> Arc<Prepared> {
        let catalog = test.cms.store.read(|reader| test.cms.catalog.at(reader)).unwrap();
        test.cms.schemas.get(&catalog, &Caller::local(), GraphQlVersion::Legacy).unwrap()
    }

    #[test]
    fn a_schema_is_made_once_for_each_change_of_types() {
        let test = TestCms::new();
        let first = legacy(&test);
        assert!(Arc::ptr_eq(&first, &legacy(&test)));
        change_types(&test);
        let second = legacy(&test);
        assert!(!Arc::ptr_eq(&first, &second) && Arc::ptr_eq(&second, &legacy(&test)));
    }

    #[test]
    fn what_was_in_use_is_there_before_anybody_asks_again() {
        let test = TestCms::new();
        legacy(&test);
        test.cms.graphql().schema(&Caller::local(), GraphQlVersion::V2).unwrap();
        for _ in 0..2 {
            change_types(&test);
            test.cms.graphql().refresh().unwrap();
            let known = test.cms.schemas.lock();
            assert!(known.outdated.is_empty());
            let mut made: Vec<_> = known
                .schemas
                .values()
                .map(|prepared| (prepared.model.get().is_some(), prepared.schema.get().is_some()))
                .collect();
            made.sort_unstable();
            assert_eq!(made, [(true, false), (true, true)], "as it was before");
        }
    }

    #[test]
    fn a_snapshot_of_older_types_does_not_make_known_what_is_gone() {
        let test = TestCms::new();
        let older = test.cms.store.read(|reader| test.cms.catalog.at(reader)).unwrap();
        change_types(&test);
        let known = legacy(&test);
        let of_older = test.cms.schemas.get(&older, &Caller::local(), GraphQlVersion::Legacy);
        assert!(!Arc::ptr_eq(&known, &of_older.unwrap()));
        assert!(Arc::ptr_eq(&known, &legacy(&test)));
    }
}
