//! Properties of the root element of an SVG.
//!
//! Only the text up to the end of its start tag is read. No tree is built and no entity is resolved,
//! so that hostile documents cost little.

use cms_model::media::transform::Size;
use quick_xml::{
    Reader,
    events::{BytesStart, Event},
};

/// Maximum length of a parsed attribute, in bytes; a size or a view box needs a few dozen.
const MAX_ATTRIBUTE_BYTES: usize = 200;

/// Absolute units of length, in pixels (CSS, 96 to the inch). Others depend on the context of the
/// image.
const UNITS: [(&str, f64); 7] = [
    ("px", 1.0),
    ("pt", 96.0 / 72.0),
    ("pc", 16.0),
    ("mm", 96.0 / 25.4),
    ("cm", 96.0 / 2.54),
    ("in", 96.0),
    ("q", 96.0 / 101.6),
];

/// Returns whether a text is an XML document with the root element `svg`.
pub fn is_svg(content: &[u8]) -> bool {
    root(&String::from_utf8_lossy(content)).is_some()
}

/// Returns width and height from the attributes; missing ones come from `viewBox`.
pub fn dimensions(content: &[u8]) -> Option<Size> {
    let text = String::from_utf8_lossy(content);
    let root = root(&text)?;
    let width = attribute(&root, "width").as_deref().and_then(length);
    let height = attribute(&root, "height").as_deref().and_then(length);
    let view_box = attribute(&root, "viewBox").as_deref().and_then(view_box);
    let (width, height) = match (width, height, view_box) {
        (Some(width), Some(height), _) => (width, height),
        (Some(width), None, Some((across, down))) => (width, width * down / across),
        (None, Some(height), Some((across, down))) => (height * across / down, height),
        (None, None, Some(both)) => both,
        _ => return None,
    };
    Some(Size { width: pixels(width)?, height: pixels(height)? })
}

/// The start tag of the root element, if it is `svg`.
fn root(text: &str) -> Option<BytesStart<'_>> {
    let mut reader = Reader::from_str(text);
    loop {
        match reader.read_event().ok()? {
            Event::Start(tag) | Event::Empty(tag) => {
                return (tag.local_name().as_ref() == "svg").then_some(tag);
            }
            Event::Decl(_) | Event::PI(_) | Event::Comment(_) | Event::DocType(_) => {}
            Event::Text(text) if text.trim_start_matches('\u{feff}').trim().is_empty() => {}
            _ => return None,
        }
    }
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let attribute = tag.try_get_attribute(name).ok()??;
    (attribute.value.len() <= MAX_ATTRIBUTE_BYTES)
        .then(|| attribute.value.trim().to_ascii_lowercase())
}

/// An absolute length, in pixels.
fn length(text: &str) -> Option<f64> {
    let with_unit =
        UNITS.iter().find_map(|(unit, pixels)| Some((text.strip_suffix(unit)?.trim_end(), pixels)));
    let (number, pixels) = with_unit.unwrap_or((text, &1.0));
    positive(number).map(|number| number * pixels)
}

/// Width and height of a view box, `min-x min-y width height`.
fn view_box(text: &str) -> Option<(f64, f64)> {
    let separators = |c: char| c.is_ascii_whitespace() || c == ',';
    let mut numbers = text.split(separators).filter(|number| !number.is_empty());
    let size = (positive(numbers.nth(2)?)?, positive(numbers.next()?)?);
    numbers.next().is_none().then_some(size)
}

fn positive(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite() && *number > 0.0)
}

/// Whole pixels, at least one; none on overflow.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the range")]
fn pixels(length: f64) -> Option<u32> {
    let rounded = length.round().max(1.0);
    (rounded <= f64::from(u32::MAX)).then_some(rounded as u32)
}

#[cfg(test)]
mod tests;
