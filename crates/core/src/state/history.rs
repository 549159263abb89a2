//! The parts of a conversation that may be left out when it no longer fits: whole exchanges, the oldest first.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use crate::decisions::prompt;
use crate::state::conversation::{BYTES_PER_TOKEN, Conversation, Size, bytes};
use consort_spec::message::Message;

/// The messages that are not part of an exchange, by their positions.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Marks {
    /// Directives that people gave while the agents worked.
    pub(super) directives: BTreeSet<usize>,
    /// Notes in place of dropped exchanges.
    notes: BTreeSet<usize>,
}

impl Conversation {
    /// Returns the number of whole exchanges, oldest first, that can be dropped: all but the latest one.
    /// Messages from before this conversation can all be dropped.
    pub(crate) fn droppable(&self) -> usize {
        self.droppable_of(&self.exchanges())
    }

    fn droppable_of(&self, exchanges: &[Range<usize>]) -> usize {
        let own = exchanges.last().is_some_and(|last| last.start > self.asked_at);
        exchanges.len() - usize::from(own)
    }

    /// Returns the number of the oldest exchanges to drop to bring the estimate down to `max`.
    pub(crate) fn excess(&self, max: u64) -> usize {
        let mut over = self.estimate().saturating_sub(max);
        let exchanges = self.exchanges();
        let droppable = self.droppable_of(&exchanges);
        let mut count = 0;
        for exchange in exchanges.into_iter().take(droppable) {
            if over == 0 {
                break;
            }
            let size: u64 = self.messages.get(exchange).unwrap_or_default().iter().map(bytes).sum();
            over = over.saturating_sub(size.div_ceil(BYTES_PER_TOKEN + 1));
            count += 1;
        }
        count
    }

    /// Returns the ranges of messages that may be dropped: from before the conversation was opened each message of the
    /// user with its answers, since then each reply with the messages that answer it. The message that it was opened
    /// with is in none of them.
    fn exchanges(&self) -> Vec<Range<usize>> {
        let starts = |(index, message): (usize, &Message)| match message {
            Message::Assistant(_) => index > self.asked_at,
            Message::User { .. } => index < self.asked_at && !self.marks.notes.contains(&index),
            Message::System { .. } | Message::Files { .. } | Message::Tool { .. } => false,
        };
        let starts: Vec<usize> =
            self.messages.iter().enumerate().filter(|place| starts(*place)).map(|(index, _)| index).collect();
        let ends = starts.iter().skip(1).copied().chain([self.messages.len()]);
        let piece = |(start, end): (&usize, usize)| {
            if *start < self.asked_at { *start..end.min(self.asked_at) } else { *start..end }
        };
        starts.iter().zip(ends).map(piece).collect()
    }

    /// Removes the oldest exchanges, each whole, and puts a note in their place.
    pub(crate) fn drop_exchanges(&mut self, exchanges: usize) {
        let pieces = self.exchanges();
        if self.droppable_of(&pieces) < exchanges {
            return;
        }
        let gone: Vec<Range<usize>> = pieces.into_iter().take(exchanges).collect();
        let Some(first) = gone.first().map(|piece| piece.start) else { return };
        let note = Message::User { text: prompt::dropped(exchanges).into() };
        let mut kept = Vec::with_capacity(self.messages.len());
        let mut asked_at = self.asked_at;
        let mut marks = Marks::default();
        for (index, message) in self.messages.iter().enumerate() {
            if index == first {
                marks.notes.insert(kept.len());
                kept.push(note.clone());
            }
            // A directive that a person gave while the agents worked still holds.
            let is_directive = self.marks.directives.contains(&index);
            if is_directive || !gone.iter().any(|piece| piece.contains(&index)) {
                marks.directives.extend(is_directive.then_some(kept.len()));
                marks.notes.extend(self.marks.notes.contains(&index).then_some(kept.len()));
                kept.push(message.clone());
            }
            if index == self.asked_at {
                asked_at = kept.len() - 1;
            }
        }
        self.messages = Arc::new(kept);
        self.asked_at = asked_at;
        self.marks = marks;
        self.size = self.uncounted();
    }

    /// Returns the size of a request of which no provider has counted the tokens.
    fn uncounted(&self) -> Size {
        let tools = self.tools.iter().map(|tool| tool.bytes());
        let fresh_bytes = self.messages.iter().map(bytes).chain(tools).sum();
        Size { counted: 0, fresh_bytes, fresh_messages: self.messages.len() as u64 }
    }
}
