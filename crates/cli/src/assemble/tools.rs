//! The tools of a configuration.

use std::path::Path;

use consort_config::{self as config, Builtin, Config};
use consort_http::outbound::{OutboundOptions, Reach};
use consort_tools::mcp::Transport;
use consort_tools::openapi::{ApiTool, OpenApiError};
use consort_tools::{self as tool, HttpTool, Means, Pipeline, RunCommand, Sandbox, Step, Toolbox, Workspace};

use super::Error;

/// Returns every tool that agents can call, except those that a run executes itself.
pub(crate) fn tools(config: &Config) -> Result<Toolbox, Error> {
    let sandbox = sandbox(config);
    let means = Means { sandbox: sandbox.clone().ok(), ..means(config)? };
    let mut toolbox = Toolbox::default();
    for builtin in &config.tools.builtin {
        if let Some(tool) = builtin.build(&means)? {
            toolbox = toolbox.with(tool)?;
        }
    }
    if let (Some(options), Some(workspace)) = (&config.tools.run_command, &means.workspace) {
        match &sandbox {
            Ok(sandbox) => toolbox = toolbox.with(RunCommand::new(workspace, sandbox, options.clone()))?,
            Err(reason) => tracing::warn!(%reason, "there is no run_command: no sandbox works here"),
        }
    }
    if !config.tools.http.is_empty() || !config.tools.openapi.is_empty() {
        let client = tool::http_client()?;
        for tool in &config.tools.http {
            let made = HttpTool::new(client.clone(), tool.info.clone(), tool.endpoint.clone());
            toolbox = toolbox.with(made)?;
        }
        for tool in operations(config)? {
            toolbox = toolbox.with(HttpTool::new(client.clone(), tool.info, tool.endpoint))?;
        }
    }
    // Each comes after its steps.
    for pipeline in &config.tools.pipelines {
        let made = made(&toolbox, pipeline)?;
        toolbox = toolbox.with(made)?;
    }
    Ok(toolbox)
}

/// Finds a sandbox for the tools that need one, or returns the reason why there is none.
pub(crate) fn sandbox(config: &Config) -> Result<Sandbox, String> {
    let is_needed = config.tools.run_command.is_some() || config.tools.builtin.contains(&Builtin::Git);
    if is_needed && config.server.workspace.is_some() { Sandbox::find() } else { Err("nothing needs one".to_owned()) }
}

/// Returns the tools of all OpenAPI documents, fetching those that are at an address.
fn operations(config: &Config) -> Result<Vec<ApiTool>, Error> {
    let mut all = Vec::new();
    for api in &config.tools.openapi {
        let wrong = |error: OpenApiError| Error::OpenApi { key: api.key(&error.key()), reason: error.to_string() };
        let offered = api.tools().map_err(wrong)?;
        for reason in &offered.left_out {
            tracing::warn!(api = api.options.name, "{reason}");
        }
        all.extend(offered.tools);
    }
    Ok(all)
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
        let path = path.canonicalize().ok()?;
        let folder = folder.canonicalize().ok()?;
        let name = path.is_file().then(|| path.file_name()).flatten()?;
        path.starts_with(folder).then(|| name.to_string_lossy().into_owned())
    };
    config.sources.iter().cloned().chain(programs).filter_map(inside).collect()
}

/// Returns the addresses that a model or a client may name.
pub(super) fn reach(config: &Config) -> Reach {
    if config.tools.allow_private_addresses { Reach::Everything } else { Reach::Public }
}

/// Returns the parts that the built-in tools of a configuration are built with.
fn means(config: &Config) -> Result<Means, Error> {
    Ok(Means {
        outbound: OutboundOptions { reach: reach(config), ..OutboundOptions::default() },
        search: config.tools.web_search.clone(),
        workspace: workspace(config)?,
        sandbox: None,
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
