//! When a schedule is due: a cron pattern in a time zone, or an interval counted from the epoch. Pure: the
//! current time is handed in.

use consort_core::id::Millis;
use consort_core::mistake::{Code, Mistake};
use croner::Cron;
use croner::parser::{CronParser, Seconds, Year};
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{Timestamp, Zoned};

use super::span;

/// The maximum number of bytes of a pattern: longer ones say nothing that a shorter one cannot.
const PATTERN_MAX: usize = 200;
/// The shortest interval.
const EVERY_MIN: Millis = 1_000;
/// The longest interval, a year.
const EVERY_MAX: Millis = 365 * 24 * 3_600_000;
/// The most times of day that a change of the clock can repeat or jump over: each minute of a day, where a zone changes
/// sides of the date line.
const CHANGED_MAX: usize = 24 * 60 + 1;

/// The due times of a schedule.
#[derive(Clone, Debug)]
pub struct Timing(Rhythm);

#[derive(Clone, Debug)]
enum Rhythm {
    Cron { pattern: Pattern, zone: TimeZone },
    Every(Millis),
}

/// A cron pattern.
#[derive(Clone, Debug)]
struct Pattern {
    cron: Box<Cron>,
    /// Whether it is due whenever the clock shows it: not at all while it is jumped over, again while it is repeated.
    /// Otherwise it is due at times of day, each once: one that the clock jumps over right after the jump.
    follows_clock: bool,
}

/// The timing as it was written.
#[derive(Clone, Copy, Debug, Default)]
pub struct Written<'a> {
    /// A pattern of five fields.
    pub cron: Option<&'a str>,
    /// An interval.
    pub every_ms: Option<Millis>,
    /// The name of a time zone.
    pub timezone: &'a str,
}

impl Timing {
    /// Reads what was written, or returns all mistakes in it. `now` is needed for patterns that never come.
    pub fn read(written: Written<'_>, now: Millis) -> Result<Timing, Vec<Mistake>> {
        let zone = zone(written.timezone);
        let timing = match (written.cron, written.every_ms) {
            (Some(_), Some(_)) => Err(wrong("every", "a schedule has `cron` or `every`, not both")),
            (None, None) => Err(wrong("cron", "is required, or `every`: a schedule needs one of them")),
            (Some(pattern), None) => match (&zone, Pattern::read(pattern)) {
                (Ok(zone), Ok(pattern)) => {
                    let timing = Timing(Rhythm::Cron { pattern, zone: zone.clone() });
                    let comes = timing.next(now).is_some();
                    if comes { Ok(timing) } else { Err(wrong("cron", "never comes: no such date exists")) }
                }
                (_, Err(mistake)) => Err(mistake),
                (Err(mistake), Ok(_)) => return Err(vec![mistake.clone()]),
            },
            (None, Some(ms)) => every(ms),
        };
        match (timing, zone) {
            (Ok(timing), Ok(_)) => Ok(timing),
            (timing, zone) => Err(timing.err().into_iter().chain(zone.err()).collect()),
        }
    }

    /// Returns the first due time after a moment.
    pub fn next(&self, after: Millis) -> Option<Millis> {
        match &self.0 {
            Rhythm::Every(ms) => (after / ms).checked_add(1)?.checked_mul(*ms),
            Rhythm::Cron { pattern, zone } => pattern.next(after, zone),
        }
    }

    /// Returns the first due times after a moment.
    pub fn upcoming(&self, after: Millis, count: usize) -> Vec<Millis> {
        std::iter::successors(self.next(after), |due| self.next(*due)).take(count).collect()
    }

    /// Returns the last due time up to a moment, that moment included.
    fn previous(&self, until: Millis) -> Option<Millis> {
        match &self.0 {
            Rhythm::Every(ms) => Some(until / ms * ms),
            Rhythm::Cron { pattern, zone } => pattern.previous(until, zone),
        }
    }

    /// Returns the newest due times after `after` and up to `until`, in order. Takes as long as there are
    /// times to return, however long the span is.
    pub fn newest(&self, after: Millis, until: Millis, count: usize) -> Vec<Millis> {
        let earlier = |due: &Millis| self.previous(due.checked_sub(1)?);
        let dues = std::iter::successors(self.previous(until), earlier);
        let mut newest: Vec<Millis> = dues.take_while(|due| *due > after).take(count).collect();
        newest.reverse();
        newest
    }
}

impl Pattern {
    /// Reads a pattern as cron does: where the minute or the hour begins with `*` it follows the clock, and where the day
    /// of month or of week does, a day must fit both.
    fn read(written: &str) -> Result<Pattern, Mistake> {
        let fields: Vec<&str> = written.split_whitespace().collect();
        let [minute, hour, day, _, weekday] = fields[..] else { return Err(not_five(fields.len())) };
        if written.len() > PATTERN_MAX {
            return Err(wrong("cron", format!("may have {PATTERN_MAX} bytes")));
        }
        let has_star = |fields: [&str; 2]| fields.iter().any(|field| field.starts_with('*'));
        let parser = CronParser::builder().seconds(Seconds::Disallowed).year(Year::Disallowed);
        let read = parser.dom_and_dow(has_star([day, weekday])).build().parse(written);
        let no_pattern = |error| wrong("cron", format!("is no pattern such as \"0 8 * * MON\": {error}"));
        Ok(Pattern { cron: Box::new(read.map_err(no_pattern)?), follows_clock: has_star([minute, hour]) })
    }

    fn next(&self, after: Millis, zone: &TimeZone) -> Option<Millis> {
        let now = zoned(after, zone)?;
        if self.follows_clock {
            return millis(&self.cron.find_next_occurrence(&now, false).ok()?);
        }
        let later = |shown: &DateTime| Some(self.cron.find_next_occurrence(&plain(*shown)?, false).ok()?.datetime());
        let shown = std::iter::successors(later(&now.datetime()), later);
        shown.take(CHANGED_MAX).filter_map(|shown| moment(shown, zone)).find(|due| *due > after)
    }

    fn previous(&self, until: Millis, zone: &TimeZone) -> Option<Millis> {
        if self.follows_clock {
            return millis(&self.cron.find_previous_occurrence(&zoned(until, zone)?, true).ok()?);
        }
        let before = |shown: DateTime, is_included| {
            Some(self.cron.find_previous_occurrence(&plain(shown)?, is_included).ok()?.datetime())
        };
        let shown = std::iter::successors(before(latest_shown(until, zone)?, true), |shown| before(*shown, false));
        shown.take(CHANGED_MAX).filter_map(|shown| moment(shown, zone)).find(|due| *due <= until)
    }
}

fn not_five(fields: usize) -> Mistake {
    let message = "must have five fields, minute, hour, day of month, month and day of week, as in \"0 8 * * MON\"";
    wrong("cron", format!("{message}, not {fields}"))
}

/// Returns the moment of a time of day: of a repeated one the first, of one that is jumped over that of the jump.
fn moment(shown: DateTime, zone: &TimeZone) -> Option<Millis> {
    let meant = zone.to_ambiguous_timestamp(shown);
    let earlier = meant.earlier().ok()?;
    let at = match meant.offset() {
        AmbiguousOffset::Gap { .. } => zone.following(earlier).next()?.timestamp(),
        AmbiguousOffset::Unambiguous { .. } | AmbiguousOffset::Fold { .. } => earlier,
    };
    Millis::try_from(at.as_millisecond()).ok()
}

/// Returns the latest time that clocks have shown until a moment: while they repeat times, one of before.
fn latest_shown(until: Millis, zone: &TimeZone) -> Option<DateTime> {
    let now = zoned(until, zone)?;
    Some(match zone.to_ambiguous_timestamp(now.datetime()).offset() {
        AmbiguousOffset::Fold { before, .. } => before.to_datetime(now.timestamp()),
        AmbiguousOffset::Unambiguous { .. } | AmbiguousOffset::Gap { .. } => now.datetime(),
    })
}

/// Returns a time of day on clocks that never change.
fn plain(shown: DateTime) -> Option<Zoned> {
    shown.to_zoned(TimeZone::UTC).ok()
}

fn every(ms: Millis) -> Result<Timing, Mistake> {
    if (EVERY_MIN..=EVERY_MAX).contains(&ms) {
        return Ok(Timing(Rhythm::Every(ms)));
    }
    let min = span::text(EVERY_MIN);
    let max = span::text(EVERY_MAX);
    let given = span::text(ms);
    Err(wrong("every", format!("must be from \"{min}\" to \"{max}\", not \"{given}\"")))
}

fn zone(name: &str) -> Result<TimeZone, Mistake> {
    let unknown = |_| {
        let shown: String = name.chars().take(60).collect();
        wrong("timezone", format!("there is no time zone `{shown}`: use a name such as \"Europe/Berlin\" or \"UTC\""))
    };
    TimeZone::get(name).map_err(unknown)
}

fn wrong(place: &str, message: impl Into<String>) -> Mistake {
    Mistake::new(Code::BadRequest, place, message)
}

fn zoned(at: Millis, zone: &TimeZone) -> Option<Zoned> {
    Some(Timestamp::from_millisecond(i64::try_from(at).ok()?).ok()?.to_zoned(zone.clone()))
}

fn millis(at: &Zoned) -> Option<Millis> {
    Millis::try_from(at.timestamp().as_millisecond()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Millis {
        consort_core::time::parse_iso(text).unwrap()
    }

    fn timing(cron: &str, timezone: &str) -> Timing {
        Timing::read(Written { cron: Some(cron), every_ms: None, timezone }, 0).unwrap()
    }

    fn upcoming(cron: &str, zone: &str, after: &str, count: usize) -> Vec<String> {
        timing(cron, zone).upcoming(at(after), count).into_iter().map(consort_core::time::iso).collect()
    }

    #[test]
    fn a_time_of_day_is_that_of_its_zone_in_summer_and_in_winter() {
        let mondays = upcoming("0 8 * * MON", "Europe/Berlin", "2026-10-18T00:00:00.000Z", 3);
        let expected = ["2026-10-19T06:00:00.000Z", "2026-10-26T07:00:00.000Z", "2026-11-02T07:00:00.000Z"];
        assert_eq!(mondays, expected);
    }

    #[test]
    fn a_time_that_the_clock_jumps_over_comes_once_right_after_it() {
        // 02:30 does not exist on 29 March: the clock goes from 02:00 to 03:00 at 01:00 UTC.
        let days = upcoming("30 2 * * *", "Europe/Berlin", "2026-03-28T00:00:00.000Z", 3);
        assert_eq!(days.len(), 3);
        assert_eq!(days[0], "2026-03-28T01:30:00.000Z");
        assert!(days[1].starts_with("2026-03-29T01:"), "{days:?}");
        assert_eq!(days[2], "2026-03-30T00:30:00.000Z");
    }

    #[test]
    fn a_time_that_the_clock_repeats_comes_once_and_an_interval_goes_on() {
        // 02:30 comes twice on 25 October: at 00:30 and at 01:30 UTC.
        let days = upcoming("30 2 * * *", "Europe/Berlin", "2026-10-24T00:00:00.000Z", 3);
        assert_eq!(days, ["2026-10-24T00:30:00.000Z", "2026-10-25T00:30:00.000Z", "2026-10-26T01:30:00.000Z"]);
        let quarters = upcoming("*/30 * * * *", "Europe/Berlin", "2026-10-24T23:45:00.000Z", 6);
        let expected = ["00:00", "00:30", "01:00", "01:30", "02:00", "02:30"];
        let expected: Vec<String> = expected.iter().map(|time| format!("2026-10-25T{time}:00.000Z")).collect();
        assert_eq!(quarters, expected, "every half hour, whatever the clock shows");
    }

    #[test]
    fn several_times_of_day_come_once_each_whatever_the_clock_does() {
        let spring = upcoming("30 2,3,14 * * *", "Europe/Berlin", "2026-03-28T12:00:00.000Z", 4);
        let expected = ["2026-03-28T13:30", "2026-03-29T01:00", "2026-03-29T01:30", "2026-03-29T12:30"];
        assert_eq!(spring, expected.map(|time| format!("{time}:00.000Z")));
        let autumn = upcoming("0,30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00.000Z", 3);
        let expected = ["2026-10-25T00:00", "2026-10-25T00:30", "2026-10-26T01:00"];
        assert_eq!(autumn, expected.map(|time| format!("{time}:00.000Z")));
    }

    #[test]
    fn a_day_that_begins_with_a_star_must_fit_the_other_too() {
        let odd_mondays = upcoming("0 0 */2 * MON", "UTC", "2026-11-01T00:00:00.000Z", 3);
        assert_eq!(odd_mondays, ["2026-11-09", "2026-11-23", "2026-12-07"].map(|day| format!("{day}T00:00:00.000Z")));
        let either = upcoming("0 0 13 * FRI", "UTC", "2026-11-09T00:00:00.000Z", 3);
        assert_eq!(either, ["2026-11-13", "2026-11-20", "2026-11-27"].map(|day| format!("{day}T00:00:00.000Z")));
    }

    #[test]
    fn an_interval_is_counted_from_the_epoch() {
        let written = Written { cron: None, every_ms: Some(900_000), timezone: "UTC" };
        let timing = Timing::read(written, 0).unwrap();
        assert_eq!(timing.upcoming(1_000, 2), [900_000, 1_800_000]);
        assert_eq!(timing.next(900_000), Some(1_800_000));
        assert_eq!(timing.newest(0, 4_000_000, 2), [2_700_000, 3_600_000]);
    }

    #[test]
    fn mistakes_say_what_is_allowed() {
        let mistakes = |cron, every_ms, timezone| {
            let read = Timing::read(Written { cron, every_ms, timezone }, 0).unwrap_err();
            read.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
        };
        assert!(mistakes(Some("0 0 8 * * MON"), None, "UTC").contains("must have five fields"));
        assert!(mistakes(Some("@daily"), None, "UTC").contains("five fields"));
        assert!(mistakes(Some("61 8 * * *"), None, "UTC").starts_with("cron: is no pattern"));
        assert!(mistakes(Some("0 0 30 2 *"), None, "UTC").contains("never comes"));
        assert!(mistakes(Some("0 8 * * *"), Some(1_000), "UTC").contains("not both"));
        assert!(mistakes(None, None, "UTC").contains("needs one of them"));
        assert!(mistakes(None, Some(999), "UTC").contains("must be from \"1s\""));
        let both = mistakes(Some("x"), None, "Mars/Olympus");
        assert!(both.contains("five fields") && both.contains("there is no time zone `Mars/Olympus`"), "{both}");
    }

    #[test]
    fn looking_back_finds_what_looking_ahead_would_have() {
        for (cron, zone) in [("*/7 3-5 * * *", "Europe/Berlin"), ("0 8 * * MON-FRI", "America/New_York")] {
            let timing = timing(cron, zone);
            let after = at("2026-10-20T00:00:00.000Z");
            let until = at("2026-11-05T12:00:00.000Z");
            let ahead: Vec<Millis> =
                timing.upcoming(after, 10_000).into_iter().take_while(|due| *due <= until).collect();
            assert_eq!(timing.newest(after, until, 10_000), ahead, "{cron} in {zone}");
            assert_eq!(timing.newest(after, until, 3), ahead[ahead.len() - 3..]);
        }
    }

    #[test]
    fn a_long_outage_of_a_frequent_schedule_is_looked_back_upon_at_once() {
        let written = Written { cron: None, every_ms: Some(1_000), timezone: "UTC" };
        let timing = Timing::read(written, 0).unwrap();
        let newest = timing.newest(0, at("2026-11-05T12:00:00.000Z"), 100);
        assert_eq!(newest.len(), 100);
    }
}
