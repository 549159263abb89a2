//! Logs and frames as they were stored and sent before, one file per history.
//! They read, fold and render to the same bytes for ever: a log outlives the
//! version that wrote it. `CONSORT_RECORD=1 cargo test -p consort-core -- --test-threads 1`
//! adds histories whose frames have a shape that no file has yet; `=again` writes
//! the frames of all files anew, for a frame that has got a field since.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::sync::{LazyLock, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::state::run::Run;
use consort_spec::event::Event;

/// The run id in every recorded frame.
const RUN: &str = "run-1";
/// The depth to which the fields of a frame count as its shape.
const SHAPE_DEPTH: usize = 3;

/// One line of a file: an event as it is stored, and the frame it was shown as.
#[derive(Serialize, Deserialize)]
struct Line {
    event: Box<RawValue>,
    frame: Box<RawValue>,
}

/// The shapes that the files contain.
static SHAPES: LazyLock<Mutex<BTreeSet<String>>> = LazyLock::new(|| {
    let lines = files().into_iter().flat_map(|(_, lines)| lines);
    Mutex::new(lines.map(|line| shape(&serde_json::from_str(line.frame.get()).unwrap())).collect())
});

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("src/tests/recorded")
}

fn files() -> Vec<(PathBuf, Vec<Line>)> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let lines = |text: String| text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    paths.into_iter().map(|path| (path.clone(), lines(fs::read_to_string(path).unwrap()))).collect()
}

/// Returns a frame's type, and the names and kinds of its fields.
fn shape(frame: &Value) -> String {
    let mut shape = frame["type"].to_string();
    describe(frame, SHAPE_DEPTH, &mut shape);
    shape
}

fn describe(value: &Value, depth: usize, into: &mut String) {
    match value {
        Value::Null => into.push('0'),
        Value::Bool(_) => into.push('b'),
        Value::Number(_) => into.push('n'),
        Value::String(_) => into.push('s'),
        Value::Array(items) => {
            into.push('[');
            items.first().filter(|_| depth > 0).into_iter().for_each(|item| describe(item, depth - 1, into));
        }
        Value::Object(fields) => {
            for (name, value) in fields.iter().filter(|_| depth > 0) {
                let _infallible = write!(into, " {name}:");
                describe(value, depth - 1, into);
            }
        }
    }
}

/// Renders every event of a log from its stored form.
fn rendered<'a>(events: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut run = Run::default();
    let frame = |(seq, text): (usize, &str)| {
        let event: Event = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
        run.apply(&event);
        run.frame(RUN, seq as u64, &event).text()
    };
    events.enumerate().map(frame).collect()
}

/// Stores a history up to the last of its frames that has a new shape, if recording was requested.
pub(super) fn record(log: &[Event]) {
    if std::env::var_os("CONSORT_RECORD").is_none_or(|mode| mode != "1") || std::thread::panicking() {
        return;
    }
    let mut shapes = SHAPES.lock().unwrap_or_else(PoisonError::into_inner);
    let events: Vec<String> = log.iter().map(|event| serde_json::to_string(event).unwrap()).collect();
    let frames = rendered(events.iter().map(String::as_str));
    let is_new = |frame: &String| shapes.insert(shape(&serde_json::from_str(frame).unwrap()));
    let new: Vec<bool> = frames.iter().map(is_new).collect();
    let Some(last) = new.iter().rposition(|new| *new) else { return };
    let raw = |text: String| RawValue::from_string(text).unwrap();
    let lines = events.into_iter().zip(frames).take(last + 1);
    let lines = lines.map(|(event, frame)| Line { event: raw(event), frame: raw(frame) });
    let text: String = lines.map(|line| serde_json::to_string(&line).unwrap() + "\n").collect();
    let number = fs::read_dir(folder()).unwrap().count();
    fs::write(folder().join(format!("{number:03}.jsonl")), text).unwrap();
}

/// Writes the frames of every file anew, for a frame that has got a field since.
fn render_again() {
    for (path, lines) in files() {
        let frames = rendered(lines.iter().map(|line| line.event.get()));
        let again = |(line, frame): (Line, String)| Line { frame: RawValue::from_string(frame).unwrap(), ..line };
        let lines = lines.into_iter().zip(frames).map(again);
        let text: String = lines.map(|line| serde_json::to_string(&line).unwrap() + "\n").collect();
        fs::write(path, text).unwrap();
    }
}

#[test]
fn logs_of_earlier_versions_fold_and_render_to_the_frames_they_had() {
    if std::env::var_os("CONSORT_RECORD").is_some_and(|mode| mode == "again") {
        render_again();
    }
    let files = files();
    assert!(!files.is_empty(), "nothing was recorded");
    for (path, lines) in files {
        let frames = rendered(lines.iter().map(|line| line.event.get()));
        for (seq, (line, frame)) in lines.iter().zip(frames).enumerate() {
            assert_eq!(line.frame.get(), frame, "{}: event {seq}", path.display());
        }
    }
}
