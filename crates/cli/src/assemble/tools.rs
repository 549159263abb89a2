//! The tools of a configuration.

use std::path::Path;
use std::sync::Arc;

use consort_http::outbound::{Outbound, OutboundOptions, Reach, SystemNames};
use consort_log::clock::Clock;
use consort_tools::{
    self as tool, Calculator, DateTime, EditFile, HttpFetch, HttpTool, Json, ListFiles, Pipeline, ReadFile, Step, Tool,
    Toolbox, WebSearch, Workspace, WriteFile,
};

use super::Error;
use crate::config::{self, Builtin, Config};

/// Returns every tool that agents can call, except those that a run executes itself.
pub(crate) fn tools(config: &Config) -> Result<Toolbox, Error> {
    let workspace = workspace(config)?;
    let mut toolbox = Toolbox::default();
    for builtin in &config.tools.builtin {
        if let Some(tool) = built_in(*builtin, config, workspace.as_ref())? {
            toolbox = toolbox.with(tool)?;
        }
    }
    if !config.tools.http.is_empty() {
        let client = tool::http_client()?;
        for tool in &config.tools.http {
            let made = HttpTool::new(client.clone(), tool.info.clone(), tool.endpoint.clone());
            toolbox = toolbox.with(made)?;
        }
    }
    // Each comes after its steps.
    for pipeline in &config.tools.pipelines {
        let made = made(&toolbox, pipeline)?;
        toolbox = toolbox.with(made)?;
    }
    Ok(toolbox)
}

/// Creates a tool from others in the toolbox.
fn made(toolbox: &Toolbox, pipeline: &config::Pipeline) -> Result<Pipeline, Error> {
    let wrong = |reason: String| Error::Pipeline { name: pipeline.name.clone(), reason };
    let step = |step: &config::Step| match toolbox.get(&step.tool) {
        Some(tool) => {
            Ok(step.args.iter().fold(Step::new(tool.clone()), |step, (name, value)| step.with(name, value.clone())))
        }
        None => Err(wrong(format!("there is no tool `{}`", step.tool))),
    };
    let steps: Vec<Step> = pipeline.steps.iter().map(step).collect::<Result<_, Error>>()?;
    Pipeline::new(&pipeline.name, &pipeline.description, steps).map_err(|error| wrong(error.to_string()))
}

/// Returns a built-in tool; `None` where the run asks a person itself, or nothing is
/// configured for it.
fn built_in(builtin: Builtin, config: &Config, workspace: Option<&Workspace>) -> Result<Option<Arc<dyn Tool>>, Error> {
    let file = |make: fn(&Workspace) -> Arc<dyn Tool>| workspace.map(make);
    Ok(match builtin {
        Builtin::Calculator => Some(Arc::new(Calculator::default())),
        Builtin::Datetime => Some(Arc::new(DateTime::new(Clock::system()))),
        Builtin::Json => Some(Arc::new(Json::default())),
        Builtin::HttpFetch => Some(Arc::new(HttpFetch::new(outbound(config)?))),
        Builtin::WebSearch => web_search(config)?,
        Builtin::ReadFile => file(|workspace| Arc::new(ReadFile::new(workspace))),
        Builtin::ListFiles => file(|workspace| Arc::new(ListFiles::new(workspace))),
        Builtin::WriteFile => file(|workspace| Arc::new(WriteFile::new(workspace))),
        Builtin::EditFile => file(|workspace| Arc::new(EditFile::new(workspace))),
        Builtin::HumanInput => None,
    })
}

fn outbound(config: &Config) -> Result<Outbound, Error> {
    let reach = if config.tools.allow_private_addresses { Reach::Everything } else { Reach::Public };
    let options = OutboundOptions { reach, ..OutboundOptions::default() };
    Outbound::new(options, Arc::new(SystemNames)).map_err(|error| Error::Client(error.to_string()))
}

fn web_search(config: &Config) -> Result<Option<Arc<dyn Tool>>, Error> {
    let Some(search) = &config.tools.web_search else { return Ok(None) };
    Ok(Some(Arc::new(WebSearch::new(tool::http_client()?, search.clone())?)))
}

/// Returns the folder that agents work in, created if needed; `None` when none is
/// configured.
pub(super) fn workspace(config: &Config) -> Result<Option<Workspace>, Error> {
    config.server.workspace.as_deref().map(opened).transpose()
}

fn opened(folder: &Path) -> Result<Workspace, Error> {
    let opened = std::fs::create_dir_all(folder).and_then(|()| Workspace::open(folder));
    opened.map_err(|error| Error::Workspace { folder: folder.to_owned(), reason: error.to_string() })
}
