//! `consort mcp`: the tools of a server for MCP clients that start a program and talk to
//! it over its input and output. Every message is passed on to the server's `/mcp`, so
//! both say the same; calls of clients that speak an older version are put in the newer
//! one (`upgrade`), because only there the server can ask people. Only messages go to the
//! standard output.

mod upgrade;

use std::collections::HashMap;
use std::sync::Arc;

use consort_config::Env;
use serde_json::{Map, Value, json};
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinSet;

use self::upgrade::{Handshake, Questions, VERSION_KEY, answered, downgraded, headers, questions};
use crate::client::Client;
use crate::commands::stdio::{self, Asked, INTERNAL_ERROR, PARSE_ERROR, failure};
use crate::exit::Exit;
use crate::output::Output;

/// Messages that wait to be printed: a few in a second, for one client.
const WAITING_MAX: usize = 256;
/// Requests of one client that are under way; hosts call a few tools at once.
const OPEN_MAX: usize = 256;

/// Executes the command.
pub(crate) fn run(args: &stdio::Args, env: &Env<'_>, output: Output<'_>) -> anyhow::Result<Exit> {
    stdio::run(args, env, output, pass_on)
}

/// Passes messages on until the input ends, and the answers back.
async fn pass_on(client: Client, output: Output<'_>) -> anyhow::Result<Exit> {
    let mut lines = stdio::lines();
    let (answers, mut answered) = mpsc::channel::<Value>(WAITING_MAX);
    let mut relay = Relay::new(Passage { client, answers, asked: Asked::default() });
    let mut has_ended = false;
    loop {
        tokio::select! {
            line = lines.recv(), if !has_ended => match line {
                Some(line) => relay.take(&line).await,
                None => has_ended = true,
            },
            Some(answer) = answered.recv() => {
                relay.note_version(&answer);
                output.out.json(&answer.to_string())?;
                output.out.flush()?;
            }
            Some(done) = relay.tasks.join_next(), if !relay.tasks.is_empty() => {
                if let Ok(Some(id)) = done {
                    relay.open.remove(&id);
                }
            }
        }
        // The client has closed its end: what it asked for before is still answered, unless that needs the client.
        if has_ended && answered.is_empty() && (relay.tasks.is_empty() || relay.to.asked.is_waiting()) {
            return Ok(Exit::Done);
        }
    }
}

/// Passes messages on to a server.
struct Relay {
    to: Passage,
    /// The version that an older client has agreed on.
    version: Option<String>,
    /// The older client.
    handshake: Option<Handshake>,
    /// The requests under way, by their id; each is told when it is cancelled.
    open: HashMap<String, Arc<Notify>>,
    /// The same requests; each ends with its id.
    tasks: JoinSet<Option<String>>,
}

impl Relay {
    fn new(to: Passage) -> Relay {
        Relay { to, version: None, handshake: None, open: HashMap::new(), tasks: JoinSet::new() }
    }

    /// Takes a line of the client.
    async fn take(&mut self, line: &str) {
        let message: Value = match serde_json::from_str(line) {
            Ok(message) => message,
            Err(error) => return self.to.fail(&Value::Null, PARSE_ERROR, &format!("not JSON: {error}")).await,
        };
        let id = message.get("id").filter(|id| !id.is_null()).cloned();
        if message.get("method").is_none()
            && let Some(id) = &id
        {
            return self.to.asked.answer(id, message);
        }
        if message.get("method").and_then(Value::as_str) == Some("notifications/cancelled") {
            let cancelled = message.pointer("/params/requestId").and_then(|id| self.open.get(&id.to_string()));
            if let Some(cancelled) = cancelled {
                cancelled.notify_one();
            }
            return;
        }
        if self.tasks.len() >= OPEN_MAX {
            let reason = format!("more than {OPEN_MAX} requests at once");
            return self.to.fail(&id.unwrap_or_default(), INTERNAL_ERROR, &reason).await;
        }
        self.handshake = Handshake::read(&message).or_else(|| self.handshake.take());
        self.carry(message, id);
    }

    /// Carries a message to the server, in a task of its own.
    fn carry(&mut self, message: Value, id: Option<Value>) {
        let cancelled = Arc::new(Notify::new());
        let name = id.as_ref().map(Value::to_string);
        if let Some(name) = &name {
            self.open.insert(name.clone(), cancelled.clone());
        }
        let is_call = message.get("method").and_then(Value::as_str) == Some("tools/call");
        let is_older = message.pointer("/params/_meta").and_then(|meta| meta.get(VERSION_KEY)).is_none();
        let older = self.handshake.clone().filter(|_| is_call && is_older);
        let to = self.to.clone();
        let version = self.version.clone();
        self.tasks.spawn(async move {
            let id = id.unwrap_or_default();
            match older {
                Some(handshake) => Call { to, id, handshake, cancelled }.carried(message).await,
                None => tokio::select! {
                    // Leaving the response is what cancels a request over HTTP.
                    () = cancelled.notified() => {}
                    sent = to.exchanged(&message, version.as_deref()) => to.tell(&id, sent).await,
                },
            }
            name
        });
    }

    /// Notes the version that the answer to `initialize` agrees on.
    fn note_version(&mut self, answer: &Value) {
        if let Some(version) = answer.pointer("/result/protocolVersion").and_then(Value::as_str) {
            self.version = Some(version.to_owned());
        }
    }
}

/// The connection to the server, and the queue of messages for the client. Cheap to clone.
#[derive(Clone)]
struct Passage {
    client: Client,
    answers: mpsc::Sender<Value>,
    asked: Asked,
}

impl Passage {
    /// Sends a message, passes on what is told meanwhile, and returns the answer.
    async fn exchanged(&self, message: &Value, version: Option<&str>) -> Result<Option<Value>, String> {
        let (sender, mut received) = mpsc::channel::<Value>(WAITING_MAX);
        let passing = async {
            let mut answer = None;
            while let Some(message) = received.recv().await {
                if message.get("method").is_some() {
                    let _gone = self.answers.send(message).await;
                } else {
                    answer = Some(message);
                }
            }
            answer
        };
        let headers = headers(message, version);
        let (sent, answer) = tokio::join!(self.client.mcp(message, &headers, sender), passing);
        sent.map(|()| answer)
    }

    /// Tells the client what came of a request.
    async fn tell(&self, id: &Value, sent: Result<Option<Value>, String>) {
        match sent {
            Ok(Some(answer)) => {
                let _gone = self.answers.send(answer).await;
            }
            Ok(None) if id.is_null() => {}
            Ok(None) => self.fail(id, INTERNAL_ERROR, "the server has sent no answer").await,
            Err(reason) => self.fail(id, INTERNAL_ERROR, &reason).await,
        }
    }

    async fn fail(&self, id: &Value, code: i32, reason: &str) {
        let _gone = self.answers.send(failure(id, code, reason)).await;
    }

    /// Asks the client's user each question; one that cannot be answered is turned away.
    async fn ask(&self, requests: &Map<String, Value>) -> Map<String, Value> {
        let mut responses = Map::new();
        for (name, request) in requests {
            let (id, response) = self.asked.question();
            let method = request.get("method");
            let asked = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": request.get("params") });
            let _gone = self.answers.send(asked).await;
            let said = response.await.ok().and_then(|response| response.get("result").cloned());
            responses.insert(name.clone(), said.unwrap_or_else(|| json!({ "action": "cancel" })));
        }
        responses
    }
}

/// A call of an older client.
struct Call {
    to: Passage,
    id: Value,
    handshake: Handshake,
    cancelled: Arc<Notify>,
}

impl Call {
    /// Carries it in the newer version, and asks the client's user what the server wants to know.
    async fn carried(self, message: Value) {
        let mut message = self.handshake.upgraded(message);
        loop {
            let sent = tokio::select! {
                () = self.cancelled.notified() => return,
                sent = self.to.exchanged(&message, None) => sent,
            };
            let asked = sent.as_ref().ok().and_then(Option::as_ref).and_then(questions);
            let Some(Questions { state, requests }) = asked else {
                return self.to.tell(&self.id, sent.map(|answer| answer.map(downgraded))).await;
            };
            tokio::select! {
                () = self.cancelled.notified() => {
                    // Nothing is open that could be left.
                    let _told = self.to.exchanged(&self.handshake.cancelling(&state), None).await;
                    return;
                }
                responses = self.to.ask(&requests) => message = answered(message, &state, responses),
            }
        }
    }
}
