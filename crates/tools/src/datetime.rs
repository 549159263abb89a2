//! `datetime {timezone?, format?}`: the current time, in a form that a model
//! can use. The clock is a parameter, and the time zones come with the program.

use std::sync::Arc;

use consort_core::catalog::ToolInfo;
use consort_core::id::Millis;
use consort_core::schema::Schema;
use consort_log::clock::Clock;
use futures::future::BoxFuture;
use jiff::Timestamp;
use jiff::fmt::strtime;
use jiff::tz::{self, TimeZone};
use serde::Deserialize;
use serde_json::json;

use super::arguments::{arguments, short};
use super::{Answer, Invocation, Tool};

/// The maximum size of a format in bytes.
const FORMAT_MAX: usize = 200;
/// The default format.
const FORMAT: &str = "%Y-%m-%dT%H:%M:%S%:z (%A, %Q)";
/// The maximum number of zones suggested for an unknown one.
const SUGGESTIONS_MAX: usize = 3;

/// The tool that returns the time.
#[derive(Clone, Debug)]
pub struct DateTime {
    clock: Clock,
    info: Arc<ToolInfo>,
}

#[derive(Default, Deserialize)]
struct Args {
    timezone: Option<String>,
    format: Option<String>,
}

impl DateTime {
    /// Returns a tool with this clock.
    pub fn new(clock: Clock) -> DateTime {
        let about = "Tells the current date and time. `timezone` is an IANA name such as `Europe/Berlin` (default \
                     `UTC`); `format` is as for strftime, such as `%A, %d %B %Y, %H:%M`.";
        let schema = Schema::new(json!({ "type": "object", "additionalProperties": false, "properties": {
            "timezone": { "type": "string" }, "format": { "type": "string" } } }));
        DateTime { clock, info: Arc::new(ToolInfo { schema, ..ToolInfo::new("datetime", about) }) }
    }
}

impl Tool for DateTime {
    fn info(&self) -> &Arc<ToolInfo> {
        &self.info
    }

    fn call(&self, invocation: Invocation) -> BoxFuture<'_, Answer> {
        let text = arguments(invocation.args).and_then(|args| tell(self.clock.now(), &args));
        let answer = text.map_or_else(Answer::Failed, |text| Answer::Done { text, data: None });
        Box::pin(std::future::ready(answer))
    }
}

fn tell(now: Millis, args: &Args) -> Result<String, String> {
    let name = args.timezone.as_deref().unwrap_or("UTC").trim();
    let zone = TimeZone::get(name).map_err(|_| unknown(name))?;
    let millis = i64::try_from(now).unwrap_or(i64::MAX);
    let at = Timestamp::from_millisecond(millis).map_err(|error| format!("the clock shows no time: {error}"))?;
    let format = args.format.as_deref().unwrap_or(FORMAT);
    if format.len() > FORMAT_MAX {
        return Err(format!("the format is longer than {FORMAT_MAX} bytes"));
    }
    strtime::format(format, &at.to_zoned(zone)).map_err(|error| {
        let example = "use one such as `%Y-%m-%d %H:%M` or `%A, %d %B %Y`";
        format!("`{}` is not a format: {error}; {example}", short(format))
    })
}

fn unknown(name: &str) -> String {
    let city = name.rsplit('/').next().unwrap_or(name).replace(' ', "_");
    let known: Vec<String> = tz::db().available().map(|zone| zone.as_str().to_owned()).collect();
    let alike = |zone: &&String| zone.rsplit('/').next().is_some_and(|last| last.eq_ignore_ascii_case(&city));
    let near: Vec<&str> = known.iter().filter(alike).take(SUGGESTIONS_MAX).map(String::as_str).collect();
    let hint = match near.as_slice() {
        [] => "use an IANA name such as `Europe/Berlin`, `America/New_York` or `UTC`".to_owned(),
        near => format!("did you mean `{}`?", near.join("`, `")),
    };
    format!("there is no time zone `{}`; {hint}", short(name))
}

#[cfg(test)]
mod tests {

    use super::*;

    /// 2026-03-29 00:59:59 UTC, a second before summer begins in Berlin.
    const NOW: Millis = 1_774_745_999_000;

    fn told(now: Millis, timezone: &str, format: &str) -> Result<String, String> {
        tell(now, &Args { timezone: Some(timezone.to_owned()), format: Some(format.to_owned()) })
    }

    #[test]
    fn the_time_is_told_in_the_zone_with_its_weekday() {
        let plain =
            |timezone: Option<&str>| tell(NOW, &Args { timezone: timezone.map(str::to_owned), format: None }).unwrap();
        assert_eq!(plain(None), "2026-03-29T00:59:59+00:00 (Sunday, UTC)");
        assert_eq!(plain(Some("America/New_York")), "2026-03-28T20:59:59-04:00 (Saturday, America/New_York)");
        assert_eq!(plain(Some("asia/kolkata")), "2026-03-29T06:29:59+05:30 (Sunday, Asia/Kolkata)");
    }

    #[test]
    fn summer_time_begins_when_it_begins() {
        assert_eq!(told(NOW, "Europe/Berlin", "%H:%M:%S %Z"), Ok("01:59:59 CET".to_owned()));
        assert_eq!(told(NOW + 1_000, "Europe/Berlin", "%H:%M:%S %Z"), Ok("03:00:00 CEST".to_owned()));
    }

    #[test]
    fn mistakes_are_answered_with_an_example() {
        for (timezone, format, part) in [
            ("Berlin", "%Y", "did you mean `Europe/Berlin`?"),
            ("new york", "%Y", "did you mean `America/New_York`?"),
            ("Mars/Olympus", "%Y", "use an IANA name such as `Europe/Berlin`"),
            ("", "%Y", "there is no time zone ``"),
            ("../../etc/passwd", "%Y", "there is no time zone"),
            ("UTC", "%!", "use one such as `%Y-%m-%d %H:%M`"),
            ("UTC", &"x".repeat(201), "longer than 200 bytes"),
        ] {
            let why = told(NOW, timezone, format).unwrap_err();
            assert!(why.contains(part), "{timezone} {format}: {why}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_clock_that_was_handed_in_is_the_one_that_is_read() {
        let clock = Clock::system();
        let tool = DateTime::new(clock);
        tokio::time::advance(std::time::Duration::from_secs(3600)).await;
        let args = json!({ "format": "%s" });
        let call = Invocation::test(args);
        let text = (clock.now() / 1000).to_string();
        assert_eq!(tool.call(call).await, Answer::Done { text, data: None });
    }
}
