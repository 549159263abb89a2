//! The built-in demo model: offline, no key, a few fixed rules, and honest
//! about it. It takes the same path as any model, tools included, so that
//! everything else can be tried before a real one is configured.

mod editor;
mod find;
mod listen;
mod outline;
mod plan;
mod prompt;
mod revise;
mod sample;
mod small_talk;
#[cfg(test)]
mod tests;
mod workflow;
mod write;

use std::collections::VecDeque;
use std::time::Duration;

use consort_core::message::{Call, Failure, Message, Part, Reply, Stop, Usage};
use futures::stream::{self, BoxStream, StreamExt};

use self::plan::Wish;
use self::prompt::Prompt;
use super::{Ask, Model, Piece};

/// How fast it speaks when nobody says otherwise: as words are read.
const PACE: Duration = Duration::from_millis(3);
/// Bytes that count as one token.
const TOKEN_BYTES: u64 = 4;
/// Whose replies these are.
const WIRE: &str = "demo";

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
    let prompt = Prompt::read(&ask.messages);
    let (mut pieces, reply) = match (listen::facts(ask), prompt.begun()) {
        (Some(facts), _) => said(&facts, ask),
        (None, _) if prompt.wants_silence() => (Vec::new(), Reply { wire: WIRE.to_owned(), ..Reply::default() }),
        (None, Some(begun)) => said(&rest(&write::answer(&prompt, &ask.tools), &begun), ask),
        (None, None) => match plan::next(&prompt, &ask.tools, ask.round) {
            wishes if wishes.is_empty() => said(&write::answer(&prompt, &ask.tools), ask),
            wishes => called(wishes, ask),
        },
    };
    let input = ask.messages.iter().map(size).sum();
    let usage = Usage { input, output: spoken(&reply), ..Usage::default() };
    pieces.push(Piece::Done(reply, Some(usage)));
    pieces
}

/// The calls, all in one reply.
fn called(wishes: Vec<Wish>, ask: &Ask) -> (Vec<Piece>, Reply) {
    let call = |(at, wish): (usize, Wish)| {
        let provider_id = format!("call_{}.{}.{at}", ask.turn, ask.round);
        Part::Call(Call { provider_id, tool: wish.tool, args: wish.args.to_string().into(), native: None })
    };
    let parts = wishes.into_iter().enumerate().map(call).collect();
    (Vec::new(), Reply { wire: WIRE.to_owned(), parts, stop: Stop::End })
}

/// What follows the beginning of an answer; all of it where it began otherwise.
fn rest(answer: &str, begun: &str) -> String {
    answer.strip_prefix(begun).unwrap_or(answer).to_owned()
}

/// The words, one by one, as far as they fit.
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
        Message::Assistant(reply) => spoken(reply),
    }
}
