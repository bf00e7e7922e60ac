//! Trim and resize (contract 7.4, 7.5): which part of a picture is shown, and how large.
//!
//! Only arithmetic: [`plan`] says what to do in whole pixels, and whoever has the pixels does it.

use serde_json::{Map, Value};

use crate::{
    error::{Error, FieldErrors, Result},
    limits, message,
};

/// Width and height in pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Size {
    pub width: u32,
    pub height: u32,
}

/// A part of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rectangle {
    pub x: u32,
    pub y: u32,
    pub width: u32,
    pub height: u32,
}

/// What to do with a picture: take `crop` of it and resample that to `output`, in one step.
///
/// When both have the same size, the pixels are copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Plan {
    pub crop: Rectangle,
    pub output: Size,
}

/// What a request wants done before the resize.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transform {
    /// The trim that the object has stored under this name: [`variant`].
    Variant(String),
    Trim(Trim),
}

/// A rectangle as requests and variants give it, before the size of the picture is known.
///
/// | Given | Left edge | Right edge |
/// |---|---|---|
/// | `width` and `left` | `left` | `left + width` |
/// | `width` and `right`, no `left` | `w - right - width` | `w - right` |
/// | `width` alone | 0 | `width` |
/// | no `width` | `left` or 0 | `w - right`, or the edge |
///
/// Upper and lower edge: `top` and `top + height`; without `height`, `h - bottom` or the edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Trim {
    pub top: u32,
    pub right: Option<u32>,
    pub bottom: u32,
    pub left: Option<u32>,
    pub width: Option<u32>,
    pub height: Option<u32>,
}

/// Says how `source` becomes the picture that is asked for, where 0 means automatic.
///
/// None when that is `source` itself: its bytes can be sent as they are. A trim that leaves nothing
/// is an error.
pub fn plan(source: Size, trim: Option<&Trim>, asked: Size) -> Result<Option<Plan>> {
    let whole = Rectangle { x: 0, y: 0, width: source.width, height: source.height };
    let part = match trim {
        Some(trim) => trim.rectangle(source).ok_or_else(|| Error::Invalid(not_valid()))?,
        None => whole,
    };
    let scaled = scale(Size { width: part.width, height: part.height }, asked);
    let shown = |asked: u32, scaled: u32| if asked == 0 { scaled } else { asked.min(scaled) };
    let output = Size {
        width: shown(asked.width, scaled.width),
        height: shown(asked.height, scaled.height),
    };
    let (x, width) = centre(part.x, part.width, scaled.width, output.width);
    let (y, height) = centre(part.y, part.height, scaled.height, output.height);
    let plan = Plan { crop: Rectangle { x, y, width, height }, output };
    Ok((plan != Plan { crop: whole, output: source }).then_some(plan))
}

/// The size that a picture is scaled to, before what is too much is cut off; never larger.
///
/// | Asked | Scale |
/// |---|---|
/// | nothing | 1 |
/// | one side | of that side |
/// | both | the larger one, so that both sides are filled |
fn scale(size: Size, asked: Size) -> Size {
    let Size { width, height } = size;
    let to_width = Size { width: asked.width, height: proportion(height, asked.width, width) };
    let to_height = Size { width: proportion(width, asked.height, height), height: asked.height };
    match (asked.width, asked.height) {
        (1.., 0) if asked.width < width => to_width,
        (0, 1..) if asked.height < height => to_height,
        (1.., 1..) if asked.width < width && asked.height < height => {
            let fills = u64::from(asked.width) * u64::from(height);
            if fills >= u64::from(asked.height) * u64::from(width) { to_width } else { to_height }
        }
        _ => size,
    }
}

/// The pixels of the source, start and length, that are the middle `output` of `scaled` ones.
fn centre(start: u32, length: u32, scaled: u32, output: u32) -> (u32, u32) {
    let kept = if output == scaled { length } else { proportion(length, output, scaled) };
    (start + (length - kept) / 2, kept)
}

/// `length * part / whole`, rounded, at least 1. `part` is at most `whole`.
fn proportion(length: u32, part: u32, whole: u32) -> u32 {
    let (length, part, whole) = (u128::from(length), u128::from(part), u128::from(whole));
    let rounded = (2 * length * part + whole).checked_div(2 * whole).unwrap_or(0);
    u32::try_from(rounded.max(1)).unwrap_or(u32::MAX)
}

impl Trim {
    /// Reads `{"top":..,"left":..,..}`; other keys are ignored, everything may be absent.
    pub fn from_json(value: &Value) -> Option<Self> {
        let fields = value.as_object()?;
        let edge = |name, least| match fields.get(name) {
            Some(value) => edge(value.as_f64()?, least).map(Some),
            None => Some(None),
        };
        Some(Self {
            top: edge("top", 0)?.unwrap_or(0),
            right: edge("right", 0)?,
            bottom: edge("bottom", 0)?.unwrap_or(0),
            left: edge("left", 0)?,
            width: edge("width", 1)?,
            height: edge("height", 1)?,
        })
    }

    /// Reads `{top},{right},{width},{height}` of a path.
    pub fn from_path(text: &str) -> Option<Self> {
        let mut numbers = text.split(',');
        let mut next = |least| {
            let digits = numbers.next()?;
            // What Rust reads as a number is more than digits and a point: `1e3`, `inf`.
            let is_decimal = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
            edge(digits.parse().ok().filter(|_| is_decimal)?, least)
        };
        let trim = Self {
            top: next(0)?,
            right: Some(next(0)?),
            width: Some(next(1)?),
            height: Some(next(1)?),
            ..Self::default()
        };
        numbers.next().is_none().then_some(trim)
    }

    /// The part of a picture that is left, if anything is.
    fn rectangle(&self, source: Size) -> Option<Rectangle> {
        let (across, down) = (i64::from(source.width), i64::from(source.height));
        let [top, bottom] = [self.top, self.bottom].map(i64::from);
        let [left, right, width, height] =
            [self.left, self.right, self.width, self.height].map(|edge| edge.map(i64::from));

        let horizontal = match (left, right, width) {
            (None, Some(right), Some(width)) => (across - right - width, across - right),
            (left, _, Some(width)) => (left.unwrap_or(0), left.unwrap_or(0) + width),
            (left, right, None) => (left.unwrap_or(0), across - right.unwrap_or(0)),
        };
        let vertical = (top, height.map_or(down - bottom, |height| top + height));
        let (x, width) = within(horizontal, across)?;
        let (y, height) = within(vertical, down)?;
        Some(Rectangle { x, y, width, height })
    }
}

/// A number of a trim: rounded down, from `least` to the largest that variants may hold.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the range")]
fn edge(number: f64, least: u32) -> Option<u32> {
    let floor = number.floor();
    let is_valid = floor >= f64::from(least) && floor <= f64::from(limits::MAX_TRIM_PIXELS);
    is_valid.then_some(floor as u32)
}

/// What a stretch has in common with `0..length`, as start and length.
fn within((from, to): (i64, i64), length: i64) -> Option<(u32, u32)> {
    let (from, to) = (from.clamp(0, length), to.clamp(0, length));
    let kept = u32::try_from(to - from).ok().filter(|&kept| kept > 0)?;
    Some((u32::try_from(from).ok()?, kept))
}

/// Reads the query parameter `transform`, `{"trim":{..}}`; blank text and `{}` are no transformation.
pub fn from_query(text: &str) -> std::result::Result<Option<Trim>, FieldErrors> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let Ok(types) = serde_json::from_str::<Map<String, Value>>(text) else {
        return Err(FieldErrors::one("transform", "Malformed transform json - Syntax error"));
    };
    let mut trim = None;
    let mut errors = FieldErrors::default();
    for (name, value) in types {
        if name != "trim" {
            let message = format!("Transformation type {name} is not supported");
            errors.add("transform", message);
            continue;
        }
        trim = Trim::from_json(&value);
        if trim.is_none() {
            errors.merge(not_valid());
        }
    }
    if errors.is_empty() { Ok(trim) } else { Err(errors) }
}

/// Finds a stored variant by its name in the property `variants` of an object.
pub fn variant(variants: &Value, name: &str) -> Result<Trim> {
    let known = variants.as_array().map(Vec::as_slice).unwrap_or_default();
    let variant = known
        .iter()
        .find(|variant| variant["name"] == name)
        .ok_or_else(|| Error::NotFound { what: "variant", name: name.to_owned() })?;
    Trim::from_json(&variant["trim"]).ok_or_else(|| Error::Invalid(not_valid()))
}

/// The fault of a trim with bad numbers, or of one that leaves nothing.
pub fn not_valid() -> FieldErrors {
    FieldErrors::one("trim", message::NOT_VALID)
}

#[cfg(test)]
mod tests;
