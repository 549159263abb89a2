//! The author of the answer to a message: the chat agent, or a saved workflow.

use consort_core::chat::{self, Flow, Order};
use consort_core::compile::Compiled;
use consort_core::mistake::{Code, Mistake};
use consort_runtime::workflows::{self, Workflows};

use super::{Chats, Error};

/// The field of a message that names a workflow.
const FIELD: &str = "workflow_id";

impl Chats {
    /// Compiles a turn of the chat agent or of a workflow; warnings are logged.
    pub(super) async fn compiled(&self, order: Order, workflow: Option<&str>) -> Result<Compiled, Error> {
        let compiled = match workflow {
            None => chat::compile(order, &self.settings().rules, &self.catalog()).map_err(Error::Mistake)?,
            Some(id) => self.as_workflow(order, id).await?,
        };
        for warning in &compiled.warnings {
            tracing::warn!(thread = compiled.spec.tags.get("thread"), warning, "a turn is not all it could be");
        }
        Ok(compiled)
    }

    async fn as_workflow(&self, mut order: Order, id: &str) -> Result<Compiled, Error> {
        let saved = match Workflows::of(&self.0.engine).get(id).await {
            Ok(saved) => saved,
            Err(workflows::Error::Log(error)) => return Err(error.into()),
            Err(unknown) => return Err(Error::Mistake(Mistake::new(Code::BadRequest, FIELD, unknown.to_string()))),
        };
        order.turn.workflow = Some(Flow { id: saved.id, version: saved.version });
        let rules = &self.settings().rules;
        let compiled = chat::compile_workflow(order, &saved.entry.document, rules, &self.catalog());
        compiled.map_err(|mistakes| Error::Mistake(together(&mistakes)))
    }
}

/// Joins several mistakes into one; a saved workflow may have lost its tools or models
/// since.
fn together(mistakes: &[Mistake]) -> Mistake {
    let code = mistakes.first().map_or(Code::BadRequest, |mistake| mistake.code);
    let told: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
    Mistake::new(code, FIELD, format!("the workflow cannot answer: {}", told.join("; ")))
}
