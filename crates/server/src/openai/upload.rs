//! The files of a request of OpenAI's clients: they are stored as uploads are, and attached to the message or the run.

use std::mem;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{FromRequest, Request};
use consort_core::message::Attached;
use consort_runtime::engine::Engine;
use consort_tools::{attachments, busy};
use serde_json::{Map, Value};

use super::Edge;
use super::files::Brought;
use super::request::ClientRequest;
use super::split_body::SplitBody;
use crate::Site;
use crate::body::{self, json_or_untyped};
use crate::once;
use consort_inbound::body_memory::Hold;
use consort_inbound::problem::{Code, More, Problem};

impl Edge {
    /// Stores the files of a request for its owner, and attaches them.
    pub(super) async fn upload(&self, asked: &mut ClientRequest) -> Result<(), Problem> {
        let brought = mem::take(&mut asked.brought);
        let counted = mem::take(&mut asked.counted);
        let runs = self.runs.clone();
        let max = self.site.server.max_attachment_bytes;
        // To its end even when the client is gone: only then is the memory of the files free again.
        let stored = async move {
            let stored = uploaded(&runs, &brought, max).await;
            drop(counted);
            stored
        };
        asked.files = self.site.keys.spawn(stored).await.map_err(|_| once::stopping())??;
        Ok(())
    }
}

async fn uploaded(runs: &Engine, brought: &[Brought], max: usize) -> Result<Vec<Attached>, Problem> {
    let mut ids = Vec::with_capacity(brought.len());
    for file in brought {
        ids.push(match file {
            Brought::Stored(id) => id.clone(),
            Brought::Inline { bytes, place, .. } if bytes.len() > max => {
                let message = format!("a file of {} bytes; [server] max_attachment_bytes allows {max}", bytes.len());
                return Err(at(place, Problem::new(Code::PayloadTooLarge, message)));
            }
            Brought::Inline { name, kind, bytes, place, .. } => {
                let stored = runs.store_attachment((name.as_deref(), kind), bytes).await;
                stored.map_err(|error| refused(error, place))?.id
            }
        });
    }
    Ok(runs.attached(&ids).await?)
}

/// Returns the problem of a file that is not stored.
fn refused(error: attachments::Error, place: &str) -> Problem {
    let is_of_file = matches!(error, attachments::Error::Empty | attachments::Error::Unsupported(_));
    let problem = Problem::from(error);
    if is_of_file { at(place, problem) } else { problem }
}

fn at(place: &str, problem: Problem) -> Problem {
    problem.with(More { param: Some(place.to_owned()), ..More::default() })
}

/// A request body that may hold files.
pub(super) struct SentWithFiles {
    /// The memory of the body.
    counted: Bytes,
    /// The body without its files.
    value: Value,
    /// The texts of its files.
    texts: Vec<Bytes>,
    /// The memory of the value.
    _hold: Option<Hold>,
}

impl FromRequest<Arc<Site>> for SentWithFiles {
    type Rejection = Problem;

    async fn from_request(request: Request, site: &Arc<Site>) -> Result<SentWithFiles, Problem> {
        let is_typed = json_or_untyped(request.headers());
        let (body, counted) = body::read_apart(site, request).await?;
        let is_large = body.len() > busy::BYTES;
        let SplitBody { json, files } =
            if is_large { busy::in_place(|| SplitBody::of(&body)) } else { SplitBody::of(&body) };
        let max = site.server.max_body_bytes;
        if json.len() > max {
            let rest = json.len();
            let message = format!("the body without its files has {rest} bytes; [server] max_body_bytes allows {max}");
            return Err(Problem::new(Code::PayloadTooLarge, message));
        }
        let hold = site.memory.values(&json).await?;
        Ok(SentWithFiles { value: body::parsed(&json, is_typed)?, texts: files, counted, _hold: hold })
    }
}

impl SentWithFiles {
    /// Reads the request in it, with its files.
    pub(super) fn asked(
        self,
        read: impl FnOnce(&Map<String, Value>) -> Result<ClientRequest, Problem>,
    ) -> Result<ClientRequest, Problem> {
        let fields = self.value.as_object().ok_or_else(body::no_object)?;
        let whole = || {
            let mut asked = read(fields)?;
            asked.brought.iter_mut().try_for_each(|file| file.fill(&self.texts))?;
            Ok::<_, Problem>(asked)
        };
        // A message without files is short enough for any thread.
        let asked: ClientRequest = if self.texts.is_empty() { whole() } else { busy::in_place(whole) }?;
        Ok(ClientRequest { counted: self.counted, ..asked })
    }
}
