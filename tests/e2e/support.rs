//! Runs `cms` with an empty environment, in a folder of its own, and keeps what it printed.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use tempfile::TempDir;

/// The folder of fixtures of this repository.
pub(crate) fn fixtures() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../fixtures")
}

/// A folder in which commands run.
pub(crate) struct Place {
    folder: TempDir,
    /// What says where commands work: flags and variables.
    arguments: Vec<String>,
    variables: Vec<(&'static str, String)>,
}

/// What a command left behind.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) exit: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// Everything at once, as snapshots show it.
    pub(crate) fn whole(&self) -> String {
        format!("exit {}\n--- stdout\n{}--- stderr\n{}", self.exit, self.stdout, self.stderr)
    }

    /// Standard output of a command that worked.
    pub(crate) fn ok(self) -> String {
        assert_eq!(self.exit, 0, "{}", self.whole());
        self.stdout
    }
}

impl Place {
    /// Commands work on no target unless they say so themselves.
    pub(crate) fn empty() -> Self {
        let folder = TempDir::new().expect("a temporary folder can be made");
        Self { folder, arguments: Vec::new(), variables: Vec::new() }
    }

    /// Commands work on the folder `data`, which does not exist yet.
    pub(crate) fn with_data() -> Self {
        Self { arguments: vec!["--data".to_owned(), "data".to_owned()], ..Self::empty() }
    }

    /// Commands work on a running server.
    pub(crate) fn with_server(server: &Server) -> Self {
        Self {
            arguments: vec!["--server".to_owned(), server.url.clone()],
            variables: vec![("CMS_KEY", server.key.clone())],
            ..Self::empty()
        }
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

    pub(crate) fn run(&self, arguments: &[&str]) -> Ran {
        self.run_with(arguments, "")
    }

    /// Runs a command that reads `input`.
    pub(crate) fn run_with(&self, arguments: &[&str], input: &str) -> Ran {
        let mut child = self
            .command()
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the built binary runs");
        // A command that does not read its input closes it; that is no fault.
        child.stdin.take().unwrap().write_all(input.as_bytes()).ok();
        let output = child.wait_with_output().unwrap();
        Ran {
            exit: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }

    fn command(&self) -> Command {
        let mut command = cms(self.folder.path());
        command
            .args(&self.arguments)
            .envs(self.variables.iter().map(|(name, value)| (name, value)));
        command
    }
}

/// The built binary, without the environment of who runs the tests.
fn cms(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cms"));
    command.env_clear().current_dir(folder);
    command
}

/// A running `cms serve` with a folder of its own; it ends with this value.
pub(crate) struct Server {
    pub(crate) url: String,
    /// The admin key.
    pub(crate) key: String,
    child: Child,
    _folder: TempDir,
}

impl Server {
    /// Starts a server on a free port.
    pub(crate) fn start() -> Self {
        let folder = TempDir::new().expect("a temporary folder can be made");
        let key = "an-admin-key-for-tests".to_owned();
        let mut child = cms(folder.path())
            .args(["serve", "--data", "data", "--listen", "127.0.0.1:0", "--log", "error"])
            .env("CMS_ADMIN_KEY", &key)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the built binary runs");
        let lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        let url = lines
            .into_iter()
            .find_map(|line| line.strip_prefix("listening on ").map(str::to_owned))
            .expect("the server says where it listens");
        Self { url, key, child, _folder: folder }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
