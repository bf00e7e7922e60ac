//! Sources of a server's settings: flags, variables, the file.

use std::{fs, time::Duration};

use super::support::{Cli, Server, client, wait_for};

fn status(server: &Server, path: &str) -> u16 {
    let client = client().build().unwrap();
    client.get(format!("{}{path}", server.url)).send().unwrap().status().as_u16()
}

/// Flags override variables, variables the file, the file the defaults.
#[test]
fn settings_of_flags_override_those_of_the_file() {
    let cli = Cli::empty();
    cli.write("data/cms.toml", "metrics = \"off\"\n");
    let folder = cli.path("");
    let server = Server::start_in(&folder, &[]);
    assert_eq!(status(&server, "/metrics"), 404, "the file");
    drop(server);
    let server = Server::start_in(&folder, &["--metrics", "public"]);
    assert_eq!(status(&server, "/metrics"), 200, "the flag");
    drop(server);
    cli.write("other.toml", "metrics = \"admin\"\n");
    let server = Server::start_in(&folder, &["--config", "other.toml"]);
    assert_eq!(status(&server, "/metrics"), 401, "another file");
    drop(server);
    fs::remove_file(cli.path("data/cms.toml")).unwrap();
    let server = Server::start_in(&folder, &[]);
    assert_eq!(status(&server, "/metrics"), 200, "the default");
}

#[test]
fn configuration_errors_are_reported_with_their_lines() {
    let cli = Cli::with_data();
    cli.write("data/cms.toml", "# mine\nlissen = \"x\"\nslow-query = \"soon\"\n");
    let output = cli.run(&["serve"]);
    output.exits(6);
    for line in [
        "data/cms.toml:2: unknown setting \"lissen\", did you mean \"listen\"?",
        "data/cms.toml:3: ",
    ] {
        output.stderr_contains(line);
    }
    assert!(!cli.path("data/cms.db").exists(), "nothing was created");
    cli.run(&["serve", "--config", "nowhere.toml"]).exits(2).stderr_contains("nowhere.toml");
    for level in ["wran", "info,wran"] {
        let output = cli.run(&["serve", "--config", "/dev/null", "--log", level]);
        output.exits(2).stderr_contains("log level \"wran\" is not valid");
    }
}

/// A missing file is allowed, but a symbolic link without a target is not: its file may contain limits.
#[cfg(unix)]
#[test]
fn dangling_link_as_configuration_file_is_an_error() {
    let cli = Cli::with_data();
    cli.write("data/other", "");
    std::os::unix::fs::symlink("nowhere", cli.path("data/cms.toml")).unwrap();
    cli.run(&["serve"]).exits(2).stderr_contains("cms.toml");
}

#[cfg(unix)]
#[test]
fn limits_are_reloaded_while_the_server_runs() {
    let cli = Cli::empty();
    let server = Server::start_in(&cli.path(""), &[]);
    let is_limited = || (0..20).any(|_| status(&server, "/no/such/path") == 429);
    assert!(!is_limited());
    let wait_until_limited = |expected: bool| {
        let limit = Duration::from_secs(20);
        wait_for(limit, "the settings were reloaded", || is_limited() == expected);
    };
    cli.write("data/cms.toml", "address-rate = 1\n");
    server.signal("HUP");
    wait_until_limited(true);
    // A file with an error changes nothing.
    cli.write("data/cms.toml", "address-rate = \"fast\"\n");
    server.signal("HUP");
    wait_until_limited(true);
    cli.write("data/cms.toml", "");
    server.signal("HUP");
    wait_until_limited(false);
}
