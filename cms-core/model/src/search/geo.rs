//! Points on earth: distances, and the encoding of a point as one number.

use super::query::Point;

/// Mean radius of the earth.
const EARTH_RADIUS_METRES: f64 = 6_371_008.8;

/// Returns the great-circle distance between two points in metres.
pub fn distance(a: Point, b: Point) -> f64 {
    let (lat_a, lat_b) = (a.lat.to_radians(), b.lat.to_radians());
    let half_lat = ((b.lat - a.lat).to_radians() / 2.0).sin();
    let half_lon = ((b.lon - a.lon).to_radians() / 2.0).sin();
    let chord = half_lat * half_lat + lat_a.cos() * lat_b.cos() * half_lon * half_lon;
    2.0 * EARTH_RADIUS_METRES * chord.clamp(0.0, 1.0).sqrt().asin()
}

/// Steps of a packed coordinate; one is at most a centimetre.
const PACKED_COORDINATE_STEPS: f64 = 4_294_967_295.0;

/// Packs a point into a number: latitude, then longitude, 32 bits each.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped before")]
pub fn pack(point: Point) -> i64 {
    let steps = |degrees: f64, half: f64| {
        f64::midpoint(degrees / half, 1.0).clamp(0.0, 1.0) * PACKED_COORDINATE_STEPS
    };
    let packed =
        (steps(point.lat, 90.0).round() as u64) << 32 | steps(point.lon, 180.0).round() as u64;
    // The column type of the index is signed.
    packed.cast_signed()
}

/// Returns the point that a number encodes.
#[expect(clippy::cast_precision_loss, reason = "32 bits fit")]
pub fn unpack(packed: i64) -> Point {
    let packed = packed.cast_unsigned();
    let degrees =
        |steps: u64, half: f64| (steps as f64 / PACKED_COORDINATE_STEPS * 2.0 - 1.0) * half;
    Point { lat: degrees(packed >> 32, 90.0), lon: degrees(packed & 0xffff_ffff, 180.0) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// An independent formula: the angle between two vectors from the centre of the earth.
    fn angle_distance(a: Point, b: Point) -> f64 {
        let vector = |point: Point| {
            let (lat, lon) = (point.lat.to_radians(), point.lon.to_radians());
            [lat.cos() * lon.cos(), lat.cos() * lon.sin(), lat.sin()]
        };
        let ([ax, ay, az], [bx, by, bz]) = (vector(a), vector(b));
        let cross = [ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx];
        let sine = cross.iter().map(|part| part * part).sum::<f64>().sqrt();
        EARTH_RADIUS_METRES * sine.atan2(ax * bx + ay * by + az * bz)
    }

    fn points() -> impl Strategy<Value = Point> {
        (-90.0..=90.0, -180.0..=180.0).prop_map(|(lat, lon)| Point { lat, lon })
    }

    #[test]
    fn distances_between_known_points_are_correct() {
        let (berlin, paris) =
            (Point { lat: 52.52, lon: 13.405 }, Point { lat: 48.8566, lon: 2.3522 });
        assert!((distance(berlin, paris) - 877_460.0).abs() < 1000.0);
        let (west, east) = (Point { lat: 0.0, lon: -179.5 }, Point { lat: 0.0, lon: 179.5 });
        assert!((distance(west, east) - 111_195.0).abs() < 1.0);
        let (north, south) = (Point { lat: 90.0, lon: 5.0 }, Point { lat: -90.0, lon: -100.0 });
        assert!((distance(north, south) - 20_015_115.0).abs() < 1.0);
    }

    proptest! {
        #[test]
        fn distances_agree_with_another_formula(a in points(), b in points(), near in 0.0..1e-3_f64) {
            let beside = Point { lat: (a.lat + near).min(90.0), lon: a.lon };
            for (a, b) in [(a, b), (a, beside)] {
                let (found, expected) = (distance(a, b), angle_distance(a, b));
                prop_assert!((found - expected).abs() <= expected * 0.001 + 1e-6, "{found} {expected}");
            }
        }

        #[test]
        fn packed_points_are_within_two_centimetres(point in points()) {
            prop_assert!(distance(point, unpack(pack(point))) <= 0.02);
        }
    }
}
