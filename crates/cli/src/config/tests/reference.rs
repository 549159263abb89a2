//! The reference in the guide, made by asking the reader itself: which keys a
//! table may have, what each must be, and whether leaving it out changes
//! anything. Words of explanation are those of the starter.

mod probe;
mod words;

use std::fmt::Write;
use std::path::Path;

use super::starter::switched_on;
use crate::config::typed::Typed;
use probe::{Asked, Place, Probe};
use words::Words;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/configuration.md");
/// Set to write the page instead of comparing it.
const UPDATE: &str = "CONSORT_UPDATE_DOCS";

const INTRODUCTION: &str = "# Configuration

<!-- Made from the reader of the file and the starter. To make it again:
CONSORT_UPDATE_DOCS=1 cargo test --workspace --bin consort the_reference_in_the_guide -->

Everything `consort.toml` can say. `consort init` writes a commented file to begin with, `consort check` finds every mistake at once. Unknown keys are mistakes. `${NAME}` in a string is taken from the environment, `$${` is a plain `${`. Relative paths are relative to the file.

`<name>` stands for a name of your choice.
";

#[test]
fn the_reference_in_the_guide_is_what_the_reader_accepts() {
    let page = page();
    if std::env::var_os(UPDATE).is_some() {
        std::fs::create_dir_all(Path::new(PAGE).parent().unwrap()).unwrap();
        std::fs::write(PAGE, &page).unwrap();
    }
    let kept = std::fs::read_to_string(PAGE).unwrap_or_default();
    assert!(kept == page, "docs/reference/configuration.md is out of date; {UPDATE}=1 with this test writes it again");
}

fn page() -> String {
    let text = switched_on();
    let (probe, words) = (Probe::new(&text), Words::of(&text));
    let mut page = INTRODUCTION.to_owned();
    for (title, places) in probe.sections() {
        let intro = places.iter().map(|place| words.about(&place.header())).find(|about| !about.is_empty());
        write!(page, "\n## `{title}`\n{}\n", intro.map(|intro| format!("{intro}\n")).unwrap_or_default()).unwrap();
        page += "| key | must be | default | |\n|---|---|---|---|\n";
        for key in probe.keys(&places) {
            page += &row(&probe, &words, &places, &key);
        }
    }
    page
}

fn row(probe: &Probe, words: &Words, places: &[Place], key: &str) -> String {
    let place = places.iter().find(|place| probe.value(place, key).is_some()).unwrap_or(&places[0]);
    let value = probe.value(place, key).map(shown).unwrap_or_default();
    let default = match probe.without(place, key) {
        Asked::Required => "**required**".to_owned(),
        Asked::Same if !value.is_empty() => format!("`{value}`"),
        Asked::Same | Asked::Different => String::new(),
    };
    let example =
        if default.contains(&value) || value.len() > 40 { String::new() } else { format!("Example: `{value}`.") };
    let about = places.iter().map(|place| words.about(&format!("{}.{key}", place.header())));
    let about = about.into_iter().find(|about| !about.is_empty()).unwrap_or_default();
    let notes = [about, example].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ");
    let cells = [format!("`{key}`"), probe.kind(place, key), default, notes];
    format!("| {} |\n", cells.map(|cell| cell.replace('|', "\\|")).join(" | "))
}

/// A value as a file would say it.
fn shown(value: &Typed) -> String {
    let list = |items: Vec<String>| items.join(", ");
    match value {
        Typed::Text(text) => format!("\"{}\"", text.typed.replace('\n', " ")),
        Typed::Whole(number) => number.to_string(),
        Typed::Decimal(number) | Typed::Moment(number) => number.clone(),
        Typed::Flag(flag) => flag.to_string(),
        Typed::List(items) => format!("[{}]", list(items.iter().map(shown).collect())),
        Typed::Table(table) if table.is_empty() => "{}".to_owned(),
        Typed::Table(table) => {
            format!("{{ {} }}", list(table.iter().map(|(name, value)| format!("{name} = {}", shown(value))).collect()))
        }
    }
}
