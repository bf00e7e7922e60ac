//! Hostile files and concurrent uploads: the server responds, and its memory stays bounded.

use std::{borrow::Cow, fs, io::Write, sync::Arc, thread, time::Duration};

use flate2::{Compression, Crc, write::ZlibEncoder};
use reqwest::blocking::{
    Client, RequestBuilder,
    multipart::{Form, Part},
};

use crate::support::{Server, client, fixtures};

/// Memory that the server may map, in kilobytes: far less than any decompression bomb takes.
const MAX_MAPPED_KB: u32 = 4 * 1024 * 1024;
/// Limit of the server's memory after all images were rendered, in kilobytes.
const MAX_AFTER_RENDERING_KB: u64 = 640 * 1024;
/// Memory that concurrent uploads may add, in kilobytes: a quarter of their size.
const MAX_FOR_UPLOADS_KB: u64 = 250 * 1024;

/// Uploads and renderings end with 200 or 400, in bounded memory.
#[test]
fn hostile_files_do_not_stop_the_server() {
    let server = Server::start_within(MAX_MAPPED_KB);
    let client = patient_client();
    for (name, bytes) in hostile_files() {
        for kind in ["image", "file"] {
            let (status, body) = upload(&client, &server, &name, kind, bytes.clone());
            assert!([200, 400].contains(&status), "{name}: {status}");
            if status != 200 {
                continue;
            }
            let url = text_at(&body, "url");
            for path in [url.replace("0x0", "100x100"), format!("{url}?format=webp"), url] {
                let (status, _) = get(&client, &server, &path);
                assert!([200, 400].contains(&status), "{name} {path}: {status}");
            }
        }
        assert_eq!(get(&client, &server, "/healthz").0, 200, "{name}");
    }
    if let Some(peak) = server.memory_peak() {
        assert!(peak < MAX_AFTER_RENDERING_KB, "{peak} KB");
    }
}

/// Uploads are written to disk, and a limited number at a time is received.
#[test]
fn concurrent_uploads_take_little_memory() {
    let server = Arc::new(Server::start_within(MAX_MAPPED_KB));
    let idle = server.memory_peak();
    let mut photo = fixture("still.jpg");
    photo.resize(5 * 1024 * 1024, 0);
    let photo: &'static [u8] = photo.leak();
    let clients: Vec<_> = (0..200)
        .map(|_| {
            let server = Arc::clone(&server);
            thread::spawn(move || upload(&patient_client(), &server, "a.jpg", "image", photo).0)
        })
        .collect();
    let statuses: Vec<_> = clients.into_iter().map(|client| client.join().unwrap()).collect();
    assert_eq!(statuses, [200; 200]);
    if let (Some(peak), Some(idle)) = (server.memory_peak(), idle) {
        assert!(peak - idle < MAX_FOR_UPLOADS_KB, "{peak} KB, {idle} KB before");
    }
}

fn hostile_files() -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    let mut add = |name: &str, bytes: Vec<u8>| files.push((name.to_owned(), bytes));
    add("claims.png", png(60_000, 60_000, 1));
    add("zeros.png", png(20_000, 20_000, 20_000));
    add("nothing.png", png(0, 0, 0));
    for name in [
        "still.png",
        "still.jpg",
        "still.gif",
        "still.bmp",
        "lossy.webp",
        "lossless.webp",
        "animated.gif",
        "animated.png",
        "animated.webp",
        "icon.ico",
    ] {
        let valid = fixture(name);
        for part in [1, 2, 3] {
            add(name, valid[..valid.len() * part / 4].to_vec());
        }
        // The bytes in which formats store width and height.
        for range in [4..8, 6..10, 16..24, 18..26, 21..25, 24..30, 26..30] {
            let mut lie = valid.clone();
            lie[range].fill(0xff);
            add(name, lie);
        }
    }
    add("scans.jpg", repeated_scans());
    add("script.gif", b"GIF89a=1;/*\0\0\0*/alert(document.domain)//;".to_vec());
    let mut archive = fixture("still.jpg");
    archive.extend_from_slice(b"PK\x03\x04\x14\0\0\0\0\0<script>alert(1)</script>PK\x05\x06");
    archive.extend_from_slice(&[0; 18]);
    add("archive.jpg", archive);
    let svg = |content: &str| format!("<svg xmlns=\"http://www.w3.org/2000/svg\">{content}</svg>");
    add("script.svg", svg("<script>alert(1)</script>").into_bytes());
    add("huge.svg", svg(&"<g>".repeat(3_000_000)).into_bytes());
    add("laughs.svg", nested_entities().into_bytes());
    files
}

/// Nested XML entities ("billion laughs"): each stands for ten of the one before.
fn nested_entities() -> String {
    let entity = |level: u32| {
        let ten = format!("&e{};", level - 1).repeat(10);
        format!("<!ENTITY e{level} \"{ten}\">")
    };
    let entities = (1..20).map(entity).collect::<Vec<_>>().concat();
    format!(
        "<!DOCTYPE svg [<!ENTITY e0 \"ha\">{entities}]><svg width=\"&e19;\"><text>&e19;</text></svg>"
    )
}

/// A grey PNG with a declared size and `rows` rows of pixels.
fn png(width: u32, height: u32, rows: u32) -> Vec<u8> {
    let mut pixels = ZlibEncoder::new(Vec::new(), Compression::fast());
    let row = vec![0; width as usize + 1];
    for _ in 0..rows {
        pixels.write_all(&row).unwrap();
    }
    let header = [&width.to_be_bytes()[..], &height.to_be_bytes(), &[8, 0, 0, 0, 0]].concat();
    let mut bytes = b"\x89PNG\r\n\x1a\n".to_vec();
    for (name, data) in [(b"IHDR", header), (b"IDAT", pixels.finish().unwrap()), (b"IEND", vec![])]
    {
        let mut crc = Crc::new();
        crc.update(name);
        crc.update(&data);
        bytes.extend(u32::try_from(data.len()).unwrap().to_be_bytes());
        bytes.extend_from_slice(name);
        bytes.extend(data);
        bytes.extend(crc.sum().to_be_bytes());
    }
    bytes
}

/// A JPEG that repeats its scan thousands of times.
fn repeated_scans() -> Vec<u8> {
    let valid = fixture("still.jpg");
    let scan = valid.windows(2).position(|pair| pair == [0xff, 0xda]).unwrap();
    let (head, scan) = (&valid[..scan], &valid[scan..valid.len() - 2]);
    [head, &scan.repeat(4_000_000 / scan.len()), b"\xff\xd9"].concat()
}

fn fixture(name: &str) -> Vec<u8> {
    fs::read(fixtures().join("media").join(name)).unwrap()
}

/// A client that waits two minutes for a response.
fn patient_client() -> Client {
    client().timeout(Duration::from_mins(2)).build().unwrap()
}

fn upload(
    client: &Client,
    server: &Server,
    name: &str,
    kind: &str,
    bytes: impl Into<Cow<'static, [u8]>>,
) -> (u16, Vec<u8>) {
    let file = Part::bytes(bytes).file_name(name.to_owned());
    let form = Form::new().text("type", kind.to_owned()).part("file", file);
    let request = client.post(format!("{}/api/media", server.url)).multipart(form);
    reply(request.header("x-auth-token", &server.key))
}

fn get(client: &Client, server: &Server, path: &str) -> (u16, Vec<u8>) {
    reply(client.get(format!("{}{path}", server.url)))
}

fn reply(request: RequestBuilder) -> (u16, Vec<u8>) {
    let response = request.send().unwrap();
    (response.status().as_u16(), response.bytes().unwrap().to_vec())
}

/// A string property of a JSON object.
fn text_at(body: &[u8], key: &str) -> String {
    let body: serde_json::Value = serde_json::from_slice(body).unwrap();
    body[key].as_str().unwrap().to_owned()
}
