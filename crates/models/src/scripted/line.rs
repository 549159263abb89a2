//! One line of a script: the events on the stream, in the order written.
//! `Line::new().says("Hel").waits(&gate).says("lo")` streams `Hel`, waits,
//! streams `lo` and is done; a line that ends otherwise says so explicitly.

use consort_core::message::{Call, Failure, Part, Reply, Stop, Usage};
use consort_core::text::Text;
use serde_json::Value;

use super::super::Piece;
use crate::script::Gate;

/// The scripted stream of one answer.
#[derive(Clone, Debug, Default)]
pub struct Line {
    beats: Vec<Beat>,
    fails: Option<(u32, Failure)>,
    usage: Option<Usage>,
    stop: Stop,
}

#[derive(Clone, Debug)]
enum Beat {
    Say(String),
    Think(String),
    Call { tool: String, args: String },
    Wait(Gate),
    Break(Failure),
    Cut,
    Hang,
}

/// The next step of the stream; the last step decides how it ends.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Wait(Gate),
    Send(Piece),
    Fail(Failure),
    Hang,
}

impl Line {
    /// Returns a line that does nothing yet.
    pub fn new() -> Line {
        Line::default()
    }

    /// Adds these words, as one piece.
    pub fn says(self, words: &str) -> Line {
        self.then(Beat::Say(words.to_owned()))
    }

    /// Adds a thought, as one piece.
    pub fn thinks(self, thought: &str) -> Line {
        self.then(Beat::Think(thought.to_owned()))
    }

    /// Adds a call of a tool.
    pub fn calls(self, tool: &str, args: &Value) -> Line {
        self.calls_raw(tool, &args.to_string())
    }

    /// Adds a call with arguments exactly as written, JSON or not.
    pub fn calls_raw(self, tool: &str, args: &str) -> Line {
        self.then(Beat::Call { tool: tool.to_owned(), args: args.to_owned() })
    }

    /// Makes the stream wait here.
    pub fn waits(self, gate: impl Into<Gate>) -> Line {
        self.then(Beat::Wait(gate.into()))
    }

    /// Makes the stream fail here.
    pub fn breaks(self, failure: Failure) -> Line {
        self.then(Beat::Break(failure))
    }

    /// Ends the stream here, without an answer.
    pub fn cut(self) -> Line {
        self.then(Beat::Cut)
    }

    /// Makes the stream stay silent from here until it is dropped.
    pub fn hangs(self) -> Line {
        self.then(Beat::Hang)
    }

    /// Makes the line fail this many times at each place before it is played.
    pub fn fails(mut self, times: u32, failure: Failure) -> Line {
        self.fails = Some((times, failure));
        self
    }

    /// Sets the usage that the provider reports.
    pub fn uses(mut self, usage: Usage) -> Line {
        self.usage = Some(usage);
        self
    }

    /// Sets the model's stop reason.
    pub fn stops(mut self, stop: Stop) -> Line {
        self.stop = stop;
        self
    }

    fn then(mut self, beat: Beat) -> Line {
        self.beats.push(beat);
        self
    }

    /// Returns the steps of this line at `place`, for use number `time`, from 0.
    pub(super) fn steps(&self, place: &str, time: u32) -> Vec<Step> {
        if let Some((times, failure)) = &self.fails
            && time < *times
        {
            return vec![Step::Fail(failure.clone())];
        }
        let mut steps = Vec::new();
        let mut reply = Reply { wire: "scripted".to_owned(), parts: Vec::new(), stop: self.stop };
        for beat in &self.beats {
            match beat {
                Beat::Say(words) => {
                    steps.push(Step::Send(Piece::Delta(words.clone())));
                    say(&mut reply, words);
                }
                Beat::Think(thought) => {
                    steps.push(Step::Send(Piece::Thinking(thought.clone())));
                    reply.parts.push(Part::Thinking { text: thought.as_str().into(), native: None });
                }
                Beat::Call { tool, args } => call(&mut reply, place, tool, args),
                Beat::Wait(gate) => steps.push(Step::Wait(gate.clone())),
                Beat::Hang => steps.push(Step::Hang),
                Beat::Break(failure) => {
                    steps.push(Step::Fail(failure.clone()));
                    return steps;
                }
                Beat::Cut => return steps,
            }
        }
        steps.push(Step::Send(Piece::Done(reply, self.usage)));
        steps
    }
}

/// Appends words to the reply; consecutive pieces become one text.
fn say(reply: &mut Reply, words: &str) {
    if let Some(Part::Text { text, .. }) = reply.parts.last_mut() {
        *text = Text::from(format!("{text}{words}"));
    } else {
        reply.parts.push(Part::Text { text: words.into(), native: None });
    }
}

fn call(reply: &mut Reply, place: &str, tool: &str, args: &str) {
    let provider_id = format!("call_{place}.{}", reply.calls().count());
    reply.parts.push(Part::Call(Call { provider_id, tool: tool.to_owned(), args: args.into(), native: None }));
}
