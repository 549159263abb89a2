//! The tokens of a turn's models while they answer. Text is pulled, not pushed: a
//! reader takes the text since its last read. A slow or late reader gets fewer and
//! longer chunks, and never a gap.

use std::collections::BTreeMap;
use std::sync::Arc;

use consort_core::frame::live::LiveFrame;
use consort_core::id::Id;
use consort_core::live_source::ChatLiveSource;
use consort_log::Seq;

use crate::ring::Frame;

/// All tokens of one turn, until it ends.
#[derive(Default)]
pub(crate) struct LiveText {
    /// The model calls that have sent tokens.
    calls: Vec<Call>,
    /// Their text, in the order it was sent.
    pieces: Vec<Piece>,
    /// The current call of each conversation that is still answering.
    open: BTreeMap<Id, usize>,
}

/// One model call.
struct Call {
    voice: Arc<ChatLiveSource>,
    said: String,
    thoughts: String,
    /// The event that ended its output.
    over: Option<Seq>,
}

/// Whether text belongs to the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextKind {
    /// It belongs to the answer.
    Said,
    /// It is the model's reasoning.
    Thought,
}

/// Text of one call that follows the same event.
struct Piece {
    call: usize,
    after: Seq,
    kind: TextKind,
    start: usize,
    end: usize,
}

/// The position of a reader: complete pieces, and bytes of the next.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LiveTextPosition {
    piece: usize,
    bytes: usize,
}

impl LiveText {
    /// Adds text of a conversation's model, after this event.
    pub(crate) fn add(&mut self, turn: &Id, voice: &Arc<ChatLiveSource>, (kind, words): (TextKind, &str), after: Seq) {
        let call = match self.open.get(turn) {
            Some(call) => *call,
            None => {
                let voice = voice.clone();
                self.calls.push(Call { voice, said: String::new(), thoughts: String::new(), over: None });
                self.open.insert(turn.clone(), self.calls.len() - 1);
                self.calls.len() - 1
            }
        };
        let Some(spoken) = self.calls.get_mut(call) else { return };
        let text = match kind {
            TextKind::Said => &mut spoken.said,
            TextKind::Thought => &mut spoken.thoughts,
        };
        let start = text.len();
        text.push_str(words);
        let end = text.len();
        match self.pieces.last_mut() {
            Some(last) if (last.call, last.after, last.kind) == (call, after, kind) => last.end = end,
            Some(_) | None => self.pieces.push(Piece { call, after, kind, start, end }),
        }
    }

    /// Ends the output of this conversation's model, after this event; returns its text.
    pub(crate) fn take_partial_text(&mut self, turn: &Id, after: Seq) -> String {
        let call = self.open.remove(turn).and_then(|call| self.calls.get_mut(call));
        let said = call.map(|call| {
            call.over = Some(after);
            call.said.clone()
        });
        said.unwrap_or_default()
    }

    /// Returns the next text for a reader that wants events from `from` on and has seen
    /// all before `next`. Calls whose end it has seen are skipped.
    pub(crate) fn read(&self, place: &mut LiveTextPosition, from: Seq, next: Seq) -> Option<Frame> {
        while let Some(piece) = self.pieces.get(place.piece).filter(|piece| piece.after < next) {
            let start = piece.start + place.bytes;
            // The last piece may still grow.
            if place.piece + 1 < self.pieces.len() {
                *place = LiveTextPosition { piece: place.piece + 1, bytes: 0 };
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
    fn chunk(&self, piece: &Piece, start: usize) -> Frame {
        let words = |text: &str| text.get(start..piece.end).unwrap_or_default().to_owned();
        let (content, thinking) = match piece.kind {
            TextKind::Said => (words(&self.said), None),
            TextKind::Thought => (words(&self.thoughts), Some(true)),
        };
        let ChatLiveSource { base, thread_id, turn_id, level, call_id } = &*self.voice;
        let chunk = LiveFrame::Chunk {
            thread_id: thread_id.clone(),
            turn_id: turn_id.clone(),
            level: level.clone(),
            call_id: call_id.clone(),
            content,
            offset: start,
            thinking,
            chat_seq: base + piece.after,
        };
        Frame::live(piece.after, chunk)
    }
}

#[cfg(test)]
mod tests {
    use consort_core::frame::chat::Level;

    use super::*;

    fn read(live_text: &LiveText, place: &mut LiveTextPosition, (from, next): (Seq, Seq)) -> Vec<(Seq, String)> {
        std::iter::from_fn(|| live_text.read(place, from, next))
            .map(|frame| {
                let Frame::Delta { after, frame, .. } = frame else { panic!("{frame:?}") };
                let LiveFrame::Chunk { offset, content, .. } = &*frame else { panic!("{frame:?}") };
                (after, format!("{offset}{content}"))
            })
            .collect()
    }

    fn add(live_text: &mut LiveText, turn: usize, text: &str, after: Seq) {
        let level = Level { parent_id: None, depth: 0 };
        let voice = ChatLiveSource { base: 0, thread_id: "t".into(), turn_id: "u".into(), level, call_id: "c".into() };
        live_text.add(&Id::task(turn), &Arc::new(voice), (TextKind::Said, text), after);
    }

    #[test]
    fn thoughts_have_offsets_of_their_own() {
        let mut live_text = LiveText::default();
        let mut place = LiveTextPosition::default();
        let level = Level { parent_id: None, depth: 0 };
        let voice = ChatLiveSource { base: 0, thread_id: "t".into(), turn_id: "u".into(), level, call_id: "c".into() };
        let voice = Arc::new(voice);
        for words in
            [(TextKind::Thought, "hmm"), (TextKind::Said, "ye"), (TextKind::Thought, "so"), (TextKind::Said, "s")]
        {
            live_text.add(&Id::task(0), &voice, words, 3);
        }
        let got: Vec<String> = read(&live_text, &mut place, (0, 4)).into_iter().map(|(_, words)| words).collect();
        assert_eq!(got, ["0hmm", "0ye", "3so", "2s"]);
    }

    #[test]
    fn a_reader_gets_every_word_once_and_none_before_the_event_it_follows() {
        let mut live_text = LiveText::default();
        let mut place = LiveTextPosition::default();
        add(&mut live_text, 0, "ä", 3);
        assert_eq!(read(&live_text, &mut place, (0, 3)), []);
        assert_eq!(read(&live_text, &mut place, (0, 4)), [(3, "0ä".to_owned())]);
        add(&mut live_text, 0, "b", 3);
        add(&mut live_text, 0, "c", 3);
        add(&mut live_text, 0, "d", 5);
        assert_eq!(read(&live_text, &mut place, (0, 4)), [(3, "2bc".to_owned())]);
        assert_eq!(read(&live_text, &mut place, (0, 6)), [(5, "4d".to_owned())]);
        assert_eq!(read(&live_text, &mut place, (0, 6)), []);
        assert_eq!(live_text.take_partial_text(&Id::task(0), 5), "äbcd");
    }

    #[test]
    fn who_comes_late_gets_what_is_still_being_said_and_what_ended_since() {
        let mut live_text = LiveText::default();
        add(&mut live_text, 0, "over", 1);
        add(&mut live_text, 1, "open", 1);
        live_text.take_partial_text(&Id::task(0), 1);
        let late = |from: Seq| read(&live_text, &mut LiveTextPosition::default(), (from, 9));
        assert_eq!(late(2), [(1, "0over".to_owned()), (1, "0open".to_owned())]);
        assert_eq!(late(4), [(1, "0open".to_owned())]);
    }
}
