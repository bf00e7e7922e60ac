//! EXIF orientation as arithmetic: from stored to displayed coordinates, and back.

use cms_model::media::transform::Rectangle;
use image::metadata::Orientation;

/// The transformation from stored to displayed pixels: optionally transposed, then mirrored.
#[derive(Clone, Copy)]
pub(super) struct OrientationTransform {
    orientation: Orientation,
    transposed: bool,
    mirrored_across: bool,
    mirrored_down: bool,
}

impl From<Orientation> for OrientationTransform {
    fn from(orientation: Orientation) -> Self {
        let (transposed, mirrored_across, mirrored_down) = match orientation {
            Orientation::NoTransforms => (false, false, false),
            Orientation::FlipHorizontal => (false, true, false),
            Orientation::Rotate180 => (false, true, true),
            Orientation::FlipVertical => (false, false, true),
            Orientation::Rotate90FlipH => (true, false, false),
            Orientation::Rotate90 => (true, true, false),
            Orientation::Rotate270FlipH => (true, true, true),
            Orientation::Rotate270 => (true, false, true),
        };
        Self { orientation, transposed, mirrored_across, mirrored_down }
    }
}

impl OrientationTransform {
    pub(super) fn orientation(self) -> Orientation {
        self.orientation
    }

    /// Applies the orientation to a size, in either direction.
    pub(super) fn size(self, (width, height): (u32, u32)) -> (u32, u32) {
        if self.transposed { (height, width) } else { (width, height) }
    }

    /// Returns the stored rectangle of a displayed one, for an image of the displayed size.
    pub(super) fn stored_rect(self, seen: Rectangle, (width, height): (u32, u32)) -> Rectangle {
        let mut rect = seen;
        if self.mirrored_across {
            rect.x = width - seen.x - seen.width;
        }
        if self.mirrored_down {
            rect.y = height - seen.y - seen.height;
        }
        if self.transposed {
            let Rectangle { x, y, width, height } = rect;
            rect = Rectangle { x: y, y: x, width: height, height: width };
        }
        rect
    }
}
