//! Counts of objects with and without incoming links, which are found in another way than the objects.

use cms_core::{
    Caller, Visibility,
    testing::TestCms,
    wire::{object::ListRequest, publish::PublishAction},
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::{article, link, map, remove_property};

const TAGS: usize = 6;
const POSTS: usize = 4;

/// A step in the life of a post, with the tags that it links to.
#[derive(Clone, Debug)]
enum Step {
    Write(usize, Vec<usize>),
    Publish(usize),
    Unpublish(usize),
    Delete(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let post = 0..POSTS;
    let tags = prop::collection::btree_set(0..TAGS, 0..4);
    prop_oneof![
        4 => (post.clone(), tags).prop_map(|(post, tags)| Step::Write(post, tags.into_iter().collect())),
        2 => post.clone().prop_map(Step::Publish),
        1 => post.clone().prop_map(Step::Unpublish),
        1 => post.prop_map(Step::Delete),
    ]
}

/// Tags without relations, and posts with links to them.
fn blog(draft_public: bool) -> TestCms {
    let (test, local) = (TestCms::new(), Caller::local());
    let mut tag = article();
    tag["name"] = json!("tag");
    for relation in ["related", "parts"] {
        remove_property(&mut tag, relation);
    }
    test.cms.types().create(&local, tag).unwrap();
    let mut post = article();
    post["name"] = json!("post");
    post.insert("draftPublic".to_owned(), json!(draft_public));
    test.cms.types().create(&local, post).unwrap();
    for number in 0..TAGS {
        let tag = json!({ "id": format!("Tag-{number}"), "title": number.to_string() });
        test.cms.objects().create(&local, "tag", map(tag)).unwrap();
    }
    test
}

fn run(test: &TestCms, step: &Step) {
    let (objects, local) = (test.cms.objects(), Caller::local());
    let id = |post: &usize| format!("post-{post}");
    let publish = |post: &usize, action| {
        // Refused for objects that do not exist, and on other types.
        test.cms.publishing().set_status(&local, "post", &id(post), action, false).ok();
    };
    match step {
        Step::Write(post, tags) => {
            // The ids of links are compared without case.
            let links = tags.iter().map(|tag| link("tag", &format!("tAG-{tag}")));
            let related = json!(links.collect::<Vec<Value>>());
            let new = json!({ "id": id(post), "title": id(post), "related": related });
            if objects.create(&local, "post", map(new)).is_err() {
                let change = map(json!({ "related": related }));
                objects.patch(&local, "post", &id(post), change).unwrap();
            }
        }
        Step::Publish(post) => publish(post, PublishAction::Publish),
        Step::Unpublish(post) => publish(post, PublishAction::Unpublish),
        Step::Delete(post) => drop(objects.delete(&local, "post", &id(post))),
    }
}

/// Compares the number of each list with its objects.
fn check(test: &TestCms) -> Result<(), TestCaseError> {
    let views = [(false, false), (true, false), (false, true)];
    for (preview, public_only) in views {
        let caller = Caller::local().with_visibility(Visibility { preview, public_only });
        let mut total = 0;
        for operator in ["empty", "notEmpty"] {
            let filters = json!({ "internal.incoming": { "type": operator } }).to_string();
            let request = ListRequest { filters: Some(filters), ..ListRequest::default() };
            let list = test.cms.objects().list(&caller, "tag", &request).unwrap().to_value();
            let found = list["data"].as_array().unwrap().len();
            prop_assert_eq!(&list["total_count"], found, "{} {}", operator, list);
            total += found;
        }
        prop_assert_eq!(total, TAGS);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn counts_of_linked_objects_equal_their_lists(
        draft_public: bool,
        steps in prop::collection::vec(step(), 1..14),
    ) {
        let test = blog(draft_public);
        for step in &steps {
            run(&test, step);
            check(&test)?;
        }
        // Purged objects leave no links, and links to purged objects stay.
        test.cms.types().purge(&Caller::local(), "post", false).unwrap();
        check(&test)?;
    }
}
