use proptest::prelude::*;

use super::*;

const FORMATS: [RenderFormat; 6] = [
    RenderFormat::Jpeg,
    RenderFormat::Png,
    RenderFormat::Webp,
    RenderFormat::Gif,
    RenderFormat::Bmp,
    RenderFormat::Avif,
];

fn any_rendering() -> impl Strategy<Value = Rendering> {
    // Small numbers: without separators, 1 and 12 would have the digits of 11 and 2.
    let number = || 0..130_u32;
    let edge = move || prop::option::of(number());
    let trim = (number(), edge(), number(), edge(), edge(), edge()).prop_map(
        |(top, right, bottom, left, width, height)| Trim {
            top,
            right,
            bottom,
            left,
            width,
            height,
        },
    );
    let format = prop::sample::select(&FORMATS[..]);
    let point = (0.0..=1.0, 0.0..=1.0).prop_map(|(x, y)| FocalPoint { x, y });
    let options = (prop::option::of(trim), prop::option::of(point));
    let quality = prop::option::of(1..=100_u8);
    (options, number(), number(), format, quality).prop_map(
        |((trim, focal_point), width, height, format, quality)| Rendering {
            source_format: RenderFormat::Png,
            trim,
            requested: Size { width, height },
            focal_point,
            format,
            quality,
        },
    )
}

/// Parses a name: a name that can be parsed has only one meaning.
fn read(name: &str) -> Rendering {
    let (stem, extension) = name.rsplit_once('.').unwrap();
    let format = FORMATS.into_iter().find(|format| format.extension() == extension).unwrap();
    let mut parts = stem.split('-');
    let (width, height) = parts.next().unwrap().split_once('x').unwrap();
    let requested = Size { width: width.parse().unwrap(), height: height.parse().unwrap() };
    let (mut trim, mut focal_point, mut quality) = (None, None, None);
    for part in parts {
        if let Some(edges) = part.strip_prefix("t.") {
            let edges: Vec<Option<u32>> = edges.split('.').map(|edge| edge.parse().ok()).collect();
            let [top, right, bottom, left, width, height] = edges[..] else { panic!("{name}") };
            let (top, bottom) = (top.unwrap(), bottom.unwrap());
            trim = Some(Trim { top, right, bottom, left, width, height });
        } else if let Some(axes) = part.strip_prefix('f') {
            let (x, y) = axes.split_once('.').unwrap();
            let [x, y] = [x, y].map(|bits| f64::from_bits(u64::from_str_radix(bits, 16).unwrap()));
            focal_point = Some(FocalPoint { x, y });
        } else if let Some(number) = part.strip_prefix('q') {
            assert_eq!(number, format.default_quality().to_string());
        } else if let Some(number) = part.strip_prefix('r') {
            quality = Some(number.parse().unwrap());
        } else {
            assert_eq!(part, RENDERING_VERSION.to_string());
        }
    }
    Rendering { source_format: RenderFormat::Png, trim, requested, focal_point, format, quality }
}

proptest! {
    #[test]
    fn different_renderings_have_different_names(rendering in any_rendering()) {
        let name = rendering.name();
        prop_assert_eq!(read(&name), rendering);
        prop_assert!(name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-_".contains(&byte)));
        prop_assert!(name.len() < 120, "{} is long for a file", name);
    }
}

/// The rendering of an image request, if any.
fn wanted(media_type: &str, size: &str, query: [Option<&str>; 2]) -> Option<Rendering> {
    let path = [size, "_media-x.bin"];
    let request = ImageRequest {
        path: &path,
        format: query[0],
        quality: query[1],
        accept: Some("image/avif,image/webp"),
        ..ImageRequest::default()
    };
    let object = MediaObject {
        extension: "bin".into(),
        mime_type: media_type.into(),
        kind: "image".into(),
        variants: None,
        focal_point: serde_json::from_str(r#"{"x": 0.1, "y": 0.2}"#).ok(),
        width: serde_json::from_str("1000").ok(),
        height: serde_json::from_str("1000").ok(),
    };
    rendering(&ImagePath::parse(&path).unwrap(), &request, &object).unwrap().0
}

#[test]
fn stored_image_is_sent_without_rendering() {
    for (media_type, query) in [
        ("image/png", [None, None]),
        ("image/png", [Some("png"), None]),
        // These formats have no quality.
        ("image/png", [None, Some("50")]),
        ("image/gif", [Some(""), Some("1")]),
        ("image/jpeg", [Some("jpeg"), Some("")]),
        ("image/svg+xml", [Some("webp"), Some("50")]),
        ("image/vnd.microsoft.icon", [Some("png"), None]),
        ("application/pdf", [Some("auto"), None]),
    ] {
        assert_eq!(wanted(media_type, "0x0", query), None, "{media_type} {query:?}");
    }
    for (media_type, query, format, quality) in [
        ("image/png", [Some("jpeg"), None], RenderFormat::Jpeg, None),
        ("image/png", [Some("auto"), None], RenderFormat::Avif, None),
        ("image/jpeg", [None, Some("50")], RenderFormat::Jpeg, Some(50)),
        // The default, when requested, encodes again.
        ("image/jpeg", [None, Some("85")], RenderFormat::Jpeg, Some(85)),
        ("image/webp", [None, Some("50")], RenderFormat::Webp, Some(50)),
        ("image/bmp", [Some("webp"), None], RenderFormat::Webp, None),
        ("image/gif", [Some("png"), Some("50")], RenderFormat::Png, None),
    ] {
        let found = wanted(media_type, "0x0", query).unwrap();
        assert_eq!((found.format, found.quality), (format, quality), "{media_type} {query:?}");
    }
}

#[test]
fn focal_point_is_part_of_the_name_of_cropped_renderings() {
    for (size, is_named) in [("90x90", true), ("90x0", false), ("0x90", false)] {
        let rendering = wanted("image/png", size, [None, None]).unwrap();
        assert_eq!(rendering.focal_point.is_some(), is_named, "{size}");
        assert_eq!(rendering.name().contains("-f"), is_named, "{size}");
    }
}

#[test]
fn quality_without_effect_does_not_change_the_name() {
    for media_type in ["image/png", "image/gif", "image/bmp"] {
        let plain = wanted(media_type, "90x0", [None, None]);
        assert!(plain.is_some());
        assert_eq!(wanted(media_type, "90x0", [None, Some("50")]), plain, "{media_type}");
    }
}

#[test]
fn automatic_format_follows_the_size_of_the_rendering() {
    let format = |size: [&str; 2], path: &str| {
        let [width, height] = size;
        let object = format!(
            r#"{{"extension":"jpg","mimeType":"image/jpeg","type":"image","width":{width},"height":{height}}}"#
        );
        let object: MediaObject = serde_json::from_str(&object).unwrap();
        let segments = [path, "x.jpg"];
        let request = ImageRequest {
            path: &segments,
            transform: None,
            format: Some("auto"),
            quality: None,
            accept: Some("image/avif,image/webp"),
        };
        let path = ImagePath::parse(request.path).unwrap();
        rendering(&path, &request, &object).unwrap().0.map(|rendering| rendering.format)
    };
    let large = ["3000", "2000"];
    let table = [
        (large, "400x0", Some(RenderFormat::Avif)),
        (large, "0x300", Some(RenderFormat::Avif)),
        (large, "400x300", Some(RenderFormat::Avif)),
        (large, "1920x1920", Some(RenderFormat::Webp)),
        (large, "0x0", Some(RenderFormat::Webp)),
        (["100", "100"], "1920x1920", Some(RenderFormat::Avif)),
        // An unknown size.
        (["0", "0"], "0x0", None),
        (["0", "0"], "400x0", Some(RenderFormat::Jpeg)),
        (["\"?\"", "100"], "400x300", Some(RenderFormat::Avif)),
    ];
    for (size, path, expected) in table {
        assert_eq!(format(size, path), expected, "{size:?} {path}");
    }
}
