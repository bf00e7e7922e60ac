//! Opening folders: new ones, the same one many times, and those that cannot be used.

use std::{error::Error as _, fs, thread};

use cms_core::{
    Caller, Cms, CoreConfig, Error, Visibility,
    testing::fixture,
    wire::{ctd::TypeListRequest, object::ListRequest},
};
use tempfile::TempDir;

#[test]
fn a_new_folder_is_made_once_however_many_open_it() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("deep/down/data");
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let cms = Cms::open(CoreConfig::new(&path)).unwrap();
                let types =
                    cms.types().list(&Caller::local(), &TypeListRequest::default()).unwrap();
                let names: Vec<_> = types.data.iter().map(|found| found.name.as_str()).collect();
                let built_in = ["_media", "_tag", "about", "contact", "contact_form", "project"];
                assert_eq!(names, built_in);
            });
        }
    });
}

#[test]
fn a_folder_that_cannot_be_used_is_an_error() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name);
    fs::write(path("file"), "").unwrap();
    for name in ["garbage", "folder", "foreign", "locked"] {
        fs::create_dir(path(name)).unwrap();
    }
    fs::write(path("garbage/cms.db"), "no database, but long enough to be one ".repeat(100))
        .unwrap();
    fs::create_dir(path("folder/cms.db")).unwrap();
    let foreign = rusqlite::Connection::open(path("foreign/cms.db")).unwrap();
    foreign.execute_batch("CREATE TABLE object (a); INSERT INTO object VALUES (1)").unwrap();
    fs::create_dir(path("locked/lock")).unwrap();
    for name in ["file", "file/below", "garbage", "folder", "foreign", "locked"] {
        let Err(error) = Cms::open(CoreConfig::new(path(name))) else { panic!("{name} opened") };
        assert!(matches!(error, Error::Internal(_)), "{name}: {error:?}");
        assert!(error.source().is_some(), "{name}: nothing for the log");
    }
    // Nothing of a database that is not ours was touched.
    let left: i64 = foreign.query_row("SELECT a FROM object", [], |row| row.get(0)).unwrap();
    assert_eq!(left, 1);
}

#[test]
fn a_folder_of_the_first_schema_is_brought_up_to_date() {
    let folder = TempDir::new().unwrap();
    fs::copy(fixture("folders/1/cms.db"), folder.path().join("cms.db")).unwrap();
    let cms = Cms::open(CoreConfig::new(folder.path())).unwrap();
    let (objects, caller) = (cms.objects(), Caller::local());
    let list = |caller: &Caller, name: &str, request: &ListRequest| {
        let list = objects.list(caller, name, request).unwrap().to_value();
        let shown = |object: &serde_json::Value| {
            let (internal, related) = (&object["internal"], &object["related"]);
            let related = related.as_array().map_or(0, Vec::len);
            let (status, version) = (&internal["status"], &internal["latestVersion"]);
            format!("{} {status} {version} links {related}", object["title"])
        };
        list["data"].as_array().unwrap().iter().map(shown).collect::<Vec<_>>()
    };

    // The published version of an object that was edited later is what readers see now.
    let by_title = ListRequest { order_by: Some("title".to_owned()), ..ListRequest::default() };
    let public = list(&caller, "page", &by_title);
    let public: Vec<_> = public.iter().map(String::as_str).collect();
    assert_eq!(
        public,
        [
            r#""Page 1" "public" 2 links 1"#,
            r#""Page 2" "public" 1 links 0"#,
            r#""Page 3" "public" 1 links 1"#,
        ]
    );
    let preview = Visibility { preview: true, public_only: false };
    let current = list(&caller.clone().with_visibility(preview), "page", &ListRequest::default());
    let current: Vec<_> = current.iter().map(String::as_str).collect();
    assert_eq!(
        current,
        [
            r#""Page 1 edited" "modified" 3 links 0"#,
            r#""Page 2" "public" 1 links 0"#,
            r#""Page 3" "public" 1 links 1"#,
            r#""Page 4" "draft" 1 links 0"#,
        ]
    );
    assert_eq!(list(&caller, "note", &ListRequest::default()), [r#""Note" "public" 1 links 0"#]);
    // A link, and the link of a published version, which readers follow: their targets are in use.
    for id in ["page-2", "page-3"] {
        assert!(matches!(objects.delete(&caller, "page", id), Err(Error::Refused(_))), "{id}");
    }
    assert_eq!(objects.removed(&caller, "page", None).unwrap(), ["page-0"]);
    let web = cms.keys().authenticate("a-key-of-the-first-schema").unwrap();
    assert_eq!(web.actor().rules[0].ctd, "page");
    // The row of what was deleted is not given again: its versions are not those of another.
    let new = serde_json::json!({"id": "new", "title": "New"});
    objects.create(&caller, "page", new.as_object().unwrap().clone()).unwrap();
    let database = rusqlite::Connection::open(folder.path().join("cms.db")).unwrap();
    let reused: i64 = database
        .query_row(
            "SELECT count(*) FROM object WHERE pk <= (SELECT max(pk) FROM trash)",
            [],
            |row| row.get(0),
        )
        .unwrap();
    assert_eq!(reused, 5);
    drop(cms);
    Cms::open(CoreConfig::new(folder.path())).unwrap();
}
