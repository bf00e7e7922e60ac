//! A disk that is full: what cannot be written is refused as that, the rest goes on, and so does
//! everything once there is room. And one that takes nothing at all.

use std::{
    fs::{self, File},
    io::Write,
};

use reqwest::blocking::{Client, RequestBuilder, multipart};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::support::{Server, client, on_disk};

const MEGABYTES: u32 = 96;
const OBJECTS: &str = "/api/v1/content/contact_form";

struct Asker {
    client: Client,
    server: Server,
}

impl Asker {
    fn send(&self, request: RequestBuilder) -> (u16, Value) {
        let answer = request.header("X-AUTH-TOKEN", &self.server.key).send().unwrap();
        let status = answer.status().as_u16();
        (status, serde_json::from_slice(&answer.bytes().unwrap()).unwrap_or_default())
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

/// Takes all room that is left; the file gives it back.
fn fill(path: &std::path::Path) {
    let mut file = File::create(path).unwrap();
    for size in [1 << 20, 1 << 12, 1] {
        let piece = vec![b'x'; size];
        while file.write_all(&piece).is_ok() {}
    }
}

#[test]
fn a_full_disk_is_told_and_passes() {
    let Some(server) = Server::start_on_disk(MEGABYTES) else {
        println!("skipped: users cannot mount a disk here");
        return;
    };
    let asker = Asker { client: client().build().unwrap(), server };
    let full = (507, json!({ "code": 507, "message": "Insufficient Storage" }));
    assert_eq!(asker.create("first").0, 200);
    assert_eq!(asker.get("/readyz").0, 200);
    assert_eq!(asker.get("/api/v1/search?q=why").1["total_count"], 1);

    for round in 0..2 {
        let filler = asker.server.disk().join("filler");
        fill(&filler);
        // The log of the database has room of its own for a while.
        let mut kept = Vec::new();
        let refused = (0..2000).find_map(|number| {
            let id = format!("n{round}-{number}");
            let answer = asker.create(&id);
            if answer.0 == 200 {
                kept.push(id);
                return None;
            }
            Some(answer)
        });
        assert_eq!(refused, Some(full.clone()), "after {}", kept.len());
        assert_eq!(asker.upload(), full);
        let ready = asker.get("/readyz");
        assert_eq!((ready.0, &ready.1["parts"]["disk"]), (503, &json!("not ready")), "{ready:?}");
        assert_eq!(asker.get(&format!("{OBJECTS}/first")).0, 200, "what reads goes on");
        assert_eq!(asker.get("/api/v1/search?q=why").0, 200);

        fs::remove_file(&filler).unwrap();
        let last = format!("last{round}");
        assert_eq!(asker.create(&last).0, 200, "there is room again");
        assert_eq!(asker.upload().0, 200);
        for id in kept.iter().chain([&last]) {
            assert_eq!(asker.get(&format!("{OBJECTS}/{id}")).0, 200, "{id} was acknowledged");
        }
        let all = asker.get(&format!("{OBJECTS}?limit=1")).1["total_count"].clone();
        assert_eq!(asker.get("/api/v1/search?q=why&limit=1").1["total_count"], all);
        let ready = asker.get("/readyz");
        assert_eq!(ready.0, 200, "{ready:?}");
    }
}

/// A disk that the system made read-only, say after an error of the hardware.
#[test]
fn a_folder_that_is_read_only_is_refused_and_left_as_it_was() {
    let folder = TempDir::new().unwrap();
    let line = "cms=$0
        $cms key create web --kind read-only --data data > key || exit 90
        $cms ctd list --data data -o json > before || exit 91
        mount -o remount,ro data || exit 92
        for command in 'serve --listen 127.0.0.1:0' 'ctd list' 'check' 'key create other --kind read-only'; do
            timeout 10 $cms $command --data data > said 2>&1
            test $? = 2 || exit 93
            grep -q 'cannot open data directory data: .*Read-only file system' said || exit 94
        done
        mount -o remount,rw data
        $cms check --data data || exit 95
        $cms ctd list --data data -o json > after && cmp before after || exit 96";
    let Some(mut shell) = on_disk(folder.path(), 64, line) else {
        println!("skipped: users cannot mount a disk here");
        return;
    };
    let output = shell.output().unwrap();
    let said = fs::read_to_string(folder.path().join("said")).unwrap_or_default();
    assert_eq!(output.status.code(), Some(0), "{output:?} {said}");
}
