//! Where clients find this server: what the operator says, else where each of them asked.

use std::net::IpAddr;

use axum::http::{HeaderMap, header, request::Parts, uri::Authority};

use crate::config::ServerConfig;

const FORWARDED_HOST: &str = "x-forwarded-host";
const FORWARDED_SCHEME: &str = "x-forwarded-proto";

const FORWARDED_FOR: &str = "x-forwarded-for";

/// What is known of the server's own address.
pub(crate) struct Site {
    public_url: Option<String>,
    trust_proxy: bool,
}

impl Site {
    pub(crate) fn new(config: &ServerConfig) -> Self {
        Self { public_url: config.public_url.clone(), trust_proxy: config.trust_proxy }
    }

    /// Returns the address of whoever sent a request, as far as it is known: the other end of the
    /// connection, or what the nearest proxy says when it is to be believed.
    pub(crate) fn client(&self, peer: Option<IpAddr>, headers: &HeaderMap) -> Option<IpAddr> {
        let forwarded = self.trust_proxy.then(|| {
            let mut values = headers.get_all(FORWARDED_FOR).iter();
            let last = values.next_back()?.to_str().ok()?.rsplit(',').next()?;
            last.trim().parse().ok()
        });
        forwarded.flatten().or(peer)
    }

    /// Returns the address of the API for whoever sent this request, without a slash at the end.
    pub(crate) fn base_url(&self, head: &Parts) -> String {
        if let Some(url) = &self.public_url {
            return url.trim_end_matches('/').to_owned();
        }
        let forwarded = |name| {
            let value = self.trust_proxy.then(|| text(&head.headers, name)).flatten()?;
            // Each of several proxies adds a value behind that of the one before.
            value.split(',').next().map(str::trim)
        };
        let scheme = forwarded(FORWARDED_SCHEME).filter(|s| matches!(*s, "http" | "https"));
        let asked = text(&head.headers, header::HOST.as_str());
        let asked = asked.or_else(|| head.uri.authority().map(Authority::as_str));
        let host = forwarded(FORWARDED_HOST).filter(|host| is_host(host));
        let host = host.or_else(|| asked.filter(|host| is_host(host))).unwrap_or("localhost");
        format!("{}://{host}", scheme.unwrap_or("http"))
    }
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name)?.to_str().ok()
}

/// A name or an address, with a port if there is one; nothing that would say more in a URL.
fn is_host(text: &str) -> bool {
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"-._:[]".contains(&b);
    !text.is_empty() && text.len() <= 255 && text.bytes().all(is_plain)
}

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

    fn base_url(site: &Site, uri: &str, headers: &[(&str, &str)]) -> String {
        let mut request = Request::builder().uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        site.base_url(&request.body(()).unwrap().into_parts().0)
    }

    #[test]
    fn a_client_is_the_other_end_or_whom_a_trusted_proxy_names() {
        let site = |trust_proxy| Site { public_url: None, trust_proxy };
        let table = [
            (false, &[("x-forwarded-for", "192.0.2.1")][..], "198.51.100.9"),
            (true, &[], "198.51.100.9"),
            (true, &[("x-forwarded-for", "192.0.2.1")], "192.0.2.1"),
            // What stands before was sent by the client itself.
            (true, &[("x-forwarded-for", "10.0.0.1, 192.0.2.1")], "192.0.2.1"),
            (
                true,
                &[("x-forwarded-for", "10.0.0.1"), ("x-forwarded-for", "192.0.2.1")],
                "192.0.2.1",
            ),
            (true, &[("x-forwarded-for", "unknown")], "198.51.100.9"),
        ];
        for (trust_proxy, headers, wanted) in table {
            let mut request = Request::builder();
            for (name, value) in headers {
                request = request.header(*name, *value);
            }
            let client = site(trust_proxy)
                .client("198.51.100.9".parse().ok(), request.headers_ref().unwrap());
            assert_eq!(client, wanted.parse().ok(), "{headers:?}");
        }
    }

    #[test]
    fn the_address_is_that_of_the_operator_or_of_the_request() {
        let site = |public_url: Option<&str>, trust_proxy| Site {
            public_url: public_url.map(str::to_owned),
            trust_proxy,
        };
        let proxied = [
            ("host", "inner:8080"),
            ("x-forwarded-host", "cms.example.com, inner"),
            ("x-forwarded-proto", "https"),
        ];
        let table = [
            (
                site(Some("https://a.example/cms/"), true),
                "/x",
                &proxied[..],
                "https://a.example/cms",
            ),
            (site(None, false), "/x", &proxied[..], "http://inner:8080"),
            (site(None, true), "/x", &proxied[..], "https://cms.example.com"),
            (site(None, true), "/x", &[("x-forwarded-proto", "ftp")], "http://localhost"),
            (site(None, true), "/x", &[("x-forwarded-host", "a/b")], "http://localhost"),
            (site(None, false), "/x", &[("host", "[::1]:8080")], "http://[::1]:8080"),
            (site(None, false), "/x", &[("host", "a\"b")], "http://localhost"),
            (site(None, false), "http://h2.example:1/x", &[], "http://h2.example:1"),
        ];
        for (site, uri, headers, wanted) in table {
            assert_eq!(base_url(&site, uri, headers), wanted, "{headers:?}");
        }
    }
}
