//! `consort keys new`: a new key, printed once, and the block that lets it in. The key
//! is the first line of stdout and is kept nowhere; the file holds only its hash.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Read;

use anyhow::Context;
use clap::Subcommand;
use consort_core::owner::Owner;
use consort_server::access::{Key, Scope};

use crate::exit::Exit;
use crate::output::Output;

/// The number of random bytes of a key: enough that it cannot be guessed.
const KEY_BYTES: usize = 32;
/// The beginning of every key, by which scanners of code can tell that it is one.
const PREFIX: &str = "consort_";

/// The commands about keys.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Print a new key once, and the block for consort.toml that lets it in
    New {
        /// The name of the key, which its threads belong to
        name: String,
        /// The scopes it has: read, run, review, tools, peer, admin
        #[arg(long, value_name = "SCOPES", required = true, value_delimiter = ',', value_parser = scope)]
        scopes: Vec<Scope>,
        /// The owner of the runs that it begins and sees; default: its name
        #[arg(long)]
        owner: Option<String>,
    },
}

/// Executes a command.
pub(crate) fn run(command: &Command, output: Output<'_>) -> anyhow::Result<Exit> {
    let Command::New { name, scopes, owner } = command;
    let wrong = Owner::named(owner.as_ref().unwrap_or(name)).err();
    if let Some(reason) = wrong {
        let what = if owner.is_some() { "--owner" } else { "NAME, which is the owner without --owner," };
        output.err.say(format_args!("{what} {reason}"))?;
        return Ok(Exit::Usage);
    }
    if name.trim().is_empty() || name.chars().any(char::is_control) {
        output.err.say("NAME must not be blank or hold control characters")?;
        return Ok(Exit::Usage);
    }
    let key = random().context("cannot read random bytes")?;
    writeln!(output.out, "{key}\n\n{}", block((name, owner.as_deref()), &key, scopes))?;
    output.err.say("The key is the first line and is shown only now; the rest goes into consort.toml.")?;
    Ok(Exit::Done)
}

fn scope(word: &str) -> Result<Scope, String> {
    let known = Scope::ALL.into_iter().find(|scope| scope.word() == word.trim());
    known.ok_or_else(|| format!("a scope is one of {}", Scope::ALL.map(Scope::word).join(", ")))
}

/// Returns a new key.
pub(crate) fn random() -> std::io::Result<String> {
    let mut bytes = [0; KEY_BYTES];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(format!("{PREFIX}{}", hex(&bytes)))
}

/// Returns the block for the file.
fn block((name, owner): (&str, Option<&str>), key: &str, scopes: &[Scope]) -> String {
    let words: Vec<String> = scopes.iter().map(|scope| quoted(scope.word())).collect();
    let hash = hex(&Key::hash(key));
    let mut block = format!("[[server.api_key]]\nname = {}\nkey_sha256 = {}\n", quoted(name), quoted(&hash));
    let _never_fails = write!(block, "scopes = [{}]", words.join(", "));
    if let Some(owner) = owner {
        let _never_fails = write!(block, "\nowner = {}", quoted(owner));
    }
    block
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02x}"))
}

/// Returns a TOML string: without control characters it is written as in JSON.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use consort_config::{Config, FILE_NAME};

    use super::*;
    use crate::output::{Reader, Stream};

    fn new(name: &str, owner: Option<&str>) -> (Exit, String, String) {
        let mut out = Stream::memory(Reader::Program);
        let mut err = Stream::memory(Reader::Program);
        let command = Command::New {
            name: name.to_owned(),
            scopes: vec![Scope::Run, Scope::Review],
            owner: owner.map(str::to_owned),
        };
        let exit = run(&command, Output { out: &mut out, err: &mut err }).unwrap();
        (exit, out.text(), err.text())
    }

    #[test]
    fn the_block_lets_in_the_key_that_was_printed_and_no_two_are_alike() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE_NAME);
        let mut seen = Vec::new();
        for (name, owner, expected) in [("ci", None, "ci"), ("a \"b\" ü", Some("team-a"), "team-a")] {
            let (exit, text, _) = new(name, owner);
            let (key, block) = text.split_once("\n\n").unwrap();
            std::fs::write(&path, block).unwrap();
            let keys = Config::load(&path, &|_| None).unwrap().server.api_keys;
            let owner = Owner::named(expected).unwrap();
            assert_eq!((exit, keys), (Exit::Done, vec![Key::of(owner, (name, key), &[Scope::Run, Scope::Review])]));
            assert!(key.starts_with(PREFIX) && key.len() > 50, "{key}");
            seen.push(key.to_owned());
        }
        assert_ne!(seen[0], seen[1]);
    }

    #[test]
    fn names_of_owners_that_others_vouch_for_are_refused() {
        for (name, owner) in [("peer:a", None), ("a", Some("oidc:b")), ("", None), (" ", Some("a")), ("a\u{7}", None)] {
            let (exit, out, err) = new(name, owner);
            assert_eq!((exit, out.as_str()), (Exit::Usage, ""), "{name:?} {err}");
        }
        assert_eq!(new("peer:a", Some("team-a")).0, Exit::Done);
        assert_eq!(scope("write").unwrap_err(), "a scope is one of read, run, review, tools, peer, admin");
    }
}
