//! What is selected of an object, as JSON. Stored texts are copied, never parsed as a whole.
//!
//! Objects that relations lead to are not known yet when an object is written: the text keeps holes
//! for them, and is put together with their texts when these are there.

use indexmap::IndexMap;

use super::{
    model::Shape,
    plan::{Internal, Keyed, Picked, Relation, Selection},
};
use crate::{
    dates,
    error::Result,
    json, limits,
    memory::BufferReservation,
    object::{
        model::{self, StoredObject},
        render::{integer, string},
        scan,
    },
    query::path::InternalField,
};

/// JSON with holes where objects of relations belong.
#[derive(Default)]
pub struct Text {
    pub json: Vec<u8>,
    holes: Vec<Hole>,
}

/// A place in a text, the relation that it is for, and which of its objects belong there.
struct Hole {
    at: usize,
    relation: usize,
    targets: Vec<usize>,
}

impl Text {
    /// Appends another text.
    pub fn append(&mut self, mut other: Self) {
        let start = self.json.len();
        self.json.append(&mut other.json);
        self.holes.extend(other.holes.into_iter().map(|hole| Hole { at: hole.at + start, ..hole }));
    }
}

/// Objects that relations lead to: for each relation by id in lower case, none while nobody has
/// found it.
pub struct Targets<'p> {
    relations: &'p [Relation],
    found: Vec<IndexMap<String, Option<Text>>>,
}

impl<'p> Targets<'p> {
    pub fn of(relations: &'p [Relation]) -> Self {
        Self { relations, found: relations.iter().map(|_| IndexMap::new()).collect() }
    }

    /// Ids of the objects that a relation leads to.
    pub fn ids(&self, relation: usize) -> impl ExactSizeIterator<Item = &str> {
        self.found[relation].keys().map(String::as_str)
    }

    /// Tells whether a relation leads to the object of this id, in lower case.
    pub fn leads_to(&self, relation: usize, id: &str) -> bool {
        self.found[relation].contains_key(id)
    }

    pub fn set(&mut self, relation: usize, id: &str, text: Text) {
        if let Some(found) = self.found[relation].get_mut(id) {
            *found = Some(text);
        }
    }

    /// Appends a selection of an object.
    pub fn object(
        &mut self,
        text: &mut Text,
        selection: &Selection,
        content_type: &str,
        stored: &StoredObject<'_>,
    ) {
        self.fields(text, selection, &stored.data, Some((content_type, stored)));
    }

    /// Appends a selection of an object, or of what is stored inside one.
    fn fields(
        &mut self,
        text: &mut Text,
        selection: &Selection,
        data: &str,
        whole: Option<(&str, &StoredObject<'_>)>,
    ) {
        let values = members(data, &selection.members);
        for (index, field) in selection.fields.iter().enumerate() {
            // Whoever gets this text sees by its length that it is none to send.
            if text.json.len() > limits::MAX_GRAPHQL_RESPONSE_BYTES {
                return;
            }
            text.json.push(if index == 0 { b'{' } else { b',' });
            text.json.extend_from_slice(&field.key);
            match (&field.value, whole) {
                (Picked::Text(fixed), _) => text.json.extend_from_slice(fixed),
                (Picked::Id, Some((_, stored))) => string(&mut text.json, &stored.id),
                (Picked::Internal(fields), Some((content_type, stored))) => {
                    internal(&mut text.json, fields, content_type, &stored.internal);
                }
                (Picked::Member { member, shape, required, inner }, _) => {
                    let fits = |value: &&str| has_shape(value, *shape);
                    match values[*member].filter(fits) {
                        Some(value) => self.value(text, *shape, inner, value),
                        None if *required => text.json.extend_from_slice(empty(*shape)),
                        None => text.json.extend_from_slice(b"null"),
                    }
                }
                (Picked::Relation { member, relation }, _) => match values[*member] {
                    Some(links) if links.starts_with('[') => self.hole(text, *relation, links),
                    _ => text.json.extend_from_slice(b"null"),
                },
                // Only whole objects have these.
                (Picked::Id | Picked::Internal(_), None) => text.json.extend_from_slice(b"null"),
            }
        }
        text.json.extend_from_slice(if selection.fields.is_empty() { b"{}" } else { b"}" });
    }

    /// Leaves a hole for the objects that links lead to.
    fn hole(&mut self, text: &mut Text, relation: usize, links: &str) {
        let wanted = &self.relations[relation].content_type;
        let found = &mut self.found[relation];
        let mut targets = Vec::new();
        for (content_type, id) in json::elements(links).filter_map(scan::internal_link) {
            if content_type == *wanted {
                let entry = found.entry(id.to_ascii_lowercase());
                targets.push(entry.index());
                entry.or_default();
            }
        }
        text.json.push(b'[');
        text.holes.push(Hole { at: text.json.len(), relation, targets });
        text.json.push(b']');
    }

    fn value(&mut self, text: &mut Text, shape: Shape, inner: &Selection, value: &str) {
        match shape {
            Shape::Text | Shape::Number | Shape::Boolean | Shape::Json => {
                text.json.extend_from_slice(value.as_bytes());
            }
            Shape::Time if value.starts_with('"') => text.json.extend_from_slice(value.as_bytes()),
            Shape::Time => string(&mut text.json, value),
            Shape::Texts => {
                let is_text = |item: &&str| item.starts_with('"');
                list(text, json::elements(value), |text, item| {
                    let item = Some(item).filter(is_text).unwrap_or("null");
                    text.json.extend_from_slice(item.as_bytes());
                });
            }
            Shape::Object => self.fields(text, inner, value, None),
            Shape::List => list(text, json::elements(value), |text, item| {
                if item.starts_with('{') {
                    self.fields(text, inner, item, None);
                } else {
                    text.json.extend_from_slice(b"null");
                }
            }),
        }
    }

    /// Fills the holes of a text. None when that makes more than a response may hold.
    pub fn fill(
        &self,
        text: &Text,
        objects: &mut usize,
        buffered: &mut BufferReservation<'_>,
    ) -> Result<Option<Vec<u8>>> {
        let expected = text.json.len() * 2;
        buffered.cover(expected)?;
        let mut out = Vec::with_capacity(expected);
        let is_complete = self.fill_into(&mut out, text, objects, buffered)?;
        Ok(is_complete.then_some(out))
    }

    /// False when there is more than a response may hold.
    fn fill_into(
        &self,
        out: &mut Vec<u8>,
        text: &Text,
        objects: &mut usize,
        buffered: &mut BufferReservation<'_>,
    ) -> Result<bool> {
        let mut copied = 0;
        for hole in &text.holes {
            out.extend_from_slice(&text.json[copied..hole.at]);
            copied = hole.at;
            let found = &self.found[hole.relation];
            let mut is_first = true;
            for target in hole.targets.iter().filter_map(|target| found[*target].as_ref()) {
                *objects += 1;
                if *objects > limits::MAX_GRAPHQL_OBJECTS
                    || out.len() > limits::MAX_GRAPHQL_RESPONSE_BYTES
                {
                    return Ok(false);
                }
                if !std::mem::take(&mut is_first) {
                    out.push(b',');
                }
                if !self.fill_into(out, target, objects, buffered)? {
                    return Ok(false);
                }
                buffered.cover(out.capacity())?;
            }
        }
        out.extend_from_slice(&text.json[copied..]);
        Ok(true)
    }
}

fn list<'v>(
    text: &mut Text,
    items: impl Iterator<Item = &'v str>,
    mut item: impl FnMut(&mut Text, &'v str),
) {
    text.json.push(b'[');
    for (index, value) in items.enumerate() {
        if index > 0 {
            text.json.push(b',');
        }
        item(text, value);
    }
    text.json.push(b']');
}

/// Finds the members of some names in a stored object.
fn members<'j>(data: &'j str, names: &[String]) -> Vec<Option<&'j str>> {
    let mut values = vec![None; names.len()];
    let mut missing = names.len();
    if missing == 0 {
        return values;
    }
    for (key, value) in json::members(data) {
        if let Some(place) = names.iter().position(|name| name == key) {
            values[place] = Some(value);
            missing -= 1;
            if missing == 0 {
                break;
            }
        }
    }
    values
}

/// Tells whether a stored value is what a field promises: data may be older than their type.
fn has_shape(value: &str, shape: Shape) -> bool {
    let first = value.as_bytes().first().copied().unwrap_or_default();
    match shape {
        Shape::Text => first == b'"',
        Shape::Number => first == b'-' || first.is_ascii_digit(),
        Shape::Boolean => first == b't' || first == b'f',
        Shape::Time => first == b'"' || first == b'-' || first.is_ascii_digit(),
        Shape::Texts | Shape::List => first == b'[',
        Shape::Object => first == b'{',
        Shape::Json => true,
    }
}

/// What stands for a required value that is not there (contract 8.3).
fn empty(shape: Shape) -> &'static [u8] {
    match shape {
        Shape::Number => b"0",
        Shape::Boolean => b"false",
        _ => b"\"\"",
    }
}

fn internal(
    out: &mut Vec<u8>,
    fields: &[Keyed<Internal>],
    content_type: &str,
    internal: &model::Internal<'_>,
) {
    let date = |out: &mut Vec<u8>, at: i64| {
        out.push(b'"');
        dates::push_object_date(at, out);
        out.push(b'"');
    };
    for (index, field) in fields.iter().enumerate() {
        out.push(if index == 0 { b'{' } else { b',' });
        out.extend_from_slice(&field.key);
        let field = match &field.value {
            Internal::Text(fixed) => {
                out.extend_from_slice(fixed);
                continue;
            }
            Internal::Field(field) => field,
        };
        match field {
            InternalField::Status => string(out, internal.status.as_str()),
            InternalField::CreatedAt => date(out, internal.created_at),
            InternalField::UpdatedAt => date(out, internal.updated_at),
            InternalField::ContentType => string(out, content_type),
            InternalField::ObjectTitle => string(out, &internal.title),
            InternalField::LatestVersion => integer(out, internal.version),
            InternalField::WorkflowState => string(out, &internal.workflow_state),
            InternalField::PublicVersion => integer(out, internal.public_version.unwrap_or(-1)),
            InternalField::PublishedAt => match internal.published_at {
                Some(at) => date(out, at),
                None => string(out, ""),
            },
            // Empty while an object lives; the others are not shown.
            _ => string(out, ""),
        }
    }
    out.extend_from_slice(if fields.is_empty() { b"{}" } else { b"}" });
}
