//! A data folder whose database is missing or empty, and restores that are killed: nothing is removed,
//! and nothing new is begun beside what is left.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use super::support::{Place, Server, fixtures};

/// Files of a folder, with their sizes; but for the lock and what SQLite keeps beside a database.
fn files(folder: &Path) -> Vec<(PathBuf, u64)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if !path.to_string_lossy().ends_with("lock") {
            found.push((path.clone(), path.metadata().unwrap().len()));
        }
    }
    found.sort();
    found
}

/// A folder with the example site, and a search index of it.
fn with_site() -> Place {
    let place = Place::with_data();
    let (project, content) = (fixtures().join("project.yaml"), fixtures().join("content"));
    place.run(&["ctd", "apply", project.to_str().unwrap()]).ok();
    place.run(&["import", content.to_str().unwrap()]).ok();
    place.run(&["search", "coffee"]).ok();
    place
}

const SERVE: &[&str] = &["serve", "--listen", "127.0.0.1:0"];
const NEW_KEY: &[&str] = &["key", "create", "web", "--kind", "read-only"];

#[test]
fn missing_or_empty_database_is_not_replaced_by_an_empty_one() {
    let place = with_site();
    let (database, aside) = (place.path("data/cms.db"), place.path("aside.db"));
    for state in ["is missing, but the folder still holds its data (media, index)", "has 0 bytes"] {
        fs::rename(&database, &aside).unwrap();
        if state == "has 0 bytes" {
            fs::write(&database, "").unwrap();
        }
        let before = files(&place.path("data"));
        for command in [SERVE, NEW_KEY, &["ctd", "list"], &["check"], &["check", "--repair"]] {
            let refused = place.run(command);
            assert_eq!((refused.exit, &*refused.stdout), (5, ""), "{}", refused.whole());
            let wanted = format!("the database data/cms.db {state}: put the file back, or restore");
            assert!(refused.stderr.contains(&wanted), "{}", refused.stderr);
            assert!(refused.stderr.contains("cms restore"), "{}", refused.stderr);
            assert!(refused.stderr.contains("--new-database"), "{}", refused.stderr);
            assert_eq!(files(&place.path("data")), before, "{command:?}");
        }
        fs::rename(&aside, &database).unwrap();
        assert_eq!(place.run(&["check"]).ok(), "10 stored files\nno problems found\n");
    }

    // Who asks for an empty site gets one, and keeps the files.
    fs::remove_file(&database).unwrap();
    let server = Server::start_in(&place.path(""), &["--new-database"]);
    let remote = Place::with_server(&server);
    for _ in 0..2 {
        let check = remote.run(&["check", "--repair"]).ok();
        let waiting = "10 files without a media object yet; removed after one day";
        assert_eq!(check, format!("10 stored files\n{waiting}\nno problems found\n"));
    }
    server.terminate();
    assert_eq!(fs::read_dir(place.path("data/media")).unwrap().count(), 10);
    place.run(NEW_KEY).ok();
}

#[test]
fn unfinished_restore_is_not_replaced_by_an_empty_site() {
    let place = with_site();
    place.run(&["backup", "site.tar"]).ok();
    fs::create_dir_all(place.path("new/restoring")).unwrap();
    fs::write(place.path("new/restoring/cms.db"), "half of it").unwrap();
    let here = Place::empty();
    fs::rename(place.path("new"), here.path("new")).unwrap();
    let before = files(&here.path("new"));
    for command in [SERVE, NEW_KEY, &["ctd", "list"]] {
        let refused = here.run(&[command, &["--data", "new"]].concat());
        assert_eq!(refused.exit, 5, "{}", refused.whole());
        let wanted = "holds an unfinished restore (restoring/) and no database: run `cms restore";
        assert!(refused.stderr.contains(wanted), "{}", refused.stderr);
        assert_eq!(files(&here.path("new")), before, "{command:?}");
    }
    let backup = place.path("site.tar");
    here.run(&["restore", backup.to_str().unwrap(), "--data", "new"]).ok();
    assert_eq!(here.run(&["check", "--data", "new"]).ok(), "10 stored files\nno problems found\n");
}

/// System calls that change files.
const CHANGES: &str = "?mkdir,?mkdirat,?rename,?renameat,?renameat2,?unlink,?unlinkat,?rmdir,\
                       fsync,fdatasync,ftruncate,write,pwrite64";

fn has_strace() -> bool {
    let mut strace = Command::new("strace");
    strace.args(["-o", "/dev/null", "true"]).stderr(Stdio::null());
    strace.status().is_ok_and(|status| status.success())
}

/// Restores under `strace`; returns whether it came to its end.
fn traced(here: &Path, options: &[&str]) -> bool {
    let mut strace = Command::new("strace");
    strace
        .args(["-f", "-qq"])
        .args(options)
        .args([env!("CARGO_BIN_EXE_cms"), "restore", "site.tar", "--data", "new"])
        .current_dir(here)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    strace.status().unwrap().success()
}

/// Starts a restore, and kills it in its given step of so many: before a change of a file where
/// `strace` is there, else after a part of the time that it takes.
fn kill_in(step: usize, of: usize, whole: Duration, here: &Place, exact: bool) {
    if exact {
        let inject = format!("inject={CHANGES}:signal=SIGKILL:when={step}");
        traced(&here.path(""), &["-o", "/dev/null", "-e", &inject]);
        return;
    }
    let mut restore = here.start(&["restore", "site.tar", "--data", "new"]);
    let part = u32::try_from(step).unwrap() * whole / u32::try_from(of).unwrap();
    thread::sleep(part);
    restore.kill().unwrap();
    restore.wait().unwrap();
}

/// Kills a restore in each of its steps, and makes it again.
#[test]
fn killed_restore_is_made_again_and_leaves_nothing_that_serves() {
    let place = Place::with_data();
    place.run(NEW_KEY).ok();
    for name in ["still.png", "still.jpg"] {
        let file = fixtures().join("media").join(name);
        place.run(&["media", "upload", file.to_str().unwrap()]).ok();
    }
    place.run(&["backup", "site.tar"]).ok();
    let here = Place::empty();
    fs::copy(place.path("site.tar"), here.path("site.tar")).unwrap();
    let restored = ["restore", "site.tar", "--data", "new"];
    let started = std::time::Instant::now();
    let said = here.run(&restored).ok();
    let whole = started.elapsed();
    fs::remove_dir_all(here.path("new")).unwrap();

    let exact = has_strace();
    let steps = if exact {
        assert!(traced(&here.path(""), &["-o", "steps", "-e", &format!("trace={CHANGES}")]));
        fs::remove_dir_all(here.path("new")).unwrap();
        fs::read_to_string(here.path("steps")).unwrap().lines().count()
    } else {
        40
    };
    let (mut interrupted, mut complete) = (0, 0);
    for step in 1..=steps {
        kill_in(step, steps, whole, &here, exact);
        let before = files(&here.path("new"));
        let opened = here.run(&["key", "list", "--data", "new"]);
        match opened.exit {
            // The database takes its place at the end: then everything is there.
            0 => {
                complete += 1;
                assert!(here.path("new/cms.db").exists());
            }
            // Nothing was made yet, or not all of it.
            4 | 5 => {
                interrupted += 1;
                assert_eq!(files(&here.path("new")), before, "step {step}: {}", opened.whole());
            }
            _ => panic!("step {step}: {}", opened.whole()),
        }
        let again = here.run(&restored);
        let is_done = again.exit == 5 && !here.path("new/restoring").exists();
        assert!(is_done || again.exit == 0, "step {step}: {}", again.whole());
        assert!(is_done || again.stdout == said, "step {step}: {}", again.whole());
        assert!(!here.path("new/restoring").exists(), "step {step}");
        assert_eq!(
            here.run(&["check", "--data", "new"]).ok(),
            "2 stored files\nno problems found\n"
        );
        fs::remove_dir_all(here.path("new")).unwrap();
    }
    let is_covered = interrupted > 10 && complete > 0;
    assert!(is_covered || !exact, "{interrupted} and {complete} of {steps}");
}
