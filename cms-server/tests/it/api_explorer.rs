//! The API explorer: it is complete, loads files of this server only, and is cached. The start page.

use std::io::Read;

use flate2::read::GzDecoder;

use crate::support::{TestApp, get};

/// The references of the page to other files.
fn references(page: &str) -> Vec<&str> {
    let values = ["src=\"", "href=\""].iter().flat_map(|name| page.split(name).skip(1));
    let values = values.map(|rest| rest.split('"').next().unwrap());
    values.filter(|value| *value != "data:,").collect()
}

#[tokio::test]
async fn page_loads_all_its_files() {
    let app = TestApp::new();
    for (path, folder) in [("/docs", "/"), ("/docs/", "/docs/")] {
        let page = get(&app, path, &[]).await;
        assert_eq!(
            (page.status, page.header("content-type")),
            (200, Some("text/html; charset=utf-8"))
        );
        let text = str::from_utf8(&page.bytes).unwrap();
        let references = references(text);
        assert_eq!(references.len(), 4);
        for name in references {
            let found = get(&app, &format!("{folder}{name}"), &[]).await;
            assert_eq!(
                (found.status, found.header("x-content-type-options")),
                (200, Some("nosniff"))
            );
            let media_type = match name.rsplit_once('.') {
                Some((_, "css")) => "text/css",
                _ => "text/javascript",
            };
            assert!(found.header("content-type").unwrap().starts_with(media_type), "{name}");
        }
        // The page loads nothing from other hosts.
        let policy = page.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none';") && !policy.contains("http"), "{policy}");
        assert!(!text.contains("//"), "{text}");
    }
}

/// The start page links to the other pages. It runs no scripts and loads no files.
#[tokio::test]
async fn start_page_links_to_pages_of_this_server() {
    let app = TestApp::new();
    for accept in ["", "*/*", "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"] {
        let page = get(&app, "/", &[("accept", accept)]).await;
        let media_type = page.header("content-type");
        assert_eq!((page.status, media_type), (200, Some("text/html; charset=utf-8")));
        assert_eq!(page.header("vary"), Some("accept"));
        let policy = page.header("content-security-policy").unwrap();
        assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"), "{policy}");
        let text = str::from_utf8(&page.bytes).unwrap();
        assert!(!text.contains("<script") && !text.contains("{style}"), "{text}");
        for name in references(text).into_iter().filter(|name| !name.contains("://")) {
            assert_eq!(get(&app, &format!("/{name}"), &[]).await.status, 200, "{name}");
        }
        let tag = page.header("etag").unwrap();
        assert_eq!(get(&app, "/", &[("if-none-match", tag)]).await.status, 304);
    }
    let json = get(&app, "/", &[("accept", "application/json")]).await;
    let body: serde_json::Value = serde_json::from_slice(&json.bytes).unwrap();
    assert_eq!((json.status, &body["api"]), (200, &"/docs".into()), "{body}");
    for method in ["POST", "DELETE"] {
        let refused = app.send(method, "/", &[], "").await;
        assert_eq!((refused.status, refused.header("allow")), (405, Some("GET, HEAD, OPTIONS")));
    }
}

#[tokio::test]
async fn file_is_compressed_and_cached() {
    let app = TestApp::new();
    for name in ["swagger-ui.js", "swagger-ui.css"] {
        let path = format!("/docs/{name}");
        let plain = get(&app, &path, &[]).await;
        let packed = get(&app, &path, &[("accept-encoding", "gzip, br")]).await;
        assert_eq!(plain.header("content-encoding"), None);
        assert_eq!(packed.header("content-encoding"), Some("gzip"));
        let mut unpacked = Vec::new();
        GzDecoder::new(&packed.bytes[..]).read_to_end(&mut unpacked).unwrap();
        assert!(unpacked == plain.bytes, "{name}");

        let tag = packed.header("etag").unwrap();
        assert_ne!(plain.header("etag"), Some(tag));
        let headers = [("accept-encoding", "gzip"), ("if-none-match", tag)];
        let known = get(&app, &path, &headers).await;
        assert_eq!((known.status, known.bytes.len()), (304, 0));
        assert_eq!(known.header("content-encoding"), None);
    }
}
