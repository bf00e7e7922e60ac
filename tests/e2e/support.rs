//! Runs `cms` with an empty environment in a temporary directory, and captures its output.

mod server;

use std::{
    fmt::Write as _,
    fs,
    io::{Read, Write, pipe},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use reqwest::blocking::{Client, ClientBuilder};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) use server::Server;

/// The folder of fixtures of this repository.
pub(crate) fn fixtures() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../fixtures")
}

/// The folder with the input files of the transcripts.
pub(crate) fn files() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/e2e/files")
}

/// Runs `cms` in a temporary directory, with a default target.
pub(crate) struct Cli {
    folder: TempDir,
    /// Flags and variables that select the target.
    arguments: Vec<String>,
    variables: Vec<(&'static str, String)>,
}

/// Exit code and output of a command.
#[derive(Debug)]
pub(crate) struct CommandOutput {
    pub(crate) exit: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl CommandOutput {
    /// Exit code and output as in snapshots.
    pub(crate) fn transcript(&self) -> String {
        let transcript =
            format!("exit {}\n--- stdout\n{}--- stderr\n{}", self.exit, self.stdout, self.stderr);
        masked(&transcript)
    }

    /// Standard output; panics if the command failed.
    #[track_caller]
    pub(crate) fn ok(self) -> String {
        self.exits(0);
        self.stdout
    }

    /// Standard output as JSON.
    #[track_caller]
    pub(crate) fn json<T: DeserializeOwned>(&self) -> T {
        let parsed = serde_json::from_str(&self.stdout);
        parsed.unwrap_or_else(|error| panic!("{error}: {}", self.transcript()))
    }

    /// Asserts the exit code.
    #[track_caller]
    pub(crate) fn exits(&self, code: i32) -> &Self {
        assert_eq!(self.exit, code, "{}", self.transcript());
        self
    }

    /// Asserts the standard output.
    #[track_caller]
    pub(crate) fn prints(&self, text: &str) -> &Self {
        assert_eq!(self.stdout, text, "{}", self.transcript());
        self
    }

    /// Asserts a part of the standard error.
    #[track_caller]
    pub(crate) fn stderr_contains(&self, part: &str) -> &Self {
        assert!(self.stderr.contains(part), "{}", self.transcript());
        self
    }
}

/// Replaces ids, keys and times by their names in the same width, so that tables stay aligned.
pub(crate) fn masked(text: &str) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || ":.+-".contains(c);
    let mut masked = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let end = rest.find(|other| is_word(other) != is_word(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        match kind(word) {
            Some(kind) => write!(masked, "<{kind:.<width$}>", width = word.len() - 2).unwrap(),
            None => masked.push_str(word),
        }
        rest = after;
    }
    masked
}

fn kind(word: &str) -> Option<&'static str> {
    let is_hex = |text: &str| text.bytes().all(|b| b.is_ascii_hexdigit());
    let parts: Vec<usize> = word.split('-').map(str::len).collect();
    if parts == [8, 4, 4, 4, 12] && is_hex(&word.replace('-', "")) {
        Some("id")
    } else if word.len() == 40 && is_hex(word) {
        Some("key")
    } else if word.starts_with("20") && word.contains('T') && word.contains(':') {
        Some("time")
    } else {
        None
    }
}

impl Cli {
    /// No default target.
    pub(crate) fn empty() -> Self {
        let folder = TempDir::new().expect("a temporary directory can be created");
        Self { folder, arguments: Vec::new(), variables: Vec::new() }
    }

    /// The target is the data directory `data`, which does not exist yet.
    pub(crate) fn with_data() -> Self {
        Self { arguments: vec!["--data".to_owned(), "data".to_owned()], ..Self::empty() }
    }

    /// The target is the data directory `data` in a folder.
    pub(crate) fn with_data_in(folder: &Path) -> Self {
        let data = folder.join("data").to_str().expect("its path is UTF-8").to_owned();
        Self { arguments: vec!["--data".to_owned(), data], ..Self::empty() }
    }

    /// The target is selected by variables, also for shell commands.
    pub(crate) fn with_variables(variables: Vec<(&'static str, String)>) -> Self {
        Self { variables, ..Self::empty() }
    }

    /// The target is a server, with its admin key.
    pub(crate) fn with_server(server: &Server) -> Self {
        Self::with_key(server, &server.key)
    }

    /// The target is a server, with another key.
    pub(crate) fn with_key(server: &Server, key: &str) -> Self {
        Self {
            arguments: vec!["--server".to_owned(), server.url.clone()],
            variables: vec![("CMS_KEY", key.to_owned())],
            ..Self::empty()
        }
    }

    /// Creates the data directory, as the first start of a server does.
    pub(crate) fn initialize(&self) {
        self.run(&["key", "create", "first", "--kind", "read-only"]).ok();
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a file into the folder.
    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Copies all files of another folder into this one.
    pub(crate) fn copy(&self, files: &Path) {
        for entry in fs::read_dir(files).unwrap() {
            let entry = entry.unwrap();
            fs::copy(entry.path(), self.folder.path().join(entry.file_name())).unwrap();
        }
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> CommandOutput {
        self.run_with(arguments, "")
    }

    /// Runs a command whose arguments contain no spaces.
    pub(crate) fn run_line(&self, command: &str) -> CommandOutput {
        self.run(&command.split(' ').collect::<Vec<_>>())
    }

    /// Writes a project file and applies it.
    #[track_caller]
    pub(crate) fn apply(&self, name: &str, text: &str) {
        self.write(name, text);
        self.run(&["ctd", "apply", name]).ok();
    }

    /// Imports the types and objects of the example site.
    #[track_caller]
    pub(crate) fn import_example_site(&self) {
        let [project, content] = ["project.yaml", "content"].map(|name| fixtures().join(name));
        self.run(&["ctd", "apply", project.to_str().unwrap()]).ok();
        self.run(&["import", content.to_str().unwrap()]).ok();
    }

    /// Runs a command that reads `input`.
    pub(crate) fn run_with(&self, arguments: &[&str], input: &str) -> CommandOutput {
        let mut child = self
            .command()
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the built binary runs");
        // Fails if the command does not read its input.
        child.stdin.take().unwrap().write_all(input.as_bytes()).ok();
        let output = child.wait_with_output().unwrap();
        CommandOutput {
            exit: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    /// Runs a shell command in which `cms` is the built binary; returns its exit code and its
    /// output.
    pub(crate) fn shell(&self, line: &str) -> (i32, String) {
        let (mut reader, writer) = pipe().unwrap();
        let binaries = Path::new(env!("CARGO_BIN_EXE_cms")).parent().unwrap();
        let mut command = Command::new("sh");
        command
            .args(["-c", line])
            .env_clear()
            .env("PATH", format!("{}:/usr/bin:/bin", binaries.display()))
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .stdout(writer.try_clone().unwrap())
            .stderr(writer);
        let mut child = command.spawn().expect("there is a shell");
        // The command keeps the write end of the pipe open.
        drop(command);
        let mut printed = String::new();
        reader.read_to_string(&mut printed).unwrap();
        (child.wait().unwrap().code().unwrap_or(-1), printed)
    }

    /// Starts a command without input and output.
    pub(crate) fn start(&self, arguments: &[&str]) -> Child {
        let mut command = self.command();
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().expect("the built binary runs")
    }

    /// Starts a command with a pipe as standard error.
    pub(crate) fn start_with_log(&self, arguments: &[&str]) -> Child {
        let mut command = self.command();
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().expect("the built binary runs")
    }

    fn command(&self) -> Command {
        let mut command = cms(self.folder.path());
        command
            .args(&self.arguments)
            .envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }
}

/// A new data directory and a server.
pub(crate) fn both_targets(server: &Server) -> [Cli; 2] {
    [Cli::with_data(), Cli::with_server(server)]
}

/// Runs the same checks on both targets.
pub(crate) fn on_both_targets(check: impl Fn(&Cli)) {
    let server = Server::start();
    both_targets(&server).iter().for_each(check);
}

/// The value of a relation to one object.
pub(crate) fn link(content_type: &str, id: &str) -> Value {
    json!([{ "type": "internal", "dataUrl": format!("/api/v1/content/{content_type}/{id}") }])
}

/// A project with Draft & Public, a workflow, and circular and required links.
pub(crate) const PUBLISHING_PROJECT: &str = "\
version: 1
contentTypes:
  - name: post
    draftPublic: true
    properties:
      title: {type: text, required: true, titlePart: true}
      next: {type: datasource, to: post}
      notes: {type: datasource, to: note, many: true}
  - name: note
    workflow: editorial
    properties:
      title: {type: text}
      about: {type: datasource, to: post}
  - name: chapter
    properties:
      after: {type: datasource, to: chapter, required: true, minItems: 0}
      also: {type: datasource, to: chapter}
workflows:
  - id: editorial
    name: Editorial desk
    states: [draft, review, public, archive]
    transitions: [draft>review, review>draft, review>public, public>archive]
";

/// A project with one type, of objects with a text.
pub(crate) const NOTE_PROJECT: &str =
    "{version: 1, contentTypes: [{name: note, properties: {text: {type: text}}}]}";

/// The built binary with an empty environment.
fn cms(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cms"));
    command.env_clear().current_dir(folder);
    command
}

/// A shell command in which `data` is a separate disk and `$0` the built binary; none where users
/// cannot mount one.
pub(crate) fn on_disk(folder: &Path, megabytes: u32, line: &str) -> Option<Command> {
    let mount = format!("mkdir -p data && mount -t tmpfs -o size={megabytes}m none data");
    let shell = |line: &str| {
        let mut shell = Command::new("unshare");
        shell.args(["-Urm", "sh", "-c", line, env!("CARGO_BIN_EXE_cms")]);
        shell.env_clear().env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin").current_dir(folder);
        shell
    };
    let tried = shell(&mount).stderr(Stdio::null()).status();
    tried.is_ok_and(|status| status.success()).then(|| shell(&format!("{mount} && {line}")))
}

/// A client without default headers.
pub(crate) fn client() -> ClientBuilder {
    rustls::crypto::ring::default_provider().install_default().ok();
    Client::builder().timeout(Duration::from_mins(1))
}

/// Polls a condition; fails with a message when it is not met within `limit`.
#[track_caller]
pub(crate) fn wait_for(limit: Duration, message: &str, mut is_met: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_met() {
        assert!(started.elapsed() < limit, "{message}");
        thread::sleep(Duration::from_millis(20));
    }
}
