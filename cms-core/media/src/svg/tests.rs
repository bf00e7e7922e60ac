use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;

fn found(text: &str) -> Option<(u32, u32)> {
    dimensions(text.as_bytes()).map(|size| (size.width, size.height))
}

#[test]
fn sizes_come_from_attributes_or_the_view_box() {
    for (attributes, expected) in [
        (r#"width="120" height="60""#, Some((120, 60))),
        ("width='120px' height=' 60 px '", Some((120, 60))),
        (r#"width="120.4" height="59.5""#, Some((120, 60))),
        (r#"width="1e2" height="+5.""#, Some((100, 5))),
        (r#"width="0.1" height="0.6""#, Some((1, 1))),
        (r#"width="1in" height="72pt""#, Some((96, 96))),
        (r#"width="2.54cm" height="25.4mm""#, Some((96, 96))),
        (r#"width="6PC" height="101.6Q""#, Some((96, 96))),
        (r#"viewBox="0 0 24 12""#, Some((24, 12))),
        (r#"viewBox=" -5,-5 , 24.6,12 ""#, Some((25, 12))),
        (r#"width="100%" height="100%" viewBox="0 0 24 12""#, Some((24, 12))),
        (r#"width="5em" height="10" viewBox="0 0 24 12""#, Some((20, 10))),
        (r#"width="48" viewBox="0 0 24 12""#, Some((48, 24))),
        (r#"width="48" height="2" viewBox="0 0 24 12""#, Some((48, 2))),
        (r#"width="0" height="0" viewBox="0 0 24 12""#, Some((24, 12))),
        (r#"width="48""#, None),
        (r#"width="-5" height="5""#, None),
        (r#"width="inf" height="nan""#, None),
        (r#"width="1e30" height="5""#, None),
        (r#"width="&w;" height="5""#, None),
        (r#"viewBox="0 0 24""#, None),
        (r#"viewBox="0 0 24 12 5""#, None),
        (r#"viewBox="0 0 24 0""#, None),
        ("", None),
    ] {
        assert_eq!(found(&format!("<svg {attributes}/>")), expected, "{attributes}");
    }
}

#[test]
fn svg_is_detected_by_its_root_element() {
    for text in [
        "<svg/>",
        "<svg xmlns=\"http://www.w3.org/2000/svg\"></svg>",
        "\u{feff} \n<?xml version=\"1.0\"?>\n<!-- a > b --><svg>",
        "<?xml version=\"1.0\" standalone=\"no\"?><!DOCTYPE svg PUBLIC \"-//W3C//DTD SVG 1.1//EN\" \
         \"http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd\" [<!ENTITY ns \"a>b\">]>\
         <svg xmlns=\"&ns;\">",
        "<s:svg xmlns:s=\"http://www.w3.org/2000/svg\" width=\"1\" height=\"1\"/>",
        "<svg><broken",
    ] {
        assert!(is_svg(text.as_bytes()), "{text}");
    }
    for text in [
        "",
        "svg",
        "see <svg>",
        "<html><svg/></html>",
        "<svgs/>",
        "<SVG/>",
        "<svg",
        "<!-- <svg/> -->",
        "<![CDATA[ ]]><svg/>",
        "</svg>",
    ] {
        assert!(!is_svg(text.as_bytes()), "{text}");
    }
    let latin = b"<!-- \xe9 --><svg width='3' height='4'/>";
    assert_eq!(dimensions(latin), Some(Size { width: 3, height: 4 }));
}

#[test]
fn hostile_files_are_parsed_in_linear_time() {
    const LENGTH: usize = 10 * 1024 * 1024;
    let filled = |head: &str, piece: &str, tail: &str| {
        format!("{head}{}{tail}", piece.repeat(LENGTH / piece.len()))
    };
    let entities: Vec<String> = (1..30)
        .map(|level| format!("<!ENTITY e{level} '{}'>", format!("&e{};", level - 1).repeat(10)))
        .collect();
    let entities = entities.concat();
    let size = "width='1' height='2'/>";
    for (name, text, expected) in [
        ("deep", filled("<svg width='1' height='2'>", "<g>", ""), true),
        ("groups", filled("", "<g>", ""), false),
        ("entities", format!("<!DOCTYPE svg [{entities}]><svg a='&e29;' {size}"), true),
        ("attributes", filled("<svg ", "a='' ", size), true),
        ("names", filled("<svg ", "a", &format!("='' {size}")), true),
        ("comment", filled("<!--", "-->\n<!--", &format!("--><svg {size}")), true),
        ("type", filled("<!DOCTYPE svg [", "<!ENTITY a '>'>", &format!("]><svg {size}")), true),
        ("open type", filled("<!DOCTYPE svg [", "<!", ""), false),
        ("open quotes", filled("<svg a=\"", "<", ""), false),
        ("brackets", filled("", "<", ""), false),
        ("instructions", filled("", "<?a?>", &format!("<svg {size}")), true),
        ("ampersands", filled("", "&", ""), false),
        ("blanks", filled("", "\n", &format!("<svg {size}")), true),
        ("long size", filled("<svg width='", "1", &format!("' {size}")), false),
    ] {
        let start = Instant::now();
        let found = dimensions(text.as_bytes());
        // Much longer than a linear parse, and much shorter than a quadratic one.
        assert!(start.elapsed() < Duration::from_secs(5), "{name}: {:?}", start.elapsed());
        assert_eq!(found.is_some(), expected, "{name}");
    }
}

proptest! {
    #[test]
    fn any_text_never_panics(
        text in "\\PC*|(<svg|<!DOCTYPE|<!--|-->|\\[|\\]|>|<|=|\"|'|width|viewBox|&|[0-9. ]|\\?){0,20}",
        bytes in prop::collection::vec(any::<u8>(), 0..60),
    ) {
        let _ = dimensions(text.as_bytes());
        let _ = dimensions(&bytes);
        let _ = dimensions(&[b"<svg ".as_slice(), &bytes].concat());
    }

    #[test]
    fn integer_sizes_are_returned_unchanged(width in 1..100_000_u32, height in 1..100_000_u32) {
        let expected = Some((width, height));
        prop_assert_eq!(found(&format!("<svg width='{width}' height='{height}px'>")), expected);
        prop_assert_eq!(found(&format!("<svg viewBox='0 0 {width} {height}'>")), expected);
    }
}
