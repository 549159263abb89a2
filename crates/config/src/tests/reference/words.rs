//! The starter's explanation of a key or a table: the lines right above it.

use std::collections::BTreeMap;

/// Explanations by key.
pub(super) struct Words(BTreeMap<String, String>);

impl Words {
    /// Reads the explanations of a file, which are lines with `# `.
    pub(super) fn of(text: &str) -> Words {
        let mut words = BTreeMap::new();
        let mut table = String::new();
        let mut said = Vec::new();
        for line in text.lines() {
            if let Some(explained) = line.strip_prefix("# ") {
                said.push(explained.trim());
                continue;
            }
            let explained = std::mem::take(&mut said).join(" ");
            let key = match line.strip_prefix('[') {
                Some(header) => {
                    table = header.trim_matches(['[', ']']).to_owned();
                    table.clone()
                }
                None => format!("{table}.{}", line.split(" = ").next().unwrap_or_default()),
            };
            if !explained.is_empty() {
                words.entry(key).or_insert(explained);
            }
        }
        Words(words)
    }

    /// Returns the explanation of this key; empty when there is none.
    pub(super) fn about(&self, key: &str) -> String {
        self.0.get(key).cloned().unwrap_or_default()
    }
}
