//! Opens S3-compatible storage, and translates its errors.
//!
//! This module never blocks; [`super::files`] does.

use std::{sync::Arc, time::Duration};

use cms_model::{
    error::{Error, Result, causes},
    settings::S3Bucket,
};
use object_store::{
    BackoffConfig, ClientOptions, Error as StorageError, ObjectStore, RetryConfig,
    aws::AmazonS3Builder, client::HttpError, prefix::PrefixStore,
};

/// Connect timeout.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(4);
/// Idle timeout of a connection.
const IDLE_TIMEOUT: Duration = Duration::from_secs(20);
/// Timeout of one request, which sends at most one part or reads a complete file.
const REQUEST_TIMEOUT: Duration = Duration::from_mins(2);
/// Time after which no further attempt begins.
const RETRY_TIMEOUT: Duration = Duration::from_secs(10);
const MAX_RETRIES: usize = 4;

/// Opens a bucket. Sends no request: errors are reported on first use.
pub(super) fn open(bucket: &S3Bucket) -> Result<Arc<dyn ObjectStore>> {
    // The crypto provider is set once per process; another caller may have set the same one.
    rustls::crypto::ring::default_provider().install_default().ok();
    let is_plain = bucket.endpoint.as_ref().is_some_and(|url| url.starts_with("http://"));
    let client = ClientOptions::new()
        .with_allow_http(is_plain)
        .with_connect_timeout(CONNECT_TIMEOUT)
        .with_read_timeout(IDLE_TIMEOUT)
        .with_timeout(REQUEST_TIMEOUT);
    let backoff = BackoffConfig { max_backoff: Duration::from_secs(2), ..BackoffConfig::default() };
    let mut builder = AmazonS3Builder::new()
        .with_client_options(client)
        .with_retry(RetryConfig { backoff, max_retries: MAX_RETRIES, retry_timeout: RETRY_TIMEOUT })
        .with_bucket_name(&bucket.name)
        .with_region(&bucket.region)
        .with_access_key_id(&bucket.access_key_id)
        .with_secret_access_key(&bucket.secret_access_key);
    if let Some(endpoint) = &bucket.endpoint {
        builder = builder.with_endpoint(endpoint);
    }
    let store = builder.build().map_err(|error| failure(bucket, &error))?;
    Ok(Arc::new(PrefixStore::new(store, bucket.prefix.as_str())))
}

/// Converts an error to one with a message for operators; to [`Error::Busy`] if a retry may succeed.
pub(super) fn failure(bucket: &S3Bucket, error: &StorageError) -> Error {
    let reason = reason(error);
    match error {
        StorageError::PermissionDenied { .. } | StorageError::Unauthenticated { .. } => {
            let key = &bucket.access_key_id;
            Error::internal(format!("{bucket} rejects the access key {key}: {reason}"))
        }
        StorageError::NotFound { .. } => {
            Error::internal(format!("{bucket} does not exist: {reason}"))
        }
        _ if is_transient(error) => Error::Busy(format!("{bucket} does not respond: {reason}")),
        _ => Error::internal(format!("{bucket} cannot be used: {reason}")),
    }
}

/// The error message of S3, or the root cause.
fn reason(error: &StorageError) -> String {
    let cause = causes(error).last().map(ToString::to_string).unwrap_or_default();
    match (element(&cause, "Code"), element(&cause, "Message")) {
        (Some(code), Some(message)) => format!("{code}: {message}"),
        (Some(code), None) => code.to_owned(),
        (None, _) => cause.trim_end_matches([':', ' ']).to_owned(),
    }
}

/// Whether the network or an overloaded service caused the error, so that a retry may succeed.
fn is_transient(error: &StorageError) -> bool {
    causes(error).any(|cause| {
        // The status is only in the text: the type of the error is private.
        let text = cause.to_string();
        let status = text.split_once("status code: ").and_then(|(_, rest)| rest.get(..3));
        let is_overload =
            |status: &str| status.starts_with('5') || ["408", "429"].contains(&status);
        cause.is::<HttpError>()
            || status.is_some_and(is_overload)
            || text.starts_with("Server returned error response")
    })
}

/// Returns whether an error means that the service does not support conditions of PUT requests.
pub(super) fn lacks_conditions(error: &StorageError) -> bool {
    causes(error).any(|cause| {
        let text = cause.to_string();
        text.contains("status code: 501") || text.contains("NotImplemented")
    })
}

/// The text of an element of an XML document.
fn element<'x>(xml: &'x str, name: &str) -> Option<&'x str> {
    let (_, rest) = xml.split_once(&format!("<{name}>"))?;
    rest.split_once(&format!("</{name}>")).map(|(text, _)| text)
}
