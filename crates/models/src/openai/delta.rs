//! One event of an answer, as far as it is about what the model says. Read in one pass and without copies: most events
//! hold a single word.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::calls::Fragment;

#[derive(Deserialize)]
pub(super) struct Choice<'a> {
    #[serde(default)]
    index: u64,
    #[serde(borrow)]
    pub(super) delta: Option<Delta<'a>>,
    /// The message of an answer that is sent whole, in place of a delta.
    #[serde(borrow)]
    pub(super) message: Option<Box<Delta<'a>>>,
    #[serde(borrow)]
    pub(super) finish_reason: Option<Cow<'a, str>>,
}

#[derive(Deserialize)]
pub(super) struct Delta<'a> {
    #[serde(borrow)]
    pub(super) content: Option<TextParts<'a>>,
    #[serde(borrow)]
    pub(super) refusal: Option<TextParts<'a>>,
    #[serde(borrow)]
    pub(super) reasoning_content: Option<TextParts<'a>>,
    #[serde(borrow)]
    pub(super) reasoning: Option<TextParts<'a>>,
    #[serde(borrow)]
    pub(super) tool_calls: Option<Vec<Fragment<'a>>>,
    #[serde(borrow)]
    pub(super) reasoning_details: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) thinking_blocks: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) extra_content: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) thought_signature: Option<&'a RawValue>,
}

impl<'a> Delta<'a> {
    /// Returns the words, if there is nothing else and they have no escapes.
    fn only_words(&self) -> Option<&'a str> {
        match self {
            Delta {
                content: Some(TextParts(Cow::Borrowed(words))),
                refusal: None,
                reasoning_content: None,
                reasoning: None,
                tool_calls: None,
                reasoning_details: None,
                thinking_blocks: None,
                extra_content: None,
                thought_signature: None,
            } => Some(words),
            _ => None,
        }
    }
}

/// The choices of an event. Only one was asked for, so only the first is kept, by its index.
pub(super) struct Choices<'a> {
    first: Option<Choice<'a>>,
    /// Further parts of the same choice, which nobody sends.
    more: Vec<Choice<'a>>,
}

impl<'a> Choices<'a> {
    /// Returns the words of a choice that says nothing else, as they stand in the event.
    pub(super) fn only_words(&self) -> Option<&'a str> {
        let Choice { index: _, delta: Some(delta), message: None, finish_reason: None } = self.first.as_ref()? else {
            return None;
        };
        if self.more.is_empty() { delta.only_words() } else { None }
    }

    /// Returns the parts of the choice.
    pub(super) fn chosen(self) -> impl Iterator<Item = Choice<'a>> {
        self.first.into_iter().chain(self.more)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Choices<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Choices<'a>, D::Error> {
        deserializer.deserialize_seq(Chosen)
    }
}

/// Reads a list of choices.
struct Chosen;

impl<'de> Visitor<'de> for Chosen {
    type Value = Choices<'de>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a list of choices")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Choices<'de>, A::Error> {
        let mut choices = Choices { first: None, more: Vec::new() };
        while let Some(choice) = list.next_element::<Choice<'de>>()? {
            match choice.index {
                0 if choices.first.is_none() => choices.first = Some(choice),
                0 => choices.more.push(choice),
                _ => {}
            }
        }
        Ok(choices)
    }
}

/// A text, which is a string or a list of parts of which some have text; borrowed from the event where it can be.
#[derive(Default)]
pub(super) struct TextParts<'a>(pub(super) Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for TextParts<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<TextParts<'a>, D::Error> {
        deserializer.deserialize_any(Text)
    }
}

/// Reads a text.
struct Text;

impl<'de> Visitor<'de> for Text {
    type Value = TextParts<'de>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a text or a list of parts")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<TextParts<'de>, E> {
        Ok(TextParts(text.into()))
    }

    fn visit_str<E>(self, text: &str) -> Result<TextParts<'de>, E> {
        Ok(TextParts(text.to_owned().into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<TextParts<'de>, A::Error> {
        #[derive(Deserialize)]
        struct Part {
            text: Option<String>,
        }
        let mut text = String::new();
        while let Some(part) = parts.next_element::<Part>()? {
            text.push_str(&part.text.unwrap_or_default());
        }
        Ok(TextParts(text.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(content: &str) -> Result<String, String> {
        let list = format!(r#"[{{"index":1,"delta":{{"content":"other"}}}},{{"delta":{{"content":{content}}}}}]"#);
        let choices: Choices<'_> = serde_json::from_str(&list).map_err(|error| error.to_string())?;
        let texts = choices.chosen().map(|choice| choice.delta.and_then(|delta| delta.content).unwrap_or_default().0);
        Ok(texts.collect())
    }

    #[test]
    fn a_text_is_a_string_or_a_list_of_parts_and_only_the_first_choice_counts() {
        for (content, expected) in [
            (r#""plain""#, "plain"),
            (r#""with \"escapes\" \u00e9""#, "with \"escapes\" é"),
            (r#"[{"type":"text","text":"two "},{"type":"other"},{"text":"parts"}]"#, "two parts"),
            ("[]", ""),
            ("null", ""),
        ] {
            assert_eq!(said(content).as_deref(), Ok(expected), "{content}");
        }
        for wrong in ["7", "true", "{}", "[7]"] {
            assert!(said(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_text_without_escapes_is_not_copied() {
        let choices: Choices<'_> = serde_json::from_str(r#"[{"delta":{"content":"word"}}]"#).unwrap();
        let delta = choices.chosen().next().unwrap().delta.unwrap();
        assert!(matches!(delta.content.unwrap().0, Cow::Borrowed("word")));
    }
}
