//! What the models of a turn say while they talk. Words are pulled, not pushed:
//! a reader takes what was said since it last looked. Who is slow or comes late
//! gets fewer and longer chunks, and never a gap.

use std::collections::BTreeMap;

use consort_core::id::Id;
use consort_log::Seq;
use serde_json::{Map, Value};

use crate::ring::Frame;

/// Everything said in one turn, until it ends.
#[derive(Default)]
pub(crate) struct Speech {
    /// The model calls that have said something.
    calls: Vec<Call>,
    /// What they said, in the order they said it.
    pieces: Vec<Piece>,
    /// Which call each turn that still talks is at.
    open: BTreeMap<Id, usize>,
}

/// One model call.
struct Call {
    /// The number of the turn's first event in its thread.
    base: u64,
    /// What every chunk of it says beside its words: how its JSON begins.
    head: String,
    said: String,
    thoughts: String,
    /// The event after which it had nothing more to say.
    over: Option<Seq>,
}

/// Whether words belong to the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aloud {
    /// They do.
    Said,
    /// They are what the model thinks.
    Thought,
}

/// Words of one call that follow the same event.
struct Piece {
    call: usize,
    after: Seq,
    aloud: Aloud,
    start: usize,
    end: usize,
}

/// How far a reader has come: so many pieces, and so many bytes of the next.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Place {
    piece: usize,
    bytes: usize,
}

impl Speech {
    /// A turn's model says something more, after this event.
    pub(crate) fn add(
        &mut self,
        turn: &Id,
        (base, frame): (u64, &Map<String, Value>),
        (aloud, words): (Aloud, &str),
        after: Seq,
    ) {
        let call = match self.open.get(turn) {
            Some(call) => *call,
            None => {
                self.calls.push(Call::new(base, frame));
                self.open.insert(turn.clone(), self.calls.len() - 1);
                self.calls.len() - 1
            }
        };
        let Some(spoken) = self.calls.get_mut(call) else { return };
        let text = match aloud {
            Aloud::Said => &mut spoken.said,
            Aloud::Thought => &mut spoken.thoughts,
        };
        let start = text.len();
        text.push_str(words);
        let end = text.len();
        match self.pieces.last_mut() {
            Some(last) if (last.call, last.after, last.aloud) == (call, after, aloud) => last.end = end,
            Some(_) | None => self.pieces.push(Piece { call, after, aloud, start, end }),
        }
    }

    /// The model of this turn has stopped talking, after this event; what it had said.
    pub(crate) fn hush(&mut self, turn: &Id, after: Seq) -> String {
        let call = self.open.remove(turn).and_then(|call| self.calls.get_mut(call));
        let said = call.map(|call| {
            call.over = Some(after);
            call.said.clone()
        });
        said.unwrap_or_default()
    }

    /// The next words for a reader who wants events from `from` on and has seen
    /// all before `next`. Calls it knows the end of are passed over.
    pub(crate) fn read(&self, place: &mut Place, from: Seq, next: Seq) -> Option<Frame> {
        while let Some(piece) = self.pieces.get(place.piece).filter(|piece| piece.after < next) {
            let start = piece.start + place.bytes;
            // The last piece may still grow.
            if place.piece + 1 < self.pieces.len() {
                *place = Place { piece: place.piece + 1, bytes: 0 };
            } else if start == piece.end {
                return None;
            } else {
                place.bytes = piece.end - piece.start;
            }
            let call = self.calls.get(piece.call)?;
            if start < piece.end && call.over.is_none_or(|over| from <= over + 1) {
                return Some(call.chunk(piece, start));
            }
        }
        None
    }
}

impl Call {
    fn new(base: u64, frame: &Map<String, Value>) -> Call {
        let mut head = Value::Object(frame.clone()).to_string();
        head.pop();
        if !frame.is_empty() {
            head.push(',');
        }
        Call { base, head, said: String::new(), thoughts: String::new(), over: None }
    }

    fn chunk(&self, piece: &Piece, start: usize) -> Frame {
        let words = |text: &str| Value::from(text.get(start..piece.end).unwrap_or_default());
        let (content, place) = match piece.aloud {
            Aloud::Said => (words(&self.said), format!(r#""offset":{start}"#)),
            Aloud::Thought => (words(&self.thoughts), r#""thinking":true"#.to_owned()),
        };
        let (head, seq) = (&self.head, self.base + piece.after);
        let text = format!(r#"{head}"content":{content},{place},"chat_seq":{seq}}}"#);
        Frame::Delta { after: piece.after, text: text.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(speech: &Speech, place: &mut Place, (from, next): (Seq, Seq)) -> Vec<(Seq, String)> {
        std::iter::from_fn(|| speech.read(place, from, next))
            .map(|frame| {
                let value: Value = serde_json::from_str(frame.text()).unwrap();
                let Frame::Delta { after, .. } = frame else { panic!("{value}") };
                (after, format!("{}{}", value["offset"], value["content"].as_str().unwrap()))
            })
            .collect()
    }

    fn add(speech: &mut Speech, turn: usize, text: &str, after: Seq) {
        speech.add(&Id::task(turn), (0, &Map::new()), (Aloud::Said, text), after);
    }

    #[test]
    fn a_reader_gets_every_word_once_and_none_before_the_event_it_follows() {
        let (mut speech, mut place) = (Speech::default(), Place::default());
        add(&mut speech, 0, "ä", 3);
        assert_eq!(read(&speech, &mut place, (0, 3)), []);
        assert_eq!(read(&speech, &mut place, (0, 4)), [(3, "0ä".to_owned())]);
        add(&mut speech, 0, "b", 3);
        add(&mut speech, 0, "c", 3);
        add(&mut speech, 0, "d", 5);
        assert_eq!(read(&speech, &mut place, (0, 4)), [(3, "2bc".to_owned())]);
        assert_eq!(read(&speech, &mut place, (0, 6)), [(5, "4d".to_owned())]);
        assert_eq!(read(&speech, &mut place, (0, 6)), []);
        assert_eq!(speech.hush(&Id::task(0), 5), "äbcd");
    }

    #[test]
    fn who_comes_late_gets_what_is_still_being_said_and_what_ended_since() {
        let mut speech = Speech::default();
        add(&mut speech, 0, "over", 1);
        add(&mut speech, 1, "open", 1);
        speech.hush(&Id::task(0), 1);
        let late = |from: Seq| read(&speech, &mut Place::default(), (from, 9));
        assert_eq!(late(2), [(1, "0over".to_owned()), (1, "0open".to_owned())]);
        assert_eq!(late(4), [(1, "0open".to_owned())]);
    }
}
