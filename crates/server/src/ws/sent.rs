//! A frame of an event as clients got it, and as a late client gets it where there is not room for all of it.

use std::sync::Arc;

use consort_core::frame::field::Iso;
use consort_core::frame::numbered::EventFrame;
use serde_json::Value;

/// Characters of a long text in a frame that is shortened.
const SHORT_MAX: usize = 1000;

/// A frame as it was sent.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SentFrame {
    at: Iso,
    text: Arc<str>,
    /// The same with its long texts cut, if it has any: frames are made short once, not for every client.
    short: Option<Arc<str>>,
}

/// The form of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Form {
    /// As it was sent.
    #[default]
    Whole,
    /// With its long texts cut.
    Short,
}

impl SentFrame {
    /// Creates it from a frame and its text.
    pub(super) fn new(frame: &EventFrame, text: &Arc<str>) -> SentFrame {
        SentFrame { at: frame.at(), text: text.clone(), short: has_long_text(text).then(|| short(frame)) }
    }

    /// Returns the time of the event, which orders frames of all runs.
    pub(super) fn at(&self) -> Iso {
        self.at
    }

    /// Returns its text in this form.
    pub(super) fn text(&self, form: Form) -> &str {
        match (form, &self.short) {
            (Form::Short, Some(short)) => short,
            (Form::Short | Form::Whole, _) => &self.text,
        }
    }

    /// Keeps nothing but the short form.
    pub(super) fn cut(&mut self) {
        self.text = self.short.take().unwrap_or_else(|| self.text.clone());
    }

    /// Returns the number of bytes that it takes in a list.
    pub(super) fn size(&self, form: Form) -> usize {
        self.text(form).len() + 1
    }
}

/// Returns whether a text in some JSON may have more characters than a short one. Its bytes, escapes included, are never
/// fewer than its characters.
fn has_long_text(json: &str) -> bool {
    let mut is_text = false;
    let mut is_escaped = false;
    let mut began = 0;
    for (place, byte) in json.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_text,
            b'"' if is_text && place - began > SHORT_MAX => return true,
            b'"' => (is_text, began) = (!is_text, place + 1),
            _ => {}
        }
    }
    false
}

fn short(frame: &EventFrame) -> Arc<str> {
    let mut json = frame.json();
    shorten(&mut json);
    json.to_string().into()
}

fn shorten(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Some((end, _)) = text.char_indices().nth(SHORT_MAX) {
                text.truncate(end);
                text.push_str("... [truncated]");
            }
        }
        Value::Array(values) => values.iter_mut().for_each(shorten),
        Value::Object(fields) => fields.values_mut().for_each(shorten),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use consort_core::frame::field::{ConversationPlace, TaskPlace};
    use consort_core::frame::numbered::RunFrame;
    use consort_core::frame::run::Frame;

    use super::*;

    fn sent(agent_role: String) -> SentFrame {
        let conversation = ConversationPlace { agent_role, ..ConversationPlace::default() };
        let frame = Frame::ReflectionStarted { task: TaskPlace { conversation, task_name: None } };
        let frame = RunFrame { run_id: "run-1".into(), seq: 0, frame, inherited: false, at: Iso(1) };
        let frame = EventFrame::Run(frame);
        SentFrame::new(&frame, &frame.text().into())
    }

    #[test]
    fn long_texts_are_cut_wherever_they_are() {
        let sent = sent("é".repeat(SHORT_MAX + 1));
        let short: Value = serde_json::from_str(sent.text(Form::Short)).unwrap();
        assert_eq!(short["agentRole"], format!("{}... [truncated]", "é".repeat(SHORT_MAX)));
        assert!(!sent.text(Form::Whole).contains("[truncated]"));
    }

    #[test]
    fn a_frame_without_long_texts_has_one_form_and_is_made_once() {
        for role in ["a".repeat(SHORT_MAX), "\"\\\n".repeat(SHORT_MAX / 6), "a\" b\\".to_owned()] {
            let sent = sent(role);
            assert_eq!(sent.short, None, "{}", sent.text);
        }
        // More bytes than a short text may have characters, and no more characters.
        let wide = sent("é".repeat(SHORT_MAX));
        assert_eq!(wide.text(Form::Short), wide.text(Form::Whole));
    }
}
