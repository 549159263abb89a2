//! Steps of an answer as pieces to send. The words of one model call are one message: a
//! call that is repeated, or that follows tools, begins another; one that continues a text
//! that was cut does not. Whatever was sent already is not sent again, so an answer that is
//! read from the log is the same as a live one.

use super::steps::{End, Step};

/// A piece of an answer.
#[derive(Clone, Debug)]
pub enum Piece {
    /// A line about what was done.
    Thought(String),
    /// The next words belong to another message.
    Break,
    /// The words of the message do not count, and the next ones belong to another.
    Voided,
    /// Words of the message.
    Words(String),
    /// The end; nothing follows.
    Ended(End),
}

/// Makes pieces of steps.
#[derive(Debug, Default)]
pub struct StepWriter {
    /// The words of earlier model calls that this one continues.
    begun: String,
    /// The words of the model call that were sent.
    round: String,
    /// Whether the words before belong to another message.
    breaks: bool,
}

impl StepWriter {
    /// Returns the pieces that a step adds to what was sent.
    pub fn take(&mut self, step: Step) -> Vec<Piece> {
        match step {
            Step::Round => {
                // A call that continues a text finds no words of its own here.
                if !self.round.is_empty() {
                    self.break_off();
                }
                Vec::new()
            }
            Step::Voided => self.void(),
            Step::Continues => {
                self.begun.push_str(&std::mem::take(&mut self.round));
                Vec::new()
            }
            Step::Words { offset, text } => {
                let sent = self.round.len();
                let known = sent.saturating_sub(offset.unwrap_or(sent));
                // Words that are missing in between come with everything that was said.
                let is_next = offset.is_none_or(|offset| offset <= sent);
                let new = text.get(known..).filter(|_| is_next).unwrap_or_default().to_owned();
                self.say(&new)
            }
            Step::Said(text) => self.complete(&text, self.round.len()),
            Step::Thought(line) => vec![Piece::Thought(line)],
            Step::Waits(words) => {
                let gap = if self.round.is_empty() { "" } else { "\n\n" };
                let mut pieces = self.say(&format!("{gap}{words}"));
                pieces.push(Piece::Ended(End::Waits));
                pieces
            }
            Step::Ended(End::Answer { text, is_cut }) => {
                let mut pieces = self.complete(&text, self.begun.len() + self.round.len());
                pieces.push(Piece::Ended(End::Answer { text, is_cut }));
                pieces
            }
            Step::Ended(end) => vec![Piece::Ended(end)],
        }
    }

    /// Sends the part of the whole text that was not sent yet; the newest `sent` bytes are of this text.
    fn complete(&mut self, text: &str, sent: usize) -> Vec<Piece> {
        let message = format!("{}{}", self.begun, self.round);
        let sent = message.get(message.len() - sent..).unwrap_or_default();
        if let Some(rest) = text.strip_prefix(sent) {
            return self.say(rest);
        }
        self.break_off();
        self.say(text)
    }

    /// Begins another message with the next words.
    fn break_off(&mut self) {
        self.breaks = true;
        self.begun.clear();
        self.round.clear();
    }

    /// Takes back the words of the model call; what it continued is said again.
    fn void(&mut self) -> Vec<Piece> {
        if self.round.is_empty() {
            return Vec::new();
        }
        self.round.clear();
        let begun = Some(&self.begun).filter(|begun| !begun.is_empty());
        std::iter::once(Piece::Voided).chain(begun.cloned().map(Piece::Words)).collect()
    }

    fn say(&mut self, words: &str) -> Vec<Piece> {
        if words.is_empty() {
            return Vec::new();
        }
        self.round.push_str(words);
        let breaks = std::mem::take(&mut self.breaks).then_some(Piece::Break);
        breaks.into_iter().chain([Piece::Words(words.to_owned())]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the messages that are sent, each as it is read.
    fn told(steps: Vec<Step>) -> Vec<String> {
        let mut writer = StepWriter::default();
        let mut messages = vec![String::new()];
        for piece in steps.into_iter().flat_map(|step| writer.take(step)) {
            match piece {
                Piece::Break => messages.push(String::new()),
                Piece::Voided => {
                    let last = messages.last_mut().unwrap();
                    *last = format!("({last})");
                    messages.push(String::new());
                }
                Piece::Words(words) => messages.last_mut().unwrap().push_str(&words),
                Piece::Thought(_) | Piece::Ended(_) => {}
            }
        }
        messages
    }

    fn words(offset: usize, text: &str) -> Step {
        Step::Words { offset: Some(offset), text: text.to_owned() }
    }

    fn answer(text: &str) -> Step {
        Step::Ended(End::Answer { text: text.to_owned(), is_cut: false })
    }

    #[test]
    fn an_answer_is_the_same_live_and_from_the_log() {
        let live =
            vec![Step::Round, words(0, "it "), words(3, "is 4"), Step::Said("it is 4".into()), answer("it is 4")];
        let late = vec![Step::Round, words(0, "it "), words(0, "it is"), answer("it is 4")];
        let stored = vec![Step::Round, Step::Said("it is 4".into()), answer("it is 4")];
        let gap = vec![Step::Round, words(3, "is 4"), answer("it is 4")];
        for steps in [live, late, stored, gap] {
            assert_eq!(told(steps), ["it is 4"]);
        }
    }

    #[test]
    fn words_before_a_tool_and_words_that_do_not_count_are_messages_of_their_own() {
        let tool = vec![Step::Round, words(0, "let me see"), Step::Round, words(0, "it is 4"), answer("it is 4")];
        assert_eq!(told(tool), ["let me see", "it is 4"]);
        let voided = vec![Step::Round, words(0, "it i"), Step::Voided, Step::Round, words(0, "4"), answer("4")];
        assert_eq!(told(voided), ["(it i)", "4"]);
        let never_said = vec![Step::Round, Step::Voided, Step::Round, words(0, "4"), answer("4")];
        assert_eq!(told(never_said), ["4"]);
        let other = vec![Step::Round, words(0, "draft"), answer("edited")];
        assert_eq!(told(other), ["draft", "edited"]);
    }

    /// Returns words without a position, as runs tell them.
    fn token(text: &str) -> Step {
        Step::Words { offset: None, text: text.to_owned() }
    }

    #[test]
    fn a_text_that_was_cut_and_continued_is_one_message_and_sent_once() {
        let parts = vec![Step::Round, token("a "), Step::Continues, Step::Round, token("b"), answer("a b")];
        assert_eq!(told(parts), ["a b"]);
        let late = vec![Step::Round, Step::Continues, Step::Round, token("b"), answer("a b")];
        assert_eq!(told(late), ["b", "a b"], "the beginning was not heard");
        let failed = vec![Step::Round, token("a "), Step::Continues, Step::Round, token("x"), Step::Voided];
        let again = vec![token("b"), answer("a b")];
        assert_eq!(told([failed, again].concat()), ["(a x)", "a b"]);
    }

    #[test]
    fn a_question_for_a_person_stands_below_what_was_said() {
        assert_eq!(told(vec![Step::Round, words(0, "so"), Step::Waits("decide".into())]), ["so\n\ndecide"]);
        assert_eq!(told(vec![Step::Round, Step::Waits("decide".into())]), ["decide"]);
    }
}
