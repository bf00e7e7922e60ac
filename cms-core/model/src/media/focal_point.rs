//! The focal point of an image: the point that a crop keeps (see docs/reference/media.md#focal-point).

use serde::Deserialize;

use super::transform::{Rectangle, Size};

/// A point of an upright image, relative to its size: from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct FocalPoint {
    pub x: f64,
    pub y: f64,
}

impl FocalPoint {
    /// Parses the property of a media object. None for the centre, which needs no focal point, and
    /// for an invalid value.
    pub fn parse(text: &str) -> Option<Self> {
        let point: Self = serde_json::from_str(text).ok()?;
        let is_inside = [point.x, point.y].iter().all(|axis| (0.0..=1.0).contains(axis));
        (is_inside && point != Self { x: 0.5, y: 0.5 }).then_some(point)
    }

    /// The point relative to an area of the image, or the nearest point of that area.
    #[must_use]
    pub fn within(self, image: Size, area: Rectangle) -> Self {
        Self {
            x: moved(self.x, image.width, area.x, area.width),
            y: moved(self.y, image.height, area.y, area.height),
        }
    }
}

fn moved(point: f64, image: u32, start: u32, length: u32) -> f64 {
    // The area has the complete length: the point stays, without rounding errors.
    if length == image {
        return point;
    }
    let [image, start, length] = [image, start, length].map(f64::from);
    ((point * image - start) / length).clamp(0.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn focal_point_is_parsed() {
        let point = |x, y| Some(FocalPoint { x, y });
        for (text, expected) in [
            (r#"{"x": 0.25, "y": 1}"#, point(0.25, 1.0)),
            (r#"{"x": 0, "y": 0.5}"#, point(0.0, 0.5)),
            (r#"{"x": 0.5, "y": 0.5}"#, None),
            (r#"{"x": 1.5, "y": 0}"#, None),
            (r#"{"x": -0.1, "y": 0}"#, None),
            (r#"{"x": 0.1}"#, None),
            ("{}", None),
            ("null", None),
            ("7", None),
        ] {
            assert_eq!(FocalPoint::parse(text), expected, "{text}");
        }
    }

    #[test]
    fn focal_point_moves_into_an_area() {
        let image = Size { width: 400, height: 200 };
        let area = |x, y, width, height| Rectangle { x, y, width, height };
        for (point, area, expected) in [
            ((0.3, 0.7), area(0, 0, 400, 200), (0.3, 0.7)),
            ((0.5, 0.5), area(100, 50, 200, 100), (0.5, 0.5)),
            ((0.25, 0.75), area(100, 100, 200, 100), (0.0, 0.5)),
            ((0.0, 1.0), area(100, 50, 100, 100), (0.0, 1.0)),
            ((0.375, 0.0), area(100, 0, 100, 200), (0.5, 0.0)),
        ] {
            let (x, y) = expected;
            let found = FocalPoint { x: point.0, y: point.1 }.within(image, area);
            assert_eq!(found, FocalPoint { x, y }, "{point:?} {area:?}");
        }
    }
}
