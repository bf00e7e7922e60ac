use proptest::prelude::*;
use serde_json::json;

use super::*;

fn parse(path: &str) -> Option<ImagePath<'_>> {
    ImagePath::parse(&path.split('/').collect::<Vec<_>>())
}

/// The id, extension, size and transformation of a path, in one line.
fn read(path: &str) -> Option<String> {
    let path = parse(path)?;
    let RequestedImage { size, transform } =
        path.requested_image(None).expect("the numbers are fine");
    let transform = match transform {
        None => String::new(),
        Some(Transform::Variant(name)) => format!(" variant {name}"),
        Some(Transform::Trim(trim)) => format!(" trim {trim:?}"),
    };
    Some(format!("{} {} {}x{}{transform}", path.id, path.extension, size.width, size.height))
}

#[test]
fn paths_of_every_form_are_parsed() {
    let trim = Trim { top: 1, right: Some(2), width: Some(3), height: Some(4), ..Trim::default() };
    for (path, expected) in [
        ("0x0/_media-1.jpg", "_media-1 jpg 0x0".to_owned()),
        ("300x0/_media-1.JPG", "_media-1 JPG 300x0".to_owned()),
        ("10000x10000/a.b.c.png", "a.b.c png 10000x10000".to_owned()),
        ("0x0200/_media-1/photo.jpg", "_media-1 jpg 0x200".to_owned()),
        ("0x0/_media-1/my photo. 1.2.tar.gz", "_media-1 gz 0x0".to_owned()),
        ("0x0/a.png/b.jpg", "a.png jpg 0x0".to_owned()),
        ("0x0/id/.png", "id png 0x0".to_owned()),
        ("_media-1.jpg", "_media-1 jpg 0x0".to_owned()),
        ("10x10.jpg", "10x10 jpg 0x0".to_owned()),
        ("0x0/_media-1.jpg/variant/wide", "_media-1 jpg 0x0 variant wide".to_owned()),
        ("5x6/_media-1/a.jpg/variant/a.b", "_media-1 jpg 5x6 variant a.b".to_owned()),
        ("0x0/variant/transform.jpg", "variant jpg 0x0".to_owned()),
        ("0x0/a.jpg/transform/trim/1,2,3,4", format!("a jpg 0x0 trim {trim:?}")),
        ("9x9/a/b.jpg/transform/trim/1,2,3,4", format!("a jpg 9x9 trim {trim:?}")),
    ] {
        assert_eq!(read(path), Some(expected), "{path}");
    }
}

#[test]
fn file_name_may_contain_a_slash() {
    let path = ImagePath::parse(&["0x0", "_media-1", "a/b.c/photo.jpg"]).unwrap();
    assert_eq!((path.id, path.extension), ("_media-1", "jpg"));
}

#[test]
fn paths_of_other_forms_are_rejected() {
    for path in [
        "",
        "_media-1",
        "_media-1.",
        ".jpg",
        "0x0",
        "0x0/",
        "0x0/_media-1",
        "0x0/_media-1/photo",
        "0x0/_media-1/photo.",
        "0x0//photo.jpg",
        "0x0/a/b/c.jpg",
        "0/a.jpg",
        "x/a.jpg",
        "0x/a.jpg",
        "x0/a.jpg",
        "0X0/a.jpg",
        "-1x0/a.jpg",
        "+1x0/a.jpg",
        "1.5x0/a.jpg",
        " 1x0/a.jpg",
        "0x0x0/a.jpg",
        "٣x٣/a.jpg",
        "0x0/a.jpg/variant",
        "0x0/a/b.jpg/variant",
        "0x0/variant/wide",
        "0x0/a.jpg/variant/wide/more",
        "0x0/a.jpg/transform/rotate/90",
        "0x0/a.jpg/transform/trim",
        "0x0/a/b.jpg/transform/trim",
        "0x0/transform/trim/1,2,3,4",
        "a.jpg/variant/wide",
        "a.jpg/transform/trim/1,2,3,4",
    ] {
        assert_eq!(parse(path), None, "{path}");
    }
}

#[test]
fn invalid_numbers_are_reported_together() {
    let not_valid = ["This value is not valid."];
    for (path, query, expected) in [
        ("10001x0/a.jpg", None, json!({"size": not_valid})),
        ("0x99999999999999999999/a.jpg", None, json!({"size": not_valid})),
        ("0x0/a.jpg/transform/trim/1,2,3", None, json!({"trim": not_valid})),
        ("0x0/a.jpg", Some(r#"{"trim":{"top":"1"}}"#), json!({"trim": not_valid})),
        (
            "0x10001/a/b.jpg/transform/trim/a,b,c,d",
            None,
            json!({"size": not_valid, "trim": not_valid}),
        ),
        (
            "0x10001/a.jpg",
            Some("{"),
            json!({
                "size": not_valid,
                "transform": ["Malformed transform json - Syntax error"],
            }),
        ),
    ] {
        let errors = parse(path).unwrap().requested_image(query).unwrap_err();
        assert_eq!(json!(errors), expected, "{path}");
    }
}

#[test]
fn path_transform_precedes_the_parameter() {
    let query = Some(r#"{"trim":{"top":7}}"#);
    let wanted = |path| parse(path).unwrap().requested_image(query).unwrap().transform;
    let top = |transform| match transform {
        Some(Transform::Trim(trim)) => Some(trim.top),
        _ => None,
    };
    assert_eq!(top(wanted("0x0/a.jpg")), Some(7));
    assert_eq!(top(wanted("0x0/a.jpg/transform/trim/1,2,3,4")), Some(1));
    assert_eq!(wanted("0x0/a.jpg/variant/b"), Some(Transform::Variant("b".to_owned())));
}

#[test]
fn extensions_match_in_any_case() {
    let path = parse("0x0/a.JPg").unwrap();
    assert!(path.has_extension("jpg") && path.has_extension("JPG"));
    assert!(!path.has_extension("jpeg") && !path.has_extension(""));
}

proptest! {
    #[test]
    fn parser_never_panics(
        segments in prop::collection::vec("\\PC{0,12}|[0-9x.]{0,8}|variant|transform|trim", 0..7),
        query in prop::option::of("\\PC{0,20}"),
    ) {
        let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
        if let Some(path) = ImagePath::parse(&segments) {
            prop_assert!(!path.id.is_empty() && !path.extension.is_empty());
            drop(path.requested_image(query.as_deref()));
        }
    }

    #[test]
    fn file_names_of_any_characters_are_kept(
        id in "\\PC{1,12}", name in "\\PC{0,12}", extension in "[^.]{1,5}", w in 0..=10_000_u32,
    ) {
        let size = format!("{w}x7");
        let file = format!("{name}.{extension}");
        let key = format!("{id}.{extension}");
        for segments in [&[&*size, &*id, &*file][..], &[&*size, &*key]] {
            let path = ImagePath::parse(segments).unwrap();
            prop_assert_eq!((path.id, path.extension), (&*id, &*extension));
            let wanted = path.requested_image(None).unwrap();
            prop_assert_eq!(wanted, RequestedImage { size: Size { width: w, height: 7 }, transform: None });
        }
    }
}
