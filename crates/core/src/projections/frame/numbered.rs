//! A frame with its position in a run or a thread, as text and as a value.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::projections::frame::chat::ChatFrame;
use crate::projections::frame::field::Iso;
use crate::projections::frame::run::Frame;
use consort_spec::json;

/// The frame of one event.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged)]
pub enum EventFrame {
    /// The frame of a run.
    Run(RunFrame),
    /// The frame of a turn of a chat.
    Turn(TurnFrame),
}

/// The frame of one event of a run.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunFrame {
    /// The id of the run.
    pub run_id: Arc<str>,
    /// The event's number in the run, from 0.
    pub seq: u64,
    /// The frame.
    #[serde(flatten)]
    pub frame: Frame,
    /// Whether the event was copied from the run that this one continues.
    #[serde(default)]
    pub inherited: bool,
    /// The time of the event.
    pub at: Iso,
}

/// The frame of one event of a turn.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct TurnFrame {
    /// The id of the thread.
    pub thread_id: String,
    /// The id of the turn.
    pub turn_id: Arc<str>,
    /// The event's number in the thread, from 0.
    pub chat_seq: u64,
    /// The frame.
    #[serde(flatten)]
    pub frame: ChatFrame,
    /// The time of the event.
    pub at: Iso,
}

/// The fields that every frame of a run's events has.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct RunEvent<'a> {
    #[serde(flatten)]
    place: RunPlace<'a>,
    #[serde(flatten)]
    ending: RunEnding,
}

/// The fields that every frame of a turn's events has.
#[derive(Serialize, JsonSchema)]
pub(super) struct ChatEvent<'a> {
    #[serde(flatten)]
    place: ThreadPlace<'a>,
    #[serde(flatten)]
    ending: TurnEnding,
}

/// The place of a run's frame.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct RunPlace<'a> {
    /// The run.
    run_id: &'a str,
    /// The event's number in the run, from 0.
    seq: u64,
}

/// The place of a turn's frame.
#[derive(Serialize, JsonSchema)]
struct ThreadPlace<'a> {
    /// The thread.
    thread_id: &'a str,
    /// The turn.
    turn_id: &'a str,
    /// The event's number in the thread, from 0.
    chat_seq: u64,
}

/// The end of a run's frame.
#[derive(Serialize, JsonSchema)]
struct RunEnding {
    /// True when the event was copied from the run that this one goes on from:
    /// its time and its counts are that run's. Absent on what the run did itself.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("const" = true))]
    inherited: bool,
    /// When the event was decided.
    at: Iso,
}

/// The end of a turn's frame.
#[derive(Serialize, JsonSchema)]
struct TurnEnding {
    /// When the event was decided.
    at: Iso,
}

impl EventFrame {
    /// Returns the type of the frame.
    pub fn kind(&self) -> &'static str {
        match self {
            EventFrame::Run(frame) => frame.frame.kind(),
            EventFrame::Turn(frame) => frame.frame.kind(),
        }
    }

    /// Returns the time of the event.
    pub fn at(&self) -> Iso {
        match self {
            EventFrame::Run(frame) => frame.at,
            EventFrame::Turn(frame) => frame.at,
        }
    }

    /// Returns the frame as JSON, for callers that change it before it is sent.
    pub fn json(&self) -> Value {
        let (frame, place) = match self {
            EventFrame::Run(RunFrame { run_id, seq, frame, .. }) => {
                (serde_json::to_value(frame), serde_json::to_value(RunPlace { run_id, seq: *seq }))
            }
            EventFrame::Turn(TurnFrame { thread_id, turn_id, chat_seq, frame, .. }) => (
                serde_json::to_value(frame),
                serde_json::to_value(ThreadPlace { thread_id, turn_id, chat_seq: *chat_seq }),
            ),
        };
        let mut json = Map::new();
        json.insert("type".to_owned(), self.kind().into());
        // A frame and its position hold nothing that JSON cannot represent.
        for part in [place, frame] {
            if let Ok(Value::Object(fields)) = part {
                json.extend(fields);
            }
        }
        if matches!(self, EventFrame::Run(RunFrame { inherited: true, .. })) {
            json.insert("inherited".to_owned(), true.into());
        }
        json.insert("at".to_owned(), self.at().to_string().into());
        Value::Object(json)
    }

    /// Returns the frame as it is sent.
    pub fn text(&self) -> String {
        match self {
            EventFrame::Run(RunFrame { run_id, seq, frame, inherited, at }) => {
                let end = RunEnding { inherited: *inherited, at: *at };
                placed(frame, frame.kind(), &RunPlace { run_id, seq: *seq }, &end)
            }
            EventFrame::Turn(TurnFrame { thread_id, turn_id, chat_seq, frame, at }) => {
                let place = ThreadPlace { thread_id, turn_id, chat_seq: *chat_seq };
                placed(frame, frame.kind(), &place, &TurnEnding { at: *at })
            }
        }
    }
}

/// Writes the position right after the type, and the time at the end: the protocol has this order, which no
/// derived serializer can produce for a tagged enum.
fn placed(frame: &impl Serialize, kind: &str, place: &impl Serialize, end: &impl Serialize) -> String {
    json::with_buffer(|written| {
        // Frames hold nothing that JSON cannot represent: their maps have text as keys.
        let _written = json::append(frame, written);
        let body_end = written.len();
        let _written = json::append(place, written);
        let place_end = written.len();
        let _written = json::append(end, written);
        let (body, rest) = written.split_at(body_end);
        let (place, end) = rest.split_at(place_end - body_end);
        let place = place.trim_start_matches('{').trim_end_matches('}');
        let end = end.trim_start_matches('{');
        let type_end = r#"{"type":"""#.len() + kind.len();
        let head = body.get(..type_end).unwrap_or_default();
        let fields = body.get(type_end..body.len().saturating_sub(1)).unwrap_or_default();
        [head, ",", place, fields, ",", end].concat()
    })
}
