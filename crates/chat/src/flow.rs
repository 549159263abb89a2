//! The author of the answer to a message: the chat agent, or a saved workflow.

use consort_core::chat::{self, Flow, Order, Say};
use consort_core::compile::{Catalog, Compiled};
use consort_core::mistake::{Code, Mistake};
use consort_core::nested;
use consort_runtime::workflows::{self, Workflows};

use super::{Chats, Error, Settings, Thread};

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

    /// Refuses pictures for a model that cannot see; a message that waits is refused at once, too.
    pub(super) fn check_sight(&self, thread: &Thread, say: &Say) -> Result<(), Mistake> {
        let Settings { rules, catalog, .. } = &self.0.settings;
        let first = || catalog.models.first().map(|model| &model.alias);
        let alias = say.model.as_ref().or(thread.model.as_ref()).or(rules.model.as_ref()).or_else(first);
        match alias.filter(|_| say.workflow.is_none() && !say.files.is_empty()) {
            Some(alias) => catalog.model(alias)?.first().map_or(Ok(()), |model| model.check_sight(&say.files)),
            None => Ok(()),
        }
    }

    async fn as_workflow(&self, mut order: Order, id: &str) -> Result<Compiled, Error> {
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
    let told: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
    Mistake::new(code, FIELD, format!("the workflow cannot answer: {}", told.join("; ")))
}
