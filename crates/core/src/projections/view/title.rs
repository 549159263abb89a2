//! The fields that distinguish a run from others in a list: a title, and the beginning of its output.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Serialize;

use consort_spec::spec::Spec;

/// Characters of a title at most: a line of a list.
const TITLE_MAX: usize = 120;
/// Characters of a preview at most: a few lines below a title.
const PREVIEW_MAX: usize = 240;

/// Inputs that a title is made of at most, and tasks they are looked for in: a row is
/// made with every event, so it must cost little.
const INPUTS_MAX: usize = 8;
const TASKS_MAX: usize = 16;

/// The fields that distinguish a run from others in a list.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunTitle {
    /// The title: the values of its inputs, or else its first task. Rows of earlier versions have none.
    #[serde(skip_serializing_if = "String::is_empty")]
    title: String,
    /// The beginning of its output, once it has completed.
    #[serde(skip_serializing_if = "Option::is_none")]
    output_preview: Option<String>,
}

impl RunTitle {
    /// Makes the face of a run with this output.
    pub(super) fn of(spec: &Spec, output: Option<&str>) -> RunTitle {
        // Values that no task was told are defaults of a configuration the run does not use.
        let is_told = |value: &str| spec.tasks.iter().take(TASKS_MAX).any(|task| task.description.contains(value));
        let texts = spec.inputs.values().filter_map(serde_json::Value::as_str).map(str::trim);
        let values = texts.filter(|value| !value.is_empty());
        let inputs: Vec<&str> = values.take(INPUTS_MAX).filter(|value| is_told(value)).collect();
        let title = if inputs.is_empty() {
            Cow::Borrowed(spec.tasks.first().map_or("", |task| task.description.as_str()))
        } else {
            Cow::Owned(inputs.join(" · "))
        };
        RunTitle { title: line(&title, TITLE_MAX), output_preview: output.map(|text| line(text, PREVIEW_MAX)) }
    }
}

/// Returns the beginning of a text as one line, with a mark where it was cut.
fn line(text: &str, max: usize) -> String {
    // A word has at least one character, so as many words as characters are enough of a long text.
    let words = text.split_whitespace().take(max);
    let mut line = String::with_capacity(text.len().min(max));
    let mut length = 0;
    for word in words {
        if length > 0 {
            line.push(' ');
            length += 1;
        }
        let letters = word.chars().take(max).count();
        if length + letters >= max {
            line.extend(word.chars().take((max - 1).saturating_sub(length)));
            line.push('…');
            return line;
        }
        line.push_str(word);
        length += letters;
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_with_a_mark_and_has_no_line_breaks() {
        assert_eq!(line(" a\n b\t c ", 10), "a b c");
        assert_eq!(line("abcdefgh", 5), "abcd…");
        assert_eq!(line("ab cdefgh", 5), "ab c…");
        assert_eq!(line("abcd e", 5), "abcd …");
        assert_eq!(line("ab c", 5), "ab c");
        assert_eq!(line("", 5), "");
        assert_eq!(line(&"ü".repeat(500), 120).chars().count(), 120);
    }
}
