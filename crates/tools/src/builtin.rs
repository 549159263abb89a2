//! The tools that come with Consort: the one place that lists them. Configuration and
//! library take their names, descriptions and constructors from here.

use std::sync::Arc;

use consort_core::catalog::ToolInfo;
use consort_core::own_tool::OwnTool;
use consort_http::outbound::{Outbound, OutboundOptions, SystemNames};
use consort_log::clock::Clock;
use strum::VariantArray;

use crate::http::{HttpToolError, http_client};
use crate::{
    Calculator, DateTime, EditFile, Git, HttpFetch, Json, ListFiles, ReadFile, Sandbox, SearchFiles, Tool, WebSearch,
    WebSearchOptions, Workspace, WriteFile,
};

/// A tool that comes with Consort.
#[derive(Clone, Copy, Debug, PartialEq, Eq, VariantArray)]
pub enum Builtin {
    /// Calculates.
    Calculator,
    /// Returns the date and time.
    Datetime,
    /// Looks up values in JSON.
    Json,
    /// Fetches a page.
    HttpFetch,
    /// Searches the web.
    WebSearch,
    /// Reads a file of the workspace.
    ReadFile,
    /// Lists files of the workspace.
    ListFiles,
    /// Writes a file of the workspace.
    WriteFile,
    /// Changes a file of the workspace.
    EditFile,
    /// Searches files of the workspace.
    SearchFiles,
    /// Reads the repository of the workspace.
    Git,
    /// Asks a person.
    HumanInput,
}

/// The requirement of a built-in tool besides its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// Nothing.
    Nothing,
    /// The web.
    Web,
    /// A search service.
    Search,
    /// A folder to work in.
    Workspace,
    /// A folder to work in, and a sandbox for a program.
    Sandbox,
    /// A run, which performs it itself.
    Run,
}

/// The parts that built-in tools are built with. A tool whose part is absent is not built.
#[derive(Clone, Default)]
pub struct Means {
    /// The limits of requests to addresses that models name.
    pub outbound: OutboundOptions,
    /// The search service.
    pub search: Option<WebSearchOptions>,
    /// The folder to work in.
    pub workspace: Option<Workspace>,
    /// The sandbox for programs.
    pub sandbox: Option<Sandbox>,
}

impl Builtin {
    /// All of them, in the order in which they are listed.
    pub const ALL: &[Builtin] = <Builtin as VariantArray>::VARIANTS;

    /// Returns its name.
    pub fn name(self) -> &'static str {
        match self {
            Builtin::Calculator => "calculator",
            Builtin::Datetime => "datetime",
            Builtin::Json => "json",
            Builtin::HttpFetch => "http_fetch",
            Builtin::WebSearch => "web_search",
            Builtin::ReadFile => "read_file",
            Builtin::ListFiles => "list_files",
            Builtin::WriteFile => "write_file",
            Builtin::EditFile => "edit_file",
            Builtin::SearchFiles => "search_files",
            Builtin::Git => "git",
            Builtin::HumanInput => OwnTool::HumanInput.name(),
        }
    }

    /// Returns the tool of this name.
    pub fn named(name: &str) -> Option<Builtin> {
        Builtin::ALL.iter().copied().find(|builtin| builtin.name() == name)
    }

    /// Returns its description.
    pub fn info(self) -> ToolInfo {
        match self {
            Builtin::Calculator => (**Calculator::default().info()).clone(),
            Builtin::Datetime => (**DateTime::new(Clock::system()).info()).clone(),
            Builtin::Json => (**Json::default().info()).clone(),
            Builtin::HttpFetch => HttpFetch::description(),
            Builtin::WebSearch => WebSearch::description(),
            Builtin::ReadFile => ReadFile::description(),
            Builtin::ListFiles => ListFiles::description(),
            Builtin::WriteFile => WriteFile::description(),
            Builtin::EditFile => EditFile::description(),
            Builtin::SearchFiles => SearchFiles::description(),
            Builtin::Git => Git::description(),
            Builtin::HumanInput => (*OwnTool::HumanInput.info()).clone(),
        }
    }

    /// Returns what it needs.
    pub fn needs(self) -> Needs {
        match self {
            Builtin::Calculator | Builtin::Datetime | Builtin::Json => Needs::Nothing,
            Builtin::HttpFetch => Needs::Web,
            Builtin::WebSearch => Needs::Search,
            Builtin::ReadFile | Builtin::ListFiles | Builtin::WriteFile | Builtin::EditFile | Builtin::SearchFiles => {
                Needs::Workspace
            }
            Builtin::Git => Needs::Sandbox,
            Builtin::HumanInput => Needs::Run,
        }
    }

    /// Builds it; `None` where its part of the means is absent, or a run performs it itself.
    pub fn build(self, means: &Means) -> Result<Option<Arc<dyn Tool>>, HttpToolError> {
        let file = |make: fn(&Workspace) -> Arc<dyn Tool>| means.workspace.as_ref().map(make);
        Ok(match self {
            Builtin::Calculator => Some(Arc::new(Calculator::default())),
            Builtin::Datetime => Some(Arc::new(DateTime::new(Clock::system()))),
            Builtin::Json => Some(Arc::new(Json::default())),
            Builtin::HttpFetch => Some(Arc::new(fetch(means)?)),
            Builtin::WebSearch => match &means.search {
                Some(options) => Some(Arc::new(WebSearch::new(http_client()?, options.clone())?)),
                None => None,
            },
            Builtin::ReadFile => file(|workspace| Arc::new(ReadFile::new(workspace))),
            Builtin::ListFiles => file(|workspace| Arc::new(ListFiles::new(workspace))),
            Builtin::WriteFile => file(|workspace| Arc::new(WriteFile::new(workspace))),
            Builtin::EditFile => file(|workspace| Arc::new(EditFile::new(workspace))),
            Builtin::SearchFiles => file(|workspace| Arc::new(SearchFiles::new(workspace))),
            Builtin::Git => match (&means.workspace, &means.sandbox) {
                (Some(workspace), Some(sandbox)) => {
                    Git::new(workspace, sandbox).map(|git| Arc::new(git) as Arc<dyn Tool>)
                }
                (Some(_) | None, Some(_) | None) => None,
            },
            Builtin::HumanInput => None,
        })
    }
}

fn fetch(means: &Means) -> Result<HttpFetch, HttpToolError> {
    let outbound = Outbound::new(means.outbound.clone(), Arc::new(SystemNames));
    outbound.map(HttpFetch::new).map_err(|error| HttpToolError::Client(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_is_built_with_its_means_and_is_described_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let search = WebSearchOptions { url: "https://search.example.org/?q={query}".to_owned(), api_key: None };
        let workspace = Some(Workspace::open(folder.path()).unwrap());
        let sandbox = Some(Sandbox::find().unwrap());
        let means = Means { search: Some(search), workspace, sandbox, ..Means::default() };
        for builtin in Builtin::ALL.iter().copied() {
            assert_eq!((builtin.info().name.as_str(), Builtin::named(builtin.name())), (builtin.name(), Some(builtin)));
            let built = builtin.build(&means).unwrap();
            assert_eq!(built.is_none(), builtin.needs() == Needs::Run, "{builtin:?}");
            // Where calls go is known only to the tool that was built.
            let reach = || builtin.info().reach;
            let described = built.map(|tool| ToolInfo { reach: reach(), ..ToolInfo::clone(tool.info()) });
            assert!(described.is_none_or(|info| info == builtin.info()), "{builtin:?}");
        }
    }

    #[test]
    fn a_tool_without_its_means_is_not_built() {
        for builtin in Builtin::ALL.iter().copied() {
            let built = builtin.build(&Means::default()).unwrap().is_some();
            assert_eq!(built, matches!(builtin.needs(), Needs::Nothing | Needs::Web), "{builtin:?}");
        }
    }
}
