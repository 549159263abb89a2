//! The built-in demo model: offline, no key, a few fixed rules, and it
//! says so. It takes the same path as any model, tools included, so that
//! everything else can be tried before a real one is configured.

mod answer;
mod editor;
mod plan;
mod prompt;
mod sample;
#[cfg(test)]
mod tests;
mod words;

use std::collections::VecDeque;
use std::time::Duration;

use consort_core::chat::MINING;
use consort_core::message::{Call, Failure, Message, Part, Reply, Stop, Usage};
use futures::stream::{self, BoxStream, StreamExt};
use serde_json::json;

use self::plan::PlannedCall;
use self::prompt::Prompt;
use super::{Ask, Model, Piece};

/// The pause between two words: about as fast as people read.
const PACE: Duration = Duration::from_millis(3);
/// Bytes that count as one token.
const TOKEN_BYTES: u64 = 4;
/// The name its replies carry.
const WIRE: &str = "demo";

/// A model that answers by fixed rules.
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
    /// Returns the model with another pause between words.
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
    let (mut pieces, reply) = reply(ask);
    let input = ask.messages.iter().map(size).sum();
    let usage = Usage { input, output: spoken(&reply), ..Usage::default() };
    pieces.push(Piece::Done(reply, Some(usage)));
    pieces
}

fn reply(ask: &Ask) -> (Vec<Piece>, Reply) {
    let prompt = Prompt::read(&ask.messages);
    if *ask.task == *MINING {
        return said(&facts(prompt.task()), ask);
    }
    if prompt.wants_silence() {
        return (Vec::new(), Reply { wire: WIRE.to_owned(), ..Reply::default() });
    }
    if let Some(begun) = prompt.begun() {
        let whole = answer::answer(&prompt, &ask.tools);
        return said(whole.strip_prefix(&begun).unwrap_or(&whole), ask);
    }
    match plan::next(&prompt, &ask.tools, ask.round) {
        calls if calls.is_empty() => said(&answer::answer(&prompt, &ask.tools), ask),
        calls => called(calls, ask),
    }
}

/// Returns the sentences of a message in which people speak about themselves, as the facts worth remembering.
fn facts(exchange: &str) -> String {
    let said = exchange.split_once("\nUser: ").map_or(exchange, |(_, said)| said);
    let said = said.rsplit_once("\n\nAssistant: ").map_or(said, |(said, _)| said);
    let sentences = said.split_inclusive(['.', '!', '?', '\n']).map(str::trim);
    let about = |sentence: &&str| {
        let lower = sentence.to_lowercase();
        ["i ", "i'm ", "my ", "we ", "our "].iter().any(|start| lower.starts_with(start)) && !sentence.ends_with('?')
    };
    let fact = |sentence: &str| format!("The user said: {}", sentence.trim_end_matches(['.', '!']));
    json!({ "facts": sentences.filter(about).map(fact).collect::<Vec<_>>() }).to_string()
}

/// Returns the calls, all in one reply.
fn called(calls: Vec<PlannedCall>, ask: &Ask) -> (Vec<Piece>, Reply) {
    let call = |(at, call): (usize, PlannedCall)| {
        let provider_id = format!("call_{}.{}.{at}", ask.conversation, ask.round);
        Part::Call(Call { provider_id, tool: call.tool, args: call.args.to_string().into(), native: None })
    };
    let parts = calls.into_iter().enumerate().map(call).collect();
    (Vec::new(), Reply { wire: WIRE.to_owned(), parts, stop: Stop::End })
}

/// Returns the text word by word, up to the output limit.
fn said(text: &str, ask: &Ask) -> (Vec<Piece>, Reply) {
    let mut words = text.split_inclusive(char::is_whitespace);
    let mut spoken = String::new();
    let mut pieces = Vec::new();
    let stop = loop {
        let Some(word) = words.next() else { break Stop::End };
        if tokens(&spoken) + tokens(word) > ask.max_output_tokens {
            break Stop::Length;
        }
        spoken.push_str(word);
        pieces.push(Piece::Delta(word.to_owned()));
    };
    let parts = vec![Part::Text { text: spoken.into(), native: None }];
    (pieces, Reply { wire: WIRE.to_owned(), parts, stop })
}

fn tokens(text: &str) -> u64 {
    u64::try_from(text.len()).unwrap_or(u64::MAX).div_ceil(TOKEN_BYTES)
}

fn spoken(reply: &Reply) -> u64 {
    tokens(&reply.text()) + reply.calls().map(|call| tokens(call.args.as_str())).sum::<u64>()
}

fn size(message: &Message) -> u64 {
    match message {
        Message::System { text } | Message::User { text } | Message::Tool { text, .. } => tokens(text.as_str()),
        Message::Files { files } => files.iter().map(consort_core::message::Attached::tokens).sum(),
        Message::Assistant(reply) => spoken(reply),
    }
}
