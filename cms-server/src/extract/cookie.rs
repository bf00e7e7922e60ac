//! Cookies: their names, reading one, and the header that sets or removes the cookie of a session.

use axum::http::{HeaderMap, HeaderValue, header};

/// The name of the cookie of a session. Browsers accept the prefix over HTTPS only, and then neither
/// a page without TLS nor a subdomain can set the cookie.
pub(crate) fn session_name(is_https: bool) -> &'static str {
    if is_https { "__Host-cms_session" } else { "cms_session" }
}

/// Returns the value of a cookie; of several, the first one.
pub(crate) fn value<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let values =
        headers.get_all(header::COOKIE).into_iter().filter_map(|value| value.to_str().ok());
    let mut pairs =
        values.flat_map(|value| value.split(';')).filter_map(|pair| pair.split_once('='));
    pairs.find(|(found, _)| found.trim() == name).map(|(_, value)| value.trim())
}

/// `Set-Cookie` for a new session that lasts at most this long.
pub(crate) fn set_session(is_https: bool, value: &str, max_age_seconds: i64) -> HeaderValue {
    let (name, secure) = (session_name(is_https), if is_https { "; Secure" } else { "" });
    let cookie = format!(
        "{name}={value}; HttpOnly; SameSite=Strict; Path=/; Max-Age={max_age_seconds}{secure}"
    );
    HeaderValue::try_from(cookie).expect("base64url makes a header value")
}

/// `Set-Cookie` that removes the cookie.
pub(crate) fn remove_session(is_https: bool) -> HeaderValue {
    set_session(is_https, "", 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookie_value_is_found_by_its_exact_name() {
        let headers = |values: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(header::COOKIE, HeaderValue::from_static(value));
            }
            headers
        };
        for (values, expected) in [
            (&["cms_session=a"][..], Some("a")),
            (&["x=1; cms_session=a; y=2"], Some("a")),
            (&["x=1", "cms_session=a"], Some("a")),
            (&["cms_session=a; cms_session=b"], Some("a")),
            (&["cms_session=a=b"], Some("a=b")),
            (&["__Host-cms_session=a"], None),
            (&["CMS_SESSION=a; cms_sessions=b; cms_session"], None),
            (&[], None),
        ] {
            assert_eq!(value(&headers(values), session_name(false)), expected, "{values:?}");
        }
    }

    #[test]
    fn session_cookie_has_the_attributes_of_its_scheme() {
        let set = |is_https| set_session(is_https, "v", 60).to_str().unwrap().to_owned();
        assert_eq!(set(false), "cms_session=v; HttpOnly; SameSite=Strict; Path=/; Max-Age=60");
        assert_eq!(
            set(true),
            "__Host-cms_session=v; HttpOnly; SameSite=Strict; Path=/; Max-Age=60; Secure"
        );
    }
}
