//! Arguments of nodes of a cluster, and of `cms cluster`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum, builder::BoolishValueParser};
use cms_server::Consistency;

use super::DryRun;

/// The database that all nodes of a cluster share.
#[derive(Clone, Debug, Args)]
pub(crate) struct DatabaseArgs {
    /// Use this PostgreSQL database as the source of truth: `postgres://USER@HOST/DB`. All nodes of a
    /// cluster name the same one; the data directory of a node is a replica.
    ///
    /// Set the password in `CMS_DATABASE_PASSWORD`, or the complete URL in `CMS_DATABASE`.
    #[arg(long, value_name = "URL", env = "CMS_DATABASE", hide_env_values = true)]
    pub(crate) database: Option<String>,
    /// Set the encryption of connections to the database. Default: `verify-full`, or `off` if the
    /// database is on this machine.
    #[arg(long, value_name = "MODE", env = "CMS_DATABASE_TLS")]
    pub(crate) database_tls: Option<DatabaseTls>,
    /// Verify the certificate of the database by the root certificates in this file instead of those
    /// of the system.
    #[arg(long, value_name = "FILE", env = "CMS_DATABASE_CA")]
    pub(crate) database_ca: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum DatabaseTls {
    /// Encrypted, and the certificate is verified.
    VerifyFull,
    /// Encrypted, without verification.
    Require,
    /// Not encrypted: for addresses of this machine and Unix sockets only.
    Off,
}

/// Settings of one node.
#[derive(Debug, Args)]
pub(crate) struct NodeArgs {
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,
    /// Set the read consistency of this node of a cluster: `strict`, or a maximum staleness such as `within=2s`.
    /// Default: `strict`, and `within=2s` for images and files.
    #[arg(long, value_name = "CONSISTENCY", env = "CMS_READ_CONSISTENCY")]
    pub(crate) read_consistency: Option<Consistency>,
    /// Set the name of this node in `cms cluster status`. Default: the name of the host.
    #[arg(long, value_name = "NAME", env = "CMS_NODE_NAME")]
    pub(crate) node_name: Option<String>,
    /// Set the URL at which other nodes reach this one, such as `https://node1.example.com:8080`.
    /// While this node has the duty `writer`, the others forward writes to this URL.
    #[arg(long, value_name = "URL", env = "CMS_NODE_ADDRESS", value_parser = node_address)]
    pub(crate) node_address: Option<String>,
    /// Keep the cluster from moving to a newer database schema. Without this option, the cluster
    /// moves to the newer schema once all nodes run a version of cms that knows this schema.
    #[arg(long, env = "CMS_HOLD_UPGRADE", value_parser = BoolishValueParser::new())]
    pub(crate) hold_upgrade: bool,
}

/// Checks the URL of a node.
fn node_address(text: &str) -> Result<String, String> {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let is_origin = rest.is_some_and(|rest| {
        let host = rest.trim_end_matches('/');
        !host.is_empty() && !host.contains(['/', '?', '#', '@'])
    });
    if is_origin {
        Ok(text.to_owned())
    } else {
        Err("use a URL without a path, such as http://10.0.0.1:8080".to_owned())
    }
}

/// Manage a cluster: several nodes on one PostgreSQL database.
#[derive(Debug, Subcommand)]
pub(crate) enum ClusterCommand {
    /// Show the newest commit, the nodes and their duties.
    ///
    /// Exits with 6 when a live node (one that has reported within ten seconds) has a staleness above five seconds or does
    /// not know the schema of the cluster, or when any duty except `backups` has no holder.
    Status {
        #[command(flatten)]
        database: DatabaseArgs,
    },
    /// Create a cluster in an empty database; --from copies the content of a data directory to it.
    ///
    /// Media files are copied to the bucket of --media. A server may run on the directory: once the rows are copied, it
    /// serves reads and refuses writes with status 409. After it stops, no server starts on the directory. `cms cluster
    /// export` copies the content back to a directory.
    Init {
        #[command(flatten)]
        database: DatabaseArgs,
        /// Copy the content of this data directory.
        #[arg(long, value_name = "DIR")]
        from: Option<PathBuf>,
        #[command(flatten)]
        dry_run: DryRun,
    },
    /// Copy the content of a cluster, as of one commit, to an empty directory, as a standalone data directory.
    Export {
        /// Write to this directory.
        dir: PathBuf,
        #[command(flatten)]
        database: DatabaseArgs,
        /// Copy media files too, from the bucket of --media.
        #[arg(long)]
        with_media: bool,
    },
    /// Compare the database of a data directory (--data) with the database of the cluster.
    ///
    /// Compares all rows of all tables. Exits with 6 when rows differ; what is committed while the
    /// command runs counts as a difference.
    Compare {
        #[command(flatten)]
        database: DatabaseArgs,
    },
}
