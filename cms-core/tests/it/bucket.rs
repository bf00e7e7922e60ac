//! An S3 server with one bucket, for a test.

use std::{
    env,
    io::{BufRead, BufReader},
    process::{Child, Command, Stdio},
};

use tempfile::TempDir;

/// The access key that the server accepts, and its secret.
pub(crate) const ACCESS_KEY: &str = "S3RVER";

/// A running s3rver with the bucket `site`. It stores objects in a folder, and does not check
/// signatures. It is killed on drop.
pub(crate) struct BucketServer {
    program: Child,
    pub(crate) folder: TempDir,
    pub(crate) endpoint: String,
}

impl BucketServer {
    /// Starts the program that `CMS_TEST_S3` names.
    #[expect(clippy::disallowed_methods, reason = "the variable names the program")]
    #[expect(clippy::print_stdout, reason = "a test that is skipped says so")]
    pub(crate) fn start() -> Option<Self> {
        let Some(program) = env::var_os("CMS_TEST_S3") else {
            println!("skipped: CMS_TEST_S3 names no s3rver, see CONTRIBUTING.md");
            return None;
        };
        let folder = TempDir::new().unwrap();
        let mut program = Command::new(program)
            .args(["--address", "127.0.0.1", "--port", "0", "--silent", "--no-vhost-buckets"])
            .args(["--configure-bucket", "site", "--directory"])
            .arg(folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .expect("CMS_TEST_S3 names a program");
        let output = BufReader::new(program.stdout.take().unwrap());
        let address = output.lines().map_while(Result::ok).find_map(|line| {
            line.strip_prefix("S3rver listening on ").map(|address| format!("http://{address}"))
        });
        let endpoint = address.expect("s3rver says where it listens");
        Some(Self { program, folder, endpoint })
    }

    /// The settings of a server that keeps its files below a prefix.
    pub(crate) fn variables(&self, prefix: &str) -> [(&'static str, String); 4] {
        [
            ("CMS_MEDIA", format!("s3://site/{prefix}")),
            ("AWS_ENDPOINT_URL", self.endpoint.clone()),
            ("AWS_ACCESS_KEY_ID", ACCESS_KEY.to_owned()),
            ("AWS_SECRET_ACCESS_KEY", ACCESS_KEY.to_owned()),
        ]
    }
}

impl Drop for BucketServer {
    fn drop(&mut self) {
        self.program.kill().ok();
        self.program.wait().ok();
    }
}
