//! Durations as values of flags and settings.

use std::{str::FromStr, time::Duration};

/// Parses a whole number with a unit, such as `90m`. The type of the number limits it; `units` has the accepted units and
/// their seconds.
pub(super) fn parse<N: FromStr + Into<u64>>(text: &str, units: &[(char, u64)]) -> Option<Duration> {
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit())?);
    let (_, seconds) = units.iter().find(|(name, _)| unit.chars().eq([*name]))?;
    Some(Duration::from_secs(number.parse::<N>().ok()?.into() * seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duration_needs_a_whole_number_and_a_unit() {
        let units = [('s', 1), ('m', 60), ('d', 86_400)];
        for (text, seconds) in [("0s", 0), ("60s", 60), ("5m", 300), ("7d", 604_800)] {
            assert_eq!(parse::<u32>(text, &units), Some(Duration::from_secs(seconds)), "{text}");
        }
        for text in ["", "s", "60", "1.5m", "-1s", "+1s", "6 s", "1h", "6ſ", "6sm", "9999999999s"]
        {
            assert_eq!(parse::<u32>(text, &units), None, "{text}");
        }
    }
}
