use std::{
    collections::BTreeSet,
    sync::{
        Barrier,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use cms_model::error::Error;
use tempfile::TempDir;

use super::*;
use crate::testing::images;

const IMAGE: &[u8] = b"an image";
const HOUR: Duration = Duration::from_hours(1);

fn id(number: u32) -> FileId {
    FileId::parse(&format!("_media-{number:08x}-efc1-46ef-83f2-b910b8cc58e0")).unwrap()
}

fn cache(capacity: u64) -> (TempDir, Renders) {
    let folder = TempDir::new().unwrap();
    let renders = Renders::new(folder.path().join("images"), capacity);
    (folder, renders)
}

fn now() -> SystemTime {
    fs::metadata(std::env::temp_dir()).unwrap().modified().unwrap()
}

fn rendered(renders: &Renders, id: &FileId, name: &str) -> Vec<u8> {
    images::bytes(renders.get_or_render(id, name, now(), || Ok(IMAGE.to_vec())).unwrap())
}

/// Sets the last use of an image.
fn mark(renders: &Renders, id: &FileId, name: &str, at: SystemTime) {
    File::options().write(true).open(renders.path(id, name)).unwrap().set_modified(at).unwrap();
}

fn names(renders: &Renders) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for folder in folder::entries(&renders.folder).unwrap() {
        for file in folder::entries(&folder).unwrap() {
            names.insert(file.file_name().unwrap().to_str().unwrap().to_owned());
        }
    }
    names
}

#[test]
fn image_is_rendered_once_and_kept_until_removed() {
    let (_folder, renders) = cache(1 << 20);
    assert!(renders.get(&id(1), "a.jpg", now()).is_none());
    assert_eq!(rendered(&renders, &id(1), "a.jpg"), IMAGE);
    let again = renders.get_or_render(&id(1), "a.jpg", now(), || panic!("it is there"));
    assert_eq!(images::bytes(again.unwrap()), IMAGE);
    assert_eq!(images::bytes(renders.get(&id(1), "a.jpg", now()).unwrap()), IMAGE);
    for (other, name) in [(id(1), "b.jpg"), (id(2), "a.jpg")] {
        assert!(renders.get(&other, name, now()).is_none());
    }
    rendered(&renders, &id(2), "a.jpg");
    renders.remove(&id(1)).unwrap();
    renders.remove(&id(3)).unwrap();
    assert!(renders.get(&id(1), "a.jpg", now()).is_none());
    assert_eq!(renders.ids().unwrap(), [id(2)]);
}

#[test]
fn concurrent_requests_share_one_rendering() {
    let (_folder, renders) = cache(1 << 20);
    let started = [const { AtomicUsize::new(0) }; 3];
    let all = Barrier::new(24);
    thread::scope(|scope| {
        for thread in 0..24 {
            let (renders, started, all) = (&renders, &started[thread % 3], &all);
            scope.spawn(move || {
                all.wait();
                let number = u32::try_from(thread % 3).unwrap();
                let image = renders.get_or_render(&id(number), "a.jpg", now(), || {
                    started.fetch_add(1, Ordering::Relaxed);
                    // Long enough for the other threads to arrive.
                    thread::yield_now();
                    Ok(IMAGE.to_vec())
                });
                assert_eq!(images::bytes(image.unwrap()), IMAGE);
            });
        }
    });
    assert_eq!(started.map(AtomicUsize::into_inner), [1; 3]);
}

#[test]
fn failed_rendering_is_retried() {
    let (_folder, renders) = cache(1 << 20);
    let failed =
        renders.get_or_render(&id(1), "a.jpg", now(), || Err(Error::invalid("file", "broken")));
    assert!(matches!(failed, Err(Error::Invalid(_))));
    let panicked = thread::scope(|scope| {
        let make = || renders.get_or_render(&id(1), "a.jpg", now(), || panic!("a decoder panics"));
        scope.spawn(make).join().is_err()
    });
    assert!(panicked);
    assert_eq!(names(&renders), BTreeSet::new());
    assert_eq!(rendered(&renders, &id(1), "a.jpg"), IMAGE);
}

#[test]
fn full_cache_evicts_least_recently_used_images() {
    let (_folder, renders) = cache(20 * MIN_FILE_BYTES);
    let start = now();
    for number in 0..20 {
        let name = format!("{number:02}.jpg");
        rendered(&renders, &id(number % 3), &name);
        mark(&renders, &id(number % 3), &name, start - HOUR * (40 - number));
    }
    assert_eq!(names(&renders).len(), 20);
    // The oldest image is used again.
    assert_eq!(images::bytes(renders.get(&id(0), "00.jpg", start).unwrap()), IMAGE);
    rendered(&renders, &id(1), "new.jpg");
    let mut expected: BTreeSet<_> = (4..20).map(|number| format!("{number:02}.jpg")).collect();
    expected.extend(["00.jpg".to_owned(), "new.jpg".to_owned()]);
    assert_eq!(names(&renders), expected);
}

#[test]
fn markers_of_stored_files_count_for_the_capacity() {
    let (_folder, renders) = cache(10 * MIN_FILE_BYTES);
    for number in 0..50 {
        let name = format!("{number}.jpg");
        let rendered = renders.get_or_render(&id(1), &name, now(), || Ok(Vec::new())).unwrap();
        assert_eq!(rendered.size(), 0);
        assert_eq!(renders.get(&id(1), &name, now()).unwrap().size(), 0);
    }
    assert!(names(&renders).len() <= 10, "{:?}", names(&renders));
}

#[test]
fn image_larger_than_the_cache_is_not_kept() {
    let (_folder, renders) = cache(MIN_FILE_BYTES);
    let large = vec![7; 5 * 4096];
    let image = renders.get_or_render(&id(1), "a.jpg", now(), || Ok(large.clone())).unwrap();
    assert_eq!(images::bytes(image), large);
    assert_eq!(names(&renders), BTreeSet::new());
}

#[test]
fn cache_errors_do_not_fail_requests() {
    let (folder, renders) = cache(1 << 20);
    // A directory cannot be created in place of a file.
    fs::write(folder.path().join("images"), b"in the way").unwrap();
    for _ in 0..2 {
        assert_eq!(rendered(&renders, &id(1), "a.jpg"), IMAGE);
        assert!(renders.get(&id(1), "a.jpg", now()).is_none());
    }
    // An image cannot replace a directory; no temporary file remains.
    fs::remove_file(folder.path().join("images")).unwrap();
    fs::create_dir_all(renders.path(&id(1), "a.jpg").join("in the way")).unwrap();
    assert_eq!(rendered(&renders, &id(1), "a.jpg"), IMAGE);
    assert_eq!(names(&renders), BTreeSet::from(["a.jpg".to_owned()]));
}

#[test]
fn files_of_a_crash_are_ignored_and_evicted() {
    let (_folder, renders) = cache(3 * MIN_FILE_BYTES);
    let left = renders.path(&id(1), "a.jpg.1.part");
    fs::create_dir_all(left.parent().unwrap()).unwrap();
    fs::write(&left, b"half a pic").unwrap();
    mark(&renders, &id(1), "a.jpg.1.part", now() - HOUR);
    assert!(renders.get(&id(1), "a.jpg", now()).is_none());
    for name in ["a.jpg", "b.jpg", "c.jpg"] {
        assert_eq!(rendered(&renders, &id(1), name), IMAGE);
    }
    assert!(!left.exists());
    fs::write(&left, b"half a pic").unwrap();
    renders.remove(&id(1)).unwrap();
    assert!(!left.exists());
}

#[test]
fn large_image_is_read_in_chunks_after_eviction() {
    let (_folder, renders) = cache(1 << 30);
    let large: Vec<u8> =
        (0..3 * limits::RESPONSE_CHUNK_BYTES).map(|at| at.to_le_bytes()[1]).collect();
    let rendered = renders.get_or_render(&id(1), "a.png", now(), || Ok(large.clone())).unwrap();
    let kept = renders.get(&id(1), "a.png", now()).unwrap();
    assert!(matches!((&rendered, &kept), (RenderedImage::OnDisk(_), RenderedImage::OnDisk(_))));
    renders.remove(&id(1)).unwrap();
    assert_eq!((rendered.size(), kept.size()), (large.len() as u64, large.len() as u64));
    assert_eq!(images::bytes(rendered), large);
    assert_eq!(images::bytes(kept), large);
}
