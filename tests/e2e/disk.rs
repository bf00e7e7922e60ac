//! A full disk: writes are refused with that reason, reads continue, and writes succeed again once
//! there is space. And a read-only disk.

use std::{
    fs::{self, File},
    io::Write,
};

use reqwest::blocking::{Client, RequestBuilder, multipart};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::support::{Server, client, on_disk};

const DISK_MEGABYTES: u32 = 96;
const OBJECTS: &str = "/api/v1/content/contact_form";

struct Api {
    client: Client,
    server: Server,
}

impl Api {
    fn send(&self, request: RequestBuilder) -> (u16, Value) {
        let response = request.header("X-AUTH-TOKEN", &self.server.key).send().unwrap();
        let status = response.status().as_u16();
        (status, serde_json::from_slice(&response.bytes().unwrap()).unwrap_or_default())
    }

    fn get(&self, path: &str) -> (u16, Value) {
        self.send(self.client.get(format!("{}{path}", self.server.url)))
    }

    fn create(&self, id: &str) -> (u16, Value) {
        let object = json!({
            "id": id,
            "name": "Ada",
            "email": "ada@example.com",
            "question": "why? ".repeat(20_000),
        });
        let request = self.client.post(format!("{}{OBJECTS}", self.server.url));
        self.send(request.header("content-type", "application/json").body(object.to_string()))
    }

    fn upload(&self) -> (u16, Value) {
        let file = multipart::Part::bytes(vec![b'x'; 2_000_000]).file_name("a.txt");
        let form = multipart::Form::new().text("type", "file").part("file", file);
        self.send(self.client.post(format!("{}/api/media", self.server.url)).multipart(form))
    }
}

/// Writes a file that takes all free space; removing it frees the space.
fn fill(path: &std::path::Path) {
    let mut file = File::create(path).unwrap();
    for size in [1 << 20, 1 << 12, 1] {
        let chunk = vec![b'x'; size];
        while file.write_all(&chunk).is_ok() {}
    }
}

#[test]
fn full_disk_is_reported_until_space_is_free() {
    let Some(server) = Server::start_on_disk(DISK_MEGABYTES) else {
        println!("skipped: users cannot mount a disk here");
        return;
    };
    let api = Api { client: client().build().unwrap(), server };
    let full = (507, json!({ "code": 507, "message": "Insufficient Storage" }));
    assert_eq!(api.create("first").0, 200);
    assert_eq!(api.get("/readyz").0, 200);
    assert_eq!(api.get("/api/v1/search?q=why").1["total_count"], 1);

    for round in 0..2 {
        let filler = api.server.disk().join("filler");
        fill(&filler);
        // The write-ahead log of the database has some space left.
        let mut kept = Vec::new();
        let refused = (0..2000).find_map(|number| {
            let id = format!("n{round}-{number}");
            let response = api.create(&id);
            if response.0 == 200 {
                kept.push(id);
                return None;
            }
            Some(response)
        });
        assert_eq!(refused, Some(full.clone()), "after {}", kept.len());
        assert_eq!(api.upload(), full);
        let ready = api.get("/readyz");
        assert_eq!((ready.0, &ready.1["parts"]["disk"]), (503, &json!("not ready")), "{ready:?}");
        assert_eq!(api.get(&format!("{OBJECTS}/first")).0, 200, "reads continue");
        assert_eq!(api.get("/api/v1/search?q=why").0, 200);

        fs::remove_file(&filler).unwrap();
        let last = format!("last{round}");
        assert_eq!(api.create(&last).0, 200, "there is space again");
        assert_eq!(api.upload().0, 200);
        for id in kept.iter().chain([&last]) {
            assert_eq!(api.get(&format!("{OBJECTS}/{id}")).0, 200, "{id} was acknowledged");
        }
        let all = api.get(&format!("{OBJECTS}?limit=1")).1["total_count"].clone();
        assert_eq!(api.get("/api/v1/search?q=why&limit=1").1["total_count"], all);
        let ready = api.get("/readyz");
        assert_eq!(ready.0, 200, "{ready:?}");
    }
}

/// A disk that the system remounted read-only, for example after a hardware error.
#[test]
fn read_only_data_directory_is_refused_and_unchanged() {
    let folder = TempDir::new().unwrap();
    let line = "cms=$0
        $cms key create web --kind read-only --data data > key || exit 90
        $cms ctd list --data data -o json > before || exit 91
        mount -o remount,ro data || exit 92
        for command in 'serve --listen 127.0.0.1:0' 'ctd list' 'check' 'key create other --kind read-only'; do
            timeout 10 $cms $command --data data > output 2>&1
            test $? = 2 || exit 93
            grep -q 'cannot open data directory data: .*Read-only file system' output || exit 94
        done
        mount -o remount,rw data
        mount --bind data/cms.db data/cms.db && mount -o remount,bind,ro data/cms.db || exit 97
        for command in 'serve --listen 127.0.0.1:0' 'ctd list' 'key create other --kind read-only'; do
            timeout 10 $cms $command --data data > output 2>&1
            test $? = 2 || exit 98
            grep -q 'cannot open data directory data: the database data/cms.db is read-only' output || exit 99
        done
        umount data/cms.db
        $cms check --data data || exit 95
        $cms ctd list --data data -o json > after && cmp before after || exit 96";
    let Some(mut shell) = on_disk(folder.path(), 64, line) else {
        println!("skipped: users cannot mount a disk here");
        return;
    };
    let output = shell.output().unwrap();
    let last = fs::read_to_string(folder.path().join("output")).unwrap_or_default();
    assert_eq!(output.status.code(), Some(0), "{output:?} {last}");
}

#[test]
fn backup_onto_a_full_disk_names_its_file() {
    let folder = TempDir::new().unwrap();
    let line = "cms=$0
        $cms key create web --kind read-only --data source > key || exit 90
        $cms backup data/b.tar --data source > output 2>&1
        test $? = 1 && grep -q 'cannot write data/b.tar: .*No space left' output";
    let Some(mut shell) = on_disk(
        folder.path(),
        1,
        &format!("dd if=/dev/zero of=data/filler bs=1k count=1000 2> dd; {line}"),
    ) else {
        println!("skipped: users cannot mount a disk here");
        return;
    };
    let output = shell.output().unwrap();
    let last = fs::read_to_string(folder.path().join("output")).unwrap_or_default();
    assert_eq!(output.status.code(), Some(0), "{output:?} {last}");
}
