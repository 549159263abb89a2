//! Checks that every wire decodes a stream correctly: the same reply wherever
//! its bytes are split, a failure where it is cut or damaged, and never a panic.

use std::collections::VecDeque;

use consort_core::message::{Call, Failure, Part, Reply, Stop, Usage};
use serde_json::{Value, json};

use super::answer::{Answer, Decoder, Whole};
use super::conformance::{ask, deltas};
use super::{Ask, Piece};

/// The wire name in the decoded replies.
const WIRE: &str = "wire";

/// Makes a decoder of the wire.
pub(crate) type Maker = fn() -> Box<dyn Decoder>;

/// A stream and its expected result.
pub(crate) struct Shape {
    pub(crate) name: &'static str,
    pub(crate) stream: String,
    pub(crate) parts: Vec<Part>,
    pub(crate) stop: Stop,
    pub(crate) usage: Option<Usage>,
}

/// Returns a text part.
pub(crate) fn text(text: &str) -> Part {
    Part::Text { text: text.into(), native: None }
}

/// Returns a call part.
pub(crate) fn call(id: &str, tool: &str, args: &str, native: Option<Value>) -> Part {
    Part::Call(Call { provider_id: id.to_owned(), tool: tool.to_owned(), args: args.into(), native })
}

/// Runs all checks.
pub(crate) fn holds(make: Maker, shapes: &[Shape]) {
    for shape in shapes {
        a_stream_is_the_same_reply_wherever_it_is_split(make, shape);
        a_cut_stream_is_never_half_a_reply(make, shape);
        a_damaged_field_never_does_worse_than_a_failure(make, shape);
    }
}

/// Feeds fuzzed streams to the wire: each ends once, and a failure has a message.
pub(crate) fn survives(make: Maker, shapes: &[Shape]) {
    let ask = ask();
    let examples = shapes.iter().map(|shape| shape.stream.as_str()).collect::<Vec<_>>();
    consort_fuzz::bytes(&examples, |bytes| {
        let (front, back) = bytes.split_at(bytes.len() / 2);
        let said = decode(make, &[front, back], &ask);
        let ends = said.iter().filter(|piece| !matches!(piece, Ok(Piece::Delta(_) | Piece::Thinking(_)))).count();
        assert_eq!(ends, 1, "an answer ends once: {said:?}");
        assert!(!matches!(said.last(), Some(Err(failure)) if failure.message.is_empty()), "{said:?}");
    });
}

/// Returns the decoded items when the bytes arrive in these chunks.
fn decode(make: Maker, chunks: &[&[u8]], ask: &Ask) -> Vec<Result<Piece, Failure>> {
    let mut said = Vec::new();
    let mut answer = Answer::new(make());
    let mut ready = VecDeque::new();
    for chunk in chunks {
        answer.inbox().extend_from_slice(chunk);
        let result = answer.advance(&mut ready);
        said.extend(ready.drain(..).map(Ok));
        match result {
            Err(failure) => return [said, vec![Err(failure)]].concat(),
            Ok(()) if answer.is_done() => break,
            Ok(()) => {}
        }
    }
    let result = if answer.is_done() { Ok(()) } else { answer.end(&mut ready) };
    said.extend(ready.drain(..).map(Ok));
    let whole = result.and_then(|()| answer.finish(ask));
    match whole {
        Ok(Whole { parts, stop, usage, unsaid }) => {
            said.extend((!unsaid.is_empty()).then_some(Ok(Piece::Delta(unsaid))));
            said.push(Ok(Piece::Done(Reply { wire: WIRE.to_owned(), parts, stop }, usage)));
        }
        Err(failure) => said.push(Err(failure)),
    }
    said
}

fn a_stream_is_the_same_reply_wherever_it_is_split(make: Maker, shape: &Shape) {
    let ask = ask();
    let reply = Reply { wire: WIRE.to_owned(), parts: shape.parts.clone(), stop: shape.stop };
    let done = Ok(Piece::Done(reply.clone(), shape.usage));
    for at in 0..=shape.stream.len() {
        let (front, back) = shape.stream.as_bytes().split_at(at);
        let said = decode(make, &[front, back], &ask);
        assert_eq!(said.last(), Some(&done), "{} split at {at}", shape.name);
        assert_eq!(deltas(&said), reply.text(), "{} split at {at}", shape.name);
    }
}

fn a_cut_stream_is_never_half_a_reply(make: Maker, shape: &Shape) {
    let ask = ask();
    let whole = decode(make, &[shape.stream.as_bytes()], &ask);
    for at in 0..shape.stream.len() {
        let said = decode(make, &[&shape.stream.as_bytes()[..at]], &ask);
        match said.last() {
            Some(Ok(Piece::Done(reply, _))) => {
                let Some(Ok(Piece::Done(expected, _))) = whole.last() else { panic!("{} has no end", shape.name) };
                assert_eq!(reply, expected, "{} cut at {at}", shape.name);
            }
            Some(Err(failure)) => assert!(failure.kind.is_retryable(), "{} cut at {at}: {failure}", shape.name),
            Some(Ok(_)) | None => panic!("{} cut at {at} has no end", shape.name),
        }
    }
}

fn a_damaged_field_never_does_worse_than_a_failure(make: Maker, shape: &Shape) {
    let ask = ask();
    let events: Vec<&str> = shape.stream.split_terminator("\n\n").collect();
    for (at, event) in events.iter().enumerate() {
        let json = event.lines().find_map(|line| line.strip_prefix("data: "));
        let Some(json) = json.and_then(|json| serde_json::from_str(json).ok()) else { continue };
        for variant in damaged(&json) {
            let mut stream: Vec<String> = events.iter().map(|event| format!("{event}\n\n")).collect();
            stream[at] = format!("data: {variant}\n\n");
            let said = decode(make, &[stream.concat().as_bytes()], &ask);
            let ends = said.iter().filter(|piece| matches!(piece, Err(_) | Ok(Piece::Done(..)))).count();
            assert_eq!(ends, 1, "{}: {variant}", shape.name);
        }
    }
}

/// Returns copies of the value in which each field and item in turn is left out or replaced by nonsense.
fn damaged(value: &Value) -> Vec<Value> {
    let mut variants = vec![json!(-7.5), json!({ "?": [null] }), json!(["?"]), json!("?"), Value::Null];
    match value {
        Value::Object(fields) => {
            for (name, inner) in fields {
                let mut without = fields.clone();
                without.remove(name);
                variants.push(Value::Object(without));
                for changed in damaged(inner) {
                    let mut with = fields.clone();
                    with.insert(name.clone(), changed);
                    variants.push(Value::Object(with));
                }
            }
        }
        Value::Array(items) => {
            for (at, inner) in items.iter().enumerate() {
                for changed in damaged(inner) {
                    let mut with = items.clone();
                    with[at] = changed;
                    variants.push(Value::Array(with));
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    variants
}
