//! `consort chat`: a chat, in this process (`local`) or on a server.
//! Where a server uses the same data folder, the chat is there. With a message,
//! or something piped in, it is one turn.

mod local;

use std::io::{self, IsTerminal, Read, stdin};
use std::path::PathBuf;

use consort_config::{Config, Env};
use consort_core::chat::Mode;
use futures::FutureExt;
use futures::future::{self, BoxFuture};
use tokio::signal::unix::{SignalKind, signal};

use crate::client::{Client, Target};
use crate::commands::call::wrong;
use crate::commands::running_server;
use crate::exit::Exit;
use crate::output::{Output, Stream};
use crate::show::screen::Look;
use crate::talk::history::History;
use crate::talk::host::ChatHost;
use crate::talk::{Talk, Topic, Typist, files};
use crate::terminal::Terminal;
use crate::workers;

const EXAMPLES: &str = "Examples:
  consort chat                          a chat; /help says what can be typed
  consort chat \"What is 42 * 17?\"       one turn; the answer goes to stdout
  consort chat \"Sum up @plan.pdf\"       with a file: a picture, a PDF, a DOCX file or a text
  git diff | consort chat > review.md   the same with what is piped in
  consort chat --thread ID --url http://127.0.0.1:7329";

/// The arguments, as typed.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The message; without it, the text that is piped in, else a chat
    message: Option<String>,
    /// The configuration; default: ./consort.toml, else the built-in demo
    #[arg(long, value_name = "FILE", conflicts_with = "url")]
    config: Option<PathBuf>,
    /// Talk to the server at this address; $CONSORT_URL is not used here
    #[arg(long, value_name = "URL")]
    url: Option<String>,
    /// The server's API key, where one has the chat; default: $CONSORT_API_KEY
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// The chat to go on with; default: a new one
    #[arg(long, value_name = "ID")]
    thread: Option<String>,
    /// The model to ask, by its alias
    #[arg(long, value_name = "ALIAS")]
    model: Option<String>,
    /// The permission mode: plan, default or auto, as far as the configuration allows it
    #[arg(long, value_name = "MODE", value_parser = mode)]
    mode: Option<Mode>,
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
    Once(String, Vec<PathBuf>),
    /// All messages that a person types.
    Conversation,
}

/// Executes the command.
pub(crate) fn run(args: &Args, env: &Env<'_>, terminal: &Terminal, output: Output<'_>) -> anyhow::Result<Exit> {
    if args.agent.is_some() {
        output.err.say("warning: --agent is deprecated and changes nothing: every chat is an agent")?;
    }
    let message = match message(args, terminal) {
        Ok(message) => message,
        Err(mistake) => return wrong(output, &mistake),
    };
    let look = if args.json { Look::Frames } else { terminal.look };
    let typist = if terminal.person.is_some() && !args.json { Typist::Person } else { Typist::Nobody };
    let topic =
        Topic { thread: args.thread.clone(), model: args.model.clone(), mode: args.mode, history: History::find(env) };
    let session = Session { message, look, typist, topic };
    let runtime = workers::start()?;
    let exit = match host(args, env) {
        Ok(Host::Server(client)) => {
            let url = format!(" --url {}", client.url());
            runtime.block_on(session.talk(ChatHost::There(client), &url, output))
        }
        Ok(Host::Beside(client, note)) => match session.note(&note, output.err) {
            // Whether the server runs or not, the folder is enough to find the thread again.
            Ok(()) => runtime.block_on(session.talk(ChatHost::There(client), "", output)),
            Err(error) => Err(error.into()),
        },
        Ok(Host::Here(config)) => {
            runtime.block_on(local::talk(session, (*config, args.config.as_deref()), env, output))
        }
        Err(mistake) => wrong(output, &mistake),
    };
    // A blocking read of the keyboard must not delay the exit.
    runtime.shutdown_background();
    exit
}

fn mode(word: &str) -> Result<Mode, String> {
    Mode::parse(word).ok_or_else(|| "it must be plan, default or auto".to_owned())
}

/// The host of a chat, before anything is started.
enum Host {
    /// The server that was named.
    Server(Client),
    /// The server that uses the data folder, and the sentence that says so.
    Beside(Client, String),
    /// This process.
    Here(Box<Config>),
}

/// Finds the host, or the mistake in what was typed.
fn host(args: &Args, env: &Env<'_>) -> Result<Host, String> {
    let client = |url: &str| Target::at(url, args.key.as_deref()).client(env);
    if let Some(url) = &args.url {
        return client(url).map(Host::Server);
    }
    let config = Config::find(args.config.as_deref(), env).map_err(|mistakes| mistakes.to_string())?;
    match running_server::server(&config.store) {
        Some(url) => Ok(Host::Beside(client(&url)?, running_server::note(&config.store, &url, "the chat"))),
        None if args.key.is_some() => Err(running_server::needless_key(&config.store)),
        None => Ok(Host::Here(Box::new(config))),
    }
}

/// Returns the message, or the mistake in it.
fn message(args: &Args, terminal: &Terminal) -> Result<Message, String> {
    let mut files = Vec::new();
    let content = match &args.message {
        Some(message) => {
            files = files::named(message)?;
            message.clone()
        }
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
        content => Ok(Message::Once(content.to_owned(), files)),
    }
}

/// Starts to listen for signals that ask the process of an interactive user to end, or say that the
/// terminal was closed; returns when one has come. Without a user they have their default effect.
fn ended(typist: Typist) -> io::Result<BoxFuture<'static, ()>> {
    if typist == Typist::Nobody {
        return Ok(future::pending().boxed());
    }
    let mut term = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    let told = async move {
        tokio::select! {
            _told = term.recv() => {}
            _told = hangup.recv() => {}
        }
    };
    Ok(told.boxed())
}

/// One use of the command.
struct Session {
    message: Message,
    look: Look,
    typist: Typist,
    topic: Topic,
}

impl Session {
    /// Prints a sentence for a person.
    fn note(&self, words: &str, err: &mut Stream) -> io::Result<()> {
        if self.look == Look::Frames { Ok(()) } else { err.say(words) }
    }

    /// Talks; `url` is the option that names the server again, if one must be named.
    async fn talk(self, place: ChatHost, url: &str, mut output: Output<'_>) -> anyhow::Result<Exit> {
        // Before the terminal is changed, so that it is always restored.
        let ended = ended(self.typist)?;
        let screen = output.lend();
        let mut talk = Talk::begin(place, self.topic, (self.look, self.typist), screen).await?;
        let talking = async {
            match &self.message {
                Message::Once(content, files) => talk.once(content, files.clone()).await,
                Message::Conversation => talk.on().await,
            }
        };
        let exit = tokio::select! {
            exit = talking => exit,
            () = ended => Ok(Exit::Interrupted),
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
