//! Fetches objects by their ids, in list requests of limited size.

use std::collections::HashMap;

use cms_model::{
    error::Result, object::model::Edition, paging::PageRequest, wire::object::ListRequest,
};
use serde_json::Value;

use super::ImportTarget;

/// Objects in one list request.
const MAX_LIST_OBJECTS: usize = 500;
/// Bytes of ids in one list request: they are part of its URL.
const MAX_ID_BYTES: usize = 8_000;

/// Returns the existing objects of these ids, by id in lower case.
pub fn fetch(
    target: &dyn ImportTarget,
    content_type: &str,
    ids: &[impl AsRef<str>],
    edition: Edition,
) -> Result<HashMap<String, Value>> {
    let mut found = HashMap::new();
    let mut fetch = |ids: &mut Vec<String>| -> Result<()> {
        let page =
            PageRequest { number: 1, limit: u32::try_from(MAX_LIST_OBJECTS).unwrap_or(u32::MAX) };
        let request =
            ListRequest { page, ids: Some(std::mem::take(ids)), ..ListRequest::default() };
        let list = target.objects(content_type, &request, edition)?;
        let by_id = |object: Value| Some((object["id"].as_str()?.to_lowercase(), object));
        found.extend(list.data.into_iter().filter_map(by_id));
        Ok(())
    };
    let mut chunk: Vec<String> = Vec::new();
    let mut bytes = 0;
    for id in ids.iter().map(AsRef::as_ref) {
        if chunk.len() == MAX_LIST_OBJECTS || bytes + id.len() > MAX_ID_BYTES {
            fetch(&mut chunk)?;
            bytes = 0;
        }
        bytes += id.len();
        chunk.push(id.to_owned());
    }
    if !chunk.is_empty() {
        fetch(&mut chunk)?;
    }
    Ok(found)
}
