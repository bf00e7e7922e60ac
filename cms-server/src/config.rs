//! What the server must be told. Reading flags and environment is the command line's work.

use std::{
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

pub use crate::net::rate_limit::Rate;
use crate::telemetry::log_writer::LogWriter;
use cms_core::BackupPlan;

/// Who may read the metrics.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MetricsAccess {
    /// Whoever reaches the server (contract 10.1).
    #[default]
    Public,
    /// Who has an admin key.
    Admin,
    /// Nobody: the path does not exist.
    Off,
}

/// What may change while the server runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tunables {
    /// Reads that take longer are logged with what they asked for; none logs none.
    pub slow_query: Option<Duration>,
    /// How often one key may ask; none means as often as it wants.
    pub key_rate: Option<Rate>,
    /// The same for one address, whatever key it has.
    pub address_rate: Option<Rate>,
}

impl Default for Tunables {
    fn default() -> Self {
        let slow_query = Some(Duration::from_millis(250));
        Self { slow_query, key_rate: None, address_rate: None }
    }
}

/// Settings of one server; start from [`ServerConfig::default`].
#[derive(Clone, Debug)]
pub struct ServerConfig {
    /// Port 0 lets the system choose one.
    pub listen: SocketAddr,
    /// Where the API is found, as clients outside should know it: `https://cms.example.com`. None
    /// means where each of them asked.
    pub public_url: Option<String>,
    /// Believe what a proxy says about the scheme and host that were asked for, and who asked.
    pub trust_proxy: bool,
    /// Largest JSON body, in bytes (contract 1.12).
    pub body_limit: usize,
    /// Largest body that uploads a file, in bytes (contract 1.12). More than a file may have, so
    /// that one that is too large can be told how large it is.
    pub upload_limit: u64,
    /// Threads that drive connections.
    pub workers: usize,
    /// Reads that run at the same time; more wait their turn.
    pub reads: usize,
    /// Searches that run or wait for the index at the same time; more wait their turn.
    pub searches: usize,
    /// Writes that are under way at the same time. The core commits waiting writes together, so
    /// more of them make larger groups.
    pub writes: usize,
    /// Files that are received at the same time; more wait before they are read.
    pub uploads: usize,
    /// Bodies of more than a megabyte that are held in memory at the same time; more wait before they
    /// are read.
    pub large_bodies: usize,
    /// Received files that are looked at and stored at the same time. Each is held in memory.
    pub inspections: usize,
    /// Pictures that are rendered at the same time; more wait their turn. Half as many besides, if they
    /// take long: whole pictures, and AVIF.
    pub renders: usize,
    /// Stored files that are read at the same time, each a piece of it.
    pub files: usize,
    /// Streams of changes at the same time; more are refused.
    pub subscribers: usize,
    /// Bytes of responses that are in memory at the same time, made or unsent; a request for more is
    /// refused.
    pub response_memory: usize,
    /// Open connections; more wait in the system's queue.
    pub connections: usize,
    /// Open connections of one client address, where 0 means any number; more are closed. None limits
    /// public addresses alone, and none where a proxy is trusted: many clients may share the others.
    pub connections_per_address: Option<usize>,
    /// Webhooks may have addresses of private networks and of this machine.
    pub webhook_private: bool,
    /// Bytes per second that a client must at least send or take, after a while; 0 for any.
    pub least_rate: u64,
    /// How long a body may take to arrive.
    pub request_timeout: Duration,
    pub metrics: MetricsAccess,
    pub tunables: Tunables,
    /// Where the log goes, for its metrics.
    pub log: Option<LogWriter>,
    /// How long running requests may take to finish when the server stops.
    pub grace: Duration,
    /// Backups that the server makes by itself.
    pub backups: Option<BackupPlan>,
}

impl Default for ServerConfig {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(2, usize::from);
        Self {
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, 8080)),
            public_url: None,
            trust_proxy: false,
            body_limit: 128 * 1024 * 1024,
            upload_limit: 64 * 1024 * 1024,
            workers: cores,
            reads: (2 * cores).max(4),
            searches: (4 * cores).max(8),
            writes: 64,
            uploads: 8,
            large_bodies: 4,
            inspections: 2,
            renders: cores,
            files: 32,
            subscribers: 256,
            response_memory: 256 * 1024 * 1024,
            connections: 10_000,
            connections_per_address: None,
            webhook_private: false,
            least_rate: 4096,
            request_timeout: Duration::from_mins(10),
            metrics: MetricsAccess::default(),
            tunables: Tunables::default(),
            log: None,
            grace: Duration::from_secs(20),
            backups: None,
        }
    }
}
