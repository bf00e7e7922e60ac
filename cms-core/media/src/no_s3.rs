//! Replaces [S3 storage](s3.rs) in a build without it.

use std::sync::Arc;

use cms_model::{
    error::{Error, Result},
    settings::S3Bucket,
};
use object_store::ObjectStore;

pub(crate) fn open(bucket: &S3Bucket) -> Result<Arc<dyn ObjectStore>> {
    Err(Error::Unsupported(format!(
        "{bucket} cannot be used: this program was built without the feature \"s3\""
    )))
}

pub(crate) fn failure(_: &S3Bucket, error: &object_store::Error) -> Error {
    Error::internal(error.to_string())
}

/// Always false: this build has no S3 storage.
pub(crate) fn lacks_conditions(_: &object_store::Error) -> bool {
    false
}
