//! Nodes of a cluster against a single server with `--durability full`, alternating, and the delays
//! that only a cluster has.
//!
//! [`services`] are the processes. The nodes, PostgreSQL and the clients share the processor, so nothing
//! here says how reads scale with machines.

mod delays;
#[expect(clippy::unwrap_used, dead_code, reason = "shared with the tests of cms-cluster")]
#[path = "../../../cms-core/cluster/tests/it/server.rs"]
mod postgres;
pub(crate) mod services;
mod throughput;

use std::path::{Path, PathBuf};

use serde_json::Value;

use self::services::{Cluster, Services};
use crate::{Options, corpus, print, server};

/// Measures the sections whose name contains the text of `--only`.
pub(crate) async fn run(options: &Options) {
    let services = Services::start(&options.cms);
    let run = Run::new(options, &services);
    let is_wanted = |name: &str| name.contains(&options.only);
    if ["creates", "import", "reads", "slow", "four nodes"].into_iter().any(is_wanted) {
        throughput::measure(&run, is_wanted).await;
    }
    print("\n| measured | figure |\n|---|---|");
    for name in ["staleness", "catch-up", "new node", "type change", "pause"] {
        if is_wanted(name) {
            delays::measure(&run, name).await;
        }
    }
}

/// What all sections use.
pub(crate) struct Run<'a> {
    options: &'a Options,
    services: &'a Services,
    corpus: Corpus,
}

impl<'a> Run<'a> {
    pub(crate) fn new(options: &'a Options, services: &'a Services) -> Self {
        Self { options, services, corpus: Corpus::write(services.folder()) }
    }

    /// Creates a cluster without nodes.
    fn cluster(&self, name: &str) -> Cluster<'a> {
        self.services.create_cluster(name)
    }

    /// Creates the types and the authors on a server.
    pub(crate) fn prepare(&self, address: &str) {
        let Corpus { types, authors, .. } = &self.corpus;
        let types = types.each_ref().map(PathBuf::as_path);
        self.command(address, &["ctd", "apply"], &types);
        self.command(address, &["import", "author"], &[authors]);
    }

    /// Imports posts, in batches of 500.
    pub(crate) fn import(&self, address: &str, posts: impl Iterator<Item = usize>) {
        let lines = self.corpus.folder.join("posts.ndjson");
        corpus::write(&lines, posts.map(corpus::post)).expect("the folder is writable");
        self.command(address, &["import", "post"], &[&lines]);
    }

    fn command(&self, address: &str, command: &[&str], files: &[&Path]) {
        server::run_remotely(&self.options.cms, address, command, files);
    }
}

/// Files to import.
struct Corpus {
    folder: PathBuf,
    types: [PathBuf; 2],
    authors: PathBuf,
}

impl Corpus {
    fn write(folder: &Path) -> Self {
        let authors = folder.join("authors.ndjson");
        let lines = (0..corpus::AUTHORS).map(corpus::author);
        corpus::write(&authors, lines).expect("the folder is writable");
        let types = corpus::types().map(|content_type| write_type(folder, &content_type));
        Self { folder: folder.to_owned(), types, authors }
    }
}

fn write_type(folder: &Path, content_type: &Value) -> PathBuf {
    let name = content_type["name"].as_str().expect("types have a name");
    let path = folder.join(format!("{name}.json"));
    std::fs::write(&path, content_type.to_string()).expect("the folder is writable");
    path
}

/// An address that a node can name before it listens.
pub(crate) fn free_address() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("it is bound").to_string()
}
