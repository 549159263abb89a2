//! `search_files {pattern, path?, glob?, ignore_case?, limit?}`: the lines of the workspace's files that a
//! regular expression matches, without the files that git ignores. Symbolic links are not followed.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cap_fs_ext::FollowSymlinks;
use cap_std::fs::DirEntry;
use consort_core::catalog::ToolInfo;
use futures::future::BoxFuture;
use globset::GlobMatcher;
use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use regex::bytes::{Regex, RegexBuilder};
use serde::Deserialize;
use serde_json::json;

use super::super::arguments::{arguments, short};
use super::list::{VISITED_MAX, entries, pattern};
use super::path::WorkspacePath;
use super::{Folder, Workspace, info, read_in};
use crate::{Answer, Invocation, Tool};

/// The maximum size of an expression in bytes.
const PATTERN_MAX: usize = 1024;
/// The maximum size of a compiled expression in bytes. The time for a file grows with it, so it is smaller
/// than that of schemas, which are held against short texts.
const COMPILED_MAX: usize = 64 * 1024;
/// The maximum size of a file that is searched, in bytes; larger ones are seldom written by people.
const SEARCHED_FILE_MAX: usize = 1024 * 1024;
/// The maximum number of bytes searched by one call.
const BYTES_MAX: usize = 256 * 1024 * 1024;
/// The maximum duration of one call; it is checked between files.
const SEARCH_MAX: Duration = Duration::from_secs(20);
/// The number of matching lines returned unless a call wants another number, and the most it can want.
const MATCHES: usize = 100;
const MATCHES_MAX: usize = 1_000;
/// The number of bytes of a line that are shown.
const LINE_MAX: usize = 300;
/// The maximum size of a file with rules of what git ignores, in bytes; more is not read.
const RULES_MAX: usize = 64 * 1024;
/// The number of bytes in which a NUL says that a file is no text, as for git.
const TEXT_SAMPLE: usize = 8 * 1024;

/// The tool that searches files.
#[derive(Clone)]
pub struct SearchFiles {
    workspace: Workspace,
    info: Arc<ToolInfo>,
}

#[derive(Deserialize)]
struct Args {
    pattern: String,
    path: Option<String>,
    glob: Option<String>,
    ignore_case: Option<bool>,
    limit: Option<usize>,
}

impl SearchFiles {
    /// Returns a tool for this workspace.
    pub fn new(workspace: &Workspace) -> SearchFiles {
        SearchFiles { workspace: workspace.clone(), info: Arc::new(SearchFiles::description()) }
    }

    /// Returns the description of the tool.
    pub(crate) fn description() -> ToolInfo {
        let about = "Searches the files of the workspace for lines that match a regular expression, without files \
                     that git ignores. Answers with `path:line: text`. Look-around and back-references do not exist.";
        let schema = json!({ "type": "object", "additionalProperties": false, "required": ["pattern"], "properties": {
            "pattern": { "type": "string", "description": "The regular expression, matched against each line" },
            "path": { "type": "string", "description": "The folder or file; without it, the whole workspace" },
            "glob": { "type": "string", "description": "Only files whose path below the folder fits, as in `**/*.rs`" },
            "ignore_case": { "type": "boolean" },
            "limit": { "type": "integer", "minimum": 1, "maximum": MATCHES_MAX } } });
        info("search_files", about, schema)
    }
}

impl Tool for SearchFiles {
    fn info(&self) -> &Arc<ToolInfo> {
        &self.info
    }

    fn call(&self, invocation: Invocation) -> BoxFuture<'_, Answer> {
        self.workspace.answer(invocation, search)
    }
}

fn search(folder: &Folder, invocation: Invocation) -> Result<Answer, String> {
    let args: Args = arguments(invocation.args)?;
    let start = WorkspacePath::parse(args.path.as_deref().unwrap_or("."))?;
    folder.check_real(&start)?;
    let mut search = Search {
        folder,
        expression: compiled(&args.pattern, args.ignore_case.unwrap_or(false))?,
        glob: args.glob.as_deref().map(pattern).transpose()?,
        limit: args.limit.unwrap_or(MATCHES).clamp(1, MATCHES_MAX),
        until: Instant::now() + SEARCH_MAX,
        found: Vec::new(),
        searched: 0,
        bytes: 0,
        end: None,
    };
    let about = folder.root.metadata(folder.path(&start)).map_err(|error| folder.words(&start, &error))?;
    if about.is_dir() {
        search.below(&start)?;
    } else {
        // A file that is named is searched, whatever git thinks of it.
        search.file(&start, start.as_str());
    }
    Ok(Answer::Done { text: search.page(), data: None })
}

fn compiled(pattern: &str, ignore_case: bool) -> Result<Regex, String> {
    if pattern.is_empty() || pattern.len() > PATTERN_MAX {
        return Err(format!("`pattern` must have 1 to {PATTERN_MAX} bytes"));
    }
    let mut builder = RegexBuilder::new(pattern);
    builder.case_insensitive(ignore_case).size_limit(COMPILED_MAX).dfa_size_limit(COMPILED_MAX);
    builder.build().map_err(|error| {
        let pattern = short(pattern);
        if matches!(error, regex::Error::CompiledTooBig(_)) {
            format!("`{pattern}` takes more than {COMPILED_MAX} bytes when compiled; write a smaller one")
        } else {
            format!("`{pattern}` is no regular expression without look-around and back-references")
        }
    })
}

/// One search under way.
struct Search<'a> {
    folder: &'a Folder,
    expression: Regex,
    glob: Option<GlobMatcher>,
    limit: usize,
    until: Instant,
    found: Vec<String>,
    searched: usize,
    bytes: usize,
    /// The reason why it ended before all files were searched.
    end: Option<String>,
}

/// A folder to be searched, with the rules of what git ignores in it, outermost first.
struct Level {
    place: WorkspacePath,
    rules: Vec<Arc<Gitignore>>,
}

impl Search<'_> {
    /// Searches folder after folder in the order of their names; one that cannot be opened is skipped.
    fn below(&mut self, start: &WorkspacePath) -> Result<(), String> {
        let mut visited = 0;
        let mut open = vec![Level { rules: self.rules_above(start), place: start.clone() }];
        let mut is_first = true;
        while let Some(level) = open.pop() {
            let listed = match entries(self.folder, &level.place) {
                Err(reason) if is_first => return Err(reason),
                listed => listed.unwrap_or_default(),
            };
            is_first = false;
            visited += listed.len();
            let (files, mut folders) = self.sorted(level, listed);
            for place in files {
                let below = place.as_str().strip_prefix(start.as_str()).unwrap_or_default().trim_start_matches('/');
                if self.glob.as_ref().is_none_or(|glob| glob.is_match(below)) {
                    self.file(&place, place.as_str());
                }
                if self.end.is_some() {
                    return Ok(());
                }
            }
            open.append(&mut folders);
            if visited > VISITED_MAX || open.len() > VISITED_MAX {
                self.end = Some(format!("only {VISITED_MAX} files were looked at; name a folder"));
                return Ok(());
            }
        }
        Ok(())
    }

    /// Returns the files of a folder that git does not ignore, and the folders, the last first.
    fn sorted(&self, level: Level, listed: Vec<(WorkspacePath, DirEntry)>) -> (Vec<WorkspacePath>, Vec<Level>) {
        let mut rules = level.rules;
        rules.extend(self.rules_in(&level.place, &level.place.join(".gitignore")));
        let mut folders = Vec::new();
        let mut files = Vec::new();
        for (place, entry) in listed {
            let Ok(kind) = entry.file_type() else { continue };
            if is_ignored(&rules, &place, kind.is_dir()) {
                continue;
            }
            if kind.is_dir() {
                folders.push(Level { place, rules: rules.clone() });
            } else if kind.is_file() {
                files.push(place);
            }
        }
        files.sort_by(|one, other| one.as_str().cmp(other.as_str()));
        folders.sort_by(|one, other| other.place.as_str().cmp(one.place.as_str()));
        (files, folders)
    }

    /// Returns the rules that hold where a search begins: those of the repository and of the folders above.
    fn rules_above(&self, start: &WorkspacePath) -> Vec<Arc<Gitignore>> {
        let root = WorkspacePath::default();
        let mut rules: Vec<_> = self.rules_in(&root, &root.join(".git/info/exclude")).into_iter().collect();
        let mut above = WorkspacePath::default();
        for name in start.as_str().split('/').filter(|name| !name.is_empty()) {
            rules.extend(self.rules_in(&above, &above.join(".gitignore")));
            above = above.join(name);
        }
        rules
    }

    /// Returns the rules in a file, for a folder. What cannot be read, or is no rule, ignores nothing.
    fn rules_in(&self, folder: &WorkspacePath, file: &WorkspacePath) -> Option<Arc<Gitignore>> {
        let read = read_in(&self.folder.root, file.path(), FollowSymlinks::No, file).ok()??;
        let text = String::from_utf8_lossy(read.bytes.get(..RULES_MAX).unwrap_or(&read.bytes)).into_owned();
        let mut builder = GitignoreBuilder::new(folder.as_str());
        for line in text.lines() {
            let _no_rule = builder.add_line(None, line);
        }
        builder.build().ok().filter(|rules| !rules.is_empty()).map(Arc::new)
    }

    /// Searches one file; one that cannot be read, is no text or is too large is left out.
    fn file(&mut self, place: &WorkspacePath, name: &str) {
        if Instant::now() > self.until {
            self.end = Some(format!("stopped after {} s; name a folder", SEARCH_MAX.as_secs()));
            return;
        }
        let Ok(Some(read)) = read_in(&self.folder.root, &self.folder.path(place), FollowSymlinks::No, place) else {
            return;
        };
        let sample = read.bytes.get(..TEXT_SAMPLE).unwrap_or(&read.bytes);
        if read.bytes.len() > SEARCHED_FILE_MAX || sample.contains(&0) {
            return;
        }
        self.searched += 1;
        self.bytes += read.bytes.len();
        if self.bytes > BYTES_MAX {
            self.end = Some(format!("stopped after {BYTES_MAX} bytes; name a folder"));
            return;
        }
        for (number, line) in read.bytes.split(|byte| *byte == b'\n').enumerate() {
            if !self.expression.is_match(line) {
                continue;
            }
            if self.found.len() == self.limit {
                self.end = Some(format!("the first {} lines; name a folder, or a narrower pattern", self.limit));
                return;
            }
            self.found.push(format!("{name}:{}: {}", number + 1, shown(line)));
        }
    }

    fn page(self) -> String {
        let mut lines = self.found;
        if lines.is_empty() {
            lines.push(format!("(no line matches; {} files were searched)", self.searched));
        }
        lines.extend(self.end.map(|end| format!("({end})")));
        lines.join("\n")
    }
}

/// Returns whether git ignores a file; the rule of the innermost folder counts.
fn is_ignored(rules: &[Arc<Gitignore>], place: &WorkspacePath, is_folder: bool) -> bool {
    let decided = rules.iter().rev().find_map(|rules| match rules.matched(Path::new(place.as_str()), is_folder) {
        Match::None => None,
        Match::Ignore(_) => Some(true),
        Match::Whitelist(_) => Some(false),
    });
    decided.unwrap_or(false)
}

/// Returns a line as it is shown: without its indentation and of a limited length.
fn shown(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let text = text.trim();
    let end = text.floor_char_boundary(LINE_MAX);
    if end < text.len() { format!("{}…", text.get(..end).unwrap_or_default()) } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    async fn searched(root: &Path, args: Value) -> Result<String, String> {
        let tool = SearchFiles::new(&Workspace::open(root).unwrap());
        match tool.call(Invocation::test(args)).await {
            Answer::Done { text, .. } => Ok(text),
            Answer::Failed(why) => Err(why),
            other @ (Answer::Unknown(_) | Answer::Late { .. }) => panic!("{other:?}"),
        }
    }

    fn place(root: &Path, files: &[(&str, &str)]) {
        for (path, text) in files {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
    }

    #[tokio::test]
    async fn lines_are_found_with_their_places_and_what_git_ignores_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        place(
            folder.path(),
            &[
                ("a.rs", "fn one() {}\n    let bee = 1;\n"),
                ("src/b.rs", "// BEE\nfn two() {}\n"),
                ("src/deep/c.md", "a bee\n"),
                ("target/x.rs", "bee\n"),
                ("src/gen/x.rs", "bee\n"),
                ("src/gen/kept.rs", "bee kept\n"),
                ("notes.log", "bee\n"),
                (".hidden", "bee hidden\n"),
                (".git/info/exclude", "*.log\n"),
                (".git/config", "bee\n"),
                (".gitignore", "/target/\n"),
                ("src/.gitignore", "gen/*\n!kept.rs\n"),
                ("picture.png", "\0bee\n"),
            ],
        );
        std::os::unix::fs::symlink("a.rs", folder.path().join("link.rs")).unwrap();
        let all = ".hidden:1: bee hidden\na.rs:2: let bee = 1;\nsrc/deep/c.md:1: a bee\nsrc/gen/kept.rs:1: bee kept";
        assert_eq!(searched(folder.path(), json!({ "pattern": "bee" })).await.unwrap(), all);
        let args = json!({ "pattern": "^// bee$", "ignore_case": true, "path": "src", "glob": "**/*.rs" });
        assert_eq!(searched(folder.path(), args).await.unwrap(), "src/b.rs:1: // BEE");
        let below = searched(folder.path(), json!({ "pattern": "bee", "path": "src/gen" })).await.unwrap();
        assert_eq!(below, "src/gen/kept.rs:1: bee kept", "rules of the folders above hold too");
        let named = searched(folder.path(), json!({ "pattern": "bee", "path": "target/x.rs" })).await.unwrap();
        assert_eq!(named, "target/x.rs:1: bee", "a file that is named is searched");
        let none = searched(folder.path(), json!({ "pattern": "wasp" })).await.unwrap();
        assert!(none.starts_with("(no line matches; "), "{none}");
    }

    #[tokio::test]
    async fn limits_hold_and_are_said() {
        let folder = tempfile::tempdir().unwrap();
        let long = format!("bee{}\n", "x".repeat(1_000)).repeat(500);
        place(folder.path(), &[("a.txt", &long), ("b.txt", &"bee\n".repeat(300_000))]);
        let found = searched(folder.path(), json!({ "pattern": "bee", "limit": 3 })).await.unwrap();
        let lines: Vec<&str> = found.lines().collect();
        assert_eq!((lines.len(), lines[3]), (4, "(the first 3 lines; name a folder, or a narrower pattern)"));
        assert!(lines[0].len() < 400 && lines[0].ends_with('…'), "{}", lines[0]);
        let big = searched(folder.path(), json!({ "pattern": "bee", "path": "b.txt" })).await.unwrap();
        assert_eq!(big, "(no line matches; 0 files were searched)", "too large to be searched");
        for (pattern, why) in [
            ("(", "is no regular expression"),
            ("(?=a)", "is no regular expression"),
            ("a{1000}{1000}", "takes more than"),
            ("", "must have 1 to"),
        ] {
            let refused = searched(folder.path(), json!({ "pattern": pattern })).await.unwrap_err();
            assert!(refused.contains(why), "{pattern}: {refused}");
        }
        for path in ["../x", "/etc", ".git", "nowhere"] {
            assert!(searched(folder.path(), json!({ "pattern": "x", "path": path })).await.is_err(), "{path}");
        }
    }
}
