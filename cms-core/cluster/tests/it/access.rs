//! Passwords, encryption, sockets, and the settings of a session.

use std::{process::Command, time::Duration};

use cms_cluster::{PostgresDatabase, PostgresSettings, Tls};
use cms_model::error::Error;
use cms_store::cluster::{
    contract::{FIRST, all, commit, create, object_table, objects},
    database::{Membership, SharedDatabase},
};

use crate::server::Server;

#[test]
fn refused_access_names_the_reason_and_not_the_password() {
    let Some(server) = Server::start() else { return };
    let database = server.create_database("access");
    server.sql("postgres", "CREATE ROLE reader LOGIN PASSWORD 'right'");
    create(&server.open(&database), &[]).unwrap();
    server.replace_file("pg_hba.conf", "host all reader all scram-sha-256\nhost all all all trust");
    let check = |url: &str, password: Option<&str>| {
        let url = url.replace("PORT", &server.port().to_string());
        let settings = PostgresSettings::parse(&url, password.map(str::to_owned)).unwrap();
        match PostgresDatabase::open(settings).unwrap().check_head(FIRST) {
            Ok(_) => "ok".to_owned(),
            Err(Error::Busy(message)) => message,
            Err(other) => panic!("{other:?}"),
        }
    };
    let begin = format!(
        "the database of the cluster refuses access: postgres://127.0.0.1:{}",
        server.port()
    );
    let cases = [
        (
            "postgres://reader@127.0.0.1:PORT/access",
            Some("wr0ng"),
            "password authentication failed",
        ),
        ("postgres://reader@127.0.0.1:PORT/access", None, "password missing"),
        ("postgres://nobody@127.0.0.1:PORT/access", None, "does not exist"),
        ("postgres://cms@127.0.0.1:PORT/missing", None, "does not exist"),
        // The password is right, but the role has no rights.
        ("postgres://reader:right@127.0.0.1:PORT/access", None, "permission denied"),
    ];
    for (url, password, reason) in cases {
        let message = check(url, password);
        assert!(message.starts_with(&begin) && message.contains(reason), "{message}");
        assert!(!message.contains("wr0ng") && !message.contains("right"), "{message}");
    }
}

/// The role that the documentation asks for: it may create a schema, and nothing else.
#[test]
fn role_that_may_only_create_a_schema_is_sufficient() {
    let Some(server) = Server::start() else { return };
    let database = server.create_database("plain");
    server.sql(
        &database,
        "CREATE ROLE app LOGIN NOSUPERUSER NOCREATEDB; GRANT CREATE ON DATABASE plain TO app;
         REVOKE ALL ON SCHEMA public FROM PUBLIC",
    );
    let url = format!("postgres://app@127.0.0.1:{}/{database}", server.port());
    let node = PostgresDatabase::open(PostgresSettings::parse(&url, None).unwrap()).unwrap();
    create(&node, &[(1, "one")]).unwrap();
    let at = commit(&node, FIRST, 1, &[1], &[(1, "new")]);
    assert_eq!(all(&node, &object_table()), objects(&[(1, "new")]));
    assert_eq!(node.check_head(at).unwrap().head, at);
    node.acquire("sweep", "a", Duration::from_secs(9)).unwrap();
    node.prune(Duration::ZERO).unwrap();
}

#[test]
fn socket_is_used() {
    let Some(server) = Server::start() else { return };
    let database = server.create_database("socket");
    let (folder, port) = (server.folder(), server.port());
    let url = format!("postgres:///{database}?host={}&port={port}&user=cms", folder.display());
    let settings = PostgresSettings::parse(&url, None).unwrap();
    create(&PostgresDatabase::open(settings).unwrap(), &[]).unwrap();
}

#[test]
fn session_settings_do_not_depend_on_the_role() {
    let Some(server) = Server::start() else { return };
    let database = server.create_database("role");
    server.sql(
        &database,
        "ALTER ROLE cms SET synchronous_commit = off;
         ALTER ROLE cms SET default_transaction_isolation = 'serializable';
         ALTER ROLE cms SET default_transaction_read_only = on;
         ALTER ROLE cms SET lock_timeout = 1",
    );
    let node = server.open(&database);
    create(&node, &[]).unwrap();
    node.acquire("sweep", "a", Duration::from_secs(9)).unwrap();
    let locked = node.lock(FIRST).unwrap();
    assert_eq!(locked.head().position, FIRST);
}

/// With the default compression of PostgreSQL, imports take a third longer.
#[test]
fn text_is_compressed_with_lz4() {
    let Some(server) = Server::start() else { return };
    let database = server.create_database("compression");
    let node = server.open(&database);
    create(&node, &[]).unwrap();
    let text = "text ".repeat(1_000);
    commit(&node, FIRST, 1, &[1], &[(1, &text)]);
    let used = server.sql(&database, "SELECT pg_column_compression(slots) FROM cms.object");
    assert_eq!(used, "lz4");
}

/// Needs `openssl`, which creates the certificates.
#[test]
fn certificate_of_the_server_is_verified() {
    let Some(server) = Server::start() else { return };
    let database = server.create_database("tls");
    let folder = tempfile::TempDir::new().unwrap();
    let created = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=db"])
        .args([
            "-addext",
            "subjectAltName=DNS:localhost",
            "-addext",
            "basicConstraints=critical,CA:FALSE",
        ])
        .args(["-keyout", "key.pem", "-out", "cert.pem"])
        .current_dir(folder.path())
        .output();
    if !created.is_ok_and(|created| created.status.success()) {
        return;
    }
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).unwrap();
    let open = |host: &str, tls, ca: bool| {
        let url = format!("postgres://cms@{host}:{}/{database}", server.port());
        let ca = ca.then(|| folder.path().join("cert.pem"));
        let settings = PostgresSettings::parse(&url, None).unwrap().with_tls(tls, ca).unwrap();
        PostgresDatabase::open(settings).unwrap()
    };
    let refused = |database: PostgresDatabase, reason: &str| {
        let Err(Error::Busy(message)) = database.check_head(FIRST) else { panic!("{reason}") };
        assert!(message.contains("refuses access") && message.contains(reason), "{message}");
    };
    // A server that does not encrypt is not used.
    refused(open("localhost", Tls::Require, false), "TLS");

    server.add_file("server.key", &read("key.pem"));
    server.add_file("server.crt", &read("cert.pem"));
    server.sql("postgres", "ALTER SYSTEM SET ssl = on");
    server.reload();
    create(&open("localhost", Tls::VerifyFull, true), &[]).unwrap();
    open("localhost", Tls::Require, false).check_head(FIRST).unwrap();
    open("127.0.0.1", Tls::Require, false).check_head(FIRST).unwrap();
    refused(open("localhost", Tls::VerifyFull, false), "certificate");
    refused(open("127.0.0.1", Tls::VerifyFull, true), "certificate");
}
