//! Errors of `--media` are reported at the start of a server, never with a secret.

use super::{
    cluster::free_address,
    support::{Cli, CommandOutput},
};

const SECRET: &str = "wont-tell-anybody";

/// Runs `cms serve` with settings that it refuses.
fn serve(media: &str, variables: &[(&'static str, &str)]) -> CommandOutput {
    let mut all: Vec<_> =
        variables.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
    all.push(("AWS_SECRET_ACCESS_KEY", SECRET.to_owned()));
    let cli = Cli::with_variables(all);
    let output = cli.run(&[
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
    let printed = format!("{}{}", output.stdout, output.stderr);
    assert!(!printed.contains(SECRET), "{printed}");
    output
}

#[test]
fn invalid_s3_settings_are_reported_with_the_setting() {
    let key = ("AWS_ACCESS_KEY_ID", "somebody");
    for (media, variables, message) in [
        ("/srv/media", &[key][..], "s3://BUCKET/PREFIX"),
        ("s3://id:wont-tell-anybody@site", &[key], "s3://BUCKET/PREFIX"),
        ("s3://site", &[], "AWS_ACCESS_KEY_ID is not set"),
        ("s3://site", &[key, ("AWS_ENDPOINT_URL", "minio:9000")], "AWS_ENDPOINT_URL"),
    ] {
        serve(media, variables).exits(2).stderr_contains(message);
    }
}

#[test]
fn server_does_not_start_without_its_bucket() {
    let endpoint = format!("http://{}", free_address());
    let output =
        serve("s3://site/a", &[("AWS_ACCESS_KEY_ID", "somebody"), ("AWS_ENDPOINT_URL", &endpoint)]);
    output.exits(9);
    let message = format!("s3://site/a at {endpoint} does not respond: Connection refused");
    output.stderr_contains(&message);
    assert!(!output.stdout.contains("CMS_ADMIN_KEY"), "no keys are printed");
}
