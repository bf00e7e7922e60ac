//! `cms login`, `cms logout`, `cms open`: profiles, their file, and the target of commands.

use std::{
    fs,
    io::{Read, Write},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use tempfile::TempDir;

use super::support::{Cli, Server, wait_for};

/// A user with a folder of configuration files.
struct User {
    config: TempDir,
}

impl User {
    fn new() -> Self {
        Self { config: TempDir::new().unwrap() }
    }

    fn cli(&self, variables: &[(&'static str, &str)]) -> Cli {
        let home = ("XDG_CONFIG_HOME", self.config.path().to_str().unwrap());
        let all = variables.iter().chain([&home]);
        Cli::with_variables(all.map(|(name, value)| (*name, (*value).to_owned())).collect())
    }

    fn login(&self, server: &Server, name: &str) {
        let cli = self.cli(&[]);
        let stored =
            cli.run_with(&["login", &server.url, "--name", name], &format!("{}\n", server.key));
        stored.exits(0).prints("").stderr_contains(&format!(
            "profile \"{name}\" is the default now: {} (key \"admin\"), stored in ",
            server.url
        ));
        assert!(!stored.stderr.contains(&server.key), "{}", stored.stderr);
    }

    fn file(&self) -> PathBuf {
        self.config.path().join("cms/profiles.toml")
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

const PROJECT: &str =
    "version: 1\ncontentTypes: [{name: page, properties: {title: {type: text}}}]\n";

#[test]
fn default_profile_is_the_target_without_flags_and_variables() {
    let (server, other, user) = (Server::start(), Server::start(), User::new());
    user.login(&other, "other");
    user.login(&server, "local");
    assert_eq!(mode(&user.file()), 0o600);

    let cli = user.cli(&[]);
    cli.write("project.yaml", PROJECT);
    let local = format!("target: {} (profile \"local\", key \"admin\")\n", server.url);
    let apply = ["ctd", "apply", "project.yaml"];
    cli.run(&apply).exits(0).stderr_contains(&local);
    cli.run(&[&apply[..], &["--profile", "local"]].concat()).exits(0).stderr_contains(&local);
    let shown = cli.run(&["whoami"]).ok();
    let target = format!("{} (profile \"local\", key \"admin\")\n", server.url);
    assert!(shown.contains(&target), "{shown}");
    cli.run(&["wait"]).exits(0).prints(&format!("{} is ready\n", server.url));

    // Flags take precedence over variables. CMS_KEY is not used for the server of a profile.
    let elsewhere = format!("target: {} (profile \"other\", key \"admin\")\n", other.url);
    let plan = |variables: &[(&'static str, &str)], flags: &[&str], exit: i32, part: &str| {
        let cli = user.cli(variables);
        cli.write("project.yaml", PROJECT);
        let output = cli.run(&[&["ctd", "plan", "project.yaml"], flags].concat());
        output.exits(exit).stderr_contains(part);
    };
    plan(&[], &["--profile", "other", "--exit-code"], 10, &elsewhere);
    plan(&[("CMS_DATA", "data")], &[], 0, "target: data\n");
    plan(&[("CMS_PROFILE", "other")], &[], 0, &elsewhere);
    plan(&[("CMS_PROFILE", "other"), ("CMS_KEY", "wrong")], &[], 0, &elsewhere);
    plan(&[("CMS_PROFILE", "other")], &["--data", "data"], 0, "target: data\n");
    plan(&[("CMS_DATA", "data")], &["--profile", "other"], 0, &elsewhere);
    let both = [("CMS_DATA", "data"), ("CMS_PROFILE", "other")];
    plan(&both, &[], 2, "CMS_DATA and CMS_PROFILE are both set");
    let flags = ["--data", "d", "--profile", "other"];
    plan(&[], &flags, 2, "--data and --profile cannot be used together");
    plan(&[], &["--profile", "othre"], 4, "hint: did you mean \"other\"?");
    plan(&[], &["--profile", "production"], 4, "hint: profiles are local, other");
    let key = [("CMS_KEY", "wrong")];
    plan(
        &key,
        &["--server", &server.url],
        3,
        "does not know this key: check CMS_KEY or --key-file",
    );

    // The other profile does not become the default.
    cli.run(&["logout"]).exits(0).stderr_contains("profile \"local\" is removed");
    assert_eq!(mode(&user.file()), 0o600);
    assert!(!fs::read_to_string(user.file()).unwrap().contains(&server.url));
    cli.run(&["whoami"]).exits(2).stderr_contains("`cms login URL`");
    cli.run(&["whoami", "--profile", "other"]).exits(0);
    cli.run(&["logout"]).exits(4).stderr_contains("hint: profiles are other");
    cli.run(&["logout", "other"]).exits(0);
    cli.run(&["logout", "other"]).exits(4).stderr_contains("`cms login URL` creates a profile");
}

#[test]
fn dry_runs_of_login_and_logout_store_nothing() {
    let (server, user) = (Server::start(), User::new());
    let cli = user.cli(&[]);
    let login = ["login", &server.url, "--name", "local", "--dry-run"];
    let planned = cli.run_with(&login, &server.key);
    planned.exits(0).prints("").stderr_contains("would store the profile \"local\" in ");
    planned.stderr_contains(&format!("{} (key \"admin\")\nnothing was changed", server.url));
    assert!(!planned.stderr.contains(&server.key), "{}", planned.stderr);
    cli.run_with(&login, "wrong").exits(3).stderr_contains("does not know this key");
    assert!(!user.file().exists());

    user.login(&server, "local");
    let stored = fs::read(user.file()).unwrap();
    let planned = cli.run(&["logout", "--dry-run"]);
    planned.exits(0).stderr_contains("would remove the profile \"local\" from ");
    cli.run(&["logout", "other", "--dry-run"]).exits(4);
    assert_eq!(fs::read(user.file()).unwrap(), stored);
}

/// Otherwise, echo would stay off in the shell of the user.
#[cfg(target_os = "linux")]
#[test]
fn interrupted_prompt_restores_the_echo_of_the_terminal() {
    if Command::new("script").arg("--version").output().is_err() {
        eprintln!("skipped: there is no script");
        return;
    }
    let (server, user) = (Server::start(), User::new());
    let program = env!("CARGO_BIN_EXE_cms");
    // The shell gets the signal, too, and continues.
    let line = format!(
        "trap : INT; {program} login {}; echo exit $?; stty -a | grep -o -e '-*echo '",
        server.url
    );
    let mut terminal = Command::new("script")
        .args(["--quiet", "--return", "--command", &line, "/dev/null"])
        .env("XDG_CONFIG_HOME", user.config.path())
        .env("SHELL", "/bin/sh")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut input, mut output) = (terminal.stdin.take().unwrap(), terminal.stdout.take().unwrap());
    let mut shown = String::new();
    let mut read_until = |part: &str| {
        let mut byte = [0];
        while !shown.contains(part) {
            assert_eq!(output.read(&mut byte).unwrap(), 1, "{shown}");
            shown.push(char::from(byte[0]));
        }
    };
    read_until(&format!("key for {}: ", server.url));
    // The prompt turns echo off after it has printed its text, so the first keys may be echoed.
    let start = Instant::now();
    input.write_all(b"secret\x03").unwrap();
    read_until("exit ");
    read_until("echo ");
    assert!(start.elapsed() < Duration::from_secs(20));
    drop(input);
    terminal.wait().unwrap();
    assert!(shown.contains("exit 130\r\n"), "{shown}");
    assert!(shown.ends_with("\r\necho "), "{shown}");
}

#[test]
fn refused_logins_store_nothing() {
    let (server, user) = (Server::start(), User::new());
    let cli = user.cli(&[]);
    for (url, input, exit, part) in [
        (server.url.as_str(), "wrong\n", 3, "does not know this key"),
        (&server.url, "", 3, "there is no key on standard input"),
        (&server.url, "CMS_ADMIN_KEY=a b", 2, "the token alone"),
        ("http://127.0.0.1:1", "key", 9, "http://127.0.0.1:1 cannot be reached"),
        ("localhost:8080", "key", 2, "server URL \"localhost:8080\" is not valid"),
        (&format!("{}/api/", server.url), "key", 4, &format!("use {}, without /api", server.url)),
    ] {
        let output = cli.run_with(&["login", url], input);
        output.exits(exit).prints("").stderr_contains(part);
        assert!(!user.file().exists());
    }
    cli.run_with(&["login", &server.url, "--name", "a b"], &server.key).exits(2);
    let homeless = Cli::empty().run_with(&["login", &server.url], &server.key);
    homeless.exits(2).stderr_contains("HOME");
    cli.run(&["logout"]).exits(4);

    // A key that was revoked later.
    let admin = Cli::with_server(&server);
    let token = admin.run(&["key", "create", "ci", "--kind", "admin"]).ok();
    cli.run_with(&["login", &server.url, "--name", "ci"], &token).exits(0);
    let keys = admin.run(&["key", "list", "-o", "csv"]).ok();
    let id = keys.lines().find(|line| line.contains(",ci,")).unwrap().split(',').next().unwrap();
    admin.run(&["key", "revoke", id, "--yes"]).ok();
    let hint = format!("hint: `cms login {} --name ci` stores another key", server.url);
    cli.run(&["whoami"]).exits(3).stderr_contains(&hint);
}

#[test]
fn concurrent_logins_store_all_profiles() {
    let (server, user) = (Server::start(), User::new());
    let names: Vec<String> = (0..8).map(|number| format!("profile-{number}")).collect();
    thread::scope(|scope| {
        for name in &names {
            scope.spawn(|| user.login(&server, name));
        }
    });
    let text = fs::read_to_string(user.file()).unwrap();
    for name in &names {
        assert!(text.contains(&format!("[profiles.\"{name}\"]")), "{text}");
    }
}

#[test]
fn file_that_others_may_read_is_refused() {
    let (server, user) = (Server::start(), User::new());
    user.login(&server, "local");
    for (mode, exit) in [(0o640, 2), (0o604, 2), (0o620, 2), (0o600, 0), (0o400, 0)] {
        set_mode(&user.file(), mode);
        let output = user.cli(&[]).run(&["whoami"]);
        output.exits(exit);
        if exit != 0 {
            output.stderr_contains(&format!("hint: run `chmod 600 '{}'`", user.file().display()));
        }
    }
    // Commands with another target do not read it.
    set_mode(&user.file(), 0o644);
    let with_key = user.cli(&[("CMS_KEY", &server.key)]);
    with_key.run(&["whoami", "--server", &server.url]).exits(0);
    set_mode(&user.file(), 0o600);
    fs::write(user.file(), "default = \"a\"\nprofiles = 3\n").unwrap();
    user.cli(&[]).run(&["whoami"]).exits(6).stderr_contains("profiles.toml:2: ");
}

#[test]
fn pages_open_in_the_browser() {
    let (server, user) = (Server::start(), User::new());
    user.login(&server, "local");
    let cli = user.cli(&[("PATH", "/nonexistent")]);
    let failed = cli.run(&["open"]);
    failed.exits(1).stderr_contains("cannot open a browser: ");
    failed.stderr_contains(&format!("hint: open {}/admin", server.url));
    cli.run(&["open", "shop"]).exits(2).stderr_contains("admin, docs, api");
    cli.run(&["open", "--data", "data"]).exits(2).stderr_contains("needs a server");

    // A fake browser that writes the opened address to a file.
    let opened = user.config.path().join("opened");
    let note = format!("{}.tmp", opened.display());
    let browser = format!("#!/bin/sh\necho \"$1\" > {note}\nmv {note} {}\n", opened.display());
    cli.write("xdg-open", &browser);
    set_mode(&cli.path("xdg-open"), 0o755);
    let path = format!("{}:/usr/bin:/bin", cli.path("").display());
    for (page, address) in [("admin", "/admin"), ("docs", "/"), ("api", "/docs")] {
        let address = format!("{}{address}\n", server.url);
        user.cli(&[("PATH", &path)]).run(&["open", page]).exits(0).prints(&address);
        wait_for(Duration::from_secs(20), &format!("{page} is opened"), || opened.exists());
        assert_eq!(fs::read_to_string(&opened).unwrap(), address);
        fs::remove_file(&opened).unwrap();
    }
}
