//! `consort chat`: a conversation, in this process (`local`) or on a server.
//! With a message, or something piped in, it is one turn.

mod local;

use std::io::{self, IsTerminal, Read, stdin};
use std::path::PathBuf;

use tokio::signal::unix::{SignalKind, signal};

use crate::client::Target;
use crate::commands::call::wrong;
use crate::config::Env;
use crate::exit::Exit;
use crate::output::Output;
use crate::show::screen::Look;
use crate::talk::place::Place;
use crate::talk::{Talk, Topic, Typist};
use crate::terminal::Terminal;

const EXAMPLES: &str = "Examples:
  consort chat                          a conversation; /help says what can be typed
  consort chat \"What is 42 * 17?\"       one turn; the answer goes to stdout
  git diff | consort chat > review.md   the same with what is piped in
  consort chat --thread ID --url http://127.0.0.1:7329";

/// What was typed.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// What to say; without it, what is piped in, else a conversation
    message: Option<String>,
    /// The configuration; default: ./consort.toml, else the built-in demo
    #[arg(long, value_name = "FILE", conflicts_with = "url")]
    config: Option<PathBuf>,
    /// Talk to the server at this address; only if typed, whatever $CONSORT_URL says
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// The server's API key; default: $CONSORT_API_KEY
    #[arg(long, value_name = "KEY", requires = "url")]
    key: Option<String>,
    /// The conversation to go on with; default: a new one
    #[arg(long, value_name = "ID")]
    thread: Option<String>,
    /// The model to ask, by its alias
    #[arg(long, value_name = "ALIAS")]
    model: Option<String>,
    /// Deprecated: every chat is an agent; changes nothing
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true, hide = true)]
    agent: Option<Option<String>>,
    /// Print every frame as a line of JSON instead of the answer
    #[arg(long)]
    json: bool,
}

/// The message to send.
enum Message {
    /// One message, and nothing more.
    Once(String),
    /// All messages that a person types.
    Conversation,
}

/// Executes the command.
pub(crate) fn run(args: &Args, env: &Env<'_>, terminal: &Terminal, output: Output<'_>) -> anyhow::Result<Exit> {
    if args.agent.is_some() {
        writeln!(output.err, "warning: --agent is deprecated and changes nothing: every chat is an agent")?;
    }
    let message = match message(args, terminal) {
        Ok(message) => message,
        Err(mistake) => return wrong(output, &mistake),
    };
    let look = if args.json { Look::Frames } else { terminal.look };
    let typist = if terminal.person.is_some() && !args.json { Typist::Person } else { Typist::Nobody };
    let topic = Topic { thread: args.thread.clone(), model: args.model.clone() };
    let session = Session { message, look, typist, topic };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let exit = match &args.url {
        Some(url) => match Target::at(url, args.key.as_deref()).client(env) {
            Ok(client) => runtime.block_on(session.talk(Place::There(client), output)),
            Err(mistake) => wrong(output, &mistake),
        },
        None => runtime.block_on(local::talk(session, args.config.as_deref(), env, output)),
    };
    // A blocking read of the keyboard must not delay the exit.
    runtime.shutdown_background();
    exit
}

/// Returns the message, or the mistake in it.
fn message(args: &Args, terminal: &Terminal) -> Result<Message, String> {
    let content = match &args.message {
        Some(message) => message.clone(),
        None if terminal.person.is_some() && !args.json => return Ok(Message::Conversation),
        None if stdin().is_terminal() => return Err("say what to ask: consort chat MESSAGE".to_owned()),
        None => {
            let mut piped = String::new();
            stdin().read_to_string(&mut piped).map_err(|error| format!("what is piped in cannot be read: {error}"))?;
            piped
        }
    };
    match content.trim() {
        "" => Err("there is nothing to say: give a MESSAGE, or pipe one in".to_owned()),
        content => Ok(Message::Once(content.to_owned())),
    }
}

/// Returns when the process of an interactive user is asked to end, or the terminal
/// was closed; without one, signals have their default effect.
async fn ended(typist: Typist) -> io::Result<()> {
    if typist == Typist::Nobody {
        return std::future::pending().await;
    }
    let (mut term, mut hangup) = (signal(SignalKind::terminate())?, signal(SignalKind::hangup())?);
    tokio::select! {
        _told = term.recv() => {}
        _told = hangup.recv() => {}
    }
    Ok(())
}

/// One use of the command.
struct Session {
    message: Message,
    look: Look,
    typist: Typist,
    topic: Topic,
}

impl Session {
    async fn talk(self, place: Place, mut output: Output<'_>) -> anyhow::Result<Exit> {
        let url = place.url().map(|url| format!(" --url {url}")).unwrap_or_default();
        let screen = output.lend();
        let mut talk = Talk::begin(place, self.topic, (self.look, self.typist), screen).await?;
        let talking = async {
            match &self.message {
                Message::Once(content) => talk.once(content).await,
                Message::Conversation => talk.on().await,
            }
        };
        let exit = tokio::select! {
            exit = talking => exit,
            // Ended in order, so that the terminal is restored.
            told = ended(self.typist) => told.map(|()| Exit::Interrupted).map_err(Into::into),
        };
        let thread = talk.thread().map(str::to_owned);
        drop(talk);
        let exit = exit?;
        if let Some(thread) = thread.filter(|_| self.look != Look::Frames && exit != Exit::Usage) {
            writeln!(output.err, "to go on: consort chat --thread {thread}{url}")?;
        }
        Ok(exit)
    }
}
