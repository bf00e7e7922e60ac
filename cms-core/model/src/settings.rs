//! Settings of a data folder that more than one layer reads, as values.

use std::fmt;

/// How a commit reaches the disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// An acknowledged write survives a power cut.
    #[default]
    Full,
    /// An acknowledged write survives a crash of the process, but a power cut may take the last
    /// ones back. The database stays sound either way.
    Normal,
}

/// When opening a data folder makes a database.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NewDatabase {
    /// A missing database is an error.
    Never,
    /// Unless the folder holds data of a database that is missing or has 0 bytes.
    #[default]
    InNewFolder,
    /// Also beside data of another database, which then belongs to nothing.
    Always,
}

/// Where uploaded files are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum MediaStorage {
    /// In the data folder.
    #[default]
    Folder,
    /// In S3-compatible storage.
    S3(S3Bucket),
}

/// A place in S3-compatible storage that nothing but one data folder uses.
#[derive(Clone, PartialEq, Eq)]
pub struct S3Bucket {
    pub name: String,
    /// Begins all keys; may be empty.
    pub prefix: String,
    /// None means the one of Amazon for the region.
    pub endpoint: Option<String>,
    pub region: String,
    pub access_key_id: String,
    pub secret_access_key: String,
}

/// As an operator writes it.
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
