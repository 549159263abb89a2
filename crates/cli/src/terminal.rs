//! Who sits in front of the program: whether somebody watches a terminal,
//! wants colours, and can be asked.

use std::io::{IsTerminal, stderr, stdin};

use crate::config::Env;
use crate::show::paint::Colour;
use crate::show::screen::Look;

/// What a command knows about where it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Terminal {
    /// How progress is shown.
    pub(crate) look: Look,
    /// Who can be asked, if anybody.
    pub(crate) person: Option<Person>,
}

/// Somebody at a keyboard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Person {
    /// The program they edit texts with.
    pub(crate) editor: Option<String>,
}

impl Terminal {
    /// Looks around.
    pub(crate) fn find(env: &Env<'_>) -> Terminal {
        let set = |name: &str| env(name).filter(|value| !value.trim().is_empty());
        let drawable = stderr().is_terminal() && env("TERM").is_none_or(|term| term != "dumb");
        let colour = if set("NO_COLOR").is_some() { Colour::Off } else { Colour::On };
        let person = Person { editor: set("VISUAL").or_else(|| set("EDITOR")) };
        Terminal {
            look: if drawable { Look::Block(colour) } else { Look::Lines },
            person: Some(person).filter(|_| stderr().is_terminal() && stdin().is_terminal()),
        }
    }
}
