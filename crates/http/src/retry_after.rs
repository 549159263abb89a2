//! The delay that a provider asks for: `retry-after-ms`, or `Retry-After` in seconds or as a date.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use reqwest::header::{HeaderMap, RETRY_AFTER};

const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const DAY_SECONDS: u64 = 86_400;

/// Returns the milliseconds to wait from `now`, if the headers say.
pub fn read(headers: &HeaderMap, now: SystemTime) -> Option<u64> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    if let Some(wait) = text("retry-after-ms").and_then(|value| millis(value, 1.0)) {
        return Some(wait);
    }
    let value = text(RETRY_AFTER.as_str())?;
    millis(value, 1000.0).or_else(|| {
        let wait = (UNIX_EPOCH + Duration::from_secs(date(value)?)).duration_since(now).unwrap_or_default();
        u64::try_from(wait.as_millis()).ok()
    })
}

fn millis(number: &str, unit: f64) -> Option<u64> {
    let wait = number.parse::<f64>().ok().filter(|wait| wait.is_finite() && *wait >= 0.0)?;
    Some((wait * unit).ceil() as u64)
}

/// Returns the seconds since 1970 of a date such as `Wed, 21 Oct 2015 07:28:00 GMT`.
fn date(text: &str) -> Option<u64> {
    let mut words = text.split_once(", ")?.1.split(' ');
    let day: u64 = words.next()?.parse().ok().filter(|day| (1..=31).contains(day))?;
    let name = words.next()?;
    let month = MONTHS.iter().position(|month| *month == name)? as u64;
    let year: u64 = words.next()?.parse().ok().filter(|year| (1970..10_000).contains(year))?;
    let mut clock = words.next()?.splitn(3, ':').map(|part| part.parse::<u64>().ok().filter(|part| *part <= 60));
    let seconds = clock.next()?? * 3600 + clock.next()?? * 60 + clock.next()??;
    Some((days_before(year, month) + day - 1) * DAY_SECONDS + seconds)
}

/// Returns the days from 1970 to the first of this month (January is 0).
fn days_before(year: u64, month: u64) -> u64 {
    let is_leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let length = |month: u64| match month {
        1 => 28 + u64::from(is_leap(year)),
        3 | 5 | 8 | 10 => 30,
        _ => 31,
    };
    let years: u64 = (1970..year).map(|year| 365 + u64::from(is_leap(year))).sum();
    years + (0..month).map(length).sum::<u64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wait(name: &'static str, value: &str) -> Option<u64> {
        let headers = HeaderMap::from_iter([(name.parse().unwrap(), value.parse().unwrap())]);
        read(&headers, UNIX_EPOCH + Duration::from_secs(1_445_412_470))
    }

    #[test]
    fn a_wait_is_read_in_each_form() {
        for (name, value, expected) in [
            ("retry-after", "2", Some(2000)),
            ("retry-after", "0.25", Some(250)),
            ("retry-after-ms", "1500", Some(1500)),
            ("retry-after", "Wed, 21 Oct 2015 07:28:00 GMT", Some(10_000)),
            ("retry-after", "Wed, 21 Oct 2014 07:28:00 GMT", Some(0)),
            ("retry-after", "Thu, 29 Feb 2016 00:00:00 GMT", Some(11_291_530_000)),
            ("retry-after", "soon", None),
            ("retry-after", "-1", None),
            ("retry-after", "Wed, 99 Oct 2015 07:28:00 GMT", None),
            ("retry-after", "Wed, 21 Oct 2015 9999999999999999999:28:00 GMT", None),
        ] {
            assert_eq!(wait(name, value), expected, "{value}");
        }
    }

    #[test]
    fn milliseconds_are_preferred_as_they_are_exact() {
        let both = HeaderMap::from_iter([
            ("retry-after".parse().unwrap(), "1".parse().unwrap()),
            ("retry-after-ms".parse().unwrap(), "20".parse().unwrap()),
        ]);
        assert_eq!(read(&both, UNIX_EPOCH), Some(20));
    }
}
