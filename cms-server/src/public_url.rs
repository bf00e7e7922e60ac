//! The public URL of this server, and the address of a client, behind a proxy or not.

use std::net::{IpAddr, SocketAddr};

use axum::http::{HeaderMap, header, request::Parts, uri::Authority};

use crate::config::ServerConfig;

const FORWARDED_HOST: &str = "x-forwarded-host";
const FORWARDED_SCHEME: &str = "x-forwarded-proto";
const FORWARDED_FOR: &str = "x-forwarded-for";

/// Parses an address, which some proxies send with the port, in brackets or in quotes.
fn forwarded_address(text: &str) -> Option<IpAddr> {
    let text = text.trim_matches('"');
    let address = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    address
        .parse()
        .ok()
        .or_else(|| address.parse().ok().map(|with_port: SocketAddr| with_port.ip()))
}

impl ServerConfig {
    /// Returns the address of a client: the peer of the connection, or the one that a trusted proxy
    /// names.
    pub(crate) fn client_address(
        &self,
        peer: Option<IpAddr>,
        headers: &HeaderMap,
    ) -> Option<IpAddr> {
        let forwarded = self.trust_proxy.then(|| {
            let mut values = headers.get_all(FORWARDED_FOR).iter();
            let last = values.next_back()?.to_str().ok()?.rsplit(',').next()?;
            forwarded_address(last.trim())
        });
        forwarded.flatten().or(peer)
    }

    /// Returns whether the client of a request uses HTTPS: by the configured URL, else by the header of
    /// a trusted proxy.
    pub(crate) fn is_https(&self, headers: &HeaderMap) -> bool {
        match &self.public_url {
            Some(url) => url.starts_with("https://"),
            None => self.forwarded(headers, FORWARDED_SCHEME) == Some("https"),
        }
    }

    /// Returns the URL of the API for the client of a request, without a slash at the end: the
    /// configured one, else the host of the request.
    pub(crate) fn base_url(&self, head: &Parts) -> String {
        if let Some(url) = &self.public_url {
            return url.trim_end_matches('/').to_owned();
        }
        let forwarded = |name| self.forwarded(&head.headers, name);
        let scheme = forwarded(FORWARDED_SCHEME).filter(|s| matches!(*s, "http" | "https"));
        let requested = text(&head.headers, header::HOST.as_str());
        let requested = requested.or_else(|| head.uri.authority().map(Authority::as_str));
        let host = forwarded(FORWARDED_HOST).filter(|host| is_host(host));
        let host = host.or_else(|| requested.filter(|host| is_host(host))).unwrap_or("localhost");
        format!("{}://{host}", scheme.unwrap_or("http"))
    }

    /// A header of a trusted proxy.
    fn forwarded<'h>(&self, headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
        let value = self.trust_proxy.then(|| text(headers, name)).flatten()?;
        // Each proxy appends a value: the first is from the outermost proxy, whose URL the client used.
        value.split(',').next().map(str::trim)
    }
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

/// Returns whether a text can be the host of a URL: a name or an address, and an optional port.
fn is_host(text: &str) -> bool {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"-._:[]".contains(&b);
    !text.is_empty() && text.len() <= 255 && text.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

    fn base_url(config: &ServerConfig, uri: &str, headers: &[(&str, &str)]) -> String {
        let mut request = Request::builder().uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        config.base_url(&request.body(()).unwrap().into_parts().0)
    }

    #[test]
    fn client_address_is_the_peer_or_what_a_trusted_proxy_names() {
        let config = |trust_proxy| ServerConfig { trust_proxy, ..ServerConfig::default() };
        let table = [
            (false, &[("x-forwarded-for", "192.0.2.1")][..], "198.51.100.9"),
            (true, &[], "198.51.100.9"),
            (true, &[("x-forwarded-for", "192.0.2.1")], "192.0.2.1"),
            // The client itself sent the values before the last one.
            (true, &[("x-forwarded-for", "10.0.0.1, 192.0.2.1")], "192.0.2.1"),
            (
                true,
                &[("x-forwarded-for", "10.0.0.1"), ("x-forwarded-for", "192.0.2.1")],
                "192.0.2.1",
            ),
            (true, &[("x-forwarded-for", "unknown")], "198.51.100.9"),
            (true, &[("x-forwarded-for", "192.0.2.1:5678")], "192.0.2.1"),
            (true, &[("x-forwarded-for", "[2001:db8::1]:443")], "2001:db8::1"),
            (true, &[("x-forwarded-for", "\"[2001:db8::1]\"")], "2001:db8::1"),
        ];
        for (trust_proxy, headers, wanted) in table {
            let mut request = Request::builder();
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            let client = config(trust_proxy)
                .client_address("198.51.100.9".parse().ok(), request.headers_ref().unwrap());
            assert_eq!(client, wanted.parse().ok(), "{headers:?}");
        }
    }

    #[test]
    fn public_url_is_configured_or_the_host_of_the_request() {
        let config = |configured: Option<&str>, trust_proxy| ServerConfig {
            public_url: configured.map(str::to_owned),
            trust_proxy,
            ..ServerConfig::default()
        };
        let proxied = [
            ("host", "inner:8080"),
            ("x-forwarded-host", "cms.example.com, inner"),
            ("x-forwarded-proto", "https"),
        ];
        let table = [
            (
                config(Some("https://a.example/cms/"), true),
                "/x",
                &proxied[..],
                "https://a.example/cms",
            ),
            (config(None, false), "/x", &proxied[..], "http://inner:8080"),
            (config(None, true), "/x", &proxied[..], "https://cms.example.com"),
            (config(None, true), "/x", &[("x-forwarded-proto", "ftp")], "http://localhost"),
            (config(None, true), "/x", &[("x-forwarded-host", "a/b")], "http://localhost"),
            (config(None, false), "/x", &[("host", "[::1]:8080")], "http://[::1]:8080"),
            (config(None, false), "/x", &[("host", "a\"b")], "http://localhost"),
            (config(None, false), "http://h2.example:1/x", &[], "http://h2.example:1"),
        ];
        for (config, uri, headers, wanted) in table {
            assert_eq!(base_url(&config, uri, headers), wanted, "{headers:?}");
        }
    }
}
