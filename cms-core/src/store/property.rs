//! Stored values of one property over all objects of a type, for changes of the type.

use rusqlite::params;
use serde_json::Value;

use super::{Reader, Writer, error::map, index_ddl};
use crate::{
    error::{Error, Result},
    object::model::Edition,
};

impl Reader<'_> {
    /// Counts the objects that have a value, an empty one included.
    pub(crate) fn count_values(&self, ctd: i64, property: &str) -> Result<u64> {
        let value = index_ddl::fragment(property);
        self.statement(&format!("SELECT count({value}) FROM object WHERE ctd = ?1"))?
            .query_row([ctd], |row| row.get(0))
            .map_err(map)
    }

    /// Counts the objects whose value is missing or empty.
    pub(crate) fn count_empty(&self, ctd: i64, property: &str) -> Result<u64> {
        let key = index_ddl::key(property);
        self.statement(&format!("SELECT count(*) FROM object WHERE ctd = {ctd} AND {key} IS NULL"))?
            .query_row([], |row| row.get(0))
            .map_err(map)
    }

    /// Returns the first objects that have a value, by id, with their values.
    pub(crate) fn sample_values(
        &self,
        ctd: i64,
        property: &str,
        limit: usize,
    ) -> Result<Vec<(String, Value)>> {
        let value = index_ddl::fragment(property);
        let mut statement = self.statement(&format!(
            "SELECT id, {value} FROM object WHERE ctd = ?1 AND {value} IS NOT NULL
             ORDER BY pk LIMIT ?2"
        ))?;
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let rows = statement
            .query_map(params![ctd, limit], |row| {
                Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))
            })
            .map_err(map)?;
        rows.map(|row| {
            let (id, value) = row.map_err(map)?;
            let value = serde_json::from_str(&value).map_err(|e| Error::Internal(Box::new(e)))?;
            Ok((id, value))
        })
        .collect()
    }

    /// Returns the rows of the objects that have a value.
    pub(crate) fn objects_with(&self, ctd: i64, property: &str) -> Result<Vec<i64>> {
        let value = index_ddl::fragment(property);
        let mut statement = self
            .statement(&format!("SELECT pk FROM object WHERE ctd = ?1 AND {value} IS NOT NULL"))?;
        let rows = statement.query_map([ctd], |row| row.get(0)).map_err(map)?;
        rows.map(|row| row.map_err(map)).collect()
    }

    /// Returns the properties of an object as they are stored.
    pub(crate) fn object_data(&self, pk: i64) -> Result<String> {
        self.statement("SELECT data FROM object WHERE pk = ?1")?
            .query_row([pk], |row| row.get(0))
            .map_err(map)
    }
}

impl Writer<'_> {
    /// Removes a property from all objects that have it; versions keep it.
    pub(crate) fn remove_property(&self, ctd: i64, property: &str) -> Result<()> {
        let value = index_ddl::fragment(property);
        for edition in [Edition::Current, Edition::Published] {
            self.statement(&format!(
                "UPDATE {} SET data = json_remove(data, '$.{property}')
                 WHERE ctd = ?1 AND {value} IS NOT NULL",
                edition.table()
            ))?
            .execute([ctd])
            .map_err(map)?;
        }
        Ok(())
    }
}
