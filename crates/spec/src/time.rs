//! Formats times for people.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::id::Millis;

const DAY_MS: u64 = 86_400_000;
/// The digits of the largest number.
const DIGITS_MAX: usize = 20;

/// A time, written as `2026-03-15T10:30:00.250Z`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Iso(pub Millis);

impl fmt::Display for Iso {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&iso(self.0))
    }
}

impl Serialize for Iso {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&iso(self.0))
    }
}

impl<'de> Deserialize<'de> for Iso {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Iso, D::Error> {
        let text = String::deserialize(deserializer)?;
        let moment = parse_iso(&text).map(Iso);
        moment.ok_or_else(|| serde::de::Error::custom(format!("`{text}` is not a moment such as {}", Iso(0))))
    }
}

impl JsonSchema for Iso {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Iso".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "date-time" })
    }
}

/// Returns a time as `2026-03-15T10:30:00.250Z`.
pub fn iso(at: Millis) -> String {
    let (year, month, day) = civil(at / DAY_MS);
    let seconds = at % DAY_MS / 1000;
    let millis = at % 1000;
    let hour = seconds / 3600;
    let minute = seconds / 60 % 60;
    let second = seconds % 60;
    let mut text = String::with_capacity("2026-03-15T10:30:00.250Z".len());
    let parts = [(year, 4, '-'), (month, 2, '-'), (day, 2, 'T'), (hour, 2, ':'), (minute, 2, ':'), (second, 2, '.')];
    parts.into_iter().chain([(millis, 3, 'Z')]).for_each(|(number, digits, end)| {
        padded(&mut text, number, digits);
        text.push(end);
    });
    text
}

/// Appends a number with at least so many digits. Every frame has times, and the standard formatter takes several times
/// as long.
fn padded(text: &mut String, mut number: u64, digits: usize) {
    let mut written = [b'0'; DIGITS_MAX];
    let mut count = 0;
    for place in written.iter_mut().rev() {
        if number == 0 && count >= digits {
            break;
        }
        *place += (number % 10) as u8;
        number /= 10;
        count += 1;
    }
    let shown = written.get(DIGITS_MAX - count..).unwrap_or_default();
    text.push_str(str::from_utf8(shown).unwrap_or_default());
}

/// Parses the format of `iso`; none for any other text.
pub fn parse_iso(text: &str) -> Option<Millis> {
    let number = |from: usize, to: usize| -> Option<u64> {
        let digits = text.get(from..to).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?;
        digits.parse().ok()
    };
    let year = number(0, 4)?;
    let month = number(5, 7)?;
    let day = number(8, 10)?;
    let hour = number(11, 13)?;
    let minute = number(14, 16)?;
    let second = number(17, 19)?;
    let millis = number(20, 23)?;
    let seconds = hour * 3600 + minute * 60 + second;
    let at = days(year, month, day)?.checked_mul(DAY_MS)? + seconds * 1000 + millis;
    // A text that does not read back the same is another spelling, or no time at all.
    (iso(at) == text).then_some(at)
}

/// Returns a duration as `PT3.250S`.
pub fn iso_span(ms: Millis) -> String {
    format!("PT{}.{:03}S", ms / 1000, ms % 1000)
}

/// Returns year, month and day of a day since 1970, by the era arithmetic of the proleptic Gregorian
/// calendar: years that begin in March put the leap day last.
fn civil(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let era = shifted / 146_097;
    let of_era = shifted % 146_097;
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (year_of_era + era * 400 + u64::from(month <= 2), month, day)
}

/// Returns the day since 1970 of a date: the inverse of `civil`.
fn days(year: u64, month: u64, day: u64) -> Option<u64> {
    let year = year.checked_sub(u64::from(month <= 2))?;
    let era = year / 400;
    let of_era = year % 400;
    let from_march = (month + 9) % 12;
    let of_year = (153 * from_march + 2) / 5 + day.checked_sub(1)?;
    (era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year).checked_sub(719_468)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_moments_read_right() {
        let cases = [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_773_570_600_250, "2026-03-15T10:30:00.250Z"),
            (4_107_542_399_999, "2100-02-28T23:59:59.999Z"),
        ];
        for (at, text) in cases {
            assert_eq!(iso(at), text);
            assert_eq!(parse_iso(text), Some(at));
        }
        assert_eq!(iso(253_402_300_800_000), "10000-01-01T00:00:00.000Z");
    }

    #[test]
    fn only_moments_as_they_are_written_here_are_read() {
        let other = ["", "2026-03-15", "2026-03-15T10:30:00Z", "2026-02-30T10:30:00.250Z", "2026-03-15T25:30:00.250Z"];
        for text in other.into_iter().chain([
            "0000-00-00T00:00:00.000Z",
            "x026-03-15T10:30:00.250Z",
            "1969-12-31T23:59:59.999Z",
        ]) {
            assert_eq!(parse_iso(text), None, "{text}");
        }
    }
}
