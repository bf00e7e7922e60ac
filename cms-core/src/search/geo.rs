//! Places on earth: distances, and points as one number for a column.

use super::query::Point;

/// Mean radius of the earth in metres.
const RADIUS: f64 = 6_371_008.8;

/// Returns the great-circle distance of two points in metres.
pub(crate) fn distance(a: Point, b: Point) -> f64 {
    let (lat_a, lat_b) = (a.lat.to_radians(), b.lat.to_radians());
    let half_lat = ((b.lat - a.lat).to_radians() / 2.0).sin();
    let half_lon = ((b.lon - a.lon).to_radians() / 2.0).sin();
    let chord = half_lat * half_lat + lat_a.cos() * lat_b.cos() * half_lon * half_lon;
    2.0 * RADIUS * chord.clamp(0.0, 1.0).sqrt().asin()
}

/// Steps of a packed coordinate; one is at most a centimetre.
const STEPS: f64 = 4_294_967_295.0;

/// Packs a point into a number: latitude, then longitude, 32 bits each.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped before")]
pub(crate) fn pack(point: Point) -> i64 {
    let steps = |degrees: f64, half: f64| ((degrees / half + 1.0) / 2.0).clamp(0.0, 1.0) * STEPS;
    let packed =
        (steps(point.lat, 90.0).round() as u64) << 32 | steps(point.lon, 180.0).round() as u64;
    // Signed, because a column of signed numbers is one whatever values it holds.
    packed.cast_signed()
}

/// Returns the point that a number stands for.
#[expect(clippy::cast_precision_loss, reason = "32 bits fit")]
pub(crate) fn unpack(packed: i64) -> Point {
    let packed = packed.cast_unsigned();
    let degrees = |steps: u64, half: f64| (steps as f64 / STEPS * 2.0 - 1.0) * half;
    Point { lat: degrees(packed >> 32, 90.0), lon: degrees(packed & 0xffff_ffff, 180.0) }
}
