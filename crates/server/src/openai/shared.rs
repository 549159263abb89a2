//! The work of shared tools and tasks, which clients of other protocols ask for.

use consort_core::catalog::ToolInfo;
use consort_core::compile::Compiled;
use consort_core::draft::{Draft, Ensemble};
use consort_core::request::{self, Submission};
use consort_runtime::engine::DirectCall;
use consort_tools::{Answer, busy};
use serde_json::Value;

use super::Edge;
use crate::offers::INPUT;
use crate::routes::capabilities::variables;
use crate::routes::submit::trace;
use consort_inbound::problem::{Code, Problem};

impl Edge {
    /// Returns the run of one shared task, as this request wants it.
    pub(crate) fn shared_task(&self, draft: &Draft, request: &Value) -> Result<Compiled, Problem> {
        let mut draft = Draft { context: Vec::new(), ..draft.clone() };
        let has_input = request.get("inputs").is_some_and(|inputs| inputs.get(INPUT).is_some());
        if variables(&draft).is_empty() && has_input {
            draft.additional_context = Some(format!("{{{INPUT}}}"));
        }
        let ensemble = Ensemble { tasks: vec![draft], workflow: None, ..self.site.server.ensemble.clone() };
        let read = || request::read(request, &ensemble, &self.site.catalog());
        match busy::in_place(read)? {
            Submission::Run(compiled) | Submission::DryRun(compiled) => Ok(compiled),
        }
    }

    /// Calls a shared tool; returns its result as text and data, or the reason why it failed.
    pub(crate) async fn call(
        &self,
        tool: &ToolInfo,
        args: Value,
    ) -> Result<Result<(String, Option<Value>), String>, Problem> {
        let violations = busy::in_place(|| tool.schema.violations(&args));
        if !violations.is_empty() {
            return Err(Problem::new(Code::InvalidInput, violations.join("; ")));
        }
        let site = &self.site;
        site.engine().check_open()?;
        let patience = site.server.tool_patience;
        let traceparent = trace(&self.headers);
        let direct = DirectCall { tool, args, traceparent: traceparent.as_deref(), patience };
        let called = site.engine().call(direct).await?;
        tracing::info!(tool = tool.name, by = self.caller.0, "a shared tool was called");
        Ok(match called.answer {
            Some(Answer::Done { text, data }) => Ok((text, data)),
            Some(Answer::Failed(reason) | Answer::Unknown(reason) | Answer::Late { why: reason, .. }) => Err(reason),
            None => Err(format!("no answer within {patience:?}")),
        })
    }
}
