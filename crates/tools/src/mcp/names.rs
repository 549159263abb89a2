//! The names of servers' tools in this program: their own names, or prefixed
//! with their server where a name is taken. A name once given stays with its
//! tool, so that a run never finds another tool behind a name it knows.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

/// The maximum number of names that one server's tools get. A server that goes on inventing
/// tools gets no more until the next start: names stay with their tools, so they cannot be freed.
const NAMES_MAX: usize = 2_000;

/// The names in use.
pub(super) struct Names(Mutex<Given>);

struct Given {
    taken: HashSet<String>,
    names: HashMap<(String, String), String>,
}

impl Names {
    /// Returns the names with these reserved, which no tool gets.
    pub(super) fn new(taken: Vec<String>) -> Names {
        Names(Mutex::new(Given { taken: taken.into_iter().collect(), names: HashMap::new() }))
    }

    /// Returns the name of a server's tool; none when no character of it can be used in a name.
    pub(super) fn give(&self, server: &str, tool: &str) -> Option<String> {
        let mut given = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (server.to_owned(), tool.to_owned());
        if let Some(name) = given.names.get(&key) {
            return Some(name.clone());
        }
        if given.names.keys().filter(|(of, _)| of == server).count() >= NAMES_MAX {
            return None;
        }
        let own = plain(tool);
        let server = plain(server);
        let wanted = [own.clone(), format!("{server}_{own}")];
        let name = wanted.into_iter().find(|name| !own.is_empty() && !given.taken.contains(name))?;
        given.taken.insert(name.clone());
        given.names.insert(key, name.clone());
        Some(name)
    }
}

/// Returns the name without characters that need quoting; a dot would denote a peer's tool.
fn plain(name: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    name.trim().chars().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_keeps_its_name_and_a_taken_one_is_told_apart_by_its_server() {
        let names = Names::new(vec!["json".to_owned()]);
        for (server, tool, name) in [
            ("files", "read", Some("read")),
            ("wiki", "read", Some("wiki_read")),
            ("files", "read", Some("read")),
            ("wiki", "json", Some("wiki_json")),
            ("wiki", "pages.find/all", Some("pages_find_all")),
            ("wiki", "pages_find_all", Some("wiki_pages_find_all")),
            ("wiki", " ", None),
            ("wiki", "pages find/all", None),
        ] {
            assert_eq!(names.give(server, tool).as_deref(), name, "{server} {tool}");
        }
    }

    #[test]
    fn a_server_that_goes_on_inventing_tools_gets_no_more_names_and_others_do() {
        let names = Names::new(Vec::new());
        let given = (0..NAMES_MAX + 10).filter(|number| names.give("wild", &format!("tool{number}")).is_some());
        assert_eq!(given.count(), NAMES_MAX);
        assert_eq!(names.give("wild", "tool0").as_deref(), Some("tool0"), "what it has it keeps");
        assert_eq!(names.give("calm", "read").as_deref(), Some("read"));
    }
}
