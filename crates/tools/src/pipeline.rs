//! A chain of tools as one tool. Its description is derived in
//! core (`consort_core::pipeline`); here the steps are performed.

use std::sync::Arc;

use consort_core::catalog::{EffectClass, ToolInfo};
use consort_core::pipeline::{Link, chain};
use futures::future::BoxFuture;
use serde_json::{Map, Value};

pub use consort_core::pipeline::PipelineError;

use super::{Answer, Invocation, Tool, toolbox};

/// Tools one after the other: the first takes the arguments, each next one the
/// text of the one before. To a run it is as dangerous as its most dangerous step.
///
/// ```
/// use consort_tools::{Calculator, Json, Pipeline, Step, Tool};
///
/// # fn main() -> Result<(), consort_tools::PipelineError> {
/// let prices = Step::new(Json::default()).with("query", r#"map(tostring) | join(" + ")"#);
/// let total = Pipeline::new("total", "Adds prices up", [prices, Calculator::default().into()])?;
/// assert_eq!(total.info().schema.json()["required"], serde_json::json!(["json"]));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Pipeline {
    steps: Arc<[Step]>,
    /// The property of each step that takes the text of the one before.
    takes: Arc<[Option<String>]>,
    info: Arc<ToolInfo>,
}

/// One tool of a pipeline, with its fixed arguments.
#[derive(Clone)]
pub struct Step {
    tool: Arc<dyn Tool>,
    args: Map<String, Value>,
}

impl<T: Tool> From<T> for Step {
    fn from(tool: T) -> Step {
        Step { tool: Arc::new(tool), args: Map::new() }
    }
}

impl Step {
    /// Returns a step with this tool.
    pub fn new(tool: impl Tool) -> Step {
        tool.into()
    }

    /// Returns the step with a fixed value for an argument.
    #[must_use]
    pub fn with(mut self, argument: &str, value: impl Into<Value>) -> Step {
        self.args.insert(argument.to_owned(), value.into());
        self
    }

    fn link(&self) -> Link {
        Link { tool: self.tool.info().clone(), args: self.args.clone() }
    }

    fn has_effect(&self) -> bool {
        self.tool.info().effect != EffectClass::Read
    }
}

impl Pipeline {
    /// Returns a chain of tools under this name.
    pub fn new<S: Into<Step>>(
        name: &str,
        description: &str,
        steps: impl IntoIterator<Item = S>,
    ) -> Result<Pipeline, PipelineError> {
        let steps: Vec<Step> = steps.into_iter().map(Into::into).collect();
        let links: Vec<Link> = steps.iter().map(Step::link).collect();
        let chain = chain(name, description, &links)?;
        Ok(Pipeline { steps: steps.into(), takes: chain.takes.into(), info: Arc::new(chain.info) })
    }

    async fn run(&self, invocation: Invocation) -> Answer {
        let mut last = Answer::Failed("there are no steps".to_owned());
        for (index, (step, takes)) in self.steps.iter().zip(self.takes.iter()).enumerate() {
            let args = arguments(step, takes.as_deref(), &invocation.args, &last);
            let wrong = step.tool.info().schema.violations(&args);
            if !wrong.is_empty() {
                return Answer::Failed(self.named(index, &format!("cannot take this: {}", wrong.join("; "))));
            }
            // Each step has its own key, which is the same when the call is repeated.
            let key = format!("{}/{index}", invocation.key);
            // What a person allowed was the chain as it was shown, not the file that one of its steps names.
            let account = invocation.account.clone().for_step();
            let call = Invocation { key, args, account, ..invocation.clone() };
            last = match toolbox::perform(step.tool.as_ref(), call).await {
                Answer::Failed(why) => return Answer::Failed(self.named(index, &format!("failed: {why}"))),
                Answer::Unknown(why) => return Answer::Unknown(self.named(index, &format!("is in doubt: {why}"))),
                Answer::Late { why, effect } => {
                    let what = if effect == EffectClass::Read { "failed" } else { "is in doubt" };
                    return Answer::Late { why: self.named(index, &format!("{what}: {why}")), effect };
                }
                done @ Answer::Done { .. } => done,
            };
        }
        last
    }

    fn named(&self, index: usize, what: &str) -> String {
        let name = self.steps.get(index).map_or("", |step| &step.tool.info().name);
        let is_late = self.steps.iter().take(index).any(Step::has_effect);
        let done = if is_late { "; the steps before it have been done" } else { "" };
        format!("step {} of {}, `{name}`, {what}{done}", index + 1, self.steps.len())
    }
}

/// Returns the arguments of a step: its fixed arguments,
/// and the call's arguments or the text of the step before.
fn arguments(step: &Step, takes: Option<&str>, first: &Value, last: &Answer) -> Value {
    let mut args = match (takes, last) {
        (Some(takes), Answer::Done { text, .. }) => Map::from_iter([(takes.to_owned(), Value::String(text.clone()))]),
        (Some(_), Answer::Failed(_) | Answer::Unknown(_) | Answer::Late { .. }) => Map::new(),
        (None, _) => first.as_object().cloned().unwrap_or_default(),
    };
    args.extend(step.args.clone());
    Value::Object(args)
}

impl Tool for Pipeline {
    fn info(&self) -> &Arc<ToolInfo> {
        &self.info
    }

    fn call(&self, invocation: Invocation) -> BoxFuture<'_, Answer> {
        Box::pin(self.run(invocation))
    }
}

#[cfg(test)]
mod tests {
    use consort_core::schema::Schema;
    use serde_json::json;

    use super::*;
    use crate::{Calculator, ScriptedTool, Workspace, WriteFile};

    fn chain(tools: &[&ScriptedTool]) -> Result<Pipeline, PipelineError> {
        Pipeline::new("chain", "Does it all", tools.iter().map(|tool| (*tool).clone()))
    }

    fn invocation() -> Invocation {
        let args = json!({ "input": "six times seven" });
        Invocation::test(args)
    }

    fn done(text: &str) -> Answer {
        Answer::Done { text: text.to_owned(), data: None }
    }

    #[tokio::test]
    async fn each_step_takes_the_text_of_the_one_before() {
        let asked = ScriptedTool::new("ask").answers("6 * 7");
        let shout =
            ScriptedTool::new("shout").answers_by(|args| done(&format!("{}!", args["input"].as_str().unwrap())));
        let steps = [Step::new(asked.clone()), Calculator::default().into(), shout.clone().into()];
        let pipeline = Pipeline::new("chain", "Does it all", steps).unwrap();
        assert_eq!(pipeline.call(invocation()).await, done("42!"));
        assert_eq!(asked.args(), [json!({ "input": "six times seven" })]);
        assert_eq!(asked.ledger(), ["began run/1.0.0/0", "finished run/1.0.0/0"]);
        assert_eq!(shout.ledger(), ["began run/1.0.0/2", "finished run/1.0.0/2"]);
    }

    #[tokio::test]
    async fn a_step_that_ends_badly_names_itself_and_ends_the_chain() {
        let first = ScriptedTool::new("first").effect(EffectClass::Once);
        let last = ScriptedTool::new("last");
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
        let why = "step 2 of 2, `slow`, is in doubt: no answer within 30s".to_owned();
        assert_eq!(answer, Answer::Late { why, effect: EffectClass::Idempotent });
    }

    #[tokio::test]
    async fn files_that_a_step_changed_are_told_also_when_a_later_one_fails() {
        let home = tempfile::tempdir().unwrap();
        let write = Step::new(WriteFile::new(&Workspace::open(home.path()).unwrap())).with("path", "plan.md");
        let broken = ScriptedTool::new("print").fails("no paper");
        let pipeline =
            Pipeline::new("chain", "", [ScriptedTool::new("ask").answers("tea\n").into(), write, broken.into()]);
        let call = invocation();
        let answer = pipeline.unwrap().call(call.clone()).await;
        let why = "step 3 of 3, `print`, failed: no paper; the steps before it have been done";
        assert_eq!(answer, Answer::Failed(why.to_owned()));
        let told: Vec<(String, u64)> =
            call.account.changes().into_iter().map(|change| (change.file_path, change.lines_added)).collect();
        assert_eq!(told, [("plan.md".to_owned(), 1)]);
    }

    #[tokio::test]
    async fn what_a_step_is_always_told_is_told_in_every_call() {
        let told = ScriptedTool::new("told").with_info(|info| {
            let schema = json!({ "type": "object", "required": ["input", "tone"], "properties": {
                "input": { "type": "string" }, "tone": { "type": "string" } } });
            info.schema = Schema::new(schema);
        });
        let steps = [Step::new(told.clone()).with("tone", "calm"), Step::new(told.clone()).with("tone", "loud")];
        let pipeline = Pipeline::new("chain", "", steps).unwrap();
        let args = json!({ "input": "hello", "tone": "whatever the model likes" });
        pipeline.call(Invocation { args, ..invocation() }).await;
        assert_eq!(told.args()[0], json!({ "input": "hello", "tone": "calm" }));
        assert_eq!(told.args()[1]["tone"], "loud");
    }
}
