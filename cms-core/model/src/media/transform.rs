//! Trim and resize (see docs/reference/media.md#resize and docs/reference/media.md#trim).
//!
//! Only arithmetic: [`resize_plan`] computes pixel coordinates, the image pipeline applies them.

use serde_json::{Map, Value};

use super::focal_point::FocalPoint;
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

/// A rectangle of an image, in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rectangle {
    pub x: u32,
    pub y: u32,
    pub width: u32,
    pub height: u32,
}

/// Crops an image to `crop` and resamples the result to `output`, in one step.
///
/// If both have the same size, the pixels are copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ResizePlan {
    pub crop: Rectangle,
    pub output: Size,
}

/// A transformation before the resize.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transform {
    /// The stored trim of this name: see [`variant`].
    Variant(String),
    Trim(Trim),
}

/// The trim of a request or variant, relative to an image of unknown size.
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

/// Computes the plan for an image of size `source`; 0 in `requested` stands for automatic.
///
/// A crop keeps the focal point, by default the centre. The plan is none if the result is the source
/// itself: then its bytes can be sent unchanged. A trim that leaves no pixels is an error.
pub fn resize_plan(
    source: Size,
    trim: Option<&Trim>,
    requested: Size,
    focal_point: Option<FocalPoint>,
) -> Result<Option<ResizePlan>> {
    let full = Rectangle { x: 0, y: 0, width: source.width, height: source.height };
    let trimmed = match trim {
        Some(trim) => trim.rectangle(source).ok_or_else(|| Error::Invalid(not_valid()))?,
        None => full,
    };
    let scaled = scale(Size { width: trimmed.width, height: trimmed.height }, requested);
    let shown =
        |requested: u32, scaled: u32| if requested == 0 { scaled } else { requested.min(scaled) };
    let output = Size {
        width: shown(requested.width, scaled.width),
        height: shown(requested.height, scaled.height),
    };
    let (x, y) = focal_point.map(|point| point.within(source, trimmed)).map(|p| (p.x, p.y)).unzip();
    let (x, width) = cropped((trimmed.x, trimmed.width), scaled.width, output.width, x);
    let (y, height) = cropped((trimmed.y, trimmed.height), scaled.height, output.height, y);
    let plan = ResizePlan { crop: Rectangle { x, y, width, height }, output };
    Ok((plan != ResizePlan { crop: full, output: source }).then_some(plan))
}

/// The size of the scaled image before its excess is cropped; never larger than the image.
///
/// | Requested | Scale |
/// |---|---|
/// | neither side | 1 |
/// | one side | of that side |
/// | both sides | the larger one, so that the image covers both sides |
fn scale(size: Size, requested: Size) -> Size {
    let Size { width, height } = size;
    let to_width =
        Size { width: requested.width, height: proportion(height, requested.width, width) };
    let to_height =
        Size { width: proportion(width, requested.height, height), height: requested.height };
    match (requested.width, requested.height) {
        (1.., 0) if requested.width < width => to_width,
        (0, 1..) if requested.height < height => to_height,
        (1.., 1..) if requested.width < width && requested.height < height => {
            let fills = u64::from(requested.width) * u64::from(height);
            if fills >= u64::from(requested.height) * u64::from(width) {
                to_width
            } else {
                to_height
            }
        }
        _ => size,
    }
}

/// Returns the visible part of one side of the source, as start and length. The side is scaled to
/// `scaled` pixels, then cropped to `output` pixels around `point`, a fraction of the side. Without a
/// point, it is cropped around its centre.
fn cropped(
    (start, length): (u32, u32),
    scaled: u32,
    output: u32,
    point: Option<f64>,
) -> (u32, u32) {
    if output == scaled {
        return (start, length);
    }
    let kept = proportion(length, output, scaled);
    let left = match point {
        None => (length - kept) / 2,
        Some(point) => {
            let first = first_pixel(point, scaled, output);
            rounded(length, first, scaled).min(length - kept)
        }
    };
    (start + left, kept)
}

/// The first of `output` adjacent pixels out of `scaled`, with `point` in their centre unless an edge
/// is too near.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the range")]
fn first_pixel(point: f64, scaled: u32, output: u32) -> u32 {
    let first = (point * f64::from(scaled) - f64::from(output) / 2.0).floor();
    first.clamp(0.0, f64::from(scaled - output)) as u32
}

/// `length * part / total`, rounded, at least 1. `part` is at most `total`.
fn proportion(length: u32, part: u32, total: u32) -> u32 {
    rounded(length, part, total).max(1)
}

/// `length * part / total`, rounded. `part` is at most `total`.
fn rounded(length: u32, part: u32, total: u32) -> u32 {
    let (length, part, total) = (u128::from(length), u128::from(part), u128::from(total));
    let rounded = (2 * length * part + total).checked_div(2 * total).unwrap_or(0);
    u32::try_from(rounded).unwrap_or(u32::MAX)
}

impl Trim {
    /// Parses `{"top":..,"left":..,..}`; all keys are optional, others are ignored.
    pub fn from_json(value: &Value) -> Option<Self> {
        let fields = value.as_object()?;
        let edge = |name, minimum| match fields.get(name) {
            Some(value) => edge(value.as_f64()?, minimum).map(Some),
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

    /// Parses `{top},{right},{width},{height}` of a path.
    pub fn from_path(text: &str) -> Option<Self> {
        let mut numbers = text.split(',');
        let mut next = |minimum| {
            let digits = numbers.next()?;
            // Rust also parses `1e3` and `inf`.
            let is_decimal = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
            edge(digits.parse().ok().filter(|_| is_decimal)?, minimum)
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

    /// The remaining rectangle of an image; none when nothing remains.
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
        let (x, width) = intersection(horizontal, across)?;
        let (y, height) = intersection(vertical, down)?;
        Some(Rectangle { x, y, width, height })
    }
}

/// A number of a trim: rounded down, from `minimum` to the limit.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within the range")]
fn edge(number: f64, minimum: u32) -> Option<u32> {
    let floor = number.floor();
    let is_valid = floor >= f64::from(minimum) && floor <= f64::from(limits::MAX_TRIM_PIXELS);
    is_valid.then_some(floor as u32)
}

/// The intersection of a range with `0..length`, as start and length.
fn intersection((from, to): (i64, i64), length: i64) -> Option<(u32, u32)> {
    let (from, to) = (from.clamp(0, length), to.clamp(0, length));
    let kept = u32::try_from(to - from).ok().filter(|&kept| kept > 0)?;
    Some((u32::try_from(from).ok()?, kept))
}

/// Parses the query parameter `transform`, `{"trim":{..}}`; empty text and `{}` are no
/// transformation.
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

/// Finds a variant by name in the property `variants` of an object.
pub fn variant(variants: &Value, name: &str) -> Result<Trim> {
    let mut known = variants.as_array().into_iter().flatten();
    let variant = known.find(|variant| variant["name"] == name);
    let variant = variant.ok_or_else(|| Error::not_found("variant", name))?;
    match variant.get("trim") {
        None | Some(Value::Null) => Ok(Trim::default()),
        Some(trim) => Trim::from_json(trim).ok_or_else(|| Error::Invalid(not_valid())),
    }
}

/// The error of a trim with invalid numbers, or of one that leaves no pixels.
pub fn not_valid() -> FieldErrors {
    FieldErrors::one("trim", message::NOT_VALID)
}

#[cfg(test)]
mod tests;
