//! A scripted tool with a ledger. It follows its instructions call by call, in order; the last
//! instruction holds for all further calls: `ScriptedTool::new("stock").fails("busy").answers("3 left")`.

use std::sync::{Arc, Mutex, PoisonError};

use consort_core::catalog::{EffectClass, ToolInfo};
use consort_core::id::Id;
use consort_models::script::{Gate, Ledger};
use futures::future::{self, BoxFuture};
use serde_json::Value;

use super::{Answer, Invocation, Tool};

/// A tool that follows a script. Clones share the ledger.
#[derive(Clone)]
pub struct ScriptedTool {
    info: Arc<ToolInfo>,
    plays: Vec<Play>,
    gates: Vec<Gate>,
    begun: Arc<Mutex<usize>>,
    ledger: Ledger<Entry>,
}

#[derive(Clone)]
enum Play {
    Answer(Answer),
    AnswerBy(Arc<dyn Fn(&Value) -> Answer + Send + Sync>),
    Panic(String),
    Hang,
}

/// One line of the ledger.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The kind of the event.
    pub what: What,
    /// The run that made the call.
    pub run: Arc<str>,
    /// The position of the call in the run.
    pub call: Id,
    /// The call's key.
    pub key: String,
    /// Its arguments.
    pub args: Value,
}

/// An event in the life of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The tool was called.
    Began,
    /// The tool answered.
    Finished,
    /// The call was dropped, or panicked, before it had answered.
    Dropped,
}

impl ScriptedTool {
    /// Returns a tool that reads, takes `{input}`, may run beside others and answers `ok`.
    pub fn new(name: &str) -> ScriptedTool {
        ScriptedTool {
            info: Arc::new(ToolInfo::new(name, "A scripted tool")),
            plays: Vec::new(),
            gates: Vec::new(),
            begun: Arc::default(),
            ledger: Ledger::default(),
        }
    }

    /// Returns the tool with another effect class.
    pub fn effect(self, effect: EffectClass) -> Self {
        self.with_info(|info| info.effect = effect)
    }

    /// Returns the tool, which now never runs beside other calls of its reply.
    pub fn serial(self) -> Self {
        self.with_info(|info| info.parallel_safe = false)
    }

    /// Returns the tool, which now holds this lock while it runs.
    pub fn locks(self, lock: &str) -> Self {
        self.with_info(|info| info.lock = Some(lock.to_owned()))
    }

    /// Returns the tool with a changed description.
    pub fn with_info(mut self, change: impl FnOnce(&mut ToolInfo)) -> Self {
        change(Arc::make_mut(&mut self.info));
        self
    }

    /// Answers with this text.
    pub fn answers(self, text: &str) -> Self {
        self.plays(Play::Answer(Answer::Done { text: text.to_owned(), data: None }))
    }

    /// Answers with the result of a function of the arguments.
    pub fn answers_by(self, answer: impl Fn(&Value) -> Answer + Send + Sync + 'static) -> Self {
        self.plays(Play::AnswerBy(Arc::new(answer)))
    }

    /// Answers with a failure.
    pub fn fails(self, why: &str) -> Self {
        self.plays(Play::Answer(Answer::Failed(why.to_owned())))
    }

    /// Answers with an unknown outcome.
    pub fn loses_track(self, why: &str) -> Self {
        self.plays(Play::Answer(Answer::Unknown(why.to_owned())))
    }

    /// Panics.
    pub fn panics(self, why: &str) -> Self {
        self.plays(Play::Panic(why.to_owned()))
    }

    /// Never answers; only dropping it ends the call.
    pub fn hangs(self) -> Self {
        self.plays(Play::Hang)
    }

    /// Waits here first in every call; several gates in the order given.
    pub fn waits(mut self, gate: impl Into<Gate>) -> Self {
        self.gates.push(gate.into());
        self
    }

    /// Returns the events in order, in short form: `began KEY`, then `finished KEY` or `dropped KEY`.
    pub fn ledger(&self) -> Vec<String> {
        self.ledger.entries().iter().map(|entry| format!("{} {}", entry.what.word(), entry.key)).collect()
    }

    /// Returns the events in order.
    pub fn entries(&self) -> Vec<Entry> {
        self.ledger.entries()
    }

    /// Returns the arguments of the calls that began, in order.
    pub fn args(&self) -> Vec<Value> {
        let began = |entry: Entry| (entry.what == What::Began).then_some(entry.args);
        self.ledger.entries().into_iter().filter_map(began).collect()
    }

    /// Returns the maximum number of calls that ran at the same time.
    pub fn most_at_once(&self) -> usize {
        self.ledger.most_open(|entry| match entry.what {
            What::Began => 1,
            What::Finished | What::Dropped => -1,
        })
    }

    /// Waits until at least `count` calls have had this event.
    pub async fn until(&self, what: What, count: usize) {
        self.ledger.until(count, |entry| entry.what == what).await;
    }

    fn plays(mut self, play: Play) -> Self {
        self.plays.push(play);
        self
    }

    fn next_play(&self) -> Play {
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        let play = self.plays.get(*begun).or(self.plays.last()).cloned();
        *begun += 1;
        play.unwrap_or(Play::Answer(Answer::Done { text: "ok".to_owned(), data: None }))
    }
}

impl What {
    fn word(self) -> &'static str {
        match self {
            What::Began => "began",
            What::Finished => "finished",
            What::Dropped => "dropped",
        }
    }
}

impl Tool for ScriptedTool {
    fn info(&self) -> &Arc<ToolInfo> {
        &self.info
    }

    fn call(&self, invocation: Invocation) -> BoxFuture<'_, Answer> {
        let play = self.next_play();
        let open = Open::begin(&self.ledger, invocation);
        Box::pin(async move {
            for gate in &self.gates {
                gate.pass().await;
            }
            let answer = match play {
                Play::Answer(answer) => answer,
                Play::AnswerBy(answer) => answer(&open.invocation.args),
                // Unlike `panic!`, this prints nothing: the panic is intended.
                Play::Panic(why) => std::panic::resume_unwind(Box::new(why)),
                Play::Hang => future::pending().await,
            };
            open.finish();
            answer
        })
    }
}

/// A call under way; writes its end to the ledger, however it ends.
struct Open {
    invocation: Invocation,
    ledger: Ledger<Entry>,
    end: What,
}

impl Open {
    fn begin(ledger: &Ledger<Entry>, invocation: Invocation) -> Open {
        let open = Open { invocation, ledger: ledger.clone(), end: What::Dropped };
        open.write(What::Began);
        open
    }

    fn finish(mut self) {
        self.end = What::Finished;
    }

    fn write(&self, what: What) {
        let Invocation { run, call, key, args, .. } = self.invocation.clone();
        self.ledger.write(Entry { what, run, call, key, args });
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.write(self.end);
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use serde_json::json;
    use tokio::sync::{Barrier, Notify};

    use super::*;

    fn invocation(key: &str) -> Invocation {
        Invocation { key: key.to_owned(), ..Invocation::test(json!({ "input": key })) }
    }

    fn done(text: &str) -> Answer {
        Answer::Done { text: text.to_owned(), data: None }
    }

    #[tokio::test]
    async fn instructions_are_followed_call_by_call_and_the_last_one_holds() {
        let echo = |args: &Value| done(&args["input"].to_string());
        let tool = ScriptedTool::new("t").fails("busy").loses_track("broke off").answers("3").answers_by(echo);
        let mut answers = Vec::new();
        for key in ["a", "b", "c", "d", "e"] {
            answers.push(tool.call(invocation(key)).await);
        }
        let busy = Answer::Failed("busy".to_owned());
        let broke = Answer::Unknown("broke off".to_owned());
        assert_eq!(answers, [busy, broke, done("3"), done("\"d\""), done("\"e\"")]);
    }

    #[tokio::test]
    async fn calls_that_meet_at_a_barrier_ran_at_the_same_time() {
        let barrier = Arc::new(Barrier::new(3));
        let tool = ScriptedTool::new("t").waits(&barrier);
        let calls = ["a", "b", "c"].map(|key| tool.call(invocation(key)));
        future::join_all(calls).await;
        assert_eq!(tool.call(invocation("d")).now_or_never(), None);
        assert_eq!(tool.most_at_once(), 3);
        assert_eq!(tool.ledger().last().map(String::as_str), Some("dropped d"));
    }

    #[tokio::test]
    async fn a_test_can_wait_for_a_call_to_begin_before_it_opens_the_gate() {
        let gate = Arc::new(Notify::new());
        let tool = ScriptedTool::new("t").waits(&gate).answers("open");
        let open = async {
            tool.until(What::Began, 1).await;
            assert_eq!(tool.ledger(), ["began a"]);
            gate.notify_one();
        };
        let (answer, ()) = tokio::join!(tool.call(invocation("a")), open);
        assert_eq!(answer, done("open"));
        assert_eq!(tool.args(), [json!({ "input": "a" })]);
        assert_eq!(tool.ledger(), ["began a", "finished a"]);
    }

    #[test]
    fn what_is_said_about_the_tool_is_what_runs_are_told() {
        let tool = ScriptedTool::new("t").effect(EffectClass::Once).serial().locks("shelf");
        let info = tool.info();
        assert_eq!((info.effect, info.parallel_safe), (EffectClass::Once, false));
        assert_eq!(info.lock.as_deref(), Some("shelf"));
    }
}
