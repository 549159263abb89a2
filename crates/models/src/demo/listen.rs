//! What the demo finds worth remembering of a conversation: what people say
//! about themselves, word for word.

use consort_core::chat::MINING;
use consort_core::message::Message;
use serde_json::json;

use super::Ask;

/// How sentences begin that people say about themselves.
const SELF: [&str; 6] = ["i ", "i'm ", "my ", "we ", "we're ", "our "];
/// What stands before what the user said, and before what was answered.
const USER: &str = "\nUser: ";
const ASSISTANT: &str = "\n\nAssistant: ";

/// The facts in what a user said, when that is what is asked for.
pub(super) fn facts(ask: &Ask) -> Option<String> {
    let asked = ask.messages.iter().rev().find_map(|message| match message {
        Message::User { text } => text.as_str().split_once(USER),
        Message::System { .. } | Message::Assistant(_) | Message::Tool { .. } => None,
    });
    let (_, said) = asked.filter(|_| *ask.task == *MINING)?;
    let said = said.rsplit_once(ASSISTANT).map_or(said, |(said, _)| said);
    let sentences = said.split_inclusive(['.', '!', '?', '\n']).map(str::trim);
    let about = |sentence: &&str| {
        let start = sentence.to_lowercase();
        SELF.iter().any(|word| start.starts_with(word)) && !sentence.ends_with('?')
    };
    let facts: Vec<String> = sentences
        .filter(about)
        .map(|sentence| format!("The user said: {}", sentence.trim_end_matches(['.', '!'])))
        .collect();
    Some(json!({ "facts": facts }).to_string())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use consort_core::id::Id;
    use consort_core::model_options::ModelOptions;

    use super::*;

    #[test]
    fn what_people_say_about_themselves_is_found_and_questions_are_not() {
        let asked = |task: &str| {
            Ask {
            run: "r".into(),
            turn: Id::task(0),
            task: task.into(),
            round: 0,
            attempt: 0,
            messages: Arc::new(vec![Message::User {
                text: "List.\n\n---\nUser: Hello. I like tea! My dog is old. I wonder why?\n\nAssistant: I see.\n\n## Expected Output"
                    .into(),
            }]),
            tools: Arc::new([]),
            max_output_tokens: 100,
            options: ModelOptions::default(),
        }
        };
        let expected = r#"{"facts":["The user said: I like tea","The user said: My dog is old"]}"#;
        assert_eq!(facts(&asked(MINING)).as_deref(), Some(expected));
        assert_eq!(facts(&asked("chat")), None);
    }
}
