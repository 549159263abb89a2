//! The memory that the conversations of one run share: results of subtasks and entries that agents write
//! for each other. A conversation reads the entries that existed when it asked for its calls; entries
//! written by those calls become visible once all of them have ended, merged in the order of the calls. So
//! no outcome depends on timing.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};

use consort_spec::id::Millis;
use consort_spec::message::Outcome;
use consort_spec::text::Text;
use consort_spec::time::iso;

/// The prefix of the keys that agents write to.
const SHARED: &str = "shared:";
/// The number of entries listed at once.
const LISTED_MAX: usize = 200;
/// The number of characters of a description in a list.
const DESCRIPTION_MAX: usize = 240;

/// One entry.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entry {
    pub(crate) kind: &'static str,
    pub(crate) value: Text,
    pub(crate) title: Option<String>,
    pub(crate) description: Option<String>,
    /// The call that wrote it.
    pub(crate) source: String,
    pub(crate) created_at: Millis,
}

/// The entries that one conversation sees, and those it has added.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Memory {
    seen: Arc<BTreeMap<String, Entry>>,
    written: Vec<String>,
}

impl Memory {
    /// Returns the entries that a child sees: all of its parent's, as they are now.
    pub(crate) fn handed_down(&self) -> Memory {
        Memory { seen: self.seen.clone(), written: Vec::new() }
    }

    /// Stores an entry. An overwritten entry keeps the time of its creation.
    pub(crate) fn put(&mut self, key: String, entry: Entry) {
        let created_at = self.seen.get(&key).map_or(entry.created_at, |known| known.created_at);
        Arc::make_mut(&mut self.seen).insert(key.clone(), Entry { created_at, ..entry });
        if !self.written.contains(&key) {
            self.written.push(key);
        }
    }

    /// Returns the added entries, to be merged into the parent's.
    pub(crate) fn into_written(mut self) -> Vec<(String, Entry)> {
        let seen = Arc::unwrap_or_clone(self.seen);
        self.written.drain(..).filter_map(|key| seen.get(&key).cloned().map(|entry| (key, entry))).collect()
    }

    /// Returns the answer to a call of `memory_list`.
    pub(crate) fn list(&self, args: &Value) -> Outcome {
        let wanted: Wanted = serde_json::from_value(args.clone()).unwrap_or_default();
        let matches = |(key, entry): &(&String, &Entry)| {
            wanted.kind.as_ref().is_none_or(|kind| kind == entry.kind)
                && wanted.key_prefix.as_ref().is_none_or(|prefix| key.starts_with(prefix))
                && (wanted.sources.is_empty() || wanted.sources.contains(&entry.source))
        };
        let found: Vec<(&String, &Entry)> = self.seen.iter().filter(matches).collect();
        let entries: Vec<Value> = found.iter().take(LISTED_MAX).map(|(key, entry)| entry.row(key)).collect();
        let truncated = found.len() > entries.len();
        answer(json!({ "entries": entries, "total": found.len(), "truncated": truncated }))
    }

    /// Returns the answer to a call of `memory_read`.
    pub(crate) fn read(&self, args: &Value) -> Outcome {
        let keys = args.get("keys").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        let mut entries = Vec::new();
        let mut missing = Vec::new();
        for key in keys {
            let found = self.seen.get_key_value(key).or_else(|| self.seen.get_key_value(&format!("{SHARED}{key}")));
            match found {
                Some((key, entry)) => entries.push(entry.whole(key)),
                None => missing.push(key),
            }
        }
        answer(json!({ "entries": entries, "missing": missing }))
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Wanted {
    kind: Option<String>,
    key_prefix: Option<String>,
    sources: Vec<String>,
}

impl Entry {
    fn row(&self, key: &str) -> Value {
        let description: Option<String> =
            self.description.as_ref().map(|text| text.chars().take(DESCRIPTION_MAX).collect());
        json!({ "key": key, "kind": self.kind, "title": self.title, "description": description,
            "size": self.value.len(), "created_at": iso(self.created_at) })
    }

    fn whole(&self, key: &str) -> Value {
        json!({ "key": key, "kind": self.kind, "title": self.title, "value": self.value,
            "source": self.source, "created_at": iso(self.created_at) })
    }
}

/// Returns the key of a write, which always has the prefix for agents.
fn shared(args: &Value) -> String {
    let key = args.get("key").and_then(Value::as_str).unwrap_or_default();
    format!("{SHARED}{}", key.strip_prefix(SHARED).unwrap_or(key))
}

/// Returns the answer to a call of `memory_write`.
pub(crate) fn write_answer(args: &Value) -> Outcome {
    answer(json!({ "key": shared(args), "written": true }))
}

fn answer(value: Value) -> Outcome {
    Outcome::answer(value.to_string())
}

/// Returns the entry that a call of `memory_write` makes.
pub(crate) fn noted(args: &Value, source: &str, at: Millis) -> (String, Entry) {
    let text = |name: &str| args.get(name).and_then(Value::as_str).map(str::to_owned);
    let value = match args.get("value") {
        Some(Value::String(text)) => text.as_str().into(),
        Some(other) => other.to_string().into(),
        None => Text::default(),
    };
    let entry = Entry {
        kind: "shared",
        value,
        title: text("title"),
        description: text("description"),
        source: source.to_owned(),
        created_at: at,
    };
    (shared(args), entry)
}

/// Returns the entry for the end of a subtask: exactly the result that its caller got.
pub(crate) fn result(title: &str, value: Text, source: &str, at: Millis) -> (String, Entry) {
    let title = Some(title.to_owned());
    let source = source.to_owned();
    let entry = Entry { kind: "task_result", value, title, description: None, source: source.clone(), created_at: at };
    (format!("task:{source}"), entry)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value_of(outcome: &Outcome) -> Value {
        let Outcome::Answer { text, .. } = outcome else { panic!("{outcome:?}") };
        serde_json::from_str(text.as_str()).unwrap()
    }

    #[test]
    fn a_write_lands_among_what_is_shared_and_is_found_by_its_bare_name() {
        let mut memory = Memory::default();
        for (key, at) in [("plan", 1), ("shared:plan", 2), ("task:1", 3)] {
            let (key, entry) = noted(&json!({ "key": key, "value": { "n": at } }), "c", at);
            memory.put(key, entry);
        }
        let read = value_of(&memory.read(&json!({ "keys": ["plan", "shared:task:1", "nothing"] })));
        let keys: Vec<&str> = read["entries"].as_array().unwrap().iter().map(|e| e["key"].as_str().unwrap()).collect();
        assert_eq!((keys, &read["missing"]), (vec!["shared:plan", "shared:task:1"], &json!(["nothing"])));
        assert_eq!(read["entries"][0]["value"], json!(r#"{"n":2}"#));
        assert_eq!(read["entries"][0]["created_at"], json!(iso(1)), "an overwritten entry keeps its first time");
    }

    #[test]
    fn a_list_is_filtered_and_cut_and_shows_no_values() {
        let mut memory = Memory::default();
        for n in 0..250 {
            let (key, entry) =
                noted(&json!({ "key": format!("k{n:03}"), "value": "v", "description": "d".repeat(300) }), "c", 1);
            memory.put(key, entry);
        }
        let (key, entry) = result("Look", "found".into(), "1.0.0", 2);
        memory.put(key, entry);
        let all = value_of(&memory.list(&json!({})));
        assert_eq!(
            (all["entries"].as_array().unwrap().len(), &all["total"], &all["truncated"]),
            (200, &json!(251), &json!(true))
        );
        assert_eq!(all["entries"][0]["description"].as_str().unwrap().len(), 240);
        assert!(all["entries"][0].get("value").is_none());
        let results = value_of(&memory.list(&json!({ "kind": "task_result" })));
        assert_eq!((&results["total"], &results["entries"][0]["key"]), (&json!(1), &json!("task:1.0.0")));
    }
}
