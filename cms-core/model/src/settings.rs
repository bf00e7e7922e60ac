//! Settings of a data directory that several layers read.

use std::fmt;

crate::named_enum! {
    /// When a commit is flushed to disk.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Durability {
        /// An acknowledged write survives a power cut.
        #[default]
        Full => "full",
        /// An acknowledged write survives a crash of the process; a power cut may lose the last ones.
        /// The database stays consistent either way.
        Normal => "normal",
    }
}

/// When opening a data directory creates a database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NewDatabase {
    /// A missing database is an error.
    Never,
    /// Create it, unless the directory has an index or files: then its database, which is missing or has
    /// 0 bytes, was lost.
    #[default]
    InNewDirectory,
    /// Create it even if the directory has data of another database, which becomes unused.
    Always,
}

/// Storage of uploaded files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum MediaStorage {
    /// In the data directory.
    #[default]
    DataDirectory,
    /// In S3-compatible storage.
    S3(S3Bucket),
}

/// A bucket, or a prefix in it, in S3-compatible storage; only one space may use it.
#[derive(Clone, PartialEq, Eq)]
pub struct S3Bucket {
    pub name: String,
    /// Prefix of all keys; may be empty.
    pub prefix: String,
    /// None means the endpoint of Amazon for the region.
    pub endpoint: Option<String>,
    pub region: String,
    pub access_key_id: String,
    pub secret_access_key: String,
}

/// In the format of the setting.
impl fmt::Display for S3Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s3://{}", self.name)?;
        if !self.prefix.is_empty() {
            write!(f, "/{}", self.prefix)?;
        }
        match &self.endpoint {
            Some(endpoint) => write!(f, " at {endpoint}"),
            None => Ok(()),
        }
    }
}

/// Without the secret.
impl fmt::Debug for S3Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, prefix, endpoint, region, .. } = self;
        f.debug_struct("Bucket")
            .field("name", name)
            .field("prefix", prefix)
            .field("endpoint", endpoint)
            .field("region", region)
            .finish_non_exhaustive()
    }
}
