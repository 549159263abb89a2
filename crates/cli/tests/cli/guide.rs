//! The user's guide is true: every block of every page is used as its reader
//! would use it, in one shell and one folder for each page, and what the page
//! shows is what comes out.

mod page;
mod shell;
mod socket;

use std::path::{Path, PathBuf};

use page::{Block, Kind, Page};
use serde_json::Value;
use shell::Shell;

/// Blocks that are shown and not used: the page and the reason it gives.
const UNUSED: &[(&str, &str)] = &[
    ("cluster.md", "not typed: needs a PostgreSQL"),
    ("cluster.md", "not typed: needs a PostgreSQL"),
    ("cluster.md", "not typed: needs a PostgreSQL"),
    ("install.md", "not typed: needs root and a machine of its own"),
    ("introduction.md", "a drawing"),
    ("scale.md", "a drawing"),
];
/// The file in which the programs of the guide are compiled and run, as documentation of the library.
const LIBRARY: &str = include_str!("../../../consort/src/lib.rs");
/// The fewest commands the guide can have; fewer were not found.
const COMMANDS_MIN: usize = 100;

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// The result of trying a page.
#[derive(Default)]
struct Tried {
    /// Commands typed.
    commands: usize,
    /// Blocks that are not used, and why.
    unused: Vec<(String, String)>,
}

#[test]
fn every_page_of_the_guide_does_what_it_says() {
    let pages = Page::all(&docs());
    // Each in a shell of its own, so they need not wait for each other.
    let tried: Vec<Tried> = std::thread::scope(|scope| {
        let pages: Vec<_> = pages.iter().map(|page| scope.spawn(|| read(page))).collect();
        pages.into_iter().map(|page| page.join().unwrap()).collect()
    });
    let commands: usize = tried.iter().map(|tried| tried.commands).sum();
    let unused: Vec<_> = tried.into_iter().flat_map(|tried| tried.unused).collect();
    let listed: Vec<_> = UNUSED.iter().map(|(page, reason)| ((*page).to_owned(), (*reason).to_owned())).collect();
    assert_eq!(unused, listed, "blocks that are not used are listed above, each with its reason");
    assert!(commands >= COMMANDS_MIN, "only {commands} commands were found");
}

/// Does what a page says.
fn read(page: &Page) -> Tried {
    let mut shell = Shell::start();
    let mut tried = Tried::default();
    for block in &page.blocks {
        match block.kind() {
            Kind::File(name) => place(&mut shell, page, block, &name),
            Kind::Commands => tried.commands += type_in(&mut shell, page, block),
            Kind::Socket => socket::talk(&shell, page, block),
            Kind::Rust => assert!(LIBRARY.contains(&format!("docs/{}", page.name)), "{} is not tried", page.name),
            Kind::Program(path) => {
                let program = std::fs::read_to_string(docs().join("..").join(&path)).unwrap();
                assert!(program == block.text, "{}: {path} says something else", page.place(block.line));
            }
            Kind::Unused(reason) => tried.unused.push((page.name.clone(), reason)),
        }
    }
    tried
}

/// Puts a file where the page says; a configuration must be a good one.
fn place(shell: &mut Shell, page: &Page, block: &Block, name: &str) {
    let text = shell.real(&block.text);
    std::fs::write(shell.folder().join(name), text).unwrap();
    if name.ends_with(".toml") {
        let (told, status) = shell.type_in(&format!("consort check --config {name}"));
        assert_eq!(status, 0, "{}: {told}", page.place(block.line));
    }
}

/// Types the commands of a block; says how many there were.
fn type_in(shell: &mut Shell, page: &Page, block: &Block) -> usize {
    let steps = block.steps();
    for (index, step) in steps.iter().enumerate() {
        let place = page.place(step.line);
        let (told, status) = shell.type_in(&step.command);
        assert!(
            page::matches(&step.expected, &told),
            "{place}: {}\n{told}\nbut expected\n{}",
            step.command,
            step.expected
        );
        let told_next = steps.get(index + 1).is_some_and(|next| next.command == "echo $?");
        assert!(status == 0 || told_next, "{place}: {} ended with {status}: {told}", step.command);
    }
    steps.len()
}

#[test]
fn every_page_is_in_the_index_and_every_link_leads_somewhere() {
    let index = std::fs::read_to_string(docs().join("SUMMARY.md")).unwrap();
    for page in Page::all(&docs()) {
        assert!(page.name == "SUMMARY.md" || index.contains(&format!("({})", page.name)), "{} is missing", page.name);
        let folder = docs().join(&page.name).parent().unwrap().to_owned();
        for link in page.links() {
            assert!(folder.join(&link).exists(), "{}: {link} leads nowhere", page.name);
        }
    }
}

#[test]
fn every_code_of_a_refusal_is_in_troubleshooting() {
    let page = std::fs::read_to_string(docs().join("troubleshooting.md")).unwrap();
    let described = std::fs::read_to_string(docs().join("../openapi.json")).unwrap();
    let described: Value = serde_json::from_str(&described).unwrap();
    let codes = described["components"]["schemas"]["Problem"]["properties"]["error"]["enum"].as_array().unwrap();
    assert!(codes.len() > 30, "{codes:?}");
    let codes = codes.iter().map(|code| code.as_str().unwrap());
    let missing: Vec<_> = codes.filter(|code| !page.contains(&format!("`{code}`"))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
