//! An answer read as it comes: bytes become events, and a wire's decoder makes
//! pieces of them. An answer sent whole, although a stream was asked for, is
//! one large event.

use std::borrow::Cow;
use std::collections::VecDeque;

use consort_core::message::{Failure, FailureKind, Part, Stop, Usage};
use serde::Deserialize;

use super::http;
use super::sse::{EVENT_MAX, Events, TooLong};
use super::{Ask, Piece};

/// Bytes a reply may have, so that a server cannot fill the memory.
const REPLY_MAX: usize = 32 * 1024 * 1024;

/// Makes pieces and a reply of one answer's events.
pub(super) trait Decoder: Send + 'static {
    /// Reads one event.
    fn read(&mut self, event: &str, ready: &mut VecDeque<Piece>) -> Result<(), Failure>;

    /// How far the answer has come.
    fn progress(&self) -> Progress;

    /// What was said, once everything has come.
    fn finish(self: Box<Self>, ask: &Ask) -> Result<Whole, Failure>;
}

/// How far an answer has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Progress {
    /// Nothing of it has come.
    #[default]
    Awaited,
    /// Some of it has come.
    Begun,
    /// The model has said why it stopped: nothing of the reply can follow.
    Stopped,
    /// Everything has come.
    Done,
}

/// Everything the model said.
#[derive(Debug, Default)]
pub(super) struct Whole {
    pub(super) parts: Vec<Part>,
    pub(super) stop: Stop,
    pub(super) usage: Option<Usage>,
}

/// Text borrowed from the event where it holds no escapes.
#[derive(Debug, Deserialize)]
pub(super) struct Words<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

/// How the answer is sent.
#[derive(Debug, Default, PartialEq)]
enum Form {
    #[default]
    Unknown,
    Stream,
    Whole,
}

/// One answer being read.
pub(super) struct Answer {
    events: Events,
    form: Form,
    decoder: Box<dyn Decoder>,
    is_done: bool,
}

impl Answer {
    /// An answer of which nothing has come.
    pub(super) fn new(decoder: Box<dyn Decoder>) -> Answer {
        Answer { events: Events::default(), form: Form::default(), decoder, is_done: false }
    }

    /// Where arriving bytes are appended.
    pub(super) fn inbox(&mut self) -> &mut Vec<u8> {
        self.events.inbox()
    }

    /// How far it has come.
    pub(super) fn progress(&self) -> Progress {
        self.decoder.progress()
    }

    /// Whether nothing more is to be read.
    pub(super) fn is_done(&self) -> bool {
        self.is_done || self.progress() == Progress::Done
    }

    /// Reads what has arrived.
    pub(super) fn advance(&mut self, ready: &mut VecDeque<Piece>) -> Result<(), Failure> {
        if self.form == Form::Unknown {
            self.form = match self.events.rest().trim_ascii_start().first() {
                None => return Ok(()),
                Some(b'{') => Form::Whole,
                Some(b'<') => return Err(malformed("a web page came instead of an answer")),
                Some(_) => Form::Stream,
            };
        }
        match self.form {
            Form::Whole => fits(self.events.rest().len()),
            Form::Stream | Form::Unknown => self.read_events(ready),
        }
    }

    /// Nothing more will arrive: reads what is left.
    pub(super) fn end(&mut self, ready: &mut VecDeque<Piece>) -> Result<(), Failure> {
        if self.form == Form::Whole {
            let rest = self.events.rest();
            let is_cut = !rest.trim_ascii_end().ends_with(b"}");
            let read = utf8(rest).and_then(|rest| self.decoder.read(rest, ready));
            read.map_err(|failure| if is_cut { cut_short(failure) } else { failure })?;
            self.is_done = true;
            return Ok(());
        }
        // A last event may lack its blank line, or be half an event.
        self.events.inbox().extend_from_slice(b"\n\n");
        self.read_events(ready).map_err(cut_short)?;
        if self.is_done || self.progress() >= Progress::Stopped {
            return Ok(());
        }
        Err(http::failure(FailureKind::Network, "the answer was cut".to_owned()))
    }

    /// What was said.
    pub(super) fn finish(self, ask: &Ask) -> Result<Whole, Failure> {
        self.decoder.finish(ask)
    }

    fn read_events(&mut self, ready: &mut VecDeque<Piece>) -> Result<(), Failure> {
        while let Some(data) = self.events.next().map_err(|TooLong| event_too_long())? {
            if data.trim_ascii() == b"[DONE]" {
                self.is_done = true;
                return Ok(());
            }
            self.decoder.read(utf8(data)?, ready)?;
        }
        Ok(())
    }
}

/// Hands on words; what arrived together is one piece.
pub(super) fn say(ready: &mut VecDeque<Piece>, piece: Piece) {
    match (ready.back_mut(), &piece) {
        (Some(Piece::Delta(last)), Piece::Delta(more)) | (Some(Piece::Thinking(last)), Piece::Thinking(more)) => {
            last.push_str(more);
        }
        _ => ready.push_back(piece),
    }
}

fn utf8(bytes: &[u8]) -> Result<&str, Failure> {
    std::str::from_utf8(bytes).map_err(|_| malformed("an event is not UTF-8"))
}

/// Whether a reply of this many bytes may be kept.
pub(super) fn fits(bytes: usize) -> Result<(), Failure> {
    if bytes > REPLY_MAX { Err(malformed(&format!("the reply is longer than {REPLY_MAX} bytes"))) } else { Ok(()) }
}

/// An answer that is not what the protocol says.
pub(super) fn malformed(message: &str) -> Failure {
    http::failure(FailureKind::Malformed, message.to_owned())
}

/// An event that is not what the protocol says.
pub(super) fn unreadable(error: serde_json::Error) -> Failure {
    malformed(&format!("an event could not be read: {error}"))
}

/// What could not be read at the end of a stream was not all of it.
fn cut_short(failure: Failure) -> Failure {
    if failure.kind != FailureKind::Malformed {
        return failure;
    }
    http::failure(FailureKind::Network, "the answer was cut in the middle of an event".to_owned())
}

fn event_too_long() -> Failure {
    malformed(&format!("an event is longer than {EVENT_MAX} bytes"))
}
