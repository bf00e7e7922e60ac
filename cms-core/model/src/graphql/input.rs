//! Validates arguments and variables, and reads their values.
//!
//! Messages are those of the reference implementation, so that they can be searched for.

use async_graphql::{
    Positioned,
    parser::types::{BaseType, Field, OperationDefinition, Type},
};
use async_graphql_value::{ConstValue, Value as Literal};
use indexmap::IndexMap;
use serde_json::{Map, Value, json};

use super::{
    error::QueryError,
    model::{Model, NamedType, Scalar, TypeRef},
};
use crate::limits;

/// Limits of a value in a message: levels, elements of each, characters of a text.
const PRINTED_DEPTH: usize = 2;
const PRINTED_ITEMS: usize = 10;
const PRINTED_CHARS: usize = 100;

/// Values by name, without those that the request omits.
pub type Values = Map<String, Value>;

/// Checks a literal, except variables in it.
pub fn check_literal(model: &Model, literal: &Literal, wanted: &str, errors: &mut Vec<String>) {
    if let Literal::Variable(_) = literal {
        return;
    }
    if let Some(inner) = wanted.strip_suffix('!') {
        if *literal == Literal::Null {
            errors.push(format!("Expected value of type \"{wanted}\", found null."));
        } else {
            check_literal(model, literal, inner, errors);
        }
        return;
    }
    if *literal == Literal::Null {
        return;
    }
    if let Some(inner) = wanted.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        match literal {
            Literal::List(items) => {
                for item in items {
                    check_literal(model, item, inner, errors);
                }
            }
            one => check_literal(model, one, inner, errors),
        }
        return;
    }
    match (model.find(wanted), literal) {
        (Some(NamedType::Input(index)), Literal::Object(given)) => {
            let input = &model.inputs[index];
            for (name, field) in &input.fields {
                match given.get(name.as_str()) {
                    Some(value) => check_literal(model, value, &field.type_ref.text, errors),
                    None if field.type_ref.is_required() => errors.push(format!(
                        "Field \"{}.{name}\" of required type \"{}\" was not provided.",
                        input.name, field.type_ref.text
                    )),
                    None => {}
                }
            }
            for name in given.keys().filter(|name| !input.fields.contains_key(name.as_str())) {
                errors.push(format!("Field \"{name}\" is not defined by type \"{wanted}\"."));
            }
        }
        (Some(NamedType::Input(_)), other) => {
            errors.push(format!("Expected value of type \"{wanted}\", found {other}."));
        }
        // A literal with a fraction of 0 is no integer, unlike the value of a variable.
        (Some(NamedType::Scalar(Scalar::Int)), Literal::Number(number))
            if number.is_f64() && number.to_string().contains('.') =>
        {
            errors.push(format!("Int cannot represent non-integer value: {literal}"));
        }
        (Some(NamedType::Scalar(scalar)), _) => {
            if let Some(reason) =
                scalar_error(scalar, &literal_value(literal), &literal.to_string())
            {
                errors.push(reason);
            }
        }
        (Some(NamedType::Object(_)) | None, _) => {}
    }
}

/// The value of a scalar literal; null for an enum, as this schema has no enum inputs.
fn literal_value(literal: &Literal) -> Value {
    match literal {
        Literal::String(text) => Value::String(text.clone()),
        Literal::Number(number) => Value::Number(number.clone()),
        Literal::Boolean(boolean) => Value::Bool(*boolean),
        _ => Value::Null,
    }
}

/// Returns whether an integer has 32 bits.
fn is_int(integer: f64) -> bool {
    (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&integer)
}

/// Returns the error of a value that is not of a scalar type; `shown` is the value as it was
/// written.
fn scalar_error(scalar: Scalar, value: &Value, shown: &str) -> Option<String> {
    match (scalar, value) {
        (Scalar::String | Scalar::Id, Value::String(_))
        | (Scalar::Float, Value::Number(_))
        | (Scalar::Boolean, Value::Bool(_))
        | (Scalar::Json | Scalar::IntrospectionEnum, _) => None,
        (Scalar::Id, Value::Number(number)) if number.is_i64() => None,
        (Scalar::Int, Value::Number(number)) => {
            let integer = number.as_f64().filter(|number| number.fract() == 0.0);
            match integer {
                Some(integer) if is_int(integer) => None,
                Some(_) => {
                    Some(format!("Int cannot represent non 32-bit signed integer value: {shown}"))
                }
                None => Some(format!("Int cannot represent non-integer value: {shown}")),
            }
        }
        (Scalar::Int, _) => Some(format!("Int cannot represent non-integer value: {shown}")),
        (Scalar::Float, _) => Some(format!("Float cannot represent non numeric value: {shown}")),
        (Scalar::Boolean, _) => {
            Some(format!("Boolean cannot represent a non boolean value: {shown}"))
        }
        (Scalar::String, _) => Some(format!("String cannot represent a non string value: {shown}")),
        (Scalar::Id, _) => {
            Some(format!("ID cannot represent a non-string and non-integer value: {shown}"))
        }
    }
}

/// Reads the variables of a request that the operation declares.
pub fn variables(
    model: &Model,
    operation: &OperationDefinition,
    given: &Map<String, Value>,
) -> Result<Values, Vec<QueryError>> {
    let mut values = Values::new();
    let mut errors = Vec::new();
    for definition in &operation.variable_definitions {
        let (position, definition) = (definition.pos, &definition.node);
        let name = definition.name.node.as_str();
        let wanted = definition.var_type.node.to_string();
        match (given.get(name), &definition.default_value) {
            (None, Some(default)) => {
                values.insert(name.to_owned(), to_json(default.node.clone()));
            }
            (None, None) if definition.var_type.node.nullable => {}
            (None, None) => errors.push(QueryError::invalid(
                format!("Variable \"${name}\" of required type \"{wanted}\" was not provided."),
                &[position],
            )),
            (Some(Value::Null), _) if !definition.var_type.node.nullable => {
                let message =
                    format!("Variable \"${name}\" of non-null type \"{wanted}\" must not be null.");
                errors.push(QueryError::invalid(message, &[position]));
            }
            (Some(value), _) => {
                let mut problems = Vec::new();
                check_value(model, value, &definition.var_type.node, name, &mut problems);
                errors.extend(problems.into_iter().map(|(shown, path, reason)| {
                    let at = if path == name { String::new() } else { format!(" at \"{path}\"") };
                    let message =
                        format!("Variable \"${name}\" got invalid value {shown}{at}; {reason}");
                    QueryError::invalid(message, &[position])
                }));
                values.insert(name.to_owned(), value.clone());
            }
        }
    }
    if errors.is_empty() { Ok(values) } else { Err(errors) }
}

/// Checks the value of a variable: adds the printed value, its path and the reason to `problems`.
fn check_value(
    model: &Model,
    value: &Value,
    wanted: &Type,
    path: &str,
    problems: &mut Vec<(String, String, String)>,
) {
    if problems.len() >= limits::MAX_GRAPHQL_ERRORS {
        return;
    }
    let mut report = |reason: String| problems.push((print(value), path.to_owned(), reason));
    if value.is_null() {
        if !wanted.nullable {
            report(format!("Expected non-nullable type \"{wanted}\" not to be null."));
        }
        return;
    }
    let name = match &wanted.base {
        BaseType::List(inner) => {
            match value {
                Value::Array(items) => {
                    for (index, item) in items.iter().enumerate() {
                        check_value(model, item, inner, &format!("{path}[{index}]"), problems);
                    }
                }
                one => check_value(model, one, inner, path, problems),
            }
            return;
        }
        BaseType::Named(name) => name.as_str(),
    };
    match (model.find(name), value) {
        (Some(NamedType::Scalar(scalar)), _) => {
            if let Some(reason) = scalar_error(scalar, value, &print(value)) {
                report(reason);
            }
        }
        (Some(NamedType::Input(index)), Value::Object(given)) => {
            let input = &model.inputs[index];
            for (field, expected) in &input.fields {
                let expected = &expected.type_ref.text;
                match given.get(field) {
                    Some(inner) => {
                        let wanted = Type::new(expected).expect("the model writes types");
                        check_value(model, inner, &wanted, &format!("{path}.{field}"), problems);
                    }
                    None if expected.ends_with('!') => problems.push((
                        print(value),
                        path.to_owned(),
                        format!(
                            "Field \"{field}\" of required type \"{expected}\" was not provided."
                        ),
                    )),
                    None => {}
                }
            }
            let unknown = given.keys().filter(|field| !input.fields.contains_key(*field));
            for field in unknown.take(limits::MAX_GRAPHQL_ERRORS) {
                let reason = format!("Field \"{field}\" is not defined by type \"{name}\".");
                problems.push((print(value), path.to_owned(), reason));
            }
        }
        (Some(NamedType::Input(_)), _) => {
            report(format!("Expected type \"{name}\" to be an object."));
        }
        (Some(NamedType::Object(_)) | None, _) => {}
    }
}

/// A value as the reference implementation prints it in messages, deep levels left out.
fn print(value: &Value) -> String {
    print_at(value, 0)
}

fn print_at(value: &Value, depth: usize) -> String {
    let inner = |value: &Value| print_at(value, depth + 1);
    match value {
        Value::Array(items) if items.is_empty() => "[]".to_owned(),
        Value::Array(_) if depth > PRINTED_DEPTH => "[Array]".to_owned(),
        Value::Array(items) => {
            let mut shown: Vec<String> = items.iter().take(PRINTED_ITEMS).map(inner).collect();
            match items.len().saturating_sub(PRINTED_ITEMS) {
                0 => {}
                1 => shown.push("... 1 more item".to_owned()),
                more => shown.push(format!("... {more} more items")),
            }
            format!("[{}]", shown.join(", "))
        }
        Value::Object(fields) if fields.is_empty() => "{}".to_owned(),
        Value::Object(_) if depth > PRINTED_DEPTH => "[Object]".to_owned(),
        Value::Object(fields) => {
            let shown = fields.iter().take(PRINTED_ITEMS);
            let shown = shown.map(|(name, value)| format!("{name}: {}", inner(value)));
            format!("{{ {} }}", shown.collect::<Vec<_>>().join(", "))
        }
        Value::String(text) if text.chars().nth(PRINTED_CHARS).is_some() => {
            let start: String = text.chars().take(PRINTED_CHARS).collect();
            json!(start + "...").to_string()
        }
        other => other.to_string(),
    }
}

/// Reads the arguments of a valid field.
pub fn arguments(
    field: &Field,
    declared: &IndexMap<String, TypeRef>,
    variables: &Values,
) -> Values {
    let given =
        field.arguments.iter().filter(|(name, _)| declared.contains_key(name.node.as_str()));
    given
        .filter_map(|(name, value)| Some((name.node.to_string(), resolve(&value.node, variables)?)))
        .collect()
}

/// Bytes of the texts in a literal, the values of its variables included: a query may use a long value
/// many times.
pub fn text_size(literal: &Literal, variables: &Values) -> usize {
    match literal {
        Literal::String(text) => text.len(),
        Literal::Variable(name) => variables.get(name.as_str()).map_or(0, text_bytes),
        Literal::List(items) => items.iter().map(|item| text_size(item, variables)).sum(),
        Literal::Object(fields) => fields.values().map(|field| text_size(field, variables)).sum(),
        _ => 0,
    }
}

fn text_bytes(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(items) => items.iter().map(text_bytes).sum(),
        Value::Object(fields) => fields.values().map(text_bytes).sum(),
        _ => 0,
    }
}

/// Evaluates the condition of `@skip` or `@include`.
pub fn condition(value: &Positioned<Literal>, variables: &Values) -> bool {
    resolve(&value.node, variables) == Some(Value::Bool(true))
}

/// The value of a literal; none for a variable that the request omits.
fn resolve(literal: &Literal, variables: &Values) -> Option<Value> {
    Some(match literal {
        Literal::Variable(name) => variables.get(name.as_str())?.clone(),
        Literal::List(items) => {
            items.iter().map(|item| resolve(item, variables).unwrap_or(Value::Null)).collect()
        }
        Literal::Object(fields) => fields
            .iter()
            .filter_map(|(name, value)| Some((name.to_string(), resolve(value, variables)?)))
            .collect::<Map<_, _>>()
            .into(),
        other => to_json(other.clone().into_const()?),
    })
}

/// A literal without variables as JSON.
fn to_json(literal: ConstValue) -> Value {
    literal.into_json().expect("names of fields are texts")
}
