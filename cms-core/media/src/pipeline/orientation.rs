//! EXIF orientation as arithmetic: from stored to displayed coordinates, and back.

use cms_model::media::transform::Rectangle;
use image::metadata::Orientation;

/// How stored pixels become displayed ones: transposed, then mirrored horizontally, then vertically.
fn steps(orientation: Orientation) -> [bool; 3] {
    match orientation {
        Orientation::NoTransforms => [false, false, false],
        Orientation::FlipHorizontal => [false, true, false],
        Orientation::Rotate180 => [false, true, true],
        Orientation::FlipVertical => [false, false, true],
        Orientation::Rotate90FlipH => [true, false, false],
        Orientation::Rotate90 => [true, true, false],
        Orientation::Rotate270FlipH => [true, true, true],
        Orientation::Rotate270 => [true, false, true],
    }
}

/// Applies an orientation to a size, in either direction.
pub(super) fn size(orientation: Orientation, (width, height): (u32, u32)) -> (u32, u32) {
    let [transposed, ..] = steps(orientation);
    if transposed { (height, width) } else { (width, height) }
}

/// Returns the stored rectangle of a displayed one, for an image of the displayed size.
pub(super) fn stored_rect(
    orientation: Orientation,
    displayed: Rectangle,
    (width, height): (u32, u32),
) -> Rectangle {
    let [transposed, mirrored_x, mirrored_y] = steps(orientation);
    let mut rect = displayed;
    if mirrored_x {
        rect.x = width - displayed.x - displayed.width;
    }
    if mirrored_y {
        rect.y = height - displayed.y - displayed.height;
    }
    if transposed {
        let Rectangle { x, y, width, height } = rect;
        rect = Rectangle { x: y, y: x, width: height, height: width };
    }
    rect
}
