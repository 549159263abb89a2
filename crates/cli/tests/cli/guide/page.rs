//! A page as the test sees it: its fenced blocks by what they are for.

use std::path::Path;

/// A page of the guide.
pub(crate) struct Page {
    /// Its path below `docs`.
    pub(crate) name: String,
    /// Its blocks, in order.
    pub(crate) blocks: Vec<Block>,
    text: String,
}

/// A fenced block.
pub(crate) struct Block {
    /// The text after the opening fence.
    info: String,
    /// The text inside.
    pub(crate) text: String,
    /// The line of the page it begins in.
    pub(crate) line: usize,
}

/// The purpose of a block.
pub(crate) enum Kind {
    /// A file of this name.
    File(String),
    /// Commands and what they print.
    Commands,
    /// Frames over a socket.
    Socket,
    /// A program.
    Rust,
    /// A program that is this file of the repository, where its own tests run it.
    Program(String),
    /// To be looked at, for this reason.
    Unused(String),
}

/// A command and what it prints.
pub(crate) struct Step {
    /// The command.
    pub(crate) command: String,
    /// The expected output, `…` for anything.
    pub(crate) expected: String,
    /// The line of the page it is in.
    pub(crate) line: usize,
}

impl Page {
    /// Returns every page below a folder, in the order of their names.
    pub(crate) fn all(docs: &Path) -> Vec<Page> {
        let page = |(name, text): (String, String)| Page { blocks: blocks(&text), name, text };
        files(docs, ".md").into_iter().map(page).collect()
    }

    /// Returns the name of a place in it, for messages.
    pub(crate) fn place(&self, line: usize) -> String {
        format!("docs/{}:{line}", self.name)
    }

    /// Returns the files it links to.
    pub(crate) fn links(&self) -> Vec<String> {
        let targets = self.text.split("](").skip(1).filter_map(|rest| rest.split([')', '#']).next());
        let is_file = |target: &&str| !target.is_empty() && !target.contains("://");
        targets.filter(is_file).map(str::to_owned).collect()
    }
}

/// Returns the files below a folder whose names have this ending, with their contents.
fn files(folder: &Path, ending: &str) -> Vec<(String, String)> {
    let mut names = Vec::new();
    collect(folder, "", &mut names);
    names.retain(|name| name.ends_with(ending));
    names.sort();
    let text = |name: &String| std::fs::read_to_string(folder.join(name)).unwrap();
    names.into_iter().map(|name| (name.clone(), text(&name))).collect()
}

fn collect(folder: &Path, below: &str, names: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder.join(below)).unwrap() {
        let entry = entry.unwrap();
        let name = Path::new(below).join(entry.file_name()).to_str().unwrap().to_owned();
        if entry.path().is_dir() {
            collect(folder, &name, names);
        } else {
            names.push(name);
        }
    }
}

fn blocks(text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (index, line) in text.lines().enumerate() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(info), None) => {
                open = Some(Block { info: info.to_owned(), text: String::new(), line: index + 1 });
            }
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (None, Some(block)) => block.text = format!("{}{line}\n", block.text),
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block is not closed: {}", open.map(|block| block.text).unwrap_or_default());
    blocks
}

impl Block {
    /// Returns its purpose: the language, and a file's name or the reason why it is not used.
    pub(crate) fn kind(&self) -> Kind {
        match self.info.split_once(' ').unwrap_or((&self.info, "")) {
            ("console", "") => Kind::Commands,
            ("socket", "") => Kind::Socket,
            ("rust", "") => Kind::Rust,
            ("python" | "typescript", path) if path.starts_with("clients/") => Kind::Program(path.to_owned()),
            ("toml", "") => Kind::File("consort.toml".to_owned()),
            ("text", reason) if !reason.is_empty() => Kind::Unused(reason.to_owned()),
            ("toml" | "json" | "markdown", name) if name.contains('.') => Kind::File(name.to_owned()),
            _ => panic!("line {}: nobody knows what to do with a block of `{}`", self.line, self.info),
        }
    }

    /// Returns its commands, each with the expected output.
    pub(crate) fn steps(&self) -> Vec<Step> {
        let mut steps: Vec<Step> = Vec::new();
        for (index, line) in self.text.lines().enumerate() {
            match (line.strip_prefix("$ "), steps.last_mut()) {
                (Some(command), _) => {
                    let command = command.to_owned();
                    steps.push(Step { command, expected: String::new(), line: self.line + index + 1 });
                }
                // A line that ends so is not the end of its command.
                (None, Some(step)) if step.command.ends_with('\\') => {
                    step.command = format!("{}\n{line}", step.command);
                }
                (None, Some(step)) => step.expected = format!("{}{line}\n", step.expected),
                (None, None) => panic!("line {}: a command begins with `$ `", self.line),
            }
        }
        steps
    }
}

/// Returns whether this was printed; `…` stands for anything.
pub(crate) fn matches(expected: &str, told: &str) -> bool {
    let told: String = told.lines().map(|line| format!("{}\n", line.trim_end())).collect();
    let pieces: Vec<&str> = expected.split('…').collect();
    let [first, between @ .., last] = pieces.as_slice() else { return expected == told };
    let Some(mut rest) = told.strip_prefix(first) else { return false };
    for piece in between {
        let Some(at) = rest.find(piece) else { return false };
        rest = &rest[at + piece.len()..];
    }
    // Nothing at all may stand where a whole line says `…`.
    rest.ends_with(last) || (*last == "\n" && rest.is_empty())
}

#[test]
fn what_was_printed_is_compared_piece_by_piece() {
    for (expected, told) in [("a\n", "a\n"), ("a…c\n", "a b c\n"), ("…\nb\n", "x\ny\nb\n"), ("a\n…\n", "a\n")] {
        assert!(matches(expected, told), "{expected:?} {told:?}");
    }
    for (expected, told) in [("a\n", "ab\n"), ("a…c\n", "a b\n"), ("a…b…\n", "b a\n"), ("", "a\n"), ("a\n", "")] {
        assert!(!matches(expected, told), "{expected:?} {told:?}");
    }
}
