//! A frame as it came, from this process or from a server: its text, and the value
//! that the text was parsed into once.

use std::sync::Arc;

use consort_chat::Numbered;
use consort_core::frame::live::LiveFrame;
use consort_core::frame::numbered::EventFrame;
use consort_core::view::ResultFrame;
use consort_runtime::ring;
use serde::de::DeserializeOwned;

/// A frame and its text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Received {
    frame: Frame,
    text: Arc<str>,
}

/// A frame as a value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Frame {
    /// The frame of a stored event.
    Event(Arc<EventFrame>),
    /// A live frame, which is not stored.
    Live(Arc<LiveFrame>),
    /// The result, which ends a run's frames.
    Result(Arc<ResultFrame>),
    /// A frame that this version cannot read, as a newer server may send: only its text
    /// can be shown.
    Unknown,
}

impl Received {
    /// Reads the frame of a stored event.
    pub(crate) fn event(text: String) -> Received {
        Received::read(text, Frame::Event)
    }

    /// Reads a frame that is not stored.
    pub(crate) fn live(text: String) -> Received {
        Received::read(text, Frame::Live)
    }

    /// Reads the result of a run.
    pub(crate) fn result(text: String) -> Received {
        Received::read(text, Frame::Result)
    }

    fn read<T: DeserializeOwned>(text: String, known: fn(Arc<T>) -> Frame) -> Received {
        let frame = serde_json::from_str(&text).map_or(Frame::Unknown, |frame| known(Arc::new(frame)));
        Received { frame, text: text.into() }
    }

    /// Returns the frame.
    pub(crate) fn frame(&self) -> &Frame {
        &self.frame
    }

    /// Returns the frame as JSON text.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }
}

impl From<ring::Frame> for Received {
    fn from(frame: ring::Frame) -> Received {
        match frame {
            ring::Frame::Event { frame, text, .. } => Received { frame: Frame::Event(frame), text },
            ring::Frame::Delta { frame, text, .. } => Received { frame: Frame::Live(frame), text },
            ring::Frame::Result { frame, text } => Received { frame: Frame::Result(frame), text },
        }
    }
}

impl From<Numbered> for Received {
    fn from(numbered: Numbered) -> Received {
        match numbered.frame {
            Some(frame) => frame.into(),
            None => Received { frame: Frame::Unknown, text: numbered.text },
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Creates a frame of a stored event of a run, with these fields.
    fn event(fields: &serde_json::Value) -> Frame {
        let mut frame = json!({ "runId": "run-1", "seq": 3, "at": "2026-03-15T10:30:00.000Z" });
        frame.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        Received::event(frame.to_string()).frame
    }

    #[test]
    fn what_a_newer_server_sends_is_kept_as_text_and_breaks_nothing() {
        let newer = [
            Received::event("{\"type\":\"run_paused\",\"by\":7}".to_owned()),
            Received::live("{\"type\":\"hologram\"}".to_owned()),
            Received::result("not even JSON".to_owned()),
        ];
        for received in newer {
            assert_eq!(received.frame(), &Frame::Unknown, "{}", received.text());
        }
        let unknown = event(&json!({ "type": "run_teleported", "to": "Mars" }));
        let Frame::Event(frame) = unknown else { panic!("{unknown:?}") };
        assert_eq!(frame.kind(), "unknown", "its number and its time are known all the same");
        let more = event(&json!({ "type": "run_paused", "by": "Ada", "mood": "good" }));
        assert_eq!(more, event(&json!({ "type": "run_paused", "by": "Ada" })), "new fields are passed over");
    }
}
