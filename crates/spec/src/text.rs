//! Text that may be large. It is shared, not copied, and a log may keep it beside the event instead of in
//! it: then the event holds its number among the record's attachments, which only the log's codec ever
//! sees.

use std::fmt;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// Shared text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Text(Stored);

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
enum Stored {
    Here(Arc<str>),
    Attached { attachment: usize },
}

impl Text {
    /// Returns the text; empty while it is detached, which only a codec sees.
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Stored::Here(text) => text,
            Stored::Attached { .. } => "",
        }
    }

    /// Returns the text as a shared string.
    pub fn shared(&self) -> Arc<str> {
        match &self.0 {
            Stored::Here(text) => text.clone(),
            Stored::Attached { .. } => Arc::default(),
        }
    }

    /// Returns the length in bytes.
    pub fn len(&self) -> usize {
        self.as_str().len()
    }

    /// Returns true when the text is empty; one that is detached is not, and must be stored.
    pub fn is_empty(&self) -> bool {
        match &self.0 {
            Stored::Here(text) => text.is_empty(),
            Stored::Attached { .. } => false,
        }
    }

    /// Moves text longer than `max` bytes out, into `attachments`.
    pub fn detach(&mut self, max: usize, attachments: &mut Vec<Arc<str>>) {
        if let Stored::Here(text) = &self.0
            && text.len() > max
        {
            attachments.push(text.clone());
            self.0 = Stored::Attached { attachment: attachments.len() - 1 };
        }
    }

    /// Puts detached text back; false when there is no such attachment.
    #[must_use]
    pub fn attach(&mut self, attachments: &[Arc<str>]) -> bool {
        let Stored::Attached { attachment } = self.0 else { return true };
        let found = attachments.get(attachment).cloned();
        found.map(|text| self.0 = Stored::Here(text)).is_some()
    }
}

/// Reads a text straight into its shared form: most of a log are texts, and an untagged enum would copy each of
/// them twice.
impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Text, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Text;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a text or the number of an attachment")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Text, E> {
        Ok(text.into())
    }

    fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<Text, M::Error> {
        #[derive(Deserialize)]
        struct Attached {
            attachment: usize,
        }
        let Attached { attachment } = Attached::deserialize(MapAccessDeserializer::new(map))?;
        Ok(Text(Stored::Attached { attachment }))
    }
}

impl JsonSchema for Text {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Text".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        String::json_schema(generator)
    }
}

impl Default for Text {
    fn default() -> Text {
        "".into()
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Text {
        Text(Stored::Here(text.into()))
    }
}

impl From<String> for Text {
    fn from(text: String) -> Text {
        Text(Stored::Here(text.into()))
    }
}

impl From<Arc<str>> for Text {
    fn from(text: Arc<str>) -> Text {
        Text(Stored::Here(text))
    }
}

impl fmt::Display for Text {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

/// The characters of a sentence about something that somebody sent.
const SENTENCE_MAX: usize = 2_000;
/// The characters of its end that are kept, where it says what is allowed.
const ENDING_MAX: usize = 600;

/// Returns the beginning of a text that somebody sent, marked where it is cut after so many characters.
pub fn cut(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Returns a sentence that may quote what somebody sent, without the middle if it is too long.
pub fn shortened(sentence: String) -> String {
    if sentence.len() <= SENTENCE_MAX {
        return sentence;
    }
    let begin = sentence.floor_char_boundary(SENTENCE_MAX - ENDING_MAX);
    let end = sentence.ceil_char_boundary(sentence.len() - ENDING_MAX);
    let first = sentence.get(..begin).unwrap_or_default();
    let last = sentence.get(end..).unwrap_or_default();
    format!("{first} … {last}")
}

/// Returns whether a character is invisible, or changes how others are shown: bidirectional
/// controls, zero-width and format characters, fillers, tags, variation selectors,
/// separators of lines.
pub fn is_invisible(sign: char) -> bool {
    matches!(sign,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{13430}'..='\u{1345f}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_long_text_is_moved_out_and_it_comes_back() {
        let mut short = Text::from("short");
        let mut long = Text::from("longer than that");
        let mut attachments = Vec::new();
        short.detach(8, &mut attachments);
        long.detach(8, &mut attachments);
        assert_eq!(serde_json::to_string(&(&short, &long)).unwrap(), r#"["short",{"attachment":0}]"#);
        let mut read: Text = serde_json::from_str(r#"{"attachment":0}"#).unwrap();
        assert!(!read.clone().attach(&[]));
        assert!(read.attach(&attachments));
        assert_eq!(read.as_str(), "longer than that");
    }
}
