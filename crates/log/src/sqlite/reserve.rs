//! Room kept free on the disk, so that something can be erased when the disk is full:
//! erasing writes before it frees. The file holds nothing.

use std::fs;
use std::path::{Path, PathBuf};

use rustix::fs::{FallocateFlags, fallocate};

use super::beside;
use crate::private;

/// Enough for some pieces of an erasure, and little enough that it is not missed.
const BYTES: u64 = 4 * 1024 * 1024;

/// The reserve of one database.
pub(super) struct Reserve {
    path: PathBuf,
    /// False once it has been used up.
    is_there: bool,
}

impl Reserve {
    /// Sets room aside, unless an earlier process has.
    pub(super) fn of(database: &Path) -> Reserve {
        let mut reserve = Reserve { path: beside(database, ".reserve"), is_there: false };
        reserve.renew();
        reserve
    }

    /// Sets room aside again, where there is some.
    pub(super) fn renew(&mut self) {
        if self.is_there {
            return;
        }
        let room =
            private::open_file(&self.path).and_then(|file| Ok(fallocate(file, FallocateFlags::empty(), 0, BYTES)?));
        self.is_there = match room {
            Ok(()) => true,
            Err(error) => {
                // What was allocated before the disk was full is of no use to anybody.
                let _not_made = fs::remove_file(&self.path);
                tracing::debug!(%error, "no room is set aside for erasing on a full disk");
                false
            }
        };
    }

    /// Frees the room; returns whether there was any.
    pub(super) fn release(&mut self) -> bool {
        if !std::mem::take(&mut self.is_there) {
            return false;
        }
        let freed = fs::remove_file(&self.path);
        tracing::warn!(file = %self.path.display(), "the disk is full: the room set aside for erasing is used");
        freed.is_ok()
    }
}
