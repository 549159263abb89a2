//! Files that tasks name. A compiled task has their sources; the engine finds the files when it accepts the run.

use std::path::PathBuf;

use crate::message::Attached;
use crate::requests::catalog::Models;
use crate::requests::mistake::Mistake;
use crate::requests::spec::{Spec, Task};

/// The maximum number of files attached to one message or task: all of them are sent with every question.
pub const ATTACHMENTS_MAX: usize = 20;

/// A file as a task names it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AttachmentSource {
    /// The id of an attachment of the run's owner; may be a template until the task is compiled.
    Id(String),
    /// A file of this machine. Only who writes the configuration, or a program, can name one.
    File(PathBuf),
}

impl AttachmentSource {
    /// Returns the id, if it is one.
    pub fn id(&self) -> Option<&str> {
        match self {
            AttachmentSource::Id(id) => Some(id),
            AttachmentSource::File(_) => None,
        }
    }

    /// Returns the source with its templates filled in.
    pub fn filled(&self, fill: &mut impl FnMut(&str) -> String) -> AttachmentSource {
        match self {
            AttachmentSource::Id(id) => AttachmentSource::Id(fill(id)),
            AttachmentSource::File(path) => AttachmentSource::File(path.clone()),
        }
    }
}

impl Spec {
    /// Gives the files of a run to every task that has none of its own and is done by a model.
    pub(crate) fn share_attachments(&mut self, of_run: &[AttachmentSource]) {
        for task in self.tasks.iter_mut().filter(|task| task.sources.is_empty() && task.handler.is_none()) {
            task.sources = of_run.to_vec();
        }
    }

    /// Returns the file that stands for a source, if a task has it.
    pub fn attached(&self, source: &AttachmentSource) -> Option<&Attached> {
        let id = source.id()?;
        self.tasks.iter().flat_map(|task| &task.attachments).find(|file| file.id == id)
    }

    /// Returns what its tasks name that was not found yet.
    pub fn attachment_sources(&self) -> Vec<&AttachmentSource> {
        let mut sources: Vec<_> = self.tasks.iter().flat_map(|task| &task.sources).collect();
        sources.sort();
        sources.dedup();
        sources
    }

    /// Puts the files that were found in the place of their sources; refuses pictures for models that cannot see.
    pub fn attach(
        &mut self,
        models: &Models,
        find: impl Fn(&AttachmentSource) -> Option<Attached>,
    ) -> Result<(), Vec<Mistake>> {
        let mut mistakes = Vec::new();
        for (index, task) in self.tasks.iter_mut().enumerate() {
            let found: Vec<Attached> = task.sources.drain(..).filter_map(|source| find(&source)).collect();
            task.attachments.extend(found);
            let model = models.get(task.model.as_ref().unwrap_or(&self.model));
            let seen = model.map_or(Ok(()), |model| model.check_sight(&task.attachments));
            mistakes.extend(seen.map_err(|mistake| Mistake { place: place(index), ..mistake }).err());
        }
        if mistakes.is_empty() { Ok(()) } else { Err(mistakes) }
    }
}

impl Task {
    /// Returns a mistake when it names too many files.
    pub(crate) fn too_many_attachments(&self) -> Option<String> {
        (self.sources.len() > ATTACHMENTS_MAX).then(|| format!("a task has at most {ATTACHMENTS_MAX} attachments"))
    }
}

fn place(index: usize) -> String {
    format!("tasks[{index}].attachments")
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::requests::catalog::ModelInfo;
    use crate::requests::compile::{Catalog, compile};
    use crate::requests::draft::{Draft, Ensemble, Request};
    use crate::requests::mistake::Code;

    fn id(id: &str) -> AttachmentSource {
        AttachmentSource::Id(id.to_owned())
    }

    fn attached(source: &AttachmentSource) -> Option<Attached> {
        let id = source.id()?.to_owned();
        let name = format!("{id}.png");
        let media_type = "image/png".to_owned();
        Some(Attached { id, name, media_type, bytes: 3 })
    }

    #[test]
    fn files_of_a_run_go_to_tasks_without_their_own_and_pictures_need_a_model_that_sees() {
        let seeing = ModelInfo { vision: true, ..ModelInfo::new("eyes", "demo") };
        let models = vec![Arc::new(seeing), Arc::new(ModelInfo::new("blind", "demo"))];
        let catalog = Catalog { models, ..Catalog::default() };
        let task = |name: &str| Draft { name: Some(name.to_owned()), description: "x".to_owned(), ..Draft::default() };
        let own = Draft { attachments: vec![id("{picture}")], ..task("b") };
        let ensemble = Ensemble { tasks: vec![task("a"), own], ..Ensemble::default() };
        let inputs = [("picture".to_owned(), "att-1".into())].into();
        let request = Request { inputs, attachments: vec![id("att-2")], ..Request::default() };
        let mut compiled = compile(&ensemble, request.clone(), &catalog).unwrap();
        assert_eq!(compiled.spec.attachment_sources(), [&id("att-1"), &id("att-2")]);
        compiled.spec.attach(&compiled.models, attached).unwrap();
        let ids: Vec<_> = compiled.spec.tasks.iter().map(|task| task.attachments[0].id.as_str()).collect();
        assert_eq!(ids, ["att-2", "att-1"]);
        assert!(compiled.spec.attachment_sources().is_empty());
        let blind = Ensemble { model: Some("blind".to_owned()), ..ensemble };
        let mut compiled = compile(&blind, request, &catalog).unwrap();
        let mistakes = compiled.spec.attach(&compiled.models, attached).unwrap_err();
        let told: Vec<_> = mistakes.iter().map(|mistake| (mistake.code, mistake.place.as_str())).collect();
        assert_eq!(
            told,
            [(Code::ModelCannotSee, "tasks[0].attachments"), (Code::ModelCannotSee, "tasks[1].attachments")]
        );
    }
}
