//! A model that replies from a script and writes a ledger. A script line says in
//! order what happens on the stream; lines are found by place, not by order, so
//! parallel tasks, retries and restarts get the lines meant for them: place `1.0` is
//! round 0 of task 1, `1.0.0.0` is round 0 of the subtask started by call `1.0.0`.

mod line;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

pub use line::Line;

use consort_core::message::{Failure, FailureKind};
use futures::future;
use futures::stream::{self, BoxStream, StreamExt};
use serde_json::Value;

use self::line::Step;
use super::{Ask, Model, Piece};
use crate::script::Ledger;

/// Replies from a script. Clones share the ledger.
#[derive(Clone, Default)]
pub struct ScriptedModel {
    rules: Vec<Rule>,
    times: Arc<Mutex<HashMap<Said, u32>>>,
    ledger: Ledger<Entry>,
}

/// A rule, a run and a place: the key by which uses are counted for `Line::fails`.
type Said = (usize, Arc<str>, String);

#[derive(Clone)]
struct Rule {
    when: When,
    line: Line,
}

/// The condition of a script line. The first kind that has a match wins.
#[derive(Clone)]
enum When {
    At(String),
    Task(String, u32),
    Matching(Arc<dyn Fn(&Ask) -> bool + Send + Sync>),
    Otherwise,
}

/// One line of the ledger.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The kind of the event.
    pub what: What,
    /// The place: task and round.
    pub place: String,
    /// The whole request.
    pub ask: Ask,
}

/// An event in the life of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The request was made.
    Asked,
    /// The request was answered to the end.
    Answered,
    /// The stream failed, or was cut.
    Failed,
    /// The caller dropped the stream.
    Dropped,
}

impl ScriptedModel {
    /// Returns a model without lines, which refuses every request.
    pub fn new() -> ScriptedModel {
        ScriptedModel::default()
    }

    /// Plays this line at `place`.
    pub fn at(self, place: &str, line: Line) -> Self {
        self.with(When::At(place.to_owned()), line)
    }

    /// Plays this line in this round of the task of this name.
    pub fn in_task(self, task: &str, round: u32, line: Line) -> Self {
        self.with(When::Task(task.to_owned(), round), line)
    }

    /// Plays this line for a request that satisfies the predicate.
    pub fn when(self, like_this: impl Fn(&Ask) -> bool + Send + Sync + 'static, line: Line) -> Self {
        self.with(When::Matching(Arc::new(like_this)), line)
    }

    /// Plays this line where no other rule matches.
    pub fn otherwise(self, line: Line) -> Self {
        self.with(When::Otherwise, line)
    }

    /// Answers with `text` at `place`.
    pub fn says(self, place: &str, text: &str) -> Self {
        self.at(place, Line::new().says(text))
    }

    /// Calls a tool at `place`.
    pub fn calls(self, place: &str, tool: &str, args: &Value) -> Self {
        self.at(place, Line::new().calls(tool, args))
    }

    /// Returns the events in order, in short form: `asked 1.0`,
    /// then `answered 1.0`, `failed 1.0` or `dropped 1.0`.
    pub fn ledger(&self) -> Vec<String> {
        self.ledger.entries().iter().map(|entry| format!("{} {}", entry.what.word(), entry.place)).collect()
    }

    /// Returns the events in order.
    pub fn entries(&self) -> Vec<Entry> {
        self.ledger.entries()
    }

    /// Returns the last request made at `place`.
    pub fn sent(&self, place: &str) -> Option<Ask> {
        let asked = |entry: &Entry| entry.what == What::Asked && entry.place == place;
        self.ledger.entries().into_iter().rfind(asked).map(|entry| entry.ask)
    }

    /// Returns the maximum number of requests under way at the same time.
    pub fn in_flight_max(&self) -> usize {
        self.ledger.most_open(|entry| match entry.what {
            What::Asked => 1,
            What::Answered | What::Failed | What::Dropped => -1,
        })
    }

    /// Waits until this event has happened at `place`.
    pub async fn until(&self, what: What, place: &str) {
        self.ledger.until(1, |entry| entry.what == what && entry.place == place).await;
    }

    fn with(mut self, when: When, line: Line) -> Self {
        self.rules.push(Rule { when, line });
        self
    }

    /// Returns the first rule of the most specific kind that matches.
    fn rule(&self, ask: &Ask, place: &str) -> Option<(usize, &Rule)> {
        let fits = |rule: &Rule| match &rule.when {
            When::At(at) => (at == place).then_some(0),
            When::Task(task, round) => (**task == *ask.task && *round == ask.round).then_some(1),
            When::Matching(like_this) => like_this(ask).then_some(2),
            When::Otherwise => Some(3),
        };
        let fitting = self.rules.iter().enumerate().filter_map(|(index, rule)| Some((fits(rule)?, index, rule)));
        fitting.min_by_key(|(kind, index, _)| (*kind, *index)).map(|(_, index, rule)| (index, rule))
    }

    fn steps(&self, ask: &Ask, place: &str) -> Vec<Step> {
        let Some((index, rule)) = self.rule(ask, place) else {
            return vec![Step::Fail(unscripted(place))];
        };
        let mut times = self.times.lock().unwrap_or_else(PoisonError::into_inner);
        let time = times.entry((index, ask.run.clone(), place.to_owned())).or_default();
        *time += 1;
        rule.line.steps(place, *time - 1)
    }
}

impl Model for ScriptedModel {
    fn stream(&self, ask: Ask) -> BoxStream<'static, Result<Piece, Failure>> {
        let place = format!("{}.{}", ask.conversation, ask.round);
        let steps = VecDeque::from(self.steps(&ask, &place));
        let open = Open { place, ask, ledger: self.ledger.clone(), end: What::Dropped };
        open.write(What::Asked);
        stream::unfold(Some((steps, open)), |under_way| async move {
            let (mut steps, mut open) = under_way?;
            loop {
                match steps.pop_front() {
                    Some(Step::Wait(gate)) => gate.pass().await,
                    Some(Step::Hang) => future::pending().await,
                    Some(Step::Send(piece @ (Piece::Delta(_) | Piece::Thinking(_)))) => {
                        return Some((Ok(piece), Some((steps, open))));
                    }
                    Some(Step::Send(done @ Piece::Done(..))) => {
                        open.end = What::Answered;
                        return Some((Ok(done), None));
                    }
                    Some(Step::Fail(failure)) => {
                        open.end = What::Failed;
                        return Some((Err(failure), None));
                    }
                    None => {
                        open.end = What::Failed;
                        return None;
                    }
                }
            }
        })
        .boxed()
    }
}

impl What {
    fn word(self) -> &'static str {
        match self {
            What::Asked => "asked",
            What::Answered => "answered",
            What::Failed => "failed",
            What::Dropped => "dropped",
        }
    }
}

fn unscripted(place: &str) -> Failure {
    let message = format!("the script has no line for {place}");
    Failure { kind: FailureKind::Refused, message, retry_after_ms: None, status: None, charged: false }
}

/// A request under way; writes its end to the ledger, however it ends.
struct Open {
    place: String,
    ask: Ask,
    ledger: Ledger<Entry>,
    end: What,
}

impl Open {
    fn write(&self, what: What) {
        self.ledger.write(Entry { what, place: self.place.clone(), ask: self.ask.clone() });
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.write(self.end);
    }
}

#[cfg(test)]
mod tests {
    use consort_core::id::Id;
    use consort_core::message::{Message, Part, Reply, Stop, Usage};
    use consort_core::model_options::ModelOptions;
    use futures::future::{BoxFuture, FutureExt};
    use serde_json::json;
    use tokio::sync::{Barrier, Notify};

    use super::*;
    use crate::conformance::{self, CALLS, Scene, Set, USED, WORDS, conforms};

    fn ask(conversation: &str, round: u32) -> Ask {
        Ask {
            run: "run".into(),
            conversation: Id::from(conversation),
            task: format!("task {conversation}").into(),
            round,
            attempt: 0,
            messages: Arc::new(vec![Message::User { text: format!("question {conversation}").into() }]),
            tools: Arc::new([]),
            belt: Arc::new([]),
            max_output_tokens: 100,
            options: ModelOptions::default(),
            schema: None,
            files: Arc::default(),
        }
    }

    fn overloaded() -> Failure {
        Failure {
            kind: FailureKind::Overloaded,
            message: "busy".to_owned(),
            retry_after_ms: None,
            status: None,
            charged: false,
        }
    }

    async fn pieces(model: &ScriptedModel, ask: Ask) -> Vec<Result<Piece, Failure>> {
        model.stream(ask).collect().await
    }

    async fn words(model: &ScriptedModel, ask: Ask) -> String {
        match pieces(model, ask).await.pop() {
            Some(Ok(Piece::Done(reply, _))) => reply.text(),
            other => format!("{other:?}"),
        }
    }

    fn scene(scene: Scene) -> BoxFuture<'static, Set> {
        let cut = Failure { kind: FailureKind::Network, charged: true, ..overloaded() };
        let line = match scene {
            Scene::Words => WORDS.iter().fold(Line::new(), |line, word| line.says(word)).uses(USED),
            Scene::Calls => CALLS.iter().fold(Line::new(), |line, (_, tool, args)| line.calls_raw(tool, args)),
            Scene::Overloaded => Line::new().breaks(overloaded()),
            Scene::Cut => Line::new().says(WORDS[0]).breaks(cut),
            Scene::Held => Line::new().says(WORDS[0]).hangs(),
        };
        let model = ScriptedModel::new().otherwise(line);
        let place = format!("{}.0", conformance::ask().conversation);
        let hung_up = model.clone();
        let hung_up = async move { hung_up.until(What::Dropped, &place).await }.boxed();
        future::ready(Set { model: Arc::new(model), hung_up }).boxed()
    }

    #[tokio::test]
    async fn it_does_what_every_model_must() {
        conforms(scene).await;
    }

    #[tokio::test]
    async fn a_line_streams_its_pieces_and_ends_with_the_whole_reply() {
        let usage = Usage { input: 7, output: 3, ..Usage::default() };
        let line = Line::new().thinks("hm").says("Hel").says("lo").calls("stock", &json!({ "input": "salt" }));
        let model = ScriptedModel::new().at("1.0", line.uses(usage).stops(Stop::Length));
        let mut pieces = pieces(&model, ask("1", 0)).await;
        let Some(Ok(Piece::Done(Reply { parts, stop, .. }, used))) = pieces.pop() else { panic!("{pieces:?}") };
        let live = [Piece::Thinking("hm".into()), Piece::Delta("Hel".into()), Piece::Delta("lo".into())];
        assert_eq!(pieces, live.map(Ok));
        let [Part::Thinking { .. }, Part::Text { text, .. }, Part::Call(call)] = parts.as_slice() else {
            panic!("{parts:?}")
        };
        assert_eq!((text.as_str(), call.tool.as_str(), call.args.as_str()), ("Hello", "stock", r#"{"input":"salt"}"#));
        assert_eq!((call.provider_id.as_str(), stop, used), ("call_1.0.0", Stop::Length, Some(usage)));
        assert_eq!(model.ledger(), ["asked 1.0", "answered 1.0"]);
    }

    #[tokio::test]
    async fn the_place_beats_the_task_which_beats_a_likeness_which_beats_the_rest() {
        let line = |text: &str| Line::new().says(text);
        let model = ScriptedModel::new()
            .otherwise(line("otherwise"))
            .when(|ask| ask.round == 1, line("second round"))
            .in_task("task 2", 0, line("by task"))
            .in_task("task 1", 0, line("hidden"))
            .says("1.0", "by place")
            .says("1.0.0.0", "subtask");
        for (conversation, round, text) in [
            ("1", 0, "by place"),
            ("2", 0, "by task"),
            ("2", 1, "second round"),
            ("3", 0, "otherwise"),
            ("1.0.0", 0, "subtask"),
        ] {
            assert_eq!(words(&model, ask(conversation, round)).await, text);
        }
    }

    #[tokio::test]
    async fn a_question_without_a_line_is_refused() {
        let model = ScriptedModel::new();
        assert_eq!(pieces(&model, ask("1", 0)).await, [Err(unscripted("1.0"))]);
        assert_eq!(model.ledger(), ["asked 1.0", "failed 1.0"]);
    }

    #[tokio::test]
    async fn a_line_fails_as_often_as_told_at_each_place_and_then_answers() {
        let model = ScriptedModel::new().otherwise(Line::new().fails(2, overloaded()).says("at last"));
        for conversation in ["1", "2"] {
            assert_eq!(pieces(&model, ask(conversation, 0)).await, [Err(overloaded())]);
            assert_eq!(pieces(&model, ask(conversation, 0)).await, [Err(overloaded())]);
            assert_eq!(words(&model, ask(conversation, 0)).await, "at last");
        }
    }

    #[tokio::test]
    async fn a_stream_can_break_or_be_cut_after_some_words() {
        let model = ScriptedModel::new()
            .at("1.0", Line::new().says("half").breaks(overloaded()))
            .at("2.0", Line::new().says("half").cut());
        assert_eq!(pieces(&model, ask("1", 0)).await, [Ok(Piece::Delta("half".into())), Err(overloaded())]);
        assert_eq!(pieces(&model, ask("2", 0)).await, [Ok(Piece::Delta("half".into()))]);
        assert_eq!(model.ledger(), ["asked 1.0", "failed 1.0", "asked 2.0", "failed 2.0"]);
    }

    #[tokio::test]
    async fn a_stream_that_hangs_is_recorded_as_dropped_when_it_is() {
        let model = ScriptedModel::new().at("1.0", Line::new().says("half").hangs());
        let mut stream = model.stream(ask("1", 0));
        assert_eq!(stream.next().await, Some(Ok(Piece::Delta("half".into()))));
        assert!(futures::poll!(stream.next()).is_pending());
        drop(stream);
        assert_eq!(model.ledger(), ["asked 1.0", "dropped 1.0"]);
        assert_eq!(model.sent("1.0").unwrap().messages, ask("1", 0).messages);
    }

    #[tokio::test]
    async fn gates_hold_the_stream_where_they_stand() {
        let middle = Arc::new(Notify::new());
        let end = Arc::new(Barrier::new(2));
        let line = Line::new().says("a").waits(&middle).says("b").waits(&end);
        let model = ScriptedModel::new().at("1.0", line);
        let mut stream = model.stream(ask("1", 0));
        assert_eq!(stream.next().await, Some(Ok(Piece::Delta("a".into()))));
        assert!(futures::poll!(stream.next()).is_pending());
        middle.notify_one();
        assert_eq!(stream.next().await, Some(Ok(Piece::Delta("b".into()))));
        let (done, _) = tokio::join!(stream.next(), end.wait());
        assert!(matches!(done, Some(Ok(Piece::Done(..)))));
    }

    #[tokio::test]
    async fn questions_that_meet_at_a_barrier_were_in_flight_together() {
        let barrier = Arc::new(Barrier::new(3));
        let model = ScriptedModel::new().otherwise(Line::new().waits(&barrier).says("hi"));
        let answers = ["1", "2", "3"].map(|conversation| words(&model, ask(conversation, 0)));
        assert_eq!(future::join_all(answers).await, ["hi"; 3]);
        model.until(What::Answered, "3.0").await;
        assert_eq!(model.in_flight_max(), 3);
    }
}
