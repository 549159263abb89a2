//! The context of a turn, besides its message: the instructions of the workspace, passages of documents and facts
//! about the user.

use consort_core::chat::UserMessage;
use consort_core::mistake::{Code, Mistake};
use consort_core::reach::INSTRUCTIONS;
use consort_core::text::Text;
use consort_tools::Hidden;
use consort_tools::collections::{self, Hit};

use super::{Chats, Error, Settings, Thread};

/// The part of a workspace's instructions that is read.
const ABOUT_MAX: usize = 32 * 1024;

/// The parts of a turn's context, each with its heading, and the sources of those that the user did not write.
#[derive(Default)]
pub(super) struct Context {
    pub(super) parts: Vec<(String, Text)>,
    pub(super) sources: Vec<String>,
}

/// Passages of documents a message is answered with.
const PASSAGES_MAX: usize = 8;

impl Chats {
    /// Checks a message, before anything is stopped for it.
    pub(super) async fn check(&self, thread: &Thread, message: &UserMessage) -> Result<(), Error> {
        if let Some(alias) = &message.model {
            self.0.settings.catalog.model(alias).map_err(Error::Mistake)?;
        }
        self.check_sight(thread, message).map_err(Error::Mistake)?;
        self.collections().check(&message.collections).await.map_err(unusable_collections)
    }

    /// Refuses pictures for a model that cannot see; a message that waits is refused at once, too.
    fn check_sight(&self, thread: &Thread, message: &UserMessage) -> Result<(), Mistake> {
        let Settings { rules, catalog, .. } = &self.0.settings;
        let first = || catalog.models.first().map(|model| &model.alias);
        let alias = message.model.as_ref().or(thread.model.as_ref()).or(rules.model.as_ref()).or_else(first);
        match alias.filter(|_| message.workflow.is_none() && !message.files.is_empty()) {
            Some(alias) => catalog.model(alias)?.first().map_or(Ok(()), |model| model.check_sight(&message.files)),
            None => Ok(()),
        }
    }

    /// Returns the context of this turn only: the instructions of the workspace, the passages of documents that match
    /// the message and, if the message asks for it, the facts about the user.
    pub(super) async fn context(&self, owner: &str, message: &UserMessage) -> Result<Context, Error> {
        let mut context = Context::default();
        if let Some(about) = self.about_workspace().await {
            context.parts.push(about);
            context.sources.push(INSTRUCTIONS.to_owned());
        }
        if let Some(documents) = self.documents(message).await? {
            context.parts.push(documents);
            context.sources.extend(message.collections.iter().cloned());
        }
        // The words of a file are not the words of the user, who only chose it.
        context.sources.extend(message.files.iter().map(|file| file.name.clone()));
        if message.remembers && message.workflow.is_none() {
            context.parts.extend(self.recall(owner, message.content.as_str()).await?);
        }
        Ok(context)
    }

    /// Returns the passages that match a message best.
    async fn documents(&self, message: &UserMessage) -> Result<Option<(String, Text)>, Error> {
        if message.collections.is_empty() {
            return Ok(None);
        }
        let hits = match self
            .collections()
            .search(message.content.as_str(), &message.collections, PASSAGES_MAX, self.now())
            .await
        {
            Ok(hits) => hits,
            Err(error) => return Err(unusable_collections(error)),
        };
        let passage = |hit: &Hit| {
            let Hit { title, collection, document, place, snippet, .. } = hit;
            format!("### {title} ({collection}, document {document}, {})\n{snippet}", place.words())
        };
        let text = hits.iter().map(passage).collect::<Vec<_>>().join("\n\n");
        Ok((!text.is_empty()).then(|| ("From the documents".to_owned(), text.into())))
    }

    /// Returns the workspace's instructions, which are untrusted text.
    async fn about_workspace(&self) -> Option<(String, Text)> {
        match self.0.settings.workspace.as_ref()?.text(INSTRUCTIONS).await {
            Ok(text) => {
                let shown = &text[..text.floor_char_boundary(ABOUT_MAX)];
                Some((format!("About this workspace ({INSTRUCTIONS})"), shown.into()))
            }
            Err(Hidden::Missing) => None,
            Err(error) => {
                tracing::warn!(%error, "{INSTRUCTIONS} of the workspace is not shown");
                None
            }
        }
    }
}

/// Says why documents cannot be searched, as the mistake of a message where it is one.
fn unusable_collections(error: collections::Error) -> Error {
    match error {
        collections::Error::Log(error) => error.into(),
        collections::Error::Invalid(_)
        | collections::Error::Exists(_)
        | collections::Error::TooMany
        | collections::Error::NoDocument { .. }
        | collections::Error::Unsupported(_)
        | collections::Error::Busy
        | collections::Error::Unknown { .. } => {
            Error::Mistake(Mistake::new(Code::BadRequest, "collections", error.to_string()))
        }
    }
}
