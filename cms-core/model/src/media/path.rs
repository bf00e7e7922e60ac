//! Paths of image URLs (see docs/reference/media.md#image-urls).
//!
//! | Path after `/image/` | |
//! |---|---|
//! | `{W}x{H}/{id}.{ext}` | in that size |
//! | `{W}x{H}/{id}/{fileName}.{ext}` | the same, with any file name |
//! | `{id}.{ext}` | as `0x0` |
//! | either sized form, then `/variant/{name}` | a stored variant |
//! | either sized form, then `/transform/trim/{top},{right},{width},{height}` | a trim |
//!
//! Parsing has two steps, because an unknown image is reported before invalid numbers (see
//! docs/reference/http.md#order-of-checks): [`ImagePath::parse`] finds the image,
//! [`ImagePath::requested_image`] validates the numbers.

use super::transform::{self, Size, Transform, Trim};
use crate::{error::FieldErrors, limits, message};

/// A path of a known form; its numbers are not validated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImagePath<'p> {
    pub id: &'p str,
    /// The text after the last dot, as sent.
    pub extension: &'p str,
    requested_size: Size,
    transform: Option<PathTransform<'p>>,
}

/// The transformation at the end of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PathTransform<'p> {
    Variant(&'p str),
    Trim(&'p str),
}

/// The size and the transformation that a request contains.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestedImage {
    /// 0 stands for automatic.
    pub size: Size,
    pub transform: Option<Transform>,
}

impl<'p> ImagePath<'p> {
    /// Parses the decoded segments of the path after `/image/`; none for an unknown form.
    pub fn parse(segments: &[&'p str]) -> Option<Self> {
        if let [file] = segments {
            return Self::new(split_extension(file)?, Size::default(), None);
        }
        let (size, rest) = segments.split_first()?;
        let requested_size = parse_size(size)?;
        let (file, transform) = match rest {
            [file @ .., "variant", name] if !file.is_empty() => {
                (file, Some(PathTransform::Variant(name)))
            }
            [file @ .., "transform", "trim", edges] => (file, Some(PathTransform::Trim(edges))),
            file => (file, None),
        };
        match file {
            [file] => Self::new(split_extension(file)?, requested_size, transform),
            [id, name] => Self::new((id, split_extension(name)?.1), requested_size, transform),
            _ => None,
        }
    }

    fn new(
        (id, extension): (&'p str, &'p str),
        requested_size: Size,
        transform: Option<PathTransform<'p>>,
    ) -> Option<Self> {
        (!id.is_empty()).then_some(Self { id, extension, requested_size, transform })
    }

    /// Whether the path has this extension, ignoring case.
    pub fn has_extension(&self, stored: &str) -> bool {
        self.extension.to_lowercase() == stored.to_lowercase()
    }

    /// Validates the size and the transformation, of the path or of the query parameter
    /// `transform`.
    pub fn requested_image(&self, query: Option<&str>) -> Result<RequestedImage, FieldErrors> {
        let mut errors = FieldErrors::default();
        if self.requested_size.width.max(self.requested_size.height) > limits::MAX_IMAGE_EDGE_PIXELS
        {
            errors.add("size", message::NOT_VALID);
        }
        let transform = match self.transform {
            Some(PathTransform::Variant(name)) => Ok(Some(Transform::Variant(name.to_owned()))),
            Some(PathTransform::Trim(edges)) => Trim::from_path(edges)
                .map(|trim| Some(Transform::Trim(trim)))
                .ok_or_else(transform::not_valid),
            None => transform::from_query(query.unwrap_or_default())
                .map(|trim| trim.map(Transform::Trim)),
        };
        let transform = transform.unwrap_or_else(|invalid| {
            errors.merge(invalid);
            None
        });
        if errors.is_empty() {
            Ok(RequestedImage { size: self.requested_size, transform })
        } else {
            Err(errors)
        }
    }
}

/// Splits at the last dot; none without an extension.
fn split_extension(file: &str) -> Option<(&str, &str)> {
    file.rsplit_once('.').filter(|(_, extension)| !extension.is_empty())
}

/// Parses `{W}x{H}`. Numbers of any length are accepted; too large ones become `u32::MAX`.
fn parse_size(text: &str) -> Option<Size> {
    let (width, height) = text.split_once('x')?;
    let edge = |digits: &str| {
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| digits.parse().unwrap_or(u32::MAX))
    };
    Some(Size { width: edge(width)?, height: edge(height)? })
}

#[cfg(test)]
mod tests;
