//! Opening S3-compatible storage.

use std::sync::Arc;

use object_store::{
    ObjectStore, aws::AmazonS3Builder, aws::S3CopyIfNotExists, prefix::PrefixStore,
};

use crate::{
    config::Bucket,
    error::{Error, Result},
};

/// Opens a bucket. Nothing is sent yet: what is wrong with it shows when it is used.
pub(super) fn open(bucket: &Bucket) -> Result<Arc<dyn ObjectStore>> {
    // The provider of cryptography is chosen once per process; who came first chose the same.
    rustls::crypto::ring::default_provider().install_default().ok();
    let mut builder = AmazonS3Builder::new()
        .with_bucket_name(&bucket.name)
        .with_copy_if_not_exists(S3CopyIfNotExists::Multipart)
        .with_region(&bucket.region)
        .with_access_key_id(&bucket.access_key_id)
        .with_secret_access_key(&bucket.secret_access_key);
    if let Some(endpoint) = &bucket.endpoint {
        builder = builder.with_endpoint(endpoint).with_allow_http(endpoint.starts_with("http://"));
    }
    let store = builder.build().map_err(|error| Error::Internal(error.into()))?;
    Ok(Arc::new(PrefixStore::new(store, bucket.prefix.as_str())))
}
