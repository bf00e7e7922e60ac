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

/// A step in the life of a post or a tag, with the tags that it links to.
#[derive(Clone, Debug)]
enum Step {
    Write(usize, Vec<usize>),
    LinkTag(usize, Vec<usize>),
    PublishTag(usize),
    Publish(usize),
    Unpublish(usize),
    Delete(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let post = 0..POSTS;
    let tags = prop::collection::btree_set(0..TAGS, 0..4);
    let both = (post.clone(), 0..TAGS, tags);
    prop_oneof![
        4 => both.clone().prop_map(|(post, _, tags)| Step::Write(post, tags.into_iter().collect())),
        4 => both.prop_map(|(_, tag, tags)| Step::LinkTag(tag, tags.into_iter().collect())),
        1 => (0..TAGS).prop_map(Step::PublishTag),
        2 => post.clone().prop_map(Step::Publish),
        1 => post.clone().prop_map(Step::Unpublish),
        1 => post.prop_map(Step::Delete),
    ]
}

/// The types of a blog.
#[derive(Clone, Copy, Debug)]
struct Blog {
    posts_draft: bool,
    tags_draft: bool,
    /// Tags may link to tags, and to themselves.
    tags_link: bool,
}

fn blog_strategy() -> impl Strategy<Value = Blog> {
    any::<[bool; 3]>().prop_map(|[posts_draft, tags_draft, tags_link]| Blog {
        posts_draft,
        tags_draft,
        tags_link,
    })
}

/// Tags, and posts with links to them.
fn create(blog: Blog) -> TestCms {
    let (test, local) = (TestCms::new(), Caller::local());
    let mut tag = article();
    tag["name"] = json!("tag");
    tag.insert("draftPublic".to_owned(), json!(blog.tags_draft));
    if !blog.tags_link {
        for relation in ["related", "parts"] {
            remove_property(&mut tag, relation);
        }
    }
    test.cms.types().create(&local, tag).unwrap();
    let mut post = article();
    post["name"] = json!("post");
    post.insert("draftPublic".to_owned(), json!(blog.posts_draft));
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
        Step::Write(post, tags) => {
            let related = links(tags);
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
fn check(test: &TestCms, tags_draft: bool) -> Result<(), TestCaseError> {
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
        // Readers do not see drafts.
        prop_assert!(total == TAGS || (tags_draft && !preview && total < TAGS));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn counts_of_linked_objects_equal_their_lists(
        blog in blog_strategy(),
        steps in prop::collection::vec(step(), 1..14),
    ) {
        let test = create(blog);
        for step in &steps {
            run(&test, step);
            check(&test, blog.tags_draft)?;
        }
        // Purged objects leave no links, and links to purged objects stay.
        test.cms.types().purge(&Caller::local(), "post", false).unwrap();
        check(&test, blog.tags_draft)?;
    }
}
