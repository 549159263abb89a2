//! The messages of earlier chats: a file that only its owner may read, one
//! message in each line as a JSON string. What is wrong in it is passed over.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use consort_config::Env;
use consort_log::private;

/// Messages in the history; more than people look through.
pub(super) const HISTORY_MAX: usize = 500;
/// The maximum number of bytes of a message that is kept: longer ones were pasted, and are found where they came from.
const MESSAGE_MAX: usize = 16 * 1024;
/// Bytes at the end of the file that are read: as many as `HISTORY_MAX` messages of ordinary length have.
const READ_MAX: u64 = 1024 * 1024;

/// The place of the history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct History {
    /// The file; without one, nothing is kept.
    file: Option<PathBuf>,
}

impl History {
    /// Returns the history of this user: in the folder for states of programs, where there is one.
    pub(crate) fn find(env: &Env<'_>) -> History {
        let folder = |name: &str| env(name).map(PathBuf::from).filter(|folder| folder.is_absolute());
        let states = folder("XDG_STATE_HOME").or_else(|| Some(folder("HOME")?.join(".local/state")));
        History { file: states.map(|states| states.join("consort/history")) }
    }

    /// Returns the newest messages, the oldest first.
    pub(super) fn load(&self) -> Vec<String> {
        let Some((file, lines)) = self.file.as_ref().and_then(|file| Some((file, tail(file).ok()?))) else {
            return Vec::new();
        };
        let read = |line: &str| serde_json::from_str::<String>(line).ok();
        let mut messages: Vec<String> = lines.text.lines().filter_map(read).collect();
        messages.drain(..messages.len().saturating_sub(HISTORY_MAX));
        if lines.is_long {
            // If it cannot be shortened now, it is the next time.
            let _stays = shorten(file, &messages);
        }
        messages
    }

    /// Adds a message. One that begins with a space is not kept, as in shells.
    pub(super) fn add(&self, message: &str) -> io::Result<()> {
        let Some(file) = &self.file else { return Ok(()) };
        if message.starts_with(' ') || message.len() > MESSAGE_MAX {
            return Ok(());
        }
        file.parent().map_or(Ok(()), private::create_folder)?;
        let mut open = OpenOptions::new().append(true).create(true).mode(private::FILE).open(file)?;
        // In one piece, as other chats write to the same file.
        open.write_all(line(message).as_bytes())
    }
}

/// The end of a file.
struct Tail {
    text: String,
    /// Whether the file should be shortened.
    is_long: bool,
}

fn tail(file: &Path) -> io::Result<Tail> {
    let mut open = File::open(file)?;
    let about = open.metadata()?;
    if about.permissions().mode() & 0o777 != private::FILE {
        open.set_permissions(Permissions::from_mode(private::FILE))?;
    }
    // The first line of what is read may be half a message, which is no JSON string.
    open.seek(SeekFrom::Start(about.len().saturating_sub(READ_MAX)))?;
    let mut bytes = Vec::new();
    open.take(READ_MAX).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let is_long = about.len() > READ_MAX || text.lines().count() > 2 * HISTORY_MAX;
    Ok(Tail { text, is_long })
}

/// Writes the file anew with these messages alone.
fn shorten(file: &Path, messages: &[String]) -> io::Result<()> {
    let Some(folder) = file.parent() else { return Ok(()) };
    let mut new = tempfile::NamedTempFile::new_in(folder)?;
    let text: String = messages.iter().map(|message| line(message)).collect();
    new.write_all(text.as_bytes())?;
    new.persist(file).map(drop).map_err(|error| error.error)
}

fn line(message: &str) -> String {
    format!("{}\n", serde_json::Value::from(message))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(folder: &Path) -> History {
        let state = folder.display().to_string();
        History::find(&|name: &str| (name == "XDG_STATE_HOME").then(|| state.clone()))
    }

    fn mode(file: &Path) -> u32 {
        file.metadata().unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn messages_come_back_whatever_is_in_them_and_only_their_owner_reads_them() {
        let home = tempfile::tempdir().unwrap();
        let history = at(home.path());
        assert_eq!(history.load(), Vec::<String>::new());
        for message in ["one\ntwo", "\u{1b}[2J \"ä\"", " secret", &"x".repeat(MESSAGE_MAX + 1)] {
            history.add(message).unwrap();
        }
        assert_eq!(history.load(), ["one\ntwo", "\u{1b}[2J \"ä\""]);
        let file = home.path().join("consort/history");
        assert_eq!((mode(&file), mode(file.parent().unwrap())), (0o600, 0o700));
        std::fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
        std::fs::write(&file, "no JSON\n{}\n\"fine\"\n\"cut").unwrap();
        assert_eq!((history.load(), mode(&file)), (vec!["fine".to_owned()], 0o600));
    }

    #[test]
    fn a_long_file_is_shortened_to_the_newest_messages() {
        let home = tempfile::tempdir().unwrap();
        let history = at(home.path());
        (0..=2 * HISTORY_MAX).for_each(|number| history.add(&number.to_string()).unwrap());
        let newest: Vec<String> = (HISTORY_MAX + 1..=2 * HISTORY_MAX).map(|number| number.to_string()).collect();
        assert_eq!(history.load(), newest);
        let file = home.path().join("consort/history");
        assert_eq!((std::fs::read_to_string(&file).unwrap().lines().count(), mode(&file)), (HISTORY_MAX, 0o600));
        let large = "y".repeat(MESSAGE_MAX);
        (0..2 * READ_MAX / MESSAGE_MAX as u64).for_each(|_| history.add(&large).unwrap());
        assert!(history.load().iter().all(|message| *message == large), "half a message is none");
        assert!(file.metadata().unwrap().len() <= READ_MAX);
    }

    #[test]
    fn without_a_folder_for_it_there_is_no_history() {
        let relative = |name: &str| (name == "XDG_STATE_HOME").then(|| "state".to_owned());
        let history = History::find(&relative);
        assert_eq!(history, History::default());
        history.add("a").unwrap();
        let home = |name: &str| (name == "HOME").then(|| "/home/ada".to_owned());
        assert_eq!(History::find(&home).file, Some(PathBuf::from("/home/ada/.local/state/consort/history")));
    }
}
