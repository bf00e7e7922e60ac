//! Sign-in by OpenID Connect with an independent provider: `oidc-provider` of npm.
//!
//! Needs `node` and, in `NODE_PATH`, the package `oidc-provider`; `.ci/run` installs it. The issuer of
//! `cms-server/tests/it/openid.rs` sends the invalid responses that a correct provider never sends.

use std::{
    collections::BTreeMap,
    env,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
};

use reqwest::{blocking::Client, redirect::Policy};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::support::{Cli, Server, client};

/// The public URL of the server, which the provider knows. The browser of a test sends requests for
/// this URL to the address of the server.
const PUBLIC_URL: &str = "https://cms.example.com";
const START: &str = "https://cms.example.com/api/v1/session/openid";

/// A running provider; it is killed on drop.
struct Provider {
    issuer: String,
    child: Child,
}

impl Provider {
    /// Returns `None` if the package or `node` is missing.
    #[expect(
        clippy::disallowed_methods,
        clippy::print_stderr,
        reason = "`.ci/run` names the program"
    )]
    fn start(claims_in_userinfo: bool) -> Option<Self> {
        let Some(modules) = env::var_os("NODE_PATH")
            .filter(|modules| Path::new(modules).join("oidc-provider").exists())
        else {
            eprintln!("skipped: needs `node` and, in NODE_PATH, the package `oidc-provider`");
            return None;
        };
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/openid/provider.mjs");
        let account = |email: &str, is_verified: bool, groups: &[&str]| json!({ "email": email, "email_verified": is_verified, "name": "Ada Moor", "groups": groups });
        let accounts = json!({
            "ada": account("ada@example.com", true, &["desk"]),
            "ben": account("ben@example.com", true, &[]),
            "cleo": account("cleo@example.com", false, &[]),
            "dan": account("dan@example.org", true, &[]),
        });
        let mut child = Command::new("node")
            .args([script, &format!("{START}/callback"), &accounts.to_string()])
            .env("NODE_PATH", modules)
            .env("CLAIMS_IN_USERINFO", if claims_in_userinfo { "1" } else { "0" })
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let mut issuer = String::new();
        BufReader::new(child.stdout.take()?).read_line(&mut issuer).ok()?;
        assert!(issuer.starts_with("http://"), "the provider starts");
        Some(Self { issuer: issuer.trim().to_owned(), child })
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// A server whose users sign in at a provider.
struct Site {
    server: Server,
    _folder: TempDir,
}

impl Site {
    fn start(provider: &Provider, arguments: &[&str]) -> Self {
        let folder = TempDir::new().unwrap();
        let flags = ["--public-url", PUBLIC_URL, "--openid-issuer", &provider.issuer];
        let flags = [&flags[..], &["--openid-client-id", "cms"], arguments].concat();
        let secret = [("CMS_OPENID_CLIENT_SECRET", "a-client-secret".to_owned())];
        let server = Server::start_with_variables(folder.path(), &flags, &secret);
        Self { server, _folder: folder }
    }

    fn create_user(&self, email: &str, role: &str) {
        let user = json!({ "email": email, "name": "Ada Moor", "role": role });
        self.server.post("internal/user", user.to_string());
    }

    /// The settings of a user.
    fn user(&self, email: &str) -> Value {
        let users = self.server.get(&format!("/api/v1/internal/user?q={email}"));
        let users: Value = serde_json::from_str(&users.text().unwrap()).unwrap();
        users["data"][0].clone()
    }
}

/// A browser with the cookies of both sites.
struct Browser<'a> {
    site: &'a Site,
    client: Client,
    /// By origin and name.
    cookies: BTreeMap<(String, String), String>,
}

impl<'a> Browser<'a> {
    fn new(site: &'a Site) -> Self {
        let client = client().redirect(Policy::none()).build().unwrap();
        Self { site, client, cookies: BTreeMap::new() }
    }

    /// Sends a request; returns where it redirects.
    fn get(&mut self, url: &str) -> String {
        let host = origin(url).to_owned();
        let real = url.replace(PUBLIC_URL, &self.site.server.url);
        let cookies = self.cookies.iter().filter(|((origin, _), _)| *origin == host);
        let cookies: Vec<_> = cookies.map(|((_, name), value)| format!("{name}={value}")).collect();
        let response = self.client.get(real).header("cookie", cookies.join("; ")).send().unwrap();
        for set in response.headers().get_all("set-cookie") {
            let (cookie, attributes) = set.to_str().unwrap().split_once(';').unwrap();
            let (name, value) = cookie.split_once('=').unwrap();
            let key = (host.clone(), name.to_owned());
            if attributes.contains("Max-Age=0") || value.is_empty() {
                self.cookies.remove(&key);
            } else {
                self.cookies.insert(key, value.to_owned());
            }
        }
        let status = response.status();
        let location = response.headers().get("location").map(|to| to.to_str().unwrap().to_owned());
        match location {
            Some(path) if path.starts_with('/') => format!("{host}{path}"),
            Some(url) => url,
            None => panic!("{url} redirects: {status} {}", response.text().unwrap()),
        }
    }

    /// Signs in at the provider, up to the URL of the callback. With an empty account, the provider
    /// denies the sign-in.
    fn callback(&mut self, start: &str, account: &str) -> String {
        let mut url = self.get(start);
        if !account.is_empty() {
            url = format!("{url}&login_hint={account}");
        }
        while !url.starts_with(PUBLIC_URL) {
            url = self.get(&url);
        }
        url
    }

    /// Signs in; returns the last URL of the browser.
    fn sign_in(&mut self, account: &str) -> String {
        let callback = self.callback(START, account);
        self.get(&callback)
    }

    /// The address of the user who is signed in.
    fn user(&self) -> Value {
        let key = (PUBLIC_URL.to_owned(), "__Host-cms_session".to_owned());
        let cookie = format!("__Host-cms_session={}", self.cookies[&key]);
        let url = format!("{}/api/v1/session", self.site.server.url);
        let response = self.client.get(url).header("cookie", cookie).send().unwrap();
        let session: Value = serde_json::from_str(&response.text().unwrap()).unwrap();
        session["user"]["email"].clone()
    }
}

/// The origin of a URL.
fn origin(url: &str) -> &str {
    let start = url.find("://").unwrap() + 3;
    &url[..url[start..].find('/').map_or(url.len(), |end| start + end)]
}

fn error(name: &str) -> String {
    format!("{PUBLIC_URL}/admin/sign-in#error={name}")
}

fn admin(path: &str) -> String {
    format!("{PUBLIC_URL}/admin{path}")
}

#[test]
fn existing_user_signs_in_at_a_provider() {
    let Some(provider) = Provider::start(false) else { return };
    let site = Site::start(&provider, &[]);
    let mut browser = Browser::new(&site);
    assert_eq!(browser.sign_in("ada"), error("openid_user"));
    site.create_user("Ada@example.com", "author");
    assert_eq!(site.user("ada")["openId"], false);
    let callback = browser.callback(&format!("{START}?return=%2Fadmin%2Fpost%3Fpage%3D2"), "ada");
    assert_eq!(browser.get(&callback), admin("/post?page=2"));
    assert_eq!(browser.user(), "Ada@example.com");
    assert_eq!(site.user("ada")["openId"], true);
    assert_eq!(site.user("ada")["role"], "author");
    let mut other = Browser::new(&site);
    assert_eq!(other.sign_in(""), error("openid_denied"));

    // A state is accepted once, and from one browser; a code is accepted once.
    assert_eq!(browser.get(&callback), error("openid_state"), "used state");
    let elsewhere = browser.callback(START, "ada");
    assert_eq!(other.get(&elsewhere), error("openid_state"), "state of another browser");
    let value = |url: &str, name: &str| {
        let at = url.find(&format!("{name}=")).unwrap() + name.len() + 1;
        url[at..].split('&').next().unwrap().to_owned()
    };
    let again = browser.callback(START, "ada");
    let replayed = again.replace(&value(&again, "code"), &value(&callback, "code"));
    assert_eq!(browser.get(&replayed), error("openid_unavailable"), "used code");
}

#[test]
fn new_users_have_the_role_of_their_groups() {
    let Some(provider) = Provider::start(false) else { return };
    let site = Site::start(
        &provider,
        &[
            "--openid-allowed-domains=example.com,example.net",
            "--openid-default-role=viewer",
            "--openid-role-claim=groups",
            "--openid-role-map=chiefs=admin,desk=editor",
        ],
    );
    let sign_in = |account| Browser::new(&site).sign_in(account);
    assert_eq!(sign_in("ada"), admin(""));
    assert_eq!(site.user("ada")["role"], "editor");
    assert_eq!(site.user("ada")["name"], "Ada Moor");
    assert_eq!(sign_in("ben"), admin(""));
    assert_eq!(site.user("ben")["role"], "viewer");
    assert_eq!(sign_in("cleo"), error("openid_email"));
    assert_eq!(sign_in("dan"), error("openid_domain"));
    let id = site.user("ben")["id"].as_str().unwrap().to_owned();
    let cli = Cli::with_server(&site.server);
    cli.run(&["user", "update", &id, "--disable"]).ok();
    assert_eq!(sign_in("ben"), error("openid_disabled"));

    let mut browser = Browser::new(&site);
    let callback = browser.callback(START, "ada");
    drop(provider);
    assert_eq!(browser.get(&callback), error("openid_unavailable"));
}

#[test]
fn email_address_is_read_from_the_userinfo_endpoint() {
    let Some(provider) = Provider::start(true) else { return };
    let site = Site::start(&provider, &["--openid-default-role=viewer"]);
    let mut browser = Browser::new(&site);
    assert_eq!(browser.sign_in("ada"), admin(""));
    assert_eq!(browser.user(), "ada@example.com");
    assert_eq!(site.user("ada")["name"], "Ada Moor");
    assert_eq!(Browser::new(&site).sign_in("cleo"), error("openid_email"));
}

#[test]
fn incomplete_settings_are_refused_at_the_start() {
    let issuer = "--openid-issuer=https://id.example.com";
    let client = "--openid-client-id=cms";
    for (arguments, message) in [
        (&[issuer][..], "openid-issuer requires openid-client-id"),
        (&[issuer, client, "--openid-role-claim=a"], "openid-role-claim requires openid-role-map"),
        (&[issuer, client, "--openid-role-map=a=editor"], "requires openid-role-claim"),
        (&[issuer, client, "--openid-default-role=admin"], "developer, editor, author or viewer"),
        (&[issuer, client, "--openid-default-role=custom"], "developer, editor, author or viewer"),
        (&[issuer, client, "--openid-role-claim=a", "--openid-role-map=a=custom"], "VALUE=ROLE"),
        (&["--openid-issuer=http://id.example.com", client], "use https://HOST"),
    ] {
        let cli = Cli::with_data();
        let output = cli.run(&[&["serve", "--listen", "127.0.0.1:0"], arguments].concat());
        output.exits(2).stderr_contains(message);
    }
}
