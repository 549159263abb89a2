//! JSON with a schema that is nested deeper than the parser reads. The schema is cut below more levels than a schema
//! may have, so that it is refused as a schema, at its place in the request, and not as JSON.

/// The levels of a schema that are kept: more than it may have, and with those around it fewer than the parser reads.
const KEPT: usize = 80;

/// A container that is being copied.
#[derive(Clone, Copy)]
struct Open {
    is_object: bool,
    part: Part,
}

/// The part of a request that a container is.
#[derive(Clone, Copy)]
enum Part {
    Request,
    /// A value of the client's own, in which no field has a meaning.
    Input,
    /// A schema, at this level.
    Schema(usize),
}

impl Part {
    /// Returns the part that the value of a field is.
    fn of(key: &[u8]) -> Part {
        match key {
            b"outputSchema" => Part::Schema(1),
            b"inputs" => Part::Input,
            _ => Part::Request,
        }
    }

    /// Returns the part that a container in this one is, as the value of a field of this kind.
    fn inner(self, value: Part) -> Part {
        match self {
            Part::Request => value,
            Part::Input => Part::Input,
            Part::Schema(level) => Part::Schema(level + 1),
        }
    }
}

/// Returns the JSON with its schemas cut; `None` when none is too deep.
pub fn cut(json: &[u8]) -> Option<Vec<u8>> {
    let mut copy = Vec::with_capacity(json.len());
    let mut open: Vec<Open> = Vec::new();
    // What the next value is, by its key.
    let mut value = Part::Request;
    let mut is_cut = false;
    let mut at = 0;
    while let Some(&byte) = json.get(at) {
        let mut end = at + 1;
        match byte {
            b'"' => {
                end = string_end(json, at);
                if open.last().is_some_and(|open| open.is_object) && !after_colon(&copy) {
                    value = Part::of(json.get(at + 1..end - 1).unwrap_or_default());
                }
            }
            b'{' | b'[' => {
                let part = open.last().map_or(Part::Request, |around| around.part.inner(value));
                if matches!(part, Part::Schema(level) if level > KEPT) {
                    copy.extend_from_slice(b"null");
                    is_cut = true;
                    at = container_end(json, at);
                    continue;
                }
                open.push(Open { is_object: byte == b'{', part });
                value = Part::Request;
            }
            b'}' | b']' => {
                open.pop();
                value = Part::Request;
            }
            b',' => value = Part::Request,
            _ => {}
        }
        copy.extend_from_slice(json.get(at..end).unwrap_or_default());
        at = end;
    }
    is_cut.then_some(copy)
}

/// Returns whether the next value belongs to a key.
fn after_colon(copy: &[u8]) -> bool {
    copy.trim_ascii_end().last() == Some(&b':')
}

/// Returns the place behind a string that begins here.
fn string_end(json: &[u8], begin: usize) -> usize {
    let mut at = begin + 1;
    while let Some(&byte) = json.get(at) {
        match byte {
            b'"' => return at + 1,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    json.len()
}

/// Returns the place behind an object or a list that begins here.
fn container_end(json: &[u8], begin: usize) -> usize {
    let mut depth = 0_usize;
    let mut at = begin;
    while let Some(&byte) = json.get(at) {
        match byte {
            b'"' => {
                at = string_end(json, at);
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        at += 1;
        if depth == 0 {
            return at;
        }
    }
    json.len()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn deep(levels: usize) -> String {
        format!(r#"{}{{"type":"string"}}{}"#, r#"{"properties":{"a":"#.repeat(levels), "}}".repeat(levels))
    }

    fn depth(value: &Value) -> usize {
        let below = match value {
            Value::Array(items) => items.iter().map(depth).max(),
            Value::Object(fields) => fields.values().map(depth).max(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return 0,
        };
        1 + below.unwrap_or(0)
    }

    #[test]
    fn a_schema_of_any_depth_is_cut_to_what_can_be_parsed_and_all_else_stays() {
        for levels in [65, 100, 5_000] {
            let sent = format!(
                r#"{{"tasks":[{{"outputSchema" : {}, "description":"a \"{{[ \\"}}], "inputs":{{"x":"outputSchema","y":[[1]]}}}}"#,
                deep(levels)
            );
            let read: Value = serde_json::from_slice(&cut(sent.as_bytes()).unwrap()).unwrap();
            assert_eq!(depth(&read["tasks"][0]["outputSchema"]), KEPT, "{levels}");
            assert_eq!(read["tasks"][0]["description"], r#"a "{[ \"#);
            assert_eq!(read["inputs"], json!({ "x": "outputSchema", "y": [[1]] }));
        }
    }

    #[test]
    fn nothing_else_is_cut() {
        let inputs = format!(r#"{{"inputs":{{"outputSchema":"x","y":{}}}}}"#, deep(500));
        assert!(cut(inputs.as_bytes()).is_none());
        let inputs = format!(r#"{{"inputs":{{"outputSchema":{}}}}}"#, deep(500));
        assert!(cut(inputs.as_bytes()).is_none(), "a value of the client's own");
        let beside = format!(r#"[{{"outputSchema":1}},{}]"#, deep(500));
        assert!(cut(beside.as_bytes()).is_none());
        let allowed = format!(r#"{{"outputSchema":{}}}"#, deep(30));
        assert!(cut(allowed.as_bytes()).is_none());
    }

    #[test]
    fn made_up_texts_end_and_never_panic() {
        for text in ["", "\"", "{", "}]", r#"{"outputSchema":"#, r#"{"outputSchema":"\"#, "\\", "[}{]", "\"\\"] {
            let _cut = cut(text.as_bytes());
        }
        let unclosed = format!(r#"{{"outputSchema":{}"#, "[".repeat(1_000));
        assert!(cut(unclosed.as_bytes()).is_some_and(|cut| serde_json::from_slice::<Value>(&cut).is_err()));
        let odd = format!(r#"{{"outputSchema":{}\"#, r#"["\"#.repeat(200));
        let _cut = cut(odd.as_bytes());
    }
}
