//! Backup and restore, on both targets.

use std::{fs, path::Path, thread};

use super::support::{Cli, Server, both_targets};

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn backup_of_both_targets_is_restored_completely() {
    let server = Server::start();
    for cli in both_targets(&server) {
        cli.import_example_site();
        let written = cli.run(&["backup", "site.tar", "--quiet"]).ok();
        assert!(written.starts_with("site.tar: 75 objects, 10 files, "), "{written}");
        assert!(names(&cli.path("")).iter().all(|name| !name.contains(".part")));
        // A restore needs a new data directory, whatever the target of the backup is.
        let here = Cli::empty();
        fs::copy(cli.path("site.tar"), here.path("site.tar")).unwrap();
        let dry_run = here.run(&["restore", "site.tar", "--data", "new", "--dry-run"]).ok();
        assert!(dry_run.starts_with("75 objects, 10 files, "), "{dry_run}");
        assert!(!here.path("new").exists());
        here.run(&["restore", "site.tar", "--data", "new"]).ok();
        let check = here.run(&["check", "--data", "new"]).ok();
        assert_eq!(check, "10 stored files\nno problems found\n");
        let (before, after) = (cli.path("before"), here.path("after"));
        cli.run(&["export", "before"]).ok();
        here.run(&["export", "after", "--data", "new"]).ok();
        assert_eq!(names(&before), names(&after));
        for folder in names(&before) {
            for file in names(&before.join(&folder)) {
                let read = |root: &Path| fs::read(root.join(&folder).join(&file)).unwrap();
                assert!(read(&before) == read(&after), "{folder}/{file}");
            }
        }
        // A second restore would mix the data of two sites.
        assert_eq!(here.run(&["restore", "site.tar", "--data", "new"]).exit, 5);
        let bytes = fs::read(here.path("site.tar")).unwrap();
        fs::write(here.path("half.tar"), &bytes[..bytes.len() / 2]).unwrap();
        here.run(&["restore", "half.tar", "--data", "other"]).exits(6);
        assert!(!here.path("other").exists());
        assert_eq!(here.run(&["restore", "nothing.tar", "--data", "other"]).exit, 2);
    }
}

#[test]
fn backup_that_fails_keeps_the_older_one() {
    let server = Server::start();
    let stranger = Cli::with_key(&server, "no-such-key");
    stranger.write("site.tar", "older");
    assert_eq!(stranger.run(&["backup", "site.tar"]).exit, 3);
    assert_eq!(fs::read_to_string(stranger.path("site.tar")).unwrap(), "older");
    assert_eq!(names(&stranger.path("")), ["site.tar"]);
    let cli = Cli::with_server(&server);
    assert_eq!(cli.run(&["restore", "site.tar"]).exit, 2);
    let nowhere = Cli::with_data();
    assert_eq!(nowhere.run(&["backup", "site.tar"]).exit, 4);
    assert!(names(&nowhere.path("")).is_empty());
}

/// Every object whose creation was acknowledged before the backup began is in it.
#[test]
fn backup_of_a_busy_server_has_all_acknowledged_writes() {
    let server = Server::start();
    let cli = Cli::with_server(&server);
    cli.import_example_site();
    let create = |number: usize| {
        let cli = Cli::with_server(&server);
        cli.write("tag.json", &format!(r#"{{"id":"tag-{number}","name":"Tag {number}"}}"#));
        cli.run(&["object", "create", "_tag", "tag.json"]).ok();
    };
    (0..4).for_each(create);
    thread::scope(|scope| {
        let writer = scope.spawn(|| (4..16).for_each(create));
        cli.run(&["backup", "site.tar"]).ok();
        writer.join().unwrap();
    });
    let downloaded = |result: &str| {
        server.metric(&format!("cms_backups_total{{kind=\"downloaded\",result=\"{result}\"}}"))
    };
    assert_eq!(["completed", "failed"].map(downloaded), ["1", "0"]);
    let here = Cli::empty();
    fs::copy(cli.path("site.tar"), here.path("site.tar")).unwrap();
    here.run(&["restore", "site.tar", "--data", "new"]).ok();
    here.run(&["check", "--data", "new"]).ok();
    for number in 0..4 {
        here.run(&["object", "get", "_tag", &format!("tag-{number}"), "--data", "new"]).ok();
    }
}

/// A backup contains all content and the hashes of keys: whatever the umask, only its owner may
/// read it.
#[cfg(unix)]
#[test]
fn backup_is_readable_by_its_owner_only() {
    use std::os::unix::fs::PermissionsExt;

    let cli = Cli::with_data();
    cli.run(&["key", "create", "web", "--kind", "read-only"]).ok();
    let mode = || fs::metadata(cli.path("site.tar")).unwrap().permissions().mode() & 0o777;
    for earlier in [None, Some(0o644)] {
        if let Some(earlier) = earlier {
            let permissions = fs::Permissions::from_mode(earlier);
            fs::set_permissions(cli.path("site.tar"), permissions).unwrap();
            cli.write(".site.tar.part", "what a killed command left");
        }
        let (exit, output) = cli.shell("umask 000; cms backup site.tar --data data --quiet");
        assert_eq!(exit, 0, "{output}");
        assert_eq!(mode(), 0o600, "{earlier:?}");
        assert_eq!(names(&cli.path("")), ["data", "site.tar"]);
    }
}
