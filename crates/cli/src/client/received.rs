//! A frame as it came, from this process or from a server: everything that is shown is
//! read from its text.

use std::sync::Arc;

use consort_chat::Numbered;
use consort_runtime::ring;

/// A frame, and whether it is stored.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Received {
    /// A frame of a stored event, with its number.
    Event {
        /// The number.
        seq: u64,
        /// The frame.
        text: Arc<str>,
    },
    /// A live frame, which is not stored.
    Live {
        /// The frame.
        text: Arc<str>,
    },
    /// The result, which ends a run's frames.
    Result {
        /// The frame.
        text: Arc<str>,
    },
}

impl Received {
    /// Returns the frame as JSON text.
    pub(crate) fn text(&self) -> &str {
        match self {
            Received::Event { text, .. } | Received::Live { text } | Received::Result { text } => text,
        }
    }
}

impl From<ring::Frame> for Received {
    fn from(frame: ring::Frame) -> Received {
        match frame {
            ring::Frame::Event { seq, text, .. } => Received::Event { seq, text },
            ring::Frame::Delta { text, .. } => Received::Live { text },
            ring::Frame::Result { text, .. } => Received::Result { text },
        }
    }
}

impl From<Numbered> for Received {
    fn from(Numbered { seq, text, .. }: Numbered) -> Received {
        match seq {
            Some(seq) => Received::Event { seq, text },
            None => Received::Live { text },
        }
    }
}
