//! The schema of the file for editors, generated as the reference is: by probing the reader. What it says is
//! true of every file; what only the reader can say, such as which names exist, it leaves to `consort check`.

use std::path::Path;

use consort_core::schema::Schema;
use serde_json::{Map, Value, json};

use super::super::CONTRACT;
use super::super::starter::switched_on;
use super::probe::{Asked, Place, Probe};
use super::words::Words;
use super::{UPDATE, typed_json};
use crate::FILE_NAME;
use crate::typed;

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schemas/consort.schema.json");
/// Tables that may be written as a text as well.
const OR_TEXT: [&str; 2] = ["network.peers.<name>", "tools.pipeline.<name>.steps"];

#[test]
fn the_schema_for_editors_is_what_the_reader_accepts() {
    let made = format!("{:#}\n", schema());
    if std::env::var_os(UPDATE).is_some() {
        std::fs::write(FILE, &made).unwrap();
    }
    let kept = std::fs::read_to_string(FILE).unwrap_or_default();
    assert!(kept == made, "schemas/consort.schema.json is out of date; {UPDATE}=1 with this test writes it again");
}

#[test]
fn good_files_fit_the_schema_and_mistakes_do_not() {
    let schema = Schema::new(schema());
    let json = |text: &str| {
        let (table, _notes) = typed::read(text, Path::new(FILE_NAME), &|_| Some("set".to_owned())).unwrap();
        typed_json(&table)
    };
    for (name, text) in [("starter", crate::STARTER), ("whole starter", &switched_on()), ("contract", CONTRACT)] {
        assert_eq!(schema.violations(&json(text)), Vec::<String>::new(), "{name}");
    }
    for (wrong, place) in [
        ("[server]\nprot = 1", "/server"),
        ("[server]\nport = 'x'", "/server/port"),
        ("[models.a]\nprovider = 'oepnai'\nmodel = 'm'", "/models/a/provider"),
        ("[models.a]\nprovider = 'demo'", "/models/a"),
        ("[[ensemble.task]]\nmax_iterations = 'many'", "/ensemble"),
        ("[models.a]\nprovider = 'demo'\nmodel = 'm'\nstructured_output = 7", "/models/a/structured_output"),
    ] {
        let violations = schema.violations(&json(wrong));
        assert!(violations.iter().any(|violation| violation.contains(place)), "{wrong}: {violations:?}");
    }
    let variable = json!({ "models": { "a": { "provider": "${PROVIDER}", "model": "m" } } });
    assert!(schema.violations(&variable).is_empty(), "what a variable stands for is not known to an editor");
}

/// Returns the schema of the whole file.
fn schema() -> Value {
    let text = switched_on();
    let probe = Probe::new(&text);
    let words = Words::of(&text);
    let mut root = object();
    for (title, places) in probe.sections() {
        let is_list = title.starts_with("[[");
        let path = title.trim_matches(['[', ']']);
        let table = table(&probe, &words, &places);
        insert(&mut root, path, is_list, table);
    }
    root["$schema"] = "https://json-schema.org/draft/2020-12/schema".into();
    root["title"] = "consort.toml".into();
    root
}

fn object() -> Value {
    json!({ "type": "object", "additionalProperties": false, "properties": {} })
}

/// Returns the schema of one kind of table.
fn table(probe: &Probe, words: &Words, places: &[Place]) -> Value {
    let mut table = object();
    let about =
        |key: &str| places.iter().map(|place| words.about(key_of(place, key).as_str())).find(|about| !about.is_empty());
    let mut required = Vec::new();
    for key in probe.keys(places) {
        let place = places.iter().find(|place| probe.value(place, &key).is_some()).unwrap_or(&places[0]);
        let mut kind = kind(&probe.kind(place, &key));
        if let Some(about) = about(&key) {
            kind.insert("description".to_owned(), about.into());
        }
        table["properties"][&key] = Value::Object(kind);
        if places.iter().all(|place| matches!(probe.without(place, &key), Asked::Required)) {
            required.push(key);
        }
    }
    if !required.is_empty() {
        table["required"] = required.into();
    }
    if let Some(about) = places.iter().map(|place| words.about(&place.header())).find(|about| !about.is_empty()) {
        table["description"] = about.into();
    }
    table
}

fn key_of(place: &Place, key: &str) -> String {
    format!("{}.{key}", place.header())
}

/// Puts a table at its path; tables on the way there are made.
fn insert(root: &mut Value, path: &str, is_list: bool, table: Value) {
    let mut names = path.split('.').peekable();
    let mut at = root;
    let mut walked = String::new();
    while let Some(name) = names.next() {
        walked = if walked.is_empty() { name.to_owned() } else { format!("{walked}.{name}") };
        // An item of a list above is where its own tables are.
        if at["type"] == "array" {
            at = &mut at["items"];
        }
        if at.get("anyOf").is_some() {
            at = &mut at["anyOf"][1];
        }
        let is_last = names.peek().is_none();
        let slot = if name == "<name>" {
            if at["additionalProperties"] == false {
                at["additionalProperties"] = object();
            }
            &mut at["additionalProperties"]
        } else {
            let known = at["properties"].as_object_mut().unwrap();
            known.entry(name).or_insert_with(object)
        };
        if is_last {
            merge(slot, table, is_list, OR_TEXT.contains(&walked.as_str()));
            return;
        }
        at = slot;
    }
}

/// Puts a table in its slot, which may hold tables that came before it.
fn merge(slot: &mut Value, mut table: Value, is_list: bool, or_text: bool) {
    let inner = slot["properties"].as_object().cloned().unwrap_or_default();
    for (name, value) in inner {
        table["properties"][name] = value;
    }
    if slot["additionalProperties"].is_object() {
        table["additionalProperties"] = slot["additionalProperties"].clone();
    }
    if or_text {
        table = json!({ "anyOf": [{ "type": "string" }, table] });
    }
    *slot = if is_list { json!({ "type": "array", "items": table }) } else { table };
}

/// Returns the schema for the reader's words about a value; what has no exact form is left open.
fn kind(words: &str) -> Map<String, Value> {
    let number = |text: &str| text.parse::<f64>().ok().map(|_| serde_json::from_str::<Value>(text).unwrap());
    let schema = if let Some(each) = words.strip_prefix("a list, each ") {
        json!({ "type": "array", "items": kind(each) })
    } else if let Some(names) = words.strip_prefix("one of ") {
        let names: Vec<&str> = names.split(", ").collect();
        // A variable may stand for any of them.
        json!({ "anyOf": [{ "enum": names }, { "type": "string", "pattern": "\\$\\{" }] })
    } else if let Some(least) = words.strip_prefix("a whole number of at least ").and_then(number) {
        json!({ "type": "integer", "minimum": least })
    } else if let Some((least, most)) = words.strip_prefix("a whole number from ").and_then(|it| it.split_once(" to "))
    {
        json!({ "type": "integer", "minimum": number(least), "maximum": number(most) })
    } else if let Some((least, most)) = words.strip_prefix("a number from ").and_then(|it| it.split_once(" to ")) {
        json!({ "type": "number", "minimum": number(least), "maximum": number(most) })
    } else {
        match words {
            "true or false" => json!({ "type": "boolean" }),
            "a list" => json!({ "type": "array" }),
            "a table" => json!({ "type": "object" }),
            text if text == "a string" || text.starts_with("a duration") || text.starts_with("a rate") => {
                json!({ "type": "string" })
            }
            text if text.starts_with("an address") || text.starts_with("a size") => json!({ "type": "string" }),
            _ => json!({}),
        }
    };
    schema.as_object().cloned().unwrap()
}
