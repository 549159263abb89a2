//! `read_file {path, offset?, limit?}`: text with line numbers.

use std::sync::Arc;

use consort_core::catalog::ToolInfo;
use futures::future::BoxFuture;
use serde::Deserialize;
use serde_json::json;

use super::super::arguments::arguments;
use super::path::WorkspacePath;
use super::seen::print;
use super::{Folder, Workspace, info};
use crate::{Answer, Invocation, Tool};

/// The maximum number of lines shown, and the default.
const LINES_MAX: usize = 2_000;
/// The maximum number of bytes shown at once.
const SHOWN_MAX: usize = 64 * 1024;
/// The maximum size of one line in bytes.
const LINE_MAX: usize = 2_000;

/// The tool that reads a file.
#[derive(Clone)]
pub struct ReadFile {
    workspace: Workspace,
    info: Arc<ToolInfo>,
}

#[derive(Deserialize)]
struct Args {
    path: String,
    offset: Option<usize>,
    limit: Option<usize>,
}

impl ReadFile {
    /// Returns a tool for this workspace.
    pub fn new(workspace: &Workspace) -> ReadFile {
        ReadFile { workspace: workspace.clone(), info: Arc::new(ReadFile::description()) }
    }

    /// Returns the description of the tool.
    pub(crate) fn description() -> ToolInfo {
        let about = "Reads a text file of the workspace. Answers with numbered lines; `offset` is the first line \
                     wanted, counted from 1, and `limit` how many.";
        let schema = json!({ "type": "object", "required": ["path"], "additionalProperties": false, "properties": {
            "path": { "type": "string", "description": "From the workspace, as in `notes/plan.md`" },
            "offset": { "type": "integer", "minimum": 1 },
            "limit": { "type": "integer", "minimum": 1 } } });
        info("read_file", about, schema)
    }
}

impl Tool for ReadFile {
    fn info(&self) -> &Arc<ToolInfo> {
        &self.info
    }

    fn call(&self, invocation: Invocation) -> BoxFuture<'_, Answer> {
        self.workspace.answer(invocation, read)
    }
}

fn read(folder: &Folder, Invocation { run, args, .. }: Invocation) -> Result<Answer, String> {
    let Args { path, offset, limit } = arguments(args)?;
    let place = WorkspacePath::of_file(&path)?;
    let bytes = folder.read(&place)?;
    let print = print(&bytes);
    let text = text(&place, bytes)?;
    folder.note(&run, &place, print);
    let first = offset.unwrap_or(1).max(1);
    let limit = limit.unwrap_or(LINES_MAX).min(LINES_MAX);
    Ok(Answer::Done { text: numbered(&text, first, limit), data: None })
}

/// Returns the text of a file; a file that is not text is refused.
pub(super) fn text(place: &WorkspacePath, bytes: Vec<u8>) -> Result<String, String> {
    let size = bytes.len();
    let refused = |why: &str| format!("`{}` is not text: {why} ({size} bytes)", place.as_str());
    if bytes.contains(&0) {
        return Err(refused("it holds zero bytes"));
    }
    String::from_utf8(bytes).map_err(|_| refused("it is not UTF-8"))
}

fn numbered(text: &str, first: usize, limit: usize) -> String {
    let total = text.lines().count();
    let mut shown = String::new();
    let mut next = first;
    for (index, line) in text.lines().enumerate().skip(first - 1).take(limit) {
        let row = format!("{:>6}\t{}\n", index + 1, cut(line));
        if shown.len() + row.len() > SHOWN_MAX {
            break;
        }
        shown.push_str(&row);
        next = index + 2;
    }
    let note = match (total, next > total) {
        (0, _) => "(the file is empty)".to_owned(),
        _ if first > total => format!("(the file has only {total} lines)"),
        (_, true) => return shown,
        (_, false) => format!("(lines {first} to {} of {total}; go on with offset {next})", next - 1),
    };
    shown + &note
}

fn cut(line: &str) -> String {
    if line.len() <= LINE_MAX {
        return line.to_owned();
    }
    let end = line.floor_char_boundary(LINE_MAX);
    format!("{}… ({} bytes more)", line.get(..end).unwrap_or_default(), line.len() - end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_numbered_and_the_rest_is_announced() {
        assert_eq!(numbered("a\nb\n", 1, 10), "     1\ta\n     2\tb\n");
        assert_eq!(numbered("a\nb\nc", 2, 1), "     2\tb\n(lines 2 to 2 of 3; go on with offset 3)");
        assert_eq!(numbered("", 1, 10), "(the file is empty)");
        assert_eq!(numbered("a\n", 5, 10), "(the file has only 1 lines)");
        let long = numbered(&format!("{}é", "x".repeat(LINE_MAX - 1)), 1, 1);
        assert!(long.ends_with("x… (2 bytes more)\n"), "{long}");
        let many = numbered(&"line\n".repeat(20_000), 1, 2_000);
        assert!(many.ends_with("(lines 1 to 2000 of 20000; go on with offset 2001)"));
        let wide = numbered(&format!("{}\n", "x".repeat(1_000)).repeat(1_000), 1, 1_000);
        assert!(wide.len() < SHOWN_MAX + 100 && wide.ends_with("of 1000; go on with offset 66)"), "{}", wide.len());
    }
}
