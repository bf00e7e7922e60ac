//! Signatures of requests, by the Standard Webhooks convention, so that receivers can tell who sends.
//!
//! The secret of a webhook is made of a key that the folder keeps and of the row of the webhook: so
//! it is nowhere stored, exported or logged, and no two are the same.

use base64::{Engine, prelude::BASE64_STANDARD};
use ring::hmac::{HMAC_SHA256, Key, sign};

use crate::clock::Timestamp;

/// What the secret of a webhook begins with where people see it.
const PREFIX: &str = "whsec_";

/// The secret of one webhook.
pub struct Secret(Vec<u8>);

impl Secret {
    /// Makes the secret of a webhook from the key of the folder.
    pub fn of(folder_key: &str, webhook: i64) -> Self {
        let key = Key::new(HMAC_SHA256, folder_key.as_bytes());
        Self(sign(&key, format!("webhook {webhook}").as_bytes()).as_ref().to_vec())
    }

    /// The secret as receivers are given it.
    pub fn show(&self) -> String {
        format!("{PREFIX}{}", BASE64_STANDARD.encode(&self.0))
    }

    /// The headers that prove who sends a body, and when.
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

    /// The sample of the convention's own documents.
    #[test]
    fn a_signature_is_what_receivers_compute() {
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
    fn secrets_are_long_and_differ() {
        let shown = |key, webhook| Secret::of(key, webhook).show();
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
