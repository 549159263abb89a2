//! Fields of a configuration's own choice in the body of every request. A wire
//! writes what it must; beside that anything may stand, and nothing that the
//! wire writes can be replaced.

use std::fmt;

use serde_json::{Map, Value};

/// Levels of objects that are laid over each other; no provider's body has more.
const DEPTH_MAX: usize = 16;

/// The bodies of the protocols that models are spoken to in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyShape {
    /// Chat completions.
    Chat,
    /// OpenAI's responses.
    Responses,
    /// Anthropic's messages.
    Messages,
    /// Google's `streamGenerateContent`.
    Content,
}

impl BodyShape {
    /// Returns the fields that Consort itself writes, or will write when it is asked to; a dot leads into an object.
    pub(crate) fn own(self) -> &'static [&'static str] {
        match self {
            BodyShape::Chat => &[
                "model",
                "messages",
                "stream",
                "stream_options",
                "max_tokens",
                "max_completion_tokens",
                "tools",
                "tool_choice",
                "parallel_tool_calls",
                "response_format",
                "temperature",
                "top_p",
                "seed",
                "reasoning_effort",
            ],
            BodyShape::Responses => &[
                "model",
                "input",
                "stream",
                "store",
                "include",
                "max_output_tokens",
                "tools",
                "tool_choice",
                "parallel_tool_calls",
                "text.format",
                "temperature",
                "top_p",
                "reasoning.effort",
            ],
            BodyShape::Messages => &[
                "model",
                "max_tokens",
                "stream",
                "system",
                "messages",
                "tools",
                "tool_choice",
                "temperature",
                "top_p",
                "output_config.effort",
                "output_config.format",
            ],
            BodyShape::Content => &[
                "systemInstruction",
                "contents",
                "tools",
                "toolConfig",
                "generationConfig.maxOutputTokens",
                "generationConfig.temperature",
                "generationConfig.topP",
                "generationConfig.seed",
                "generationConfig.thinkingConfig.thinkingLevel",
                "generationConfig.thinkingConfig.thinkingBudget",
                "generationConfig.responseMimeType",
                "generationConfig.responseSchema",
                "generationConfig.responseJsonSchema",
            ],
        }
    }
}

/// Fields added to the body of every request. `Debug` shows their names alone:
/// values may be credentials.
#[derive(Clone, Default, PartialEq)]
pub struct Extra(Map<String, Value>);

impl Extra {
    /// Adds a field, unless it is one that Consort writes itself.
    pub fn set(&mut self, shape: BodyShape, name: &str, value: Value) -> Result<(), String> {
        if let Some(path) = clash(name, &value, shape.own(), DEPTH_MAX) {
            return Err(format!("Consort sets `{path}` itself"));
        }
        self.0.insert(name.to_owned(), value);
        Ok(())
    }

    /// Returns a body with these fields added.
    pub(super) fn added_to(&self, body: Vec<u8>) -> serde_json::Result<Vec<u8>> {
        if self.0.is_empty() {
            return Ok(body);
        }
        let mut fields: Map<String, Value> = serde_json::from_slice(&body)?;
        add(&mut fields, &self.0, DEPTH_MAX);
        serde_json::to_vec(&fields)
    }
}

impl fmt::Debug for Extra {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_list().entries(self.0.keys()).finish()
    }
}

/// Returns the first field at or below `path` that is one of `own`.
fn clash(path: &str, value: &Value, own: &[&str], depth: usize) -> Option<String> {
    if own.contains(&path) || depth == 0 {
        return Some(path.to_owned());
    }
    let inside = format!("{path}.");
    if !own.iter().any(|field| field.starts_with(&inside)) {
        return None;
    }
    // Something of ours stands inside, so this must be an object with room for it.
    let Value::Object(fields) = value else { return Some(path.to_owned()) };
    fields.iter().find_map(|(name, value)| clash(&format!("{inside}{name}"), value, own, depth - 1))
}

fn add(fields: &mut Map<String, Value>, extra: &Map<String, Value>, depth: usize) {
    for (name, value) in extra {
        match (fields.get_mut(name), value) {
            (None, value) => drop(fields.insert(name.clone(), value.clone())),
            (Some(Value::Object(inner)), Value::Object(extra)) if depth > 0 => add(inner, extra, depth - 1),
            // What a wire has written stays.
            (Some(_), _) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_of_our_own_are_refused_wherever_they_stand() {
        for (shape, name, value, clash) in [
            (BodyShape::Chat, "messages", json!([]), Some("messages")),
            (BodyShape::Chat, "service_tier", json!("flex"), None),
            (BodyShape::Responses, "reasoning", json!({ "effort": "low" }), Some("reasoning.effort")),
            (BodyShape::Responses, "reasoning", json!({ "summary": "auto" }), None),
            (BodyShape::Responses, "reasoning", json!("low"), Some("reasoning")),
            (BodyShape::Messages, "thinking", json!({ "type": "adaptive" }), None),
            (BodyShape::Content, "generationConfig", json!({ "topK": 3, "seed": 1 }), Some("generationConfig.seed")),
        ] {
            let told = Extra::default().set(shape, name, value).err();
            assert_eq!(told, clash.map(|path| format!("Consort sets `{path}` itself")), "{name}");
        }
    }

    #[test]
    fn fields_are_laid_over_a_body_and_replace_nothing() {
        let mut extra = Extra::default();
        extra.set(BodyShape::Content, "generationConfig", json!({ "topK": 3 })).unwrap();
        extra.set(BodyShape::Content, "labels", json!({ "team": "hush" })).unwrap();
        assert_eq!(format!("{extra:?}"), r#"["generationConfig", "labels"]"#);
        let body = json!({ "contents": [], "generationConfig": { "maxOutputTokens": 5 } });
        let sent: Value = serde_json::from_slice(&extra.added_to(body.to_string().into_bytes()).unwrap()).unwrap();
        let expected = json!({ "contents": [], "generationConfig": { "maxOutputTokens": 5, "topK": 3 },
            "labels": { "team": "hush" } });
        assert_eq!(sent, expected);
    }
}
