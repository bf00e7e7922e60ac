//! Arguments of `cms wait`.

use std::time::Duration;

use clap::Args;

use super::duration;

/// Wait until a server is ready.
///
/// Needs a server, by --server, `CMS_SERVER` or a profile, and no key. Exits with 0 as soon as
/// every part of `/readyz` is ready, or with 9 and the last reason after the timeout.
#[derive(Debug, Args)]
pub(crate) struct WaitArgs {
    /// Wait at most this long: a number with s, m or h.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = timeout)]
    pub(crate) timeout: Duration,
}

/// Parses a timeout such as `60s`, `5m` or `1h`.
fn timeout(text: &str) -> Result<Duration, String> {
    duration::parse::<u16>(text, &[('s', 1), ('m', 60), ('h', 3600)]).ok_or_else(|| {
        "use a number of seconds, minutes or hours, such as 60s, 5m or 1h".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeout_needs_a_number_and_a_unit() {
        for (text, seconds) in [("0s", 0), ("60s", 60), ("5m", 300), ("1h", 3600)] {
            assert_eq!(timeout(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in ["", "s", "60", "1.5m", "-1s", "6 s", "1d", "6ſ", "99999s"] {
            assert!(timeout(text).is_err(), "{text}");
        }
    }
}
