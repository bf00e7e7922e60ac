//! `--media`: what is wrong with it is said at once, and never with a secret.

use std::net::TcpListener;

use super::support::{Place, Ran};

const SECRET: &str = "wont-tell-anybody";

/// Starts a server that cannot start.
fn serve(media: &str, variables: &[(&'static str, &str)]) -> Ran {
    let mut all: Vec<_> =
        variables.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
    all.push(("AWS_SECRET_ACCESS_KEY", SECRET.to_owned()));
    let place = Place::with_variables(all);
    let ran = place.run(&[
        "serve",
        "--data",
        "data",
        "--listen",
        "127.0.0.1:0",
        "--log",
        "trace",
        "--media",
        media,
    ]);
    let whole = format!("{}{}", ran.stdout, ran.stderr);
    assert!(!whole.contains(SECRET), "{whole}");
    ran
}

#[test]
fn wrong_settings_say_what_to_set() {
    let key = ("AWS_ACCESS_KEY_ID", "somebody");
    for (media, variables, said) in [
        ("/srv/media", &[key][..], "s3://BUCKET/PREFIX"),
        ("s3://id:wont-tell-anybody@site", &[key], "s3://BUCKET/PREFIX"),
        ("s3://site", &[], "AWS_ACCESS_KEY_ID is not set"),
        ("s3://site", &[key, ("AWS_ENDPOINT_URL", "minio:9000")], "AWS_ENDPOINT_URL"),
    ] {
        let ran = serve(media, variables);
        assert_eq!(ran.exit, 2, "{}", ran.whole());
        assert!(ran.stderr.contains(said), "{}", ran.whole());
    }
}

#[test]
fn no_server_starts_without_its_bucket() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let ran =
        serve("s3://site/a", &[("AWS_ACCESS_KEY_ID", "somebody"), ("AWS_ENDPOINT_URL", &endpoint)]);
    assert_eq!(ran.exit, 9, "{}", ran.whole());
    let said = format!("s3://site/a at {endpoint} does not answer: Connection refused");
    assert!(ran.stderr.contains(&said), "{}", ran.whole());
    assert!(!ran.stdout.contains("CMS_ADMIN_KEY"), "keys are not shown for nothing");
}
