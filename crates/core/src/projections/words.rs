//! The words that a run is found by: those of its request, its id, its error and its output.

use crate::state::run::Run;
use consort_spec::template;

/// The maximum number of bytes of the words of one run; the rest of a long output is not found.
const WORDS_MAX: usize = 16 * 1024;
/// The maximum number of tasks whose words count: the first ones say what a run is about.
const TASKS_MAX: usize = 32;

impl Run {
    /// Returns the text that the run with this id is found by. The kind that an id begins with is left out: every
    /// run would be found by it.
    pub fn words(&self, id: &str) -> String {
        let mut words = String::new();
        let mut add = |text: &str| {
            let left = WORDS_MAX.saturating_sub(words.len() + 1);
            words.push_str(text.get(..text.floor_char_boundary(left)).unwrap_or_default());
            words.push('\n');
        };
        let spec = self.spec();
        match &spec.chat {
            Some(conversation) => add(conversation.content.as_str()),
            None => {
                spec.inputs.values().for_each(|value| add(&template::printed(value)));
                for task in spec.tasks.iter().take(TASKS_MAX) {
                    add(&task.name);
                    add(&task.description);
                }
            }
        }
        add(id.split_once('-').map_or(id, |(_, rest)| rest));
        if let Some(error) = self.error() {
            add(error);
        }
        if let Some(answer) = self.answer() {
            add(answer);
        }
        words
    }
}
