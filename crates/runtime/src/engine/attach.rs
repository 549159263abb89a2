//! The files of a new run: those its tasks name are found, and stored where they are files of this machine.

use std::collections::BTreeMap;
use std::path::Path;

use consort_core::attachments::AttachmentSource;
use consort_core::catalog::Models;
use consort_core::compile::Compiled;
use consort_core::message::Attached;
use consort_core::mistake::{Code, Mistake};
use consort_core::spec::Spec;
use consort_tools::attachments::{self, Attachment, Attachments};
use consort_tools::extract::MediaType;

use super::{Engine, Error};

/// The maximum size in bytes of a file that a configuration names: the usual limit of uploads.
const FILE_MAX: u64 = 20 * 1024 * 1024;

impl Engine {
    /// Returns the files that people attach to messages and runs.
    pub fn attachments(&self) -> Attachments {
        Attachments::new(self.seams().log.clone())
    }

    /// Stores a file for the owner that this handle acts for.
    pub async fn store_attachment(
        &self,
        file: (Option<&str>, &MediaType),
        bytes: &[u8],
    ) -> Result<Attachment, attachments::Error> {
        self.attachments().put(&self.owner(), file, bytes, self.seams().clock.now()).await
    }

    /// Returns the attachments with these ids, which must be those of the owner that this handle acts for.
    pub async fn attached(&self, ids: &[String]) -> Result<Vec<Attached>, Error> {
        let mut files = Vec::with_capacity(ids.len());
        let mut mistakes = Vec::new();
        for id in ids {
            match self.find_attachment(&AttachmentSource::Id(id.clone())).await? {
                Ok(file) => files.push(file),
                Err(reason) => mistakes.push(Mistake::new(Code::BadRequest, "attachments", reason)),
            }
        }
        if mistakes.is_empty() { Ok(files) } else { Err(Error::Mistakes(mistakes)) }
    }

    /// Finds the files that the tasks of a run name. An attachment must be the run's owner's; a file of this machine
    /// becomes one, which is erased with the run.
    pub async fn attach(&self, spec: &mut Spec, models: &Models) -> Result<(), Error> {
        let (found, mut mistakes) = self.find_attachments(spec.attachment_sources()).await?;
        let attached = spec.attach(models, |source| found.get(source).cloned());
        mistakes.extend(attached.err().unwrap_or_default());
        if mistakes.is_empty() { Ok(()) } else { Err(Error::Mistakes(mistakes)) }
    }

    /// Checks the attachments that the tasks of a run name, which is not started.
    pub async fn check_attachments(&self, compiled: &Compiled) -> Result<(), Error> {
        let mut spec = compiled.spec.clone();
        spec.tasks.iter_mut().for_each(|task| task.sources.retain(|source| source.id().is_some()));
        self.attach(&mut spec, &compiled.models).await
    }

    /// Finds files; returns those that are there, and a mistake for each other one.
    pub(super) async fn find_attachments(
        &self,
        sources: Vec<&AttachmentSource>,
    ) -> Result<(BTreeMap<AttachmentSource, Attached>, Vec<Mistake>), Error> {
        let mut found = BTreeMap::new();
        let mut mistakes = Vec::new();
        for source in sources {
            match self.find_attachment(source).await? {
                Ok(file) => drop(found.insert(source.clone(), file)),
                Err(reason) => mistakes.push(Mistake::new(Code::BadRequest, "attachments", reason)),
            }
        }
        Ok((found, mistakes))
    }

    async fn find_attachment(&self, source: &AttachmentSource) -> Result<Result<Attached, String>, Error> {
        let attachments = self.attachments();
        let found = match source {
            AttachmentSource::Id(id) => match attachments.get(id).await {
                Ok(found) if found.owner == self.owner() => Ok(found),
                Ok(_) => Err(attachments::Error::Unknown(id.clone())),
                Err(error) => Err(error),
            },
            AttachmentSource::File(path) => match read(path).await {
                Ok(bytes) => {
                    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
                    let file = (name.as_deref(), &MediaType::of_file(path));
                    self.store_attachment(file, &bytes).await
                }
                Err(reason) => return Ok(Err(reason)),
            },
        };
        match found {
            Ok(attachment) => Ok(Ok(attachment.attached())),
            Err(attachments::Error::Log(error)) => Err(error.into()),
            Err(error) => Ok(Err(error.to_string())),
        }
    }
}

/// Reads a file that the configuration names.
async fn read(path: &Path) -> Result<Vec<u8>, String> {
    let unread = |error: std::io::Error| format!("'{}' cannot be attached: {error}", path.display());
    let size = tokio::fs::metadata(path).await.map_err(unread)?.len();
    if size > FILE_MAX {
        return Err(format!(
            "'{}' cannot be attached: it has {size} bytes, and {FILE_MAX} are allowed",
            path.display()
        ));
    }
    tokio::fs::read(path).await.map_err(unread)
}
