//! Opening folders: new ones, the same one many times, and those that cannot be used.

use std::{error::Error as _, fs, thread};

use cms_core::{Caller, Cms, CoreConfig, Error, wire::ctd::TypeListRequest};
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
