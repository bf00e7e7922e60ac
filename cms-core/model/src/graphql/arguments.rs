//! Converts the arguments of root fields into the list requests of the REST API (see
//! docs/reference/graphql.md#version-1 and docs/reference/graphql.md#version-2). The query is
//! valid; this module makes the remaining checks, which depend on content types.

use serde_json::{Map, Value, json};

use super::{error::QueryError, input::Values};
use crate::{
    content_type::model::{InputType, Property, SchemaType},
    limits,
    paging::{ListRange, PageRequest},
    query::filter::Operator,
    wire::object::ListRequest,
};

/// How the object of a root field is found.
pub enum ObjectLookup<'v> {
    ById(&'v str),
    First(ListRequest, ListRange),
}

/// Reads the arguments of a root field that returns one object.
pub fn object<'v>(
    properties: &[Property],
    arguments: &'v Values,
) -> Result<ObjectLookup<'v>, QueryError> {
    let id = text(arguments, "id");
    match (id, by_value(properties, arguments)?) {
        (Some(id), None) => Ok(ObjectLookup::ById(id)),
        (None, None) => Err(QueryError::bad_request("Either id or field with value is required")),
        (id, Some((path, condition))) => {
            let request = ListRequest {
                filters: Some(json!({ path: condition }).to_string()),
                ids: id.map(|id| vec![id.to_owned()]),
                ..ListRequest::default()
            };
            Ok(ObjectLookup::First(request, ListRange { offset: 0, limit: 1 }))
        }
    }
}

/// Reads the arguments of a flat list.
pub fn list(arguments: &Values) -> (ListRequest, ListRange) {
    let filters = text(arguments, "filter").map(str::to_owned);
    let page = PageRequest {
        number: at_least_one(arguments, "page").unwrap_or(1),
        limit: limit(arguments, "limit", limits::DEFAULT_PAGE_SIZE),
    };
    (ListRequest { filters, ..order(arguments) }, page.into())
}

/// Reads the arguments of a connection.
pub fn connection(
    properties: &[Property],
    arguments: &Values,
) -> Result<(ListRequest, ListRange), QueryError> {
    let request = ListRequest {
        filters: Some(filters(properties, arguments)?),
        ids: text(arguments, "id").map(|id| vec![id.to_owned()]),
        ..order(arguments)
    };
    let range = ListRange {
        offset: arguments.get("offset").and_then(Value::as_f64).map_or(0, non_negative),
        limit: limit(arguments, "first", limits::DEFAULT_CONNECTION_SIZE),
    };
    Ok((request, range))
}

/// Text of an argument; null counts as absent.
fn text<'v>(arguments: &'v Values, name: &str) -> Option<&'v str> {
    arguments.get(name).and_then(Value::as_str)
}

/// Converts a valid `Int`; a negative number becomes 0.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is an Int")]
fn non_negative(number: f64) -> u64 {
    number.max(0.0) as u64
}

/// A positive number; others count as absent (see docs/reference/http.md#query-parameters).
fn at_least_one(arguments: &Values, name: &str) -> Option<u32> {
    let number = arguments.get(name).and_then(Value::as_f64).map(non_negative);
    number.and_then(|number| u32::try_from(number).ok()).filter(|number| *number >= 1)
}

fn limit(arguments: &Values, name: &str, default: u32) -> u32 {
    at_least_one(arguments, name).unwrap_or(default).min(limits::MAX_PAGE_SIZE)
}

fn order(arguments: &Values) -> ListRequest {
    let direction = text(arguments, "order_direction").unwrap_or_default();
    ListRequest {
        order_by: text(arguments, "order_by").map(str::to_owned),
        descending: direction.eq_ignore_ascii_case("desc"),
        ..ListRequest::default()
    }
}

/// Reads `field` and `value` as one condition; none when both are absent.
fn by_value<'p>(
    properties: &'p [Property],
    arguments: &Values,
) -> Result<Option<(&'p str, Value)>, QueryError> {
    let (field, value) = match (text(arguments, "field"), text(arguments, "value")) {
        (Some(field), Some(value)) => (field, value),
        (None, None) => return Ok(None),
        (Some(_), None) => return Err(QueryError::bad_request("The argument field needs a value")),
        (None, Some(_)) => return Err(QueryError::bad_request("The argument value needs a field")),
    };
    let is_text = |input: InputType| input != InputType::DateTime;
    let property = properties.iter().find(|property| {
        property.name == field
            && property.unique
            && property.schema_type == SchemaType::String
            && is_text(property.input_type)
    });
    let Some(property) = property else {
        let message = format!("The field \"{field}\" is not a unique text property");
        return Err(QueryError::bad_request(message));
    };
    Ok(Some((&property.name, json!({ "type": "equals", "filter": value }))))
}

/// Converts the filter of a connection to the `filters` of a list.
fn filters(properties: &[Property], arguments: &Values) -> Result<String, QueryError> {
    let mut filters = Map::new();
    if let Some(Value::Object(given)) = arguments.get("filter") {
        for (path, filter) in given {
            if filter.is_null() {
                continue;
            }
            let operator = filter["type"].as_str().unwrap_or_default();
            let mut filter = filter.clone();
            // A GraphQL filter has lists as JSON text.
            if Operator::from_parameter(operator).is_some_and(Operator::takes_list_in_graphql) {
                let list =
                    filter["filter"].as_str().filter(|text| text.trim_start().starts_with('['));
                if let Some(Ok(list)) = list.map(serde_json::from_str::<Vec<Value>>) {
                    filter["filter"] = Value::Array(list);
                }
            }
            filters.insert(path.clone(), filter);
        }
    }
    let by_value = by_value(properties, arguments)?;
    let Some((path, condition)) = by_value else { return Ok(Value::Object(filters).to_string()) };
    if let Some(other) = filters.remove(path) {
        // Both conditions apply, because `x` and `$.x` are two keys for the same path.
        filters.insert(format!("$.{path}"), other);
    }
    filters.insert(path.to_owned(), condition);
    Ok(Value::Object(filters).to_string())
}
