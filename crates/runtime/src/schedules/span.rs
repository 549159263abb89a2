//! Durations as people write them: a number and a unit, such as `15m`.

use consort_core::id::Millis;

/// The units, the largest first.
const UNITS: [(&str, Millis); 4] = [("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

/// Parses a duration such as `500ms`, `30s`, `15m` or `2h`.
pub fn parse(text: &str) -> Option<Millis> {
    let (digits, unit) = text.split_at_checked(text.find(|c: char| !c.is_ascii_digit())?)?;
    let (_, unit_ms) = UNITS.into_iter().find(|(name, _)| *name == unit)?;
    digits.parse::<Millis>().ok()?.checked_mul(unit_ms)
}

/// Returns a duration in the largest unit that holds it exactly.
pub fn text(ms: Millis) -> String {
    if ms == 0 {
        return "0s".to_owned();
    }
    let fits = UNITS.into_iter().find(|(_, unit_ms)| ms.is_multiple_of(*unit_ms));
    fits.map_or_else(|| format!("{ms}ms"), |(name, unit_ms)| format!("{}{name}", ms / unit_ms))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_they_are_written() {
        for span in ["500ms", "30s", "15m", "2h", "90s", "0s", "36h"] {
            assert_eq!(text(parse(span).unwrap()), span);
        }
        assert_eq!(text(parse("60m").unwrap()), "1h");
        for bad in ["", "s", "15", "1.5s", "-1s", "1h30m", "2d", "99999999999999999999s", "18446744073709551615h"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}
