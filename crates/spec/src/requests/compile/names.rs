//! Names of tasks that have none.

use std::collections::{BTreeSet, HashMap};

use crate::requests::draft::Draft;

/// The maximum numbers of words and characters of a name made from a description.
const NAME_WORDS: usize = 6;
const NAME_CHARS: usize = 40;

/// Returns every task's name: given, or made from its description.
pub(crate) fn named(drafts: &[Draft]) -> Vec<String> {
    let mut taken: BTreeSet<String> = drafts.iter().filter_map(|draft| draft.name.clone()).collect();
    let mut numbers = HashMap::new();
    let mut name = |draft: &Draft| match (&draft.name, &draft.nested) {
        (Some(name), _) => name.clone(),
        (None, Some(nested)) => unused(slug(&nested.workflow), &mut taken, &mut numbers),
        (None, None) => unused(slug(&draft.description), &mut taken, &mut numbers),
    };
    drafts.iter().map(&mut name).collect()
}

/// Makes a name from a description: `Research AI, in depth!` becomes `research-ai-in-depth`.
fn slug(description: &str) -> String {
    let word = |word: &str| word.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_lowercase();
    let words = description.split_whitespace().map(word).filter(|word| !word.is_empty()).take(NAME_WORDS);
    let slug: String = words.collect::<Vec<_>>().join("-").chars().take(NAME_CHARS).collect();
    if slug.is_empty() { "task".to_owned() } else { slug }
}

/// Returns a name that is not taken. `numbers` holds the suffix to continue with: all before are taken.
fn unused(name: String, taken: &mut BTreeSet<String>, numbers: &mut HashMap<String, u32>) -> String {
    let first = numbers.get(&name).copied().unwrap_or(1);
    let numbered = |number: u32| if number == 1 { name.clone() } else { format!("{name}-{number}") };
    let free = (first..).find(|number| !taken.contains(&numbered(*number))).unwrap_or(first);
    let given = numbered(free);
    taken.insert(given.clone());
    numbers.insert(name, free);
    given
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_tasks_of_one_description_are_told_apart_without_trying_every_number() {
        let mut taken = BTreeSet::from(["a-3".to_owned()]);
        let mut numbers = HashMap::new();
        let names: Vec<String> = (0..4).map(|_| unused("a".to_owned(), &mut taken, &mut numbers)).collect();
        assert_eq!(names, ["a", "a-2", "a-4", "a-5"]);
        assert_eq!(numbers["a"], 5);
    }
}
