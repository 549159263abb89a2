//! A chain of tools as one tool: the first takes the arguments, each next the
//! text of the one before. To a run it is as dangerous as its worst part.

use std::sync::Arc;

use consort_core::catalog::{CancelClass, EffectClass, Permission, ToolInfo};
use futures::future::BoxFuture;
use serde_json::{Map, Value};

use super::{Answer, Invocation, Tool, toolbox};

/// Tools in a chain; longer ones are programs.
const STEPS_MAX: usize = 16;

/// Tools one after the other.
#[derive(Clone)]
pub struct Pipeline {
    steps: Arc<[Step]>,
    info: Arc<ToolInfo>,
}

struct Step {
    tool: Arc<dyn Tool>,
    /// The property that takes the text of the step before; the first has none.
    takes: Option<String>,
}

/// Why tools do not make a chain.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PipelineError {
    /// Name between one tool and `STEPS_MAX`.
    #[error("a pipeline has 1 to {STEPS_MAX} steps, not {0}")]
    Length(usize),
    /// Put another tool in its place.
    #[error("`{0}` cannot follow another tool: its only required property must be a text")]
    NoText(String),
    /// Tools that hold different locks cannot wait for each other.
    #[error("`{0}` and `{1}` hold different locks")]
    Locks(String, String),
}

impl Pipeline {
    /// A chain under a name of its own.
    pub fn new(name: &str, description: &str, tools: Vec<Arc<dyn Tool>>) -> Result<Pipeline, PipelineError> {
        let Some(first) = tools.first().filter(|_| tools.len() <= STEPS_MAX) else {
            return Err(PipelineError::Length(tools.len()));
        };
        let infos: Vec<&ToolInfo> = tools.iter().map(|tool| tool.info().as_ref()).collect();
        let info = ToolInfo {
            name: name.to_owned(),
            description: description.to_owned(),
            schema: first.info().schema.clone(),
            permission: infos.iter().map(|info| info.permission).max().unwrap_or(Permission::Safe),
            effect: infos.iter().map(|info| info.effect).fold(EffectClass::Read, stronger),
            parallel_safe: infos.iter().all(|info| info.parallel_safe),
            lock: lock(&infos)?,
            timeout_ms: infos.iter().fold(0, |total, info| total.saturating_add(info.timeout_ms)),
            cancel: infos.iter().map(|info| info.cancel).fold(CancelClass::Drop, gentler),
            charged: infos.iter().any(|info| info.charged),
        };
        let steps: Result<Vec<Step>, _> = tools.iter().enumerate().map(step).collect();
        Ok(Pipeline { steps: steps?.into(), info: Arc::new(info) })
    }

    async fn run(&self, invocation: Invocation) -> Answer {
        let (mut args, mut last) = (invocation.args.clone(), Answer::Failed("there are no steps".to_owned()));
        for (index, step) in self.steps.iter().enumerate() {
            if let (Some(takes), Answer::Done { text, .. }) = (&step.takes, &last) {
                args = Value::Object(Map::from_iter([(takes.clone(), Value::String(text.clone()))]));
            }
            let wrong = step.tool.info().schema.violations(&args);
            if !wrong.is_empty() {
                return Answer::Failed(self.named(index, &format!("cannot take this: {}", wrong.join("; "))));
            }
            // A key of its own for each step, and the same one when the call is repeated.
            let key = format!("{}/{index}", invocation.key);
            let call = Invocation { key, args: args.clone(), ..invocation.clone() };
            last = match toolbox::perform(step.tool.as_ref(), call).await {
                Answer::Failed(why) => return Answer::Failed(self.named(index, &format!("failed: {why}"))),
                Answer::Unknown(why) => return Answer::Unknown(self.named(index, &format!("is in doubt: {why}"))),
                done @ Answer::Done { .. } => done,
            };
        }
        last
    }

    fn named(&self, index: usize, what: &str) -> String {
        let name = self.steps.get(index).map_or("", |step| &step.tool.info().name);
        let is_effect = |step: &Step| step.tool.info().effect != EffectClass::Read;
        let done =
            if self.steps.iter().take(index).any(is_effect) { "; the steps before it have been done" } else { "" };
        format!("step {} of {}, `{name}`, {what}{done}", index + 1, self.steps.len())
    }
}

impl Tool for Pipeline {
    fn info(&self) -> &Arc<ToolInfo> {
        &self.info
    }

    fn call(&self, invocation: Invocation) -> BoxFuture<'_, Answer> {
        Box::pin(self.run(invocation))
    }
}

fn step((index, tool): (usize, &Arc<dyn Tool>)) -> Result<Step, PipelineError> {
    let takes = tool.info().schema.only_string().map(str::to_owned);
    match (index, takes) {
        (0, _) => Ok(Step { tool: tool.clone(), takes: None }),
        (_, None) => Err(PipelineError::NoText(tool.info().name.clone())),
        (_, takes) => Ok(Step { tool: tool.clone(), takes }),
    }
}

/// The one lock of the chain, if there is one.
fn lock(infos: &[&ToolInfo]) -> Result<Option<String>, PipelineError> {
    let mut locked = infos.iter().filter(|info| info.lock.is_some());
    let Some(first) = locked.next() else { return Ok(None) };
    match locked.find(|info| info.lock != first.lock) {
        Some(other) => Err(PipelineError::Locks(first.name.clone(), other.name.clone())),
        None => Ok(first.lock.clone()),
    }
}

fn stronger(one: EffectClass, other: EffectClass) -> EffectClass {
    match (one, other) {
        (EffectClass::Once, _) | (_, EffectClass::Once) => EffectClass::Once,
        (EffectClass::Idempotent, _) | (_, EffectClass::Idempotent) => EffectClass::Idempotent,
        (EffectClass::Read, EffectClass::Read) => EffectClass::Read,
    }
}

fn gentler(one: CancelClass, other: CancelClass) -> CancelClass {
    match (one, other) {
        (CancelClass::Finish, _) | (_, CancelClass::Finish) => CancelClass::Finish,
        (CancelClass::Drop, CancelClass::Drop) => CancelClass::Drop,
    }
}

#[cfg(test)]
mod tests {
    use consort_core::id::Id;
    use serde_json::json;

    use super::*;
    use crate::tool::{Calculator, DateTime, ScriptedTool};

    fn chain(tools: &[&ScriptedTool]) -> Result<Pipeline, PipelineError> {
        let tools = tools.iter().map(|tool| Arc::new((*tool).clone()) as Arc<dyn Tool>).collect();
        Pipeline::new("chain", "Does it all", tools)
    }

    fn invocation() -> Invocation {
        let args = json!({ "input": "six times seven" });
        Invocation {
            run: "run".into(),
            call: Id::from("1.0.0"),
            key: "run/1.0.0".to_owned(),
            args,
            account: Default::default(),
        }
    }

    fn done(text: &str) -> Answer {
        Answer::Done { text: text.to_owned(), data: None }
    }

    #[tokio::test]
    async fn each_step_takes_the_text_of_the_one_before() {
        let asked = ScriptedTool::new("ask").answers("6 * 7");
        let shout =
            ScriptedTool::new("shout").answers_by(|args| done(&format!("{}!", args["input"].as_str().unwrap())));
        let tools: Vec<Arc<dyn Tool>> =
            vec![Arc::new(asked.clone()), Arc::new(Calculator::default()), Arc::new(shout.clone())];
        let pipeline = Pipeline::new("chain", "Does it all", tools).unwrap();
        assert_eq!(pipeline.call(invocation()).await, done("42!"));
        assert_eq!(asked.args(), [json!({ "input": "six times seven" })]);
        assert_eq!(asked.ledger(), ["began run/1.0.0/0", "finished run/1.0.0/0"]);
        assert_eq!(shout.ledger(), ["began run/1.0.0/2", "finished run/1.0.0/2"]);
    }

    #[tokio::test]
    async fn a_step_that_ends_badly_names_itself_and_ends_the_chain() {
        let (first, last) = (ScriptedTool::new("first").effect(EffectClass::Once), ScriptedTool::new("last"));
        for (broken, expected) in [
            (ScriptedTool::new("second").fails("no paper"), "step 2 of 3, `second`, failed: no paper"),
            (ScriptedTool::new("second").panics("no ink"), "step 2 of 3, `second`, failed: the tool broke: no ink"),
        ] {
            let answer = chain(&[&first, &broken, &last]).unwrap().call(invocation()).await;
            assert_eq!(answer, Answer::Failed(format!("{expected}; the steps before it have been done")));
        }
        let lost = ScriptedTool::new("second").effect(EffectClass::Once).loses_track("line cut");
        let answer = chain(&[&ScriptedTool::new("first"), &lost, &last]).unwrap().call(invocation()).await;
        assert_eq!(answer, Answer::Unknown("step 2 of 3, `second`, is in doubt: line cut".to_owned()));
        assert_eq!(last.ledger(), [""; 0]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_step_that_hangs_is_the_one_that_is_named() {
        let slow = ScriptedTool::new("slow").effect(EffectClass::Idempotent).hangs();
        let answer = chain(&[&ScriptedTool::new("first"), &slow]).unwrap().call(invocation()).await;
        assert_eq!(answer, Answer::Unknown("step 2 of 2, `slow`, is in doubt: no answer within 30s".to_owned()));
    }

    #[test]
    fn the_chain_is_what_its_strongest_part_is() {
        let (plain, serial) = (ScriptedTool::new("plain"), ScriptedTool::new("serial").serial().locks("desk"));
        let idempotent = ScriptedTool::new("again").effect(EffectClass::Idempotent).locks("desk");
        let info = chain(&[&plain, &idempotent, &serial]).unwrap().info().clone();
        assert_eq!((info.effect, info.parallel_safe), (EffectClass::Idempotent, false));
        assert_eq!((info.lock.as_deref(), info.timeout_ms), (Some("desk"), 90_000));
        let once = ScriptedTool::new("once").effect(EffectClass::Once);
        assert_eq!(chain(&[&once, &idempotent]).unwrap().info().effect, EffectClass::Once);
        assert_eq!(chain(&[&plain, &plain]).unwrap().info().effect, EffectClass::Read);
    }

    #[test]
    fn what_does_not_fit_together_is_no_chain() {
        let (desk, shelf) = (ScriptedTool::new("desk").locks("a"), ScriptedTool::new("shelf").locks("b"));
        let locks = PipelineError::Locks("desk".to_owned(), "shelf".to_owned());
        assert_eq!(chain(&[&desk, &shelf]).err(), Some(locks));
        assert_eq!(chain(&[]).err(), Some(PipelineError::Length(0)));
        let time: Arc<dyn Tool> = Arc::new(DateTime::new(crate::clock::Clock::system()));
        let sum: Arc<dyn Tool> = Arc::new(Calculator::default());
        let wrong = Pipeline::new("chain", "", vec![sum, time]).err();
        assert_eq!(wrong, Some(PipelineError::NoText("datetime".to_owned())));
    }

    #[test]
    fn permission_is_the_strongest_of_all() {
        let world = tempfile::tempdir().unwrap();
        let workspace = crate::tool::Workspace::open(world.path()).unwrap();
        let tools: Vec<Arc<dyn Tool>> =
            vec![Arc::new(Calculator::default()), Arc::new(crate::tool::ReadFile::new(&workspace))];
        let pipeline = Pipeline::new("chain", "", tools).unwrap();
        assert_eq!(pipeline.info().permission, Permission::WorkspaceWrite);
    }
}
