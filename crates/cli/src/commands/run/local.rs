//! A run in this process, stored in the configuration's store.

use std::time::Duration;

use consort_config::{Config, Env, FILE_NAME};
use consort_core::compile::Compiled;
use consort_core::spec::Kind;
use consort_log::Query;
use consort_runtime::engine::Engine;
use consort_tools::Toolbox;

use super::served::Shown;
use super::{Args, request, wrong};
use crate::assemble::{self, Known, RunParts, Store};
use crate::exit::Exit;
use crate::output::{Output, Stream};
use crate::show::screen::{Look, Screen};
use crate::show::words::counted;
use crate::terminal::{Person, Terminal};
use crate::watch::ending::{RunStorage, ending};
use crate::watch::{CtrlC, Host, Watch, WatchOutcome, interrupts};
use crate::workers;

/// The delay between tokens of the demo model without a terminal.
const PACE: Duration = Duration::from_millis(3);
/// The delay on a terminal: slow enough to see what happens.
const PACE_WATCHED: Duration = Duration::from_millis(25);

/// Executes the run in this process.
pub(super) fn run(
    args: &Args,
    config: &Config,
    (env, terminal): (&Env<'_>, &Terminal),
    output: Output<'_>,
) -> anyhow::Result<Exit> {
    let tools = match assemble::tools(config) {
        Ok(tools) => tools,
        Err(error) => return wrong(output, &[error.to_string()]),
    };
    let runtime = workers::start()?;
    let entered = runtime.enter();
    let (servers, tools) = match assemble::connect(config, env, tools) {
        Ok(connected) => connected,
        Err(error) => return wrong(output, &[error.to_string()]),
    };
    drop(entered);
    runtime.block_on(servers.settled(assemble::START_MAX));
    for warning in assemble::warnings(&servers) {
        output.err.say(&warning)?;
    }
    let compiled = match plan(args, config, &tools) {
        Ok(compiled) => compiled,
        Err(mistakes) => return wrong(output, &mistakes),
    };
    for warning in &compiled.warnings {
        output.err.say(format_args!("warning: {warning}"))?;
    }
    let store = match Config::file(args.config.as_deref()) {
        Some(_) => Store::Folder(config.store.clone()),
        None => Store::Memory,
    };
    if store == Store::Memory {
        output
            .err
            .say(format_args!("No {FILE_NAME} here: this is the built-in demo, offline, and nothing is kept."))?;
    }
    let entered = runtime.enter();
    let job = Job::new((args.serve, config), &compiled, (store, tools), terminal.look);
    drop(entered);
    let job = match job {
        Ok(job) => job,
        Err(error @ (assemble::Error::Refused(_) | assemble::Error::Shared)) => {
            return wrong(output, &[error.to_string()]);
        }
        Err(error) => return Err(anyhow::Error::new(error).context(assemble::NOT_KEPT)),
    };
    let exit = runtime.block_on(job.work(compiled, terminal.person.as_ref(), output));
    runtime.block_on(servers.stop());
    // A blocking read of the keyboard must not delay the exit.
    runtime.shutdown_background();
    exit
}

/// Returns the compiled run, or all mistakes, one per line.
fn plan(args: &Args, config: &Config, tools: &Toolbox) -> Result<Compiled, Vec<String>> {
    let ensemble = config.template.as_ref().map(|template| &template.ensemble);
    let (request, warnings) = request::read(args, ensemble)?;
    let compiled = assemble::plan(config, tools, request);
    let mut compiled = compiled.map_err(|mistakes| mistakes.iter().map(ToString::to_string).collect::<Vec<_>>())?;
    compiled.warnings.splice(0..0, warnings);
    Ok(compiled)
}

/// One run and its engine.
struct Job {
    engine: Engine,
    /// The server that shows it, if it is served.
    shown: Option<Shown>,
    store: Store,
    look: Look,
    /// The number of ended runs that are kept.
    keep: usize,
}

impl Job {
    fn new(
        (serve, config): (Option<u16>, &Config),
        compiled: &Compiled,
        (store, tools): (Store, Toolbox),
        look: Look,
    ) -> Result<Job, assemble::Error> {
        let pace = if matches!(look, Look::Block(_)) { PACE_WATCHED } else { PACE };
        let surroundings = RunParts { tools, pace, known: Known::Unknown };
        let shown = serve.map(|port| Shown::at(port, config, &store, &surroundings)).transpose()?;
        let engine = match &shown {
            Some(shown) => shown.engine(),
            None => assemble::engine(config, compiled, &store, &surroundings)?,
        };
        Ok(Job { engine, shown, store, look, keep: config.server.max_retained_completed_runs })
    }

    async fn work(mut self, run: Compiled, person: Option<&Person>, mut output: Output<'_>) -> anyhow::Result<Exit> {
        let interrupts = interrupts();
        self.mention_unfinished(output.err).await?;
        let showing = match self.shown.take() {
            Some(shown) => match shown.open(output.err).await {
                Ok(showing) => Some(showing),
                Err(mistake) => return wrong(output, &[mistake]),
            },
            None => None,
        };
        let run = self.engine.submit(run).await?;
        let mut screen = Screen::new(self.look, output.lend());
        let host = Host::Here(&self.engine, &run, showing.as_ref().map(|showing| showing.url.as_str()));
        let watched = Watch::new(host, &mut screen, person, (interrupts, CtrlC::Stops)).follow().await;
        if watched.is_err() && !self.engine.is_parked(&run) {
            // It cannot be watched any more, so it does not go on. One that waits for a review
            // does nothing; a closed terminal decides nothing.
            host.stop().await;
        }
        let watched = watched?;
        let view = screen.finish()?;
        if matches!(watched, WatchOutcome::ToTheEnd | WatchOutcome::AsAsked) {
            // The run's owner releases the log, so that dropping the engine closes it.
            self.engine.finished(&run).await;
            self.engine.retain(Kind::Run, self.keep).await?;
        }
        if let Some(showing) = showing {
            showing.close().await?;
        }
        assemble::flush(&self.engine).await;
        let ending = ending(watched, &view, &self.kept(), &run);
        ending.tell(self.look, output)?;
        Ok(ending.exit)
    }

    /// Mentions runs that a crash interrupted; only the server resumes them.
    async fn mention_unfinished(&self, err: &mut Stream) -> anyhow::Result<()> {
        let query = Query { kind: Some(Kind::Run.word().to_owned()), ended: Some(false), limit: 0, ..Query::default() };
        let count = self.engine.list(query).await?.total;
        if let (Store::Folder(folder), 1..) = (&self.store, count) {
            let runs = counted(count as u64, "unfinished run");
            err.say(format_args!(
                "{} holds {runs} from before, left alone here; the server goes on with them.",
                folder.display()
            ))?;
        }
        Ok(())
    }

    fn kept(&self) -> RunStorage {
        match &self.store {
            Store::Memory => RunStorage::Nowhere,
            Store::Folder(folder) => RunStorage::Folder(folder.clone()),
        }
    }
}
