//! The examples of README.md, docs/reference, docs/how-to and the tutorial run as printed.
//!
//! The `sh` and `graphql` blocks of a page run in order, in one shell, on a server with the example
//! site. The output of a block must contain the `json` block, or equal the `text` block, directly below
//! that block. `yaml` blocks name their file in the first line. `"..."` in JSON stands for any value;
//! as the last element of a list, it stands for any further elements.

use std::{
    fmt::Write as _,
    fs,
    net::TcpListener,
    path::Path,
    process::{Command, Output, Stdio},
};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{
    links::files_below,
    support::{Server, fixtures},
};

/// Where the programs of a block are, beside `cms`.
const PROGRAMS: &str = "/usr/local/bin:/usr/bin:/bin";

/// Ends the output of a block.
const END_OF_BLOCK: &str = "== end of block ==";

struct Block {
    /// The line of its opening fence, from 1.
    line: usize,
    language: String,
    text: String,
    /// Only blank lines separate it from the block above.
    is_result: bool,
}

impl Block {
    fn runs(&self) -> bool {
        let is_runnable = ["sh", "graphql", "graphql v2"].contains(&self.language.as_str());
        // The README builds the program and sets up the environment, which is done here already.
        is_runnable && !self.text.contains("cargo ") && !self.text.contains("CMS_KEY=...")
    }
}

fn blocks(page: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let (mut is_inside, mut is_result) = (false, false);
    for (index, line) in page.lines().enumerate() {
        match (line.strip_prefix("```"), is_inside) {
            (Some(language), false) => {
                let (line, language) = (index + 1, language.to_owned());
                blocks.push(Block { line, language, text: String::new(), is_result });
                is_inside = true;
            }
            (Some(_), true) => (is_inside, is_result) = (false, true),
            (None, true) => writeln!(blocks.last_mut().unwrap().text, "{line}").unwrap(),
            (None, false) => is_result &= line.is_empty(),
        }
    }
    blocks
}

/// Writes the files that the blocks need, and returns one script that runs all of them.
fn script(blocks: &[Block], folder: &Path) -> String {
    let mut script = String::new();
    for block in blocks {
        if let Some((name, _)) = block.text.strip_prefix("# ").and_then(|t| t.split_once('\n'))
            && block.language == "yaml"
        {
            fs::write(folder.join(name), &block.text).unwrap();
        }
        if !block.runs() {
            continue;
        }
        if block.language == "sh" {
            script.push_str(&block.text);
        } else {
            let body = folder.join(format!("query-{}.json", block.line));
            fs::write(&body, json!({ "query": block.text }).to_string()).unwrap();
            let version = if block.language == "graphql v2" { "/v2" } else { "" };
            writeln!(
                script,
                "curl -sS -H \"X-AUTH-TOKEN: $CMS_KEY\" -H 'Content-Type: application/json' \
                 -d @{} \"$CMS_SERVER/api{version}/graphql\"",
                body.display()
            )
            .unwrap();
        }
        writeln!(script, "printf '\\n%s\\n' '{END_OF_BLOCK}'").unwrap();
    }
    script
}

/// Runs a page on a copy of the data directory; returns the errors of its examples.
fn errors_of(page: &Path, site: &Path) -> Vec<String> {
    let blocks = blocks(&fs::read_to_string(page).unwrap());
    let folder = TempDir::new().unwrap();
    let copied = Command::new("cp").arg("-R").arg(site).arg(folder.path().join("data")).status();
    assert!(copied.unwrap().success());
    std::os::unix::fs::symlink(fixtures(), folder.path().join("fixtures")).unwrap();
    let server = Server::start_in(folder.path(), &[]);
    let output = shell(&blocks, folder.path())
        .envs([("CMS_SERVER", &server.url), ("CMS_KEY", &server.key)])
        .output()
        .unwrap();
    differences(page, &blocks, output)
}

/// Returns the command that runs the blocks of a page in a folder.
fn shell(blocks: &[Block], folder: &Path) -> Command {
    let binaries = Path::new(env!("CARGO_BIN_EXE_cms")).parent().unwrap();
    let mut command = Command::new("sh");
    command
        .args(["-ec", &script(blocks, folder)])
        .current_dir(folder)
        .env_clear()
        .env("PATH", format!("{}:{PROGRAMS}", binaries.display()))
        .stdin(Stdio::null());
    command
}

/// Compares what the blocks of a page printed with what the page says.
fn differences(page: &Path, blocks: &[Block], output: Output) -> Vec<String> {
    let at = |block: &Block| format!("{}:{}", page.display(), block.line);
    let printed = String::from_utf8(output.stdout).unwrap().replace('\r', "");
    let mut outputs = printed.split(END_OF_BLOCK).map(str::trim);

    let mut errors = Vec::new();
    let mut above: Option<&str> = None;
    for block in blocks {
        let is_json = block.language == "json";
        let expected: Result<Value, _> = serde_json::from_str(&block.text);
        if block.runs() {
            above = outputs.next();
        } else if is_json && expected.is_err() {
            errors.push(format!("{}: no JSON: {}", at(block), expected.unwrap_err()));
        } else if let Some(output) = above.take().filter(|_| block.is_result) {
            let is_right = match block.language.as_str() {
                "json" => serde_json::from_str(output)
                    .is_ok_and(|value| contains(&value, &expected.unwrap())),
                "text" => output == block.text.trim(),
                _ => true,
            };
            if !is_right {
                errors.push(format!("{}: expected\n{}printed\n{output}", at(block), block.text));
            }
        }
    }
    let finished = printed.matches(END_OF_BLOCK).count();
    if let Some(failed) = blocks.iter().filter(|block| block.runs()).nth(finished) {
        let stderr = String::from_utf8_lossy(&output.stderr);
        errors.push(format!("{}: failed\n{}{stderr}", at(failed), failed.text));
    }
    errors
}

fn contains(value: &Value, expected: &Value) -> bool {
    match (value, expected) {
        (_, Value::String(any)) if any == "..." => true,
        (Value::Object(value), Value::Object(expected)) => {
            expected.iter().all(|(name, one)| value.get(name).is_some_and(|v| contains(v, one)))
        }
        (Value::Array(value), Value::Array(expected)) => {
            let is_open = expected.last().is_some_and(|last| last == "...");
            let fixed = expected.len() - usize::from(is_open);
            (value.len() == fixed || (is_open && value.len() > fixed))
                && value.iter().zip(expected).all(|(value, one)| contains(value, one))
        }
        (Value::Number(value), Value::Number(expected)) => value.as_f64() == expected.as_f64(),
        _ => value == expected,
    }
}

#[test]
fn examples_of_the_reference_run_as_printed() {
    if Command::new("curl").arg("--version").output().is_err() {
        eprintln!("skipped: there is no curl");
        return;
    }
    let folder = TempDir::new().unwrap();
    let site = folder.path().join("site");
    // The data directory gets a search index: a server that has to build the index responds to searches
    // before the index is complete.
    let commands: [&[&str]; 3] =
        [&["ctd", "apply", "project.yaml"], &["import", "content"], &["reindex"]];
    for arguments in commands {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cms"));
        command.arg("--data").arg(&site).args(arguments).env_clear().current_dir(fixtures());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    let root = fixtures().join("..");
    let mut pages = vec![root.join("README.md")];
    files_below(&root.join("docs/reference"), "md", &mut pages);
    files_below(&root.join("docs/how-to"), "md", &mut pages);
    assert!(pages.len() > 10);
    pages.sort();
    let errors: Vec<_> = pages.iter().flat_map(|page| errors_of(page, &site)).collect();
    assert!(errors.is_empty(), "{}", errors.join("\n\n"));
}

/// A port that nothing listens on now.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

#[test]
fn tutorial_runs_as_printed() {
    let has = |program: &str| {
        let mut find = Command::new("sh");
        find.arg("-c").arg(format!("command -v {program}")).env("PATH", PROGRAMS);
        find.output().unwrap().status.success()
    };
    if !has("curl") || !has("node") {
        eprintln!("skipped: there is no curl, or no node");
        return;
    }
    let page = fixtures().join("../docs/tutorial.md");
    let (server, site) = (free_port(), free_port());
    let text = fs::read_to_string(&page)
        .unwrap()
        .replace("127.0.0.1:8080", &format!("127.0.0.1:{server}"))
        .replace("127.0.0.1:3000", &format!("127.0.0.1:{site}"))
        .replace("listen(3000", &format!("listen({site}"));
    let (blocks, folder) = (blocks(&text), TempDir::new().unwrap());
    let output = shell(&blocks, folder.path()).output().unwrap();
    let errors = differences(&page, &blocks, output);
    // The last block stops both programs; a failed one has left them running.
    for pid in ["journal/server.pid", "journal/site.pid"] {
        if let Ok(pid) = fs::read_to_string(folder.path().join(pid)) {
            drop(Command::new("kill").arg(pid.trim()).output());
        }
    }
    assert!(errors.is_empty(), "{}", errors.join("\n\n"));
}
