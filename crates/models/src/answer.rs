//! Reads a model's answer incrementally: bytes become events, and the decoder of a wire turns events into
//! pieces. An answer that is sent whole, although a stream was requested, is treated as one large event.

use std::borrow::Cow;
use std::collections::VecDeque;

use consort_core::message::{Failure, FailureKind, Part, Stop, Usage};
use consort_http::sse::{Event, Events, TooLong};
use serde::Deserialize;

use super::http;
use super::{Ask, Piece};

/// The maximum size of one event in bytes, so that a server cannot fill the memory.
const EVENT_MAX: usize = 8 * 1024 * 1024;
/// The maximum size of a reply in bytes, so that a server cannot fill the memory.
const REPLY_MAX: usize = 32 * 1024 * 1024;

/// Turns the events of one answer into pieces and a reply.
pub(super) trait Decoder: Send + 'static {
    /// Reads one event.
    fn read(&mut self, event: &str, ready: &mut VecDeque<Piece>) -> Result<(), Failure>;

    /// Returns the progress of the answer.
    fn progress(&self) -> Progress;

    /// Returns the complete answer, once everything has arrived.
    fn finish(self: Box<Self>, ask: &Ask) -> Result<Whole, Failure>;
}

/// The progress of an answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Progress {
    /// Nothing of it has arrived.
    #[default]
    Awaited,
    /// Some of it has arrived.
    Begun,
    /// The model has given its stop reason: nothing of the reply can follow.
    Stopped,
    /// Everything has arrived.
    Done,
}

/// The complete answer of the model.
#[derive(Debug, Default)]
pub(super) struct Whole {
    pub(super) parts: Vec<Part>,
    pub(super) stop: Stop,
    pub(super) usage: Option<Usage>,
    /// The end of the text that was not shown as it came.
    pub(super) unsaid: String,
}

/// Text borrowed from the event where it holds no escapes.
#[derive(Debug, Deserialize)]
pub(super) struct Words<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

/// The form in which the answer is sent.
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
    /// Returns an answer of which nothing has arrived.
    pub(super) fn new(decoder: Box<dyn Decoder>) -> Answer {
        Answer { events: Events::new(EVENT_MAX), form: Form::default(), decoder, is_done: false }
    }

    /// Returns the buffer to which arriving bytes are appended.
    pub(super) fn inbox(&mut self) -> &mut Vec<u8> {
        self.events.inbox()
    }

    /// Returns the progress of the answer.
    pub(super) fn progress(&self) -> Progress {
        self.decoder.progress()
    }

    /// Returns whether nothing more is to be read.
    pub(super) fn is_done(&self) -> bool {
        self.is_done || self.progress() == Progress::Done
    }

    /// Reads the events that have arrived.
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

    /// Reads the remaining bytes after the end of the body.
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

    /// Returns the complete answer. Providers leave out the arguments of a call that has none.
    pub(super) fn finish(self, ask: &Ask) -> Result<Whole, Failure> {
        let mut whole = self.decoder.finish(ask)?;
        let is_complete = whole.stop == Stop::End;
        for part in &mut whole.parts {
            if let Part::Call(call) = part
                && is_complete
                && call.args.as_str().trim().is_empty()
            {
                call.args = "{}".into();
            }
        }
        Ok(whole)
    }

    fn read_events(&mut self, ready: &mut VecDeque<Piece>) -> Result<(), Failure> {
        while let Some(Event { data, .. }) = self.events.next().map_err(|TooLong| event_too_long())? {
            if data.trim_ascii() == b"[DONE]" {
                self.is_done = true;
                return Ok(());
            }
            self.decoder.read(utf8(data)?, ready)?;
        }
        Ok(())
    }
}

/// Appends a piece of text; text that arrived together becomes one piece.
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

/// Checks that a reply of this many bytes is within the limit.
pub(super) fn fits(bytes: usize) -> Result<(), Failure> {
    if bytes > REPLY_MAX { Err(malformed(&format!("the reply is longer than {REPLY_MAX} bytes"))) } else { Ok(()) }
}

/// Returns the failure for an answer that violates the protocol.
pub(super) fn malformed(message: &str) -> Failure {
    http::failure(FailureKind::Malformed, message.to_owned())
}

/// Returns the failure for an event that violates the protocol.
pub(super) fn unreadable(error: serde_json::Error) -> Failure {
    malformed(&format!("an event could not be read: {error}"))
}

/// Reports an unreadable end of a stream as a connection that was cut.
fn cut_short(failure: Failure) -> Failure {
    if failure.kind != FailureKind::Malformed {
        return failure;
    }
    http::failure(FailureKind::Network, "the answer was cut in the middle of an event".to_owned())
}

fn event_too_long() -> Failure {
    malformed(&format!("an event is longer than {EVENT_MAX} bytes"))
}

#[cfg(test)]
mod tests {
    use consort_core::message::Call;

    use super::*;

    /// An answer with one call.
    struct OneCall(&'static str, Stop);

    impl Decoder for OneCall {
        fn read(&mut self, _event: &str, _ready: &mut VecDeque<Piece>) -> Result<(), Failure> {
            Ok(())
        }

        fn progress(&self) -> Progress {
            Progress::default()
        }

        fn finish(self: Box<Self>, _ask: &Ask) -> Result<Whole, Failure> {
            let tool = "now".to_owned();
            let call = Call { provider_id: "1".to_owned(), tool, args: self.0.into(), native: None };
            Ok(Whole { parts: vec![Part::Call(call)], stop: self.1, usage: None, unsaid: String::new() })
        }
    }

    #[test]
    fn a_call_without_arguments_has_none_unless_it_was_cut() {
        for (sent, stop, read) in [
            ("", Stop::End, "{}"),
            (" ", Stop::End, "{}"),
            ("{\"a\":1}", Stop::End, "{\"a\":1}"),
            ("not JSON", Stop::End, "not JSON"),
            ("", Stop::Length, ""),
        ] {
            let whole = Answer::new(Box::new(OneCall(sent, stop))).finish(&crate::conformance::ask()).unwrap();
            let [Part::Call(call)] = whole.parts.as_slice() else { panic!("one call") };
            assert_eq!(call.args.as_str(), read, "{sent}");
        }
    }
}
