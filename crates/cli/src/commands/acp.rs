//! `consort acp`: the chat agent inside editors that speak the Agent Client Protocol
//! (version 1) over standard input and output. A session is a thread, a prompt a turn,
//! a permission an approval: `prompt` follows a turn, `updates` is what editors are shown
//! of it. Only messages go to the standard output.

mod prompt;
mod updates;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use consort_config::Env;
use consort_core::chat::Mode;
use serde_json::{Value, json};
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinSet;

use self::updates::replayed;
use crate::client::{Call, Client};
use crate::commands::stdio::{self, Asked, INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, PARSE_ERROR, failure};
use crate::exit::Exit;
use crate::output::Output;
use crate::talk::host::ChatHost;

/// Messages that wait to be printed: a turn streams words faster than some editors read.
const WAITING_MAX: usize = 1024;
/// Requests of one editor that are under way; it has a prompt for each open session.
const OPEN_MAX: usize = 256;
/// Sessions whose folder is remembered; the oldest is forgotten.
const SESSIONS_MAX: usize = 1000;
/// The permission modes, the strictest first.
const MODES: [Mode; 3] = [Mode::Plan, Mode::Default, Mode::Auto];
/// The version of the protocol.
const VERSION: u64 = 1;

/// Executes the command.
pub(crate) fn run(args: &stdio::Args, env: &Env<'_>, output: Output<'_>) -> anyhow::Result<Exit> {
    stdio::run(args, env, output, converse)
}

/// Takes requests until the editor leaves.
async fn converse(client: Client, output: Output<'_>) -> anyhow::Result<Exit> {
    let mut lines = stdio::lines();
    let (outgoing, mut sending) = mpsc::channel::<Value>(WAITING_MAX);
    let agent = Arc::new(Agent {
        place: ChatHost::There(client.clone()),
        client,
        outgoing,
        asked: Asked::default(),
        sessions: Mutex::default(),
    });
    let mut tasks = JoinSet::new();
    let mut has_ended = false;
    loop {
        tokio::select! {
            line = lines.recv(), if !has_ended => match line {
                Some(line) => agent.clone().take(&line, &mut tasks).await,
                None => has_ended = true,
            },
            Some(message) = sending.recv() => {
                output.out.json(&message.to_string())?;
                output.out.flush()?;
            }
            Some(_done) = tasks.join_next(), if !tasks.is_empty() => {}
        }
        // The editor has closed its end: what it asked for before is still answered, unless that needs the editor.
        if has_ended && sending.is_empty() && (tasks.is_empty() || agent.asked.is_waiting()) {
            return Ok(Exit::Done);
        }
    }
}

/// The agent as one editor has it.
struct Agent {
    place: ChatHost,
    client: Client,
    /// The queue of messages for the editor.
    outgoing: mpsc::Sender<Value>,
    asked: Asked,
    sessions: Mutex<Sessions>,
}

/// The open sessions.
#[derive(Default)]
struct Sessions {
    /// The folder of each, in the order in which they were opened.
    folders: Vec<(String, PathBuf)>,
    /// The prompts under way; each is told when it is cancelled.
    prompts: HashMap<String, Arc<Notify>>,
}

/// A request that failed: a code of JSON-RPC, and why.
struct Fault(i32, String);

impl Fault {
    fn wrong(reason: impl Into<String>) -> Fault {
        Fault(INVALID_PARAMS, reason.into())
    }
}

impl From<anyhow::Error> for Fault {
    fn from(error: anyhow::Error) -> Fault {
        Fault(INTERNAL_ERROR, format!("{error:#}"))
    }
}

impl Agent {
    /// Takes a line of the editor.
    async fn take(self: Arc<Agent>, line: &str, tasks: &mut JoinSet<()>) {
        let message: Value = match serde_json::from_str(line) {
            Ok(message) => message,
            Err(error) => return self.tell(failure(&Value::Null, PARSE_ERROR, &format!("not JSON: {error}"))).await,
        };
        let method = message.get("method").and_then(Value::as_str).unwrap_or_default().to_owned();
        let params = message.get("params").cloned().unwrap_or_default();
        match message.get("id").filter(|id| !id.is_null()).cloned() {
            Some(id) if method.is_empty() => self.asked.answer(&id, message),
            Some(id) if tasks.len() >= OPEN_MAX => {
                self.tell(failure(&id, INTERNAL_ERROR, &format!("more than {OPEN_MAX} requests at once"))).await;
            }
            Some(id) => {
                tasks.spawn(async move {
                    let answer = match self.answered(&method, &params).await {
                        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
                        Err(Fault(code, reason)) => failure(&id, code, &reason),
                    };
                    self.tell(answer).await;
                });
            }
            None if method == "session/cancel" => {
                if let Some(session) = params.get("sessionId").and_then(Value::as_str) {
                    self.cancel(session);
                }
            }
            None => {}
        }
    }

    async fn tell(&self, message: Value) {
        // An editor that has left reads nothing.
        let _gone = self.outgoing.send(message).await;
    }

    /// Tells the editor something about a session.
    async fn update(&self, session: &str, update: Value) {
        let params = json!({ "sessionId": session, "update": update });
        self.tell(json!({ "jsonrpc": "2.0", "method": "session/update", "params": params })).await;
    }

    fn cancel(&self, session: &str) {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cancelled) = sessions.prompts.get(session) {
            cancelled.notify_one();
        }
    }

    async fn answered(&self, method: &str, params: &Value) -> Result<Value, Fault> {
        match method {
            "initialize" => Ok(introduction()),
            // There is no way to sign in here: the key is an option of the command.
            "authenticate" => Ok(json!({})),
            "session/new" => self.create(params).await,
            "session/load" => self.load(params, Replay::All).await,
            "session/resume" => self.load(params, Replay::Nothing).await,
            "session/list" => self.list(params).await,
            "session/set_mode" => self.set_mode(params).await,
            "session/prompt" => self.prompt(session_of(params)?, params).await,
            "session/close" => {
                self.cancel(session_of(params)?);
                Ok(json!({}))
            }
            "session/delete" => {
                let session = session_of(params)?;
                self.cancel(session);
                self.send(&Call::delete(&["threads", session])).await?;
                Ok(json!({}))
            }
            _ => Err(Fault(METHOD_NOT_FOUND, format!("there is no method {method}"))),
        }
    }

    async fn send(&self, call: &Call) -> Result<Value, Fault> {
        let failed = |error: anyhow::Error| Fault::from(error);
        let text = self.client.send(call).await.map_err(|error| failed(error.into()))?;
        self.client.read(&text).map_err(|error| failed(error.into()))
    }

    async fn create(&self, params: &Value) -> Result<Value, Fault> {
        let folder = folder_of(params)?;
        let thread = self.send(&Call::post(&["threads"], json!({}))).await?;
        let session = thread.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
        self.open(&session, folder);
        let mut result = opened(&thread, params);
        if let Some(fields) = result.as_object_mut() {
            fields.insert("sessionId".to_owned(), session.into());
        }
        Ok(result)
    }

    /// Opens a session of before, and tells the editor what was said in it.
    async fn load(&self, params: &Value, replay: Replay) -> Result<Value, Fault> {
        let folder = folder_of(params)?;
        let session = session_of(params)?;
        let thread = self.send(&Call::get(&["threads", session])).await?;
        self.open(session, folder.clone());
        if replay == Replay::All {
            let rows = self.send(&Call::get(&["threads", session, "messages"])).await?;
            let rows = rows.get("messages").and_then(Value::as_array).cloned().unwrap_or_default();
            for update in rows.iter().flat_map(|row| replayed(row, &folder)) {
                self.update(session, update).await;
            }
        }
        Ok(opened(&thread, params))
    }

    /// Remembers the folder of a session.
    fn open(&self, session: &str, folder: PathBuf) {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.folders.retain(|(known, _)| known != session);
        if sessions.folders.len() >= SESSIONS_MAX {
            sessions.folders.remove(0);
        }
        sessions.folders.push((session.to_owned(), folder));
    }

    fn folder(&self, session: &str) -> PathBuf {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let known = sessions.folders.iter().find(|(known, _)| known == session);
        known.map_or_else(|| PathBuf::from("/"), |(_, folder)| folder.clone())
    }

    async fn list(&self, params: &Value) -> Result<Value, Fault> {
        let asked = params.get("cwd").and_then(Value::as_str);
        let threads = self.send(&Call::get(&["threads"])).await?;
        let threads = threads.get("threads").and_then(Value::as_array).cloned().unwrap_or_default();
        let session = |thread: &Value| {
            let id = thread.get("id").and_then(Value::as_str).unwrap_or_default();
            // Threads have no folder: one that is not open here fits every folder.
            let folder = asked.map_or_else(|| self.folder(id), PathBuf::from);
            json!({ "sessionId": id, "cwd": folder, "title": thread.get("title"), "updatedAt": thread.get("updatedAt") })
        };
        Ok(json!({ "sessions": threads.iter().map(session).collect::<Vec<_>>() }))
    }

    async fn set_mode(&self, params: &Value) -> Result<Value, Fault> {
        let session = session_of(params)?;
        let typed = params.get("modeId").and_then(Value::as_str).unwrap_or_default();
        let words = || MODES.map(Mode::word).join(", ");
        let wanted = MODES.into_iter().find(|mode| mode.word() == typed);
        let wanted = wanted.ok_or_else(|| Fault::wrong(format!("`modeId` must be one of {}", words())))?;
        self.place.set_mode(session, wanted).await?;
        // The configuration may allow less than was wanted.
        let thread = self.send(&Call::get(&["threads", session])).await?;
        let held = thread.get("permissionMode").and_then(Value::as_str).unwrap_or(typed);
        if held != typed {
            self.update(session, json!({ "sessionUpdate": "current_mode_update", "currentModeId": held })).await;
        }
        Ok(json!({}))
    }
}

/// The part of a session that is repeated to the editor.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Replay {
    All,
    Nothing,
}

fn introduction() -> Value {
    json!({
        "protocolVersion": VERSION,
        "agentCapabilities": {
            "loadSession": true,
            "promptCapabilities": { "image": false, "audio": false, "embeddedContext": true },
            "mcpCapabilities": { "http": false, "sse": false },
            "sessionCapabilities": { "list": {}, "resume": {}, "close": {}, "delete": {} }
        },
        "agentInfo": { "name": "consort", "title": "Consort", "version": env!("CARGO_PKG_VERSION") },
        "authMethods": []
    })
}

fn session_of(params: &Value) -> Result<&str, Fault> {
    let session = params.get("sessionId").and_then(Value::as_str).filter(|session| !session.is_empty());
    session.ok_or_else(|| Fault::wrong("`sessionId` is required"))
}

fn folder_of(params: &Value) -> Result<PathBuf, Fault> {
    let folder = params.get("cwd").and_then(Value::as_str).map(Path::new).filter(|folder| folder.is_absolute());
    folder.map(Path::to_owned).ok_or_else(|| Fault::wrong("`cwd` must be an absolute path"))
}

/// Returns what an editor is told of an open session.
fn opened(thread: &Value, params: &Value) -> Value {
    let mode = thread.get("permissionMode").and_then(Value::as_str).unwrap_or(Mode::Default.word());
    let about = |mode: Mode| match mode {
        Mode::Plan => "Looks and thinks, and changes nothing",
        Mode::Default => "Asks before it changes something",
        Mode::Auto => "Does not ask",
    };
    let modes = MODES.map(|mode| json!({ "id": mode.word(), "name": mode.word(), "description": about(mode) }));
    let mut opened = json!({ "modes": { "currentModeId": mode, "availableModes": modes } });
    let servers = params.get("mcpServers").and_then(Value::as_array).map_or(0, Vec::len);
    if servers > 0
        && let Some(fields) = opened.as_object_mut()
    {
        let warning = "mcpServers of a session are not used: name them in consort.toml, under [mcp]";
        fields.insert("_meta".to_owned(), json!({ "warnings": [warning] }));
    }
    opened
}
