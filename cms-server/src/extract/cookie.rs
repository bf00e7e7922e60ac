//! The cookies of sessions and of sign-ins by OpenID Connect: names, values, and the headers that set
//! and remove them.

use axum::http::{HeaderMap, HeaderValue, header};
use cms_core::limits::OPENID_SIGN_IN_SECONDS;

/// The name of the cookie of a session. Browsers accept the prefix `__Host-` over HTTPS only; then
/// neither a page without TLS nor a subdomain can set the cookie.
pub(crate) fn session_name(is_https: bool) -> &'static str {
    if is_https { "__Host-cms_session" } else { "cms_session" }
}

/// The name of the cookie of a sign-in by OpenID Connect.
pub(crate) fn openid_name(is_https: bool) -> &'static str {
    if is_https { "__Host-cms_openid" } else { "cms_openid" }
}

/// Returns the value of a cookie; of several, the first one. Cookies of other applications on the host may have
/// any bytes.
pub(crate) fn value<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let values = headers.get_all(header::COOKIE).into_iter().map(HeaderValue::as_bytes);
    let cookies = values.flat_map(|value| value.split(|byte| *byte == b';'));
    let mut texts = cookies.filter_map(|cookie| std::str::from_utf8(cookie).ok());
    texts.find_map(|cookie| {
        let (found, value) = cookie.split_once('=')?;
        (found.trim() == name).then(|| value.trim())
    })
}

/// `Set-Cookie` for a new session.
pub(crate) fn set_session(is_https: bool, value: &str, max_age_seconds: i64) -> HeaderValue {
    set(is_https, session_name(is_https), value, "Strict", max_age_seconds)
}

/// `Set-Cookie` that removes the cookie.
pub(crate) fn remove_session(is_https: bool) -> HeaderValue {
    set_session(is_https, "", 0)
}

/// `Set-Cookie` for a new sign-in by OpenID Connect. Browsers send the cookie with the callback, a
/// navigation that starts on another site.
pub(crate) fn set_openid(is_https: bool, value: &str) -> HeaderValue {
    set(is_https, openid_name(is_https), value, "Lax", OPENID_SIGN_IN_SECONDS)
}

/// `Set-Cookie` that removes the cookie.
pub(crate) fn remove_openid(is_https: bool) -> HeaderValue {
    set(is_https, openid_name(is_https), "", "Lax", 0)
}

fn set(is_https: bool, name: &str, value: &str, same_site: &str, seconds: i64) -> HeaderValue {
    let secure = if is_https { "; Secure" } else { "" };
    let cookie = format!(
        "{name}={value}; HttpOnly; SameSite={same_site}; Path=/; Max-Age={seconds}{secure}"
    );
    HeaderValue::try_from(cookie).expect("base64url makes a header value")
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
        // Cookies of other applications may have any bytes.
        let other = HeaderValue::from_bytes(b"name=Zo\xeb\xff; cms_session=a").unwrap();
        let headers = HeaderMap::from_iter([(header::COOKIE, other)]);
        assert_eq!(value(&headers, session_name(false)), Some("a"));
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
