//! Users: the first start of a server, and `cms user`.

use std::{fs, path::Path, thread, time::Duration};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::support::{Cli, Server, both_targets, client};

/// Starts a server without a configured key.
fn start(folder: &Path, arguments: &[&str], variables: &[(&str, String)]) -> Server {
    let variables = [variables, &[("CMS_ADMIN_KEY", String::new())]].concat();
    Server::start_with_variables(folder, arguments, &variables)
}

/// Requests the purpose of a code; returns the status.
fn status_of(server: &Server, code: &str) -> u16 {
    let url = format!("{}/api/v1/session/code", server.url);
    let request = client().build().unwrap().post(url).header("x-cms-request", "1");
    let request = request.header("content-type", "application/json");
    request.body(json!({ "code": code }).to_string()).send().unwrap().status().as_u16()
}

fn set_up_url(printed: &str) -> Option<&str> {
    printed.lines().find_map(|line| line.strip_prefix("CMS_SETUP_URL="))
}

#[test]
fn start_prints_a_set_up_link_until_there_is_a_user() {
    let folder = TempDir::new().unwrap();
    let first = start(folder.path(), &[], &[]);
    let url = first.url.clone();
    let printed = first.stop();
    let names: Vec<_> = printed.lines().map(|line| line.split('=').next().unwrap()).collect();
    assert_eq!(names, ["CMS_ADMIN_KEY", "CMS_RW_KEY", "CMS_RO_KEY", "CMS_SETUP_URL"]);
    let begin = format!("{url}/admin/sign-in#code=");
    let replaced = set_up_url(&printed).unwrap().strip_prefix(&begin).unwrap().to_owned();
    assert_eq!(replaced.len(), 43);

    let second = start(folder.path(), &["--public-url", "https://cms.example.com"], &[]);
    assert_eq!(status_of(&second, &replaced), 400);
    let printed = second.stop();
    let url = set_up_url(&printed).unwrap();
    assert!(url.starts_with("https://cms.example.com/admin/sign-in#code="), "{url}");
    let cli = Cli::with_data_in(folder.path());
    cli.write("password", "a good password\nsecond line\n");
    let password = cli.path("password");
    cli.run(&[
        "user",
        "create",
        "ada@example.com",
        "--name",
        "Ada",
        "--role",
        "admin",
        "--password-file",
        password.to_str().unwrap(),
    ])
    .ok();
    let code = url.split_once("#code=").unwrap().1;
    let third = start(folder.path(), &[], &[]);
    assert_eq!(status_of(&third, code), 400);
    assert_eq!(third.stop(), "");
}

/// Waits until the fake `xdg-open` in this folder was called; returns its argument.
fn opened(folder: &Path) -> String {
    let calls = folder.join("opened");
    for _ in 0..200 {
        match fs::read_to_string(&calls) {
            Ok(url) if url.ends_with('\n') => {
                fs::remove_file(&calls).unwrap();
                return url.trim().to_owned();
            }
            _ => thread::sleep(Duration::from_millis(50)),
        }
    }
    panic!("nothing was opened");
}

#[cfg(target_os = "linux")]
#[test]
fn serve_opens_the_page_without_the_set_up_link_in_arguments() {
    use std::os::unix::fs::PermissionsExt;

    let folder = TempDir::new().unwrap();
    let program = folder.path().join("xdg-open");
    let calls = folder.path().join("opened");
    fs::write(&program, format!("#!/bin/sh\necho \"$1\" > '{}'\n", calls.display())).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let variables = [("PATH", format!("{}:/usr/bin:/bin", folder.path().display()))];
    let start = || start(folder.path(), &["--open"], &variables);

    let first = start();
    let file = opened(folder.path());
    let page = fs::read_to_string(&file).unwrap();
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let printed = first.stop();
    let url = set_up_url(&printed).unwrap();
    assert!(page.contains(&format!("content=\"0; url={url}\"")), "{page}");

    let cli = Cli::with_data_in(folder.path());
    cli.run(&["user", "create", "ada@example.com", "--name", "Ada", "--role", "admin"]).ok();
    let second = start();
    assert_eq!(opened(folder.path()), format!("{}/admin", second.url));
    second.stop();
}

#[test]
fn variables_create_the_first_user() {
    let data = |folder: &TempDir| folder.path().join("data").to_str().unwrap().to_owned();
    let folder = TempDir::new().unwrap();
    let variables = |email: &str, password: &str| {
        let variables = [("CMS_ADMIN_EMAIL", email), ("CMS_ADMIN_PASSWORD", password)];
        Cli::with_variables(variables.map(|(name, value)| (name, value.to_owned())).to_vec())
    };
    for (email, password, message) in [
        ("ada@example.com", "short", "CMS_ADMIN_PASSWORD: Must be at least 12 characters long"),
        ("ada", "a good password", "CMS_ADMIN_EMAIL: This value is not valid."),
        ("ada@example.com", "", "only one of CMS_ADMIN_EMAIL and CMS_ADMIN_PASSWORD is set"),
    ] {
        let cli = variables(email, password);
        let output = cli.run(&["serve", "--listen", "127.0.0.1:0", "--data", &data(&folder)]);
        output.exits(2).stderr_contains(message);
    }
    let cli = Cli::with_data_in(folder.path());
    assert_eq!(cli.run(&["user", "list", "--json"]).ok().trim(), "[]");
}

#[test]
fn links_are_printed_on_both_targets() {
    let server = Server::start();
    for cli in &both_targets(&server) {
        cli.initialize();
        let ada = ["user", "create", "ada@example.com", "--name", "Ada", "--role", "editor"];
        let printed = cli.run(&ada).ok();
        let is_remote = !printed.starts_with("http://127.0.0.1:8080/");
        let begin = if is_remote { &*server.url } else { "http://127.0.0.1:8080" };
        let code = printed.strip_prefix(&format!("{begin}/admin/sign-in#code=")).unwrap().trim();
        assert_eq!(code.len(), 43);
        let link = ["user", "link", "ADA@example.com", "--kind", "reset", "--json"];
        let link: Value = cli.run(&link).exits(0).json();
        // There is no password to reset.
        assert_eq!(link["kind"], "invitation");
        assert_ne!(link["code"], code);
        let elsewhere =
            ["user", "link", "ada@example.com", "--public-url", "https://cms.example.com/"];
        let begin = if is_remote { &*server.url } else { "https://cms.example.com" };
        let printed = cli.run(&elsewhere).ok();
        assert!(printed.starts_with(&format!("{begin}/admin/sign-in#code=")), "{printed}");
    }
}
