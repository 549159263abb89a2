//! Streams that cannot be read, and the reasons. The log reports damage when a
//! stream is read; it is remembered here, so that lists, which never read streams,
//! can show it. A damaged stream stays where it is and does not affect others.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::error::Category;

use crate::{DAMAGED_BODY, Error};

/// The maximum number of streams remembered: with so many the file
/// itself is lost, and a few missing in a list make no difference.
const KNOWN_MAX: usize = 10_000;

/// Returns the reason why the text of a record or of a row is not what its reader expects, in words that need no
/// knowledge of the program: an error of the parser names its types.
pub fn fault(text: &str, error: &serde_json::Error) -> String {
    if text == DAMAGED_BODY {
        return "its checksum is wrong".to_owned();
    }
    match error.classify() {
        Category::Syntax | Category::Eof | Category::Io => "it is not JSON, or only a part of it".to_owned(),
        Category::Data => {
            let told = error.to_string();
            let told = told.split(" at line ").next().unwrap_or_default();
            let is_plain = ["missing field", "unknown variant", "unknown field"].iter().any(|of| told.starts_with(of));
            let detail = if is_plain { format!(": {told}") } else { String::new() };
            format!("it is not what this version of Consort writes{detail}")
        }
    }
}

/// Returns the same for the body of a row in lists.
pub fn row_fault(body: &str, error: &serde_json::Error) -> String {
    format!("its row cannot be read: {}", fault(body, error))
}

/// The damaged streams known so far, by name. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Damage(Arc<Mutex<HashMap<String, Error>>>);

impl Damage {
    /// Remembers the damage that a failed read reports; returns the same result.
    pub fn note<T>(&self, read: Result<T, Error>) -> Result<T, Error> {
        if let Err(error @ Error::Damaged { stream, .. }) = &read {
            self.mark(stream, error);
        }
        read
    }

    /// Remembers that a stream cannot be used, and the reason.
    pub fn mark(&self, stream: &str, error: &Error) {
        let mut known = self.known();
        if known.len() < KNOWN_MAX && known.insert(stream.to_owned(), error.clone()).is_none() {
            tracing::error!(stream, %error, "a stream cannot be read: it is left as it is");
        }
    }

    /// Returns an error for a stream that is known to be damaged.
    pub fn check(&self, stream: &str) -> Result<(), Error> {
        self.known().get(stream).map_or(Ok(()), |error| Err(error.clone()))
    }

    /// Returns the reason why a stream cannot be read, if it is known.
    pub fn reason(&self, stream: &str) -> Option<String> {
        self.known().get(stream).map(ToString::to_string)
    }

    /// Returns the number of streams that are known to be damaged.
    pub fn count(&self) -> usize {
        self.known().len()
    }

    /// Forgets streams that were erased.
    pub fn forget<'a>(&self, streams: impl IntoIterator<Item = &'a Arc<str>>) {
        let mut known = self.known();
        for stream in streams {
            known.remove(&**stream);
        }
    }

    fn known(&self) -> MutexGuard<'_, HashMap<String, Error>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_needs_no_knowledge_of_the_program() {
        for (text, expected) in [
            (DAMAGED_BODY, "its checksum is wrong"),
            ("{\"at\"", "it is not JSON, or only a part of it"),
            ("", "it is not JSON, or only a part of it"),
            ("[]", "it is not what this version of Consort writes"),
            ("{\"at\": \"x\"}", "it is not what this version of Consort writes"),
            ("{}", "it is not what this version of Consort writes: missing field `at`"),
        ] {
            let error = serde_json::from_str::<consort_core::event::Event>(text).unwrap_err();
            assert_eq!(fault(text, &error), expected, "{error}");
        }
    }

    #[test]
    fn only_damage_is_remembered_until_the_stream_is_gone() {
        let damage = Damage::default();
        let damaged = Error::Damaged { stream: "a".to_owned(), seq: 3, reason: "its checksum is wrong".to_owned() };
        assert_eq!(damage.note::<()>(Err(damaged.clone())), Err(damaged));
        assert_eq!(damage.note(Ok(1)), Ok(1));
        assert!(damage.note::<()>(Err(Error::Fenced)).is_err());
        assert_eq!(damage.reason("a").as_deref(), Some("record 3 of a is damaged: its checksum is wrong"));
        assert!(damage.check("a").is_err() && damage.check("b").is_ok() && damage.reason("b").is_none());
        damage.forget(&["a".into()]);
        assert_eq!(damage.reason("a"), None);
    }
}
