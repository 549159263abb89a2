//! Tab at the prompt of a chat: the word is completed with what the
//! chat has, or the candidates are listed.

use std::time::Duration;

use serde_json::Value;
use tokio::time::timeout;

use super::Talk;
use super::complete::{self, Candidate, Completion, Kind, Word};
use super::editor::Editor;
use super::keyboard::Key;
use crate::show::record::Record;
use crate::show::table::{Column, Table};

/// The time that finding candidates may take; a slower server leaves the word as it is.
const CANDIDATES_WAIT: Duration = Duration::from_secs(2);
/// Candidates that are listed: as many as a small terminal has rows.
const CHOICES_MAX: usize = 20;

impl Talk<'_> {
    /// Completes the word before the cursor, or shows what it may become. Where no word can be completed,
    /// Tab is a space.
    pub(super) async fn complete(&mut self, editor: &mut Editor) -> anyhow::Result<()> {
        let Some(word) = Word::of(&editor.before()) else {
            editor.press(Key::Sign(' '));
            return Ok(());
        };
        let found = timeout(CANDIDATES_WAIT, self.candidates(&word)).await;
        match found.unwrap_or_else(|_elapsed| Ok(Vec::new())).map(|candidates| word.complete(candidates)) {
            Ok(Completion::Nothing) => {}
            Ok(Completion::Word(text)) => {
                editor.replace(word.start, &text);
            }
            Ok(Completion::Choices(choices)) => {
                self.screen.entered()?;
                let listed = listed(&choices, self.screen.columns());
                self.screen.say(listed.trim_end())?;
            }
            Err(error) => {
                self.screen.entered()?;
                self.screen.say(&format!("{error:#}"))?;
            }
        }
        Ok(())
    }

    /// Returns what a word may become.
    async fn candidates(&self, word: &Word) -> anyhow::Result<Vec<Candidate>> {
        let named = |answer: &Value, list: &str, [text, note]: [&str; 2]| {
            let candidate = |row: Record<'_>| Candidate { text: row.line(text), note: row.line(note) };
            Record(answer).list(list).map(candidate).collect()
        };
        Ok(match (word.kind, self.thread()) {
            (Kind::Command, _) => complete::commands(),
            (Kind::Mode, _) => complete::words(&["plan", "default", "auto"]),
            (Kind::Memory, _) => complete::words(&["on", "off"]),
            (Kind::File, _) => complete::files(&word.typed),
            (Kind::Model, _) => named(&self.place.choices().await?, "models", ["alias", "provider"]),
            (Kind::Thread, _) => named(&self.place.threads().await?, "threads", ["id", "title"]),
            (Kind::Grant, Some(thread)) => named(&self.place.grants(thread).await?, "grants", ["id", "tool"]),
            (Kind::Grant, None) => Vec::new(),
        })
    }
}

/// Lists what a word may become.
fn listed(choices: &[Candidate], columns: usize) -> String {
    let mut table = Table::new(&[("", Column::Name), ("", Column::Text)]);
    choices.iter().take(CHOICES_MAX).for_each(|choice| table.row([choice.text.clone(), choice.note.clone()]));
    let rows = table.text(Some(columns));
    // The table has no heads.
    let rows = rows.trim_start_matches(|sign: char| sign.is_whitespace());
    match choices.len().checked_sub(CHOICES_MAX) {
        Some(more @ 1..) => format!("{}\nand {more} more", rows.trim_end()),
        Some(_) | None => rows.to_owned(),
    }
}
