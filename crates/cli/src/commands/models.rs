//! `consort models test`: asks each configured model for an answer, a tool call and a
//! structured value, and prints what it can do. Each is asked as a task of a run would
//! ask it, once: without retries, and without the models it falls back to.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::Subcommand;
use consort::{Calculator, Ensemble, Status, TaskOutcome};
use consort_config::{Config, Env, Model};
use consort_core::catalog::{ModelInfo, ToolInfo};
use consort_core::draft::{self, Draft};
use consort_tools::{Answer, Invocation, Tool};
use futures::future::{BoxFuture, join_all};
use serde_json::{Map, Value, json};

use crate::assemble;
use crate::commands::call::{page, wrong};
use crate::exit::Exit;
use crate::output::Output;
use crate::show::table::{Column, Table};
use crate::show::words::{one_line, span};
use crate::workers;

/// The time that a question may take: a local model that has to be loaded first answers within minutes.
const QUESTION_MAX: Duration = Duration::from_secs(300);
/// The model calls of a question: a call, its result, and some more for those that need another attempt.
const ROUNDS_MAX: u32 = 5;

/// The commands about models.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Ask each model for an answer, a tool call and a structured value
    #[command(after_help = "Exit status: 0 every model can do all of it, 1 one cannot. Providers charge for the \
        questions as usual.\n\nExamples:\n  consort models test\n  consort models test sonnet haiku --json")]
    Test {
        /// Only these models; default: all
        #[arg(value_name = "ALIAS")]
        models: Vec<String>,
        /// The configuration; default: ./consort.toml, else the built-in demo
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
        /// Print what came of it as JSON
        #[arg(long)]
        json: bool,
    },
}

/// Executes the command.
pub(crate) fn run(command: &Command, env: &Env<'_>, output: Output<'_>) -> anyhow::Result<Exit> {
    let Command::Test { models, config, json } = command;
    let config = match Config::find(config.as_deref(), env) {
        Ok(config) => config,
        Err(mistakes) => return wrong(output, &mistakes.to_string()),
    };
    if config.models.is_empty() {
        return wrong(output, "the configuration has no model to test");
    }
    let is_known = |alias: &&String| config.models.iter().any(|model| model.info.alias == **alias);
    if let Some(unknown) = models.iter().find(|alias| !is_known(alias)) {
        let known: Vec<&str> = config.models.iter().map(|model| model.info.alias.as_str()).collect();
        return wrong(output, &format!("unknown model `{unknown}`; there is {}", known.join(", ")));
    }
    let wanted = config.models.iter().filter(|model| models.is_empty() || models.contains(&model.info.alias));
    let runtime = workers::start()?;
    let tested = runtime.block_on(join_all(wanted.map(Tested::of)));
    runtime.shutdown_background();
    if *json {
        let models: Vec<Value> = tested.iter().map(Tested::json).collect();
        output.out.json(&json!({ "models": models }).to_string())?;
    } else {
        let room = page(output.out).room;
        write!(output.out, "{}", table(&tested).text(room))?;
        for line in tested.iter().flat_map(Tested::reasons) {
            output.err.say(&line)?;
        }
    }
    let can = tested.iter().flat_map(|tested| &tested.found).all(|(_, found)| !matches!(found, Found::No(_)));
    Ok(if can { Exit::Done } else { Exit::Failed })
}

/// A thing that a model is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ability {
    Answer,
    ToolCall,
    Structured,
}

impl Ability {
    const ALL: [Ability; 3] = [Ability::Answer, Ability::ToolCall, Ability::Structured];

    /// The field of the JSON.
    fn field(self) -> &'static str {
        match self {
            Ability::Answer => "answer",
            Ability::ToolCall => "toolCall",
            Ability::Structured => "structured",
        }
    }

    /// The heading of the column.
    fn head(self) -> &'static str {
        match self {
            Ability::Answer => "ANSWER",
            Ability::ToolCall => "TOOLS",
            Ability::Structured => "SCHEMA",
        }
    }

    fn task(self) -> Draft {
        let mut task = Draft { max_iterations: Some(ROUNDS_MAX), ..Draft::default() };
        match self {
            Ability::Answer => "Say hello in one short sentence.".clone_into(&mut task.description),
            Ability::ToolCall => {
                "What is 42 * 17? Call the tool calculator, then say the result.".clone_into(&mut task.description);
                task.tools = vec![CountedCalculator::default().info().name.clone()];
            }
            Ability::Structured => {
                "Name an insect and say how many legs it has.".clone_into(&mut task.description);
                task.output_schema = Some(json!({ "type": "object",
                    "properties": { "name": { "type": "string" }, "legs": { "type": "integer" } },
                    "required": ["name", "legs"], "additionalProperties": false }));
            }
        }
        task
    }
}

/// The result of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Found {
    /// The model can do it; it took this long.
    Yes(Duration),
    /// It cannot, for this reason.
    No(String),
    /// It was not asked: the configuration says that it cannot.
    Off,
}

/// A model and what it can do.
struct Tested {
    info: Arc<ModelInfo>,
    /// The address it was asked at, without secrets; none for a model in this process.
    address: Option<String>,
    found: Vec<(Ability, Found)>,
}

impl Tested {
    /// Asks a model, one question after the other. One that does not answer is not asked for more.
    async fn of(model: &Model) -> Tested {
        let info = ModelInfo { retries: 0, fallback: Vec::new(), ..ModelInfo::clone(&model.info) };
        let model = Model { info: Arc::new(info), ..model.clone() };
        let mut found: Vec<(Ability, Found)> = Vec::new();
        for ability in Ability::ALL {
            let next = match found.first() {
                _ if ability == Ability::ToolCall && !model.info.tools => Found::Off,
                Some((_, Found::No(reason))) => Found::No(reason.clone()),
                _ => ask(&model, ability).await,
            };
            found.push((ability, next));
        }
        Tested { address: model.options.address(), info: model.info, found }
    }

    fn json(&self) -> Value {
        let mut fields = Map::new();
        fields.insert("alias".to_owned(), self.info.alias.as_str().into());
        fields.insert("provider".to_owned(), self.info.provider.as_str().into());
        fields.insert("model".to_owned(), self.info.model.as_str().into());
        fields.extend(self.address.as_deref().map(|address| ("address".to_owned(), address.into())));
        for (ability, found) in &self.found {
            let found = match found {
                Found::Yes(took) => json!({ "ok": true, "durationMs": millis(*took) }),
                Found::No(reason) => json!({ "ok": false, "reason": reason }),
                Found::Off => json!({ "ok": false, "off": true, "reason": "tools = false" }),
            };
            fields.insert(ability.field().to_owned(), found);
        }
        Value::Object(fields)
    }

    /// Returns why the model cannot do what it cannot do, a line for each reason.
    fn reasons(&self) -> Vec<String> {
        let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
        for (ability, found) in &self.found {
            let Found::No(reason) = found else { continue };
            let what = ability.head().to_lowercase();
            match reasons.iter_mut().find(|(known, _)| known == reason) {
                Some((_, whats)) => whats.push(what),
                None => reasons.push((reason, vec![what])),
            }
        }
        let line =
            |(reason, whats): (&str, Vec<String>)| format!("{}: no {}: {reason}", self.info.alias, whats.join(", "));
        reasons.into_iter().map(line).collect()
    }
}

/// Asks a model for one thing.
async fn ask(model: &Model, ability: Ability) -> Found {
    let calculator = CountedCalculator::default();
    let called = calculator.called.clone();
    let template =
        draft::Ensemble { name: "models test".to_owned(), tasks: vec![ability.task()], ..Default::default() };
    let made = assemble::model(model, Duration::ZERO);
    let built = Ensemble::builder().template(template).model(&model.info.alias, made).tool(calculator);
    let ensemble = match built.without_human_input().build() {
        Ok(ensemble) => ensemble,
        Err(error) => return Found::No(one_line(&error.to_string())),
    };
    let since = Instant::now();
    let outcome = tokio::time::timeout(QUESTION_MAX, async { ensemble.start(()).await?.finished().await }).await;
    ensemble.stop().await;
    let outcome = match outcome {
        Err(_) => return Found::No(format!("no answer within {} minutes", QUESTION_MAX.as_secs() / 60)),
        Ok(Err(error)) => return Found::No(one_line(&error.to_string())),
        Ok(Ok(outcome)) => outcome,
    };
    let task = outcome.tasks.first();
    if outcome.status != Status::Completed {
        let reason = task.and_then(|task| task.error.clone()).or(outcome.error);
        return Found::No(one_line(&reason.unwrap_or_else(|| "it did not answer".to_owned())));
    }
    let is_called = called.load(Ordering::Relaxed);
    missing(ability, task, is_called).map_or_else(|| Found::Yes(since.elapsed()), |reason| Found::No(reason.to_owned()))
}

/// Returns what is missing from an answer.
fn missing(ability: Ability, task: Option<&TaskOutcome>, is_called: bool) -> Option<&'static str> {
    match ability {
        Ability::Answer => None,
        Ability::ToolCall => (!is_called).then_some("it answered without calling the tool"),
        Ability::Structured => task.is_none_or(|task| task.value.is_none()).then_some("it gave no value"),
    }
}

fn table(tested: &[Tested]) -> Table {
    let [answer, call, value] = Ability::ALL.map(|ability| (ability.head(), Column::Name));
    let heads = [("MODEL", Column::Name), answer, call, value];
    let rest = [("TIME", Column::Amount), ("WHAT", Column::Text), ("WHERE", Column::Text)];
    let mut table = Table::new(&[&heads[..], &rest[..]].concat());
    for tested in tested {
        let mut cells = vec![tested.info.alias.clone()];
        cells.extend(tested.found.iter().map(|(_, found)| word(found).to_owned()));
        let took = tested.found.iter().filter_map(|(_, found)| match found {
            Found::Yes(took) => Some(*took),
            Found::No(_) | Found::Off => None,
        });
        let took: Duration = took.sum();
        cells.push(if took.is_zero() { String::new() } else { span(took) });
        cells.push(format!("{} {}", tested.info.provider, tested.info.model));
        cells.push(tested.address.clone().unwrap_or_default());
        table.row(cells);
    }
    table
}

fn word(found: &Found) -> &'static str {
    match found {
        Found::Yes(_) => "yes",
        Found::No(_) => "no",
        Found::Off => "off",
    }
}

fn millis(took: Duration) -> u64 {
    u64::try_from(took.as_millis()).unwrap_or(u64::MAX)
}

/// A calculator that remembers whether it was called.
#[derive(Default)]
struct CountedCalculator {
    calculator: Calculator,
    called: Arc<AtomicBool>,
}

impl Tool for CountedCalculator {
    fn info(&self) -> &Arc<ToolInfo> {
        self.calculator.info()
    }

    fn call(&self, invocation: Invocation) -> BoxFuture<'_, Answer> {
        self.called.store(true, Ordering::Relaxed);
        self.calculator.call(invocation)
    }
}
