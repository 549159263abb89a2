//! Tool calls in words: small models and servers without a parser for them write a call
//! as text. A reply that is nothing but calls, in one of the widespread notations and of
//! tools that were offered, counts as those calls. Text that may still become one is held
//! back from people who watch.

use std::sync::Arc;

use consort_core::catalog::ToolInfo;
use serde_json::{Map, Value};

use crate::names;

/// The maximum length in bytes of a reply that can be calls; a longer one is an answer.
const SPOKEN_MAX: usize = 256 * 1024;
/// The maximum number of calls in one reply.
const CALLS_MAX: usize = 64;
/// Bytes at the beginning of a reply that decide whether JSON may become a call.
const BEGINNING: usize = 256;
/// The marks that only a call begins with.
const MARKS: [&str; 6] =
    ["<tool_call>", "<function_call>", "<function=", "[TOOL_CALLS]", "<|python_tag|>", "<|tool_call|>"];
/// The beginnings of JSON that is a call, up to the name of the tool, without blanks.
const SHAPES: [&str; 5] = [
    r#"{"name":""#,
    r#"{"type":"function","name":""#,
    r#"{"type":"function","function":{"name":""#,
    r#"{"function":{"name":""#,
    r#"{"tool_calls":[{"name":""#,
];
/// The words after a fence that a call may stand behind.
const FENCES: [&str; 5] = ["json", "tool_call", "tool_calls", "tool_code", ""];
const THINK: (&str, &str) = ("<think>", "</think>");

/// One call as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TextCall {
    /// The tool, as the model spelled it.
    pub(super) name: String,
    /// The arguments, as JSON.
    pub(super) args: String,
}

/// A reply that is calls in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Parsed<'a> {
    /// The reasoning of the model before it.
    pub(super) thought: &'a str,
    pub(super) calls: Vec<TextCall>,
}

/// Returns the calls that a whole reply is, if it is nothing else and all of them are of these tools.
pub(super) fn read<'a>(reply: &'a str, tools: &[Arc<ToolInfo>]) -> Option<Parsed<'a>> {
    if tools.is_empty() || reply.len() > SPOKEN_MAX {
        return None;
    }
    let (thought, text) = apart(reply);
    let calls = notations(text.trim(), tools)?;
    let is_offered = |call: &TextCall| tools.iter().any(|tool| is_named(tool, &call.name));
    let fits = (1..=CALLS_MAX).contains(&calls.len()) && calls.iter().all(is_offered);
    fits.then_some(Parsed { thought: thought.trim(), calls })
}

/// Returns the call that a reply was cut in, if it was one.
pub(super) fn read_cut<'a>(reply: &'a str, tools: &[Arc<ToolInfo>]) -> Option<Parsed<'a>> {
    let (thought, text) = apart(reply);
    let text = text.trim_start();
    let mark = MARKS.iter().find(|mark| text.starts_with(*mark))?;
    let rest = text.strip_prefix(*mark)?;
    let spelled = |tool: &&Arc<ToolInfo>| rest.contains(&*names::encode(&tool.name)) || rest.contains(&tool.name);
    let name = names::encode(&tools.iter().find(spelled)?.name).into_owned();
    Some(Parsed { thought: thought.trim(), calls: vec![TextCall { name, args: rest.to_owned() }] })
}

/// Returns the number of bytes of a reply that people may see already: all of it, unless
/// its end may still become a call.
pub(super) fn visible_len(reply: &str, tools: &[Arc<ToolInfo>]) -> usize {
    let (_, text) = apart(reply);
    let begun = text.trim_start();
    let may_be = begun.len() <= SPOKEN_MAX && (begun.is_empty() || may_become_call(begun, tools));
    if may_be && !tools.is_empty() { reply.len() - text.len() } else { reply.len() }
}

/// Returns the thoughts that a reply begins with, and what follows them. While a model
/// still thinks, nothing follows.
fn apart(reply: &str) -> (&str, &str) {
    let Some(thinking) = reply.trim_start().strip_prefix(THINK.0) else { return ("", reply) };
    thinking.split_once(THINK.1).unwrap_or((thinking, ""))
}

fn is_named(tool: &ToolInfo, name: &str) -> bool {
    tool.name == name || names::encode(&tool.name) == name
}

fn may_become_call(text: &str, tools: &[Arc<ToolInfo>]) -> bool {
    let agrees = |pattern: &str, text: &str| text.starts_with(pattern) || pattern.starts_with(text);
    if MARKS.iter().any(|mark| agrees(mark, text)) {
        return true;
    }
    let json = match text.strip_prefix("```") {
        Some(fenced) => match fenced.split_once('\n') {
            Some((word, json)) if FENCES.contains(&word.trim()) => json,
            Some(_) => return false,
            None => return FENCES.iter().any(|word| word.starts_with(fenced.trim_end())),
        },
        None if agrees("```", text) => return true,
        None => text,
    };
    let beginning = json.get(..json.floor_char_boundary(BEGINNING)).unwrap_or(json);
    let compact: String = beginning.chars().filter(|letter| !letter.is_whitespace()).collect();
    let compact = compact.strip_prefix('[').unwrap_or(&compact);
    SHAPES.iter().any(|shape| match compact.strip_prefix(shape) {
        None => shape.starts_with(compact),
        Some(name) => tools.iter().any(|tool| {
            [&*tool.name, &*names::encode(&tool.name)].iter().any(|known| agrees(&format!("{known}\""), name))
        }),
    })
}

/// Reads every notation in turn.
fn notations(text: &str, tools: &[Arc<ToolInfo>]) -> Option<Vec<TextCall>> {
    let with_args = |calls: Vec<Written>| calls.iter().all(|call| call.args.is_some()).then_some(calls);
    let unmarked = || fenced(text).or(Some(text)).and_then(json_calls).and_then(with_args);
    let written = tagged(text, ("<tool_call>", "</tool_call>"), tools)
        .or_else(|| tagged(text, ("<function_call>", "</function_call>"), tools))
        .or_else(|| functions(text, tools))
        .or_else(|| marked(text))
        .or_else(|| text.strip_prefix("<|python_tag|>").and_then(json_calls))
        .or_else(|| text.strip_prefix("<|tool_call|>").and_then(json_calls))
        .or_else(unmarked)?;
    let call = |Written { name, args }| TextCall { name, args: args.unwrap_or_else(|| "{}".to_owned()) };
    Some(written.into_iter().map(call).collect())
}

/// A call whose arguments may be left out.
struct Written {
    name: String,
    args: Option<String>,
}

/// Reads calls between tags, one after the other. The last tag may be missing: some
/// servers take it for the end of the reply.
fn tagged(text: &str, (open, close): (&str, &str), tools: &[Arc<ToolInfo>]) -> Option<Vec<Written>> {
    let mut calls = Vec::new();
    let mut rest = text;
    while !rest.is_empty() && calls.len() <= CALLS_MAX {
        let body = rest.strip_prefix(open)?.trim_start();
        let (mut found, after) = match body.starts_with("<function=") {
            true => {
                let (inside, after) = body.split_once(close).unwrap_or((body, ""));
                (functions(inside.trim(), tools)?, after)
            }
            false => {
                let (value, after) = json_prefix(body)?;
                let after = after.trim_start();
                (calls_of(&value)?, if after.is_empty() { after } else { after.strip_prefix(close)? })
            }
        };
        calls.append(&mut found);
        rest = after.trim_start();
    }
    Some(calls)
}

/// Reads `<function=name>…</function>`, with arguments as JSON or as `<parameter=name>`.
fn functions(text: &str, tools: &[Arc<ToolInfo>]) -> Option<Vec<Written>> {
    let mut calls = Vec::new();
    let mut rest = text;
    while !rest.is_empty() && calls.len() <= CALLS_MAX {
        let (name, body) = rest.strip_prefix("<function=")?.split_once('>')?;
        let (body, after) = body.split_once("</function>").unwrap_or((body, ""));
        let tool = tools.iter().find(|tool| is_named(tool, name));
        let body = body.trim();
        let args = match body.starts_with('<') {
            true => Value::Object(parameters(body, tool.map(|tool| tool.schema.json()))?),
            false if body.is_empty() => Value::Object(Map::new()),
            false => serde_json::from_str(body).ok().filter(Value::is_object)?,
        };
        calls.push(Written { name: name.trim().to_owned(), args: Some(args.to_string()) });
        rest = after.trim_start();
    }
    Some(calls)
}

/// Reads `<parameter=name>value</parameter>`; a value is text where the schema says so,
/// else JSON where it can be read as such.
fn parameters(text: &str, schema: Option<&Value>) -> Option<Map<String, Value>> {
    let mut args = Map::new();
    let mut rest = text;
    while !rest.is_empty() {
        let (name, body) = rest.strip_prefix("<parameter=")?.split_once('>')?;
        let (value, after) = body.split_once("</parameter>")?;
        let value = value.strip_prefix('\n').unwrap_or(value);
        let value = value.strip_suffix('\n').unwrap_or(value);
        let kind = schema.and_then(|schema| schema.get("properties")?.get(name)?.get("type"));
        let is_text = kind.is_some_and(|kind| kind == "string");
        let read = || serde_json::from_str(value.trim()).ok();
        let value = if is_text { None } else { read() }.unwrap_or_else(|| Value::String(value.to_owned()));
        args.insert(name.to_owned(), value);
        rest = after.trim_start();
    }
    Some(args)
}

/// Reads `[TOOL_CALLS]` followed by JSON, or by a name and its arguments.
fn marked(text: &str) -> Option<Vec<Written>> {
    let rest = text.strip_prefix("[TOOL_CALLS]")?.trim();
    if rest.starts_with(['[', '{']) {
        return json_calls(rest);
    }
    let one = |part: &str| {
        let (name, args) = part.split_at(part.find(['[', '{'])?);
        let (_, args) = args.split_once("[ARGS]").unwrap_or(("", args));
        let args: Value = serde_json::from_str(args.trim()).ok().filter(Value::is_object)?;
        Some(Written { name: name.trim().to_owned(), args: Some(args.to_string()) })
    };
    rest.split("[TOOL_CALLS]").map(one).collect()
}

/// Returns what stands in a fence that is the whole text.
fn fenced(text: &str) -> Option<&str> {
    let (word, body) = text.strip_prefix("```")?.split_once('\n')?;
    let body = body.trim_end().strip_suffix("```")?;
    (FENCES.contains(&word.trim()) && !body.contains("```")).then_some(body)
}

/// Reads text that is one call, or a list of calls, as JSON.
fn json_calls(text: &str) -> Option<Vec<Written>> {
    let (value, rest) = json_prefix(text.trim_start())?;
    if rest.trim().is_empty() { calls_of(&value) } else { None }
}

/// Reads the JSON that a text begins with; returns it and the rest.
fn json_prefix(text: &str) -> Option<(Value, &str)> {
    if !text.starts_with(['{', '[']) {
        return None;
    }
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    let value = values.next()?.ok()?;
    Some((value, text.get(values.byte_offset()..)?))
}

fn calls_of(value: &Value) -> Option<Vec<Written>> {
    match value {
        Value::Array(items) => items.iter().map(call_of).collect(),
        Value::Object(fields) => match fields.get("tool_calls") {
            Some(Value::Array(items)) if fields.len() == 1 => items.iter().map(call_of).collect(),
            Some(_) | None => call_of(value).map(|call| vec![call]),
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    }
}

/// Reads one call. Fields that no call has make it something else: an answer that only
/// looks like one.
fn call_of(value: &Value) -> Option<Written> {
    let fields = value.as_object()?;
    let all = |known: &[&str]| fields.keys().all(|name| known.contains(&name.as_str()));
    if let Some(function) = fields.get("function").filter(|function| function.is_object()) {
        return if all(&["type", "id", "index", "function"]) { call_of(function) } else { None };
    }
    if !all(&["name", "arguments", "parameters", "id", "type"]) {
        return None;
    }
    let args = match fields.get("arguments").or(fields.get("parameters")) {
        None | Some(Value::Null) => None,
        Some(object @ Value::Object(_)) => Some(object.to_string()),
        Some(Value::String(text)) => Some(text.clone()),
        Some(_) => return None,
    };
    Some(Written { name: fields.get("name")?.as_str()?.to_owned(), args })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools() -> Vec<Arc<ToolInfo>> {
        ["calculator", "net.find"].map(|name| Arc::new(ToolInfo::new(name, ""))).to_vec()
    }

    fn calls(text: &str) -> Option<Vec<(String, String)>> {
        read(text, &tools()).map(|said| said.calls.into_iter().map(|call| (call.name, call.args)).collect())
    }

    fn one(args: &str) -> Option<Vec<(String, String)>> {
        Some(vec![("calculator".to_owned(), args.to_owned())])
    }

    /// Whole replies that are one call of the calculator.
    const ONE: [&str; 22] = [
        r#"<tool_call>{"name":"calculator","arguments":{"input":"1+1"}}</tool_call>"#,
        " <tool_call>\n{\"name\": \"calculator\", \"arguments\": {\"input\": \"1+1\"}}\n</tool_call>\n",
        "<tool_call>\n{\"name\": \"calculator\", \"arguments\": {\"input\": \"1+1\"}}",
        r#"<tool_call>{"name":"calculator","arguments":"{\"input\":\"1+1\"}"}</tool_call>"#,
        r#"<function_call>{"name":"calculator","parameters":{"input":"1+1"}}</function_call>"#,
        r#"<function=calculator>{"input":"1+1"}</function>"#,
        "<function=calculator>\n<parameter=input>\n1+1\n</parameter>\n</function>",
        "<tool_call>\n<function=calculator>\n<parameter=input>\n1+1\n</parameter>\n</function>\n</tool_call>",
        r#"[TOOL_CALLS] [{"name":"calculator","arguments":{"input":"1+1"}}]"#,
        r#"[TOOL_CALLS]calculator{"input":"1+1"}"#,
        r#"[TOOL_CALLS]calculator[ARGS]{"input":"1+1"}"#,
        r#"[TOOL_CALLS]calculator[CALL_ID]9[ARGS]{"input":"1+1"}"#,
        r#"<|python_tag|>{"name":"calculator","parameters":{"input":"1+1"}}"#,
        r#"<|tool_call|>[{"name":"calculator","arguments":{"input":"1+1"}}]"#,
        "```json\n{\"name\": \"calculator\", \"arguments\": {\"input\": \"1+1\"}}\n```",
        "```\n[{\"name\": \"calculator\", \"arguments\": {\"input\": \"1+1\"}}]\n```\n",
        "```tool_call\n{\"name\": \"calculator\", \"parameters\": {\"input\": \"1+1\"}}\n```",
        r#"{"name": "calculator", "parameters": {"input": "1+1"}}"#,
        r#"{"type":"function","name":"calculator","parameters":{"input":"1+1"}}"#,
        r#"{"type":"function","function":{"name":"calculator","arguments":"{\"input\":\"1+1\"}"}}"#,
        r#"{"tool_calls":[{"name":"calculator","arguments":{"input":"1+1"}}]}"#,
        "<think>I should add.</think>\n<tool_call>{\"name\":\"calculator\",\"arguments\":{\"input\":\"1+1\"}}</tool_call>",
    ];

    #[test]
    fn every_widespread_notation_is_a_call() {
        for text in ONE {
            assert_eq!(calls(text), one(r#"{"input":"1+1"}"#), "{text}");
        }
        let several = "<tool_call>{\"name\":\"calculator\"}</tool_call>\n<tool_call>\
            {\"name\":\"net_x2E_find\",\"arguments\":{\"q\":\"</tool_call>\"}}</tool_call>";
        let found = ("net_x2E_find".to_owned(), r#"{"q":"</tool_call>"}"#.to_owned());
        assert_eq!(calls(several), Some(vec![("calculator".to_owned(), "{}".to_owned()), found]));
        let numbers = "<function=net.find><parameter=limit>3</parameter><parameter=q>3x</parameter></function>";
        let args = r#"{"limit":3,"q":"3x"}"#.to_owned();
        assert_eq!(calls(numbers), Some(vec![("net.find".to_owned(), args)]));
        assert_eq!(read(ONE[21], &tools()).unwrap().thought, "I should add.");
    }

    #[test]
    fn an_answer_that_only_mentions_a_call_stays_an_answer() {
        for text in [
            "",
            "42",
            "I will use <tool_call>{\"name\":\"calculator\",\"arguments\":{}}</tool_call>",
            "<tool_call>{\"name\":\"calculator\",\"arguments\":{}}</tool_call> Done.",
            "<tool_call>{\"name\":\"rm\",\"arguments\":{}}</tool_call>",
            "<tool_call>{\"name\":\"calculator\",\"arguments\":{}}</tool_call><tool_call>{\"name\":\"rm\"}</tool_call>",
            "<tool_call>{\"name\":\"calculator\",\"arg",
            r#"{"name": "calculator", "arguments": {}, "price": 3}"#,
            r#"{"name": "calculator"}"#,
            r#"{"name": "calculator", "arguments": [1]}"#,
            "```json\n{\"name\": \"calculator\"}\n```",
            "```python\nprint(1)\n```",
            "[]",
            "[TOOL_CALLS]",
            "[TOOL_CALLS]calculator",
            "<function=calculator>1+1</function>",
            "<think><tool_call>{\"name\":\"calculator\",\"arguments\":{}}</tool_call></think>no",
        ] {
            assert_eq!(calls(text), None, "{text}");
        }
        assert_eq!(read(ONE[0], &[]), None, "nothing was offered");
        let many = "<tool_call>{\"name\":\"calculator\"}</tool_call>".repeat(CALLS_MAX + 1);
        assert_eq!(calls(&many), None);
    }

    #[test]
    fn nothing_of_a_call_is_shown_while_it_is_written() {
        for text in ONE {
            let thought = text.find("</think>").map_or(0, |at| at + "</think>".len());
            for (at, _) in text.char_indices().filter(|(at, _)| *at > 0) {
                let seen = &text[..visible_len(&text[..at], &tools())];
                assert!(seen.trim().len() <= thought, "{at} of {text}: {seen}");
            }
        }
    }

    #[test]
    fn an_answer_is_shown_as_soon_as_it_can_be_no_call() {
        for (text, held) in [
            ("Hello", 0),
            ("<b>", 0),
            ("<tool_", 6),
            ("<tooth>", 0),
            ("```rust\nfn", 0),
            ("```json\n{\"city\"", 0),
            ("```json\n{\"name\": \"calc", 22),
            ("{\"name\": \"Ada", 0),
            ("{\"name\": \"calculator\", ", 23),
            ("[1, 2", 0),
            ("[TOO", 4),
            ("<think>hm", 0),
        ] {
            assert_eq!(text.len() - visible_len(text, &tools()), held, "{text}");
        }
        assert_eq!(visible_len("<tool_call>", &[]), "<tool_call>".len(), "nothing was offered");
    }

    #[test]
    fn a_call_that_was_cut_is_no_answer() {
        let cut = read_cut(r#"<tool_call>{"name":"calculator","arguments":{"inp"#, &tools()).unwrap();
        assert_eq!((cut.calls.len(), cut.calls[0].name.as_str()), (1, "calculator"));
        assert_eq!(read_cut("A long answer about <tool_call>", &tools()), None);
    }

    #[test]
    fn made_up_replies_are_read_or_left_alone() {
        let tools = tools();
        consort_fuzz::text(&ONE, |text| {
            if let Some(said) = read(text, &tools) {
                assert!(said.calls.iter().all(|call| tools.iter().any(|tool| is_named(tool, &call.name))), "{text}");
            }
            assert!(text.is_char_boundary(visible_len(text, &tools)), "{text}");
            drop(read_cut(text, &tools));
        });
    }
}
