use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, HashSet},
    rc::Rc,
    sync::atomic::AtomicBool,
};

use serde_json::{Map, Value, json, value::to_raw_value};

use super::{
    ImportCounts, ImportOptions, ImportTarget, Importer, OnConflict, PendingReport, PreparedSave,
    Refusal, SaveMode,
    compare::{Completeness, completeness, difference, has_same_creation_date, is_unchanged},
    importer::BATCH_SIZE,
    links::{order_by_links, without_pending_links},
    object::{ImportObject, address},
    planned_type,
    statuses::shortest_path,
};
use cms_model::{
    error::{Error, FieldErrors, Result},
    message,
    object::model::Edition,
    wire::{
        batch::{BatchError, BatchReport},
        content_type::ContentType,
        list::List,
        object::ListRequest,
        publish::PublishAction,
        workflow::{Transition, Workflow, WorkflowState},
    },
};

fn content_type() -> ContentType {
    serde_json::from_value(json!({
        "id": "", "name": "post", "label": "", "workflowId": "generic", "draftPublic": false,
        "internal": false, "featuredImage": [], "deletedAt": null, "createdAt": "",
        "updatedAt": null, "slugs": [{"source": "title", "target": "slug", "active": true}],
        "schemaDefinition": {"required": ["author"]},
        "metaDefinition": {"propertiesConfig": {"fixed": {"readonly": true}}},
    }))
    .unwrap()
}

fn to(id: &str) -> Value {
    json!([{"type": "internal", "dataUrl": format!("/api/v1/content/post/{id}")}])
}

#[test]
fn pending_links_are_removed_where_they_can_be_set_later() {
    let value = json!({"id": "a", "author": to("x"), "fixed": to("x"), "next": to("X"),
        "list": [{"n": 1, "deep": to("x%20y")}], "old": to("done")});
    let pending = [address("post", "x"), address("post", "x y")];
    let reduced = without_pending_links(&value, &content_type(), &|at| pending.contains(at));
    assert_eq!(
        reduced,
        Some(json!({"id": "a", "author": to("x"), "fixed": to("x"), "old": to("done")}))
    );
    assert_eq!(without_pending_links(&value, &content_type(), &|_| false), None);
}

#[test]
fn completeness_is_known_for_objects_that_were_not_edited() {
    let sent = json!({"id": "a", "title": "T", "author": to("x"), "next": to("x"), "old": to("y")});
    let without = |names: &[&str]| {
        let mut stored = sent.clone();
        stored["slug"] = json!("t");
        for name in names {
            stored.as_object_mut().unwrap().remove(*name);
        }
        stored
    };
    let with = |name: &str, value: Value| {
        let mut stored = without(&[]);
        stored[name] = value;
        stored
    };
    let (complete, without_links) =
        (Some(Completeness::Complete), Some(Completeness::WithoutLinks));
    let table = [
        (without(&[]), complete),
        (without(&["next"]), without_links),
        // An import never creates an object without these properties.
        (without(&["author"]), None),
        (without(&["next", "title"]), None),
        (without(&["old"]), None),
        (with("title", json!("U")), None),
        (with("slug", json!("other")), None),
        (with("next", to("y")), None),
        (with("more", json!(1)), None),
    ];
    for (stored, expected) in table {
        let found = completeness(&sent, &stored, &content_type(), &|at| at.1 == "x");
        assert_eq!(found, expected, "{stored}");
    }
    let stored = without(&[]);
    assert_eq!(completeness(&json!("text"), &stored, &content_type(), &|_| true), None);
}

#[test]
fn difference_names_what_the_file_does_not_contain() {
    let stored = json!({"id": "A", "internal": {"v": 3}, "title": "T", "slug": "t", "fixed": 1});
    let another = Some("the stored object differs from the object in the file");
    let fixed = Some("\"fixed\" is stored, but not in the file");
    let table = [
        (json!({"id": "a", "title": "T", "slug": "t", "fixed": 1}), true, None),
        (json!({"id": "a", "title": "T", "fixed": 1}), true, None),
        (json!({"id": "a", "title": "T"}), true, fixed),
        (json!({"id": "a", "title": "U"}), false, another),
        (json!({"id": "a", "title": "T", "more": 1}), false, another),
        (
            json!({"id": "a", "slug": "t", "fixed": 1}),
            false,
            Some("\"title\" is stored, but not in the file"),
        ),
        (json!("text"), false, another),
    ];
    for (sent, unchanged, different) in table {
        assert_eq!(is_unchanged(&sent, &stored, &content_type()), unchanged, "{sent}");
        assert_eq!(difference(&sent, &stored, &content_type()).as_deref(), different, "{sent}");
    }
    // A slug that an editor wrote differs from the one generated from the title.
    let stored = json!({"id": "a", "title": "T", "slug": "other"});
    assert!(!is_unchanged(&json!({"id": "a", "title": "T"}), &stored, &content_type()));
}

#[test]
fn defaults_of_the_type_are_no_difference() {
    let mut content_type = content_type();
    content_type.schema_definition = json!({"allOf": [{}, {"properties": {
        "title": {"type": "string"},
        "kind": {"type": "string", "default": "tea"},
        "list": {"type": "array", "items": {"type": "object",
            "properties": {"n": {"type": "number", "default": 1}}}},
    }}]});
    content_type.meta_definition = json!({
        "applyDefaults": true,
        "order": ["title", "kind", "list"],
        "propertiesConfig": {
            "title": {"inputType": "text"},
            "kind": {"inputType": "text"},
            "list": {"inputType": "object", "items": {"order": ["n"],
                "propertiesConfig": {"n": {"inputType": "number"}}}},
        },
    });
    let stored = json!({"id": "a", "title": "T", "kind": "tea", "list": [{"n": 1}, {"n": 2}]});
    let another = Some("the stored object differs from the object in the file");
    let kind = Some("\"kind\" is stored, but not in the file");
    let sent = json!({"id": "a", "title": "T", "list": [{}, {"n": 2}]});
    let table = [
        (sent.clone(), stored.clone(), None),
        (json!({"id": "a", "title": "T", "kind": "mug", "list": [{}, {"n": 2}]}), stored, another),
        (sent, json!({"id": "a", "title": "T", "kind": "mug", "list": [{}, {"n": 2}]}), kind),
    ];
    for (sent, stored, different) in &table {
        assert_eq!(difference(sent, stored, &content_type).as_deref(), *different, "{sent}");
    }
    content_type.meta_definition["applyDefaults"] = json!(false);
    let (sent, stored, _) = &table[0];
    assert_eq!(difference(sent, stored, &content_type).as_deref(), another);
}

#[test]
fn dates_of_creation_are_compared_as_instants() {
    let stored = json!({"internal": {"createdAt": "2020-01-22T14:34:36+00:00"}});
    for (sent, is_same) in [
        (json!({"createdAt": "2020-01-22T14:34:36+00:00"}), true),
        (json!({"createdAt": "2020-01-22T16:34:36.5+02:00"}), true),
        (json!({"createdAt": "@1579703676"}), true),
        (json!({"createdAt": "2020-01-22T14:34:36+02:00"}), false),
        (json!({"createdAt": "2020-01-22"}), false),
        (json!({"createdAt": "yesterday"}), false),
        (json!({}), true),
    ] {
        let sent = json!({ "internal": sent });
        assert_eq!(has_same_creation_date(&sent, &stored), is_same, "{sent}");
    }
}

#[test]
fn dates_before_the_creation_are_raised_to_it() {
    let (one, two, three) =
        ("2020-01-01T00:00:01+00:00", "2020-01-01T01:00:02+01:00", "@1577836803");
    for (dates, expected) in [
        ([one, two, three], [one, two, three]),
        ([two, one, three], [two, two, three]),
        ([three, two, one], [three, three, three]),
        ([one, three, two], [one, three, three]),
        ([three, "", one], [three, "", three]),
        (["never", two, one], ["never", two, two]),
    ] {
        let names = ["createdAt", "updatedAt", "deletedAt"];
        let internal = |dates: [&str; 3]| names.into_iter().zip(dates).collect::<Value>();
        let mut object = ImportObject::new(String::new(), json!({ "internal": internal(dates) }));
        object.keep_dates();
        assert_eq!(object.value["internal"], internal(expected), "{dates:?}");
    }
}

/// A content type with relations, each with its target and whether it is required.
fn linking(name: &str, relations: &[(&str, bool)]) -> ContentType {
    let required: Vec<&str> =
        relations.iter().filter(|(_, required)| *required).map(|(to, _)| *to).collect();
    let configs: Map<String, Value> = relations
        .iter()
        .map(|(to, _)| ((*to).to_owned(), json!({"validation": {"relationContenttype": to}})))
        .collect();
    let payload = json!({
        "name": name,
        "schemaDefinition": {"required": required},
        "metaDefinition": {"propertiesConfig": configs},
    });
    planned_type(payload.as_object().unwrap(), None)
}

#[test]
fn content_types_follow_those_they_link_to() {
    let table: [(&[ContentType], &[&str]); 3] = [
        (
            &[
                linking("a", &[("b", false), ("a", false)]),
                linking("b", &[("c", true)]),
                linking("c", &[]),
            ],
            &["c", "b", "a"],
        ),
        // In a cycle, required links decide.
        (&[linking("a", &[("b", true)]), linking("b", &[("a", false)])], &["b", "a"]),
        (&[linking("a", &[("b", true)]), linking("b", &[("a", true)])], &["a", "b"]),
    ];
    for (types, expected) in table {
        let ordered = order_by_links(types.to_vec(), |content_type| content_type);
        let names: Vec<&str> =
            ordered.iter().map(|content_type| content_type.name.as_str()).collect();
        assert_eq!(names, expected);
    }
}

#[test]
fn workflow_paths_are_the_shortest() {
    let steps = [("a", "a"), ("a", "b"), ("b", "a"), ("b", "c"), ("a", "d"), ("d", "c")];
    let transitions = steps.map(|(from, to)| Transition {
        name: format!("_{from}_{to}"),
        froms: vec![from.to_owned()],
        tos: vec![to.to_owned()],
    });
    let workflow = Workflow {
        id: "w".to_owned(),
        name: "w".to_owned(),
        initial_state: "a".to_owned(),
        states: ["a", "b", "c", "d", "e"].map(str::to_owned).to_vec(),
        transitions: transitions.to_vec(),
    };
    let table: [(&str, &str, Option<&[&str]>); 5] = [
        ("a", "a", Some(&[])),
        ("a", "b", Some(&["_a_b"])),
        ("a", "c", Some(&["_a_b", "_b_c"])),
        ("c", "a", None),
        ("a", "e", None),
    ];
    for (from, to, expected) in table {
        assert_eq!(shortest_path(&workflow, from, to).as_deref(), expected, "{from} to {to}");
    }
}

/// A space in memory that refuses links without targets, and batches over a limit.
struct Space {
    objects: RefCell<BTreeMap<String, Value>>,
    batch_limit: usize,
    /// Larger batches, as JSON, are refused.
    max_bytes: usize,
    batches: Cell<usize>,
    refused_batches: Cell<usize>,
    /// Batches whose reports were read.
    reported: Rc<Cell<usize>>,
    /// No batch is saved.
    is_busy: bool,
}

impl Space {
    fn new(batch_limit: usize) -> Self {
        Self {
            objects: RefCell::default(),
            batch_limit,
            max_bytes: usize::MAX,
            batches: Cell::new(0),
            refused_batches: Cell::new(0),
            reported: Rc::default(),
            is_busy: false,
        }
    }
}

impl ImportTarget for Space {
    fn objects(&self, _: &str, request: &ListRequest, _: Edition) -> Result<List<Value>> {
        let (objects, ids) = (self.objects.borrow(), request.ids.iter().flatten());
        Ok(List::single_page(ids.filter_map(|id| objects.get(id).cloned()).collect()))
    }

    fn prepare_save(&self, _: &str, objects: &[Value], mode: SaveMode) -> Result<PreparedSave<'_>> {
        let objects = objects.to_vec();
        Ok(Box::new(move || self.begin_save(&objects, mode)))
    }

    fn set_statuses(&self, _: &str, _: &[String], _: PublishAction) -> Result<()> {
        Ok(())
    }

    fn workflows(&self) -> Result<Vec<Workflow>> {
        Ok(Vec::new())
    }

    fn run_transition(&self, _: &str, _: &str, _: &str) -> Result<WorkflowState> {
        unreachable!("no object has another workflow state")
    }
}

impl Space {
    fn begin_save(&self, objects: &[Value], mode: SaveMode) -> Result<PendingReport> {
        if objects.len() > self.batch_limit {
            return Err(Error::BatchLimit { limit: self.batch_limit });
        }
        if json!(objects).to_string().len() > self.max_bytes {
            self.refused_batches.set(self.refused_batches.get() + 1);
            return Err(Error::BodyTooLarge);
        }
        self.batches.set(self.batches.get() + 1);
        let mut stored = self.objects.borrow_mut();
        let mut report = BatchReport::default();
        for object in objects {
            let id = object["id"].as_str().unwrap();
            let target = object["next"][0]["dataUrl"].as_str();
            let target = target.and_then(|url| url.rsplit('/').next());
            let errors = if stored.contains_key(id) && !mode.update_existing {
                Some(FieldErrors::one("id", message::ALREADY_USED))
            } else if target.is_some_and(|target| target != id && !stored.contains_key(target)) {
                Some(FieldErrors::one("next", message::NOT_IN_DATABASE))
            } else {
                None
            };
            match errors {
                None => drop(stored.insert(id.to_owned(), object.clone())),
                Some(errors) => report.errors.push(BatchError {
                    id: id.to_owned(),
                    data: to_raw_value(object).unwrap(),
                    errors,
                }),
            }
        }
        let (reported, is_busy) = (Rc::clone(&self.reported), self.is_busy);
        Ok(Box::new(move || {
            reported.set(reported.get() + 1);
            if is_busy { Err(Error::Busy("busy".to_owned())) } else { Ok(report) }
        }))
    }
}

/// Imports objects with the link `next`; returns the counts and the ids of refused objects.
fn import(
    space: &Space,
    on_conflict: OnConflict,
    objects: &[(&str, Option<&str>)],
) -> (ImportCounts, Vec<String>) {
    import_as(space, on_conflict, &linking("post", &[]), objects)
}

fn import_as(
    space: &Space,
    on_conflict: OnConflict,
    content_type: &ContentType,
    objects: &[(&str, Option<&str>)],
) -> (ImportCounts, Vec<String>) {
    let (stop, deleted) = (AtomicBool::new(false), HashSet::new());
    let mut importer =
        Importer::new(space, ImportOptions { on_conflict, ..ImportOptions::default() }, &stop);
    for (id, _) in objects {
        importer.announce("post", Some(id));
    }
    importer.begin(content_type, &deleted);
    for (id, next) in objects {
        let mut object = json!({"id": id});
        if let Some(next) = next {
            object["next"] = to(next);
        }
        importer.push((*id).to_owned(), Ok(object)).unwrap();
    }
    importer.end().unwrap();
    importer.finish().unwrap();
    let refused = importer.take_refusals().into_iter();
    (importer.counts(), refused.map(|refusal| refusal.object.location).collect())
}

#[test]
fn import_completes_links_in_cycles() {
    let space = Space::new(500);
    let objects = [("a", Some("b")), ("b", Some("a")), ("c", Some("none"))];
    let (counts, refused) = import(&space, OnConflict::Refuse, &objects);
    assert_eq!((counts.created, counts.updated, counts.refused), (2, 0, 1));
    assert_eq!(refused, ["c"]);
    assert_eq!(space.objects.borrow()["a"]["next"], to("b"));
    let (counts, _) = import(&space, OnConflict::Update, &objects[..2]);
    assert_eq!((counts.unchanged, counts.updated), (2, 0));
    let (counts, refused) = import(&space, OnConflict::Refuse, &[("a", None)]);
    assert_eq!((counts.refused, refused), (1, vec!["a".to_owned()]));
}

/// Each object needs the next one, so all except the last have to wait.
#[test]
fn import_sends_objects_with_required_links_twice_at_most() {
    let mut content_type = linking("post", &[]);
    content_type.schema_definition["required"] = json!(["next"]);
    let ids: Vec<String> = (0..2_000).map(|number| number.to_string()).collect();
    let next = |index: usize| ids.get(index + 1).map(String::as_str);
    let objects: Vec<_> =
        ids.iter().enumerate().map(|(index, id)| (id.as_str(), next(index))).collect();
    for on_conflict in [OnConflict::Refuse, OnConflict::Keep] {
        let space = Space::new(500);
        let (counts, refused) = import_as(&space, on_conflict, &content_type, &objects);
        assert_eq!((counts.created, refused), (2_000, Vec::new()));
        assert!(space.batches.get() <= 2 * 4, "{} batches", space.batches.get());
    }
}

#[test]
fn import_adapts_to_the_batch_limit() {
    let space = Space::new(2);
    let ids: Vec<String> = (0..5).map(|number| number.to_string()).collect();
    let objects: Vec<_> = ids.iter().map(|id| (id.as_str(), None)).collect();
    let (counts, _) = import(&space, OnConflict::Keep, &objects);
    assert_eq!((counts.created, space.batches.get()), (5, 3));
}

#[test]
fn import_adapts_to_the_body_limit() {
    // The name is longer than the limit in one object.
    let long = "x".repeat(1_000);
    let table: [(&[usize], u64, usize); 3] = [(&[], 500, 3), (&[1], 499, 15), (&[1, 300], 498, 25)];
    for (too_large, created, most_refused) in table {
        let space = Space { max_bytes: 1_000, ..Space::new(BATCH_SIZE) };
        let ids: Vec<String> = (0..BATCH_SIZE).map(|number| format!("{number:03}")).collect();
        let links = (0..BATCH_SIZE).map(|n| too_large.contains(&n).then_some(long.as_str()));
        let objects: Vec<_> = ids.iter().map(String::as_str).zip(links).collect();
        let (counts, refused) = import(&space, OnConflict::Keep, &objects);
        assert_eq!((counts.created, refused.len()), (created, too_large.len()));
        assert!(
            space.refused_batches.get() <= most_refused,
            "{too_large:?}: {}",
            space.refused_batches.get()
        );
        assert!(space.batches.get() <= 40, "{too_large:?}: {}", space.batches.get());
    }
}

#[test]
fn import_reads_the_next_objects_while_a_batch_is_saved() {
    let (stop, deleted) = (AtomicBool::new(false), HashSet::new());
    let content_type = linking("post", &[]);
    for (on_conflict, stop_on_error, reported) in [
        (OnConflict::Refuse, false, [0, 1]),
        (OnConflict::Update, false, [0, 1]),
        (OnConflict::Refuse, true, [1, 2]),
    ] {
        let space = Space::new(BATCH_SIZE);
        let options = ImportOptions { on_conflict, stop_on_error, ..ImportOptions::default() };
        let mut importer = Importer::new(&space, options, &stop);
        importer.begin(&content_type, &deleted);
        for reported in reported {
            for number in 0..BATCH_SIZE {
                let id = format!("{}-{number}", space.batches.get());
                importer.push(id.clone(), Ok(json!({"id": id}))).unwrap();
            }
            assert_eq!(space.reported.get(), reported);
        }
        importer.push("bad".to_owned(), Err("no JSON".to_owned())).unwrap();
        assert_eq!(space.reported.get(), 2, "reports come in the order of the objects");
        importer.end().unwrap();
        assert_eq!((importer.counts().created, importer.counts().refused), (1_000, 1));
    }
}

#[test]
fn objects_before_an_unreadable_one_are_saved_when_it_ends_the_import() {
    let (stop, deleted) = (AtomicBool::new(false), HashSet::new());
    let content_type = linking("post", &[]);
    let space = Space::new(BATCH_SIZE);
    let options = ImportOptions { stop_on_error: true, ..ImportOptions::default() };
    let mut importer = Importer::new(&space, options, &stop);
    importer.begin(&content_type, &deleted);
    importer.push("1".to_owned(), Ok(json!({"id": "a"}))).unwrap();
    importer.push("2".to_owned(), Err("no JSON".to_owned())).unwrap();
    importer.push("3".to_owned(), Ok(json!({"id": "c"}))).unwrap();
    importer.end().unwrap();
    assert_eq!((importer.counts().created, importer.counts().refused), (1, 1));
}

/// Objects are created in their order, so no batch is saved after one that failed.
#[test]
fn import_ends_when_a_batch_is_not_saved() {
    let (stop, deleted) = (AtomicBool::new(false), HashSet::new());
    let content_type = linking("post", &[]);
    let space = Space { is_busy: true, ..Space::new(BATCH_SIZE) };
    let mut importer = Importer::new(&space, ImportOptions::default(), &stop);
    importer.begin(&content_type, &deleted);
    let push =
        |number: usize| importer.push(number.to_string(), Ok(json!({"id": number.to_string()})));
    let pushed = (0..2 * BATCH_SIZE).map(push).collect::<Result<Vec<()>>>();
    assert!(matches!(pushed, Err(Error::Busy(_))));
    assert_eq!((importer.counts().created, space.batches.get()), (0, 1));
}

#[test]
fn dry_run_refuses_objects_that_do_not_match_their_type() {
    let text = json!({"type": "string", "minLength": 1});
    let config = |readonly: bool| json!({"label": "", "inputType": "text", "unique": false, "readonly": readonly});
    let payload = json!({
        "name": "post",
        "schemaDefinition": {"type": "object", "required": ["title", "slug", "fixed"], "allOf": [
            {"$ref": "#/components/schemas/AbstractContentTypeSchemaDefinition"},
            {"type": "object", "properties": {"title": text, "slug": text, "fixed": text}},
        ]},
        "metaDefinition": {
            "order": ["title", "slug", "fixed"],
            "propertiesConfig": {"title": config(false), "slug": config(false), "fixed": config(true)},
        },
        "slugs": [{"source": "title", "target": "slug", "active": true}],
    });
    let content_type = planned_type(payload.as_object().unwrap(), None);
    let objects = [
        json!({"id": "valid", "title": "A", "fixed": "f"}),
        json!({"id": "a/b", "title": "A", "fixed": "f"}),
        json!({"id": "empty", "title": "", "fixed": "f"}),
        json!({"id": "unknown", "title": "A", "fixed": "f", "more": 1}),
        json!({"id": "stored", "title": "A"}),
        json!("text"),
    ];
    let refused = |on_conflict: OnConflict| {
        let (stop, deleted) = (AtomicBool::new(false), HashSet::new());
        let space = Space::new(BATCH_SIZE);
        let options = ImportOptions { on_conflict, dry_run: true, ..ImportOptions::default() };
        let mut importer = Importer::new(&space, options, &stop);
        importer.begin(&content_type, &deleted);
        for object in &objects {
            importer.push(object.to_string(), Ok(object.clone())).unwrap();
        }
        importer.end().unwrap();
        importer.finish().unwrap();
        assert_eq!(
            (importer.counts().created, space.batches.get()),
            (6 - importer.counts().refused, 0)
        );
        let refusals = importer.take_refusals().into_iter();
        let paths = refusals.map(|Refusal { object, errors, .. }| {
            let paths: Vec<&str> = errors.iter().map(|(path, _)| path).collect();
            format!("{}: {}", object.id().unwrap_or_default(), paths.join(" "))
        });
        paths.collect::<Vec<String>>()
    };
    let invalid = ["a/b: id", "empty: title slug", "unknown: more", ": data"];
    // Only an existing object may lack a read-only property, which then stays.
    assert_eq!(refused(OnConflict::Update), invalid);
    assert_eq!(
        refused(OnConflict::Refuse),
        [&invalid[..3], &["stored: fixed"], &invalid[3..]].concat()
    );
}
