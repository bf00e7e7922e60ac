//! Lists the ids of objects, and fetches objects by their ids, in list requests of limited size.

use std::collections::HashMap;

use cms_model::{
    error::Result, limits, object::model::Edition, paging::PageRequest, wire::object::ListRequest,
};
use indexmap::IndexSet;
use serde_json::Value;

use super::ImportTarget;

/// Objects in one list request.
const MAX_LIST_OBJECTS: usize = 500;
/// Bytes of ids in one list request: they are part of its URL.
const MAX_ID_BYTES: usize = 8_000;

/// Returns the ids of all objects, in the order of creation.
///
/// Pages are read from the last one to the first: if objects are deleted meanwhile, later ones move to
/// pages that are not read yet, so none is missed, but some are read twice. An object that is restored
/// from the trash meanwhile moves later ones in the other direction: one of them can be missed.
pub fn list_ids(target: &dyn ImportTarget, content_type: &str) -> Result<Vec<String>> {
    let list = |page| {
        let request = ListRequest { page, fields: vec!["id".to_owned()], ..ListRequest::default() };
        target.objects(content_type, &request, Edition::Current)
    };
    let limit = limits::MAX_PAGE_SIZE;
    let total = list(PageRequest { number: 1, limit: 1 })?.total_count;
    let pages = PageRequest { number: 1, limit }.page_count(total);
    let mut ids = IndexSet::new();
    for number in (1..=u32::try_from(pages).unwrap_or(u32::MAX)).rev() {
        let objects = list(PageRequest { number, limit })?.data;
        let found = objects.iter().rev().filter_map(|object| object["id"].as_str());
        ids.extend(found.map(str::to_owned));
    }
    Ok(ids.into_iter().rev().collect())
}

/// Returns the existing objects of these ids, by id in lower case.
pub fn fetch(
    target: &dyn ImportTarget,
    content_type: &str,
    ids: &[impl AsRef<str>],
    edition: Edition,
) -> Result<HashMap<String, Value>> {
    let mut found = HashMap::new();
    let mut fetch = |ids: &[String]| -> Result<()> {
        let objects = fetch_list(target, content_type, ids, edition)?;
        let by_id = |object: Value| Some((object["id"].as_str()?.to_lowercase(), object));
        found.extend(objects.into_iter().filter_map(by_id));
        Ok(())
    };
    let mut chunk: Vec<String> = Vec::new();
    let mut bytes = 0;
    for id in ids.iter().map(AsRef::as_ref) {
        if chunk.len() == MAX_LIST_OBJECTS || bytes + id.len() > MAX_ID_BYTES {
            fetch(&chunk)?;
            chunk.clear();
            bytes = 0;
        }
        bytes += id.len();
        chunk.push(id.to_owned());
    }
    if !chunk.is_empty() {
        fetch(&chunk)?;
    }
    Ok(found)
}

/// Requests objects of these ids; halves the request if the response would be too large.
fn fetch_list(
    target: &dyn ImportTarget,
    content_type: &str,
    ids: &[String],
    edition: Edition,
) -> Result<Vec<Value>> {
    let limit = u32::try_from(MAX_LIST_OBJECTS).unwrap_or(u32::MAX);
    let page = PageRequest { number: 1, limit };
    let request = ListRequest { page, ids: Some(ids.to_vec()), ..ListRequest::default() };
    match target.objects(content_type, &request, edition) {
        Err(error) if error.is_response_too_large() && ids.len() > 1 => {
            let (first, second) = ids.split_at(ids.len() / 2);
            let mut objects = fetch_list(target, content_type, first, edition)?;
            objects.extend(fetch_list(target, content_type, second, edition)?);
            Ok(objects)
        }
        list => Ok(list?.data),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use cms_model::{
        object::render::require_bounded,
        wire::{
            list::List,
            publish::PublishAction,
            workflow::{Workflow, WorkflowState},
        },
    };
    use serde_json::json;

    use super::*;
    use crate::import::{PreparedSave, SaveMode};

    /// A space with objects of 1 MiB. Each list request deletes the first object.
    struct Shrinking(RefCell<Vec<String>>);

    impl Shrinking {
        fn new(objects: usize) -> Self {
            Self(RefCell::new((0..objects).map(|number| format!("A{number}")).collect()))
        }
    }

    impl ImportTarget for Shrinking {
        fn objects(&self, _: &str, request: &ListRequest, _: Edition) -> Result<List<Value>> {
            let ListRequest { page, ids: wanted, fields, .. } = request;
            let mut ids = self.0.borrow_mut();
            let is_wanted = |id: &&String| wanted.as_ref().is_none_or(|ids| ids.contains(id));
            let found = ids.iter().filter(is_wanted).map(|id| json!({ "id": id }));
            let found: Vec<Value> = found.collect();
            let (start, limit) = ((page.number - 1) as usize, page.limit as usize);
            let data = found.iter().skip(start * limit).take(limit).cloned().collect::<Vec<_>>();
            if fields.is_empty() {
                require_bounded(data.len() * 1024 * 1024)?;
            }
            if !ids.is_empty() {
                ids.remove(0);
            }
            Ok(List::new(*page, found.len() as u64, data))
        }

        fn prepare_save(&self, _: &str, _: &[Value], _: SaveMode) -> Result<PreparedSave<'_>> {
            unreachable!("only lists are requested")
        }

        fn set_statuses(&self, _: &str, _: &[String], _: PublishAction) -> Result<()> {
            unreachable!("only lists are requested")
        }

        fn workflows(&self) -> Result<Vec<Workflow>> {
            unreachable!("only lists are requested")
        }

        fn run_transition(&self, _: &str, _: &str, _: &str) -> Result<WorkflowState> {
            unreachable!("only lists are requested")
        }
    }

    #[test]
    fn list_of_ids_has_every_object_that_was_not_deleted_meanwhile() {
        for objects in [0, 1, 999, 1000, 1001, 3500] {
            let space = Shrinking::new(objects);
            let ids = list_ids(&space, "post").unwrap();
            let remaining = space.0.into_inner();
            assert!(ids.ends_with(&remaining), "{objects}: {} listed", ids.len());
        }
    }

    #[test]
    fn fetch_sends_smaller_requests_when_the_response_is_too_large() {
        let space = Shrinking::new(1200);
        let ids = space.0.borrow().clone();
        let found = fetch(&space, "post", &ids, Edition::Current).unwrap();
        for id in space.0.borrow().iter() {
            assert_eq!(found[&id.to_lowercase()]["id"], **id);
        }
    }
}
