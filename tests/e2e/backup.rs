//! Backups of both targets, and folders that are made from them.

use std::{fs, path::Path, thread};

use super::support::{Place, Server, fixtures};

/// Brings the example site in.
fn fill(place: &Place) {
    let (project, content) = (fixtures().join("project.yaml"), fixtures().join("content"));
    place.run(&["ctd", "apply", project.to_str().unwrap()]).ok();
    place.run(&["import", content.to_str().unwrap()]).ok();
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn a_site_is_backed_up_restored_and_sound_on_both_targets() {
    let server = Server::start();
    for place in [Place::with_data(), Place::with_server(&server)] {
        fill(&place);
        let written = place.run(&["backup", "site.tar", "--quiet"]).ok();
        assert!(written.starts_with("site.tar: 75 objects, 10 files, "), "{written}");
        assert!(names(&place.path("")).iter().all(|name| !name.contains(".part")));
        // On a folder of its own, whatever the other commands work on.
        let here = Place::empty();
        fs::copy(place.path("site.tar"), here.path("site.tar")).unwrap();
        let rehearsed = here.run(&["restore", "site.tar", "--data", "new", "--dry-run"]).ok();
        assert!(rehearsed.starts_with("75 objects, 10 files, "), "{rehearsed}");
        assert!(!here.path("new").exists());
        here.run(&["restore", "site.tar", "--data", "new"]).ok();
        let check = here.run(&["check", "--data", "new"]).ok();
        assert_eq!(check, "10 stored files\nsound\n");
        let (before, after) = (place.path("before"), here.path("after"));
        place.run(&["export", "before"]).ok();
        here.run(&["export", "after", "--data", "new"]).ok();
        assert_eq!(names(&before), names(&after));
        for folder in names(&before) {
            for file in names(&before.join(&folder)) {
                let read = |root: &Path| fs::read(root.join(&folder).join(&file)).unwrap();
                assert!(read(&before) == read(&after), "{folder}/{file}");
            }
        }
        // A second restore would mix two sites.
        assert_eq!(here.run(&["restore", "site.tar", "--data", "new"]).exit, 5);
        let bytes = fs::read(here.path("site.tar")).unwrap();
        fs::write(here.path("half.tar"), &bytes[..bytes.len() / 2]).unwrap();
        let half = here.run(&["restore", "half.tar", "--data", "other"]);
        assert_eq!(half.exit, 6, "{}", half.whole());
        assert!(!here.path("other").exists());
        assert_eq!(here.run(&["restore", "nothing.tar", "--data", "other"]).exit, 6);
    }
}

#[test]
fn a_backup_that_fails_leaves_the_older_one() {
    let server = Server::start();
    let stranger = Place::with_key(&server, "no-such-key");
    stranger.write("site.tar", "older");
    assert_eq!(stranger.run(&["backup", "site.tar"]).exit, 3);
    assert_eq!(fs::read_to_string(stranger.path("site.tar")).unwrap(), "older");
    assert_eq!(names(&stranger.path("")), ["site.tar"]);
    let place = Place::with_server(&server);
    assert_eq!(place.run(&["restore", "site.tar"]).exit, 2);
    let nowhere = Place::with_data();
    assert_eq!(nowhere.run(&["backup", "site.tar"]).exit, 4);
    assert!(names(&nowhere.path("")).is_empty());
}

/// Every object whose creation was answered before the backup began is in it.
#[test]
fn a_backup_of_a_busy_server_has_what_it_acknowledged() {
    let server = Server::start();
    let place = Place::with_server(&server);
    fill(&place);
    let create = |number: usize| {
        let place = Place::with_server(&server);
        place.write("tag.json", &format!(r#"{{"id":"tag-{number}","name":"Tag {number}"}}"#));
        place.run(&["object", "create", "_tag", "tag.json"]).ok();
    };
    (0..4).for_each(create);
    thread::scope(|scope| {
        let writer = scope.spawn(|| (4..16).for_each(create));
        place.run(&["backup", "site.tar"]).ok();
        writer.join().unwrap();
    });
    let downloaded = |result: &str| {
        server.metric(&format!("cms_backups_total{{kind=\"downloaded\",result=\"{result}\"}}"))
    };
    assert_eq!(["completed", "failed"].map(downloaded), ["1", "0"]);
    let here = Place::empty();
    fs::copy(place.path("site.tar"), here.path("site.tar")).unwrap();
    here.run(&["restore", "site.tar", "--data", "new"]).ok();
    here.run(&["check", "--data", "new"]).ok();
    for number in 0..4 {
        here.run(&["object", "get", "_tag", &format!("tag-{number}"), "--data", "new"]).ok();
    }
}

/// A backup holds all content and the hashes of keys: others do not read it, whatever the folder allows.
#[cfg(unix)]
#[test]
fn backup_is_readable_by_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;

    let place = Place::with_data();
    place.run(&["key", "create", "web", "--kind", "read-only"]).ok();
    let mode = || fs::metadata(place.path("site.tar")).unwrap().permissions().mode() & 0o777;
    for earlier in [None, Some(0o644)] {
        if let Some(earlier) = earlier {
            let permissions = fs::Permissions::from_mode(earlier);
            fs::set_permissions(place.path("site.tar"), permissions).unwrap();
            place.write(".site.tar.part", "what a killed command left");
        }
        let (exit, said) = place.shell("umask 000; cms backup site.tar --data data --quiet");
        assert_eq!(exit, 0, "{said}");
        assert_eq!(mode(), 0o600, "{earlier:?}");
        assert_eq!(names(&place.path("")), ["data", "site.tar"]);
    }
}
