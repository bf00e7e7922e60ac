//! The admin page: its files, their headers, and the document that its client is generated from.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use cms_core::{
    Caller,
    testing::TestCms,
    wire::openapi::{OpenApiRequest, OpenApiVersion},
};
use flate2::read::GzDecoder;
use serde_json::Value;

use crate::support::{TestApp, get};

const POLICY: &str = include_str!("../../admin/policy.txt");

#[tokio::test]
async fn page_is_returned_for_every_path_without_a_file() {
    let app = TestApp::new();
    let page = get(&app, "/admin", &[]).await;
    assert_eq!(page.status, 200);
    let headers = [
        ("content-type", "text/html; charset=utf-8"),
        ("cache-control", "no-cache"),
        ("content-security-policy", POLICY.trim()),
        ("cross-origin-opener-policy", "same-origin"),
        ("x-content-type-options", "nosniff"),
        ("referrer-policy", "no-referrer"),
    ];
    for (name, value) in headers {
        assert_eq!(page.header(name), Some(value), "{name}");
    }
    for path in ["/admin/", "/admin/c/post/a%20b", "/admin/index.html", "/admin/c/post/x/compare"] {
        let other = get(&app, path, &[]).await;
        assert_eq!((other.status, &other.bytes), (200, &page.bytes), "{path}");
    }
    let etag = page.header("etag").unwrap();
    let cached = get(&app, "/admin/media", &[("if-none-match", etag)]).await;
    assert_eq!((cached.status, cached.bytes.len()), (304, 0));
    let head = app.send("HEAD", "/admin", &[], "").await;
    assert_eq!((head.status, head.bytes.len()), (200, 0));
    let write = app.send("POST", "/admin", &[], "").await;
    assert_eq!((write.status, write.header("allow")), (405, Some("GET, HEAD, OPTIONS")));
}

#[tokio::test]
async fn file_is_compressed_and_cached_for_ever() {
    let app = TestApp::new();
    let page = get(&app, "/admin", &[]).await;
    let page = str::from_utf8(&page.bytes).unwrap();
    if !cms_server::HAS_ADMIN_PAGE {
        assert!(page.contains("The admin page was not built"), "{page}");
        return;
    }
    let files = page.split('"').filter(|value| value.starts_with("/admin/assets/"));
    let files: Vec<_> = files.collect();
    assert!(files.len() >= 2, "{page}");
    for path in files {
        let plain = get(&app, path, &[]).await;
        assert_eq!(
            (plain.status, plain.header("cache-control"), plain.header("content-encoding")),
            (200, Some("public, max-age=31536000, immutable"), None),
            "{path}"
        );
        if plain.bytes.len() < 1024 {
            continue;
        }
        let packed = get(&app, path, &[("accept-encoding", "gzip")]).await;
        assert_eq!(
            (packed.header("content-encoding"), packed.header("vary")),
            (Some("gzip"), Some("accept-encoding"))
        );
        assert_ne!(packed.header("etag"), plain.header("etag"));
        let unpacked = std::io::read_to_string(GzDecoder::new(&packed.bytes[..])).unwrap();
        assert_eq!(unpacked.as_bytes(), plain.bytes);
    }
}

#[tokio::test]
async fn file_of_another_build_is_not_found() {
    let app = TestApp::new();
    let missing = get(&app, "/admin/assets/index-00000000.js", &[]).await;
    assert_eq!(missing.status, 404);
}

/// The document of a new data directory.
#[test]
fn client_is_generated_from_the_document_of_this_server() {
    let request = OpenApiRequest {
        version: OpenApiVersion::V30,
        hydrate: false,
        user_only: false,
        management: true,
        open_id: false,
        base_url: "http://localhost".to_owned(),
    };
    let core = TestCms::new();
    let document = core.cms.openapi().document(&Caller::local(), &request).unwrap();
    let document = document.text.to_value();
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/admin/api.json");
    let stored: Value = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    if stored != document {
        let new = format!("{file}.new");
        let text = serde_json::to_string_pretty(&document).unwrap() + "\n";
        fs::write(&new, text).unwrap();
        panic!("admin/api.json differs from the document of the server: move {new} over it");
    }
}

/// Runs the build script alone, in a folder of its own; `programs` is its `PATH`.
fn build_page(programs: &str, required: bool) -> (Output, PathBuf, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("build-script");
    let compiled = Command::new("rustc")
        .args(["--edition", "2024", "build.rs", "-o"])
        .arg(&script)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let out = folder.path().join("out");
    fs::create_dir(&out).unwrap();
    let mut command = Command::new(script);
    command
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env("OUT_DIR", &out)
        .env("CARGO_FEATURE_ADMIN", "1")
        .env("PATH", programs)
        .env_remove("CMS_REQUIRE_ADMIN")
        .env_remove("RUSTC_WORKSPACE_WRAPPER");
    if required {
        command.env("CMS_REQUIRE_ADMIN", "1");
    }
    (command.output().unwrap(), out.join("admin_files.rs"), folder)
}

#[test]
fn build_without_node_embeds_a_page_that_names_the_reason() {
    let (output, table, _folder) = build_page("/nowhere", false);
    assert!(output.status.success());
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(printed.contains("cargo::warning=admin page not built: Node is not installed"));
    // The next build tries again.
    assert!(printed.contains("/retry"), "{printed}");
    let table = fs::read_to_string(table).unwrap();
    assert!(table.contains("BUILT: bool = false") && table.contains("Node is not installed"));
    assert!(!table.contains("{reason}"));
}

#[test]
fn build_that_requires_the_page_fails_without_node() {
    let (output, table, _folder) = build_page("/nowhere", true);
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(printed.contains("cargo::error=admin page not built: Node is not installed"));
    assert!(!table.exists());
}

#[test]
fn build_depends_on_the_sources_of_the_page_alone() {
    let (output, ..) = build_page("/nowhere", false);
    let printed = String::from_utf8(output.stdout).unwrap();
    let files = printed.lines().filter_map(|line| line.strip_prefix("cargo::rerun-if-changed="));
    let mut count = 0;
    for file in files.filter(|file| *file != "build.rs" && !file.ends_with("/retry")) {
        assert!(file.starts_with("admin/") && Path::new(file).extension() != Some("rs".as_ref()));
        let folder = file.split('/').nth(1).unwrap();
        assert!(!["node_modules", "dist", "test"].contains(&folder), "{file}");
        count += 1;
    }
    assert!(count > 20, "{printed}");
}
