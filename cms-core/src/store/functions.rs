//! SQL functions that let statements and indexes use the readings of [`crate::query`].
//!
//! A *fragment* is the JSON text of one value, as `data -> '$.name'` yields it, or NULL.
//!
//! | function | returns |
//! |---|---|
//! | `sort_key(fragment)` | what a value sorts by and is looked up by; NULL when it is empty |
//! | `spelling(fragment)` | the text itself when `sort_key` changed its letter case, else NULL |
//! | `path_key(path, fragment)` | `sort_key` of what stands at a path below the value |
//! | `matches(condition, fragment)` | whether the value meets a condition; both as JSON |
//! | `matches_text(condition, text)` | the same for a text as it is |
//! | `date_fragment(seconds)` | a date of `internal` as JSON text |
//!
//! Keys are numbers, then TEXT for booleans, then BLOBs of UTF-8 in lower case for text: SQLite
//! sorts these storage classes in this order, which is the order of kinds in contract 3.2.
//! Indexes contain `sort_key` and `spelling`: a change of what they return needs a migration that
//! rebuilds them.

use std::sync::Arc;

use rusqlite::{
    Connection, Error, Result,
    functions::{Context, FunctionFlags},
    types::{Type, Value as Sql, ValueRef},
};
use serde_json::Value;

use crate::{
    dates,
    query::{
        eval::Matcher,
        filter::Condition,
        order::{self, SortKey},
        path::Path,
        value::Number,
    },
};

/// Registers the functions; every connection needs them, also one that only writes.
pub(crate) fn register(connection: &Connection) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_INNOCUOUS;
    connection.create_scalar_function(c"sort_key", 1, flags, |context| {
        Ok(sql_key(fragment(context, 0)?.as_ref().and_then(SortKey::of)))
    })?;
    connection.create_scalar_function(c"spelling", 1, flags, |context| {
        Ok(fragment(context, 0)?.as_ref().and_then(order::spelling))
    })?;
    connection.create_scalar_function(c"path_key", 2, flags, |context| {
        let path = context.get_or_create_aux(0, read_parameter::<Path>)?;
        Ok(sql_key(SortKey::at(&path, fragment(context, 1)?.as_ref())))
    })?;
    connection.create_scalar_function(c"matches", 2, flags, |context| {
        Ok(matcher(context)?.matches(fragment(context, 1)?.as_ref()))
    })?;
    connection.create_scalar_function(c"matches_text", 2, flags, |context| {
        let text = context.get::<Option<String>>(1)?.map(Value::String);
        Ok(matcher(context)?.matches(text.as_ref()))
    })?;
    connection.create_scalar_function(c"date_fragment", 1, flags, |context| {
        Ok(context.get::<Option<i64>>(0)?.map(|seconds| {
            let mut json = vec![b'"'];
            dates::push_object_date(seconds, &mut json);
            json.push(b'"');
            String::from_utf8(json).expect("dates are ASCII")
        }))
    })
}

/// Returns the key of a value as SQLite stores and compares it.
pub(crate) fn sql_key(key: Option<SortKey>) -> Sql {
    match key {
        None => Sql::Null,
        Some(SortKey::Number(Number::Integer(integer))) => Sql::Integer(integer),
        Some(SortKey::Number(Number::Real(real))) => Sql::Real(real),
        Some(SortKey::Boolean(boolean)) => Sql::Text(boolean.to_string()),
        Some(SortKey::Text(text)) => Sql::Blob(text.into_bytes()),
    }
}

/// Reads the JSON text of a value; a missing one is NULL.
fn fragment(context: &Context<'_>, argument: usize) -> Result<Option<Value>> {
    match context.get_raw(argument) {
        ValueRef::Null => Ok(None),
        ValueRef::Text(json) => serde_json::from_slice(json).map(Some).map_err(|error| {
            Error::FromSqlConversionFailure(argument, Type::Text, Box::new(error))
        }),
        other => Err(Error::InvalidFunctionParameterType(argument, other.data_type())),
    }
}

/// The condition of the first argument: read once for a run of a statement.
fn matcher(context: &Context<'_>) -> Result<Arc<Matcher>> {
    context.get_or_create_aux(0, |parameter| {
        read_parameter::<Condition>(parameter).map(|condition| Matcher::new(&condition))
    })
}

fn read_parameter<T: serde::de::DeserializeOwned>(
    parameter: ValueRef<'_>,
) -> std::result::Result<T, Box<dyn std::error::Error + Send + Sync>> {
    Ok(serde_json::from_str(parameter.as_str()?)?)
}
