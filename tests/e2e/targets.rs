//! The target of a command, and plans for a data directory that does not exist.

use std::process::Command;

use super::support::{Cli, files};

/// Flags, variables, and the exit code.
type Row<'a> = (&'a [&'a str], &'a [(&'a str, &'a str)], i32);

#[test]
fn flags_override_the_variable_of_the_other_target() {
    let data = ("CMS_DATA", "/nonexistent");
    let server = ("CMS_SERVER", "http://127.0.0.1:1");
    let table: [Row<'_>; 7] = [
        (&["--data", "/nonexistent"], &[server], 4),
        (&["--data", "/nonexistent"], &[server, data], 4),
        (&["--server", "http://127.0.0.1:1"], &[data], 9),
        (&["--server", "http://127.0.0.1:1"], &[server, data], 9),
        (&[], &[server, data], 2),
        (&["--server", "http://127.0.0.1:1", "--data", "/nonexistent"], &[], 2),
        (&["--server", "", "--data", ""], &[data], 2),
    ];
    for (flags, variables, exit) in table {
        for arguments in [[flags, &["ctd", "list"]].concat(), [&["ctd", "list"], flags].concat()] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_cms"));
            command.args(&arguments).env_clear().env("CMS_KEY", "k");
            let output = command.envs(variables.iter().copied()).output().unwrap();
            assert_eq!(output.status.code(), Some(exit), "{variables:?} {arguments:?}: {output:?}");
        }
    }
}

#[test]
fn plan_against_a_missing_data_directory_takes_it_as_empty() {
    let cli = Cli::with_data();
    cli.copy(&files());
    let planned = cli.run(&["ctd", "plan", "shop.yaml", "--exit-code", "--out", "plan.json"]);
    planned.exits(10);
    assert_eq!(
        planned.stderr,
        "target: data\n\
         the data directory does not exist yet: the plan is for an empty data directory\n\
         nothing was changed\n"
    );
    assert!(planned.stdout.contains("plan: 1 to create, 0 to change, 0 to delete\n"));
    assert!(!cli.path("data").exists(), "a plan creates nothing");

    let dry_run = cli.run(&["ctd", "apply", "shop.yaml", "--dry-run"]);
    assert_eq!((dry_run.exit, &dry_run.stdout), (0, &planned.stdout), "{}", dry_run.transcript());
    assert!(!cli.path("data").exists(), "a dry run creates nothing");

    // The plan is valid for the directory that the first apply creates.
    let applied = cli.run(&["ctd", "apply", "plan.json"]);
    assert_eq!((applied.exit, &applied.stdout), (0, &planned.stdout), "{}", applied.transcript());
}

#[test]
fn plan_against_a_missing_data_directory_has_the_usual_exit_codes() {
    let cli = Cli::with_data();
    cli.copy(&files());
    cli.write("blocked.yaml", "version: 1\ncontentTypes: [{name: author, workflow: none}]\n");
    cli.write("built-in.yaml", "version: 1\ncontentTypes: []\n");
    for (file, exit) in [("faulty.yaml", 6), ("blocked.yaml", 6), ("nosuch.yaml", 2)] {
        for command in [&["ctd", "plan", file][..], &["ctd", "apply", file, "--dry-run"]] {
            let output = cli.run(command);
            assert_eq!(output.exit, exit, "{command:?}: {}", output.transcript());
        }
    }
    cli.run(&["ctd", "plan", "built-in.yaml", "--exit-code"]).exits(0);
    assert!(!cli.path("data").exists());
}

#[test]
fn plan_takes_only_a_new_data_directory_as_empty() {
    let cli = Cli::with_data();
    cli.copy(&files());
    // A directory that contains only settings counts as new.
    cli.write("data/cms.toml", "");
    assert_eq!(cli.run(&["ctd", "plan", "shop.yaml"]).exit, 0);
    cli.write("data/media/file", "");
    // A directory with media files, but without a database, does not.
    assert_eq!(cli.run(&["ctd", "plan", "shop.yaml"]).exit, 5);
    assert!(!cli.path("data/cms.db").exists());
}
