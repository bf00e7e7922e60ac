//! Arguments of `cms openapi`.

use clap::{Args, ValueEnum};

/// Print the OpenAPI document: OpenAPI 3.0, 3.1 or Swagger 2.0.
#[derive(Debug, Args)]
pub(crate) struct OpenapiArgs {
    /// Set the version of OpenAPI.
    #[arg(long, default_value = "3")]
    pub(crate) version: VersionChoice,
    /// Describe responses with linked objects instead of links.
    #[arg(long)]
    pub(crate) hydrate: bool,
    /// Describe only content, without the endpoints that every server has.
    #[arg(long)]
    pub(crate) user_only: bool,
    /// Describe every endpoint of the server, and the content endpoints for any type; --user-only has
    /// no effect.
    #[arg(long)]
    pub(crate) management: bool,
    /// Set the server URL in the document of a data directory.
    #[arg(long, value_name = "URL", value_parser = base_url)]
    pub(crate) public_url: Option<String>,
    /// Write to this file instead of standard output.
    #[arg(id = "o", short, long = "output", value_name = "FILE")]
    pub(crate) file: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum VersionChoice {
    /// OpenAPI 3.0.
    #[value(name = "3", alias = "3.0")]
    V30,
    /// OpenAPI 3.1.
    #[value(name = "3.1")]
    V31,
    /// Swagger 2.0.
    #[value(name = "2", alias = "2.0")]
    V2,
}

/// Parses a base URL.
pub(super) fn base_url(text: &str) -> Result<String, String> {
    let rest = ["http://", "https://"].iter().find_map(|scheme| text.strip_prefix(scheme));
    match rest {
        Some(rest) if is_host_and_path(rest) => Ok(text.trim_end_matches('/').to_owned()),
        _ => Err("use http://HOST or https://HOST, with a port or path if there is one".to_owned()),
    }
}

/// Returns whether a URL without its scheme has a host, and neither a user nor a query.
pub(super) fn is_host_and_path(rest: &str) -> bool {
    !rest.is_empty()
        && !rest.starts_with(['/', ':'])
        && !rest.contains(|c: char| c.is_whitespace() || c.is_control() || "?#@\"".contains(c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_url_needs_a_scheme_and_a_host() {
        for text in ["http://h", "https://h:1/p/q", "http://[::1]:8080"] {
            assert_eq!(base_url(text).as_deref(), Ok(text));
        }
        assert_eq!(base_url("https://h/").as_deref(), Ok("https://h"));
        for text in
            ["", "h", "ftp://h", "http://", "http:///p", "http://h?q", "http://u@h", "http://a b"]
        {
            assert!(base_url(text).is_err(), "{text}");
        }
    }
}
