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
/// Maximum length of the ids of one list request in its URL: proxies accept 8 KiB in total.
const MAX_URL_BYTES: usize = 6_000;
/// Entries of a page that [`read_all_pages`] has read before, as long as the list does not change.
const MIN_OVERLAP: u64 = 250;

/// Returns the ids of all objects, in the order of creation.
pub fn list_ids(target: &dyn ImportTarget, content_type: &str) -> Result<Vec<String>> {
    read_all_pages(|page| {
        let request = ListRequest { page, fields: vec!["id".to_owned()], ..ListRequest::default() };
        let list = target.objects(content_type, &request, Edition::Current)?;
        let ids = list.data.iter().filter_map(|object| object["id"].as_str());
        Ok((list.total_count, ids.map(str::to_owned).collect()))
    })
}

/// Returns the keys of all entries of a list, in its order. `list` returns the number of all entries,
/// and the keys of one page.
///
/// Others may add and remove entries meanwhile, for example restore objects from the trash. Entries that
/// exist all the time are not missed: pages are read from the last one to the first, and each must overlap
/// the entries that were read before it.
pub fn read_all_pages(
    list: impl Fn(PageRequest) -> Result<(u64, Vec<String>)>,
) -> Result<Vec<String>> {
    let mut keys = IndexSet::new();
    // The number of entries before the first one that was read.
    let (mut offset, _) = list(PageRequest { number: 1, limit: 1 })?;
    loop {
        let limit = overlapping_page_size(offset);
        let number = offset / u64::from(limit) + 1;
        let request = PageRequest { number: u32::try_from(number).unwrap_or(u32::MAX), limit };
        let (_, page) = list(request)?;
        let is_last = page.len() < limit as usize;
        if is_last || page.iter().any(|key| keys.contains(key)) {
            keys.extend(page.into_iter().rev());
            offset = request.offset();
            if offset == 0 {
                return Ok(keys.into_iter().rev().collect());
            }
        } else {
            // Many entries were added in front: those that were read before are now on a later page.
            offset = request.offset() + u64::from(limit);
        }
    }
}

/// Returns the size of the page with the most entries before `offset` that also has
/// [`MIN_OVERLAP`] entries from there on.
fn overlapping_page_size(offset: u64) -> u32 {
    let before = |limit: &u32| {
        let before = offset % u64::from(*limit);
        if before + MIN_OVERLAP <= u64::from(*limit) { before } else { 0 }
    };
    let sizes = limits::MAX_PAGE_SIZE / 2..=limits::MAX_PAGE_SIZE;
    sizes.max_by_key(before).unwrap_or(limits::MAX_PAGE_SIZE)
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
        let added = parameter_bytes(id);
        if chunk.len() == MAX_LIST_OBJECTS || bytes + added > MAX_URL_BYTES {
            fetch(&chunk)?;
            chunk.clear();
            bytes = 0;
        }
        bytes += added;
        chunk.push(id.to_owned());
    }
    if !chunk.is_empty() {
        fetch(&chunk)?;
    }
    Ok(found)
}

/// Length of the parameter of an id in a URL, which may encode other characters than letters, digits, `-` and `_`.
fn parameter_bytes(id: &str) -> usize {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
    let encoded: usize = id.bytes().map(|byte| if is_plain(byte) { 1 } else { 3 }).sum();
    "&ids[]=".len() + encoded
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
    use std::{cell::RefCell, collections::HashSet};

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

    /// A space with objects of 1 MiB that change with each list request.
    struct Changing {
        ids: RefCell<Vec<String>>,
        change: fn(&mut Vec<String>),
    }

    impl Changing {
        fn new(objects: usize, change: fn(&mut Vec<String>)) -> Self {
            let ids = (0..objects).map(|number| format!("A{number}")).collect();
            Self { ids: RefCell::new(ids), change }
        }
    }

    fn delete_first(ids: &mut Vec<String>) {
        if !ids.is_empty() {
            ids.remove(0);
        }
    }

    /// As if older objects were restored from the trash.
    fn restore(objects: usize, ids: &mut Vec<String>) {
        let first = ids.len();
        ids.splice(..0, (0..objects).map(|number| format!("R{}", first + number)));
    }

    impl ImportTarget for Changing {
        fn objects(&self, _: &str, request: &ListRequest, _: Edition) -> Result<List<Value>> {
            let ListRequest { page, ids: wanted, fields, .. } = request;
            let mut ids = self.ids.borrow_mut();
            let is_wanted = |id: &&String| wanted.as_ref().is_none_or(|ids| ids.contains(id));
            let found = ids.iter().filter(is_wanted).map(|id| json!({ "id": id }));
            let found: Vec<Value> = found.collect();
            let (start, limit) = ((page.number - 1) as usize, page.limit as usize);
            let data = found.iter().skip(start * limit).take(limit).cloned().collect::<Vec<_>>();
            if fields.is_empty() {
                require_bounded(data.len() * 1024 * 1024)?;
            }
            (self.change)(&mut ids);
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
    fn list_of_ids_has_every_object_that_existed_all_the_time() {
        let changes: [fn(&mut Vec<String>); 6] = [
            |_| (),
            delete_first,
            |ids| restore(1, ids),
            |ids| restore(200, ids),
            |ids| {
                delete_first(ids);
                restore(20, ids);
            },
            |ids| ids.push(format!("N{}", ids.len())),
        ];
        for (case, change) in changes.into_iter().enumerate() {
            for objects in [0, 1, 750, 751, 1000, 1001, 3500] {
                let space = Changing::new(objects, change);
                let before = space.ids.borrow().clone();
                let ids = list_ids(&space, "post").unwrap();
                let after = space.ids.into_inner();
                let sets = [&before, &after].map(|ids| ids.iter().collect::<HashSet<_>>());
                let existed = |id: &&String| sets.iter().all(|set| set.contains(id));
                assert!(
                    before.iter().filter(existed).eq(ids.iter().filter(existed)),
                    "change {case} of {objects} objects: {} listed",
                    ids.len()
                );
            }
        }
    }

    #[test]
    fn fetch_sends_smaller_requests_when_the_response_is_too_large() {
        let space = Changing::new(1200, delete_first);
        let ids = space.ids.borrow().clone();
        let found = fetch(&space, "post", &ids, Edition::Current).unwrap();
        for id in space.ids.borrow().iter() {
            assert_eq!(found[&id.to_lowercase()]["id"], **id);
        }
    }
}
