//! The outside resources that an ensemble may touch: a folder to work in, the web, and
//! a folder for traces.

use std::path::{Path, PathBuf};

use consort_core::mistake::{Code, Mistake};
use consort_runtime::traces::Traces;
use consort_tools::{Builtin, Means, Needs, Sandbox, WebSearchOptions, Workspace};

use crate::builder::EnsembleBuilder;
use crate::catalog::ToolCatalog;

/// The outside resources as they were configured.
#[derive(Default)]
pub(crate) struct Resources {
    workspace: Option<PathBuf>,
    traces: Option<PathBuf>,
    fetches: bool,
    search: Option<WebSearchOptions>,
}

/// The outside resources, opened.
#[derive(Default)]
pub(crate) struct Opened {
    pub(crate) tools: ToolCatalog,
    pub(crate) workspace: Option<Workspace>,
    pub(crate) traces: Option<Traces>,
    pub(crate) mistakes: Vec<Mistake>,
}

impl EnsembleBuilder {
    /// Lets tasks work in this folder, which is created if needed, and nowhere else: adds
    /// `read_file`, `list_files`, `write_file`, `edit_file`, `search_files` and, where git and a sandbox
    /// (bubblewrap) are there, `git`.
    ///
    /// ```
    /// use consort::{Ensemble, Line, ScriptedModel, Task};
    /// use serde_json::json;
    ///
    /// # #[tokio::main]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let home = tempfile::tempdir()?;
    /// # let folder = home.path().join("work");
    /// let write = json!({ "path": "notes/tea.md", "content": "Green, black, white\n" });
    /// let model = ScriptedModel::new().calls("1.0", "write_file", &write).says("1.1", "Noted.");
    /// let ensemble = Ensemble::builder()
    ///     .model("script", model)
    ///     .workspace(&folder)
    ///     .task(Task::builder("Take notes about tea").tools(["read_file", "write_file"]))
    ///     .build()?;
    /// ensemble.start(()).await?.finished().await?;
    /// assert_eq!(std::fs::read_to_string(folder.join("notes/tea.md"))?, "Green, black, white\n");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn workspace(mut self, folder: impl AsRef<Path>) -> EnsembleBuilder {
        self.outside.workspace = Some(folder.as_ref().to_owned());
        self
    }

    /// Adds `http_fetch`, which reads pages of the public web as Markdown;
    /// addresses of this machine and of private networks are refused.
    #[must_use]
    pub fn http_fetch(mut self) -> EnsembleBuilder {
        self.outside.fetches = true;
        self
    }

    /// Adds `web_search` over the service at this address, where `{query}` stands for the
    /// search terms.
    #[must_use]
    pub fn web_search(mut self, url: &str) -> EnsembleBuilder {
        self.outside.search = Some(WebSearchOptions { url: url.to_owned(), api_key: None });
        self
    }

    /// Adds `web_search` over a service that requires a key.
    #[must_use]
    pub fn web_search_with_key(mut self, url: &str, key: &str) -> EnsembleBuilder {
        self.outside.search = Some(WebSearchOptions { url: url.to_owned(), api_key: Some(key.to_owned()) });
        self
    }

    /// Writes the trace of every run that has ended to this folder, which is created if
    /// needed: `<ensemble id>.trace.json`, and the graph of its tasks beside it.
    /// [`Request::capture`](crate::Request::capture) sets the level of detail.
    #[must_use]
    pub fn trace_dir(mut self, folder: impl AsRef<Path>) -> EnsembleBuilder {
        self.outside.traces = Some(folder.as_ref().to_owned());
        self
    }
}

impl Resources {
    /// Opens all of them; failures are collected.
    pub(crate) fn open(self) -> Opened {
        let mut opened = Opened::default();
        if let Some(path) = self.workspace {
            let workspace = consort_log::private::create_folder(&path).and_then(|()| Workspace::open(&path));
            opened.workspace = opened.or_noted("workspace", workspace.map_err(|error| unusable(&path, &error)));
        }
        let fetches = self.fetches;
        let workspace = opened.workspace.clone();
        let sandbox = workspace.as_ref().and_then(|_| Sandbox::find().ok());
        let means = Means { search: self.search, workspace, sandbox, ..Means::default() };
        let of_workspace = |builtin: &Builtin| matches!(builtin.needs(), Needs::Workspace | Needs::Sandbox);
        let files = Builtin::ALL.iter().copied().filter(of_workspace);
        let web = Builtin::ALL.iter().copied().filter(|builtin| match builtin.needs() {
            Needs::Web => fetches,
            Needs::Search => true,
            Needs::Nothing | Needs::Workspace | Needs::Sandbox | Needs::Run => false,
        });
        for builtin in files.chain(web) {
            let built = builtin.build(&means).map_err(|error| error.to_string());
            let tool = opened.or_noted(builtin.name(), built).flatten();
            opened.tools.0.extend(tool);
        }
        if let Some(path) = self.traces {
            let traces = Traces::open(&path).map_err(|error| unusable(&path, &error));
            opened.traces = opened.or_noted("trace_dir", traces);
        }
        opened
    }
}

impl Opened {
    fn or_noted<T>(&mut self, place: &str, result: Result<T, String>) -> Option<T> {
        result.map_err(|reason| self.mistakes.push(Mistake::new(Code::BadRequest, place, reason))).ok()
    }
}

fn unusable(folder: &Path, error: &std::io::Error) -> String {
    format!("cannot use the folder {}: {error}", folder.display())
}
