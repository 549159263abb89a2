//! Prepares output for its reader: extracts the JSON in a model's answer, and renders a tool's outcome for
//! its model.

use serde_json::Value;

use consort_spec::message::Outcome;
use consort_spec::schema::Schema;
use consort_spec::spec::Spec;
use consort_spec::text::Text;

/// Returns the value in an answer, or all violations.
pub(crate) fn parse(answer: &str, schema: &Schema) -> Result<Value, Vec<String>> {
    let value = extract(answer).ok_or_else(|| vec!["(the whole value): the answer holds no JSON".to_owned()])?;
    let violations = schema.violations(&value);
    if violations.is_empty() { Ok(value) } else { Err(violations) }
}

/// Returns the text of a call's outcome for the model, and whether it is an error. Long output is cut with
/// a notice; the event keeps it whole.
pub(crate) fn shown(outcome: &Outcome, spec: &Spec, handle: &str) -> (Text, bool) {
    match outcome {
        Outcome::Answer { text, .. } => (cut(text, spec, handle), false),
        Outcome::Failed { text } => (cut(text, spec, handle), true),
        Outcome::Unknown { why } => {
            let text = format!(
                "outcome unknown: {why}. It may already have taken effect and was not repeated; check before trying again."
            );
            (text.into(), true)
        }
        Outcome::Subtask => (Text::default(), false),
    }
}

/// Returns the result of a call that was made with a person's arguments: the model reads which, since its own call
/// says others.
pub(crate) fn made_with(args: &str, result: &Text) -> Text {
    format!("[the user changed the arguments of this call to {args}]\n{result}").into()
}

/// Returns an answer without the reasoning that a model wrote into it.
pub(crate) fn without_thoughts(answer: String) -> String {
    let mut rest = answer.as_str();
    if !rest.contains(THOUGHT.0) {
        return answer;
    }
    let mut said = String::new();
    while let Some((before, after)) = rest.split_once(THOUGHT.0) {
        said.push_str(before);
        rest = after.split_once(THOUGHT.1).map_or("", |(_, after)| after);
    }
    said.push_str(rest);
    said.trim_start().to_owned()
}

/// The tags that some models put around their reasoning.
const THOUGHT: (&str, &str) = ("<think>", "</think>");

fn cut(text: &Text, spec: &Spec, handle: &str) -> Text {
    let whole = text.as_str();
    let by_chars = spec.options.max_tool_output.and_then(|max| whole.char_indices().nth(max)).map(|(at, _)| at);
    let by_bytes = Some(spec.limits.tool_result_bytes).filter(|max| *max > 0 && whole.len() > *max);
    let Some(at) = by_chars.into_iter().chain(by_bytes).min() else { return text.clone() };
    let kept = whole.get(..whole.floor_char_boundary(at)).unwrap_or_default();
    let total = whole.len();
    let omitted = whole.len() - kept.len();
    let shown = kept.len();
    format!("{kept}\n[cut: {shown} of {total} bytes shown, {omitted} left out; ask for a smaller part, or read on where read_result is offered: handle {handle}]").into()
}

fn extract(answer: &str) -> Option<Value> {
    let whole = answer.trim();
    let fenced = fence(whole).and_then(|text| serde_json::from_str(text).ok());
    fenced.or_else(|| serde_json::from_str(whole).ok()).or_else(|| embedded(whole))
}

/// Returns the text between the first pair of code fences.
fn fence(text: &str) -> Option<&str> {
    let (_, after) = text.split_once("```")?;
    let (_language, body) = after.split_once('\n')?;
    body.split_once("```").map(|(body, _)| body.trim())
}

/// Returns the first object or list that parses, wherever it starts.
fn embedded(text: &str) -> Option<Value> {
    let starts = text.char_indices().filter(|(_, c)| matches!(c, '{' | '[')).map(|(at, _)| at);
    starts.take(STARTS_MAX).find_map(|at| first_value(text.get(at..)?))
}

/// The number of positions tried in prose; a text with more braces is no answer.
const STARTS_MAX: usize = 64;

fn first_value(text: &str) -> Option<Value> {
    serde_json::Deserializer::from_str(text).into_iter::<Value>().next()?.ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn long_output_is_cut_on_a_character_with_a_notice() {
        let mut spec = Spec::default();
        spec.limits.tool_result_bytes = 4;
        let (text, is_error) = shown(&Outcome::answer("aéééé"), &spec, "1.0.0");
        assert!(text.as_str().starts_with("aé\n[cut: 3 of 9 bytes shown, 6 left out;"), "{text}");
        assert!(text.as_str().ends_with("handle 1.0.0]"), "{text}");
        assert!(!is_error);
        spec.options.max_tool_output = Some(1);
        assert!(shown(&Outcome::failed("aéééé"), &spec, "h").0.as_str().starts_with("a\n[cut: 1 of 9"));
        assert_eq!(shown(&Outcome::answer("a"), &spec, "h").0.as_str(), "a");
    }

    #[test]
    fn thoughts_are_no_part_of_an_answer() {
        let cases = [
            ("<think>hm</think>\n42", "42"),
            ("a <think>b</think>c", "a c"),
            ("<think>endless", ""),
            ("plain", "plain"),
        ];
        for (answer, said) in cases {
            assert_eq!(without_thoughts(answer.to_owned()), said);
        }
    }

    #[test]
    fn json_is_found_wherever_models_put_it() {
        let cases = [
            ("```json\n{\"a\": 1}\n```", Some(json!({ "a": 1 }))),
            ("Here you go:\n```\n[1]\n```\nBye", Some(json!([1]))),
            ("  {\"a\": 1} ", Some(json!({ "a": 1 }))),
            ("The answer is {\"a\": {\"b\": 2}}, I think {x}", Some(json!({ "a": { "b": 2 } }))),
            ("{oops} then [1, 2]", Some(json!([1, 2]))),
            ("42", Some(json!(42))),
            ("true", Some(json!(true))),
            ("no json here", None),
            ("", None),
        ];
        for (answer, value) in cases {
            assert_eq!(extract(answer), value, "{answer}");
        }
    }
}
