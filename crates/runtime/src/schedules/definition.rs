//! The definition of a schedule: as the configuration or a client wrote it, and as it is stored.

use consort_core::id::Millis;
use consort_core::mistake::{Code, Mistake};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::plan::{CatchUp, Overlap, Rules};
use super::span;
use super::timing::{Timing, Written};

/// The maximum number of characters of a name, which is part of addresses.
pub const NAME_MAX: usize = 64;
/// The default window: what was due in the last hour is still made up for.
pub const WINDOW_MS: Millis = 3_600_000;
/// The longest window or jitter, a year.
const SPAN_MAX: Millis = 365 * 24 * 3_600_000;
/// The maximum number of bytes of the inputs of a schedule: they are stored with every run.
const INPUTS_MAX: usize = 64 * 1024;
const OVERLAPS: [(&str, Overlap); 3] =
    [("skip", Overlap::Skip), ("queue", Overlap::Queue), ("cancel_previous", Overlap::CancelPrevious)];
const CATCH_UPS: [(&str, CatchUp); 3] = [("none", CatchUp::None), ("one", CatchUp::One), ("all", CatchUp::All)];

/// A schedule as it was written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Definition {
    /// The name, unique among the schedules of its owner.
    pub name: String,
    /// The cron pattern, unless there is an interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cron: Option<String>,
    /// The interval, unless there is a cron pattern.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub every_ms: Option<Millis>,
    /// The time zone of the pattern.
    pub timezone: String,
    /// The id or the name of a saved workflow; the ensemble when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow: Option<String>,
    /// The inputs of its runs.
    #[serde(default)]
    pub inputs: Map<String, Value>,
    /// The treatment of due times while the previous run is active.
    pub overlap: Overlap,
    /// The due times that are made up for.
    pub catch_up: CatchUp,
    /// The age of due times that are still made up for.
    pub window_ms: Millis,
    /// The longest delay after a due time.
    pub jitter_ms: Millis,
}

impl Definition {
    /// Returns a schedule without due times, with the default rules.
    pub fn new(name: &str) -> Definition {
        Definition {
            name: name.to_owned(),
            cron: None,
            every_ms: None,
            timezone: "UTC".to_owned(),
            workflow: None,
            inputs: Map::new(),
            overlap: Overlap::default(),
            catch_up: CatchUp::default(),
            window_ms: WINDOW_MS,
            jitter_ms: 0,
        }
    }

    /// Returns its due times, or the mistakes in what is written about them.
    pub fn timing(&self, now: Millis) -> Result<Timing, Vec<Mistake>> {
        let written = Written { cron: self.cron.as_deref(), every_ms: self.every_ms, timezone: &self.timezone };
        Timing::read(written, now)
    }

    /// Returns its rules.
    pub(super) fn rules(&self) -> Rules {
        let Definition { overlap, catch_up, window_ms, jitter_ms, .. } = *self;
        Rules { overlap, catch_up, window_ms, jitter_ms }
    }

    /// Returns the mistakes that do not depend on what is saved.
    pub fn mistakes(&self, now: Millis) -> Vec<Mistake> {
        let mut mistakes = Vec::new();
        mistakes.extend(name_mistake(&self.name).map(|message| wrong("name", message)));
        mistakes.extend(self.timing(now).err().unwrap_or_default());
        let bytes = serde_json::to_string(&self.inputs).map_or(0, |text| text.len());
        if bytes > INPUTS_MAX {
            mistakes.push(wrong("inputs", format!("may have {INPUTS_MAX} bytes, not {bytes}")));
        }
        for (place, ms) in [("window", self.window_ms), ("jitter", self.jitter_ms)] {
            if ms > SPAN_MAX {
                mistakes.push(wrong(place, format!("must be at most \"{}\"", span::text(SPAN_MAX))));
            }
        }
        mistakes
    }

    /// Returns the schedule that a client asks for, or all mistakes.
    pub fn read(json: &Value, now: Millis) -> Result<Definition, Vec<Mistake>> {
        let name = json.get("name").and_then(Value::as_str).unwrap_or_default();
        Definition::new(name).changed(json, now)
    }

    /// Returns the schedule with the changes that a client asks for, or all mistakes. A field that is null
    /// gets its default, and one of `cron` and `every` takes the place of the other.
    pub fn changed(&self, json: &Value, now: Millis) -> Result<Definition, Vec<Mistake>> {
        let Value::Object(fields) = json else { return Err(vec![wrong("", "a schedule is a JSON object")]) };
        let mut reader = Reader { fields, mistakes: Vec::new() };
        let usual = Definition::new(&self.name);
        if let Some(Some(name)) = reader.text("name")
            && name != self.name
        {
            reader.mistakes.push(wrong("name", "cannot be changed: make another schedule"));
        }
        let cron = reader.text("cron");
        let every = reader.span("every");
        let is_replaced = |given: bool, other: bool| given && !other;
        let gives_cron = matches!(cron, Some(Some(_)));
        let gives_every = matches!(every, Some(Some(_)));
        let definition = Definition {
            name: self.name.clone(),
            cron: if is_replaced(gives_every, gives_cron) { None } else { cron.unwrap_or_else(|| self.cron.clone()) },
            every_ms: if is_replaced(gives_cron, gives_every) { None } else { every.unwrap_or(self.every_ms) },
            timezone: reader.text("timezone").map_or(self.timezone.clone(), |zone| zone.unwrap_or(usual.timezone)),
            workflow: reader.text("workflow").unwrap_or_else(|| self.workflow.clone()),
            inputs: reader.object("inputs").unwrap_or_else(|| self.inputs.clone()),
            overlap: reader.word("overlap", &OVERLAPS).map_or(self.overlap, Option::unwrap_or_default),
            catch_up: reader.word("catchUp", &CATCH_UPS).map_or(self.catch_up, Option::unwrap_or_default),
            window_ms: reader.span("window").map_or(self.window_ms, |window| window.unwrap_or(WINDOW_MS)),
            jitter_ms: reader.span("jitter").map_or(self.jitter_ms, Option::unwrap_or_default),
        };
        let mut mistakes = reader.mistakes;
        let is_told = |place: &str, told: &[Mistake]| told.iter().any(|mistake| mistake.place == place);
        let more: Vec<Mistake> = definition.mistakes(now);
        let more: Vec<Mistake> = more.into_iter().filter(|mistake| !is_told(&mistake.place, &mistakes)).collect();
        mistakes.extend(more);
        if mistakes.is_empty() { Ok(definition) } else { Err(mistakes) }
    }
}

/// Returns what is wrong with the name of a schedule, a webhook or a hook.
pub fn name_mistake(name: &str) -> Option<String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let fits =
        !name.is_empty() && name.len() <= NAME_MAX && name.chars().all(is_plain) && name.trim_matches('.') == name;
    (!fits).then(|| {
        format!("must be a name of 1 to {NAME_MAX} letters, digits, `-`, `_` and `.`, without `.` at its ends")
    })
}

/// The fields of a request. Each is absent, null (its default is meant), or has a value.
struct Reader<'a> {
    fields: &'a Map<String, Value>,
    mistakes: Vec<Mistake>,
}

impl Reader<'_> {
    fn read<T>(&mut self, name: &str, wanted: &str, parse: impl Fn(&Value) -> Option<T>) -> Option<Option<T>> {
        let value = self.fields.get(name)?;
        if value.is_null() {
            return Some(None);
        }
        let parsed = parse(value);
        if parsed.is_none() {
            let mut shown = value.to_string();
            shown.truncate(shown.floor_char_boundary(NAME_MAX));
            self.mistakes.push(wrong(name, format!("must be {wanted}, not {shown}")));
        }
        Some(parsed)
    }

    fn text(&mut self, name: &str) -> Option<Option<String>> {
        let not_blank = |value: &Value| value.as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned);
        self.read(name, "a string that is not blank", not_blank)
    }

    fn span(&mut self, name: &str) -> Option<Option<Millis>> {
        self.read(name, "a duration such as \"30s\", \"15m\" or \"2h\"", |value| span::parse(value.as_str()?))
    }

    fn word<T: Copy>(&mut self, name: &str, words: &[(&str, T)]) -> Option<Option<T>> {
        let allowed = words.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
        let find = |value: &Value| words.iter().find(|(word, _)| value == word).map(|(_, meaning)| *meaning);
        self.read(name, &format!("one of {allowed}"), find)
    }

    fn object(&mut self, name: &str) -> Option<Map<String, Value>> {
        self.read(name, "an object", |value| value.as_object().cloned()).map(Option::unwrap_or_default)
    }
}

fn wrong(place: &str, message: impl Into<String>) -> Mistake {
    Mistake::new(Code::BadRequest, place, message)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn places(json: &Value) -> Vec<String> {
        let mistakes = Definition::read(json, 0).unwrap_err();
        mistakes.into_iter().map(|mistake| mistake.place).collect()
    }

    #[test]
    fn everything_wrong_is_told_at_once_by_field() {
        let odd = json!({ "name": "a b", "cron": 3, "every": "soon", "timezone": "x", "overlap": "stop",
            "catchUp": true, "window": "1d", "jitter": 5, "inputs": [], "colour": "red" });
        let expected = ["cron", "every", "overlap", "catchUp", "window", "jitter", "inputs", "name", "timezone"];
        let mut found = places(&odd);
        found.sort_unstable();
        let mut expected = expected.map(str::to_owned).to_vec();
        expected.sort_unstable();
        assert_eq!(found, expected);
        assert_eq!(places(&json!([])), [""]);
        assert_eq!(places(&json!({ "name": "a" })), ["cron"]);
        assert_eq!(places(&json!({ "name": "..", "every": "1s" })), ["name"]);
    }

    #[test]
    fn a_change_keeps_what_it_does_not_name() {
        let made = json!({ "name": "a", "cron": "0 8 * * *", "timezone": "Europe/Berlin", "inputs": { "n": 3 },
            "overlap": "queue", "catchUp": "all", "window": "2h", "jitter": "10s" });
        let made = Definition::read(&made, 0).unwrap();
        assert_eq!(made.changed(&json!({}), 0).unwrap(), made);
        let every = made.changed(&json!({ "every": "15m", "overlap": null }), 0).unwrap();
        assert_eq!((every.cron, every.every_ms, every.overlap), (None, Some(900_000), Overlap::Skip));
        assert_eq!((every.timezone.as_str(), every.catch_up), ("Europe/Berlin", CatchUp::All));
        let both = made.changed(&json!({ "every": "15m", "cron": "0 9 * * *" }), 0).unwrap_err();
        assert!(both[0].message.contains("not both"));
        assert!(made.changed(&json!({ "name": "b" }), 0).unwrap_err()[0].message.contains("cannot be changed"));
        assert!(made.changed(&json!({ "cron": null }), 0).is_err());
    }

    #[test]
    fn made_up_requests_never_end_in_anything_but_an_answer() {
        let good = r#"{"name":"a","cron":"*/5 8-18 * * MON-FRI","timezone":"Europe/Berlin","inputs":{"a":1},"catchUp":"all","window":"1h","jitter":"5s","overlap":"queue"}"#;
        consort_fuzz::text(&[good, r#"{"name":"b","every":"15m"}"#], |text| {
            if let Ok(json) = serde_json::from_str(text)
                && let Ok(definition) = Definition::read(&json, 1_700_000_000_000)
            {
                assert!(!definition.timing(0).unwrap().upcoming(1_700_000_000_000, 5).is_empty());
            }
        });
    }
}
