//! Headers and duration of an attempt, which the log of a webhook stores besides the bodies.

use std::time::Duration;

use super::mask::MASK;
use crate::{
    limits,
    wire::webhook::{LoggedHeader, LoggedHeaders},
};

/// The request and the response of an attempt.
#[derive(Clone, Debug, Default)]
pub struct Exchange {
    /// None when there was no request, for example because the URL is not valid.
    pub request_headers: Option<LoggedHeaders>,
    pub response_headers: Option<LoggedHeaders>,
    /// Until the end of the response, or the failure.
    pub duration: Duration,
}

impl LoggedHeaders {
    /// Keeps the first headers, up to the limits of the log.
    pub fn of<'a>(headers: impl IntoIterator<Item = (&'a str, &'a [u8])>) -> Self {
        let (mut logged, mut bytes) = (Self::default(), 0);
        for (name, value) in headers {
            bytes += name.len() + value.len();
            if logged.fields.len() == limits::MAX_WEBHOOK_LOG_HEADERS
                || bytes > limits::MAX_WEBHOOK_LOG_HEADER_BYTES
            {
                logged.truncated = true;
                break;
            }
            let value = String::from_utf8_lossy(value).into_owned();
            logged.fields.push(LoggedHeader { name: name.to_owned(), value });
        }
        logged
    }

    /// Masks the values of headers that authenticate the sender: those that the webhook configures,
    /// and the password of its URL.
    #[must_use]
    pub fn masked(mut self, configured: &[String]) -> Self {
        for LoggedHeader { name, value } in &mut self.fields {
            let is_configured = configured.iter().any(|known| known.eq_ignore_ascii_case(name));
            if is_configured || name == "authorization" {
                MASK.clone_into(value);
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logged_headers_are_bounded_by_number_and_bytes() {
        let long = [b'v'; 8 * 1024 - 1];
        for (headers, kept, truncated) in [
            (vec![], 0, false),
            (vec![&b"v"[..]; 64], 64, false),
            (vec![&b"v"[..]; 65], 64, true),
            (vec![&long], 1, false),
            (vec![&b""[..], &long], 1, true),
            (vec![&long, &b"v"[..]], 1, true),
        ] {
            let logged = LoggedHeaders::of(headers.iter().map(|value| ("n", *value)));
            assert_eq!((logged.fields.len(), logged.truncated), (kept, truncated));
        }
    }

    #[test]
    fn configured_values_and_passwords_are_masked() {
        let sent = [("content-type", "text"), ("authorization", "Basic a"), ("x-site", "main")];
        let headers = LoggedHeaders::of(sent.map(|(name, value)| (name, value.as_bytes())));
        let masked = headers.masked(&["X-Site".to_owned()]);
        let values: Vec<&str> = masked.fields.iter().map(|header| &*header.value).collect();
        assert_eq!(values, ["text", MASK, MASK]);
    }

    #[test]
    fn values_that_are_not_utf8_are_logged() {
        let logged = LoggedHeaders::of([("server", &b"caf\xe9"[..])]);
        assert_eq!(logged.fields[0].value, "caf\u{fffd}");
    }
}
