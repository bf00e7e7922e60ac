//! Caches schemas until content types change, validated queries of each schema, and persisted
//! queries.

use std::{
    collections::HashMap,
    mem,
    sync::{Arc, OnceLock},
};

use async_graphql::parser::{parse_query, types::ExecutableDocument};
use cms_model::{
    auth::scope::Access,
    content_type::{
        builtin::OMITTED_FROM_API_SCHEMAS,
        catalog::{Catalog, CompiledType},
    },
    context::Caller,
    error::{Error, Result},
    graphql::{
        complexity,
        error::{QueryError, QueryFailure},
        escapes,
        model::{Model, VisibleType},
        schema::ExportedSchema,
        validate,
    },
    limits,
    wire::graphql::GraphQlVersion,
};
use parking_lot::Mutex;
use quick_cache::{Weighter, sync::Cache};

/// Expected number of cached queries. With a larger number, the cache would be divided into shards,
/// which are too small for a long query.
const EXPECTED_QUERIES: usize = 32;

/// Weighs queries by the bytes of their text.
#[derive(Clone)]
pub(super) struct QueryBytes;

impl Weighter<String, Arc<str>> for QueryBytes {
    fn weight(&self, _hash: &String, query: &Arc<str>) -> u64 {
        query.len() as u64
    }
}

impl Weighter<String, Arc<ExecutableDocument>> for QueryBytes {
    fn weight(&self, query: &String, _document: &Arc<ExecutableDocument>) -> u64 {
        query.len() as u64
    }
}

/// A cache of the most used queries, limited by the bytes of their text.
fn query_cache<V: Clone>(bytes: u64) -> Cache<String, V, QueryBytes>
where
    QueryBytes: Weighter<String, V>,
{
    Cache::with_weighter(EXPECTED_QUERIES, bytes, QueryBytes)
}

/// Types of the schema of a caller (see docs/reference/graphql.md#types).
pub(crate) fn visible_types<'c>(
    catalog: &'c Catalog,
    caller: &'c Caller,
) -> impl Iterator<Item = &'c CompiledType> {
    let types = catalog.types().iter().map(AsRef::as_ref);
    types.filter(|content_type: &&CompiledType| {
        !OMITTED_FROM_API_SCHEMAS.contains(&content_type.name())
            && caller.may(Access::READ, content_type.name())
    })
}

/// The cached schemas.
pub(crate) struct SchemaCache {
    state: Mutex<CacheState>,
    /// Persisted queries, by the hash that clients send instead of the text.
    pub(super) persisted_queries: Cache<String, Arc<str>, QueryBytes>,
}

#[derive(Default)]
struct CacheState {
    /// Revision of the content types that `schemas` are built from.
    rev: i64,
    /// By version and primary keys of the visible types.
    schemas: HashMap<(GraphQlVersion, Vec<i64>), Arc<CachedSchema>>,
    /// Uses of evicted schemas that are not rebuilt yet.
    outdated: Vec<SchemaUse>,
}

/// How a schema is used.
#[derive(Clone)]
struct SchemaUse {
    version: GraphQlVersion,
    /// The first caller; callers that may read the same types share the schema.
    caller: Caller,
    /// A client has requested its text or introspection.
    is_exported: bool,
}

impl Default for SchemaCache {
    fn default() -> Self {
        Self {
            state: Mutex::default(),
            persisted_queries: query_cache(limits::PERSISTED_QUERY_CACHE_BYTES),
        }
    }
}

impl SchemaCache {
    /// Returns the schema of a caller; none when the caller may read no type.
    pub(super) fn get(
        &self,
        catalog: &Catalog,
        caller: &Caller,
        version: GraphQlVersion,
    ) -> Option<Arc<CachedSchema>> {
        let types: Vec<&CompiledType> = visible_types(catalog, caller).collect();
        if types.is_empty() {
            return None;
        }
        let key = (version, types.iter().map(|content_type| content_type.pk).collect());
        let prepare = || Arc::new(CachedSchema::of(version, caller));
        let mut state = self.state.lock();
        state.evict_before(catalog.rev);
        let prepared = if state.rev == catalog.rev {
            state.make_room_for(&key);
            Arc::clone(state.schemas.entry(key).or_insert_with(prepare))
        } else {
            // A snapshot of an older revision gets a schema that is not cached.
            prepare()
        };
        drop(state);
        // Only callers of the same schema wait here.
        prepared.model.get_or_init(|| {
            let contents = types.iter().map(|content_type| VisibleType {
                name: content_type.name(),
                properties: &content_type.properties,
            });
            Model::new(version, &contents.collect::<Vec<_>>())
        });
        Some(prepared)
    }

    /// Returns whether no schema is cached and none is to be rebuilt.
    pub(super) fn is_empty(&self) -> bool {
        let state = self.state.lock();
        state.schemas.is_empty() && state.outdated.is_empty()
    }

    /// Rebuilds the schemas that a change of content types has evicted.
    pub(super) fn refresh(&self, catalog: &Catalog) -> Result<()> {
        let mut state = self.state.lock();
        state.evict_before(catalog.rev);
        let outdated = mem::take(&mut state.outdated);
        drop(state);
        for SchemaUse { version, caller, is_exported } in outdated {
            if let Some(prepared) = self.get(catalog, &caller, version)
                && is_exported
            {
                prepared.schema()?;
            }
        }
        Ok(())
    }
}

impl CacheState {
    /// Evicts schemas of older revisions.
    fn evict_before(&mut self, rev: i64) {
        if self.rev < rev {
            let uses = self.schemas.drain().map(|(_, prepared)| prepared.usage());
            self.outdated.extend(uses);
            self.outdated.truncate(limits::MAX_CACHED_GRAPHQL_SCHEMAS);
            self.rev = rev;
        }
    }

    /// Evicts all schemas if the cache is full and one more is to be cached.
    fn make_room_for(&mut self, key: &(GraphQlVersion, Vec<i64>)) {
        let is_full = self.schemas.len() >= limits::MAX_CACHED_GRAPHQL_SCHEMAS;
        if is_full && !self.schemas.contains_key(key) {
            self.schemas.clear();
        }
    }
}

/// A schema and the queries that are valid for it.
pub(super) struct CachedSchema {
    version: GraphQlVersion,
    caller: Caller,
    model: OnceLock<Model>,
    /// Built on first use: queries of content do not need it.
    schema: OnceLock<std::result::Result<ExportedSchema, String>>,
    documents: Cache<String, Arc<ExecutableDocument>, QueryBytes>,
}

impl CachedSchema {
    fn of(version: GraphQlVersion, caller: &Caller) -> Self {
        Self {
            version,
            caller: caller.without_request(),
            model: OnceLock::new(),
            schema: OnceLock::new(),
            documents: query_cache(limits::VALIDATED_QUERY_CACHE_BYTES),
        }
    }

    fn usage(&self) -> SchemaUse {
        let (caller, is_exported) = (self.caller.clone(), self.schema.get().is_some());
        SchemaUse { version: self.version, caller, is_exported }
    }

    pub(super) fn model(&self) -> &Model {
        self.model.get().expect("`SchemaCache::get` built it")
    }

    pub(super) fn schema(&self) -> Result<&ExportedSchema> {
        let schema = self.schema.get_or_init(|| ExportedSchema::new(self.model()));
        schema.as_ref().map_err(|reason| Error::internal(reason.clone()))
    }

    /// Parses and validates a query, unless it is cached as valid.
    pub(super) fn document(
        &self,
        query: &str,
    ) -> std::result::Result<Arc<ExecutableDocument>, QueryFailure> {
        if let Some(plan) = self.documents.get(query) {
            return Ok(plan);
        }
        let document = parse_query(escapes::replace_escapes(query)).map_err(QueryError::from)?;
        complexity::check_document(&document)?;
        let errors = validate::validate(self.model(), &document);
        if !errors.is_empty() {
            return Err(QueryFailure::Query(errors));
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

    fn legacy(test: &TestCms) -> Arc<CachedSchema> {
        let catalog = test.cms.store.read(|reader| test.cms.catalog.at(reader)).unwrap();
        test.cms.graphql_schemas.get(&catalog, &Caller::local(), GraphQlVersion::Legacy).unwrap()
    }

    #[test]
    fn schema_is_built_once_per_change_of_types() {
        let test = TestCms::new();
        let first = legacy(&test);
        assert!(Arc::ptr_eq(&first, &legacy(&test)));
        change_types(&test);
        let second = legacy(&test);
        assert!(!Arc::ptr_eq(&first, &second) && Arc::ptr_eq(&second, &legacy(&test)));
    }

    #[test]
    fn cached_schema_keeps_no_memory_of_its_first_request() {
        let (test, caller) = (TestCms::new(), Caller::local());
        test.cms.graphql().schema(&caller, GraphQlVersion::V2).unwrap();
        assert_eq!(Arc::strong_count(&caller.memory), 1);
    }

    #[test]
    fn schemas_in_use_are_rebuilt_before_the_next_request() {
        let test = TestCms::new();
        legacy(&test);
        test.cms.graphql().schema(&Caller::local(), GraphQlVersion::V2).unwrap();
        for _ in 0..2 {
            change_types(&test);
            test.cms.graphql().refresh().unwrap();
            let state = test.cms.graphql_schemas.state.lock();
            assert!(state.outdated.is_empty());
            let mut built: Vec<_> = state
                .schemas
                .values()
                .map(|prepared| (prepared.model.get().is_some(), prepared.schema.get().is_some()))
                .collect();
            built.sort_unstable();
            assert_eq!(built, [(true, false), (true, true)], "as it was before");
        }
    }

    #[test]
    fn full_cache_evicts_schemas_only_for_a_new_one() {
        let test = TestCms::new();
        let first = legacy(&test);
        let fill = |count: usize| {
            let mut state = test.cms.graphql_schemas.state.lock();
            for number in 0..count {
                let schema = CachedSchema::of(GraphQlVersion::V2, &Caller::local());
                let pk = i64::try_from(number).unwrap();
                state.schemas.insert((GraphQlVersion::V2, vec![pk]), Arc::new(schema));
            }
        };
        fill(limits::MAX_CACHED_GRAPHQL_SCHEMAS - 1);
        assert!(Arc::ptr_eq(&first, &legacy(&test)), "the cache is full");
        test.cms.graphql().schema(&Caller::local(), GraphQlVersion::V2).unwrap();
        assert_eq!(test.cms.graphql_schemas.state.lock().schemas.len(), 1);
    }

    #[test]
    fn schema_of_older_snapshot_is_not_cached() {
        let test = TestCms::new();
        let older = test.cms.store.read(|reader| test.cms.catalog.at(reader)).unwrap();
        change_types(&test);
        let known = legacy(&test);
        let of_older =
            test.cms.graphql_schemas.get(&older, &Caller::local(), GraphQlVersion::Legacy);
        assert!(!Arc::ptr_eq(&known, &of_older.unwrap()));
        assert!(Arc::ptr_eq(&known, &legacy(&test)));
    }
}
