//! Findings and repairs of `check` in damaged data directories.

use std::fs::{self, File};

use cms_core::{
    Cms, CoreConfig, Error, Visibility, check_file,
    testing::TestCms,
    wire::{
        check::{CheckArea, CheckReport, CheckRequest},
        object::ListRequest,
        publish::PublishAction,
    },
};
use rusqlite::functions::FunctionFlags;
use serde_json::json;
use tempfile::TempDir;

use crate::support::{article, article_with, create_object, database, link, local, map};

/// Five articles of a type with Draft & Public: draft, public, modified, archived, and one that
/// links.
fn with_articles() -> TestCms {
    let core = TestCms::standalone();
    let cms = &core.cms;
    cms.types().create(&local(), article_with(json!({ "draftPublic": true }))).unwrap();
    for id in ["draft", "public", "modified", "archived", "linking"] {
        let mut object = json!({ "id": id, "title": format!("Title {id}"), "rank": 1 });
        if id == "linking" {
            object["related"] = json!([link("article", "Public")]);
        }
        cms.objects().create(&local(), "article", map(object)).unwrap();
    }
    let act =
        |id, action| cms.publishing().set_status(&local(), "article", id, action, false).unwrap();
    for id in ["public", "modified", "archived"] {
        act(id, PublishAction::Publish);
    }
    act("archived", PublishAction::Archive);
    cms.objects().patch(&local(), "article", "modified", map(json!({ "rank": 2 }))).unwrap();
    core
}

fn check(cms: &Cms, repair: bool) -> CheckReport {
    cms.check(&CheckRequest { repair, ..CheckRequest::default() }).unwrap()
}

/// Changes the database without the functions of the program.
fn corrupt(core: &TestCms, sql: &str) {
    let database = database(core);
    for name in ["property_key", "property_spelling"] {
        let flags = FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS;
        database.create_scalar_function(name, 2, flags, |_| Ok(rusqlite::types::Null)).unwrap();
    }
    database.execute_batch(sql).unwrap();
}

/// Totals are cached until a type changes.
#[test]
fn repaired_links_show_in_cached_lists() {
    let core = with_articles();
    let cms = &core.cms;
    let linking = || {
        let address = link("article", "Public")["dataUrl"].clone();
        let filters = json!({ "related[*].dataUrl": { "type": "equals", "filter": address } });
        let request = ListRequest { filters: Some(filters.to_string()), ..ListRequest::default() };
        let caller = local().with_visibility(Visibility { preview: true, ..Visibility::default() });
        let list = cms.objects().list(&caller, "article", &request).unwrap().to_value();
        list["total_count"].as_u64().unwrap()
    };
    assert_eq!(linking(), 1);
    corrupt(&core, "DELETE FROM link");
    cms.objects().patch(&local(), "article", "modified", map(json!({ "rank": 3 }))).unwrap();
    assert_eq!(linking(), 0);
    assert!(check(cms, true).findings.iter().all(|finding| finding.repaired));
    assert_eq!(linking(), 1);
}

/// The definition says that the property is a list, the control that it is one object: such a value has
/// no links.
#[test]
fn list_in_a_property_of_one_object_has_no_links() {
    let core = with_articles();
    let relation =
        json!({ "type": "array", "items": { "$ref": "#/components/schemas/DataSource" } });
    let members = json!({ "l": relation });
    let schema = json!({ "type": "array", "properties": members,
        "items": { "type": "object", "properties": members } });
    let relation = json!({ "label": "L", "inputType": "datasource", "unique": false,
        "validation": { "relationContenttype": "", "relationMultiple": true } });
    let config = json!({ "label": "C", "inputType": "custom", "order": ["l"],
        "propertiesConfig": { "l": relation } });
    let definition = json!({
        "name": "odd", "label": "Odd",
        "schemaDefinition": { "type": "object", "allOf": [
            { "$ref": "#/components/schemas/AbstractContentTypeSchemaDefinition" },
            { "type": "object", "properties": { "c": schema } },
        ], "required": [], "additionalProperties": false },
        "metaDefinition": { "order": ["c"], "propertiesConfig": { "c": config } },
    });
    core.cms.types().create(&local(), map(definition)).unwrap();
    let value = json!([{ "l": [link("article", "public"), link("article", "nope")] }]);
    create_object(&core.cms, "odd", json!({ "id": "o", "c": value }));
    assert_eq!(check(&core.cms, false).findings, []);
    let hydrated = core.cms.objects().get(&local(), "odd", "o", 1).unwrap().to_value();
    assert_eq!(hydrated["c"], value);
}

#[test]
fn undamaged_directory_is_sound() {
    for core in [TestCms::standalone(), with_articles()] {
        for repair in [false, true] {
            let check = check(&core.cms, repair);
            assert!(check.is_sound() && check.findings.is_empty(), "{check:?}");
        }
    }
}

#[test]
fn derived_data_is_repaired() {
    use CheckArea::{Counters, Database, Index, Links, Published, Slots};

    let damages: [(&str, &[CheckArea]); 13] = [
        ("UPDATE ctd_state SET live = live + 3", &[Counters]),
        ("UPDATE ctd_state SET published = 0", &[Counters]),
        ("DELETE FROM link", &[Links]),
        ("INSERT INTO link SELECT 'article', 'nobody', pk, ctd FROM object", &[Links]),
        ("UPDATE link SET source_ctd = source_ctd + 1", &[Links]),
        ("UPDATE link SET source_ctd = NULL", &[Links]),
        ("UPDATE link SET target_id = 'draft'", &[Links]),
        ("DELETE FROM published WHERE id = 'public'", &[Counters, Published]),
        ("DELETE FROM published WHERE id = 'modified'", &[Counters, Published]),
        ("UPDATE published SET data = '{}' WHERE id = 'public'", &[Published, Slots]),
        ("UPDATE object SET status = 'draft' WHERE id = 'public'", &[Published, Index]),
        ("UPDATE object SET slots = '{\"0\":\"x\"}' WHERE id = 'draft'", &[Database, Slots]),
        ("UPDATE object SET workflow_state = 'public' WHERE id = 'draft'", &[Index]),
    ];
    for (damage, parts) in damages {
        let core = with_articles();
        let cms = &core.cms;
        assert!(check(cms, false).is_sound());
        corrupt(&core, damage);
        let found = check(cms, false);
        let mut kinds: Vec<_> = found.findings.iter().map(|finding| finding.part).collect();
        kinds.dedup();
        assert!(parts.iter().all(|part| kinds.contains(part)), "{damage}: {found:?}");
        assert!(found.findings.iter().all(|f| f.derived && !f.repaired), "{damage}: {found:?}");
        assert!(!found.is_sound(), "{damage}");

        let repaired = check(cms, true);
        assert!(repaired.is_sound(), "{damage}: {repaired:?}");
        assert!(repaired.findings.len() >= found.findings.len(), "{damage}: {repaired:?}");
        let after = check(cms, false);
        assert!(after.findings.is_empty(), "{damage}: {after:?}");
    }
}

#[test]
fn damaged_content_is_reported_and_kept() {
    let damages = [
        (
            "UPDATE object SET data = '{broken' WHERE id = 'draft'",
            CheckArea::Objects,
            "article/draft",
        ),
        ("UPDATE object_version SET version = 9", CheckArea::Versions, "article/modified"),
        ("UPDATE object_version SET object = 999", CheckArea::Versions, ""),
        (
            "DELETE FROM published WHERE id = 'modified'; DELETE FROM object_version",
            CheckArea::Published,
            "article/modified",
        ),
        ("UPDATE object SET owner = 77 WHERE id = 'draft'", CheckArea::Database, "object"),
    ];
    for (damage, part, place) in damages {
        let core = with_articles();
        // As a program could that does not enforce foreign keys.
        corrupt(&core, &format!("PRAGMA foreign_keys = OFF; {damage}"));
        for repair in [true, false] {
            let check = check(&core.cms, repair);
            let found = check.findings.iter().find(|f| f.part == part && f.place == place);
            let found = found.unwrap_or_else(|| panic!("{damage}: {check:?}"));
            assert!(!found.derived && !found.repaired, "{damage}: {found:?}");
            assert!(!check.is_sound(), "{damage}");
        }
    }
}

#[test]
fn duplicates_older_than_a_unique_rule_are_reported() {
    let core = TestCms::standalone();
    let mut definition = article();
    let types = core.cms.types();
    definition["metaDefinition"]["propertiesConfig"]["title"]["unique"] = json!(false);
    types.create(&local(), definition).unwrap();
    for id in ["one", "two"] {
        create_object(&core.cms, "article", json!({ "id": id, "title": "Same" }));
    }
    assert!(check(&core.cms, false).is_sound());
    types.update(&local(), "article", article()).unwrap();
    let found = check(&core.cms, true).findings;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((found[0].part, found[0].derived), (CheckArea::Unique, false));
    assert!(found[0].message.ends_with("one, two"), "{found:?}");
}

/// Closes a data directory with many articles, and overwrites the first page of a table or index.
fn with_damaged(tree: &str) -> TempDir {
    use std::os::unix::fs::FileExt;

    let core = with_articles();
    for number in 0..400 {
        let text = "a long text ".repeat(20);
        let object = json!({ "id": format!("a-{number}"), "title": format!("{text}{number}") });
        core.cms.objects().create(&local(), "article", map(object)).unwrap();
    }
    let sql = format!("SELECT rootpage FROM sqlite_schema WHERE name = '{tree}'");
    let page: u64 = crate::support::rows(&core, &sql)[0].parse().unwrap();
    let path = core.path().join("cms.db");
    let folder = core.into_folder();
    let file = File::options().write(true).open(path).unwrap();
    file.write_all_at(&[0xa5; 4096], (page - 1) * 4096).unwrap();
    folder
}

#[test]
fn damaged_pages_are_listed_and_writes_refused() {
    let trees = ["object", "published", "object_version", "link", "object_id", "trash", "journal"];
    for tree in trees {
        let folder = with_damaged(tree);
        let path = folder.path().join("data");
        let cms = Cms::open(CoreConfig::new(&path)).unwrap();
        for repair in [false, true] {
            let check = check(&cms, repair);
            assert!(!check.is_sound(), "{tree}");
            let named = check.findings.iter().any(|found| {
                found.part == CheckArea::Database && found.place == tree && !found.repaired
            });
            assert!(named, "{tree}: {check:?}");
        }
        let new = map(json!({ "id": "new", "title": "New" }));
        let refused = cms.objects().create(&local(), "article", new);
        let Err(Error::Busy(reason)) = refused else { panic!("{tree}: {refused:?}") };
        assert!(reason.contains("database is damaged"), "{reason}");
        let ready = cms.readiness();
        let database = ready.iter().find(|part| part.name == "database").unwrap();
        assert!(database.error.as_ref().unwrap().contains("damaged"), "{tree}: {database:?}");
        assert!(
            matches!(cms.media().clean_up(), Err(Error::Busy(_))),
            "{tree}: no file is removed"
        );
    }
}

#[test]
fn objects_with_invalid_json_are_listed() {
    let folder = with_damaged("object");
    let path = folder.path().join("data");
    let cms = Cms::open(CoreConfig::new(&path)).unwrap();
    let findings = check(&cms, false).findings;
    let objects = findings.iter().filter(|found| found.part == CheckArea::Objects);
    let mut places: Vec<&str> = objects.map(|found| &*found.place).collect();
    places.sort_unstable();
    assert!(places.contains(&"article/a-7") && places.contains(&"article/draft"), "{places:?}");
}

#[test]
fn unreadable_content_type_is_listed() {
    let core = with_articles();
    let damage = "UPDATE ctd SET definition = '{broken', rev = rev + 1 WHERE name = 'article'";
    corrupt(&core, &format!("{damage}; UPDATE meta SET schema_rev = schema_rev + 1"));
    let found = check(&core.cms, false).findings;
    assert_eq!((found.len(), found[0].part), (1, CheckArea::Database), "{found:?}");
    assert!(found[0].message.starts_with("content cannot be read: "), "{found:?}");
}

/// After the first read of a damaged page, all writes are refused.
#[test]
fn writes_are_refused_after_a_read_met_a_damaged_page() {
    let folder = with_damaged("object");
    let path = folder.path().join("data");
    let cms = Cms::open(CoreConfig::new(&path)).unwrap();
    assert!(cms.readiness().iter().all(|part| part.error.is_none()), "the page was not read yet");
    let read = cms.objects().get(&local(), "article", "a-7", 0);
    assert!(matches!(read, Err(Error::Internal(_))), "{read:?}");
    assert!(cms.readiness().iter().any(|part| part.name == "database" && part.error.is_some()));
    let deleted = cms.types().delete(&local(), "article");
    assert!(matches!(deleted, Err(Error::Busy(_))), "{deleted:?}");
    assert!(matches!(cms.objects().get(&local(), "_tag", "x", 0), Err(Error::NotFound { .. })));
}

#[test]
fn unopenable_database_is_checked_as_a_file() {
    for tree in ["meta", "sqlite_schema"] {
        let folder = match tree {
            "meta" => with_damaged("meta"),
            _ => with_damaged("object"),
        };
        let path = folder.path().join("data");
        if tree == "sqlite_schema" {
            fs::write(path.join("cms.db"), "no database, but long enough ".repeat(1000)).unwrap();
        }
        assert!(Cms::open(CoreConfig::new(&path)).is_err(), "{tree}");
        let found = check_file(&path).unwrap();
        assert!(!found.is_sound(), "{tree}: {found:?}");
        assert!(found.findings.iter().all(|found| found.part == CheckArea::Database));
    }
    let sound = TestCms::standalone();
    assert!(check_file(&sound.path()).unwrap().findings.is_empty());
    assert!(check_file(&sound.path().join("nowhere")).is_err());
}
