//! One task: its description and its settings.

use std::fmt::Display;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use consort_core::agent::Agent;
use consort_core::attachments::AttachmentSource;
use consort_core::catalog::{EffectClass, ToolInfo};
use consort_core::draft::Draft;
use consort_core::mistake::{Code, Mistake};
use consort_core::model_options::ModelOptions;
use consort_core::schema::Schema;
use consort_core::spec::{OnTruncated, ReviewRule};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::function::{FunctionTool, Performs, performs, schema_of};
use crate::work::Work;

/// The time that a function that does a task may take.
const HANDLER_TIMEOUT_MS: u64 = 600_000;

/// A task of an ensemble.
#[derive(Clone)]
pub struct Task {
    draft: Draft,
    /// The identity by which other tasks refer to it, named or not.
    identity: Arc<()>,
    reads: Vec<Arc<()>>,
    handler: Option<Performs>,
    input_guardrails: Vec<Performs>,
    output_guardrails: Vec<Performs>,
}

/// The settings of a task; an ensemble accepts it in place of the task.
///
/// ```
/// use consort::{Agent, ReviewRule, Task};
///
/// let cook = Agent { role: "Cook".to_owned(), goal: "Feed everybody".to_owned(), ..Agent::default() };
/// let soup = Task::builder("Cook a soup for {guests}")
///     .agent(cook)
///     .model("large")
///     .tools(["calculator", "human_input"])
///     .memory("recipes")
///     .reflection()
///     .review(ReviewRule::Required)
///     .max_iterations(5);
/// ```
#[derive(Clone)]
pub struct TaskBuilder(Task);

/// The input of a guardrail for outputs.
#[derive(Deserialize)]
struct Output {
    output: String,
}

impl Task {
    /// Creates a task with nothing but a description.
    pub fn new(description: impl Into<String>) -> Task {
        Task::builder(description).build()
    }

    /// Creates a builder for a task with further settings. Templates such as `{topic}` are filled with a run's inputs.
    ///
    /// ```
    /// use consort::Task;
    ///
    /// let research = Task::builder("Research {topic}").tools(["web_search"]).max_iterations(5).build();
    /// let report = Task::builder("Write about {topic}").name("report").expected_output("One page").reads(&research);
    /// ```
    pub fn builder(description: impl Into<String>) -> TaskBuilder {
        TaskBuilder(Task {
            draft: Draft { description: description.into(), ..Draft::default() },
            identity: Arc::new(()),
            reads: Vec::new(),
            handler: None,
            input_guardrails: Vec::new(),
            output_guardrails: Vec::new(),
        })
    }
}

impl From<TaskBuilder> for Task {
    fn from(builder: TaskBuilder) -> Task {
        builder.0
    }
}

impl From<&str> for Task {
    fn from(description: &str) -> Task {
        Task::new(description)
    }
}

impl TaskBuilder {
    /// Returns the task, so that other tasks can read it.
    pub fn build(self) -> Task {
        self.0
    }

    /// Names it; otherwise it is named after its description.
    #[must_use]
    pub fn name(self, name: &str) -> TaskBuilder {
        self.with(|draft| draft.name = Some(name.to_owned()))
    }

    /// Sets the description of the output.
    #[must_use]
    pub fn expected_output(self, text: &str) -> TaskBuilder {
        self.with(|draft| draft.expected_output = Some(text.to_owned()))
    }

    /// Sets further context for the agent, beside the description.
    #[must_use]
    pub fn additional_context(self, text: &str) -> TaskBuilder {
        self.with(|draft| draft.additional_context = Some(text.to_owned()))
    }

    /// Sets the agent; by default one is derived from the first words of the description.
    #[must_use]
    pub fn agent(self, agent: Agent) -> TaskBuilder {
        self.with(|draft| draft.agent = Some(agent))
    }

    /// Asks this model instead of the ensemble's.
    #[must_use]
    pub fn model(self, alias: &str) -> TaskBuilder {
        self.with(|draft| draft.model = Some(alias.to_owned()))
    }

    /// Sets the options for the model's answers; an option that is not set is taken from the run or the model.
    #[must_use]
    pub fn model_options(self, options: ModelOptions) -> TaskBuilder {
        self.with(|draft| draft.model_options = options)
    }

    /// Lets it call this tool.
    #[must_use]
    pub fn tool(self, name: &str) -> TaskBuilder {
        self.tools([name])
    }

    /// Lets it call these tools.
    #[must_use]
    pub fn tools<'a>(self, names: impl IntoIterator<Item = &'a str>) -> TaskBuilder {
        self.with(|draft| draft.tools.extend(names.into_iter().map(str::to_owned)))
    }

    /// Gives it the output of another task, which then comes first.
    #[must_use]
    pub fn reads(mut self, other: &Task) -> TaskBuilder {
        self.0.reads.push(other.identity.clone());
        self
    }

    /// Gives it the output of the task of this name, which then comes first.
    #[must_use]
    pub fn context(self, name: &str) -> TaskBuilder {
        self.with(|draft| draft.context.push(format!("${name}")))
    }

    /// Limits the number of model calls; 25 by default.
    #[must_use]
    pub fn max_iterations(self, max: u32) -> TaskBuilder {
        self.with(|draft| draft.max_iterations = Some(max))
    }

    /// Wants an answer that is a value of this type; [`Outcome::value`](crate::Outcome::value)
    /// gives it back. Answers that are not are sent back to the model.
    #[must_use]
    pub fn output<T: JsonSchema>(self) -> TaskBuilder {
        self.with(|draft| draft.output_schema = Some(schema_of::<T>()))
    }

    /// Shows the model a file: a picture, a PDF, a DOCX file or a text. It is read when a run begins, and stored
    /// with the run.
    ///
    /// ```
    /// use consort::Task;
    ///
    /// let task = Task::builder("Sum up the plan").attach_file("plan.pdf");
    /// ```
    #[must_use]
    pub fn attach_file(self, path: impl Into<PathBuf>) -> TaskBuilder {
        self.with(|draft| draft.attachments.push(AttachmentSource::File(path.into())))
    }

    /// Shows the model an attachment, by its id or by a template such as `{picture}` for an input that is one.
    #[must_use]
    pub fn attach(self, id: &str) -> TaskBuilder {
        self.with(|draft| draft.attachments.push(AttachmentSource::Id(id.to_owned())))
    }

    /// Sets the treatment of an answer that is cut at the output limit; by default the model is asked to go on, and the
    /// task fails when that is not enough.
    ///
    /// ```
    /// use consort::{Ensemble, Model, OnTruncated, Task};
    ///
    /// # #[tokio::main]
    /// # async fn main() -> Result<(), consort::Error> {
    /// let task = Task::builder("Write about tea").name("tea").on_truncated(OnTruncated::Accept);
    /// let outcome = Ensemble::run(Model::demo().max_output_tokens(20), [task]).await?;
    /// assert!(outcome.tasks.iter().any(|task| task.truncated));
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn on_truncated(self, rule: OnTruncated) -> TaskBuilder {
        self.with(|draft| draft.on_truncated = rule)
    }

    /// Does it only under a condition in CEL, over `outputs`, `inputs` and, in a group, `item`, `index` and
    /// `round`. Tasks that it names come first; where it comes to false the task is skipped, and those that
    /// read it go on without it.
    ///
    /// ```
    /// use consort::{Ensemble, Model, Status, Task};
    ///
    /// # #[tokio::main]
    /// # async fn main() -> Result<(), consort::Error> {
    /// let tasks = [Task::builder("Write about tea").name("long").when("inputs.words > 500"), Task::builder("Write a line").name("short")];
    /// let ensemble = Ensemble::builder().model("demo", Model::demo()).tasks(tasks).build()?;
    /// let outcome = ensemble.start([("words", 50)]).await?.finished().await?;
    /// assert_eq!(outcome.status, Status::Completed);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn when(self, condition: &str) -> TaskBuilder {
        self.with(|draft| draft.when = Some(condition.to_owned()))
    }

    /// Does it once for each item of a list in CEL, with `{item}`, `{item.field}` and `{index}` in its texts.
    /// Its output is the list of outputs, in the order of the items.
    ///
    /// ```
    /// use consort::{Ensemble, Model, Task};
    ///
    /// # #[tokio::main]
    /// # async fn main() -> Result<(), consort::Error> {
    /// let visit = Task::builder("Write about {item}").name("visit").for_each("inputs.cities").max_parallel(2);
    /// let ensemble = Ensemble::builder().model("demo", Model::demo()).task(visit).build()?;
    /// let outcome = ensemble.start([("cities", vec!["Rome", "Oslo"])]).await?.finished().await?;
    /// assert_eq!(outcome.value::<Vec<String>>("visit")?.len(), 2);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn for_each(self, list: &str) -> TaskBuilder {
        self.with(|draft| draft.each.list = Some(list.to_owned()))
    }

    /// Limits the items of its list; 100 by default.
    #[must_use]
    pub fn max_items(self, max: u32) -> TaskBuilder {
        self.with(|draft| draft.each.max_items = Some(max))
    }

    /// Limits the items under way at the same time; 8 by default.
    #[must_use]
    pub fn max_parallel(self, max: u32) -> TaskBuilder {
        self.with(|draft| draft.each.max_parallel = Some(max))
    }

    /// Sets whether a person reviews the output; by default the ensemble's policy decides.
    #[must_use]
    pub fn review(self, rule: ReviewRule) -> TaskBuilder {
        self.with(|draft| draft.review = Some(rule))
    }

    /// Asks a person before it starts.
    #[must_use]
    pub fn review_before(self) -> TaskBuilder {
        self.with(|draft| draft.review_before = true)
    }

    /// Limits the time for which its reviews wait.
    #[must_use]
    pub fn review_timeout(self, limit: Duration) -> TaskBuilder {
        self.with(|draft| draft.review_timeout_ms = u64::try_from(limit.as_millis()).ok())
    }

    /// Remembers its output under this name, and recalls the outputs of that name that match best.
    #[must_use]
    pub fn memory(self, name: &str) -> TaskBuilder {
        self.with(|draft| draft.memory.push(name.to_owned()))
    }

    /// Lets the agent write down what could be better, for the next run.
    #[must_use]
    pub fn reflection(self) -> TaskBuilder {
        self.with(|draft| draft.reflection = true)
    }

    /// Does it with a function instead of a model. A run that is picked up after
    /// a crash may do it again, with the same [`Work::key`].
    ///
    /// ```
    /// use consort::{Ensemble, Task, Work};
    ///
    /// # #[tokio::main]
    /// # async fn main() -> Result<(), consort::Error> {
    /// let greet = |work: Work| async move { work.inputs["who"].as_str().map(|who| format!("Hello, {who}!")).ok_or("who?") };
    /// let ensemble = Ensemble::builder().task(Task::builder("Greet").handler(greet)).build()?;
    /// let outcome = ensemble.start([("who", "Ada")]).await?.finished().await?;
    /// assert_eq!(outcome.answer(), "Hello, Ada!");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn handler<W, T, E>(mut self, work: impl Fn(Work) -> W + Send + Sync + 'static) -> TaskBuilder
    where
        W: Future<Output = Result<T, E>> + Send + 'static,
        T: Serialize,
        E: Display,
    {
        self.0.handler = Some(performs(move |key, given: Work| work(Work { key, ..given })));
        self
    }

    /// Checks the task before anybody works on it; an error fails it.
    ///
    /// ```
    /// use consort::{Ensemble, Model, Status, Task, Work};
    ///
    /// # #[tokio::main]
    /// # async fn main() -> Result<(), consort::Error> {
    /// let polite = |work: Work| async move {
    ///     if work.description.contains("please") { Ok(()) } else { Err("say please") }
    /// };
    /// let short = |output: String| async move { if output.len() < 2_000 { Ok(()) } else { Err("too long") } };
    /// let task = Task::builder("Write about tea{how}").input_guardrail(polite).output_guardrail(short);
    /// let ensemble = Ensemble::builder().model("demo", Model::demo()).task(task).build()?;
    /// let refused = ensemble.start([("how", "")]).await?.finished().await?;
    /// assert_eq!(refused.status, Status::Failed);
    /// assert!(refused.error.is_some_and(|error| error.contains("say please")));
    /// let done = ensemble.start([("how", ", please")]).await?.finished().await?;
    /// assert_eq!(done.status, Status::Completed);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn input_guardrail<W, E>(mut self, check: impl Fn(Work) -> W + Send + Sync + 'static) -> TaskBuilder
    where
        W: Future<Output = Result<(), E>> + Send + 'static,
        E: Display,
    {
        self.0.input_guardrails.push(performs(move |key, given: Work| check(Work { key, ..given })));
        self
    }

    /// Checks the output before anybody reads it; an error fails the task.
    #[must_use]
    pub fn output_guardrail<W, E>(mut self, check: impl Fn(String) -> W + Send + Sync + 'static) -> TaskBuilder
    where
        W: Future<Output = Result<(), E>> + Send + 'static,
        E: Display,
    {
        self.0.output_guardrails.push(performs(move |_key, given: Output| check(given.output)));
        self
    }

    fn with(mut self, change: impl FnOnce(&mut Draft)) -> TaskBuilder {
        change(&mut self.0.draft);
        self
    }
}

/// Tasks as core reads them: references by position, functions as tools.
#[derive(Default)]
pub(crate) struct Plan {
    pub(crate) drafts: Vec<Draft>,
    /// The functions of the tasks, under names of their own.
    pub(crate) tools: Vec<FunctionTool>,
    pub(crate) mistakes: Vec<Mistake>,
}

impl Plan {
    pub(crate) fn new(tasks: Vec<Task>) -> Plan {
        let identities: Vec<Arc<()>> = tasks.iter().map(|task| task.identity.clone()).collect();
        let mut plan = Plan::default();
        for (position, task) in tasks.into_iter().enumerate() {
            plan.add(position, task, &identities);
        }
        plan
    }

    fn add(&mut self, position: usize, task: Task, identities: &[Arc<()>]) {
        let mut draft = task.draft;
        for read in &task.reads {
            match identities.iter().position(|identity| Arc::ptr_eq(identity, read)) {
                Some(other) => draft.context.push(format!("${other}")),
                None => {
                    let place = format!("tasks[{position}].context");
                    let message = "a task that is not in the ensemble cannot be read";
                    self.mistakes.push(Mistake::new(Code::BadRequest, place, message));
                }
            }
        }
        // The same name in every process, so that a run finds its functions again.
        let owner = draft.name.clone().unwrap_or_else(|| position.to_string());
        draft.handler = task.handler.map(|work| self.register(format!("task:{owner}:handler"), work));
        draft.input_guardrails = self.guards(&owner, "input", task.input_guardrails);
        draft.output_guardrails = self.guards(&owner, "output", task.output_guardrails);
        self.drafts.push(draft);
    }

    fn guards(&mut self, owner: &str, side: &str, guards: Vec<Performs>) -> Vec<String> {
        let named = guards.into_iter().enumerate();
        named.map(|(index, guard)| self.register(format!("task:{owner}:{side}:{index}"), guard)).collect()
    }

    fn register(&mut self, name: String, performs: Performs) -> String {
        let info = ToolInfo {
            schema: Schema::new(json!({ "type": "object" })),
            effect: EffectClass::Idempotent,
            timeout_ms: HANDLER_TIMEOUT_MS,
            ..ToolInfo::new(&name, "")
        };
        self.tools.push(FunctionTool::new(info, performs));
        name
    }
}
