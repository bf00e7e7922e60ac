//! Files in S3-compatible storage: the content of a bucket, and errors of unusable ones.
//!
//! Most tests need a server program, see [`BucketServer`]; without it they report so and pass.

use std::{
    collections::BTreeSet,
    fs,
    io::{BufRead, BufReader, Write},
    net::TcpListener,
    path::Path,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use cms_core::{
    BackupDestination, Caller, Cms, CoreConfig, Error, MediaStorage, S3Bucket, SharedDatabase,
    create_cluster, export_cluster,
    ids::RandomIds,
    restore,
    testing::{MemoryDatabase, TestCms, images},
    wire::{check::CheckRequest, media::UploadRequest, trash::TrashRequest},
};
use tempfile::TempDir;

use super::{
    backup::check_scheduled_backups,
    bucket::{ACCESS_KEY, BucketServer},
    media::{get, image, receive, text, upload},
    support::{article, with_type},
};

/// The suffix of the files in which s3rver stores objects.
const OBJECT_SUFFIX: &str = "._S3rver_object";

/// A running server with a bucket.
struct Storage(BucketServer);

impl Storage {
    fn start() -> Option<Self> {
        BucketServer::start().map(Self)
    }

    fn bucket(&self, prefix: &str) -> S3Bucket {
        bucket(&self.0.endpoint, prefix)
    }

    /// Keys of all objects.
    fn keys(&self) -> BTreeSet<String> {
        let root = self.0.folder.path().join("site");
        let mut folders = vec![root.clone()];
        let mut keys = BTreeSet::new();
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let name = path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
                if path.is_dir() {
                    folders.push(path);
                } else if let Some(key) = name.strip_suffix(OBJECT_SUFFIX) {
                    keys.insert(key.to_owned());
                }
            }
        }
        keys
    }

    fn path(&self, key: &str) -> std::path::PathBuf {
        self.0.folder.path().join("site").join(format!("{key}{OBJECT_SUFFIX}"))
    }
}

fn bucket(endpoint: &str, prefix: &str) -> S3Bucket {
    S3Bucket {
        name: "site".to_owned(),
        prefix: prefix.to_owned(),
        endpoint: Some(endpoint.to_owned()),
        region: "us-east-1".to_owned(),
        access_key_id: ACCESS_KEY.to_owned(),
        secret_access_key: ACCESS_KEY.to_owned(),
    }
}

/// A data directory with its files in a bucket.
fn with_bucket(bucket: S3Bucket) -> TestCms {
    TestCms::with(|config| {
        config.media = MediaStorage::S3(bucket);
        config.ids = Arc::new(RandomIds);
    })
}

fn has_entries(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some())
}

/// An endpoint without a server.
fn dead_endpoint() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    format!("http://{}", listener.local_addr().unwrap())
}

#[test]
fn image_is_stored_in_the_bucket_until_it_leaves_the_trash() {
    let Some(storage) = Storage::start() else { return };
    let core = with_bucket(storage.bucket("a/b"));
    let cms = &core.cms;
    let photo = images::photo(400, 300);
    let object = upload(cms, &photo, &image("sea.jpg")).unwrap();
    let id = object["id"].as_str().unwrap();
    let url = object["url"].as_str().unwrap();
    let owner = "a/b/cms-space".to_owned();
    assert_eq!(storage.keys(), BTreeSet::from([owner.clone(), format!("a/b/media/{id}")]));
    for folder in ["media", "incoming"] {
        assert!(!has_entries(&core.path().join(folder)), "{folder}");
    }

    assert_eq!(get(cms, url).unwrap(), ("image/jpeg".to_owned(), photo));
    let (_, small) = get(cms, &url.replace("0x0", "100x0")).unwrap();
    assert_eq!(images::size(&small), (100, 75));

    cms.objects().delete(&Caller::local(), "_media", id).unwrap();
    assert!(matches!(get(cms, url), Err(Error::NotFound { .. })));
    assert_eq!(storage.keys(), BTreeSet::from([owner.clone(), format!("a/b/media/{id}")]));
    let deletions = cms.trash().list(&Caller::local(), &TrashRequest::default()).unwrap();
    cms.trash().remove(&Caller::local(), &deletions.data[0].entry).unwrap();
    assert_eq!(storage.keys(), BTreeSet::from([owner]));
}

#[test]
fn large_file_is_read_back_unchanged() {
    let Some(storage) = Storage::start() else { return };
    let core = with_bucket(storage.bucket(""));
    // One byte more than one request uploads.
    let bytes: Vec<u8> = (0..=5 * 1024 * 1024_u32).map(|n| b'a' + (n % 23) as u8).collect();
    let id = text(&core.cms, &bytes);
    assert_eq!(fs::read(storage.path(&format!("media/{id}"))).unwrap(), bytes);
    let file = format!("/image/0x0/{id}.txt");
    let segments: Vec<_> = file.trim_start_matches("/image/").split('/').collect();
    let request = cms_core::wire::media::ImageRequest { path: &segments, ..Default::default() };
    let found = core.cms.media().find(&request).unwrap();
    let end = bytes.len();
    for range in [0..10, 0..end, end - 3..end, 1_000_000..1_000_010, 7..7] {
        let part = core.cms.media().read(&found, range.start as u64..range.end as u64).unwrap();
        assert_eq!(part, bytes[range.clone()], "{range:?}");
    }
}

/// The server of these tests ignores conditions of requests.
#[test]
fn concurrent_uploads_to_a_bucket_cannot_share_an_id() {
    let Some(storage) = Storage::start() else { return };
    let core = with_bucket(storage.bucket(""));
    let second = core.second_node();
    let nodes = [&core.cms, second.as_ref().unwrap_or(&core.cms)];
    // The server of these tests does not write objects atomically: the owner of the bucket is written first.
    let owner = UploadRequest { kind: Some("file".to_owned()), ..image("owner.txt") };
    upload(&core.cms, b"owner", &owner).unwrap();
    // One request sends the small files, several requests the large ones.
    for (size, id) in [
        (9, "_media-448eab50-efc1-46ef-83f2-b910b8cc58e0"),
        (5 * 1024 * 1024 + 1, "_media-448eab50-efc1-46ef-83f2-b910b8cc58e1"),
    ] {
        let request = UploadRequest { save: false, id: Some(id.to_owned()), ..image("a.txt") };
        let request = UploadRequest { kind: Some("file".to_owned()), ..request };
        let stored: Vec<_> = thread::scope(|scope| {
            let uploads = (b'a'..=b'd').zip(nodes.iter().cycle()).map(|(letter, node)| {
                let (bytes, request) = (vec![letter; size], &request);
                scope.spawn(move || upload(node, &bytes, request).map(|_| bytes))
            });
            let uploads: Vec<_> = uploads.collect();
            uploads.into_iter().map(|upload| upload.join().unwrap()).collect()
        });
        let (stored, refused): (Vec<_>, Vec<_>) = stored.into_iter().partition(Result::is_ok);
        assert_eq!((stored.len(), refused.len()), (1, 3), "{size} bytes");
        assert!(refused.iter().all(|it| matches!(it, Err(Error::Invalid(_)))), "{refused:?}");
        let kept = fs::read(storage.path(&format!("media/{id}"))).unwrap();
        assert!(kept == *stored[0].as_ref().unwrap(), "{size} bytes");
        upload(&core.cms, &kept, &request).unwrap();
    }
}

/// A killed server leaves the record of a file that it has not sent.
#[test]
fn id_of_an_upload_that_was_not_sent_is_free_for_other_files_after_a_day() {
    let Some(storage) = Storage::start() else { return };
    let core = with_bucket(storage.bucket(""));
    let id = "_media-448eab50-efc1-46ef-83f2-b910b8cc58e0";
    let request = UploadRequest { save: false, id: Some(id.to_owned()), ..image("a.txt") };
    let request = UploadRequest { kind: Some("file".to_owned()), ..request };
    let path = storage.path(&format!("media/{id}"));
    for (hours, bytes, is_stored) in
        [(0, "first", true), (23, "other", false), (0, "first", true), (25, "other", true)]
    {
        core.run_for(hours * 3600);
        let outcome = upload(&core.cms, bytes.as_bytes(), &request);
        assert_eq!(outcome.is_ok(), is_stored, "{bytes} after {hours} hours: {outcome:?}");
        if is_stored {
            assert_eq!(fs::read_to_string(&path).unwrap(), bytes);
            fs::remove_file(&path).unwrap();
        }
    }
}

/// The record that reserves the id is removed with the file.
#[test]
fn refused_object_frees_the_id_in_a_bucket() {
    let Some(storage) = Storage::start() else { return };
    let core = with_bucket(storage.bucket(""));
    let id = "_media-448eab50-efc1-46ef-83f2-b910b8cc58e0";
    let request = UploadRequest { id: Some(id.to_owned()), ..image("a.jpg") };
    let tagged = UploadRequest { tags: vec!["of-nobody".to_owned()], ..request.clone() };
    upload(&core.cms, &images::photo(8, 8), &tagged).unwrap_err();
    assert_eq!(storage.keys(), BTreeSet::from(["cms-space".to_owned()]));
    upload(&core.cms, &images::photo(9, 9), &request).unwrap();
}

#[test]
fn orphaned_files_are_removed_from_the_bucket() {
    let Some(storage) = Storage::start() else { return };
    let core = with_bucket(storage.bucket("a"));
    let cms = &core.cms;
    let kept = text(cms, b"kept");
    let lost = text(cms, b"lost");
    let unsaved = UploadRequest { save: false, ..image("a.jpg") };
    let unsaved = upload(cms, &images::photo(8, 8), &unsaved).unwrap();
    let unsaved = unsaved["id"].as_str().unwrap();
    fs::remove_file(storage.path(&format!("a/media/{lost}"))).unwrap();
    // Files in other folders are foreign, even if they are named like an orphaned file.
    let others = ["a/media/notes.txt".to_owned(), format!("a/media/old/{unsaved}")];
    for other in &others {
        fs::create_dir_all(storage.path(other).parent().unwrap()).unwrap();
        fs::write(storage.path(other), "theirs").unwrap();
    }

    core.to_real_time(0);
    cms.media().clean_up().unwrap();
    core.run_for(25 * 3600);
    let found = cms.check(&CheckRequest::default()).unwrap().media;
    assert_eq!((found.files, found.missing), (2, vec![lost]));
    assert_eq!(found.orphaned, [unsaved]);
    assert_eq!(cms.media().clean_up().unwrap().withheld, 1);
    assert_eq!(cms.check(&CheckRequest { repair: true, digests: false }).unwrap().media.removed, 1);
    let mut left = BTreeSet::from(others);
    left.extend(["a/cms-space".to_owned(), format!("a/media/{kept}")]);
    assert_eq!(storage.keys(), left);
}

#[test]
fn objects_of_the_wrong_size_are_refused_and_named() {
    let Some(storage) = Storage::start() else { return };
    let core = with_bucket(storage.bucket("a"));
    let cms = &core.cms;
    // More than one request reads.
    let bytes: Vec<u8> = (0..=5 * 1024 * 1024_u32).map(|n| b'a' + (n % 23) as u8).collect();
    let id = text(cms, &bytes);
    let check = |digests| cms.check(&CheckRequest { repair: false, digests }).unwrap();
    assert!(check(true).is_sound());
    let (object, url) = (storage.path(&format!("a/media/{id}")), format!("/image/0x0/{id}.txt"));

    fs::write(&object, &bytes[..1000]).unwrap();
    let expected =
        format!("the stored file {id} has 1000 bytes, {} bytes were uploaded", bytes.len());
    let Err(Error::Internal(cause)) = get(cms, &url) else { panic!("the file was sent") };
    assert!(cause.to_string().starts_with(&expected), "{cause}");
    let found = check(false).findings;
    assert!(found.len() == 1 && found[0].message.starts_with(&expected), "{found:?}");
    let Err(Error::Damaged(message)) = cms.backups().begin() else { panic!("the backup began") };
    assert!(message.starts_with(&expected), "{message}");

    let mut changed = bytes.clone();
    *changed.last_mut().unwrap() = b'!';
    fs::write(&object, &changed).unwrap();
    assert!(check(false).is_sound());
    let found = check(true).findings;
    assert!(found.len() == 1 && found[0].message.contains("SHA-256 differs"), "{found:?}");
    let copied = cms.backups().begin().unwrap();
    let written = cms.backups().write(copied, &mut Vec::new());
    assert!(matches!(written, Err(Error::Damaged(_))), "{written:?}");
    fs::write(&object, &bytes).unwrap();
    assert!(check(true).is_sound());
}

#[test]
fn bucket_belongs_to_one_data_directory() {
    let Some(storage) = Storage::start() else { return };
    let first = with_bucket(storage.bucket("a"));
    let id = text(&first.cms, b"of the first");
    let keys = storage.keys();

    let second = with_bucket(storage.bucket("a"));
    second.to_real_time(25 * 3600);
    let refusals = [
        second.cms.media().connect(),
        second.cms.media().clean_up().map(drop),
        upload(&second.cms, &images::photo(8, 8), &image("a.jpg")).map(drop),
    ];
    for refused in refusals {
        let Err(Error::Conflict(reason)) = refused else { panic!("{refused:?}") };
        assert!(reason.starts_with("s3://site/a at http://"), "{reason}");
    }
    assert_eq!(storage.keys(), keys);

    with_bucket(storage.bucket("b")).cms.media().connect().unwrap();
    // A replica is opened by its node only.
    if first.is_node() {
        return;
    }
    let folder = first.into_folder();
    let mut config = CoreConfig::new(folder.path().join("data"));
    config.media = MediaStorage::S3(storage.bucket("a"));
    let again = Cms::open(config).unwrap();
    assert!(get(&again, &format!("/image/0x0/{id}.txt")).is_ok());
}

#[test]
fn export_of_a_cluster_is_repeated_after_an_error_of_the_bucket() {
    let Some(storage) = Storage::start() else { return };
    let alone = TestCms::standalone();
    let id = text(&alone.cms, b"shared");
    let database: Arc<dyn SharedDatabase> = Arc::new(MemoryDatabase::default());
    let bucket = storage.bucket("a");
    create_cluster(&alone.cms, &database, &MediaStorage::S3(bucket.clone())).unwrap();

    let folder = TempDir::new().unwrap();
    let elsewhere = S3Bucket { name: "elsewhere".to_owned(), ..bucket.clone() };
    export_cluster(folder.path(), &*database, Some(&MediaStorage::S3(elsewhere))).unwrap_err();
    assert!(!folder.path().join("cms.db").exists());
    export_cluster(folder.path(), &*database, Some(&MediaStorage::S3(bucket))).unwrap();
    let exported = Cms::open(CoreConfig::new(folder.path())).unwrap();
    assert_eq!(get(&exported, &format!("/image/0x0/{id}.txt")).unwrap().1, b"shared");
}

/// The bucket can then be used by any data directory.
#[test]
fn failed_restore_leaves_a_bucket_as_it_was() {
    let Some(storage) = Storage::start() else { return };
    let alone = TestCms::standalone();
    let id = text(&alone.cms, b"in the backup");
    let mut backup = Vec::new();
    alone.cms.backups().write(alone.cms.backups().begin().unwrap(), &mut backup).unwrap();
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("site.tar");
    let restore = |length: usize, prefix: &str| {
        fs::write(&path, &backup[..length]).unwrap();
        let mut config = CoreConfig::new(folder.path().join("data"));
        config.media = MediaStorage::S3(storage.bucket(prefix));
        restore(&path, &config)
    };
    // The end of the archive and its manifest are missing.
    let length = backup.len() - 2048;
    let Err(Error::BadRequest(reason)) = restore(length, "a") else { panic!("it was restored") };
    assert_eq!(storage.keys(), BTreeSet::new(), "{reason}");
    restore(backup.len(), "a").unwrap();
    let restored = storage.keys();
    assert_eq!(restored, BTreeSet::from(["a/cms-space".to_owned(), format!("a/media/{id}")]));
    fs::remove_dir_all(folder.path().join("data")).unwrap();
    restore(length, "a").unwrap_err();
    assert_eq!(storage.keys(), restored);
}

#[test]
fn scheduled_backups_are_stored_in_the_bucket() {
    let Some(storage) = Storage::start() else { return };
    let core = with_type(article());
    let names = || {
        let keys = storage.keys().into_iter();
        keys.map(|key| key.strip_prefix("backups/").unwrap().to_owned()).collect()
    };
    check_scheduled_backups(&core, BackupDestination::S3(storage.bucket("backups")), &names);
}

#[test]
fn unknown_key_or_bucket_is_reported() {
    let Some(storage) = Storage::start() else { return };
    let unknown_key = S3Bucket { access_key_id: "nobody".to_owned(), ..storage.bucket("a") };
    let no_bucket = S3Bucket { name: "elsewhere".to_owned(), ..storage.bucket("a") };
    for (bucket, expected) in [
        (unknown_key, "rejects the access key nobody: InvalidAccessKeyId"),
        (no_bucket, "does not exist: NoSuchBucket"),
    ] {
        let core = with_bucket(bucket);
        for refused in [
            core.cms.media().connect(),
            upload(&core.cms, &images::photo(8, 8), &image("a.jpg")).map(drop),
        ] {
            let Err(Error::Internal(cause)) = &refused else { panic!("{refused:?}") };
            assert!(cause.to_string().contains(expected), "{cause}");
        }
        assert!(!has_entries(&core.path().join("incoming")));
    }
    assert_eq!(storage.keys(), BTreeSet::new());
}

#[test]
fn service_errors_are_reported_without_the_secret() {
    let error_body =
        |code: &str| format!("<Error><Code>{code}</Code><Message>Why</Message></Error>");
    for (status, body, is_busy, expected) in [
        (403, error_body("SignatureDoesNotMatch"), false, "key S3RVER: SignatureDoesNotMatch: Why"),
        (401, String::new(), false, "rejects the access key S3RVER"),
        (
            400,
            error_body("AuthorizationHeaderMalformed"),
            false,
            "used: AuthorizationHeaderMalformed",
        ),
        (301, String::new(), false, "incorrectly configured region"),
        (200, "<html>".repeat(9), false, "another data directory"),
        (503, error_body("SlowDown"), true, "does not respond: SlowDown: Why"),
        (429, String::new(), true, "does not respond"),
    ] {
        let endpoint = service(status, &body);
        let bucket =
            S3Bucket { secret_access_key: "wont-tell".to_owned(), ..bucket(&endpoint, "a") };
        let core = with_bucket(bucket.clone());
        let error = core.cms.media().connect().unwrap_err();
        let reason = match &error {
            Error::Internal(cause) => cause.to_string(),
            other => other.to_string(),
        };
        assert!(reason.contains(expected), "{status}: {reason}");
        assert_eq!(matches!(error, Error::Busy(_)), is_busy, "{status}: {error:?}");
        for text in [reason, format!("{error:?}"), format!("{:?}", core.cms.config().media)] {
            assert!(!text.contains("wont-tell"), "{text}");
        }
    }
}

/// A service with one response to all requests.
fn service(status: u16, body: &str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    let length = body.len();
    // The client reads the length and the date of an object from these headers.
    let response = format!(
        "HTTP/1.1 {status} Told\r\nContent-Length: {length}\r\nETag: \"1\"\r\nConnection: close\r\n\
         Last-Modified: Fri, 02 Jan 2026 03:04:05 GMT\r\n\r\n{body}"
    );
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let lines = BufReader::new(&stream).lines().map_while(Result::ok);
            lines.take_while(|line| !line.is_empty()).for_each(drop);
            stream.write_all(response.as_bytes()).ok();
        }
    });
    endpoint
}

#[test]
fn unreachable_endpoint_is_busy_and_affects_nothing_else() {
    let core = with_bucket(bucket(&dead_endpoint(), "a"));
    let began = Instant::now();
    let refused = upload(&core.cms, &images::photo(8, 8), &image("a.jpg"));
    assert!(began.elapsed() < Duration::from_secs(30));
    let Err(Error::Busy(reason)) = refused else { panic!("{refused:?}") };
    assert!(reason.contains("does not respond: Connection refused"), "{reason}");
    assert!(!has_entries(&core.path().join("incoming")));
    // Requests that need no files still work.
    drop(receive(&core.cms, b"given up"));
    core.cms.types().get(&Caller::local(), "_media").unwrap();
}
