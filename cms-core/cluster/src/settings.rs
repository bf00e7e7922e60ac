//! Connection settings of the shared database.

use std::{fmt, net::IpAddr, path::PathBuf};

use cms_model::error::{Error, Result};
use percent_encoding::percent_decode_str;
use url::Url;

const DEFAULT_PORT: u16 = 5432;

/// Connection settings of the shared database. [`fmt::Display`] is the URL without user and password.
#[derive(Clone, PartialEq, Eq)]
pub struct PostgresSettings {
    /// A host name, an address, or the directory of a Unix socket, which begins with `/`.
    pub host: String,
    pub port: u16,
    /// None means the name of the user that runs this process.
    pub user: Option<String>,
    /// Secret.
    pub password: Option<String>,
    pub database: String,
    pub tls: Tls,
    /// A PEM file of root certificates, instead of those of the system.
    pub ca: Option<PathBuf>,
}

/// Encryption of connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tls {
    /// The certificate is verified, and has to be for the host.
    VerifyFull,
    /// Encrypted, but the certificate is not verified.
    Require,
    /// Not encrypted: only for a database on this host.
    Off,
}

impl PostgresSettings {
    /// Parses `postgres://USER@HOST:PORT/DB` or `postgres:///DB?host=DIRECTORY&user=USER`.
    ///
    /// # Errors
    /// The messages never contain the URL, because it may contain a password.
    pub fn parse(url: &str, password: Option<String>) -> Result<Self> {
        let invalid = |reason: &str| Error::BadRequest(format!("the database URL {reason}"));
        let url = Url::parse(url).map_err(|error| {
            invalid(&format!("is not valid ({error}): use postgres://USER@HOST/DB"))
        })?;
        if !matches!(url.scheme(), "postgres" | "postgresql") {
            return Err(invalid("has another scheme: use postgres://USER@HOST/DB"));
        }
        let decode = |part: &str| {
            let text = percent_decode_str(part).decode_utf8();
            text.map(std::borrow::Cow::into_owned).map_err(|_| invalid("is not UTF-8"))
        };
        let mut host = decode(url.host_str().unwrap_or_default())?;
        let mut port = url.port().unwrap_or(DEFAULT_PORT);
        let mut user = decode(url.username())?;
        for (name, value) in url.query_pairs() {
            match name.as_ref() {
                "user" => user = value.into_owned(),
                "host" => host = value.into_owned(),
                "port" => port = value.parse().map_err(|_| invalid("has an invalid port"))?,
                other => {
                    let reason =
                        format!("has the unknown parameter \"{other}\": use host, port or user");
                    return Err(invalid(&reason));
                }
            }
        }
        if host.is_empty() {
            return Err(invalid("has no host: use postgres://USER@HOST/DB"));
        }
        if let Some(address) = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
            host = String::from(address);
        }
        let database = decode(url.path().trim_start_matches('/'))?;
        if database.is_empty() || database.contains('/') {
            return Err(invalid("names no database: use postgres://USER@HOST/DB"));
        }
        let in_url = url.password().map(decode).transpose()?;
        let tls = if is_local(&host) { Tls::Off } else { Tls::VerifyFull };
        Ok(Self {
            host,
            port,
            user: Some(user).filter(|user| !user.is_empty()),
            password: password.or(in_url),
            database,
            tls,
            ca: None,
        })
    }

    /// Sets the encryption, and the file of root certificates.
    pub fn with_tls(mut self, tls: Tls, ca: Option<PathBuf>) -> Result<Self> {
        if tls == Tls::Off && !is_local(&self.host) {
            return Err(Error::BadRequest(format!(
                "connections to {self} have to be encrypted: use verify-full or require"
            )));
        }
        if tls != Tls::VerifyFull && ca.is_some() {
            return Err(Error::BadRequest(
                "root certificates are used by verify-full only: use verify-full".to_owned(),
            ));
        }
        self.tls = tls;
        self.ca = ca;
        Ok(self)
    }

    /// Whether connections use a Unix socket.
    pub(crate) fn is_socket(&self) -> bool {
        self.host.starts_with('/')
    }
}

/// Whether connections to a host stay on this machine.
fn is_local(host: &str) -> bool {
    host.starts_with('/')
        || host.eq_ignore_ascii_case("localhost")
        || host.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

impl fmt::Display for PostgresSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port, database, .. } = self;
        if self.is_socket() {
            return write!(f, "postgres:///{database}?host={host}");
        }
        if host.contains(':') {
            write!(f, "postgres://[{host}]")
        } else {
            write!(f, "postgres://{host}")
        }?;
        if *port != DEFAULT_PORT {
            write!(f, ":{port}")?;
        }
        write!(f, "/{database}")
    }
}

/// Without the password.
impl fmt::Debug for PostgresSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port, user, password: _, database, tls, ca } = self;
        f.debug_struct("PostgresSettings")
            .field("host", host)
            .field("port", port)
            .field("user", user)
            .field("database", database)
            .field("tls", tls)
            .field("ca", ca)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(url: &str) -> PostgresSettings {
        PostgresSettings::parse(url, None).unwrap()
    }

    #[test]
    fn settings_are_parsed() {
        let settings = parse("postgres://cms@db.example.com/cms");
        assert_eq!((settings.host.as_str(), settings.port), ("db.example.com", 5432));
        assert_eq!((settings.user.as_deref(), settings.database.as_str()), (Some("cms"), "cms"));
        assert_eq!((settings.tls, settings.password), (Tls::VerifyFull, None));
        assert_eq!(parse("postgresql://a@h:5433/x").to_string(), "postgres://h:5433/x");
        assert_eq!(parse("postgres://u%40b@h/x%20y").user.as_deref(), Some("u@b"));
    }

    #[test]
    fn local_hosts_need_no_encryption() {
        for url in [
            "postgres://a@127.0.0.1:5433/x",
            "postgres://a@[::1]/x",
            "postgres://localhost/x",
            "postgres:///x?host=/run/postgresql&user=a",
            "postgres://%2Frun%2Fpostgresql/x",
        ] {
            assert_eq!(parse(url).tls, Tls::Off, "{url}");
        }
        assert_eq!(parse("postgres:///x?host=/run").to_string(), "postgres:///x?host=/run");
        assert_eq!(parse("postgres://a@[::1]/x").to_string(), "postgres://[::1]/x");
        assert!(parse("postgres://h/x").with_tls(Tls::Off, None).is_err());
        assert!(parse("postgres://h/x").with_tls(Tls::Require, Some("ca".into())).is_err());
        assert!(parse("postgres://[::1]/x").with_tls(Tls::VerifyFull, None).is_ok());
    }

    #[test]
    fn password_is_shown_nowhere() {
        let settings = parse("postgres://cms:hunter2@h/cms");
        assert_eq!(settings.password.as_deref(), Some("hunter2"));
        assert!(!format!("{settings} {settings:?}").contains("hunter2"));
        let settings =
            PostgresSettings::parse("postgres://cms:a@h/cms", Some("b".to_owned())).unwrap();
        assert_eq!(settings.password.as_deref(), Some("b"));
        for url in [
            "postgres://cms:hunter2@h",
            "postgres://cms:hunter2@/cms",
            "mysql://cms:hunter2@h/cms",
            "postgres://cms:hunter2@h:port/cms",
            "postgres://cms:hunter2@h/cms?sslmode=off",
        ] {
            let error = PostgresSettings::parse(url, None).unwrap_err();
            assert!(!format!("{error} {error:?}").contains("hunter2"), "{error:?}");
        }
    }
}
