//! What the nodes of a cluster share, as processes: PostgreSQL, a bucket, and a slow connection.

use std::{
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

use tempfile::TempDir;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::mpsc,
    time::{Instant, sleep_until},
};

use super::{bucket::BucketServer, postgres};
use crate::server::{FREE_PORT, Server};

/// The services, and the data directories of the nodes.
pub(crate) struct Services {
    pub(crate) postgres: postgres::Server,
    bucket: BucketServer,
    folder: TempDir,
    binary: PathBuf,
}

impl Services {
    /// Starts the programs that `CMS_TEST_POSTGRES` and `CMS_TEST_S3` name.
    pub(crate) fn start(binary: &Path) -> Self {
        // With fsync: commits are compared with those of a single server that syncs too.
        let postgres = postgres::Server::start_with("").expect("CMS_TEST_POSTGRES is set");
        let bucket = BucketServer::start().expect("CMS_TEST_S3 is set");
        let folder = tempfile::tempdir().expect("a temporary directory can be created");
        Self { postgres, bucket, folder, binary: binary.to_owned() }
    }

    /// The folder of the data directories.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Creates a cluster without nodes.
    pub(crate) fn create_cluster(&self, name: &str) -> Cluster<'_> {
        self.postgres.create_database(name);
        Cluster { services: self, name: name.to_owned(), port: self.postgres.port() }
    }
}

/// A database and a prefix of the bucket.
pub(crate) struct Cluster<'a> {
    services: &'a Services,
    name: String,
    port: u16,
}

impl Cluster<'_> {
    /// Lets nodes that start from now on use another port of PostgreSQL.
    pub(crate) fn connect_to(&mut self, port: u16) {
        self.port = port;
    }

    /// The data directory of a node.
    pub(crate) fn data(&self, node: &str) -> PathBuf {
        self.services.folder().join(format!("{}-{node}", self.name))
    }

    /// Starts a node, and waits until it is ready.
    pub(crate) fn node(&self, node: &str, listen: &str, arguments: &[&str]) -> Server {
        let mut all = vec!["--node-name", node, "--connections-per-address", "10000"];
        all.extend(arguments);
        let (data, variables) = (self.data(node), self.variables());
        let server = Server::start(&self.services.binary, &data, listen, &all, &variables);
        server.wait_until_ready();
        server
    }

    /// Starts a node that forwards writes, and to which other nodes forward writes.
    pub(crate) fn forwarding_node(&self, node: &str, listen: &str, arguments: &[&str]) -> Server {
        let address = format!("http://{listen}");
        self.node(node, listen, &[&["--node-address", &address][..], arguments].concat())
    }

    /// Runs a command with the settings of the cluster; returns its output, whatever its exit code.
    pub(crate) fn run(&self, command: &[&str]) -> String {
        let output = Command::new(&self.services.binary)
            .args(command)
            .envs(self.variables())
            .output()
            .expect("the command was built: cargo build --release");
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn variables(&self) -> Vec<(&'static str, String)> {
        let Self { services, name, port } = self;
        let mut variables =
            vec![("CMS_DATABASE", format!("postgres://cms@127.0.0.1:{port}/{name}"))];
        variables.extend(services.bucket.variables(name));
        variables
    }
}

/// Forwards connections to a port of this host, each byte after half a round trip; returns the port for
/// clients.
pub(crate) async fn slow_connection(port: u16, round_trip: Duration) -> u16 {
    let listener = TcpListener::bind(FREE_PORT).await.expect("a free port");
    let client_port = listener.local_addr().expect("it is bound").port();
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            tokio::spawn(async move {
                let Ok(server) = TcpStream::connect(("127.0.0.1", port)).await else { return };
                for stream in [&client, &server] {
                    stream.set_nodelay(true).expect("it is connected");
                }
                let (from_client, to_client) = client.into_split();
                let (from_server, to_server) = server.into_split();
                tokio::select! {
                    () = delay(from_client, to_server, round_trip / 2) => {}
                    () = delay(from_server, to_client, round_trip / 2) => {}
                }
            });
        }
    });
    client_port
}

/// Copies bytes with a delay, until one side is closed.
async fn delay(mut from: impl AsyncRead + Unpin, mut to: impl AsyncWrite + Unpin, delay: Duration) {
    let (sender, mut receiver) = mpsc::channel::<(Instant, Vec<u8>)>(1024);
    let read = async move {
        loop {
            let mut bytes = Vec::with_capacity(64 * 1024);
            match from.read_buf(&mut bytes).await {
                Ok(1..) if sender.send((Instant::now() + delay, bytes)).await.is_ok() => {}
                _ => return,
            }
        }
    };
    let write = async move {
        while let Some((at, bytes)) = receiver.recv().await {
            sleep_until(at).await;
            if to.write_all(&bytes).await.is_err() {
                return;
            }
        }
    };
    tokio::join!(read, write);
}
