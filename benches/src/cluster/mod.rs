//! Nodes of a cluster against a single server with `--durability full`, alternating, and the delays
//! that only a cluster has.
//!
//! [`services`] are the processes. The nodes, PostgreSQL and the clients share the processor, so no
//! figure shows how reads scale with machines.

#[expect(clippy::unwrap_used, dead_code, reason = "shared with the tests of cms-core")]
#[path = "../../../cms-core/tests/it/bucket.rs"]
mod bucket;
mod delays;
#[expect(clippy::unwrap_used, dead_code, reason = "shared with the tests of cms-cluster")]
#[path = "../../../cms-core/cluster/tests/it/server.rs"]
mod postgres;
pub(crate) mod services;
mod throughput;

use std::path::Path;

use self::services::{Cluster, Services};
use crate::{
    Options,
    corpus::{self, Corpus},
    print, server,
};

/// Arguments of nodes whose reads do not wait for a query to PostgreSQL.
const BOUNDED: [&str; 2] = ["--read-consistency", "within=2s"];

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
        self.command(address, &["ctd", "apply"], &self.corpus.types());
        self.command(address, &["import", "author"], &[&self.corpus.authors]);
    }

    /// Imports posts, in batches of 500.
    pub(crate) fn import(&self, address: &str, posts: impl Iterator<Item = usize>) {
        let lines = self.services.folder().join("posts.ndjson");
        corpus::write(&lines, posts.map(corpus::post)).expect("the folder is writable");
        self.command(address, &["import", "post"], &[&lines]);
    }

    fn command(&self, address: &str, command: &[&str], files: &[&Path]) {
        server::run_remotely(&self.options.cms, address, command, files);
    }
}

/// A free address, so that a node can name it in its arguments.
pub(crate) fn free_address() -> String {
    let listener = std::net::TcpListener::bind(server::FREE_PORT).expect("a free port");
    listener.local_addr().expect("it is bound").to_string()
}
