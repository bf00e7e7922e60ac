//! Lists of objects, and values that must be unique: runs what [`super::list_sql`] writes.

use std::ops::ControlFlow;

use cms_model::{
    content_type::catalog::CompiledType,
    error::Result,
    object::model::{Edition, StoredObject},
    query::ListQuery,
};
use rusqlite::{OptionalExtension, params_from_iter};
use serde_json::Value;

use super::{
    Reader,
    error::map,
    list_sql::{self, Page, Size},
    object::{COLUMNS, read},
};

/// Says how one page of a list is read, and at what cost.
pub(crate) fn page(content_type: &CompiledType, query: &ListQuery, size: Size) -> Page {
    list_sql::page(query, content_type.into(), size, COLUMNS)
}

impl Reader<'_> {
    /// Passes the objects of one page to `visit`, in order, without copying them, until it breaks off
    /// or fails.
    pub(crate) fn list(
        &self,
        page: &Page,
        mut visit: impl FnMut(StoredObject<'_>) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        let mut statement = self.statement(&page.statement.sql)?;
        let parameters = params_from_iter(&page.statement.parameters);
        let mut rows = statement.query(parameters).map_err(map)?;
        while let Some(row) = rows.next().map_err(map)? {
            if visit(read(row).map_err(map)?)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Counts the objects on all pages.
    pub(crate) fn count(&self, content_type: &CompiledType, query: &ListQuery) -> Result<u64> {
        let count = list_sql::count(query, content_type.into());
        self.statement(&count.sql)?
            .query_row(params_from_iter(count.parameters), |row| row.get(0))
            .map_err(map)
    }

    /// Tells whether another object than `itself` has this value in the slot of a unique
    /// property, in one edition.
    pub(crate) fn is_value_used(
        &self,
        edition: Edition,
        ctd: i64,
        slot: usize,
        value: &Value,
        itself: Option<i64>,
    ) -> Result<bool> {
        let lookup = list_sql::unique_lookup(edition, ctd, slot, value, itself);
        let Some(lookup) = lookup else {
            return Ok(false);
        };
        let found: Option<i64> = self
            .statement(&lookup.sql)?
            .query_row(params_from_iter(lookup.parameters), |row| row.get(0))
            .optional()
            .map_err(map)?;
        Ok(found.is_some())
    }
}
