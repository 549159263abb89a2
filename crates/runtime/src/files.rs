//! Files of a conversation on their way to a model: as they are, where it takes them so, else
//! their text. One that cannot be sent is told of in words.

use std::collections::BTreeMap;
use std::sync::Arc;

use consort_core::catalog::ModelInfo;
use consort_core::message::{Attached, Message};
use consort_models::File;
use consort_tools::Picture;
use consort_tools::attachments::{Attachments, is_picture};
use consort_tools::extract::{MediaType, PDF};

use crate::effects::Stage;

/// The maximum number of bytes of files in one request, in base64 or as text: the smallest
/// limit of the providers. Older files are left out first.
const SENT_BYTES_MAX: usize = 32 * 1024 * 1024;

/// A conversation, and the bytes of the files in it that are sent as they are.
pub(crate) type Sent = (Arc<Vec<Message>>, Arc<BTreeMap<String, File>>);

/// Returns the conversation as it is sent to a model.
pub(crate) async fn attach(messages: Arc<Vec<Message>>, model: Option<&ModelInfo>, attachments: &Attachments) -> Sent {
    if !messages.iter().any(|message| matches!(message, Message::Files { .. })) {
        return (messages, Arc::default());
    }
    // In a box, as whatever most calls do without: each that is under way is as large as all that it may wait for.
    Box::pin(with_files(messages, model, attachments)).await
}

async fn with_files(messages: Arc<Vec<Message>>, model: Option<&ModelInfo>, attachments: &Attachments) -> Sent {
    let mut reader = Reader { attachments, model, room: SENT_BYTES_MAX };
    let mut shown = Vec::new();
    for message in messages.iter().rev() {
        if let Message::Files { files } = message {
            let mut read = Vec::with_capacity(files.len());
            for file in files {
                read.push((file.clone(), reader.read(file).await));
            }
            shown.push(read);
        }
    }
    let mut told = SentConversation::default();
    for message in messages.iter() {
        match message {
            Message::Files { .. } => shown.pop().into_iter().flatten().for_each(|(file, read)| told.show(file, read)),
            Message::System { .. } | Message::User { .. } | Message::Assistant(_) | Message::Tool { .. } => {
                told.say(message.clone());
            }
        }
    }
    told.settle();
    (Arc::new(told.messages), Arc::new(told.files))
}

/// Stores the pictures that a tool shows, as attachments that the run uses. One that cannot be stored is left
/// out: the text of the result speaks of it.
pub(crate) async fn keep(pictures: Vec<Picture>, stage: &Stage) -> Vec<Attached> {
    if pictures.is_empty() { Vec::new() } else { Box::pin(stored(pictures, stage)).await }
}

async fn stored(pictures: Vec<Picture>, stage: &Stage) -> Vec<Attached> {
    let attachments = Attachments::new(stage.seams.log.clone());
    let now = stage.seams.clock.now();
    let mut files = Vec::with_capacity(pictures.len());
    for Picture { media_type, bytes } in pictures {
        let kind = MediaType::parse(&media_type);
        let stored = match is_picture(&kind.essence) {
            true => attachments.put(&stage.owner, (None, &kind), &bytes, now).await,
            false => continue,
        };
        match stored {
            Ok(attachment) => files.push(attachment.attached()),
            Err(error) => tracing::warn!(run = %stage.run, %error, "a picture of a tool cannot be shown"),
        }
    }
    let used = files.iter().map(|file: &Attached| file.id.as_str()).collect();
    if let Err(error) = attachments.note_use(&used, &stage.run, now).await {
        tracing::warn!(run = %stage.run, %error, "pictures of a tool are erased after a day");
    }
    files
}

/// A file as a model gets it.
enum Read {
    Native(File),
    Text(Arc<str>),
    Unreadable(String),
}

struct Reader<'a> {
    attachments: &'a Attachments,
    model: Option<&'a ModelInfo>,
    /// The number of bytes that can still be sent.
    room: usize,
}

impl Reader<'_> {
    async fn read(&mut self, file: &Attached) -> Read {
        let read = match self.fetch(file).await {
            Ok(read) => read,
            Err(error) => return Read::Unreadable(error.to_string()),
        };
        let size = match &read {
            Read::Native(file) => file.base64.len(),
            Read::Text(text) => text.len(),
            Read::Unreadable(_) => 0,
        };
        match self.room.checked_sub(size) {
            Some(room) => {
                self.room = room;
                read
            }
            None => Read::Unreadable("there are too many files in this conversation to send them all".to_owned()),
        }
    }

    async fn fetch(&self, file: &Attached) -> Result<Read, consort_tools::attachments::Error> {
        let takes_pictures = self.model.is_some_and(|model| model.vision);
        if file.is_picture() && !takes_pictures {
            return Ok(Read::Unreadable("this model cannot see pictures".to_owned()));
        }
        let attachment = self.attachments.get(&file.id).await?;
        let takes_pdf = file.media_type == PDF && self.model.is_some_and(|model| model.documents);
        if file.is_picture() || takes_pdf {
            let base64 = self.attachments.base64(&attachment).await?;
            let name = file.name.clone();
            return Ok(Read::Native(File { name, media_type: file.media_type.clone(), base64 }));
        }
        Ok(self.attachments.text(&attachment).await?.map_or_else(Read::Unreadable, Read::Text))
    }
}

/// A conversation as it is sent.
#[derive(Default)]
struct SentConversation {
    messages: Vec<Message>,
    files: BTreeMap<String, File>,
    /// Files that come after the message before them, and after all results of tools that belong together.
    pending: Vec<Attached>,
}

impl SentConversation {
    fn say(&mut self, message: Message) {
        if !matches!(message, Message::Tool { .. }) {
            self.settle();
        }
        self.messages.push(message);
    }

    /// Adds a file to the last message: its text to the words, its bytes after them.
    fn show(&mut self, file: Attached, read: Read) {
        let words = match read {
            Read::Native(bytes) => {
                self.files.insert(file.id.clone(), bytes);
                self.pending.push(file);
                return;
            }
            Read::Text(text) => format!("## Attached file: {}\n\n{text}", file.name),
            Read::Unreadable(reason) => format!("(The attached file '{}' cannot be shown: {reason})", file.name),
        };
        match self.messages.last_mut() {
            Some(Message::User { text } | Message::Tool { text, .. }) => *text = format!("{text}\n\n{words}").into(),
            Some(Message::System { .. } | Message::Files { .. } | Message::Assistant(_)) | None => {
                self.messages.push(Message::User { text: words.into() });
            }
        }
    }

    fn settle(&mut self) {
        if !self.pending.is_empty() {
            self.messages.push(Message::Files { files: std::mem::take(&mut self.pending) });
        }
    }
}
