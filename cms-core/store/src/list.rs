//! Lists of objects, and lookups of unique values: runs the statements of [`super::list_sql`].

use std::sync::Arc;

use cms_model::{
    content_type::catalog::CompiledType,
    error::Result,
    object::{
        list::{Matching, ObjectList},
        model::{Edition, StoredObject},
    },
    query::{ListQuery, linked::LinkScope},
};
use rusqlite::params_from_iter;
use serde_json::Value;

use super::{
    Reader, Store, TypeState,
    cache::Cache,
    error::map,
    list_sql::{self, ListCounts, PageStatement},
    object::{columns_of, read},
};

/// Maximum length of filters, order and ids of a list whose plan is cached, in bytes.
const MAX_CACHED_BYTES: usize = 4096;

/// Caches counts and plans of lists.
#[derive(Default)]
pub(crate) struct ListCache {
    /// Number of matching objects.
    counts: Cache<Matching, u64>,
    plans: Cache<ObjectList, Arc<ListPlan>>,
}

/// The plan of a list, for one state of its type: the number of matches, and the statement of its
/// page.
pub struct ListPlan {
    /// Objects on all pages.
    pub matching: u64,
    /// Whether matches depend on objects of other types.
    pub depends_on_other_types: bool,
    page: PageStatement,
}

impl ListPlan {
    /// Cost of the page, in index entries read.
    pub fn cost(&self) -> u64 {
        self.page.cost
    }
}

impl Store {
    /// Returns the plan of a list in the snapshot of a reader; none when that requires counting
    /// objects and counting is not allowed.
    pub fn plan_list(
        &self,
        reader: &Reader<'_>,
        content_type: &CompiledType,
        list: ObjectList,
        scope: LinkScope<'_>,
        may_count: bool,
    ) -> Result<Option<Arc<ListPlan>>> {
        let ctd = content_type.pk;
        let TypeState { live, published, changes } = reader.type_state(ctd)?;
        let is_cacheable = list.text_bytes() <= MAX_CACHED_BYTES;
        if is_cacheable && let Some(known) = self.lists.plans.get(ctd, &list, changes) {
            return Ok(Some(known));
        }
        let query = list.query(content_type, scope)?;
        // Matches through links depend on other types and on the caller.
        let depends_on_other_types = !query.linked.is_empty();
        let is_cacheable = is_cacheable && !depends_on_other_types;
        let columns = columns_of(list.columns);
        let total = match query.edition {
            Edition::Current => live,
            Edition::Published => published,
        };
        let known = if query.is_unrestricted() {
            Some(total)
        } else {
            self.lists.counts.get(ctd, &list.matching, changes).filter(|_| !depends_on_other_types)
        };
        let matching = match known {
            Some(known) => known,
            None if may_count => reader.count(content_type, &query)?,
            None => return Ok(None),
        };
        let counts = ListCounts { matching, total };
        let page = list_sql::page(&query, content_type.into(), counts, columns);
        let plan = Arc::new(ListPlan { matching, depends_on_other_types, page });
        if is_cacheable {
            self.lists.counts.set(ctd, list.matching.clone(), changes, matching);
            self.lists.plans.set(ctd, list, changes, Arc::clone(&plan));
        }
        Ok(Some(plan))
    }
}

impl Reader<'_> {
    /// Passes the objects of one page to `visit`, in order, without copying them. The first error
    /// of `visit` ends the page.
    pub fn list(
        &self,
        plan: &ListPlan,
        mut visit: impl FnMut(StoredObject<'_>) -> Result<()>,
    ) -> Result<()> {
        let parameters = params_from_iter(&plan.page.statement.parameters);
        self.each_row(&plan.page.statement.sql, parameters, |row| visit(read(row).map_err(map)?))
    }

    /// Returns the primary keys of all objects of a list, whatever its page, in creation order.
    pub fn matching_pks(
        &self,
        content_type: &CompiledType,
        list: &ObjectList,
        scope: LinkScope<'_>,
    ) -> Result<Vec<i64>> {
        let pks = list_sql::pks(&list.query(content_type, scope)?, content_type.into());
        self.query_values(&pks.sql, params_from_iter(pks.parameters))
    }

    /// Counts the objects on all pages.
    fn count(&self, content_type: &CompiledType, query: &ListQuery) -> Result<u64> {
        let count = list_sql::count(query, content_type.into());
        self.query_value(&count.sql, params_from_iter(count.parameters))
    }

    /// Returns whether another object than `itself` has this value in the slot of a unique
    /// property, in one edition.
    pub fn is_value_used(
        &self,
        edition: Edition,
        ctd: i64,
        slot: usize,
        value: &Value,
        itself: Option<i64>,
    ) -> Result<bool> {
        match list_sql::unique_lookup(edition, ctd, slot, value, itself) {
            Some(lookup) => self.exists(&lookup.sql, params_from_iter(lookup.parameters)),
            None => Ok(false),
        }
    }
}
