//! Prepares output for its reader: extracts the JSON in a model's answer, and renders a tool's outcome for
//! its model.

use serde_json::Value;

use consort_spec::message::Outcome;
use consort_spec::schema::Schema;
use consort_spec::spec::Spec;
use consort_spec::text::Text;

/// The place of a violation of the whole.
const WHOLE: &str = "(the whole value)";

/// Returns the value in an answer, or all violations. The answer must say one value, and one that is kept as it is
/// said.
pub(crate) fn parse(answer: &str, schema: &Schema) -> Result<Value, Vec<String>> {
    let none = || vec![format!("{WHOLE}: the answer holds no JSON")];
    let (found, others) = extract(answer).ok_or_else(none)?;
    let mut violations = schema.violations(&found.value);
    violations.extend(inexact(found.text).map(|number| {
        format!("{WHOLE}: the number {number} cannot be kept exactly: it must be below 2^64, or a string")
    }));
    let is_rival = |other: &Value| *other != found.value && schema.violations(other).is_empty();
    if violations.is_empty() && others.iter().any(is_rival) {
        violations.push(format!("{WHOLE}: the answer holds more than one value that fits: it must be one"));
    }
    if violations.is_empty() { Ok(found.value) } else { Err(violations) }
}

/// Returns the value of an output that was accepted when it was stored, perhaps by an earlier version, which took the
/// first of several values.
pub(crate) fn stored(output: &str, schema: &Schema) -> Option<Value> {
    extract(output).map(|(found, _)| found.value).filter(|value| schema.violations(value).is_empty())
}

/// Returns the text of a call's outcome for the model, and whether it is an error. Long output is cut with
/// a notice; the event keeps it whole.
pub(crate) fn text_for_model(outcome: &Outcome, spec: &Spec, handle: &str) -> (Text, bool) {
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
    let mut left = String::new();
    while let Some((before, after)) = rest.split_once(THOUGHT.0) {
        left.push_str(before);
        rest = after.split_once(THOUGHT.1).map_or("", |(_, after)| after);
    }
    left.push_str(rest);
    left.trim_start().to_owned()
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

/// A value in an answer, as it is written.
struct FoundJson<'a> {
    text: &'a str,
    value: Value,
}

impl<'a> FoundJson<'a> {
    fn read(text: &'a str) -> Option<FoundJson<'a>> {
        Some(FoundJson { text, value: serde_json::from_str(text).ok()? })
    }
}

/// Returns the value in an answer, and the others that could have been meant as well: in further code fences where it
/// is in one, else in the text.
fn extract(answer: &str) -> Option<(FoundJson<'_>, Vec<Value>)> {
    let whole = answer.trim();
    let mut fenced = fences(whole).map(FoundJson::read);
    if let Some(found) = fenced.next().flatten() {
        return Some((found, fenced.flatten().map(|other| other.value).collect()));
    }
    if let Some(found) = FoundJson::read(whole) {
        return Some((found, Vec::new()));
    }
    let mut embedded = embedded(whole).into_iter();
    embedded.next().map(|found| (found, embedded.map(|other| other.value).collect()))
}

/// Returns the texts between pairs of code fences.
fn fences(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    let next = move || {
        let (_, after) = rest.split_once("```")?;
        let (_language, body) = after.split_once('\n')?;
        let (body, after) = body.split_once("```")?;
        rest = after;
        Some(body.trim())
    };
    std::iter::from_fn(next).take(STARTS_MAX)
}

/// Returns the objects and lists that parse, wherever they start and not within each other.
fn embedded(text: &str) -> Vec<FoundJson<'_>> {
    let mut found = Vec::new();
    let mut from = 0;
    for _ in 0..STARTS_MAX {
        let rest = text.get(from..).unwrap_or_default();
        let Some(at) = rest.find(['{', '[']) else { break };
        let start = rest.get(at..).unwrap_or_default();
        let mut values = serde_json::Deserializer::from_str(start).into_iter::<Value>();
        match values.next() {
            Some(Ok(value)) => {
                let end = values.byte_offset();
                found.push(FoundJson { text: start.get(..end).unwrap_or_default(), value });
                from += at + end;
            }
            Some(Err(_)) | None => from += at + 1,
        }
    }
    found
}

/// The number of positions tried in prose; a text with more braces is no answer.
const STARTS_MAX: usize = 64;
/// The digits that every whole number keeps.
const DIGITS_KEPT: usize = 15;

/// Returns the first whole number in JSON that would become another one.
fn inexact(json: &str) -> Option<&str> {
    let mut rest = json;
    while let Some(at) = rest.find(|sign: char| sign == '"' || sign == '-' || sign.is_ascii_digit()) {
        let token = rest.get(at..)?;
        if let Some(text) = token.strip_prefix('"') {
            rest = after_text(text);
            continue;
        }
        let is_part = |sign: char| sign.is_ascii_digit() || matches!(sign, '-' | '+' | '.' | 'e' | 'E');
        let end = token.find(|sign| !is_part(sign)).unwrap_or(token.len());
        let (number, after) = token.split_at_checked(end)?;
        let is_whole = !number.contains(['.', 'e', 'E']);
        if is_whole && number.len() > DIGITS_KEPT && !is_kept(number) {
            return Some(number);
        }
        rest = after;
    }
    None
}

/// Returns the rest of some JSON, after a text whose first quote was read.
fn after_text(mut rest: &str) -> &str {
    while let Some(at) = rest.find(['"', '\\']) {
        let is_end = rest.get(at..).is_some_and(|rest| rest.starts_with('"'));
        // What is escaped may be a quote, and is one byte or the first of more.
        let skipped = if is_end { 1 } else { 2 };
        rest = rest.get(at + skipped..).unwrap_or_default();
        if is_end {
            return rest;
        }
    }
    ""
}

fn is_kept(number: &str) -> bool {
    let as_float = || number.parse::<f64>().is_ok_and(|float| format!("{float:.0}") == number);
    number.parse::<i64>().is_ok() || number.parse::<u64>().is_ok() || as_float()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn long_output_is_cut_on_a_character_with_a_notice() {
        let mut spec = Spec::default();
        spec.limits.tool_result_bytes = 4;
        let (text, is_error) = text_for_model(&Outcome::answer("aéééé"), &spec, "1.0.0");
        assert!(text.as_str().starts_with("aé\n[cut: 3 of 9 bytes shown, 6 left out;"), "{text}");
        assert!(text.as_str().ends_with("handle 1.0.0]"), "{text}");
        assert!(!is_error);
        spec.options.max_tool_output = Some(1);
        assert!(text_for_model(&Outcome::failed("aéééé"), &spec, "h").0.as_str().starts_with("a\n[cut: 1 of 9"));
        assert_eq!(text_for_model(&Outcome::answer("a"), &spec, "h").0.as_str(), "a");
    }

    #[test]
    fn thoughts_are_no_part_of_an_answer() {
        let cases = [
            ("<think>hm</think>\n42", "42"),
            ("a <think>b</think>c", "a c"),
            ("<think>endless", ""),
            ("plain", "plain"),
        ];
        for (answer, found) in cases {
            assert_eq!(without_thoughts(answer.to_owned()), found);
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
            assert_eq!(extract(answer).map(|(found, _)| found.value), value, "{answer}");
        }
    }

    #[test]
    fn an_answer_says_one_value_that_fits_and_what_was_stored_counts_as_it_did() {
        let schema = Schema::new(json!({ "type": "object", "required": ["a"] }));
        let several = ["{\"a\":1}, {\"a\":2}", "{\"a\":1}\n{\"a\":2}", "```\n{\"a\":1}\n```\nor\n```\n{\"a\":2}\n```"];
        for answer in several {
            let violations = parse(answer, &schema).unwrap_err();
            assert_eq!(
                violations,
                ["(the whole value): the answer holds more than one value that fits: it must be one"]
            );
            assert_eq!(stored(answer, &schema), Some(json!({ "a": 1 })), "{answer}");
        }
        let one = [
            "{\"a\":1} as in [2] and {\"b\":3}",
            "{\"a\":1}, again {\"a\":1}",
            "Not {\"a\":2} but\n```json\n{\"a\":1}\n```",
            "{\"a\":1}",
        ];
        for answer in one {
            assert_eq!(parse(answer, &schema), Ok(json!({ "a": 1 })), "{answer}");
        }
    }

    #[test]
    fn a_whole_number_that_would_become_another_is_refused() {
        let any = Schema::new(json!({}));
        let long = "123456789012345678901234567890";
        for answer in
            [long.to_owned(), format!("-{long}"), format!("{{\"a\\\"\": [1, {long}]}}"), "18446744073709551617".into()]
        {
            let violations = parse(&answer, &any).unwrap_err();
            assert!(violations[0].contains("cannot be kept exactly"), "{violations:?}");
            assert!(stored(&answer, &any).is_some(), "what was stored can be read");
        }
        let text = format!("{{\"a\": \"{long} \\\" {long}\"}}");
        for answer in [
            "18446744073709551615",
            "-9223372036854775808",
            "100000000000000000000",
            "0.1234567890123456789",
            "1e300",
            &text,
        ] {
            assert!(parse(answer, &any).is_ok(), "{answer}");
        }
    }
}
