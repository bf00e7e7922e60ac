//! Filters on incoming links: the list and its count, which are computed in different ways, are both compared with the
//! links of each object.

use cms_core::{
    Caller, Visibility,
    paging::PageRequest,
    testing::TestCms,
    wire::{
        key::KeyKind,
        object::ListRequest,
        publish::PublishAction,
        trash::{RestoreRequest, TrashRequest},
    },
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{
    change_feed::key,
    support::{article_with, link, map, remove_property},
};

const TAGS: usize = 6;
const POSTS: usize = 4;
/// The types with links to tags, besides tags.
const SOURCES: [&str; 2] = ["post", "page"];

/// An object with links: its type and number.
type Source = (&'static str, usize);

/// A step in the life of a post, a page or a tag, with the tags that it links to.
#[derive(Clone, Debug)]
enum Step {
    Write(Source, Vec<usize>),
    LinkTag(usize, Vec<usize>),
    PublishTag(usize),
    DeleteTag(usize),
    Publish(Source),
    Unpublish(Source),
    Delete(Source),
    Restore,
}

fn step() -> impl Strategy<Value = Step> {
    let post = (prop::sample::select(&SOURCES), 0..POSTS);
    let tags = prop::collection::btree_set(0..TAGS, 0..4);
    let both = (post.clone(), 0..TAGS, tags);
    prop_oneof![
        4 => both.clone().prop_map(|(post, _, tags)| Step::Write(post, tags.into_iter().collect())),
        4 => both.prop_map(|(_, tag, tags)| Step::LinkTag(tag, tags.into_iter().collect())),
        1 => (0..TAGS).prop_map(|tag| Step::LinkTag(tag, vec![tag])),
        1 => (0..TAGS).prop_map(Step::PublishTag),
        1 => (0..TAGS).prop_map(Step::DeleteTag),
        2 => post.clone().prop_map(Step::Publish),
        1 => post.clone().prop_map(Step::Unpublish),
        1 => post.prop_map(Step::Delete),
        1 => Just(Step::Restore),
    ]
}

/// The types of a blog.
#[derive(Clone, Copy, Debug)]
struct Blog {
    /// Of posts and pages.
    sources_draft: [bool; 2],
    tags_draft: bool,
    /// Tags may link to tags, and to themselves.
    tags_link: bool,
}

fn blog_strategy() -> impl Strategy<Value = Blog> {
    any::<([bool; 2], bool, bool)>().prop_map(|(sources_draft, tags_draft, tags_link)| Blog {
        sources_draft,
        tags_draft,
        tags_link,
    })
}

/// Tags; posts and pages link to them.
fn create(blog: Blog) -> TestCms {
    let (test, local) = (TestCms::new(), Caller::local());
    let mut tag = article_with(json!({ "name": "tag", "draftPublic": blog.tags_draft }));
    if !blog.tags_link {
        for relation in ["related", "parts"] {
            remove_property(&mut tag, relation);
        }
    }
    test.cms.types().create(&local, tag).unwrap();
    for (name, draft) in SOURCES.into_iter().zip(blog.sources_draft) {
        test.cms
            .types()
            .create(&local, article_with(json!({ "name": name, "draftPublic": draft })))
            .unwrap();
    }
    for number in 0..TAGS {
        let tag = json!({ "id": format!("Tag-{number}"), "title": number.to_string() });
        test.cms.objects().create(&local, "tag", map(tag)).unwrap();
    }
    test
}

fn run(test: &TestCms, step: &Step) {
    let (objects, local) = (test.cms.objects(), Caller::local());
    let id = |post: &usize| format!("post-{post}");
    let publish = |(name, post): &Source, action| {
        // Refused for objects that do not exist, and on other types.
        test.cms.publishing().set_status(&local, name, &id(post), action, false).ok();
    };
    // The ids of links are compared without case.
    let links = |tags: &[usize]| -> Value {
        tags.iter().map(|tag| link("tag", &format!("tAG-{tag}"))).collect()
    };
    match step {
        Step::LinkTag(tag, tags) => {
            let change = map(json!({ "related": links(tags) }));
            // Refused where tags have no relation.
            objects.patch(&local, "tag", &format!("Tag-{tag}"), change).ok();
        }
        Step::PublishTag(tag) => {
            let (tag, action) = (format!("Tag-{tag}"), PublishAction::Publish);
            test.cms.publishing().set_status(&local, "tag", &tag, action, false).ok();
        }
        // Refused while another object links to it.
        Step::DeleteTag(tag) => drop(objects.delete(&local, "tag", &format!("Tag-{tag}"))),
        Step::Write((name, post), tags) => {
            let related = links(tags);
            let new = json!({ "id": id(post), "title": id(post), "related": related });
            // Refused if there is such an object, or a tag is deleted.
            if objects.create(&local, name, map(new)).is_err() {
                let change = map(json!({ "related": related }));
                objects.patch(&local, name, &id(post), change).ok();
            }
        }
        Step::Publish(post) => publish(post, PublishAction::Publish),
        Step::Unpublish(post) => publish(post, PublishAction::Unpublish),
        Step::Delete((name, post)) => drop(objects.delete(&local, name, &id(post))),
        Step::Restore => {
            let deleted = test.cms.trash().list(&local, &TrashRequest::default()).unwrap();
            if let Some(newest) = deleted.data.first() {
                // Refused where the id is used again, or a tag is deleted.
                test.cms.trash().restore(&local, &newest.entry, RestoreRequest::default()).ok();
            }
        }
    }
}

/// An unrestricted caller, and keys that may read the tags, but not all types with links to them.
fn callers(test: &TestCms) -> Vec<Caller> {
    let scoped = |names: &[&str]| key(test, KeyKind::Scoped, names);
    let (posts, pages) = (scoped(&["tag", "post"]), scoped(&["tag", "page"]));
    vec![Caller::local(), posts, pages, scoped(&["tag"])]
}

/// The ids of the tags that meet a condition on incoming links. Their number is the count of the list.
fn tags(test: &TestCms, caller: &Caller, filters: &Value) -> Result<Vec<String>, TestCaseError> {
    let request = ListRequest { filters: Some(filters.to_string()), ..ListRequest::default() };
    let list = test.cms.objects().list(caller, "tag", &request).unwrap().to_value();
    let found = list["data"].as_array().unwrap();
    prop_assert_eq!(&list["total_count"], found.len(), "{} {}", filters, list);
    Ok(found.iter().map(|tag| tag["id"].as_str().unwrap().to_owned()).collect())
}

/// Compares lists and their counts with the links of each tag.
fn check(test: &TestCms, callers: &[Caller]) -> Result<(), TestCaseError> {
    let page = PageRequest { number: 1, limit: 20 };
    for (preview, public_only) in [(false, false), (true, false), (false, true)] {
        // Without preview, lists of Draft & Public types have published versions only; a request for
        // one object shows its published version only in the public view.
        let of_object = Visibility { preview, public_only: !preview };
        for caller in callers {
            let caller = caller.clone().with_visibility(Visibility { preview, public_only });
            let reader = caller.clone().with_visibility(of_object);
            for types in [None, Some("tag"), Some("post"), Some("page")] {
                let filter = |operator: &str| match types {
                    None => json!({ "internal.incoming": { "type": operator } }),
                    Some(name) => {
                        let operator = if operator == "empty" { "notEqual" } else { "equals" };
                        let condition = json!({ "type": operator, "filter": name });
                        json!({ "internal.incoming[*].contentType": condition })
                    }
                };
                let types = types.map(|name| vec![name.to_owned()]);
                let is_linked = |tag: &String| {
                    let types = types.as_deref();
                    let links = test.cms.objects().incoming(&reader, "tag", tag, types, page);
                    let links = links.unwrap().list;
                    // Previews list the links of published versions, too, and filter by current ones.
                    if preview && !public_only {
                        links.data.iter().any(|link| link.current)
                    } else {
                        links.total_count > 0
                    }
                };
                let (linked, unlinked): (Vec<_>, Vec<_>) =
                    tags(test, &caller, &json!({}))?.into_iter().partition(is_linked);
                prop_assert_eq!(tags(test, &caller, &filter("notEmpty"))?, linked);
                prop_assert_eq!(tags(test, &caller, &filter("empty"))?, unlinked);
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn lists_and_counts_of_linked_objects_equal_their_links(
        blog in blog_strategy(),
        steps in prop::collection::vec(step(), 1..14),
    ) {
        let test = create(blog);
        let callers = callers(&test);
        for step in &steps {
            run(&test, step);
            check(&test, &callers)?;
        }
        // Purged objects leave no links, and links to purged objects stay.
        test.cms.types().purge(&Caller::local(), "post", false).unwrap();
        check(&test, &callers)?;
        test.cms.types().purge(&Caller::local(), "tag", false).unwrap();
        for tag in 0..TAGS / 2 {
            let tag = json!({ "id": format!("tag-{tag}"), "title": tag.to_string() });
            test.cms.objects().create(&Caller::local(), "tag", map(tag)).unwrap();
        }
        check(&test, &callers)?;
    }
}

/// The published version of a tag has a link that its current version lacks.
#[test]
fn link_of_a_published_version_counts_after_the_edit() {
    for sources_draft in [[false, false], [true, false], [false, true], [true, true]] {
        let test = create(Blog { sources_draft, tags_draft: true, tags_link: true });
        let callers = callers(&test);
        for step in [Step::LinkTag(1, vec![2]), Step::PublishTag(1), Step::LinkTag(1, Vec::new())] {
            run(&test, &step);
            check(&test, &callers).unwrap();
        }
    }
}
