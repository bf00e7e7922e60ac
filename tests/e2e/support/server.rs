//! [`Server`]: a running `cms serve`.

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use reqwest::blocking::Response;
use serde_json::Value;
use tempfile::TempDir;

use super::{client, cms, on_disk, wait_for};
use crate::two_nodes::{self, TwoNodes};

/// More than the grace period of running requests.
const TERMINATION_LIMIT: Duration = Duration::from_mins(1);

/// A running `cms serve`; it is killed on drop.
pub(crate) struct Server {
    pub(crate) url: String,
    /// The admin key.
    pub(crate) key: String,
    /// Lines on standard error before it listened.
    pub(crate) startup_log: Vec<String>,
    /// Standard error since then.
    logged: Arc<Mutex<String>>,
    child: Child,
    folder: Option<TempDir>,
    /// The other node, and the load balancer.
    cluster: Option<Box<TwoNodes>>,
}

impl Server {
    /// Starts a server on a free port with a new data directory.
    pub(crate) fn start() -> Self {
        let folder = TempDir::new().expect("a temporary directory can be created");
        let mut server =
            two_nodes::start(folder.path()).unwrap_or_else(|| Self::start_in(folder.path(), &[]));
        server.folder = Some(folder);
        server
    }

    /// The same server behind a load balancer of its cluster.
    pub(crate) fn behind(mut self, cluster: TwoNodes) -> Self {
        self.url.clone_from(&cluster.url);
        self.cluster = Some(Box::new(cluster));
        self
    }

    /// Starts a server that can map only this much memory, where the system supports that limit.
    pub(crate) fn start_within(kilobytes: u32) -> Self {
        let folder = TempDir::new().expect("a temporary directory can be created");
        let mut shell = Command::new("sh");
        let line = format!("ulimit -v {kilobytes} 2>/dev/null; exec \"$0\" \"$@\"");
        shell.args(["-c", &line, env!("CARGO_BIN_EXE_cms")]).env_clear().current_dir(folder.path());
        let mut server = Self::start_as(shell, &[], &[]);
        server.folder = Some(folder);
        server
    }

    /// Starts a server whose data directory is a disk of that size; none where users cannot mount
    /// one.
    pub(crate) fn start_on_disk(megabytes: u32) -> Option<Self> {
        let folder = TempDir::new().expect("a temporary directory can be created");
        let serve = on_disk(folder.path(), megabytes, "exec \"$0\" \"$@\"")?;
        let mut server = Self::start_as(serve, &[], &[]);
        server.folder = Some(folder);
        Some(server)
    }

    /// The data directory of a server with a separate disk, which only its processes see.
    pub(crate) fn disk(&self) -> PathBuf {
        let folder = self.folder.as_ref().expect("it has its own temporary directory").path();
        PathBuf::from(format!("/proc/{}/root{}/data", self.child.id(), folder.display()))
    }

    /// The data directory of a server with its own temporary directory.
    pub(crate) fn data(&self) -> PathBuf {
        self.folder.as_ref().expect("it has its own temporary directory").path().join("data")
    }

    /// Sends a signal, by its name.
    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status();
        assert!(sent.unwrap().success());
    }

    /// Starts a server on the data directory `data` in a folder, and waits until it listens.
    pub(crate) fn start_in(folder: &Path, arguments: &[&str]) -> Self {
        Self::start_with_variables(folder, arguments, &[])
    }

    /// Like [`Self::start_in`], with variables.
    pub(crate) fn start_with_variables(
        folder: &Path,
        arguments: &[&str],
        variables: &[(&str, String)],
    ) -> Self {
        Self::start_as(cms(folder), arguments, variables)
    }

    fn start_as(mut cms: Command, arguments: &[&str], variables: &[(&str, String)]) -> Self {
        let key = "an-admin-key-for-tests".to_owned();
        let mut child = cms
            .args(["serve", "--data", "data"])
            .args(arguments)
            .env("CMS_LISTEN", "127.0.0.1:0")
            .env("CMS_LOG", "error")
            .env("CMS_ADMIN_KEY", &key)
            .envs(variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the built binary runs");
        let mut startup_log = Vec::new();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        let url = loop {
            let line =
                lines.next().unwrap_or_else(|| panic!("the server listens: {startup_log:?}"));
            match line.strip_prefix("listening on ") {
                Some(url) => break url.to_owned(),
                None => startup_log.push(line),
            }
        };
        let logged = Arc::new(Mutex::new(String::new()));
        let log = Arc::clone(&logged);
        thread::spawn(move || {
            for line in lines {
                log.lock().unwrap().push_str(&(line + "\n"));
            }
        });
        Self { url, key, startup_log, logged, child, folder: None, cluster: None }
    }
}

impl Server {
    /// The peak memory of the server in kilobytes, where the system reports it.
    pub(crate) fn memory_peak(&self) -> Option<u64> {
        self.memory("VmHWM:")
    }

    /// The current memory of the server in kilobytes, without mapped files.
    pub(crate) fn anonymous_memory(&self) -> Option<u64> {
        self.memory("RssAnon:")
    }

    fn memory(&self, name: &str) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix(" kB")?.parse().ok()
    }

    /// One sample of `/metrics`, by its name and labels.
    pub(crate) fn metric(&self, name: &str) -> String {
        let response =
            client().build().unwrap().get(format!("{}/metrics", self.url)).send().unwrap();
        let text = String::from_utf8(response.bytes().unwrap().to_vec()).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("{name} in {text}")).to_owned()
    }

    /// Sends a GET request with the admin key.
    pub(crate) fn get(&self, path: &str) -> Response {
        let request = client().build().unwrap().get(format!("{}{path}", self.url));
        request.header("X-AUTH-TOKEN", &self.key).send().unwrap()
    }

    /// Sends a POST request with the admin key; returns the body of the response.
    pub(crate) fn post(&self, path: &str, body: String) -> Value {
        let client = client().timeout(Duration::from_mins(5)).build().unwrap();
        let request = client.post(format!("{}/api/v1/{path}", self.url)).body(body);
        let request = request.header("content-type", "application/json");
        let response = request.header("X-AUTH-TOKEN", &self.key).send().unwrap();
        let (status, body) = (response.status(), response.text().unwrap());
        assert!(status.is_success(), "{status} {body:.500}");
        serde_json::from_str(&body).unwrap()
    }

    /// The log of the server since it listened.
    pub(crate) fn logged(&self) -> String {
        self.logged.lock().unwrap().clone()
    }

    /// Waits until the log contains a text; returns the log.
    #[track_caller]
    pub(crate) fn wait_for_log(&self, limit: Duration, text: &str) -> String {
        let started = Instant::now();
        loop {
            let log = self.logged();
            if log.contains(text) {
                return log;
            }
            assert!(started.elapsed() < limit, "{text} is logged: {log}");
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Sends SIGTERM and waits for the end.
    pub(crate) fn terminate(mut self) {
        self.signal("TERM");
        wait_for(TERMINATION_LIMIT, "the server ends after SIGTERM", || {
            self.child.try_wait().unwrap().is_some()
        });
        assert!(self.child.wait().unwrap().success());
    }

    /// Kills the server and returns its standard output.
    pub(crate) fn stop(mut self) -> String {
        self.child.kill().unwrap();
        let mut printed = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
        printed
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.cluster = None;
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
