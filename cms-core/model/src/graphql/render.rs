//! Renders selected fields of objects as JSON. Stored texts are copied, not parsed completely.
//!
//! Linked objects are not read yet when an object is rendered: its template keeps placeholders,
//! which are filled with the templates of the linked objects.

use indexmap::IndexMap;

use super::{
    model::ValueShape,
    plan::{Keyed, KeyedField, PlannedRelation, SelectedField, Selection},
};
use crate::{
    error::Result,
    json, limits,
    memory::BufferReservation,
    object::{
        model::StoredObject,
        render::{internal_value, string},
        scan,
    },
};

/// JSON with placeholders for the objects of relations.
#[derive(Default)]
pub struct Template {
    pub json: Vec<u8>,
    placeholders: Vec<Placeholder>,
}

/// A position in a template, the relation, and indexes of its objects to insert there.
struct Placeholder {
    at: usize,
    relation: usize,
    targets: Vec<usize>,
}

impl Template {
    /// Appends an object; `append` appends the values of declared fields.
    pub fn object<T>(&mut self, fields: &[Keyed<T>], mut append: impl FnMut(&mut Self, &T)) {
        for (index, field) in fields.iter().enumerate() {
            // The caller rejects a template of this length.
            if self.json.len() > limits::MAX_GRAPHQL_RESPONSE_BYTES {
                return;
            }
            self.json.push(if index == 0 { b'{' } else { b',' });
            self.json.extend_from_slice(&field.key);
            match &field.field {
                KeyedField::TypeName(name) => self.json.extend_from_slice(name),
                KeyedField::Declared(field) => append(self, field),
            }
        }
        self.json.extend_from_slice(if fields.is_empty() { b"{}" } else { b"}" });
    }

    /// Appends another template.
    pub fn append(&mut self, mut other: Self) {
        let start = self.json.len();
        self.json.append(&mut other.json);
        self.placeholders.extend(
            other
                .placeholders
                .into_iter()
                .map(|placeholder| Placeholder { at: placeholder.at + start, ..placeholder }),
        );
    }
}

/// The linked objects of each relation, by id in lower case: none until the object is read.
pub struct RelationTargets<'p> {
    relations: &'p [PlannedRelation],
    found: Vec<IndexMap<String, Option<Template>>>,
    /// Number of links that were followed.
    links: usize,
}

impl<'p> RelationTargets<'p> {
    pub fn of(relations: &'p [PlannedRelation]) -> Self {
        Self { relations, found: relations.iter().map(|_| IndexMap::new()).collect(), links: 0 }
    }

    /// Returns whether relations follow more links than a query may. Further links are not in the
    /// templates.
    pub fn has_too_many_links(&self) -> bool {
        self.links > limits::MAX_GRAPHQL_LINKS
    }

    /// Ids of the linked objects of a relation.
    pub fn ids(&self, relation: usize) -> impl ExactSizeIterator<Item = &str> {
        self.found[relation].keys().map(String::as_str)
    }

    /// Returns whether an object links to `id`, in lower case, through a relation.
    pub fn is_linked(&self, relation: usize, id: &str) -> bool {
        self.found[relation].contains_key(id)
    }

    pub fn set(&mut self, relation: usize, id: &str, text: Template) {
        if let Some(found) = self.found[relation].get_mut(id) {
            *found = Some(text);
        }
    }

    /// Appends the selected fields of an object.
    pub fn object(
        &mut self,
        text: &mut Template,
        selection: &Selection,
        content_type: &str,
        stored: &StoredObject<'_>,
    ) {
        self.fields(text, selection, &stored.data, Some((content_type, stored)));
    }

    /// Appends the selected fields of an object, or of a nested value.
    fn fields(
        &mut self,
        text: &mut Template,
        selection: &Selection,
        data: &str,
        object: Option<(&str, &StoredObject<'_>)>,
    ) {
        let values = members(data, &selection.members);
        text.object(&selection.fields, |text, field| match (field, object) {
            (SelectedField::Id, Some((_, stored))) => string(&mut text.json, &stored.id),
            (SelectedField::Internal(fields), Some((content_type, stored))) => {
                text.object(fields, |text, field| {
                    internal_value(&mut text.json, *field, content_type, &stored.internal);
                });
            }
            (SelectedField::Member { member, shape, required, inner }, _) => {
                let fits = |value: &&str| has_shape(value, *shape);
                match values[*member].filter(fits) {
                    Some(value) => self.value(text, *shape, inner, value),
                    None if *required => text.json.extend_from_slice(empty(*shape)),
                    None => text.json.extend_from_slice(b"null"),
                }
            }
            (SelectedField::Relation { member, relation }, _) => match values[*member] {
                Some(links) if links.starts_with('[') => self.placeholder(text, *relation, links),
                _ => text.json.extend_from_slice(b"null"),
            },
            // Nested values have neither an id nor `internal`.
            (SelectedField::Id | SelectedField::Internal(_), None) => {
                text.json.extend_from_slice(b"null");
            }
        });
    }

    /// Appends a placeholder for the objects that links point to.
    fn placeholder(&mut self, text: &mut Template, relation: usize, links: &str) {
        let target_type = &self.relations[relation].content_type;
        let found = &mut self.found[relation];
        let mut targets = Vec::new();
        for link in json::elements(links) {
            self.links += 1;
            if self.links > limits::MAX_GRAPHQL_LINKS {
                break;
            }
            if let Some((content_type, id)) = scan::internal_link(link)
                && content_type == *target_type
            {
                let entry = found.entry(id.to_ascii_lowercase());
                targets.push(entry.index());
                entry.or_default();
            }
        }
        text.json.push(b'[');
        text.placeholders.push(Placeholder { at: text.json.len(), relation, targets });
        text.json.push(b']');
    }

    fn value(&mut self, text: &mut Template, shape: ValueShape, inner: &Selection, value: &str) {
        match shape {
            ValueShape::Text | ValueShape::Number | ValueShape::Boolean | ValueShape::Json => {
                text.json.extend_from_slice(value.as_bytes());
            }
            ValueShape::Time if value.starts_with('"') => {
                text.json.extend_from_slice(value.as_bytes());
            }
            ValueShape::Time => string(&mut text.json, value),
            ValueShape::Texts => {
                let is_text = |item: &&str| item.starts_with('"');
                list(text, json::elements(value), |text, item| {
                    let item = Some(item).filter(is_text).unwrap_or("null");
                    text.json.extend_from_slice(item.as_bytes());
                });
            }
            ValueShape::Object => self.fields(text, inner, value, None),
            ValueShape::List => list(text, json::elements(value), |text, item| {
                if item.starts_with('{') {
                    self.fields(text, inner, item, None);
                } else {
                    text.json.extend_from_slice(b"null");
                }
            }),
        }
    }

    /// Fills the placeholders of a template; none when the result exceeds the limits of a response.
    /// `objects` counts the inserted objects.
    pub fn fill(
        &self,
        text: &Template,
        objects: &mut usize,
        buffered: &mut BufferReservation<'_>,
    ) -> Result<Option<Vec<u8>>> {
        let expected = text.json.len() * 2;
        buffered.grow_to(expected)?;
        let mut out = Vec::with_capacity(expected);
        let is_complete = self.fill_into(&mut out, text, objects, buffered)?;
        Ok(is_complete.then_some(out))
    }

    /// Returns false when the result exceeds the limits of a response.
    fn fill_into(
        &self,
        out: &mut Vec<u8>,
        text: &Template,
        objects: &mut usize,
        buffered: &mut BufferReservation<'_>,
    ) -> Result<bool> {
        let mut copied = 0;
        for placeholder in &text.placeholders {
            out.extend_from_slice(&text.json[copied..placeholder.at]);
            copied = placeholder.at;
            let found = &self.found[placeholder.relation];
            let mut is_first = true;
            for target in placeholder.targets.iter().filter_map(|target| found[*target].as_ref()) {
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
                buffered.grow_to(out.capacity())?;
            }
        }
        out.extend_from_slice(&text.json[copied..]);
        Ok(true)
    }
}

fn list<'v>(
    text: &mut Template,
    items: impl Iterator<Item = &'v str>,
    mut item: impl FnMut(&mut Template, &'v str),
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

/// Finds members of a stored object by name.
fn members<'j>(data: &'j str, names: &[String]) -> Vec<Option<&'j str>> {
    let mut values = vec![None; names.len()];
    let mut missing = names.len();
    if missing == 0 {
        return values;
    }
    for (key, value) in json::members(data) {
        if let Some(index) = names.iter().position(|name| name == key) {
            values[index] = Some(value);
            missing -= 1;
            if missing == 0 {
                break;
            }
        }
    }
    values
}

/// Whether a stored value has the form of its field: stored data may be older than the type.
fn has_shape(value: &str, shape: ValueShape) -> bool {
    let first = value.as_bytes().first().copied().unwrap_or_default();
    match shape {
        ValueShape::Text => first == b'"',
        ValueShape::Number => first == b'-' || first.is_ascii_digit(),
        ValueShape::Boolean => first == b't' || first == b'f',
        ValueShape::Time => first == b'"' || first == b'-' || first.is_ascii_digit(),
        ValueShape::Texts | ValueShape::List => first == b'[',
        ValueShape::Object => first == b'{',
        ValueShape::Json => true,
    }
}

/// The value of a required field that is missing (see docs/reference/graphql.md#types).
fn empty(shape: ValueShape) -> &'static [u8] {
    match shape {
        ValueShape::Number => b"0",
        ValueShape::Boolean => b"false",
        _ => b"\"\"",
    }
}
