//! The pages about security and about surfaces are true: each threat and each surface that they list names tests, and
//! each of these exists.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The column of a table that names tests.
const COLUMN: &str = "tried by";
/// The words of a row whose tests are those of the row before.
const THE_SAME: &str = "the same, ";
/// The fewest threats that the page can list; fewer were not found.
const THREATS_MIN: usize = 60;
/// The fewest surfaces that the other page can list.
const SURFACES_MIN: usize = 15;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the source files below a folder.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs" || end == "py") {
            found.push(path);
        }
    }
}

/// Returns the names of the functions of a program in Python.
fn functions(text: &str) -> impl Iterator<Item = String> {
    let begun = text.lines().map(str::trim).map(|line| line.strip_prefix("async ").unwrap_or(line));
    begun.filter_map(|line| Some(line.strip_prefix("def ")?.split_once('(')?.0.to_owned()))
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

/// Returns the rows of the tables with a column of this name: the first cell, and those from that column on.
fn rows(page: &str, name: &str) -> Vec<(String, Vec<String>)> {
    let mut rows = Vec::new();
    let mut column = None;
    for line in page.lines() {
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        if !line.starts_with('|') {
            column = None;
        } else if let Some(place) = cells.iter().position(|cell| *cell == name) {
            column = Some(place);
        } else if let Some(place) = column.filter(|_| !line.starts_with("|---")) {
            rows.push((cells[0].to_owned(), cells.into_iter().skip(place).map(str::to_owned).collect()));
        }
    }
    rows
}

/// Returns the names of all tests, those in Python among them.
fn known() -> BTreeSet<String> {
    let mut files = Vec::new();
    for folder in ["crates", "tests", "bench", "clients/python/tests"] {
        sources(&root().join(folder), &mut files);
    }
    let mut known = BTreeSet::new();
    for path in files {
        let text = fs::read_to_string(&path).unwrap();
        if path.extension().is_some_and(|end| end == "py") {
            known.extend(functions(&text));
        } else {
            known.extend(tests(&text));
        }
    }
    known
}

/// Checks that every test and every file that a cell names exists.
fn assert_tried(what: &str, cell: &str, known: &BTreeSet<String>) {
    for name in quoted(cell).filter(|name| !name.contains(['.', '/'])) {
        assert!(known.contains(name), "{what}: there is no test {name}");
    }
    for file in quoted(cell).filter(|name| name.contains('/')) {
        assert!(root().join(file).exists(), "{what}: there is no file {file}");
    }
}

/// Returns the words in backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

#[test]
fn every_threat_is_tried_by_tests_that_exist() {
    let known = known();
    let threats = rows(&fs::read_to_string(root().join("docs/security.md")).unwrap(), COLUMN);
    assert!(threats.len() >= THREATS_MIN, "{} threats", threats.len());
    for (threat, cells) in threats {
        let tried = cells.first().unwrap();
        assert!(quoted(tried).next().is_some() || tried.starts_with(THE_SAME), "{threat}: nothing tries it");
        assert_tried(&threat, tried, &known);
    }
}

#[test]
fn every_surface_is_tried_with_a_client_across_a_kill_and_with_what_is_wrong() {
    let known = known();
    let surfaces = rows(&fs::read_to_string(root().join("docs/surfaces.md")).unwrap(), "with a client");
    assert!(surfaces.len() >= SURFACES_MIN, "{} surfaces", surfaces.len());
    for (surface, cells) in surfaces {
        assert_eq!(cells.len(), 3, "{surface}: {cells:?}");
        for cell in cells {
            assert!(quoted(&cell).next().is_some(), "{surface}: nothing tries it");
            assert_tried(&surface, &cell, &known);
        }
        let page = surface.split_once("](").unwrap().1.split([')', '#']).next().unwrap();
        assert!(root().join("docs").join(page).exists(), "{surface}: there is no page {page}");
    }
}
