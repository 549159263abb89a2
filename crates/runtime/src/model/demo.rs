//! The built-in demo model: offline, no key, a few fixed rules, and honest
//! about it. It takes the same path as any model, tools included, so that
//! everything else can be tried before a real one is configured.

mod prompt;
mod sample;

use std::collections::VecDeque;
use std::time::Duration;

use consort_core::message::{Call, Failure, Message, Part, Reply, Stop, Usage};
use futures::stream::{self, BoxStream, StreamExt};
use serde_json::json;

use self::prompt::Prompt;
use super::{Ask, Model, Piece};

/// How fast it speaks when nobody says otherwise: as words are read.
const PACE: Duration = Duration::from_millis(3);
/// What it calls when there is something to calculate.
const CALCULATOR: &str = "calculator";
/// Bytes that count as one token.
const TOKEN_BYTES: u64 = 4;
const WHO: &str = "This is Consort's built-in demo model: it follows fixed rules and understands nothing.";

/// Answers by rule.
#[derive(Clone, Debug)]
pub struct DemoModel {
    pace: Duration,
}

impl Default for DemoModel {
    fn default() -> DemoModel {
        DemoModel { pace: PACE }
    }
}

impl DemoModel {
    /// The same model with another pause between words.
    pub fn paced(mut self, pace: Duration) -> DemoModel {
        self.pace = pace;
        self
    }
}

impl Model for DemoModel {
    fn stream(&self, ask: Ask) -> BoxStream<'static, Result<Piece, Failure>> {
        let pace = self.pace;
        let pieces = VecDeque::from(pieces(&ask));
        stream::unfold(pieces, move |mut pieces| async move {
            let piece = pieces.pop_front()?;
            if !pace.is_zero() {
                tokio::time::sleep(pace).await;
            }
            Some((Ok(piece), pieces))
        })
        .boxed()
    }
}

fn pieces(ask: &Ask) -> Vec<Piece> {
    let mut reply = Reply { wire: "demo".to_owned(), parts: Vec::new(), stop: Stop::End };
    let mut pieces = Vec::new();
    let mut output = 0;
    match decide(ask) {
        Decision::Call(call) => {
            output = tokens(call.args.as_str());
            reply.parts.push(Part::Call(call));
        }
        Decision::Say(text) => {
            let mut said = String::new();
            for word in text.split_inclusive(char::is_whitespace) {
                if output + tokens(word) > ask.max_output_tokens {
                    reply.stop = Stop::Length;
                    break;
                }
                output += tokens(word);
                said.push_str(word);
                pieces.push(Piece::Delta(word.to_owned()));
            }
            reply.parts.push(Part::Text { text: said.into(), native: None });
        }
    }
    let usage = Usage { input: ask.messages.iter().map(size).sum(), output, ..Usage::default() };
    pieces.push(Piece::Done(reply, Some(usage)));
    pieces
}

enum Decision {
    Call(Call),
    Say(String),
}

fn decide(ask: &Ask) -> Decision {
    let prompt = Prompt::read(&ask.messages);
    if let Some(schema) = prompt.schema() {
        return Decision::Say(sample::of(&schema).to_string());
    }
    let sums = prompt.sums();
    let results = prompt.results(CALCULATOR);
    let calculator = ask.tools.iter().find(|tool| tool.name == CALCULATOR);
    match (calculator, sums.get(results.len())) {
        (Some(tool), Some(sum)) => {
            let input = tool.schema.only_string().unwrap_or("input");
            let provider_id = format!("call_{}.{}.0", ask.turn, ask.round);
            let args = json!({ input: sum }).to_string().into();
            Decision::Call(Call { provider_id, tool: CALCULATOR.to_owned(), args, native: None })
        }
        _ if !results.is_empty() => Decision::Say(calculated(&sums, &results)),
        _ => Decision::Say(restated(&prompt)),
    }
}

/// The answer after the calculator has spoken.
fn calculated(sums: &[String], results: &[(&str, bool)]) -> String {
    let line = |(sum, (result, failed)): (&String, &(&str, bool))| match failed {
        true => format!("{sum}: {result}"),
        false => format!("{sum} = {result}"),
    };
    let lines: Vec<String> = sums.iter().zip(results).map(line).collect();
    format!("{}\n\n{WHO} The calculator tool did the sum.", lines.join("\n"))
}

/// The answer when there is nothing it can do: what it was given.
fn restated(prompt: &Prompt<'_>) -> String {
    let mut text = format!("{WHO} It was asked:\n\n{}\n", prompt.task());
    if let Some(expected) = prompt.section("Expected Output") {
        text.push_str(&format!("\nExpected: {expected}\n"));
    }
    for (title, lines) in prompt.given() {
        text.push_str(&format!("\nIt was also given \"{title}\":\n"));
        for line in lines {
            text.push_str(&format!("- {line}\n"));
        }
    }
    text.push_str("\nA real model's answer would stand here. Name one under [models] in consort.toml.");
    text
}

fn tokens(text: &str) -> u64 {
    u64::try_from(text.len()).unwrap_or(u64::MAX).div_ceil(TOKEN_BYTES)
}

fn size(message: &Message) -> u64 {
    match message {
        Message::System { text } | Message::User { text } | Message::Tool { text, .. } => tokens(text.as_str()),
        Message::Assistant(reply) => {
            tokens(&reply.text()) + reply.calls().map(|call| tokens(call.args.as_str())).sum::<u64>()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use consort_core::catalog::ToolInfo;
    use consort_core::id::Id;
    use consort_core::schema::Schema;
    use serde_json::{Value, from_str};

    use super::*;
    use crate::model::conformance;
    use crate::tool::{Answer, Calculator, Invocation, Tool};

    fn ask(messages: Vec<Message>, tools: Vec<Arc<ToolInfo>>) -> Ask {
        Ask {
            run: "run".into(),
            turn: Id::task(0),
            task: "task".into(),
            round: 0,
            attempt: 0,
            messages: Arc::new(messages),
            tools: tools.into(),
            max_output_tokens: 1_000,
        }
    }

    fn user(text: &str) -> Message {
        Message::User { text: text.into() }
    }

    async fn reply(ask: Ask) -> (Reply, Usage) {
        let (reply, usage) = conformance::reply(&DemoModel::default().paced(Duration::ZERO), ask).await;
        (reply, usage.unwrap())
    }

    /// Asks until there are no more calls, with the real calculator.
    async fn conversation(task: &str) -> String {
        let calculator = Calculator::default();
        let mut messages = vec![user(task)];
        for round in 0..5 {
            let ask = Ask { round, ..ask(messages.clone(), vec![calculator.info().clone()]) };
            let (reply, _) = reply(ask).await;
            let Some(call) = reply.calls().next().cloned() else { return reply.text() };
            let id = Id::task(0).call(round, 0);
            let args = from_str(call.args.as_str()).unwrap();
            let invocation = Invocation { run: "run".into(), call: id.clone(), key: String::new(), args };
            let (text, is_error) = match calculator.call(invocation).await {
                Answer::Done { text, .. } => (text, false),
                Answer::Failed(text) | Answer::Unknown(text) => (text, true),
            };
            messages.push(Message::Assistant(Arc::new(reply)));
            let (provider_id, name) = (call.provider_id, call.tool);
            messages.push(Message::Tool { call: id, provider_id, name, text: text.into(), is_error });
        }
        panic!("it never answers");
    }

    #[tokio::test]
    async fn arithmetic_goes_through_the_calculator() {
        let text = conversation("## Task\nWhat is 42 * 17? And 15% of 80?\n\n## Expected Output\nTwo numbers").await;
        assert!(text.starts_with("42 * 17 = 714\n15% of 80 = 12\n"), "{text}");
        assert!(text.contains("demo model"), "{text}");
        let text = conversation("Divide 1 / 0, please").await;
        assert!(text.contains("division by zero"), "{text}");
    }

    #[tokio::test]
    async fn without_a_calculator_it_says_what_it_was_asked() {
        let (reply, _) = reply(ask(vec![user("What is 42 * 17?")], vec![])).await;
        assert_eq!(reply.calls().count(), 0);
        assert!(reply.text().contains("What is 42 * 17?"), "{}", reply.text());
    }

    #[tokio::test]
    async fn an_answer_names_the_task_the_context_and_itself() {
        let prompt = "## Context from Previous Tasks\n### Researcher: Research tea\n---\nTea is a drink.\n---\n\n\
                      ## Task\nWrite about tea in 2026\n\n## Expected Output\nA report";
        let (reply, usage) = reply(ask(vec![user(prompt)], vec![Calculator::default().info().clone()])).await;
        let text = reply.text();
        for part in ["demo model", "Write about tea in 2026", "A report", "Researcher: Research tea", "Tea is a drink."]
        {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert_eq!(usage.input, tokens(prompt));
        assert!(usage.output >= tokens(&text));
    }

    #[tokio::test]
    async fn an_output_format_is_satisfied() {
        let schema = json!({
            "type": "object",
            "required": ["title", "score", "count", "done", "tags", "level", "by"],
            "properties": {
                "title": { "type": "string", "minLength": 10 },
                "score": { "type": "number", "exclusiveMinimum": 0, "maximum": 0.5 },
                "count": { "type": "integer", "minimum": 3 },
                "done": { "type": "boolean" },
                "tags": { "type": "array", "items": { "type": "string", "maxLength": 2 }, "minItems": 2 },
                "level": { "enum": ["low", "high"] },
                "by": { "$ref": "#/$defs/person" },
            },
            "additionalProperties": false,
            "$defs": { "person": { "type": ["object", "null"], "properties": { "name": { "const": "Ada" } } } },
        });
        let prompt =
            format!("## Task\nAdd 1 + 1\n\n## Output Format\nAnswer with JSON like {{this}}:\n{schema:#}\nOnly JSON.");
        let (reply, _) = reply(ask(vec![user(&prompt)], vec![Calculator::default().info().clone()])).await;
        let value: Value = from_str(&reply.text()).unwrap();
        assert_eq!(Schema::parse(schema).unwrap().violations(&value), Vec::<String>::new(), "{value}");
    }

    #[tokio::test]
    async fn an_answer_stays_within_the_limit_on_output() {
        let (reply, usage) = reply(Ask { max_output_tokens: 10, ..ask(vec![user("Write a poem")], vec![]) }).await;
        assert_eq!(reply.stop, Stop::Length);
        assert!(usage.output <= 10 && !reply.text().is_empty(), "{usage:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn words_come_at_the_pace_that_was_set() {
        let begun = tokio::time::Instant::now();
        let model = DemoModel::default().paced(Duration::from_millis(5));
        let pieces = model.stream(ask(vec![user("Write a poem")], vec![])).count().await;
        assert_eq!(begun.elapsed().as_millis(), pieces as u128 * 5);
        assert!(pieces > 10);
    }
}
