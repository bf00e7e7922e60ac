//! A small data directory for fuzzers and property tests: any input is accepted or rejected, and
//! never causes an internal error. Each method returns whether the input was accepted.

use std::io::Write;

use cms_media::testing::images;
use cms_model::{
    context::{Caller, Visibility},
    error::{Error, Result},
    paging::PageRequest,
    settings::Durability,
    testing::{map, table::Table},
    wire::{
        graphql::{GraphQlRequest, GraphQlVersion},
        media::{ImageRequest, UploadRequest},
        object::ListRequest,
        plan::{PlanRequest, check_payload},
    },
};
use serde_json::{Value, json};

use super::TestCms;

/// The fixtures of the validation tables: a type with a property of every kind, objects of it, and
/// an image.
pub struct Site {
    core: TestCms,
    caller: Caller,
}

const TYPE: &str = "example";
const IMAGE_ID: &str = "_media-00000000-0000-4000-8000-00000000abcd";

impl Site {
    /// Creates the data directory.
    ///
    /// # Panics
    /// If it cannot be created.
    pub fn new() -> Self {
        let core = TestCms::with(|config| config.durability = Durability::Normal);
        let mut caller = Caller::local();
        caller.visibility = Visibility { preview: true, public_only: false };
        let site = Self { core, caller };
        site.fill();
        site
    }

    fn fill(&self) {
        let cms = &self.core.cms;
        let table = Table::read("object_messages");
        for definition in table.types {
            cms.types().create(&self.caller, map(definition)).expect("the table's types are valid");
        }
        let objects = table.objects.into_iter().map(|row| (row.content_type, row.object));
        for (content_type, object) in objects.chain([(TYPE.to_owned(), table.base)]) {
            let created = cms.objects().create(&self.caller, &content_type, map(object));
            created.expect("the table's objects are valid");
        }
        let mut incoming = cms.media().receive().expect("the directory is writable");
        incoming.write_all(&images::photo(40, 30)).expect("the directory is writable");
        let request = UploadRequest {
            file_name: "sea.jpg".to_owned(),
            kind: Some("image".to_owned()),
            id: Some(IMAGE_ID.to_owned()),
            save: true,
            ..UploadRequest::default()
        };
        cms.media().upload(&self.caller, Some(incoming), &request).expect("the file is an image");
        let variants = json!({ "variants": [{ "name": "wide", "trim": { "top": 5, "left": 0 } }] });
        let patched = cms.objects().patch(&self.caller, "_media", IMAGE_ID, map(variants));
        patched.expect("the variant is valid");
    }

    /// Lists objects by filters and, in further lines, an order and ids.
    ///
    /// # Panics
    /// On an internal error.
    pub fn list(&self, text: &str) -> bool {
        let mut lines = text.split('\n').map(str::to_owned);
        let filters = lines.next();
        let order_by = lines.next();
        let ids: Vec<String> = lines.collect();
        let request = ListRequest {
            page: PageRequest { number: 1, limit: 2 },
            empty_first: text.len().is_multiple_of(2),
            descending: text.len().is_multiple_of(3),
            hydrate: 1,
            filters,
            fields: order_by.iter().cloned().collect(),
            order_by,
            ids: Some(ids).filter(|ids| !ids.is_empty()),
        };
        accepted(self.core.cms.objects().list(&self.caller, TYPE, &request)).is_some()
    }

    /// Plans a content type, or a project if the text has its members.
    ///
    /// # Panics
    /// On an internal error.
    pub fn define(&self, text: &str) -> bool {
        let Ok(Value::Object(payload)) = serde_json::from_str(text) else { return false };
        let request = if payload.contains_key("contentTypes") || payload.contains_key("workflows") {
            if check_payload(&payload).is_err() {
                return false;
            }
            let Ok(request) = serde_json::from_value(Value::Object(payload)) else { return false };
            request
        } else {
            PlanRequest { content_types: vec![payload], ..PlanRequest::default() }
        };
        accepted(self.core.cms.types().plan(&self.caller, &request)).is_some()
    }

    /// Creates an object and deletes it; changes the existing one.
    ///
    /// # Panics
    /// On an internal error, or when a stored object cannot be read.
    pub fn write(&self, text: &str) -> bool {
        let Ok(Value::Object(payload)) = serde_json::from_str(text) else { return false };
        let objects = self.core.cms.objects();
        if let Some(created) = accepted(objects.create(&self.caller, TYPE, payload.clone())) {
            let created = created.to_value();
            let id = created["id"].as_str().expect("an object has an id");
            let read = objects.get(&self.caller, TYPE, id, 2).expect("stored objects can be read");
            assert_eq!(read.to_value()["id"], id);
            objects.delete(&self.caller, TYPE, id).expect("stored objects can be deleted");
        }
        accepted(objects.patch(&self.caller, TYPE, "first", payload)).is_some()
    }

    /// Executes a GraphQL query of both versions.
    ///
    /// # Panics
    /// On an internal error, or when the response is not JSON.
    pub fn query(&self, text: &str) -> bool {
        let request = GraphQlRequest { query: text.to_owned(), ..GraphQlRequest::default() };
        let is_accepted = |version| {
            let response = self.core.cms.graphql().execute(&self.caller, version, &request);
            let Some(response) = accepted(response) else { return false };
            let body: Value = serde_json::from_slice(&response.body).expect("a response is JSON");
            body.get("data").is_some()
        };
        // Both versions run, independent of the first result.
        is_accepted(GraphQlVersion::Legacy) | is_accepted(GraphQlVersion::V2)
    }

    /// Requests an image by a path and optional parameters, as in its URL.
    ///
    /// # Panics
    /// On an internal error.
    pub fn show(&self, text: &str) -> bool {
        let (path, query) = text.split_once('?').unwrap_or((text, ""));
        let parameter = |name: &str| {
            query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
        };
        let path: Vec<&str> = path.split('/').collect();
        let request = ImageRequest {
            path: &path,
            transform: parameter("transform"),
            format: parameter("format"),
            quality: parameter("quality"),
            accept: parameter("accept"),
        };
        let media = self.core.cms.media();
        accepted(media.find(&request))
            .and_then(|image| accepted(media.image_body(&image)))
            .is_some()
    }
}

impl Default for Site {
    fn default() -> Self {
        Self::new()
    }
}

fn accepted<T>(result: Result<T>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(error @ Error::Internal(_)) => panic!("{error:?}"),
        Err(_) => None,
    }
}
