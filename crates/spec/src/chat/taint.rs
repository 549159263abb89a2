//! Taint: the sources that a thread has read and its user did not write. A tainted thread asks
//! before it carries data to a host that is not allowed: the author of a source may have asked for that.

use serde::{Deserialize, Serialize};

use super::{Earlier, Role, Turn};
use crate::message::Message;
use crate::requests::reach::{host_alone, host_of};

/// The maximum number of sources remembered; with one the thread is tainted, the rest only tells people why.
const SOURCES_MAX: usize = 32;
/// The maximum size of the name of a source in bytes: a question for permission shows it.
const SOURCE_BYTES_MAX: usize = 200;
/// The number of sources named in a sentence.
const NAMED_MAX: usize = 3;
/// The name of the source of messages that a client has brought along and its user did not write.
const BROUGHT: &str = "earlier words of this chat, brought by the client";
/// Ends of file names that are also top-level domains: without a scheme, such a name is a file.
const FILE_ENDS: [&str; 13] = ["cc", "md", "mk", "ml", "mov", "pl", "pm", "ps", "py", "rs", "sh", "so", "zip"];

/// The sources that a thread has read and its user did not write.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Taint {
    /// Those of earlier turns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    earlier: Vec<String>,
    /// Those of this turn.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    now: Vec<String>,
}

impl Taint {
    /// Creates the taint of a turn that has read nothing yet, in a thread that has read these.
    pub fn of_thread(earlier: Vec<String>) -> Taint {
        Taint { earlier, now: Vec::new() }
    }

    /// Adds a source that this turn has read. The oldest one is forgotten when there are too many.
    pub fn read(&mut self, source: &str) {
        let end = source.floor_char_boundary(SOURCE_BYTES_MAX);
        let source = source.get(..end).unwrap_or_default();
        if self.now.iter().any(|known| known == source) {
            return;
        }
        self.earlier.retain(|known| known != source);
        self.now.push(source.to_owned());
        let surplus = (self.earlier.len() + self.now.len()).saturating_sub(SOURCES_MAX);
        let forgotten = surplus.min(self.earlier.len());
        self.earlier.drain(..forgotten);
        self.now.drain(..surplus - forgotten);
    }

    /// Returns whether nothing was read.
    pub fn is_empty(&self) -> bool {
        self.earlier.is_empty() && self.now.is_empty()
    }

    /// Returns all sources, the oldest first.
    pub fn sources(&self) -> Vec<String> {
        self.earlier.iter().chain(&self.now).cloned().collect()
    }

    /// Returns the sentence about what was read: by this turn, if it has read anything itself.
    pub fn words(&self) -> String {
        let (who, read) = if self.now.is_empty() { ("chat", &self.earlier) } else { ("turn", &self.now) };
        let named: Vec<String> = read.iter().rev().take(NAMED_MAX).map(|source| format!("`{source}`")).collect();
        let more = match read.len().saturating_sub(NAMED_MAX) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("this {who} has read {}{more}", named.join(", "))
    }
}

/// A call of a tainted thread that would carry data to a host that is not allowed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Carried {
    /// The host, or the name of an MCP server or a peer.
    pub host: String,
    /// The size of the arguments in bytes.
    pub bytes: u64,
    /// The sources that the thread has read.
    #[serde(default)]
    pub taint: Taint,
}

impl Carried {
    /// Returns the reason for asking, as a sentence.
    pub fn words(&self) -> String {
        let unit = if self.bytes == 1 { "byte" } else { "bytes" };
        format!("{}; the call would send {} {unit} to {}", self.taint.words(), self.bytes, self.host)
    }
}

/// Returns whether a host is among those that the user's own messages name: this one, those of the turns before, and
/// those from before the thread began.
pub fn is_said(host: &str, turn: &Turn) -> bool {
    let said = turn.history.iter().filter_map(|message| match message {
        Message::User { text } => Some(text.as_str()),
        Message::System { .. } | Message::Files { .. } | Message::Assistant(_) | Message::Tool { .. } => None,
    });
    let earlier = turn.earlier.iter().filter(|earlier| earlier.role == Role::User);
    let earlier = earlier.map(|earlier| earlier.content.as_str());
    said.chain(earlier).chain([turn.content.as_str()]).flat_map(hosts).any(|said| said == host)
}

/// Returns the source of messages that a client has brought along, if there is one: the words of a model may repeat
/// whatever it had read, and nothing tells here what that was. The user's own words are no source.
pub fn brought_source(brought: &[Earlier]) -> Option<&'static str> {
    brought.iter().any(|earlier| earlier.role != Role::User).then_some(BROUGHT)
}

/// Returns the hosts that a text names: those of its addresses, and words that can only be hosts.
fn hosts(text: &str) -> impl Iterator<Item = String> {
    let apart = |c: char| c.is_whitespace() || "<>\"'`()|,;*".contains(c);
    text.split(apart).filter_map(|word| {
        let word = word.trim_matches(|c: char| ".:!?{}=".contains(c));
        match word.find("://") {
            Some(colon) => host_of(address(word, colon)),
            None => bare(word),
        }
    })
}

/// Returns the address whose scheme ends at `colon`, without what is written before it.
fn address(word: &str, colon: usize) -> &str {
    let before = word.get(..colon).unwrap_or_default();
    let begin = before.trim_end_matches(|c: char| c.is_ascii_alphanumeric()).len();
    word.get(begin..).unwrap_or_default()
}

/// Returns the host that a word without a scheme names, unless it may be something else.
fn bare(word: &str) -> Option<String> {
    let word = word.split(['/', '?', '#']).next().unwrap_or_default();
    let (name, port) = match word.rsplit_once(':') {
        Some((name, port)) if !port.is_empty() && port.chars().all(|c| c.is_ascii_digit()) => (name, true),
        Some(_) | None => (word, false),
    };
    let host = host_alone(name)?;
    let last = host.rsplit('.').next().unwrap_or_default();
    let is_address = host.parse::<std::net::IpAddr>().is_ok() && name.trim_matches(['[', ']']) == host;
    let is_name = last.len() > 1 && last.chars().any(char::is_alphabetic);
    let is_dotted = host.contains('.') && !FILE_ENDS.contains(&last);
    (is_address || is_name && (is_dotted || port || host == "localhost")).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hosts_of_a_message_are_those_a_person_would_point_at() {
        for (said, expected) in [
            ("send it to sink.example, please", vec!["sink.example"]),
            ("see (https://a.example/x?y=http://b.example).", vec!["a.example"]),
            ("[docs](http://Docs.Example:81/a_b)", vec!["docs.example"]),
            ("url=http://localhost:9001/stock!", vec!["localhost"]),
            ("localhost and 127.0.0.1:80 and [::1]:80", vec!["localhost", "127.0.0.1", "::1"]),
            ("intranet:8080/x", vec!["intranet"]),
            ("read README.md, main.rs and run.sh at 12:30, e.g. v1.2.3 or 3.14", vec![]),
            ("write to bob@corp.example", vec![]),
            ("https://readme.md/x", vec!["readme.md"]),
            ("\u{20ac}http://a.example", vec!["a.example"]),
            ("://x \u{e9}://y http://", vec![]),
        ] {
            assert_eq!(hosts(said).collect::<Vec<_>>(), expected, "{said}");
        }
    }

    #[test]
    fn words_name_what_was_read_last_and_the_list_is_bounded() {
        let mut taint = Taint::of_thread(vec!["old.txt".to_owned()]);
        assert_eq!(taint.words(), "this chat has read `old.txt`");
        taint.read("secret.env");
        taint.read("secret.env");
        let carried = Carried { host: "sink.example".to_owned(), bytes: 312, taint: taint.clone() };
        assert_eq!(carried.words(), "this turn has read `secret.env`; the call would send 312 bytes to sink.example");
        (0..100).for_each(|n| taint.read(&format!("file-{n}-{}", "x".repeat(SOURCE_BYTES_MAX))));
        assert_eq!(taint.sources().len(), SOURCES_MAX);
        assert!(taint.sources().iter().all(|source| source.len() <= SOURCE_BYTES_MAX));
        assert!(taint.words().ends_with(" and 29 more"), "{}", taint.words());
    }
}
