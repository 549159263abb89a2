//! A conversation of alternating messages, as some providers want it: consecutive
//! messages of one speaker are joined, and the user has the first and the last message.

use std::collections::BTreeMap;

use consort_core::message::Attached;
use serde::ser::{Serialize, SerializeStruct, Serializer};

use crate::File;

/// The text sent where the user must speak and has nothing to say.
const NOTHING_TO_SAY: &str = "Go on.";

/// The speaker of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Speaker {
    User,
    Model,
}

/// The consecutive messages of one speaker, in blocks of a wire's own kind.
pub(super) struct Turn<B> {
    pub(super) speaker: Speaker,
    pub(super) blocks: Vec<B>,
}

impl<B: Serialize> Turn<B> {
    /// Writes it with a wire's own names for the model's role and for the content.
    pub(super) fn write<S: Serializer>(
        &self,
        serializer: S,
        model: &'static str,
        blocks: &'static str,
    ) -> Result<S::Ok, S::Error> {
        let role = match self.speaker {
            Speaker::User => "user",
            Speaker::Model => model,
        };
        let mut turn = serializer.serialize_struct("Turn", 2)?;
        turn.serialize_field("role", role)?;
        turn.serialize_field(blocks, &self.blocks)?;
        turn.end()
    }
}

/// The messages so far, grouped by speaker.
pub(super) struct Turns<B>(Vec<Turn<B>>);

impl<B> Turns<B> {
    /// Returns an empty conversation.
    pub(super) fn new() -> Turns<B> {
        Turns(Vec::new())
    }

    /// Adds to the speaker's current message, or begins one.
    pub(super) fn say(&mut self, speaker: Speaker, block: B) {
        match self.0.last_mut() {
            Some(turn) if turn.speaker == speaker => turn.blocks.push(block),
            Some(_) | None => self.0.push(Turn { speaker, blocks: vec![block] }),
        }
    }

    /// Adds the files that the user attached, as blocks of a wire's own kind.
    pub(super) fn show<'a>(
        &mut self,
        attached: &[Attached],
        files: &'a BTreeMap<String, File>,
        block: impl Fn(&'a File) -> B,
    ) {
        for file in attached.iter().filter_map(|file| files.get(&file.id)) {
            self.say(Speaker::User, block(file));
        }
    }

    /// Returns the whole conversation; `words` makes a block of text.
    pub(super) fn finish(mut self, words: impl Fn(&'static str) -> B) -> Vec<Turn<B>> {
        if self.0.first().is_none_or(|turn| turn.speaker == Speaker::Model) {
            self.0.insert(0, Turn { speaker: Speaker::User, blocks: vec![words(NOTHING_TO_SAY)] });
        }
        if self.0.last().is_some_and(|turn| turn.speaker == Speaker::Model) {
            self.say(Speaker::User, words(NOTHING_TO_SAY));
        }
        self.0
    }
}
