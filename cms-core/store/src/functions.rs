//! SQL functions that let statements and indexes use the rules of [`cms_model::query`].
//!
//! | function | returns |
//! |---|---|
//! | `property_key(json, name)` | the sort and lookup key of a property of an object; NULL when empty |
//! | `property_spelling(json, name)` | the exact text of a property, if it is not all in lower case; else NULL |
//! | `property_slots(data, values)` | the indexed values of an object, as an object with their slot numbers |
//! | `sort_key(json)` | the key of a JSON value |
//! | `path_key(path, data)` | the key of the value at a path below a property |
//! | `matches(condition, json)` | whether a JSON value meets a condition |
//! | `matches_text(condition, text)` | the same for a plain text |
//! | `matches_property(condition, data)` | the same for a property |
//! | `links_to(paths, ctd, data, type, id)` | whether an object has a link at one of the paths of its type |
//! | `contains_text(text, part)` | whether a text contains another one, in any letter case |
//! | `date_json(seconds)` | a date of `internal` as JSON text |
//!
//! `data` is the column of that name. The arguments `values`, `path`, `paths` and `condition` are JSON,
//! which is parsed once per execution of a statement.
//!
//! A number has a number as its key, a boolean TEXT, and a text a BLOB of lower-case UTF-8. SQLite sorts
//! these storage classes in this order, which is the order of lists (see
//! docs/reference/filters.md#order).
//!
//! Indexes contain keys and original texts. When the result of a function changes, increment the version of
//! derived data (`super::meta`), so that the indexes are rebuilt.

use std::{borrow::Cow, collections::HashMap, io::Write, sync::Arc};

use cms_model::{
    content_type::indexed::{IndexedValue, combination},
    dates, json,
    object::link,
    query::{
        eval::ConditionMatcher,
        filter::Condition,
        order::{self, SortKey},
        path::{PathRoot, PropertyPath},
        value::{Number, fold},
    },
};
use rusqlite::{
    Connection, Error, Result,
    functions::{Context, FunctionFlags},
    types::{Type, Value as Sql, ValueRef},
};
use serde_json::Value;

/// Registers the functions; every connection needs them, including the one that writes.
pub(crate) fn register(connection: &Connection) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8
        | FunctionFlags::SQLITE_DETERMINISTIC
        | FunctionFlags::SQLITE_INNOCUOUS;
    connection.create_scalar_function(c"property_key", 2, flags, |context| {
        let value = property(context, 0, context.get_raw(1).as_str()?)?;
        Ok(sql_key(value.as_ref().and_then(SortKey::of)))
    })?;
    connection.create_scalar_function(c"property_spelling", 2, flags, |context| {
        let value = property(context, 0, context.get_raw(1).as_str()?)?;
        Ok(value.as_ref().and_then(order::original_text))
    })?;
    connection.create_scalar_function(c"property_slots", 2, flags, |context| {
        let indexed = context.get_or_create_aux(1, read_parameter::<Vec<IndexedValue>>)?;
        let data = context.get_raw(0).as_bytes()?;
        let mut slots = b"{".to_vec();
        for (slot, indexed) in indexed.iter().enumerate() {
            let value = match indexed {
                IndexedValue::Property(name) => json::member(data, name).map(Cow::Borrowed),
                IndexedValue::Combination(names) => {
                    let values = names.iter().map(|name| property(context, 0, name));
                    let combined = combination(values.collect::<Result<Vec<_>>>()?.into_iter());
                    combined.map(|value| Cow::Owned(value.to_string().into_bytes()))
                }
            };
            let Some(value) = value else { continue };
            let comma = if slots.len() > 1 { "," } else { "" };
            write!(slots, "{comma}\"{slot}\":").expect("writing to memory cannot fail");
            slots.extend_from_slice(&value);
        }
        slots.push(b'}');
        String::from_utf8(slots).map_err(|error| Error::UserFunctionError(error.into()))
    })?;
    connection.create_scalar_function(c"sort_key", 1, flags, |context| {
        Ok(sql_key(json_text(context, 0)?.as_ref().and_then(SortKey::of)))
    })?;
    connection.create_scalar_function(c"path_key", 2, flags, |context| {
        let path = context.get_or_create_aux(0, read_parameter::<PropertyPath>)?;
        Ok(sql_key(SortKey::at(&path, root(context, 1, &path)?.as_ref())))
    })?;
    connection.create_scalar_function(c"contains_text", 2, flags, |context| {
        let part = context.get_or_create_aux(1, |part| {
            Ok::<_, Box<dyn std::error::Error + Send + Sync>>(fold(part.as_str()?))
        })?;
        Ok(fold(context.get_raw(0).as_str()?).contains(&*part))
    })?;
    connection.create_scalar_function(c"matches", 2, flags, |context| {
        Ok(matcher(context)?.matches(json_text(context, 1)?.as_ref()))
    })?;
    connection.create_scalar_function(c"matches_text", 2, flags, |context| {
        let text = context.get::<Option<String>>(1)?.map(Value::String);
        Ok(matcher(context)?.matches(text.as_ref()))
    })?;
    connection.create_scalar_function(c"matches_property", 2, flags, |context| {
        let matcher = matcher(context)?;
        Ok(matcher.matches(root(context, 1, matcher.path())?.as_ref()))
    })?;
    connection.create_scalar_function(c"links_to", 5, flags, |context| {
        let paths =
            context.get_or_create_aux(0, read_parameter::<HashMap<i64, Vec<PropertyPath>>>)?;
        let (content_type, id) = (context.get_raw(3).as_str()?, context.get_raw(4).as_str()?);
        for path in paths.get(&context.get(1)?).into_iter().flatten() {
            let links = root(context, 2, path)?;
            if link::any_is_to(&path.resolve(links.as_ref()), content_type, id) {
                return Ok(true);
            }
        }
        Ok(false)
    })?;
    connection.create_scalar_function(c"date_json", 1, flags, |context| {
        let seconds = context.get::<Option<i64>>(0)?;
        Ok(seconds.map(|seconds| format!("\"{}\"", dates::object_date(seconds))))
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

/// Parses a value from its JSON text; none if the argument is NULL.
fn json_text(context: &Context<'_>, argument: usize) -> Result<Option<Value>> {
    let json = context.get_raw(argument).as_bytes_or_null()?;
    json.map(|json| parse(argument, json)).transpose()
}

/// Reads the property at the start of a path.
fn root(context: &Context<'_>, argument: usize, path: &PropertyPath) -> Result<Option<Value>> {
    match &path.root {
        PathRoot::Property(name) => property(context, argument, name),
        _ => Ok(None),
    }
}

/// Reads one property of an object without parsing the others.
fn property(context: &Context<'_>, argument: usize, name: &str) -> Result<Option<Value>> {
    let data = context.get_raw(argument).as_bytes()?;
    json::member(data, name).map(|json| parse(argument, json)).transpose()
}

fn parse(argument: usize, json: &[u8]) -> Result<Value> {
    serde_json::from_slice(json)
        .map_err(|error| Error::FromSqlConversionFailure(argument, Type::Text, Box::new(error)))
}

/// The condition in the first argument, parsed once per execution of a statement.
fn matcher(context: &Context<'_>) -> Result<Arc<ConditionMatcher>> {
    context.get_or_create_aux(0, |parameter| {
        read_parameter::<Condition>(parameter).map(|condition| ConditionMatcher::new(&condition))
    })
}

fn read_parameter<T: serde::de::DeserializeOwned>(
    parameter: ValueRef<'_>,
) -> std::result::Result<T, Box<dyn std::error::Error + Send + Sync>> {
    Ok(serde_json::from_str(parameter.as_str()?)?)
}
