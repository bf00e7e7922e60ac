//! Arguments of root fields as requests for lists, which is what the rest of the API reads
//! (contract 8.1, 8.2). The query was found valid; what is left to find here is what types say
//! about values.

use serde_json::{Map, Value, json};

use super::{fault::Fault, input::Values};
use crate::{
    content_type::model::{InputType, Property, SchemaType},
    limits,
    paging::{ListRange, Page},
    wire::object::ListRequest,
};

/// Operators that take a list; in a filter of GraphQL it is the JSON text of one.
const LIST_OPERATORS: [&str; 5] = ["equals", "notEqual", "notEquals", "overlaps", "includes"];

/// How the one object of a root field is found.
pub enum One<'v> {
    ById(&'v str),
    First(ListRequest, ListRange),
}

/// Reads the arguments that name one object.
pub fn one<'v>(properties: &[Property], arguments: &'v Values) -> Result<One<'v>, Fault> {
    let id = text(arguments, "id");
    match (id, by_value(properties, arguments)?) {
        (Some(id), None) => Ok(One::ById(id)),
        (None, None) => Err(Fault::bad_request("Either id or field with value is required")),
        (id, Some((path, condition))) => {
            let request = ListRequest {
                filters: Some(json!({ path: condition }).to_string()),
                ids: id.map(|id| vec![id.to_owned()]),
                ..ListRequest::default()
            };
            Ok(One::First(request, ListRange { offset: 0, limit: 1 }))
        }
    }
}

/// Reads the arguments of a flat list.
pub fn list(arguments: &Values) -> (ListRequest, ListRange) {
    let filters = text(arguments, "filter").map(str::to_owned);
    let page = Page {
        number: at_least_one(arguments, "page").unwrap_or(1),
        limit: limit(arguments, "limit", limits::DEFAULT_PAGE_SIZE),
    };
    (ListRequest { filters, ..order(arguments) }, page.into())
}

/// Reads the arguments of a connection.
pub fn connection(
    properties: &[Property],
    arguments: &Values,
) -> Result<(ListRequest, ListRange), Fault> {
    let request = ListRequest {
        filters: Some(filters(properties, arguments)?),
        ids: text(arguments, "id").map(|id| vec![id.to_owned()]),
        ..order(arguments)
    };
    let slice = ListRange {
        offset: arguments.get("offset").and_then(Value::as_f64).map_or(0, whole),
        limit: limit(arguments, "first", limits::DEFAULT_CONNECTION_SIZE),
    };
    Ok((request, slice))
}

/// Text of an argument; null is as good as none.
fn text<'v>(arguments: &'v Values, name: &str) -> Option<&'v str> {
    arguments.get(name).and_then(Value::as_str)
}

/// A whole number that was found to be one; below zero it counts as zero.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is an Int")]
fn whole(number: f64) -> u64 {
    number.max(0.0) as u64
}

/// A number from 1 on; others count as not given (contract 1.8).
fn at_least_one(arguments: &Values, name: &str) -> Option<u32> {
    let number = arguments.get(name).and_then(Value::as_f64).map(whole);
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

/// Reads `field` and `value`: the condition that both make, when they are given.
fn by_value<'p>(
    properties: &'p [Property],
    arguments: &Values,
) -> Result<Option<(&'p str, Value)>, Fault> {
    let (field, value) = match (text(arguments, "field"), text(arguments, "value")) {
        (Some(field), Some(value)) => (field, value),
        (None, None) => return Ok(None),
        (Some(_), None) => return Err(Fault::bad_request("The argument field needs a value")),
        (None, Some(_)) => return Err(Fault::bad_request("The argument value needs a field")),
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
        return Err(Fault::bad_request(message));
    };
    Ok(Some((&property.name, json!({ "type": "equals", "filter": value }))))
}

/// Writes the conditions of a connection as those of a list (contract 8.2).
fn filters(properties: &[Property], arguments: &Values) -> Result<String, Fault> {
    let mut filters = Map::new();
    if let Some(Value::Object(given)) = arguments.get("filter") {
        for (path, filter) in given {
            if filter.is_null() {
                continue;
            }
            let operator = filter["type"].as_str().unwrap_or_default();
            let mut filter = filter.clone();
            if LIST_OPERATORS.contains(&operator) {
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
        // A path has two spellings, so that there can be two conditions on it.
        filters.insert(format!("$.{path}"), other);
    }
    filters.insert(path.to_owned(), condition);
    Ok(Value::Object(filters).to_string())
}
