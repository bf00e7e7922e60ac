//! Filters by distance: `geo_distance,1.50km,40.1,-19.2` (see docs/reference/search.md#parameters).

use crate::search::query::{Circle, Point};

pub(super) const INVALID: &str = "Invalid geo filter query provided. \
    Example value is: 'geo_distance,1.50km,40.1,-19.2'. \
    Accepted filter types are: 'geo_distance'.";

pub(super) fn parse(path: String, text: &str) -> Option<Circle> {
    let mut parts = text.split(',').map(str::trim);
    let kind = parts.next()?;
    let meters = meters(parts.next()?)?;
    let center = Point { lat: degrees(parts.next()?, 90.0)?, lon: degrees(parts.next()?, 180.0)? };
    let is_complete = kind == "geo_distance" && parts.next().is_none() && !path.is_empty();
    is_complete.then_some(Circle { path, center, meters })
}

fn degrees(text: &str, limit: f64) -> Option<f64> {
    text.parse().ok().filter(|degrees: &f64| degrees.abs() <= limit)
}

fn meters(text: &str) -> Option<f64> {
    let digits = |c: char| c.is_ascii_digit() || c == '.';
    let (number, unit) = text.split_at(text.find(|c| !digits(c)).unwrap_or(text.len()));
    let meters = number.parse::<f64>().ok()? * unit_meters(unit)?;
    meters.is_finite().then_some(meters)
}

fn unit_meters(unit: &str) -> Option<f64> {
    Some(match unit {
        "" | "m" | "meters" => 1.0,
        "km" | "kilometers" => 1000.0,
        "cm" | "centimeters" => 0.01,
        "mm" | "millimeters" => 0.001,
        "mi" | "miles" => 1609.344,
        "yd" | "yards" => 0.9144,
        "ft" | "feet" => 0.3048,
        "in" | "inch" => 0.0254,
        "nmi" | "NM" | "nauticalmiles" => 1852.0,
        _ => return None,
    })
}
