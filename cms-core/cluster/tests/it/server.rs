//! A PostgreSQL server for one test.

use std::{
    env, fs,
    net::TcpListener,
    os::unix::fs::{MetadataExt, PermissionsExt},
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use cms_cluster::{PostgresDatabase, PostgresSettings};
use tempfile::TempDir;

/// A running server with a directory of its own. It is stopped on drop.
pub(crate) struct Server {
    programs: PathBuf,
    folder: TempDir,
    port: u16,
    options: &'static str,
}

/// The user that runs the server if the tests run as root, because it refuses to run as root.
const USER: &str = "postgres";

impl Server {
    /// Starts a server with the programs in the directory `CMS_TEST_POSTGRES`.
    ///
    /// Data is not synced to disk: tests kill the server, not the machine.
    pub(crate) fn start() -> Option<Self> {
        Self::start_with("-F")
    }

    /// Starts the server with options.
    #[expect(clippy::disallowed_methods, reason = "the variable names the programs")]
    #[expect(clippy::print_stdout, reason = "a test that is skipped says so")]
    pub(crate) fn start_with(options: &'static str) -> Option<Self> {
        let programs = env::var_os("CMS_TEST_POSTGRES").filter(|path| !path.is_empty());
        let Some(programs) = programs else {
            println!("skipped: CMS_TEST_POSTGRES names no directory, see CONTRIBUTING.md");
            return None;
        };
        let folder = TempDir::new().unwrap();
        if is_root() {
            run(Command::new("chown").arg(USER).arg(folder.path()));
        }
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let server = Self { programs: programs.into(), folder, port, options };
        let data = server.folder.path().join("data");
        run(server.program("initdb").arg("-D").arg(data).args([
            "-A",
            "trust",
            "-U",
            "cms",
            "--locale=C.UTF-8",
            "--encoding=UTF8",
            "-N",
        ]));
        server.run();
        Some(server)
    }

    /// Starts the server again.
    pub(crate) fn run(&self) {
        let folder = self.folder.path().display();
        let options = format!("-p {} -h 127.0.0.1 -k {folder} {}", self.port, self.options);
        run(self
            .control()
            .args(["-w", "-o", &options, "-l"])
            .arg(self.folder.path().join("log"))
            .arg("start"));
    }

    /// Kills the server.
    pub(crate) fn kill(&self) {
        run(self.control().args(["-m", "immediate", "-w", "stop"]));
    }

    /// Stops the server, and copies its data.
    pub(crate) fn back_up(&self) {
        self.shut_down();
        let copy = self.folder.path().join("backup");
        run(self.shell("cp").arg("-a").arg(self.folder.path().join("data")).arg(copy));
        self.run();
    }

    /// Restores the data of [`Self::back_up`].
    pub(crate) fn restore(&self) {
        self.shut_down();
        let [data, backup] = ["data", "backup"].map(|name| self.folder.path().join(name));
        run(self.shell("rm").arg("-r").arg(&data));
        run(self.shell("cp").arg("-a").arg(backup).arg(data));
        self.run();
    }

    /// Copies the data for a standby, which is not started: it lacks later commits.
    pub(crate) fn create_standby(&self) {
        let port = self.port.to_string();
        let mut copy = self.program("pg_basebackup");
        copy.args([
            "-h",
            "127.0.0.1",
            "-p",
            &port,
            "-U",
            "cms",
            "-R",
            "-X",
            "stream",
            "-c",
            "fast",
        ]);
        run(copy.arg("-D").arg(self.folder.path().join("standby")));
    }

    /// Kills the server; its standby takes its place, with another history.
    pub(crate) fn fail_over(&self) {
        self.kill();
        let [data, lost, standby] =
            ["data", "lost", "standby"].map(|name| self.folder.path().join(name));
        run(self.shell("mv").arg(&data).arg(lost));
        run(self.shell("mv").arg(standby).arg(data));
        self.run();
        run(self.control().args(["-w", "promote"]));
    }

    /// Cancels open transactions, and stops the server.
    pub(crate) fn shut_down(&self) {
        run(self.control().args(["-m", "fast", "-w", "stop"]));
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    /// The directory of the socket.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Writes a file in the data directory, which only the server may read.
    pub(crate) fn add_file(&self, name: &str, content: &str) {
        let path = self.folder.path().join("data").join(name);
        fs::write(&path, content).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        if is_root() {
            run(Command::new("chown").arg(USER).arg(&path));
        }
    }

    /// Writes a settings file, and makes the server read it.
    pub(crate) fn replace_file(&self, name: &str, content: &str) {
        self.add_file(name, content);
        self.reload();
    }

    /// Makes the server read its settings files again, and waits until they apply to new connections.
    pub(crate) fn reload(&self) {
        let loaded = "SELECT pg_conf_load_time()";
        let before = self.sql("postgres", loaded);
        run(self.control().arg("reload"));
        while self.sql("postgres", loaded) == before {}
    }

    /// Creates a database, and returns its name.
    pub(crate) fn create_database(&self, name: &str) -> String {
        self.sql("postgres", &format!("CREATE DATABASE \"{name}\""));
        name.to_owned()
    }

    /// Runs statements, and returns their output without headers.
    pub(crate) fn sql(&self, database: &str, statements: &str) -> String {
        let port = self.port.to_string();
        let output = Command::new(self.programs.join("psql"))
            .args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-U", "cms"])
            .args(["-p", &port, "-d", database, "-c", statements])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    pub(crate) fn open(&self, database: &str) -> PostgresDatabase {
        open(self.port, database)
    }

    /// A program of the server, as a user that may run it.
    fn program(&self, name: &str) -> Command {
        self.as_user(&self.programs.join(name))
    }

    /// A program of the system, as the user of the server.
    fn shell(&self, name: &str) -> Command {
        self.as_user(Path::new(name))
    }

    fn as_user(&self, path: &Path) -> Command {
        let mut command = if is_root() {
            let mut command = Command::new("runuser");
            command.args(["-u", USER, "--"]).arg(path);
            command
        } else {
            Command::new(path)
        };
        command.current_dir(self.folder.path());
        command
    }

    fn control(&self) -> Command {
        let mut command = self.program("pg_ctl");
        command.arg("-D").arg(self.folder.path().join("data"));
        command
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let mut stop = self.control();
        stop.args(["-m", "immediate", "stop"]).stdout(Stdio::null()).stderr(Stdio::null());
        stop.status().ok();
    }
}

/// Connects to a port of this host.
pub(crate) fn open(port: u16, database: &str) -> PostgresDatabase {
    let url = format!("postgres://cms@127.0.0.1:{port}/{database}");
    let settings = PostgresSettings::parse(&url, None).unwrap();
    PostgresDatabase::open(settings).unwrap().with_node(database)
}

fn is_root() -> bool {
    // The owner of the entry is the user of this process.
    fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

/// Runs a command without pipes: the server would inherit them, and reading would not end.
fn run(command: &mut Command) {
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status().unwrap();
    assert!(status.success(), "{command:?}");
}
