//! Signatures of requests by the Standard Webhooks convention, so that receivers can verify the
//! sender.
//!
//! The secret of a webhook is derived from a key of the data directory and the primary key of the
//! webhook. It is not stored, exported or logged, and each webhook has its own secret.

use base64::{Engine, prelude::BASE64_STANDARD};
use ring::hmac::{HMAC_SHA256, Key, sign};

use crate::clock::Timestamp;

/// The prefix of displayed secrets.
const PREFIX: &str = "whsec_";

/// The secret of one webhook.
pub struct Secret(Vec<u8>);

impl Secret {
    /// Derives the secret of a webhook from the key of the data directory.
    pub fn derive(server_key: &str, webhook: i64) -> Self {
        let key = Key::new(HMAC_SHA256, server_key.as_bytes());
        Self(sign(&key, format!("webhook {webhook}").as_bytes()).as_ref().to_vec())
    }

    /// The secret in the form that receivers need.
    pub fn show(&self) -> String {
        format!("{PREFIX}{}", BASE64_STANDARD.encode(&self.0))
    }

    /// The headers that authenticate the sender and the time of a body.
    pub fn headers(&self, message: &str, at: Timestamp, body: &str) -> [(&'static str, String); 3] {
        let seconds = at.seconds();
        let signed = format!("{message}.{seconds}.{body}");
        let tag = sign(&Key::new(HMAC_SHA256, &self.0), signed.as_bytes());
        [
            ("webhook-id", message.to_owned()),
            ("webhook-timestamp", seconds.to_string()),
            ("webhook-signature", format!("v1,{}", BASE64_STANDARD.encode(tag))),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the convention.
    #[test]
    fn signature_matches_the_convention() {
        let secret = BASE64_STANDARD.decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw").unwrap();
        let [id, at, signature] = Secret(secret).headers(
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            Timestamp(1_614_265_330_000_000),
            r#"{"test": 2432232314}"#,
        );
        assert_eq!(id, ("webhook-id", "msg_p5jXN8AQM9LWM0D4loKWxJek".to_owned()));
        assert_eq!(at, ("webhook-timestamp", "1614265330".to_owned()));
        let expected = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=";
        assert_eq!(signature, ("webhook-signature", expected.to_owned()));
    }

    #[test]
    fn secrets_have_256_bits_and_differ() {
        let shown = |key, webhook| Secret::derive(key, webhook).show();
        let first = shown("key", 1);
        assert_eq!(
            BASE64_STANDARD.decode(first.strip_prefix("whsec_").unwrap()).unwrap().len(),
            32
        );
        assert_eq!(first, shown("key", 1));
        assert_ne!(first, shown("key", 2));
        assert_ne!(first, shown("other", 1));
    }
}
