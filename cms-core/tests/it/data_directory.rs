//! Opening data directories: new ones, concurrently, of older schemas, and unusable ones.

use std::{error::Error as _, fs, path::Path, thread};

use cms_core::{
    Caller, Cms, CoreConfig, Error, NewDatabase, Visibility,
    testing::fixture,
    wire::{content_type::TypeListRequest, object::ListRequest},
};
use tempfile::TempDir;

#[test]
fn data_directory_is_created_once_by_concurrent_opens() {
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
fn unusable_data_directory_is_an_error() {
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
        assert!(error.source().is_some(), "{name}: no cause for the log");
    }
    // A database of another program is not changed.
    let left: i64 = foreign.query_row("SELECT a FROM object", [], |row| row.get(0)).unwrap();
    assert_eq!(left, 1);
}

#[test]
fn data_directory_of_the_first_schema_is_upgraded() {
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

    // Readers see the published version of an object that was edited later.
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
    // Targets of links of current and of published versions are in use.
    for id in ["page-2", "page-3"] {
        assert!(matches!(objects.delete(&caller, "page", id), Err(Error::Rejected(_))), "{id}");
    }
    assert_eq!(objects.deleted_ids(&caller, "page", None).unwrap(), ["page-0"]);
    let web = cms.caller_of_key("a-key-of-the-first-schema").unwrap();
    assert_eq!(web.actor().rules[0].content_type, "page");
    // The primary key of a deleted object is not reused, because versions refer to it.
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

/// The names of the files in a folder, in order.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn open(folder: &Path, new_database: NewDatabase) -> Result<(), Error> {
    Cms::open(CoreConfig { new_database, ..CoreConfig::new(folder) }).map(drop)
}

/// With a new, empty database, all files of the lost database would be removed.
#[test]
fn database_is_not_created_beside_data_of_a_missing_one() {
    use NewDatabase::{Always, InNewDirectory, Never};

    for (name, phrase) in [
        (
            "media/_media-448eab50-efc1-46ef-83f2-b910b8cc58e0",
            "is missing, but the data directory still",
        ),
        ("index/1/meta.json", "is missing, but the data directory still holds its data (index)"),
        ("restoring/cms.db", "holds an unfinished restore (restoring/) and no database"),
        ("cms.db-wal", "is missing, but the data directory still holds its data (cms.db-wal)"),
        ("cms.db", "cms.db has 0 bytes"),
    ] {
        let folder = TempDir::new().unwrap();
        let file = folder.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, if name == "cms.db" { "" } else { "some bytes" }).unwrap();
        for new in [InNewDirectory, Never] {
            let refused = open(folder.path(), new);
            let Err(Error::Conflict(reason)) = &refused else { panic!("{name}: {refused:?}") };
            assert!(reason.contains(phrase), "{name}: {reason}");
            assert!(reason.contains("--new-database"), "{name}: {reason}");
            let mut left = names(folder.path());
            left.retain(|name| name != "lock");
            assert_eq!(left, [name.split('/').next().unwrap()], "nothing was created or removed");
        }
        open(folder.path(), Always).unwrap();
        if name.starts_with("media") || name.starts_with("restoring") {
            assert_eq!(fs::read(&file).unwrap(), b"some bytes", "{name}");
        }
        if name == "cms.db-wal" {
            // SQLite must not replay it into the new database.
            assert_eq!(fs::read(folder.path().join("cms.db-wal.old")).unwrap(), b"some bytes");
        }
        open(folder.path(), InNewDirectory).unwrap();
        open(folder.path(), Never).unwrap();
    }
}

#[test]
fn database_is_created_in_directories_without_data() {
    let folder = TempDir::new().unwrap();
    for name in ["media", "index", "restoring", "incoming"] {
        fs::create_dir(folder.path().join(name)).unwrap();
    }
    for name in ["cms.toml", "incoming/half", "cms.db.new", "cms.db.new-wal"] {
        // Including files of a process that was killed while it created a database.
        fs::write(folder.path().join(name), "other").unwrap();
    }
    let missing = open(folder.path(), NewDatabase::Never);
    assert!(matches!(missing, Err(Error::NotFound { .. })), "{missing:?}");
    open(folder.path(), NewDatabase::InNewDirectory).unwrap();
    let left = names(folder.path());
    assert!(!left.iter().any(|name| name.starts_with("cms.db.new")), "{left:?}");
    assert!(left.iter().any(|name| name == "cms.toml"));

    let nowhere = folder.path().join("nowhere");
    let missing = open(&nowhere, NewDatabase::Never);
    assert!(matches!(missing, Err(Error::NotFound { .. })), "{missing:?}");
    assert!(!nowhere.exists());
}

#[test]
fn missing_database_of_an_open_directory_is_reported() {
    let folder = TempDir::new().unwrap();
    let cms = Cms::open(CoreConfig::new(folder.path())).unwrap();
    fs::remove_file(folder.path().join("cms.db")).unwrap();
    let refused = open(folder.path(), NewDatabase::Always);
    let Err(Error::Conflict(reason)) = refused else { panic!("{refused:?}") };
    assert!(reason.contains("another process still has the data directory open"), "{reason}");
    drop(cms);
}
