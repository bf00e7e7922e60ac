//! The response to a search (see docs/reference/search.md#response). Objects are inserted as
//! stored.

use std::{borrow::Cow, collections::HashMap};

use cms_model::{
    content_type::catalog::CompiledType,
    context::Caller,
    dates,
    error::Result,
    memory::BufferReservation,
    object::{model::StoredObject, projection::Projection, render, view::View},
    wire::search::SearchRequest,
};
use cms_search::SearchResults;
use serde_json::{Map, Value};

use crate::object::hydrate::{Hydration, Text};

/// The fields that a search adds to the object of a hit; they replace properties of the same name.
pub(super) const HIT_FIELDS: [&str; 7] = [
    "object_data",
    "organization_id",
    "content_type_definition_id",
    "created_at",
    "updated_at",
    "deleted_at",
    "@timestamp",
];

/// Space for the fields before the hits.
const HEAD_BYTES: usize = 1024;

/// Hits, and their objects.
pub(super) struct Hits<'a> {
    pub(super) found: &'a SearchResults,
    /// By primary key.
    pub(super) rows: HashMap<i64, (&'a CompiledType, StoredObject<'static>)>,
    pub(super) organization: &'a str,
    pub(super) caller: &'a Caller,
    /// The requested parts of items; none for complete items.
    pub(super) projection: Option<&'a Projection>,
    /// Whether the index includes every write that was acknowledged before the search.
    pub(super) is_current: bool,
}

impl Hits<'_> {
    /// Renders the hits; each row is freed once it is in the text.
    pub(super) fn render(
        mut self,
        request: &SearchRequest,
        hydration: &mut Hydration<'_>,
        buffered: &mut BufferReservation<'_>,
    ) -> Result<Text> {
        let mut text = Text::default();
        let items = self.rows.values().map(|(_, stored)| item_bytes(stored)).sum::<usize>();
        render::make_room(&mut text.json, HEAD_BYTES + items, buffered)?;
        self.head(&mut text.json, request);
        let mut is_first = true;
        for hit in &self.found.hits {
            let Some((content_type, stored)) = self.rows.remove(&hit.pk) else { continue };
            render::make_room(&mut text.json, item_bytes(&stored), buffered)?;
            if !std::mem::take(&mut is_first) {
                text.json.push(b',');
            }
            text.json.extend_from_slice(b"{\"item\":");
            let item = without_hit_fields(content_type, &stored);
            let edition = View::for_list(self.caller, content_type).edition;
            hydration.add(&mut text, (content_type, edition), &item);
            // The fields of the hit follow the object.
            text.json.pop();
            for field in HIT_FIELDS {
                if self.projection.is_none_or(|projection| projection.names_member(field)) {
                    text.json.extend_from_slice(b",\"");
                    text.json.extend_from_slice(field.as_bytes());
                    text.json.extend_from_slice(b"\":");
                    self.hit_field(&mut text.json, field, content_type, &stored, hit.indexed);
                }
            }
            text.json.extend_from_slice(b"},\"score\":");
            number(&mut text.json, hit.score);
            text.json.push(b'}');
            render::require_bounded(text.json.len())?;
        }
        text.json.extend_from_slice(b"]}");
        Ok(text)
    }

    fn head(&self, out: &mut Vec<u8>, request: &SearchRequest) {
        let (total, page) = (self.found.total, request.page);
        let shown = self.found.hits.iter().filter(|hit| self.rows.contains_key(&hit.pk)).count();
        let aggregations =
            serde_json::to_string(&self.found.aggregations).expect("plain values are valid JSON");
        let incomplete = if self.is_current { "" } else { ",\"incomplete_results\":true" };
        let head = format!(
            "{{\"total_count\":{total},\"count\":{shown},\"total_pages\":{},\"current_page\":{},\
             \"summary\":{{\"aggregations\":{aggregations}{incomplete}}},\"data\":[",
            page.page_count(total),
            page.number,
        );
        out.extend_from_slice(head.as_bytes());
    }

    fn hit_field(
        &self,
        out: &mut Vec<u8>,
        field: &str,
        content_type: &CompiledType,
        stored: &StoredObject<'_>,
        indexed: i64,
    ) {
        let date = |out: &mut Vec<u8>, milliseconds: i64| {
            out.push(b'"');
            dates::push_search_date(milliseconds, out);
            out.push(b'"');
        };
        let internal = &stored.internal;
        let was_updated = internal.version > 1 || internal.updated_at != internal.created_at;
        match field {
            "object_data" => {
                let mut object = Vec::with_capacity(stored.data.len() + 512);
                render::object(&mut object, content_type.name(), stored);
                render::json_as_string(out, &object);
            }
            "organization_id" => render::string(out, self.organization),
            "content_type_definition_id" => render::string(out, &content_type.uid),
            "created_at" => date(out, internal.created_at * 1000),
            "updated_at" if was_updated => date(out, internal.updated_at * 1000),
            "@timestamp" => date(out, indexed),
            // `deleted_at`, and `updated_at` of an object without changes.
            _ => out.extend_from_slice(b"null"),
        }
    }
}

/// The object without properties that have the name of a field of hits.
fn without_hit_fields<'s>(
    content_type: &CompiledType,
    stored: &'s StoredObject<'static>,
) -> Cow<'s, StoredObject<'static>> {
    let is_taken = |name: &str| HIT_FIELDS.contains(&name);
    if !content_type.properties.iter().any(|property| is_taken(&property.name)) {
        return Cow::Borrowed(stored);
    }
    let mut data: Map<String, Value> = serde_json::from_str(&stored.data).unwrap_or_default();
    data.retain(|name, _| !is_taken(name));
    Cow::Owned(StoredObject { data: Value::Object(data).to_string().into(), ..stored.clone() })
}

/// The approximate size of an item: it contains the object twice, the second time as a JSON string.
fn item_bytes(stored: &StoredObject<'_>) -> usize {
    2 * render::object_bytes(stored) + stored.data.len() / 8
}

/// A score as JSON, with the six decimals that decide the order.
fn number(out: &mut Vec<u8>, score: f32) {
    let rounded = (f64::from(score) * 1e6).round() / 1e6;
    serde_json::to_writer(out, &rounded).expect("writing to memory cannot fail");
}
