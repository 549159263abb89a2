//! Events that differ from an earlier one only in their words, as nearly all events of an answer do: what such an event
//! says is known without reading it as JSON, which takes most of the time of an answer.

use std::ops::Range;

/// An event that says some words and nothing else.
#[derive(Debug, Default)]
pub(super) struct Repeated {
    event: String,
    /// The place of the words in it, between their quotes.
    words: Range<usize>,
}

impl Repeated {
    /// Notes an event that says nothing but these words, if they stand in it as they are.
    pub(super) fn note(&mut self, event: &str, words: &str) {
        let start = (words.as_ptr() as usize).wrapping_sub(event.as_ptr() as usize);
        let place = start..start.wrapping_add(words.len());
        let is_quoted = event.get(..start).is_some_and(|before| before.ends_with('"'));
        if is_quoted && event.get(place.clone()) == Some(words) {
            event.clone_into(&mut self.event);
            self.words = place;
        }
    }

    /// Returns the words of an event that is the noted one but for them. Everything before and behind them is the same,
    /// and nothing in them ends a string or means something else, so it is read as the noted one was.
    pub(super) fn words_of<'a>(&self, event: &'a str) -> Option<&'a str> {
        let before = self.event.get(..self.words.start).filter(|before| !before.is_empty())?;
        let behind = self.event.get(self.words.end..)?;
        let words = event.strip_prefix(before)?.strip_suffix(behind)?;
        words.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\').then_some(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_words_may_differ() {
        let event = r#"{"id":"a","choices":[{"delta":{"content":"It"},"finish_reason":null}]}"#;
        let mut repeated = Repeated::default();
        assert_eq!(repeated.words_of(event), None, "nothing was noted");
        let start = event.find("It").unwrap();
        repeated.note(event, &event[start..start + 2]);
        let with = |words: &str| event.replace("It", words);
        for words in ["It", " will", "", "größer 🌞", "a{b}"] {
            assert_eq!(repeated.words_of(&with(words)), Some(words), "{words}");
        }
        for words in [r#"a\nb"#, r#"a","b":"c"#, "a\nb"] {
            assert_eq!(repeated.words_of(&with(words)), None, "{words}");
        }
        for other in [event.replace("null", "\"stop\""), event.replace("\"a\"", "\"b\""), "{}".to_owned()] {
            assert_eq!(repeated.words_of(&other), None, "{other}");
        }
    }

    #[test]
    fn words_from_elsewhere_are_not_noted() {
        let mut repeated = Repeated::default();
        repeated.note(r#"{"content":"It"}"#, "It");
        let event = r#"{"n":12}"#;
        repeated.note(event, &event[5..7]);
        assert_eq!(repeated.event, "");
    }
}
