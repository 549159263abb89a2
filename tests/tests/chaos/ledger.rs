//! The ledger of a process's actions, line by line in a file beside its log. Each
//! line is one write, so that it survives the process; no writer waits for the disk.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use consort_core::event::Event;
use consort_log::Seq;
use serde::{Deserialize, Serialize};

const FILE: &str = "ledger";

/// One line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Line {
    /// A process started.
    Born,
    /// A tool began a call.
    Begun { tool: String, key: String },
    /// A tool finished a call.
    Finished { tool: String, key: String },
    /// A call was stopped before it finished.
    Dropped { tool: String, key: String },
    /// An append was passed to the log.
    Handed { append: u64, run: String, expected: Seq },
    /// The log acknowledged an append.
    Acknowledged { append: u64, run: String },
    /// A submission was acknowledged.
    Accepted { run: String },
    /// A command was acknowledged, and caused this event.
    Promised { run: String, event: Event },
}

/// The writing end.
#[derive(Clone)]
pub(super) struct Pen(Arc<File>);

impl Pen {
    pub(super) fn open(folder: &Path) -> Pen {
        Pen(Arc::new(File::options().create(true).append(true).open(folder.join(FILE)).unwrap()))
    }

    pub(super) fn write(&self, line: &Line) {
        let text = format!("{}\n", serde_json::to_string(line).unwrap());
        (&*self.0).write_all(text.as_bytes()).unwrap();
    }
}

/// The reading end.
pub(super) struct Ledger {
    lines: Vec<Line>,
}

impl Ledger {
    pub(super) fn read(folder: &Path) -> Ledger {
        let text = fs::read_to_string(folder.join(FILE)).unwrap();
        // The last one may still be on its way, or its writer was killed half-way: it is not written yet.
        let whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
        Ledger { lines: whole.map(|line| serde_json::from_str(line).unwrap()).collect() }
    }

    /// Returns its size in bytes.
    pub(super) fn size(folder: &Path) -> u64 {
        fs::metadata(folder.join(FILE)).unwrap().len()
    }

    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    pub(super) fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// Returns the entries from a line on.
    pub(super) fn since(&self, line: usize) -> Ledger {
        Ledger { lines: self.lines[line..].to_vec() }
    }
}
