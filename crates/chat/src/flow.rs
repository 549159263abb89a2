//! Turns that a saved workflow answers in the place of the chat agent.

use consort_core::chat::{self, Flow, Order};
use consort_core::compile::{Catalog, Compiled};
use consort_core::mistake::{Code, Mistake};
use consort_core::nested;
use consort_runtime::workflows::{self, Workflows};

use super::{Chats, Error};

/// The field of a message that names a workflow.
const FIELD: &str = "workflow_id";

impl Chats {
    /// Compiles a turn that a saved workflow answers.
    pub(super) async fn as_workflow(&self, mut order: Order, id: &str) -> Result<Compiled, Error> {
        let workflows = Workflows::of(&self.0.engine);
        let unknown = |error: workflows::Error| {
            if let workflows::Error::Log(error) = error {
                return error.into();
            }
            Error::Mistake(Mistake::new(Code::BadRequest, FIELD, error.to_string()))
        };
        let saved = workflows.get(id).await.map_err(unknown)?;
        order.turn.workflow = Some(Flow { id: saved.id, version: saved.version });
        let rules = &self.settings().rules;
        let document = &saved.entry.document;
        let nested = workflows.for_catalog(nested::named_in(&document.tasks)).await.map_err(unknown)?;
        let catalog = Catalog { workflows: nested, ..self.catalog() };
        let compiled = chat::compile_workflow(order, document, rules, &catalog);
        compiled.map_err(|mistakes| Error::Mistake(together(&mistakes)))
    }
}

/// Joins several mistakes into one; a saved workflow may have lost its tools or models
/// since.
fn together(mistakes: &[Mistake]) -> Mistake {
    let code = mistakes.first().map_or(Code::BadRequest, |mistake| mistake.code);
    let reasons: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
    Mistake::new(code, FIELD, format!("the workflow cannot answer: {}", reasons.join("; ")))
}
