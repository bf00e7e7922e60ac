//! Where a server takes its settings from.

use std::{
    fs, thread,
    time::{Duration, Instant},
};

use super::support::{Place, Server, client};

fn status(server: &Server, path: &str) -> u16 {
    let client = client().build().unwrap();
    client.get(format!("{}{path}", server.url)).send().unwrap().status().as_u16()
}

/// A flag wins over the file, the file over the default. Variables are in between, as for all that
/// clap reads.
#[test]
fn settings_come_from_flags_then_from_the_file() {
    let place = Place::empty();
    place.write("data/cms.toml", "metrics = \"off\"\n");
    let folder = place.path("");
    let server = Server::start_in(&folder, &[]);
    assert_eq!(status(&server, "/metrics"), 404, "the file");
    drop(server);
    let server = Server::start_in(&folder, &["--metrics", "public"]);
    assert_eq!(status(&server, "/metrics"), 200, "the flag");
    drop(server);
    place.write("other.toml", "metrics = \"admin\"\n");
    let server = Server::start_in(&folder, &["--config", "other.toml"]);
    assert_eq!(status(&server, "/metrics"), 401, "another file");
    drop(server);
    fs::remove_file(place.path("data/cms.toml")).unwrap();
    let server = Server::start_in(&folder, &[]);
    assert_eq!(status(&server, "/metrics"), 200, "the default");
}

#[test]
fn mistakes_in_the_file_are_told_with_their_lines() {
    let place = Place::with_data();
    place.write("data/cms.toml", "# mine\nlissen = \"x\"\nslow-query = \"soon\"\n");
    let ran = place.run(&["serve"]);
    assert_eq!(ran.exit, 6, "{}", ran.whole());
    for line in [
        "data/cms.toml:2: unknown setting \"lissen\", did you mean \"listen\"?",
        "data/cms.toml:3: ",
    ] {
        assert!(ran.stderr.contains(line), "{}", ran.whole());
    }
    assert!(!place.path("data/cms.db").exists(), "nothing was begun");
    let ran = place.run(&["serve", "--config", "nowhere.toml"]);
    assert_eq!(ran.exit, 2, "{}", ran.whole());
    assert!(ran.stderr.contains("nowhere.toml"), "{}", ran.whole());
    for level in ["wran", "info,wran"] {
        let ran = place.run(&["serve", "--config", "/dev/null", "--log", level]);
        assert_eq!(ran.exit, 2, "{}", ran.whole());
        assert!(ran.stderr.contains("log level \"wran\" is not valid"), "{}", ran.whole());
    }
}

/// Limits may stand in a file that is there but leads nowhere.
#[cfg(unix)]
#[test]
fn a_file_that_leads_nowhere_is_a_mistake() {
    let place = Place::with_data();
    place.write("data/other", "");
    std::os::unix::fs::symlink("nowhere", place.path("data/cms.toml")).unwrap();
    let ran = place.run(&["serve"]);
    assert_eq!(ran.exit, 2, "{}", ran.whole());
    assert!(ran.stderr.contains("cms.toml"), "{}", ran.whole());
}

#[cfg(unix)]
#[test]
fn limits_are_read_again_while_the_server_runs() {
    let place = Place::empty();
    let server = Server::start_in(&place.path(""), &[]);
    let often = || (0..20).any(|_| status(&server, "/no/such/path") == 429);
    assert!(!often());
    let soon = |wanted: bool| {
        let end = Instant::now() + Duration::from_secs(20);
        while often() != wanted {
            assert!(Instant::now() < end, "the settings were read again");
            thread::yield_now();
        }
    };
    place.write("data/cms.toml", "address-rate = 1\n");
    server.signal("HUP");
    soon(true);
    // A mistake changes nothing.
    place.write("data/cms.toml", "address-rate = \"fast\"\n");
    server.signal("HUP");
    soon(true);
    place.write("data/cms.toml", "");
    server.signal("HUP");
    soon(false);
}
