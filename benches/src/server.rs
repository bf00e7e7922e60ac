//! The two servers as child processes, and commands on a data directory.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    path::Path,
    process::{Child, Command, Stdio},
    thread::sleep,
    time::Duration,
};

use serde_json::Value;

use crate::client;

/// The admin key of the measured server.
pub(crate) const KEY: &str = "0123456789abcdef0123456789abcdef01234567";

/// The system chooses the port.
pub(crate) const FREE_PORT: &str = "127.0.0.1:0";

/// A running server; it is killed on drop.
pub(crate) struct Server {
    process: Child,
    pub(crate) address: String,
}

impl Server {
    /// Starts the release server on a data directory.
    pub(crate) fn cms(binary: &Path, data: &Path) -> Self {
        Self::cms_at(binary, data, FREE_PORT)
    }

    /// Starts the release server at an address.
    pub(crate) fn cms_at(binary: &Path, data: &Path, listen: &str) -> Self {
        Self::start(binary, data, listen, &[], &[])
    }

    /// Starts the release server with arguments and variables; returns when it listens.
    pub(crate) fn start(
        binary: &Path,
        data: &Path,
        listen: &str,
        arguments: &[&str],
        variables: &[(&str, String)],
    ) -> Self {
        let mut command = Command::new(binary);
        command.args(["serve", "--listen", listen, "--data"]).arg(data).args(arguments);
        command.envs(variables.iter().map(|(name, value)| (name, value)));
        command.env("CMS_ADMIN_KEY", KEY).stderr(Stdio::piped()).stdout(Stdio::null());
        let mut process = command.spawn().expect("the server was built: cargo build --release");
        let address = address(process.stderr.take().expect("it is piped"));
        Self { process, address }
    }

    /// Starts this program as the baseline.
    pub(crate) fn baseline(file: &Path) -> Self {
        let mut command = Command::new(std::env::current_exe().expect("this program has a path"));
        command.arg("--serve-baseline").arg(file).stdout(Stdio::piped());
        let mut process = command.spawn().expect("this program starts");
        let address = address(process.stdout.take().expect("it is piped"));
        Self { process, address }
    }

    /// Waits for the first response.
    pub(crate) fn wait_until_healthy(&self) {
        self.get("/healthz");
    }

    /// Waits until the server is ready for requests of clients.
    pub(crate) fn wait_until_ready(&self) {
        while self.try_get("/readyz").is_none() {
            sleep(Duration::from_millis(5));
        }
    }

    /// Sends a signal by its name without `SIG`.
    pub(crate) fn signal(&self, name: &str) {
        let process = self.process.id().to_string();
        let status = Command::new("kill").args(["-s", name, &process]).status();
        assert!(status.is_ok_and(|status| status.success()), "the process runs");
    }

    /// Stops the server as a service manager does.
    pub(crate) fn terminate(&mut self) {
        self.signal("TERM");
        self.process.wait().expect("it is a child of this process");
    }

    pub(crate) fn kill(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }

    /// Sends a GET request; returns the body of the response.
    ///
    /// # Panics
    /// On a response other than 200.
    pub(crate) fn get(&self, path: &str) -> Vec<u8> {
        self.try_get(path).unwrap_or_else(|| panic!("{path} failed"))
    }

    /// Sends a GET request; returns the body of the response, none without the status 200.
    pub(crate) fn try_get(&self, path: &str) -> Option<Vec<u8>> {
        let mut stream = TcpStream::connect(&self.address).ok()?;
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: bench\r\nX-AUTH-TOKEN: {KEY}\r\nConnection: close\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).ok()?;
        let mut response = Vec::new();
        stream.read_to_end(&mut response).ok()?;
        let head = response.windows(4).position(|window| window == b"\r\n\r\n")?;
        response.starts_with(b"HTTP/1.1 200").then(|| response.split_off(head + 4))
    }

    /// Returns the path of the only image, at 800 by 600.
    pub(crate) fn image(&self) -> String {
        let list = self.get("/api/v1/content/_media?limit=1");
        let list: Value = serde_json::from_slice(&list).expect("lists are JSON");
        let url = list["data"][0]["url"].as_str().expect("a photo was uploaded");
        url.replace("0x0", "800x600")
    }

    /// Waits until all posts are indexed, because indexing would disturb the measurement.
    pub(crate) fn wait_until_indexed(&self, posts: usize) {
        let expected = format!("\"doc_count\":{posts}}}");
        let path =
            "/api/v1/search?q=&limit=1&content_type[]=post&aggregate_by[]=internal.contentType";
        loop {
            let mut stream = TcpStream::connect(&self.address).expect("it listens");
            stream.write_all(&client::get(path, KEY)).expect("it reads");
            let mut response = vec![0; 64 * 1024];
            let length = stream.read(&mut response).expect("it responds");
            if String::from_utf8_lossy(&response[..length]).contains(&expected) {
                return;
            }
        }
    }

    /// Resident memory of the process.
    pub(crate) fn memory_megabytes(&self) -> f64 {
        self.status("VmRSS:")
    }

    /// Resident memory without mapped files.
    pub(crate) fn anonymous_megabytes(&self) -> f64 {
        self.status("RssAnon:")
    }

    /// Processor time of the process so far, in seconds.
    ///
    /// # Panics
    /// On a system without `/proc`.
    pub(crate) fn processor_seconds(&self) -> f64 {
        // The clock ticks of `/proc` are hundredths of a second on every architecture.
        const TICKS_PER_SECOND: f64 = 100.0;
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.process.id()));
        let stat = stat.expect("the process runs");
        // The name of the program, in parentheses, may contain spaces.
        let (_, fields) = stat.rsplit_once(')').expect("the name is in parentheses");
        let ticks = fields.split_whitespace().skip(11).take(2).map(str::parse::<f64>);
        ticks.map(|ticks| ticks.expect("ticks are numbers")).sum::<f64>() / TICKS_PER_SECOND
    }

    fn status(&self, name: &str) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id()));
        let status = status.unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let kilobytes =
            line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok());
        kilobytes.unwrap_or_default() / 1024.0
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Reads the address that a server prints when it is ready.
fn address(output: impl Read + Send + 'static) -> String {
    let mut lines = BufReader::new(output).lines();
    let address = lines
        .by_ref()
        .map_while(Result::ok)
        .find_map(|line| line.split("listening on http://").nth(1).map(|a| a.trim().to_owned()))
        .expect("the server prints its address");
    // Further output must not fill the pipe.
    std::thread::spawn(move || lines.for_each(drop));
    address
}

/// Runs a command on a data directory.
pub(crate) fn run(binary: &Path, data: &Path, command: &[&str], files: &[&Path]) {
    run_on(Command::new(binary).arg("--data").arg(data), command, files);
}

/// Runs a command on a running server.
pub(crate) fn run_remotely(binary: &Path, address: &str, command: &[&str], files: &[&Path]) {
    let mut program = Command::new(binary);
    program.args(["--server", &format!("http://{address}")]).env("CMS_KEY", KEY);
    run_on(&mut program, command, files);
}

fn run_on(program: &mut Command, command: &[&str], files: &[&Path]) {
    let status = program
        .args(command)
        .args(files)
        .arg("--quiet")
        .stdout(Stdio::null())
        .status()
        .expect("the command was built: cargo build --release");
    assert!(status.success(), "{command:?} failed");
}
