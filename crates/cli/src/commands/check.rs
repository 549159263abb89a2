//! `consort check`: reports whether a configuration is valid.

mod explain;

use std::path::Path;

use consort_config::{Config, Env, FILE_NAME, Spec};
use consort_tools::Toolbox;
use consort_tools::openapi::OpenApiError;

use crate::assemble;
use crate::exit::Exit;
use crate::output::{Output, Stream};

/// The output for a configuration without mistakes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Say {
    /// That it has none.
    Verdict,
    /// That, and the ensemble as a graph.
    Graph,
}

/// The schema of the configuration; a test makes it of the reader.
const SCHEMA: &str = include_str!("../../../../schemas/consort.schema.json");

/// Prints the schema of the configuration.
pub(crate) fn schema(output: Output<'_>) -> anyhow::Result<Exit> {
    write!(output.out, "{SCHEMA}")?;
    Ok(Exit::Done)
}

/// Checks the file that was named, or the one that would be used.
pub(crate) fn run(file: Option<&Path>, say: Say, env: &Env<'_>, output: Output<'_>) -> anyhow::Result<Exit> {
    match Config::find(file, env) {
        Ok(config) => {
            let name = match Config::file(file) {
                Some(file) => file.display().to_string(),
                None => format!("no {FILE_NAME}, so the built-in demo"),
            };
            let (operations, mistakes) = documents(&config, output.err)?;
            if mistakes > 0 {
                return Ok(Exit::Usage);
            }
            output.out.say(format_args!("{name}: ok ({})", summary(&config, operations)))?;
            if say == Say::Graph {
                let room = output.out.size().map(|(columns, _)| columns);
                write!(output.out, "\n{}", explain::explain(&config, room))?;
            }
            programs(&config, output.err)?;
            fallbacks(&config, output.err)?;
            call_on(&config, env, output.err)?;
            Ok(Exit::Done)
        }
        Err(mistakes) => {
            output.err.say(&mistakes)?;
            Ok(Exit::Usage)
        }
    }
}

/// Fetches the OpenAPI documents that are at an address, and reports what is wrong with them and which
/// operations are left out. Returns the number of tools they add, and the number of mistakes. One that
/// cannot be fetched from here may be there later, so that is no mistake.
fn documents(config: &Config, err: &mut Stream) -> anyhow::Result<(usize, usize)> {
    let mut operations = 0;
    let mut mistakes = 0;
    for api in &config.tools.openapi {
        match api.tools() {
            Ok(offered) => {
                for reason in &offered.left_out {
                    err.say(format_args!("warning: {}: {reason}", api.key("spec")))?;
                }
                operations += if matches!(api.spec, Spec::At(_)) { offered.tools.len() } else { 0 };
            }
            Err(error @ OpenApiError::Away(_)) => err.say(format_args!("warning: {}: {error}", api.key("spec")))?,
            Err(error) => {
                mistakes += 1;
                err.say(format_args!("{}: {error}", api.key(&error.key())))?;
            }
        }
    }
    Ok((operations, mistakes))
}

/// Reports the tasks that lose their tools when a fallback of their model is asked. That may be wanted, so it is no
/// mistake.
fn fallbacks(config: &Config, err: &mut Stream) -> anyhow::Result<()> {
    let Some(template) = &config.template else { return Ok(()) };
    let find = |alias: &str| config.models.iter().find(|model| model.info.alias == alias);
    for (index, task) in template.ensemble.tasks.iter().enumerate().filter(|(_, task)| !task.tools.is_empty()) {
        let alias = task.model.as_ref().or(template.ensemble.model.as_ref());
        let model = alias.map_or_else(|| config.models.first(), |alias| find(alias));
        let fallbacks = model.iter().flat_map(|model| &model.info.fallback).filter_map(|alias| find(alias));
        for other in fallbacks.filter(|other| !other.info.tools) {
            let alias = &other.info.alias;
            err.say(format_args!(
                "warning: ensemble.task[{index}].tools: the fallback `{alias}` cannot call them: it has `tools = false`"
            ))?;
        }
    }
    Ok(())
}

/// Reports the programs that cannot be run from here. They may be installed later, so this is no mistake.
fn programs(config: &Config, err: &mut Stream) -> anyhow::Result<()> {
    let Some(options) = &config.tools.run_command else { return Ok(()) };
    if let Err(reason) = assemble::sandbox(config) {
        err.say(format_args!("warning: tools.run_command: there is no such tool here: {reason}"))?;
    }
    for program in options.programs.iter().filter(|program| options.found(program).is_none()) {
        err.say(format_args!("warning: tools.run_command.programs: there is no `{program}` on this machine"))?;
    }
    Ok(())
}

/// Reports the MCP servers that cannot be reached from here, and their tools that
/// cannot be used. They may be reachable later, so this is no mistake.
fn call_on(config: &Config, env: &Env<'_>, err: &mut Stream) -> anyhow::Result<()> {
    if config.mcp.is_empty() {
        return Ok(());
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let (servers, _tools) = assemble::connect(config, env, Toolbox::default())?;
        servers.settled(assemble::START_MAX).await;
        for warning in assemble::warnings(&servers) {
            err.say(&warning)?;
        }
        servers.stop().await;
        Ok(())
    })
}

fn summary(config: &Config, operations: usize) -> String {
    let tasks = config.template.as_ref().map_or(0, |template| template.ensemble.tasks.len());
    let mut parts = vec![
        counted(config.models.len(), "model"),
        counted(config.tools.names().count() + operations, "tool"),
        counted(tasks, "task"),
    ];
    if !config.mcp.is_empty() {
        parts.push(counted(config.mcp.len(), "MCP server"));
    }
    parts.join(", ")
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::Reader;

    fn check(text: &str) -> (Exit, String, String) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE_NAME);
        std::fs::write(&path, text).unwrap();
        let mut out = Stream::memory(Reader::Program);
        let mut err = Stream::memory(Reader::Program);
        let exit = run(Some(&path), Say::Verdict, &|_| None, Output { out: &mut out, err: &mut err }).unwrap();
        let shown = |stream: Stream| stream.text().replace(&format!("{}/", folder.path().display()), "");
        (exit, shown(out), shown(err))
    }

    #[test]
    fn a_good_file_is_summed_up() {
        let text = "[models.a]\nprovider = 'demo'\nmodel = 'm'\n[tools]\nbuiltin = ['json']\n[mcp.x]\ncommand = 'y'\n";
        let ok = "consort.toml: ok (1 model, 1 tool, 0 tasks, 1 MCP server)\n";
        let (exit, out, err) = check(text);
        assert_eq!((exit, out.as_str()), (Exit::Done, ok));
        let warning = "warning: mcp.x: the MCP server `x` is not available: it could not be started: ";
        assert!(err.starts_with(warning) && err.lines().count() == 1, "{err}");
    }

    #[test]
    fn a_fallback_that_cannot_call_the_tools_of_a_task_is_warned_of() {
        let text = "[models.a]\nprovider = 'demo'\nmodel = 'm'\nfallback = ['b']\n\
            [models.b]\nprovider = 'demo'\nmodel = 'm'\ntools = false\n[tools]\nbuiltin = ['json']\n\
            [ensemble]\nname = 'x'\n[[ensemble.task]]\nname = 't'\ndescription = 'd'\ntools = ['json']\n\
            [[ensemble.task]]\nname = 'u'\ndescription = 'd'\n";
        let (exit, _, err) = check(text);
        let warning = "warning: ensemble.task[0].tools: the fallback `b` cannot call them: it has `tools = false`\n";
        assert_eq!((exit, err.as_str()), (Exit::Done, warning));
    }

    #[test]
    fn a_bad_file_is_told_line_by_line() {
        let expected = "\
            consort.toml:2:1: server.prot: unknown key; did you mean `port`?\n\
            consort.toml:3:1: server.host: must be a string, not a boolean\n\
            2 mistakes\n";
        assert_eq!(check("[server]\nprot = 1\nhost = true\n"), (Exit::Usage, String::new(), expected.to_owned()));
    }
}
