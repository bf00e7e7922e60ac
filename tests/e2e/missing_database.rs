//! Data directories without a database, and killed restores: nothing is removed, and no new
//! database is created beside other data.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use super::support::{Cli, Server, fixtures};

/// Files of a folder with their sizes, except the lock and the temporary files of SQLite.
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

/// A data directory with the example site and its search index.
fn with_site() -> Cli {
    let cli = Cli::with_data();
    cli.import_example_site();
    cli.run(&["search", "coffee"]).ok();
    cli
}

const SERVE: &[&str] = &["serve", "--listen", "127.0.0.1:0"];
const NEW_KEY: &[&str] = &["key", "create", "web", "--kind", "read-only"];

#[test]
fn missing_database_is_not_replaced_by_an_empty_one() {
    let cli = with_site();
    let (database, aside) = (cli.path("data/cms.db"), cli.path("aside.db"));
    for state in
        ["is missing, but the data directory still holds its data (media, index)", "has 0 bytes"]
    {
        fs::rename(&database, &aside).unwrap();
        if state == "has 0 bytes" {
            fs::write(&database, "").unwrap();
        }
        let before = files(&cli.path("data"));
        for command in [SERVE, NEW_KEY, &["ctd", "list"], &["check"], &["check", "--repair"]] {
            let refused = cli.run(command);
            assert_eq!((refused.exit, &*refused.stdout), (5, ""), "{}", refused.transcript());
            let expected =
                format!("the database data/cms.db {state}: put the file back, or restore");
            assert!(refused.stderr.contains(&expected), "{}", refused.stderr);
            assert!(refused.stderr.contains("cms restore"), "{}", refused.stderr);
            assert!(refused.stderr.contains("--new-database"), "{}", refused.stderr);
            assert_eq!(files(&cli.path("data")), before, "{command:?}");
        }
        fs::rename(&aside, &database).unwrap();
        assert_eq!(cli.run(&["check"]).ok(), "10 stored files\nno problems found\n");
    }

    // `--new-database` creates an empty database and keeps the files.
    fs::remove_file(&database).unwrap();
    let server = Server::start_in(&cli.path(""), &["--new-database"]);
    let remote = Cli::with_server(&server);
    for _ in 0..2 {
        let check = remote.run(&["check", "--repair"]).ok();
        let waiting = "10 files without a media object yet; removed after one day";
        assert_eq!(check, format!("10 stored files\n{waiting}\nno problems found\n"));
    }
    server.terminate();
    assert_eq!(fs::read_dir(cli.path("data/media")).unwrap().count(), 10);
    cli.run(NEW_KEY).ok();
}

#[test]
fn unfinished_restore_is_not_replaced_by_an_empty_database() {
    let cli = with_site();
    cli.run(&["backup", "site.tar"]).ok();
    fs::create_dir_all(cli.path("new/restoring")).unwrap();
    fs::write(cli.path("new/restoring/cms.db"), "half of it").unwrap();
    let here = Cli::empty();
    fs::rename(cli.path("new"), here.path("new")).unwrap();
    let before = files(&here.path("new"));
    for command in [SERVE, NEW_KEY, &["ctd", "list"]] {
        let refused = here.run(&[command, &["--data", "new"]].concat());
        refused.exits(5);
        let expected = "holds an unfinished restore (restoring/) and no database: run `cms restore";
        assert!(refused.stderr.contains(expected), "{}", refused.stderr);
        assert_eq!(files(&here.path("new")), before, "{command:?}");
    }
    let backup = cli.path("site.tar");
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

/// Restores under `strace`; returns whether it succeeded.
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

/// Starts a restore and kills it in step `step` of `steps`. With `strace`, a step is a system call that
/// changes a file, and the kill comes before it; otherwise, a step is a part of the duration.
fn kill_in(step: usize, steps: usize, duration: Duration, here: &Cli, exact: bool) {
    if exact {
        let inject = format!("inject={CHANGES}:signal=SIGKILL:when={step}");
        traced(&here.path(""), &["-o", "/dev/null", "-e", &inject]);
        return;
    }
    let mut restore = here.start(&["restore", "site.tar", "--data", "new"]);
    let part = u32::try_from(step).unwrap() * duration / u32::try_from(steps).unwrap();
    // A fixed sleep, because the process is killed at this point of its duration.
    thread::sleep(part);
    restore.kill().unwrap();
    restore.wait().unwrap();
}

const WORKERS: usize = 4;

/// Kills a restore in each of its steps and repeats it.
#[test]
fn killed_restore_is_repeated_and_opens_only_when_complete() {
    let cli = Cli::with_data();
    cli.run(NEW_KEY).ok();
    for name in ["still.png", "still.jpg"] {
        let file = fixtures().join("media").join(name);
        cli.run(&["media", "upload", file.to_str().unwrap()]).ok();
    }
    cli.run(&["backup", "site.tar"]).ok();
    let here = Cli::empty();
    fs::copy(cli.path("site.tar"), here.path("site.tar")).unwrap();
    let restore = ["restore", "site.tar", "--data", "new"];
    let started = std::time::Instant::now();
    let output = here.run(&restore).ok();
    let duration = started.elapsed();
    fs::remove_dir_all(here.path("new")).unwrap();

    let exact = has_strace();
    let steps = if exact {
        assert!(traced(&here.path(""), &["-o", "steps", "-e", &format!("trace={CHANGES}")]));
        fs::remove_dir_all(here.path("new")).unwrap();
        fs::read_to_string(here.path("steps")).unwrap().lines().count()
    } else {
        40
    };
    let kill_and_repeat = |here: &Cli, step: usize| {
        kill_in(step, steps, duration, here, exact);
        let before = files(&here.path("new"));
        let opened = here.run(&["key", "list", "--data", "new"]);
        let is_complete = match opened.exit {
            // The database is moved into place last: then the restore is complete.
            0 => here.path("new/cms.db").exists(),
            4 | 5 => false,
            _ => panic!("step {step}: {}", opened.transcript()),
        };
        if !is_complete {
            assert_eq!(files(&here.path("new")), before, "step {step}: {}", opened.transcript());
        }
        assert_eq!(is_complete, opened.exit == 0, "step {step}");
        let again = here.run(&restore);
        let is_done = again.exit == 5 && !here.path("new/restoring").exists();
        assert!(is_done || again.exit == 0, "step {step}: {}", again.transcript());
        assert!(is_done || again.stdout == output, "step {step}: {}", again.transcript());
        assert!(!here.path("new/restoring").exists(), "step {step}");
        assert_eq!(
            here.run(&["check", "--data", "new"]).ok(),
            "2 stored files\nno problems found\n"
        );
        fs::remove_dir_all(here.path("new")).unwrap();
        is_complete
    };
    // The commands spend their time waiting for the disk, so the steps run on several threads.
    let complete: usize = thread::scope(|scope| {
        let workers = (1..=WORKERS).map(|first| {
            let here = Cli::empty();
            fs::copy(cli.path("site.tar"), here.path("site.tar")).unwrap();
            let kill_and_repeat = &kill_and_repeat;
            scope.spawn(move || {
                (first..=steps)
                    .step_by(WORKERS)
                    .filter(|step| kill_and_repeat(&here, *step))
                    .count()
            })
        });
        let workers: Vec<_> = workers.collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).sum()
    });
    let interrupted = steps - complete;
    let is_covered = interrupted > 10 && complete > 0;
    assert!(is_covered || !exact, "{interrupted} and {complete} of {steps}");
}
