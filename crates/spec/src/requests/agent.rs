//! The agent of a task. Without an explicit agent, one is derived from the first words of the task's
//! description.

use serde::{Deserialize, Serialize};

/// The number of words searched for a role.
const WORDS_MAX: usize = 8;

/// The verbs and the roles they imply.
const ROLES: &[(&[&str], &str)] = &[
    (&["research", "investigate", "find", "discover", "search"], "Researcher"),
    (&["write", "draft", "compose", "document"], "Writer"),
    (&["create"], "Creator"),
    (&["generate"], "Generator"),
    (&["analyze", "analyse", "evaluate", "assess", "compare"], "Analyst"),
    (&["review"], "Reviewer"),
    (&["audit"], "Auditor"),
    (&["design"], "Designer"),
    (&["plan"], "Planner"),
    (&["build", "implement", "develop", "code", "program"], "Developer"),
    (&["test", "verify"], "Tester"),
    (&["validate"], "Validator"),
    (&["summarize", "summarise"], "Summarizer"),
    (&["translate"], "Translator"),
    (&["classify", "categorize"], "Classifier"),
    (&["extract"], "Extractor"),
    (&["monitor"], "Monitor"),
    (&["track"], "Tracker"),
    (&["scrape"], "Collector"),
    (&["parse"], "Parser"),
    (&["convert"], "Converter"),
    (&["calculate", "compute"], "Calculator"),
    (&["format"], "Formatter"),
    (&["clean"], "Cleaner"),
    (&["process"], "Processor"),
];

/// Returns the agent of a task.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Agent {
    /// The name.
    pub role: String,
    /// The goal.
    pub goal: String,
    /// The background knowledge; may be empty.
    pub background: String,
    /// Whether it may hand work to the agents of other tasks.
    pub allow_delegation: bool,
}

impl Agent {
    /// Derives an agent from a description.
    pub fn derive(description: &str) -> Agent {
        let role = role(description);
        let background = format!("An experienced {} who works carefully and to the point.", role.to_lowercase());
        Agent { role: role.to_owned(), goal: description.to_owned(), background, allow_delegation: false }
    }
}

fn role(description: &str) -> &'static str {
    let word = |word: &str| word.chars().filter(|c| c.is_alphabetic()).collect::<String>().to_lowercase();
    let words = description.split_whitespace().take(WORDS_MAX).map(word);
    let known = |word: String| ROLES.iter().find(|(verbs, _)| verbs.contains(&word.as_str()));
    words.into_iter().find_map(known).map_or("Agent", |(_, role)| role)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_known_word_gives_the_role() {
        let cases = [
            ("Research AI safety", "Researcher"),
            ("Please, carefully: SUMMARISE the report", "Summarizer"),
            ("Say hello", "Agent"),
            ("Say hello to them and then to us and write", "Agent"),
            ("Compare, then write", "Analyst"),
        ];
        for (description, role) in cases {
            let agent = Agent::derive(description);
            assert_eq!(agent.role, role, "{description}");
            assert!(agent.background.starts_with("An experienced "), "{}", agent.background);
        }
    }
}
