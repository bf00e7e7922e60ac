//! Draft & Public compared with a model: after any sequence of actions, editors and readers see
//! what the model predicts.

use cms_core::{
    Caller, Error, Objects, Visibility,
    clock::Clock,
    testing::TestCms,
    wire::{object::ListRequest, plan::PlanRequest, publish::PublishAction},
};
use proptest::{collection::vec, prelude::*, sample::select};
use serde_json::{Value, json};

use crate::support::{article_with, link, map, publish, rows, with_type};

const IDS: [&str; 3] = ["a", "b", "c"];

#[derive(Clone, Debug)]
enum Step {
    /// Creates the object, or changes its title and its link.
    Save(&'static str, u8, &'static str),
    Act(&'static str, PublishAction, bool),
    Bulk(Vec<&'static str>, PublishAction),
    /// Minutes ahead.
    Schedule(&'static str, i64),
    Unschedule(&'static str),
    Wait(i64),
    Delete(&'static str),
}

fn any_step() -> impl Strategy<Value = Step> {
    let id = || select(&IDS[..]);
    let action = || select(&PublishAction::ALL[..]);
    prop_oneof![
        4 => (id(), 0..20_u8, id()).prop_map(|(id, title, to)| Step::Save(id, title, to)),
        6 => (id(), action(), any::<bool>()).prop_map(|(id, a, cascade)| Step::Act(id, a, cascade)),
        2 => (vec(id(), 0..4), action()).prop_map(|(ids, action)| Step::Bulk(ids, action)),
        2 => (id(), 4..20_i64).prop_map(|(id, minutes)| Step::Schedule(id, minutes)),
        1 => id().prop_map(Step::Unschedule),
        2 => (1..15_i64).prop_map(Step::Wait),
        1 => id().prop_map(Step::Delete),
    ]
}

/// The expected state of one object, see docs/reference/publishing.md#statuses.
#[derive(Clone, Debug)]
struct Article {
    title: String,
    to: Option<&'static str>,
    status: &'static str,
    version: i64,
    updated_at: i64,
    /// Version, title, link and time of the published version.
    published: Option<(i64, String, Option<&'static str>, i64)>,
    scheduled_at: Option<i64>,
}

#[derive(Default)]
struct Model {
    now: i64,
    /// In the order of creation.
    articles: Vec<(&'static str, i64, Article)>,
}

impl Model {
    fn get(&mut self, id: &str) -> Option<&mut Article> {
        self.articles.iter_mut().find(|(known, ..)| *known == id).map(|(_, _, article)| article)
    }

    fn may(status: &str, action: PublishAction) -> bool {
        !matches!(
            (status, action),
            ("draft", PublishAction::Archive) | ("archived", PublishAction::Unpublish)
        )
    }

    fn apply(&mut self, id: &str, action: PublishAction) {
        let now = self.now;
        let Some(article) = self.get(id) else { return };
        let target = match action {
            PublishAction::Publish => "public",
            PublishAction::Unpublish => "draft",
            PublishAction::Archive => "archived",
        };
        if article.status == target {
            return;
        }
        article.status = target;
        article.updated_at = now;
        article.scheduled_at = None;
        let published = (article.version, article.title.clone(), article.to, now);
        article.published = (target == "public").then_some(published);
    }

    /// Executes the step; returns whether it is allowed.
    fn execute(&mut self, step: &Step) -> bool {
        let now = self.now;
        match step {
            Step::Save(id, title, to) => {
                let title = format!("{id} {title}");
                let to = self.get(to).is_some().then_some(*to);
                if let Some(article) = self.get(id) {
                    article.title = title;
                    article.to = to;
                    article.version += 1;
                    article.updated_at = now;
                    article.scheduled_at = None;
                    if article.status == "public" {
                        article.status = "modified";
                    }
                } else {
                    let article = Article {
                        title,
                        to,
                        status: "draft",
                        version: 1,
                        updated_at: now,
                        published: None,
                        scheduled_at: None,
                    };
                    self.articles.push((id, now, article));
                }
                true
            }
            Step::Act(id, action, cascade) => {
                let Some(article) = self.get(id) else { return false };
                if !Self::may(article.status, *action) {
                    return false;
                }
                let to = article.to.filter(|_| *cascade);
                self.apply(id, *action);
                if let Some(to) = to
                    && self.get(to).is_some_and(|related| Self::may(related.status, *action))
                {
                    self.apply(to, *action);
                }
                true
            }
            Step::Bulk(ids, action) => {
                if ids.iter().any(|id| self.get(id).is_none()) {
                    return false;
                }
                for id in ids {
                    self.apply(id, *action);
                }
                true
            }
            Step::Schedule(id, minutes) => match self.get(id) {
                Some(article) if *minutes > 5 && matches!(article.status, "draft" | "modified") => {
                    article.scheduled_at = Some(now + minutes * 60);
                    true
                }
                _ => false,
            },
            Step::Unschedule(id) => match self.get(id) {
                Some(article) => {
                    article.scheduled_at = None;
                    true
                }
                None => false,
            },
            Step::Wait(minutes) => {
                self.now += minutes * 60;
                let due: Vec<&str> = self
                    .articles
                    .iter()
                    .filter(|(.., article)| article.scheduled_at.is_some_and(|at| at <= self.now))
                    .map(|(id, ..)| *id)
                    .collect();
                for id in due {
                    self.apply(id, PublishAction::Publish);
                }
                true
            }
            Step::Delete(id) => {
                let is_used = self.articles.iter().any(|(other, _, article)| {
                    let published = article.published.as_ref().and_then(|published| published.2);
                    other != id && [article.to, published].contains(&Some(*id))
                });
                let before = self.articles.len();
                if !is_used {
                    self.articles.retain(|(known, ..)| known != id);
                }
                self.articles.len() < before
            }
        }
    }

    /// The lists of editors and of readers.
    fn lists(&self) -> [Vec<Value>; 2] {
        let current = self.articles.iter().map(|(id, created, article)| {
            let (version, at) = match &article.published {
                Some((version, _, _, at)) => (*version, date(*at)),
                None => (-1, String::new()),
            };
            let mut internal = internal(*created, article.updated_at, &article.title);
            internal["latestVersion"] = json!(article.version);
            internal["status"] = json!(article.status);
            internal["publicVersion"] = json!(version);
            internal["publishedAt"] = json!(at);
            if let Some(at) = article.scheduled_at {
                internal["scheduledAt"] = json!(date(at));
                internal["scheduledAtTimeZone"] = json!("UTC");
            }
            object(id, &internal, &article.title, article.to)
        });
        let public = self.articles.iter().filter_map(|(id, created, article)| {
            let (version, title, to, at) = article.published.as_ref()?;
            let mut internal = internal(*created, *at, title);
            internal["latestVersion"] = json!(version);
            internal["status"] = json!("public");
            internal["publicVersion"] = json!(version);
            internal["publishedAt"] = json!(date(*at));
            Some(object(id, &internal, title, *to))
        });
        [current.collect(), public.collect()]
    }
}

fn date(seconds: i64) -> String {
    let at = time::OffsetDateTime::from_unix_timestamp(seconds).unwrap();
    let format =
        time::macros::format_description!("[year]-[month]-[day]T[hour]:[minute]:[second]+00:00");
    at.format(format).unwrap()
}

fn internal(created_at: i64, updated_at: i64, title: &str) -> Value {
    json!({
        "contentType": "article",
        "createdAt": date(created_at),
        "updatedAt": date(updated_at),
        "deletedAt": "",
        "workflowState": "saved",
        "objectTitle": title,
        "workflowPublicVersion": "",
        "workflowPublishedAt": -1,
    })
}

fn object(id: &str, internal: &Value, title: &str, to: Option<&str>) -> Value {
    let related: Vec<Value> = to.into_iter().map(|to| link("article", to)).collect();
    json!({"id": id, "internal": internal, "title": title, "related": related})
}

fn payload(id: &str, title: &str, to: Option<&str>) -> serde_json::Map<String, Value> {
    let mut payload = map(object(id, &Value::Null, title, to));
    payload.shift_remove("internal");
    payload
}

/// Executes the step on a data directory; returns whether it was allowed.
fn execute(test: &TestCms, model: &Model, step: &Step) -> bool {
    let (cms, caller) = (&test.cms, Caller::local());
    let result = match step {
        Step::Save(id, title, to) => {
            let exists = |id: &str| model.articles.iter().any(|(known, ..)| *known == id);
            let payload = payload(id, &format!("{id} {title}"), exists(to).then_some(to));
            if exists(id) {
                cms.objects().replace(&caller, "article", id, payload).map(|_| ())
            } else {
                cms.objects().create(&caller, "article", payload).map(|_| ())
            }
        }
        Step::Act(id, action, cascade) => {
            cms.publishing().set_status(&caller, "article", id, *action, *cascade)
        }
        Step::Bulk(ids, action) => {
            let ids: Vec<String> = ids.iter().map(|&id| id.to_owned()).collect();
            cms.publishing().set_statuses(&caller, "article", &ids, *action)
        }
        Step::Schedule(id, minutes) => {
            let at = &date(test.clock.now().seconds() + minutes * 60)[..19];
            let body = map(json!({"scheduledAt": at, "timeZone": "UTC"}));
            cms.publishing().schedule(&caller, "article", id, body).map(|_| ())
        }
        Step::Unschedule(id) => cms.publishing().unschedule(&caller, "article", id),
        Step::Wait(minutes) => {
            test.clock.advance(minutes * 60);
            cms.publishing().publish_due().map(|_| ())
        }
        Step::Delete(id) => cms.objects().delete(&caller, "article", id),
    };
    match result {
        Ok(()) => true,
        Err(Error::Rejected(_) | Error::NotFound { .. } | Error::Invalid(_)) => false,
        Err(other) => panic!("{other:?}"),
    }
}

fn with_articles() -> TestCms {
    with_type(article_with(json!({ "draftPublic": true })))
}

fn list(objects: &Objects<'_>, visibility: Visibility, filters: Option<&str>) -> Value {
    let caller = Caller::local().with_visibility(visibility);
    let request = ListRequest { filters: filters.map(str::to_owned), ..ListRequest::default() };
    objects.list(&caller, "article", &request).unwrap().to_value()
}

const PREVIEW: Visibility = Visibility { preview: true, public_only: false };
const PUBLIC: Visibility = Visibility { preview: false, public_only: true };

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn action_sequences_follow_the_model(steps in vec(any_step(), 1..40)) {
        let test = with_articles();
        let mut model = Model { now: test.clock.now().seconds(), ..Model::default() };
        for step in &steps {
            let is_allowed = execute(&test, &model, step);
            prop_assert_eq!(is_allowed, model.execute(step), "{:?}", step);
            let objects = test.cms.objects();
            let [current, public] = model.lists();
            let shown = list(&objects, PREVIEW, None);
            prop_assert_eq!(&shown["data"], &json!(current), "after {:?}", step);
            let shown = list(&objects, Visibility::default(), None);
            prop_assert_eq!(&shown["data"], &json!(public), "after {:?}", step);
            prop_assert_eq!(&shown["total_count"], &json!(public.len()));
            for id in IDS {
                let strict = Caller::local().with_visibility(PUBLIC);
                let got = objects.get(&strict, "article", id, 0).ok().map(|json| json.to_value());
                let expected = public.iter().find(|object| object["id"] == id);
                prop_assert_eq!(got.as_ref(), expected, "after {:?}", step);
            }
        }
        // The number of published objects is stored separately.
        let counted = rows(&test, "SELECT published FROM ctd_state JOIN ctd ON ctd.pk = ctd \
            WHERE name = 'article'");
        prop_assert_eq!(counted, rows(&test, "SELECT count(*) FROM published"));
    }
}

#[test]
fn unique_value_of_a_published_version_stays_used() {
    let test = with_articles();
    let (objects, caller) = (test.cms.objects(), Caller::local());
    let save = |id: &str, title: &str| {
        objects.create(&caller, "article", payload(id, title, None)).map(|_| ())
    };
    save("a", "first").unwrap();
    publish(&test.cms, "article", "a");
    objects.replace(&caller, "article", "a", payload("a", "second", None)).unwrap();
    for title in ["first", "second"] {
        let Err(Error::Invalid(errors)) = save("b", title) else { panic!("{title} is not used") };
        assert_eq!(errors.at("title"), ["This value is already used"], "{title}");
    }
    // The object itself may use it again.
    objects.replace(&caller, "article", "a", payload("a", "first", None)).unwrap();
    save("b", "second").unwrap();
}

#[test]
fn draft_public_toggle_keeps_visible_content() {
    let test = with_articles();
    let (objects, caller) = (test.cms.objects(), Caller::local());
    for (id, title) in [("a", "first"), ("b", "draft"), ("c", "linked")] {
        objects.create(&caller, "article", payload(id, title, None)).unwrap();
    }
    objects.replace(&caller, "article", "a", payload("a", "first", Some("c"))).unwrap();
    let publish = |id: &str| {
        test.cms.publishing().set_status(&caller, "article", id, PublishAction::Publish, false)
    };
    publish("a").unwrap();
    objects.replace(&caller, "article", "a", payload("a", "second", None)).unwrap();
    assert!(objects.delete(&caller, "article", "c").is_err(), "readers still see a link to it");

    let mut definition = article_with(json!({ "draftPublic": false }));
    let request = PlanRequest { content_types: vec![definition.clone()], ..PlanRequest::default() };
    let before = rows(&test, "SELECT status, data FROM object ORDER BY pk");
    assert!(test.cms.types().plan(&caller, &request).unwrap().content_types[0].breaking);
    assert_eq!(rows(&test, "SELECT status, data FROM object ORDER BY pk"), before);
    test.cms.types().update(&caller, "article", definition.clone()).unwrap();
    let shown = |status: &str| {
        let data = list(&objects, Visibility::default(), None)["data"].take();
        let data: Vec<Value> = data.as_array().unwrap().clone();
        assert!(data.iter().all(|object| object["internal"]["status"] == status), "{data:?}");
        let titles = data.iter().map(|object| object["title"].as_str().unwrap().to_owned());
        titles.collect::<Vec<_>>()
    };
    assert_eq!(shown("public"), ["second", "draft", "linked"]);
    assert_eq!(rows(&test, "SELECT count(*) FROM published"), ["0"]);
    objects.delete(&caller, "article", "c").unwrap();

    definition.insert("draftPublic".to_owned(), json!(true));
    test.cms.types().update(&caller, "article", definition).unwrap();
    assert_eq!(shown("public"), ["second", "draft"]);
    let filter = r#"{"title": {"type": "equals", "filter": "draft"}, "internal.publicVersion": {"type": "equals", "filter": 1}}"#;
    assert_eq!(list(&objects, Visibility::default(), Some(filter))["total_count"], 1);
}

/// An earlier version still returned states of the former workflow.
#[test]
fn type_leaves_workflow_states_when_draft_public_is_enabled() {
    let (test, caller) = (TestCms::new(), Caller::local());
    let (objects, workflows) = (test.cms.objects(), test.cms.workflows());
    let mut definition = article_with(json!({ "workflowId": "publishing" }));
    test.cms.types().create(&caller, definition.clone()).unwrap();
    objects.create(&caller, "article", payload("a", "approved", None)).unwrap();
    for action in ["_draft_review", "_review_public"] {
        workflows.run_transition(&caller, "article", "a", map(json!({"action": action}))).unwrap();
    }
    objects.replace(&caller, "article", "a", payload("a", "again", None)).unwrap();
    definition.insert("workflowId".to_owned(), json!("generic"));
    definition.insert("draftPublic".to_owned(), json!(true));
    test.cms.types().update(&caller, "article", definition).unwrap();
    let shown = list(&objects, Visibility::default(), None)["data"].take();
    assert_eq!(shown, list(&objects, PREVIEW, None)["data"]);
    assert_eq!(shown[0]["internal"]["workflowState"], "saved");
    assert_eq!(shown[0]["internal"]["workflowPublicVersion"], "");
}
