//! Files that a person names in a message: `@plan.pdf`, `@"my plan.pdf"`. Only what is typed is looked
//! through; what is piped in was written by others, who must not choose the files to send.

use std::path::{Path, PathBuf};

use consort_tools::extract::MediaType;

use crate::client::Upload;

/// The endings of names that can only be meant as files.
const ENDINGS: [&str; 13] =
    ["png", "jpg", "jpeg", "gif", "webp", "pdf", "docx", "json", "csv", "html", "htm", "md", "txt"];
/// The signs that may follow a name in a sentence.
const AFTER: [char; 9] = ['.', ',', ';', ':', '!', '?', ')', '\'', '"'];

/// Returns the files that a message names. One that is not there is a mistake if it can only be meant as a
/// file; otherwise, as with `@everyone`, it is a word.
pub(crate) fn named(message: &str) -> Result<Vec<PathBuf>, String> {
    let mut files = Vec::new();
    let mut rest = message;
    let mut before = None;
    while let Some((start, after)) = rest.split_once('@') {
        before = start.chars().next_back().or(before);
        let begins = before.is_none_or(|char| char.is_whitespace() || char == '(');
        let (name, following) = word(after);
        rest = following;
        if begins && !name.is_empty() {
            files.extend(found(name)?);
        }
        before = name.chars().next_back().or(Some('@'));
    }
    files.dedup();
    Ok(files)
}

/// Splits a name, which may be in quotes, from what follows it.
fn word(text: &str) -> (&str, &str) {
    match text.strip_prefix('"').and_then(|quoted| quoted.split_once('"')) {
        Some((name, following)) => (name, following),
        None => text.split_at(text.find(char::is_whitespace).unwrap_or(text.len())),
    }
}

fn found(name: &str) -> Result<Option<PathBuf>, String> {
    let short = name.trim_end_matches(AFTER);
    for path in [name, short].map(PathBuf::from) {
        if path.is_file() {
            return Ok(Some(path));
        }
    }
    let ending = Path::new(short).extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
    let is_meant = short.contains('/') || ending.is_some_and(|ending| ENDINGS.contains(&ending.as_str()));
    if is_meant { Err(format!("there is no file '{short}' to attach")) } else { Ok(None) }
}

/// Reads a file to be attached.
pub(crate) fn upload(file: &Path) -> Result<Upload, String> {
    let bytes = std::fs::read(file).map_err(|error| format!("{}: cannot be read: {error}", file.display()))?;
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(Upload { kind: MediaType::of_file(file).essence, name, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_by_a_sign_before_them_and_other_words_with_it_are_words() {
        let folder = tempfile::tempdir().unwrap();
        let plan = folder.path().join("my plan.pdf");
        let list = folder.path().join("list");
        for path in [&plan, &list] {
            std::fs::write(path, "x").unwrap();
        }
        let plan_at = plan.display();
        let list_at = list.display();
        let message = format!("Is @\"{plan_at}\" like (@{list_at})? @everyone me@{list_at} @@ -1 @app.route @");
        assert_eq!(named(&message), Ok(vec![plan, list]));
        assert_eq!(named("no file"), Ok(Vec::new()));
        for missing in ["@plan.pdf", "Read @./x, please", "@Photo.PNG?"] {
            assert!(named(missing).unwrap_err().contains("there is no file"), "{missing}");
        }
    }
}
