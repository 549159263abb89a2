//! Parses a line at the prompt: a message, or a command.

use consort_core::chat::Mode;

/// The text of `/help`.
pub(super) const HELP: &str = "\
/continue       goes on with an answer that was cut
/new            a new chat (also /clear)
/threads [ID]   your chats; with an ID, go on with that one
/model [NAME]   the models; with a name, ask that one from now on
/mode [MODE]    what needs no permission: plan, default or auto
/memory [WORD]  whether you are remembered across chats: on or off
/tools          the tools there are
/grants         what you allowed in this chat
/revoke ID      take that back
/cost           what the last turn and this session used
/exit           leave (also Ctrl-D)
@FILE           in a message: attaches a picture, a PDF or a text
Esc or Ctrl-C stops a running turn; at the prompt Esc clears what was typed, and Ctrl-C twice leaves. What is pasted \
is one message, with all its lines; Alt-Enter, or a \\ at the end of a line, goes on in the next. Tab completes \
commands, models, IDs and files; the arrows bring back earlier messages, also of other sessions, and Ctrl-R finds \
one that contains what was typed.";

/// A parsed line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// The line is empty.
    Nothing,
    /// Send this message.
    Say(String),
    /// Continue the answer that was cut off.
    Continue,
    /// Execute this command.
    Do(Command),
    /// Leave the chat.
    Exit,
    /// The line is invalid, for this reason.
    Wrong(String),
}

/// A command about the chat itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Command {
    /// List the commands.
    Help,
    /// Begin a new chat.
    New,
    /// List the chats.
    Threads,
    /// Continue this chat.
    Thread(String),
    /// List the models.
    Models,
    /// Use this model.
    Model(String),
    /// List the tools.
    Tools,
    /// List what was allowed for this chat.
    Grants,
    /// Take back this grant.
    Revoke(String),
    /// Show what may be done without approval.
    ShowMode,
    /// Set what may be done without approval.
    Mode(Mode),
    /// Show whether messages are remembered.
    ShowMemory,
    /// Set whether messages are remembered.
    Memory(Memory),
    /// Show the usage.
    Cost,
}

/// Whether messages are remembered for other chats.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Memory {
    /// They are remembered.
    On,
    /// They are not remembered.
    #[default]
    Off,
}

impl Memory {
    /// Returns the word for it.
    pub(super) fn word(self) -> &'static str {
        match self {
            Memory::On => "on",
            Memory::Off => "off",
        }
    }
}

/// Parses a line.
pub(super) fn read(line: &str) -> Entry {
    let line = line.trim();
    let Some(command) = line.strip_prefix('/') else {
        return if line.is_empty() { Entry::Nothing } else { Entry::Say(line.to_owned()) };
    };
    let (name, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
    let rest = Some(rest.trim()).filter(|rest| !rest.is_empty());
    match (name, rest) {
        ("continue", None) => Entry::Continue,
        ("help", None) => Entry::Do(Command::Help),
        ("new" | "clear", None) => Entry::Do(Command::New),
        ("threads", None) => Entry::Do(Command::Threads),
        ("threads", Some(id)) => Entry::Do(Command::Thread(id.to_owned())),
        ("model", None) => Entry::Do(Command::Models),
        ("model", Some(name)) => Entry::Do(Command::Model(name.to_owned())),
        ("tools", None) => Entry::Do(Command::Tools),
        ("grants", None) => Entry::Do(Command::Grants),
        ("revoke", Some(id)) => Entry::Do(Command::Revoke(id.to_owned())),
        ("revoke", None) => Entry::Wrong("/revoke needs the ID of a grant; /grants lists them".to_owned()),
        ("mode", None) => Entry::Do(Command::ShowMode),
        ("mode", Some(word)) => match Mode::parse(word) {
            Some(mode) => Entry::Do(Command::Mode(mode)),
            None => Entry::Wrong(format!("there is no mode `{word}`: plan, default or auto")),
        },
        ("memory", None) => Entry::Do(Command::ShowMemory),
        ("memory", Some("on")) => Entry::Do(Command::Memory(Memory::On)),
        ("memory", Some("off")) => Entry::Do(Command::Memory(Memory::Off)),
        ("memory", Some(word)) => Entry::Wrong(format!("/memory is on or off, not `{word}`")),
        ("cost", None) => Entry::Do(Command::Cost),
        ("exit" | "quit", None) => Entry::Exit,
        ("continue" | "help" | "new" | "clear" | "tools" | "grants" | "cost" | "exit" | "quit", Some(_)) => {
            Entry::Wrong(format!("/{name} takes no argument"))
        }
        (name, _) => Entry::Wrong(format!("there is no command /{name}; /help lists them")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_read_and_what_is_none_is_told() {
        let wrong = |reason: &str| Entry::Wrong(reason.to_owned());
        let cases = [
            (" ", Entry::Nothing),
            (" hello /new ", Entry::Say("hello /new".to_owned())),
            ("/continue", Entry::Continue),
            ("/continue please", wrong("/continue takes no argument")),
            ("/clear", Entry::Do(Command::New)),
            ("/model fast", Entry::Do(Command::Model("fast".to_owned()))),
            ("/mode  auto", Entry::Do(Command::Mode(Mode::Auto))),
            ("/mode yolo", wrong("there is no mode `yolo`: plan, default or auto")),
            ("/memory on", Entry::Do(Command::Memory(Memory::On))),
            ("/memory maybe", wrong("/memory is on or off, not `maybe`")),
            ("/threads thread-1", Entry::Do(Command::Thread("thread-1".to_owned()))),
            ("/grants", Entry::Do(Command::Grants)),
            ("/revoke grant-7", Entry::Do(Command::Revoke("grant-7".to_owned()))),
            ("/revoke", wrong("/revoke needs the ID of a grant; /grants lists them")),
            ("/exit now", wrong("/exit takes no argument")),
            ("/fly", wrong("there is no command /fly; /help lists them")),
        ];
        for (line, entry) in cases {
            assert_eq!(read(line), entry, "{line}");
        }
    }
}
