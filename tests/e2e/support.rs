//! Runs `cms` with an empty environment, in a folder of its own, and keeps what it printed.

use std::{
    fmt::Write as _,
    fs,
    io::{BufRead, BufReader, Read, Write, pipe},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use reqwest::blocking::{Client, ClientBuilder};

use tempfile::TempDir;

/// The folder of fixtures of this repository.
pub(crate) fn fixtures() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../fixtures")
}

/// The folder of files that transcripts read.
pub(crate) fn files() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/e2e/files")
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
        let whole =
            format!("exit {}\n--- stdout\n{}--- stderr\n{}", self.exit, self.stdout, self.stderr);
        masked(&whole)
    }

    /// Standard output of a command that worked.
    pub(crate) fn ok(self) -> String {
        assert_eq!(self.exit, 0, "{}", self.whole());
        self.stdout
    }
}

/// Ids, keys and times replaced by their names in the same width, so that tables stay aligned.
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

    /// Commands work on the folder `data` within a folder.
    pub(crate) fn with_data_in(folder: &Path) -> Self {
        let data =
            folder.join("data").to_str().expect("a temporary folder has a plain name").to_owned();
        Self { arguments: vec!["--data".to_owned(), data], ..Self::empty() }
    }

    /// Lines of shell work where these variables say.
    pub(crate) fn with_variables(variables: Vec<(&'static str, String)>) -> Self {
        Self { variables, ..Self::empty() }
    }

    /// Commands work on a running server.
    pub(crate) fn with_server(server: &Server) -> Self {
        Self::with_key(server, &server.key)
    }

    /// Commands work on a running server, with another key than that of its administrator.
    pub(crate) fn with_key(server: &Server, key: &str) -> Self {
        Self {
            arguments: vec!["--server".to_owned(), server.url.clone()],
            variables: vec![("CMS_KEY", key.to_owned())],
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

    /// Copies all files of another folder into this one.
    pub(crate) fn copy(&self, files: &Path) {
        for entry in fs::read_dir(files).unwrap() {
            let entry = entry.unwrap();
            fs::copy(entry.path(), self.folder.path().join(entry.file_name())).unwrap();
        }
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

    /// Runs a line of shell in which `cms` is the built binary; returns how it ended and all that it
    /// printed, in order.
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
        // It holds the other end of the pipe.
        drop(command);
        let mut printed = String::new();
        reader.read_to_string(&mut printed).unwrap();
        (child.wait().unwrap().code().unwrap_or(-1), printed)
    }

    /// Starts a command, and says nothing to it.
    pub(crate) fn start(&self, arguments: &[&str]) -> Child {
        let mut command = self.command();
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.spawn().expect("the built binary runs")
    }

    /// Starts a command whose standard error the test reads, or does not.
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

/// The built binary, without the environment of who runs the tests.
fn cms(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cms"));
    command.env_clear().current_dir(folder);
    command
}

/// A line of shell in which `data` is a disk of its own and `$0` the built binary; none where users
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

/// A running `cms serve`; it is killed with this value.
pub(crate) struct Server {
    pub(crate) url: String,
    /// The admin key.
    pub(crate) key: String,
    /// What it said on standard error before it listened.
    pub(crate) said: Vec<String>,
    /// And afterwards.
    logged: Arc<Mutex<String>>,
    child: Child,
    folder: Option<TempDir>,
}

/// A client for requests by hand.
pub(crate) fn client() -> ClientBuilder {
    rustls::crypto::ring::default_provider().install_default().ok();
    Client::builder().timeout(Duration::from_mins(1))
}

impl Server {
    /// Starts a server on a free port, with a new folder of its own.
    pub(crate) fn start() -> Self {
        let folder = TempDir::new().expect("a temporary folder can be made");
        let mut server = Self::start_in(folder.path(), &[]);
        server.folder = Some(folder);
        server
    }

    /// Starts a server that cannot map more memory than so many kilobytes, where the system can see
    /// to that.
    pub(crate) fn start_within(kilobytes: u32) -> Self {
        let folder = TempDir::new().expect("a temporary folder can be made");
        let mut shell = Command::new("sh");
        let line = format!("ulimit -v {kilobytes} 2>/dev/null; exec \"$0\" \"$@\"");
        shell.args(["-c", &line, env!("CARGO_BIN_EXE_cms")]).env_clear().current_dir(folder.path());
        let mut server = Self::start_as(shell, &[]);
        server.folder = Some(folder);
        server
    }

    /// Starts a server whose data folder is a disk of so many megabytes; none where the system does not
    /// let users make one.
    pub(crate) fn start_on_disk(megabytes: u32) -> Option<Self> {
        let folder = TempDir::new().expect("a temporary folder can be made");
        let serve = on_disk(folder.path(), megabytes, "exec \"$0\" \"$@\"")?;
        let mut server = Self::start_as(serve, &[]);
        server.folder = Some(folder);
        Some(server)
    }

    /// The data folder of a server that was started on a disk, as it sees it.
    pub(crate) fn disk(&self) -> PathBuf {
        let folder = self.folder.as_ref().expect("it has a folder of its own").path();
        PathBuf::from(format!("/proc/{}/root{}/data", self.child.id(), folder.display()))
    }

    /// The data directory of a server that was started with a folder of its own.
    pub(crate) fn data(&self) -> PathBuf {
        self.folder.as_ref().expect("it has a folder of its own").path().join("data")
    }

    /// Sends a signal, by its name.
    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status();
        assert!(sent.unwrap().success());
    }

    /// Starts a server that works on `data` in a folder, and waits until it listens.
    pub(crate) fn start_in(folder: &Path, arguments: &[&str]) -> Self {
        Self::start_as(cms(folder), arguments)
    }

    fn start_as(mut cms: Command, arguments: &[&str]) -> Self {
        let key = "an-admin-key-for-tests".to_owned();
        let mut child = cms
            .args(["serve", "--data", "data", "--listen", "127.0.0.1:0"])
            .args(arguments)
            .env("CMS_LOG", "error")
            .env("CMS_ADMIN_KEY", &key)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the built binary runs");
        let mut said = Vec::new();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        let url = loop {
            let line = lines.next().unwrap_or_else(|| panic!("the server listens: {said:?}"));
            match line.strip_prefix("listening on ") {
                Some(url) => break url.to_owned(),
                None => said.push(line),
            }
        };
        let logged = Arc::new(Mutex::new(String::new()));
        let log = Arc::clone(&logged);
        thread::spawn(move || {
            for line in lines {
                log.lock().unwrap().push_str(&(line + "\n"));
            }
        });
        Self { url, key, said, logged, child, folder: None }
    }
}

impl Server {
    /// The most memory that the server ever had, in kilobytes, where the system tells.
    pub(crate) fn memory_peak(&self) -> Option<u64> {
        self.memory("VmHWM:")
    }

    /// The memory that the server has now, without the files that it maps.
    pub(crate) fn anonymous_memory(&self) -> Option<u64> {
        self.memory("RssAnon:")
    }

    fn memory(&self, name: &str) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix(" kB")?.parse().ok()
    }

    /// One number of `/metrics`, named with its labels.
    pub(crate) fn metric(&self, name: &str) -> String {
        let answer = client().build().unwrap().get(format!("{}/metrics", self.url)).send().unwrap();
        let text = String::from_utf8(answer.bytes().unwrap().to_vec()).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("{name} in {text}")).to_owned()
    }

    /// What the server has written into its log since it listened.
    pub(crate) fn logged(&self) -> String {
        self.logged.lock().unwrap().clone()
    }

    /// Asks the server to end, and waits until it did.
    pub(crate) fn terminate(mut self) {
        self.signal("TERM");
        assert!(self.child.wait().unwrap().success());
    }

    /// Ends the server and returns what it printed on standard output.
    pub(crate) fn stop(mut self) -> String {
        self.child.kill().unwrap();
        let mut printed = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
        printed
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}
