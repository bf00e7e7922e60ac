//! The program of docs/how-to/python.md runs with a client that is generated for the example site.
//!
//! Needs openapi-python-client: `CMS_TEST_PYTHON` names the folder with it and its `python`;
//! `.ci/run` installs both.

use std::{
    env, fs,
    path::Path,
    process::{Command, Output},
};

use super::support::{Cli, Server, fixtures};

/// What the program prints.
const PRINTED: &str = "\
Neap 8.5
Lantern 9.0
Tidewater 9.5
/api/v1/content/author/yusuf
412
{'name': ['Must be at least 1 characters long']}
Yusuf Demircioğlu
";

#[test]
#[expect(clippy::disallowed_methods, reason = "a program of others, not a setting")]
fn python_guide_runs_with_a_generated_client() {
    let Some(programs) = env::var_os("CMS_TEST_PYTHON") else {
        eprintln!("skipped: CMS_TEST_PYTHON names no Python environment, see CONTRIBUTING.md");
        return;
    };
    let programs = Path::new(&programs);
    let server = Server::start();
    let cli = Cli::with_server(&server);
    cli.import_example_site();
    cli.run(&["openapi", "-o", "api.json"]).ok();
    let generate = ["generate", "--path", "api.json", "--output-path", "content_client"];
    let mut generator = Command::new(programs.join("openapi-python-client"));
    succeed(generator.args(generate).current_dir(cli.path("")));

    let guide = fs::read_to_string(fixtures().join("../docs/how-to/python.md")).unwrap();
    let blocks = guide.split("```python\n").skip(1);
    let program: String = blocks.map(|rest| rest.split("```").next().unwrap()).collect();
    let mut python = Command::new(programs.join("python"));
    python.args(["-c", &program]).env("PYTHONPATH", cli.path("content_client"));
    python.env("CMS_SERVER", &server.url).env("CMS_KEY", &server.key);
    let printed = succeed(&mut python).stdout;
    assert_eq!(String::from_utf8(printed).unwrap(), PRINTED);
}

fn succeed(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    output
}
