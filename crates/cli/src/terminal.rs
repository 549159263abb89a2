//! The user's terminal: whether a person watches it, wants colours, and can be asked.

use std::io::{IsTerminal, stdin};

use consort_config::Env;

use crate::output::{Reader, Stream};
use crate::show::paint::Colour;
use crate::show::screen::Look;

/// The properties of the terminal for a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Terminal {
    /// The form in which progress is shown.
    pub(crate) look: Look,
    /// The person who can be asked, if any.
    pub(crate) person: Option<Person>,
}

/// A person at a keyboard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Person {
    /// The editor program, if there is one.
    pub(crate) editor: Option<String>,
}

/// The terminal that a program was started from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Home {
    stdin: Reader,
    stderr: Reader,
}

impl Home {
    /// Returns the terminal of this process, if it has one.
    pub(crate) fn find() -> Home {
        Home { stdin: Reader::of(&stdin()), stderr: Stream::stderr().reader() }
    }

    /// Returns whether there was one and it has been closed.
    pub(crate) fn is_gone(self) -> bool {
        let now = Home::find();
        let gone = |before, now| before == Reader::Terminal && now != Reader::Terminal;
        gone(self.stdin, now.stdin) || gone(self.stderr, now.stderr)
    }
}

impl Terminal {
    /// Inspects the environment; `err` is the reader of the standard error.
    pub(crate) fn find(env: &Env<'_>, err: Reader) -> Terminal {
        let set = |name: &str| env(name).filter(|value| !value.trim().is_empty());
        let is_terminal = err == Reader::Terminal;
        let drawable = is_terminal && env("TERM").is_none_or(|term| term != "dumb");
        let person = Person { editor: set("VISUAL").or_else(|| set("EDITOR")) };
        Terminal {
            look: if drawable { Look::Block(Colour::wanted(env)) } else { Look::Lines },
            person: Some(person).filter(|_| is_terminal && stdin().is_terminal()),
        }
    }
}
