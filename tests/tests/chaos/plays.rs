//! The behaviour of the runs: a few ensembles that together use all features,
//! and a script that gives the same answers however often it is asked.

use consort_core::budget::Limits;
use consort_core::draft::{Draft, Ensemble};
use consort_core::message::FailureKind;
use consort_core::own_tool::OwnTool;
use consort_core::spec::{Review, ReviewPolicy};
use consort_models::{Ask, Line, ScriptedModel};
use serde_json::json;

use crate::support::{after, ensemble, failure, task};

/// The names of the tools.
pub(super) const LOOK: &str = "look";
pub(super) const PUT: &str = "put";
pub(super) const PAY: &str = "pay";
pub(super) const DOOR: &str = "door";

/// The time after which reviews expire, in milliseconds.
const REVIEW_MS: u64 = 120;

/// Returns the ensembles, each named after its subject.
pub(super) fn plays() -> Vec<Ensemble> {
    let play = |name: &str, tasks| Ensemble { name: name.to_owned(), ..ensemble(tasks) };
    let every = &[LOOK, PUT, PAY, DOOR];
    let sequence = vec![task("gather", every), task("weigh", every), task("write", every)];
    let graph = vec![
        task("root", every),
        after(&["root"], task("left", every)),
        after(&["root"], task("right", every)),
        after(&["left", "right"], task("join", every)),
    ];
    let family = vec![task("parent", &[OwnTool::RunSubtask.name(), PUT, PAY, LOOK])];
    let schema = json!({ "type": "object", "required": ["n"] });
    let form = vec![Draft { output_schema: Some(schema), ..task("form", &[]) }, task("flaky", every)];
    let review = Review { policy: ReviewPolicy::AfterEveryTask, timeout_ms: REVIEW_MS, ..Review::default() };
    vec![
        play("sequence", sequence),
        play("graph", graph),
        Ensemble { limits: Limits { depth: 2, ..Limits::default() }, ..play("family", family) },
        play("form", form),
        Ensemble { review, ..play("review", vec![task("draft", every), task("print", every)]) },
        play("fallback", vec![task("refused", every), task("after", every)]),
    ]
}

/// Returns the main model, which does not answer every task.
pub(super) fn main() -> ScriptedModel {
    let overloaded = Line::new().breaks(failure(FailureKind::Overloaded));
    let refused = Line::new().breaks(failure(FailureKind::Refused));
    let model =
        ScriptedModel::new().when(|ask| &*ask.task == "flaky" && ask.round == 0 && ask.attempt == 0, overloaded);
    lines(model.when(|ask| &*ask.task == "refused", refused))
}

/// Returns the fallback model.
pub(super) fn spare() -> ScriptedModel {
    lines(ScriptedModel::new())
}

/// Adds the common lines: every other answer makes calls or is not good enough, the next one is.
fn lines(model: ScriptedModel) -> ScriptedModel {
    let text = |text: &str| json!({ "input": text });
    let part = |title: &str| json!({ "title": title, "instructions": "Do it" });
    let family =
        Line::new().calls(OwnTool::RunSubtask.name(), &part("one")).calls(OwnTool::RunSubtask.name(), &part("two"));
    let deeper = Line::new().calls(OwnTool::RunSubtask.name(), &part("deep")).calls(PAY, &text("deep"));
    let side_by_side = Line::new().calls(LOOK, &text("a")).calls(PUT, &text("b")).calls(PAY, &text("c"));
    model
        .when(|ask| is(ask, "parent", 0), family.calls(PAY, &text("parent")))
        .when(|ask| is(ask, "parent", 1), deeper)
        .when(|ask| is(ask, "form", 0), Line::new().says("not a form"))
        .when(|ask| &*ask.task == "form", Line::new().says(r#"{"n":1}"#))
        .when(|ask| ask.round.is_multiple_of(2), side_by_side.calls(DOOR, &text("d")))
        .when(|ask| ask.conversation.depth() > 0, Line::new().says("a part"))
        .otherwise(Line::new().says("done"))
}

/// Returns whether the request is one of the even rounds of this task at this depth, which make calls.
fn is(ask: &Ask, task: &str, depth: u32) -> bool {
    &*ask.task == task && ask.conversation.depth() == depth && ask.round.is_multiple_of(2)
}
