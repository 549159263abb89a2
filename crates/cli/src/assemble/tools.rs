//! The tools of a configuration.

use std::path::Path;

use consort_http::outbound::{OutboundOptions, Reach};
use consort_tools::mcp::Transport;
use consort_tools::{self as tool, HttpTool, Means, Pipeline, Step, Toolbox, Workspace};

use super::Error;
use crate::config::{self, Config};

/// Returns every tool that agents can call, except those that a run executes itself.
pub(crate) fn tools(config: &Config) -> Result<Toolbox, Error> {
    let means = means(config)?;
    let mut toolbox = Toolbox::default();
    for builtin in &config.tools.builtin {
        if let Some(tool) = builtin.build(&means)? {
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

/// Returns the names of the files in a folder that agents' prompts come from: the configuration, what it
/// reads, and the programs of MCP servers, which describe their tools.
fn guarded(folder: &Path, config: &Config) -> Vec<String> {
    let programs = config.mcp.iter().flat_map(|server| match &server.transport {
        Transport::Command { command, args, folder, .. } => {
            std::iter::once(command).chain(args).map(|word| folder.join(word)).collect()
        }
        Transport::Http { .. } => Vec::new(),
    });
    let inside = |path: std::path::PathBuf| {
        let (path, folder) = (path.canonicalize().ok()?, folder.canonicalize().ok()?);
        let name = path.is_file().then(|| path.file_name()).flatten()?;
        path.starts_with(folder).then(|| name.to_string_lossy().into_owned())
    };
    config.sources.iter().cloned().chain(programs).filter_map(inside).collect()
}

/// Returns what the built-in tools of a configuration are built with.
fn means(config: &Config) -> Result<Means, Error> {
    let reach = if config.tools.allow_private_addresses { Reach::Everything } else { Reach::Public };
    Ok(Means {
        outbound: OutboundOptions { reach, ..OutboundOptions::default() },
        search: config.tools.web_search.clone(),
        workspace: workspace(config)?,
    })
}

/// Returns the folder that agents work in, created if needed; `None` when none is
/// configured.
pub(super) fn workspace(config: &Config) -> Result<Option<Workspace>, Error> {
    config.server.workspace.as_deref().map(|folder| opened(folder, config)).transpose()
}

fn opened(folder: &Path, config: &Config) -> Result<Workspace, Error> {
    let open = |()| Workspace::guarding(folder, guarded(folder, config));
    let opened = consort_log::private::create_folder(folder).and_then(open);
    opened.map_err(|error| Error::Workspace { folder: folder.to_owned(), reason: error.to_string() })
}
