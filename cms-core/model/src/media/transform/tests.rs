use proptest::prelude::*;
use serde_json::json;

use super::*;

fn size((width, height): (u32, u32)) -> Size {
    Size { width, height }
}

fn rectangle((x, y, width, height): (u32, u32, u32, u32)) -> Rectangle {
    Rectangle { x, y, width, height }
}

/// The crop and the output size of the plan, even when there is no plan.
fn planned(source: (u32, u32), trim: Option<&Trim>, requested: (u32, u32)) -> (Rectangle, Size) {
    planned_around(None, source, trim, requested)
}

fn planned_around(
    focal_point: Option<FocalPoint>,
    source: (u32, u32),
    trim: Option<&Trim>,
    requested: (u32, u32),
) -> (Rectangle, Size) {
    let plan = resize_plan(size(source), trim, size(requested), focal_point);
    let plan = plan.expect("something is left");
    let whole = rectangle((0, 0, source.0, source.1));
    plan.map_or((whole, size(source)), |plan| (plan.crop, plan.output))
}

#[test]
fn resize_follows_the_documented_table() {
    for (source, requested, crop, output) in [
        // 0x0
        ((1000, 500), (0, 0), (0, 0, 1000, 500), (1000, 500)),
        // Wx0
        ((1000, 500), (300, 0), (0, 0, 1000, 500), (300, 150)),
        ((1000, 333), (100, 0), (0, 0, 1000, 333), (100, 33)),
        ((1000, 335), (100, 0), (0, 0, 1000, 335), (100, 34)),
        ((1000, 2), (10, 0), (0, 0, 1000, 2), (10, 1)),
        ((1000, 500), (1000, 0), (0, 0, 1000, 500), (1000, 500)),
        ((1000, 500), (5000, 0), (0, 0, 1000, 500), (1000, 500)),
        // 0xH
        ((1000, 500), (0, 100), (0, 0, 1000, 500), (200, 100)),
        ((2, 1000), (0, 10), (0, 0, 2, 1000), (1, 10)),
        ((1000, 500), (0, 501), (0, 0, 1000, 500), (1000, 500)),
        // WxH, with the documented examples first
        ((1000, 500), (800, 800), (100, 0, 800, 500), (800, 500)),
        ((400, 400), (1920, 1920), (0, 0, 400, 400), (400, 400)),
        ((1000, 500), (500, 250), (0, 0, 1000, 500), (500, 250)),
        ((1000, 500), (100, 100), (250, 0, 500, 500), (100, 100)),
        ((500, 1000), (100, 100), (0, 250, 500, 500), (100, 100)),
        ((1000, 500), (2000, 100), (0, 200, 1000, 100), (1000, 100)),
        ((1000, 501), (1000, 500), (0, 0, 1000, 500), (1000, 500)),
        ((3, 2), (1, 1), (0, 0, 2, 2), (1, 1)),
        ((1, 1), (1, 1), (0, 0, 1, 1), (1, 1)),
    ] {
        let expected = (rectangle(crop), size(output));
        assert_eq!(planned(source, None, requested), expected, "{source:?} as {requested:?}");
    }
}

#[test]
fn crop_keeps_the_focal_point() {
    let trim = Trim { left: Some(200), width: Some(400), ..Trim::default() };
    for (source, trim, requested, point, crop) in [
        // Not scaled: the formula in pixels of the source.
        ((1000, 500), None, (800, 800), (0.0, 0.0), (0, 0, 800, 500)),
        ((1000, 500), None, (800, 800), (0.45, 0.9), (50, 0, 800, 500)),
        ((1000, 500), None, (800, 800), (0.5, 0.0), (100, 0, 800, 500)),
        ((1000, 500), None, (800, 800), (1.0, 1.0), (200, 0, 800, 500)),
        ((1000, 500), None, (2000, 101), (0.0, 0.75), (0, 324, 1000, 101)),
        // Scaled to 200x100: the crop begins at floor(200x - 50).
        ((1000, 500), None, (100, 100), (0.3, 0.5), (50, 0, 500, 500)),
        ((1000, 500), None, (100, 100), (0.333, 0.5), (80, 0, 500, 500)),
        ((1000, 500), None, (100, 100), (0.7, 0.5), (450, 0, 500, 500)),
        ((1000, 500), None, (100, 100), (0.76, 0.5), (500, 0, 500, 500)),
        ((500, 1000), None, (100, 100), (0.9, 0.3), (0, 50, 500, 500)),
        // Other sizes are not cropped.
        ((1000, 500), None, (0, 0), (0.1, 0.1), (0, 0, 1000, 500)),
        ((1000, 500), None, (100, 0), (0.1, 0.1), (0, 0, 1000, 500)),
        ((1000, 500), None, (0, 100), (0.1, 0.1), (0, 0, 1000, 500)),
        ((1000, 500), None, (500, 250), (0.1, 0.1), (0, 0, 1000, 500)),
        // The point is moved into the trimmed area, 400x500 from 200 on.
        ((1000, 500), Some(&trim), (100, 500), (0.4, 0.5), (350, 0, 100, 500)),
        ((1000, 500), Some(&trim), (100, 500), (0.1, 0.5), (200, 0, 100, 500)),
        ((1000, 500), Some(&trim), (100, 500), (0.9, 0.5), (500, 0, 100, 500)),
    ] {
        let focal_point = Some(FocalPoint { x: point.0, y: point.1 });
        let (found, output) = planned_around(focal_point, source, trim, requested);
        assert_eq!(found, rectangle(crop), "{source:?} as {requested:?} around {point:?}");
        assert_eq!(output, planned(source, trim, requested).1);
    }
}

#[test]
fn unchanged_image_has_no_plan() {
    let source = size((400, 300));
    let everything = Trim { width: Some(9_999_999), height: Some(300), ..Trim::default() };
    for trim in [None, Some(&Trim::default()), Some(&everything)] {
        for requested in [(0, 0), (400, 0), (0, 300), (400, 300), (10_000, 10_000)] {
            assert_eq!(
                resize_plan(source, trim, size(requested), None).unwrap(),
                None,
                "{trim:?} {requested:?}"
            );
        }
    }
    let less = Trim { top: 1, ..Trim::default() };
    assert!(resize_plan(source, Some(&less), size((0, 0)), None).unwrap().is_some());
    assert!(resize_plan(source, None, size((399, 0)), None).unwrap().is_some());
}

#[test]
fn trim_follows_the_documented_table() {
    for (trim, expected) in [
        // The documented examples.
        (json!({"top": 10, "right": 10, "bottom": 10, "left": 10}), (10, 10, 380, 280)),
        (json!({"top": 10, "left": 10, "width": 50, "height": 50}), (10, 10, 50, 50)),
        // Width and height, from the left: the other two sides do not count.
        (
            json!({"top": 5, "left": 7, "right": 9, "bottom": 9, "width": 50, "height": 40}),
            (7, 5, 50, 40),
        ),
        // From the right.
        (json!({"top": 5, "right": 30, "width": 50, "height": 40}), (320, 5, 50, 40)),
        // A missing side or top counts as 0.
        (json!({"width": 50, "height": 40}), (0, 0, 50, 40)),
        // Sides only.
        (json!({"left": 100}), (100, 0, 300, 300)),
        (json!({"right": 100, "bottom": 1}), (0, 0, 300, 299)),
        (json!({}), (0, 0, 400, 300)),
        // One of width and height.
        (json!({"top": 10, "left": 20, "width": 50}), (20, 10, 50, 290)),
        (json!({"top": 10, "left": 20, "bottom": 30, "width": 50}), (20, 10, 50, 260)),
        (json!({"top": 10, "left": 20, "height": 50}), (20, 10, 380, 50)),
        (json!({"top": 10, "left": 20, "right": 30, "height": 50}), (20, 10, 350, 50)),
        // Clamped to the image.
        (json!({"top": 290, "left": 390, "width": 50, "height": 50}), (390, 290, 10, 10)),
        (json!({"top": 0, "right": 390, "width": 50, "height": 50}), (0, 0, 10, 50)),
        (json!({"top": 0, "left": 0, "width": 9_999_999, "height": 9_999_999}), (0, 0, 400, 300)),
        // Fractions are floored.
        (json!({"top": 10.9, "left": 0.5, "width": 50.7, "height": 1.2}), (0, 10, 50, 1)),
    ] {
        let parsed = Trim::from_json(&trim).unwrap();
        let found = planned((400, 300), Some(&parsed), (0, 0)).0;
        assert_eq!(found, rectangle(expected), "{trim}");
    }
}

#[test]
fn path_form_counts_from_the_right() {
    let trim = Trim::from_path("10,20,50,60").unwrap();
    assert_eq!(planned((400, 400), Some(&trim), (0, 0)).0, rectangle((330, 10, 50, 60)));
    assert_eq!(Trim::from_path("10.9,20.0,50.99,60."), Some(trim));
    for bad in [
        "",
        ",",
        "10",
        "10,20,50",
        "10,20,50,60,",
        "10,20,50,60,70",
        "a,20,50,60",
        "-1,20,50,60",
        "+1,20,50,60",
        "1e1,20,50,60",
        "inf,20,50,60",
        " 1,20,50,60",
        "10,20,0,60",
        "10,20,50,0",
        "10,20,0.9,60",
        "10000000,20,50,60",
        "1.2.3,20,50,60",
        ".,20,50,60",
    ] {
        assert_eq!(Trim::from_path(bad), None, "{bad}");
    }
}

#[test]
fn trim_precedes_the_resize() {
    let trim = Trim::from_json(&json!({"top": 100, "left": 200, "width": 100, "height": 50}));
    let found = planned((400, 300), trim.as_ref(), (25, 25));
    assert_eq!(found, (rectangle((225, 100, 50, 50)), size((25, 25))));
}

#[test]
fn trim_that_leaves_no_pixels_is_an_error() {
    for trim in [
        json!({"top": 300}),
        json!({"left": 400, "width": 1, "height": 1}),
        json!({"left": 200, "right": 200}),
        json!({"top": 200, "bottom": 101}),
        json!({"right": 400, "width": 10, "height": 10}),
    ] {
        let parsed = Trim::from_json(&trim).unwrap();
        let error = resize_plan(size((400, 300)), Some(&parsed), size((0, 0)), None).unwrap_err();
        let Error::Invalid(errors) = error else { panic!("{error:?}") };
        assert_eq!(errors, FieldErrors::one("trim", "This value is not valid."), "{trim}");
    }
}

#[test]
fn numbers_out_of_range_are_rejected() {
    for name in ["top", "right", "bottom", "left", "width", "height"] {
        let min = i32::from(matches!(name, "width" | "height"));
        for good in [json!(min), json!(9_999_999), json!(9_999_999.9), json!(f64::from(min))] {
            assert!(Trim::from_json(&json!({name: good})).is_some(), "{name} {good}");
        }
        for bad in [
            json!(min - 1),
            json!(f64::from(min) - 0.1),
            json!(10_000_000),
            json!(1e300),
            json!("5"),
            json!(null),
            json!([5]),
        ] {
            assert_eq!(Trim::from_json(&json!({name: bad})), None, "{name} {bad}");
        }
    }
    for bad in [json!(null), json!([]), json!("10,10,10,10"), json!(1)] {
        assert_eq!(Trim::from_json(&bad), None, "{bad}");
    }
}

#[test]
fn query_parameter_is_parsed_or_rejected() {
    let trim = Trim { top: 5, left: Some(6), ..Trim::default() };
    for (text, expected) in [
        ("", None),
        (" ", None),
        ("{}", None),
        (r#"{"trim":{"top":5,"left":6}}"#, Some(trim)),
        (r#"{"trim":{"name":"a","top":5,"left":6}}"#, Some(trim)),
    ] {
        assert_eq!(from_query(text), Ok(expected), "{text}");
    }
    let malformed = json!({"transform": ["Malformed transform json - Syntax error"]});
    let not_valid = json!({"trim": ["This value is not valid."]});
    for (text, expected) in [
        ("{", malformed.clone()),
        ("[]", malformed.clone()),
        ("null", malformed.clone()),
        (&"[".repeat(100_000), malformed),
        (r#"{"rotate":1}"#, json!({"transform": ["Transformation type rotate is not supported"]})),
        (r#"{"trim":5}"#, not_valid.clone()),
        (r#"{"trim":{"top":-1}}"#, not_valid),
        (
            r#"{"rotate":1,"trim":{"width":0},"flip":2}"#,
            json!({
                "transform": [
                    "Transformation type rotate is not supported",
                    "Transformation type flip is not supported",
                ],
                "trim": ["This value is not valid."],
            }),
        ),
    ] {
        assert_eq!(json!(from_query(text).unwrap_err()), expected, "{text:.40}");
    }
}

#[test]
fn variant_is_found_by_name() {
    let variants = json!([
        {"name": "wide", "trim": {"top": 1, "left": 2}},
        {"name": "square", "trim": {"top": 3, "left": 4}},
        {"name": "broken", "trim": {"top": -3}},
    ]);
    let square = Trim { top: 3, left: Some(4), ..Trim::default() };
    assert_eq!(variant(&variants, "square").unwrap(), square);
    assert!(matches!(variant(&variants, "broken"), Err(Error::Invalid(_))));
    for (variants, name) in [(&variants, "Square"), (&json!(null), "wide"), (&json!([]), "")] {
        assert!(matches!(variant(variants, name), Err(Error::NotFound { .. })), "{name}");
    }
}

fn any_size(min: u32) -> impl Strategy<Value = Size> {
    let edge = move || prop_oneof![min..=8, min..=1000, min..=50_000];
    (edge(), edge()).prop_map(size)
}

fn any_trim() -> impl Strategy<Value = Trim> {
    let edge = |min: u32| prop_oneof![min..=8, min..=1000, min..=9_999_999];
    let maybe = |min| prop::option::of(edge(min));
    (edge(0), maybe(0), edge(0), maybe(0), maybe(1), maybe(1)).prop_map(
        |(top, right, bottom, left, width, height)| Trim {
            top,
            right,
            bottom,
            left,
            width,
            height,
        },
    )
}

fn any_point() -> impl Strategy<Value = FocalPoint> {
    (0.0..=1.0, 0.0..=1.0).prop_map(|(x, y)| FocalPoint { x, y })
}

proptest! {
    #[test]
    fn crop_is_inside_and_never_enlarged(
        source in any_size(1), trim in prop::option::of(any_trim()), requested in any_size(0),
        point in prop::option::of(any_point()),
    ) {
        let plan = resize_plan(source, trim.as_ref(), requested, point);
        let Ok(Some(ResizePlan { crop, output })) = plan else {
            return Ok(());
        };
        prop_assert!(crop.x + crop.width <= source.width && crop.y + crop.height <= source.height);
        prop_assert!(output.width >= 1 && output.height >= 1);
        prop_assert!(output.width <= crop.width && output.height <= crop.height);
        prop_assert!(requested.width == 0 || output.width <= requested.width);
        prop_assert!(requested.height == 0 || output.height <= requested.height);
    }

    /// The documented formula, in floating point.
    #[test]
    fn scale_is_the_same_in_both_directions(source in any_size(1), requested in any_size(0)) {
        let [w, h, asked_w, asked_h] =
            [source.width, source.height, requested.width, requested.height].map(f64::from);
        let scale = match (requested.width, requested.height) {
            (0, 0) => 1.0,
            (_, 0) => asked_w / w,
            (0, _) => asked_h / h,
            _ => f64::max(asked_w / w, asked_h / h),
        }
        .min(1.0);
        let (crop, output) = planned((source.width, source.height), None, (requested.width, requested.height));
        for (kept, output) in [(crop.width, output.width), (crop.height, output.height)] {
            prop_assert!((f64::from(kept) * scale - f64::from(output)).abs() <= 1.0 + 1e-9);
        }
        if requested.width > 0 && requested.height > 0 {
            let expected = [asked_w.min(w * scale), asked_h.min(h * scale)];
            for (found, expected) in [output.width, output.height].into_iter().zip(expected) {
                prop_assert!((f64::from(found) - expected).abs() <= 0.5 + 1e-6);
            }
        }
    }

    /// The crop of the scaled source begins as documented; whole pixels of the source are cropped.
    #[test]
    fn crop_begins_at_the_documented_pixel(
        source in any_size(1), requested in any_size(1), point in any_point(),
    ) {
        let (w, h) = (source.width, source.height);
        let (crop, output) =
            planned_around(Some(point), (w, h), None, (requested.width, requested.height));
        let scaled = scale(source, requested);
        for (begin, length, scaled, output, point) in [
            (crop.x, w, scaled.width, output.width, point.x),
            (crop.y, h, scaled.height, output.height, point.y),
        ] {
            let [begin, length, scaled, output] = [begin, length, scaled, output].map(f64::from);
            let expected = (point * scaled - output / 2.0).floor().clamp(0.0, scaled - output);
            prop_assert!((begin - expected * length / scaled).abs() <= 1.0);
        }
    }

    #[test]
    fn excess_is_cropped_equally_on_both_sides(source in any_size(1), requested in any_size(0)) {
        let (crop, _) = planned((source.width, source.height), None, (requested.width, requested.height));
        let right = source.width - crop.x - crop.width;
        let below = source.height - crop.y - crop.height;
        prop_assert!(right - crop.x <= 1 && below - crop.y <= 1);
    }

    /// Checks single pixels instead of computing edges.
    #[test]
    fn trim_keeps_the_pixels_between_its_edges(
        source in any_size(1), trim in any_trim(), at in (0..60_000_u32, 0..60_000_u32),
    ) {
        let kept = trim.rectangle(source);
        let (x, y) = (i64::from(at.0), i64::from(at.1));
        let (w, h) = (i64::from(source.width), i64::from(source.height));
        let edge = |edge: Option<u32>| edge.map(i64::from);
        let across = match (edge(trim.left), edge(trim.right), edge(trim.width)) {
            (None, Some(right), Some(width)) => w - x > right && w - x <= right + width,
            (left, _, Some(width)) => (0..width).contains(&(x - left.unwrap_or(0))),
            (left, right, None) => x >= left.unwrap_or(0) && w - x > right.unwrap_or(0),
        };
        let down = y >= i64::from(trim.top) && match edge(trim.height) {
            Some(height) => y < i64::from(trim.top) + height,
            None => h - y > i64::from(trim.bottom),
        };
        let inside = kept.is_some_and(|kept| {
            (kept.x..kept.x + kept.width).contains(&at.0)
                && (kept.y..kept.y + kept.height).contains(&at.1)
        });
        prop_assert_eq!(inside, across && down && x < w && y < h);
    }

    #[test]
    fn parser_and_plan_never_panic(
        source in any::<(u32, u32)>(), requested in any::<(u32, u32)>(), trim in any_trim(),
        point in any_point(), text in "\\PC*|[0-9.,]{0,20}",
    ) {
        drop(resize_plan(size(source), Some(&trim), size(requested), Some(point)));
        drop(resize_plan(size(source), None, size(requested), None));
        drop(from_query(&text));
        let _ = Trim::from_path(&text);
    }
}
