//! Arguments of `cms wait`.

use std::time::Duration;

use clap::Args;

/// Wait until a server is ready.
///
/// Needs a server, by --server, `CMS_SERVER` or a profile, and no key. Exits with 0 as soon as
/// every part of `/readyz` is ready, or with 9 and the last reason after the timeout.
#[derive(Debug, Args)]
pub(crate) struct WaitArgs {
    /// Wait at most this long: a number with s, m or h.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration)]
    pub(crate) timeout: Duration,
}

/// Parses a duration such as `60s`, `5m` or `1h`.
fn duration(text: &str) -> Result<Duration, String> {
    let error = || "use a number of seconds, minutes or hours, such as 60s, 5m or 1h".to_owned();
    let unit = match text.chars().next_back() {
        Some('s') => 1,
        Some('m') => 60,
        Some('h') => 3600,
        _ => return Err(error()),
    };
    let number: u16 = text[..text.len() - 1].parse().map_err(|_| error())?;
    Ok(Duration::from_secs(u64::from(number) * unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duration_needs_a_number_and_a_unit() {
        for (text, seconds) in [("0s", 0), ("60s", 60), ("5m", 300), ("1h", 3600)] {
            assert_eq!(duration(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in ["", "s", "60", "1.5m", "-1s", "6 s", "1d", "6ſ", "99999s"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }
}
