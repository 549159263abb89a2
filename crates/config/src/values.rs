//! Single values: each function takes a typed value and returns its meaning, or a
//! message with the allowed values.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::time::Duration;

use consort_core::catalog::NanoUsd;
use consort_core::unknown::alike;
use consort_runtime::limits::{Rate, parse_rate};
use serde_json::{Map, Number, Value};

use super::typed::Typed;

/// The meaning of a value, or the mistake in it.
pub(crate) type Parsed<T> = Result<T, String>;

/// Longer durations are mistakes, and would overflow clocks.
const DURATION_MAX: Duration = Duration::from_hours(24 * 365);
/// The decimal digits of a billionth of a dollar.
const NANO_DIGITS: i32 = 9;
/// The maximum number of characters of a string in a message.
const QUOTED_MAX: usize = 60;

/// Reads a string that is not blank.
pub(crate) fn text(value: &Typed) -> Parsed<String> {
    let text = string(value, "a string")?;
    if text.trim().is_empty() { Err("must not be blank".to_owned()) } else { Ok(text.to_owned()) }
}

/// Reads true or false.
pub(crate) fn flag(value: &Typed) -> Parsed<bool> {
    let Typed::Flag(flag) = value else { return refused(value, "true or false") };
    Ok(*flag)
}

/// Reads a whole number within limits.
pub(crate) fn whole<T>(range: RangeInclusive<T>) -> impl Fn(&Typed) -> Parsed<T>
where
    T: TryFrom<i64> + PartialOrd + Display,
{
    move |value| {
        let wanted = || format!("a whole number from {} to {}", range.start(), range.end());
        let Typed::Whole(number) = value else { return refused(value, &wanted()) };
        let fits = T::try_from(*number).ok().filter(|number| range.contains(number));
        fits.ok_or_else(|| format!("must be {}, not {number}", wanted()))
    }
}

/// Reads a whole number with no upper limit of its own.
pub(crate) fn at_least<T>(least: T) -> impl Fn(&Typed) -> Parsed<T>
where
    T: TryFrom<i64> + PartialOrd + Display,
{
    move |value| {
        let wanted = || format!("a whole number of at least {least}");
        let Typed::Whole(number) = value else { return refused(value, &wanted()) };
        let fits = T::try_from(*number).ok().filter(|number| *number >= least);
        fits.ok_or_else(|| format!("must be {}, not {number}", wanted()))
    }
}

/// Reads one of some words.
pub(crate) fn word<T: Copy>(words: &'static [(&'static str, T)]) -> impl Fn(&Typed) -> Parsed<T> {
    move |value| {
        let allowed = words.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
        let wanted = format!("one of {allowed}");
        let text = string(value, &wanted)?;
        let found = words.iter().find(|(word, _)| *word == text);
        found.map(|(_, meaning)| *meaning).ok_or_else(|| {
            let meant = nearest(value, words).map(|word| format!("; did you mean \"{word}\"?")).unwrap_or_default();
            format!("must be {wanted}, not {}{meant}", quoted(value))
        })
    }
}

/// Returns the word that may have been meant.
fn nearest<T>(value: &Typed, words: &[(&'static str, T)]) -> Option<&'static str> {
    let Typed::Text(text) = value else { return None };
    // As it was typed, so that a suggestion reveals nothing about a variable.
    alike(&text.typed, words.iter().map(|(word, _)| *word))
}

/// Reads a duration above zero, such as `"30s"`.
pub(crate) fn duration(value: &Typed) -> Parsed<Duration> {
    let duration = duration_or_zero(value)?;
    if duration.is_zero() { Err("must be longer than \"0s\"".to_owned()) } else { Ok(duration) }
}

/// Reads a duration that may be zero.
pub(crate) fn duration_or_zero(value: &Typed) -> Parsed<Duration> {
    let wanted = "a duration such as \"500ms\", \"30s\", \"5m\" or \"2h\"";
    let text = string(value, wanted)?;
    let duration = parse_duration(text).ok_or_else(|| format!("must be {wanted}, not {}", quoted(value)))?;
    if duration > DURATION_MAX { Err("must be at most \"8760h\"".to_owned()) } else { Ok(duration) }
}

fn parse_duration(text: &str) -> Option<Duration> {
    let (digits, unit) = text.split_at_checked(text.find(|c: char| !c.is_ascii_digit())?)?;
    let number: u64 = digits.parse().ok()?;
    let unit_ms = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    Some(Duration::from_millis(number.saturating_mul(unit_ms)))
}

/// Reads a number of bytes above zero, such as `"1GiB"`.
pub(crate) fn bytes(value: &Typed) -> Parsed<u64> {
    let wanted = "a size such as \"512MiB\" or \"1GiB\"";
    let text = string(value, wanted)?;
    parse_bytes(text).filter(|bytes| *bytes > 0).ok_or_else(|| format!("must be {wanted}, not {}", quoted(value)))
}

fn parse_bytes(text: &str) -> Option<u64> {
    let (digits, unit) = text.split_at_checked(text.find(|c: char| !c.is_ascii_digit())?)?;
    let number: u64 = digits.parse().ok()?;
    let unit_bytes = match unit {
        "KiB" => 1024,
        "MiB" => 1024 * 1024,
        "GiB" => 1024 * 1024 * 1024,
        _ => return None,
    };
    number.checked_mul(unit_bytes)
}

/// Reads a rate, such as `"600/min"`.
pub(crate) fn rate(value: &Typed) -> Parsed<Rate> {
    let wanted = "a rate such as \"10/s\", \"600/min\" or \"1000/h\"";
    let text = string(value, wanted)?;
    parse_rate(text).map_err(|_| format!("must be {wanted}, not {}", quoted(value)))
}

/// Reads US dollars, exact to the billionth.
pub(crate) fn usd(value: &Typed) -> Parsed<NanoUsd> {
    let nano = match value {
        Typed::Whole(number) => parse_usd(&number.to_string()),
        Typed::Decimal(number) => parse_usd(number),
        Typed::Text(_) | Typed::Flag(_) | Typed::Moment(_) | Typed::List(_) | Typed::Table(_) => {
            return refused(value, "an amount of US dollars");
        }
    };
    nano.ok_or_else(|| "must be an amount of US dollars from 0 to 18446744073 with at most 9 decimals".to_owned())
}

/// Parses the digits, without the rounding of a float.
fn parse_usd(text: &str) -> Option<NanoUsd> {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (units, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{}{fraction}", units.strip_prefix('+').unwrap_or(units));
    let number: u128 = digits.parse().ok()?;
    let exponent: i32 = exponent.parse().ok()?;
    let shift = exponent.checked_add(NANO_DIGITS)?.checked_sub(i32::try_from(fraction.len()).ok()?)?;
    let power = 10_u128.checked_pow(shift.unsigned_abs())?;
    let nano =
        if shift < 0 { number.is_multiple_of(power).then_some(number / power)? } else { number.checked_mul(power)? };
    NanoUsd::try_from(nano).ok()
}

/// Reads a number within limits.
pub(crate) fn number(range: RangeInclusive<f64>) -> impl Fn(&Typed) -> Parsed<f64> {
    move |value| {
        let wanted = format!("a number from {} to {}", range.start(), range.end());
        let number = match value {
            Typed::Whole(number) => number.to_string().parse().ok(),
            Typed::Decimal(number) => number.replace('_', "").parse().ok(),
            Typed::Text(_) | Typed::Flag(_) | Typed::Moment(_) | Typed::List(_) | Typed::Table(_) => {
                return refused(value, &wanted);
            }
        };
        number.filter(|number| range.contains(number)).ok_or_else(|| format!("must be {wanted}"))
    }
}

/// Reads a fraction between 0 and 1.
pub(crate) fn share(value: &Typed) -> Parsed<f64> {
    number(0.0..=1.0)(value)
}

/// Reads an address whose scheme is one of these.
pub(crate) fn address(protocols: &'static [&'static str]) -> impl Fn(&Typed) -> Parsed<String> {
    move |value| {
        let wanted = format!("an address that starts with {}://", protocols.join(":// or "));
        let text = string(value, &wanted)?;
        let url = url::Url::parse(text).ok().filter(|url| url.has_host() && protocols.contains(&url.scheme()));
        url.map(|_| text.to_owned()).ok_or_else(|| format!("must be {wanted}"))
    }
}

/// Reads any scalar as text.
pub(crate) fn scalar(value: &Typed) -> Parsed<String> {
    match value {
        Typed::Text(text) => Ok(text.meant.clone()),
        Typed::Whole(number) => Ok(number.to_string()),
        Typed::Decimal(number) => Ok(number.clone()),
        Typed::Flag(flag) => Ok(flag.to_string()),
        Typed::Moment(moment) => Ok(moment.clone()),
        Typed::List(_) | Typed::Table(_) => refused(value, "a string"),
    }
}

/// Reads any value as JSON.
pub(crate) fn json(value: &Typed) -> Parsed<Value> {
    Ok(match value {
        Typed::Text(text) => Value::String(text.meant.clone()),
        Typed::Whole(number) => Value::from(*number),
        Typed::Decimal(number) => {
            let float = number.parse().ok().and_then(Number::from_f64);
            Value::Number(float.ok_or_else(|| format!("`{number}` cannot be written as JSON"))?)
        }
        Typed::Flag(flag) => Value::Bool(*flag),
        Typed::Moment(moment) => Value::String(moment.clone()),
        Typed::List(items) => Value::Array(items.iter().map(json).collect::<Parsed<_>>()?),
        Typed::Table(table) => {
            let entry = |(name, value): &(String, Typed)| Ok((name.clone(), json(value)?));
            Value::Object(table.iter().map(entry).collect::<Parsed<Map<_, _>>>()?)
        }
    })
}

/// Reads a table as JSON.
pub(crate) fn object(value: &Typed) -> Parsed<Value> {
    let Typed::Table(_) = value else { return refused(value, "a table") };
    json(value)
}

fn string<'a>(value: &'a Typed, wanted: &str) -> Parsed<&'a str> {
    let Typed::Text(text) = value else { return refused(value, wanted) };
    Ok(&text.meant)
}

/// Returns the mistake of a value of the wrong type.
pub(crate) fn refused<T>(value: &Typed, wanted: &str) -> Parsed<T> {
    Err(format!("must be {wanted}, not {}", value.kind()))
}

/// Returns a string as it was typed, so that variables are not revealed.
pub(crate) fn quoted(value: &Typed) -> String {
    match value {
        Typed::Text(text) if text.typed.chars().count() > QUOTED_MAX => {
            format!("\"{}…\"", text.typed.chars().take(QUOTED_MAX).collect::<String>())
        }
        Typed::Text(text) => format!("\"{}\"", text.typed),
        Typed::Whole(_) | Typed::Decimal(_) | Typed::Flag(_) | Typed::Moment(_) | Typed::List(_) | Typed::Table(_) => {
            value.kind().to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_exact_to_the_billionth() {
        let cases = [
            ("3", Some(3_000_000_000)),
            ("0.3", Some(300_000_000)),
            ("+15.0", Some(15_000_000_000)),
            ("1e-3", Some(1_000_000)),
            ("0.0375E2", Some(3_750_000_000)),
            ("0.000000001", Some(1)),
            ("0.0000000010", Some(1)),
            ("18446744073.709551615", Some(u64::MAX)),
            ("18446744073.709551616", None),
            ("0.0000000001", None),
            ("-1", None),
            ("-0.5", None),
            ("inf", None),
            ("nan", None),
            ("1e999999999", None),
            ("1e-2147483648", None),
        ];
        for (text, nano) in cases {
            assert_eq!(parse_usd(text), nano, "{text}");
        }
    }

    #[test]
    fn durations_have_one_number_and_one_unit() {
        let good = [("500ms", 500), ("30s", 30_000), ("5m", 300_000), ("2h", 7_200_000), ("0s", 0)];
        for (text, ms) in good {
            assert_eq!(parse_duration(text), Some(Duration::from_millis(ms)), "{text}");
        }
        for bad in ["", "30", "s", "-1s", "1.5s", "30 s", "1h30m", "2d", "99999999999999999999s", "٣s"] {
            assert_eq!(parse_duration(bad), None, "{bad}");
        }
    }
}
