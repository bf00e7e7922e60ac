//! Addresses of pictures (contract 7.3).
//!
//! | Path after `/image/` | |
//! |---|---|
//! | `{W}x{H}/{id}.{ext}` | by key |
//! | `{W}x{H}/{id}/{fileName}.{ext}` | with any file name |
//! | `{id}.{ext}` | as `0x0` |
//! | either sized form, then `/variant/{name}` | a stored variant |
//! | either sized form, then `/transform/trim/{top},{right},{width},{height}` | a trim |
//!
//! Reading goes in two steps, because an unknown picture is reported before anything that is wrong
//! with what is asked of it (contract 1.4): [`ImagePath::parse`] finds the picture, and
//! [`ImagePath::wanted`] judges numbers.

use super::transform::{self, Size, Transform, Trim};
use crate::{error::FieldErrors, limits, message};

/// A path that has one of the forms; its numbers are not checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImagePath<'p> {
    pub id: &'p str,
    /// What follows the last dot, as it was sent.
    pub extension: &'p str,
    asked: Size,
    transform: Option<Part<'p>>,
}

/// What a path has behind the name of the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part<'p> {
    Variant(&'p str),
    Trim(&'p str),
}

/// What a request wants of a picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// 0 means automatic.
    pub size: Size,
    pub transform: Option<Transform>,
}

impl<'p> ImagePath<'p> {
    /// Reads the decoded segments of the path after `/image/`; none when it has no known form.
    pub fn parse(segments: &[&'p str]) -> Option<Self> {
        if let [file] = segments {
            return Self::new(split_extension(file)?, Size::default(), None);
        }
        let (size, rest) = segments.split_first()?;
        let asked = parse_size(size)?;
        let (file, transform) = match rest {
            [file @ .., "variant", name] if !file.is_empty() => (file, Some(Part::Variant(name))),
            [file @ .., "transform", "trim", edges] => (file, Some(Part::Trim(edges))),
            file => (file, None),
        };
        match file {
            [file] => Self::new(split_extension(file)?, asked, transform),
            [id, name] => Self::new((id, split_extension(name)?.1), asked, transform),
            _ => None,
        }
    }

    fn new(
        (id, extension): (&'p str, &'p str),
        asked: Size,
        transform: Option<Part<'p>>,
    ) -> Option<Self> {
        (!id.is_empty()).then_some(Self { id, extension, asked, transform })
    }

    /// Tells whether the path names a file of this extension, whatever the case of its letters.
    pub fn has_extension(&self, stored: &str) -> bool {
        self.extension.to_lowercase() == stored.to_lowercase()
    }

    /// Reads what is asked for, in the path or else in the query parameter `transform`.
    pub fn wanted(&self, query: Option<&str>) -> Result<Wanted, FieldErrors> {
        let mut errors = FieldErrors::default();
        if self.asked.width.max(self.asked.height) > limits::MAX_IMAGE_EDGE_PIXELS {
            errors.add("size", message::NOT_VALID);
        }
        let transform = match self.transform {
            Some(Part::Variant(name)) => Ok(Some(Transform::Variant(name.to_owned()))),
            Some(Part::Trim(edges)) => Trim::from_path(edges)
                .map(|trim| Some(Transform::Trim(trim)))
                .ok_or_else(transform::not_valid),
            None => transform::from_query(query.unwrap_or_default())
                .map(|trim| trim.map(Transform::Trim)),
        };
        let transform = transform.unwrap_or_else(|faults| {
            errors.merge(faults);
            None
        });
        if errors.is_empty() { Ok(Wanted { size: self.asked, transform }) } else { Err(errors) }
    }
}

/// Splits at the last dot, behind which there must be something.
fn split_extension(file: &str) -> Option<(&str, &str)> {
    file.rsplit_once('.').filter(|(_, extension)| !extension.is_empty())
}

/// Reads `{W}x{H}`. Numbers of any length are a size; too large ones become the largest there is.
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
