//! The page about security is true: each threat that it lists names a test that tries it, and each of these exists.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The column of a table that names tests.
const COLUMN: &str = "tried by";
/// The words of a row whose tests are those of the row before.
const THE_SAME: &str = "the same, ";
/// The fewest threats that the page can list; fewer were not found.
const THREATS_MIN: usize = 60;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the source files below a folder.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(path);
        }
    }
}

/// Returns the names of the test functions of a file.
fn tests(text: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut is_test = false;
    for line in text.lines().map(str::trim) {
        let function = line.strip_prefix("async ").unwrap_or(line).strip_prefix("fn ");
        match function.and_then(|rest| rest.split_once('(')) {
            Some((name, _)) if is_test => drop(names.insert(name.to_owned())),
            _ => {}
        }
        let goes_on = line.starts_with("#[") || line.starts_with("//");
        is_test = line.starts_with("#[test]") || line.starts_with("#[tokio::test") || (is_test && goes_on);
    }
    names
}

/// Returns the rows of the tables with a column of tests: the threat, and that column.
fn threats(page: &str) -> Vec<(String, String)> {
    let mut rows = Vec::new();
    let mut column = None;
    for line in page.lines() {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        if !line.starts_with('|') {
            column = None;
        } else if let Some(place) = cells.iter().position(|cell| *cell == COLUMN) {
            column = Some(place);
        } else if let Some(place) = column.filter(|_| !line.starts_with("|---")) {
            rows.push((cells[0].to_owned(), cells.get(place).copied().unwrap_or_default().to_owned()));
        }
    }
    rows
}

/// Returns the words in backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

#[test]
fn every_threat_is_tried_by_tests_that_exist() {
    let mut files = Vec::new();
    for folder in ["crates", "tests", "bench"] {
        sources(&root().join(folder), &mut files);
    }
    let known: BTreeSet<String> = files.iter().flat_map(|path| tests(&fs::read_to_string(path).unwrap())).collect();
    let threats = threats(&fs::read_to_string(root().join("docs/security.md")).unwrap());
    assert!(threats.len() >= THREATS_MIN, "{} threats", threats.len());
    for (threat, tried) in threats {
        assert!(quoted(&tried).next().is_some() || tried.starts_with(THE_SAME), "{threat}: nothing tries it");
        for name in quoted(&tried).filter(|name| !name.contains('.')) {
            assert!(known.contains(name), "{threat}: there is no test {name}");
        }
        for file in quoted(&tried).filter(|name| name.contains('/')) {
            assert!(root().join(file).exists(), "{threat}: there is no file {file}");
        }
    }
}
