//! The process that uses a database: it holds a lock on the file beside it, and where it is a
//! server the file says at which address. The system releases the lock when the process ends,
//! however it ends, and the next holder empties the file, so an address is never out of date.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Write};
use std::net::SocketAddr;
use std::path::Path;

use super::{beside, unavailable};
use crate::{Error, private};

/// The end of the name of the file that is locked.
const END: &str = ".lock";
/// The maximum length of an address with its line end: IPv6 with a scope has 65 characters.
const ADDRESS_MAX: u64 = 80;

/// Makes this process the only one that uses the database.
pub(super) fn lock(database: &Path) -> Result<File, Error> {
    let name = beside(database, END);
    let open = private::open_file(&name);
    let file = open.map_err(|error| unavailable(format!("cannot open {}: {error}", name.display())))?;
    match file.try_lock() {
        // What an earlier holder said of itself is over.
        Ok(()) => match file.set_len(0) {
            Ok(()) => Ok(file),
            Err(error) => Err(unavailable(format!("cannot empty {}: {error}", name.display()))),
        },
        Err(TryLockError::WouldBlock) => {
            Err(unavailable(format!("{} is in use by another process", database.display())))
        }
        Err(TryLockError::Error(error)) => Err(unavailable(format!("cannot lock {}: {error}", name.display()))),
    }
}

/// Tells other processes on this machine at which address this one serves the database that it uses.
pub fn announce(database: &Path, address: SocketAddr) -> io::Result<()> {
    let mut file = private::open_file(&beside(database, END))?;
    file.set_len(0)?;
    // In one write, so that a concurrent reader finds all of it or nothing.
    file.write_all(format!("{address}\n").as_bytes())
}

/// Returns the address at which another process serves this database, if one does.
pub fn served_at(database: &Path) -> Option<SocketAddr> {
    let name = beside(database, END);
    // First without touching the lock, so that a process that starts at this moment gets it.
    address(&name)?;
    let is_held = matches!(File::open(&name).ok()?.try_lock_shared(), Err(TryLockError::WouldBlock));
    // Again: what was read before may have been the word of an earlier holder.
    is_held.then(|| address(&name)).flatten()
}

fn address(file: &Path) -> Option<SocketAddr> {
    let mut text = String::new();
    File::open(file).ok()?.take(ADDRESS_MAX).read_to_string(&mut text).ok()?;
    text.strip_suffix('\n')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_counts_only_while_the_process_that_announced_it_holds_the_database() {
        let home = tempfile::tempdir().unwrap();
        let database = home.path().join("consort.db");
        let here = SocketAddr::from(([127, 0, 0, 1], 7329));
        assert_eq!(served_at(&database), None, "nothing is there");
        let holder = lock(&database).unwrap();
        assert_eq!(served_at(&database), None, "it is used, but not served");
        announce(&database, here).unwrap();
        assert_eq!(served_at(&database), Some(here));
        assert!(lock(&database).unwrap_err().to_string().ends_with("is in use by another process"));
        assert_eq!(served_at(&database), Some(here), "who is refused changes nothing");
        drop(holder);
        assert_eq!(served_at(&database), None, "as after a crash: the address stays in the file");
        let _next = lock(&database).unwrap();
        assert_eq!(served_at(&database), None, "the next one has not announced anything");
        for text in ["127.0.0.1:73", "", "nowhere\n", "http://127.0.0.1:7329\n", "\u{1b}[2J\n"] {
            std::fs::write(beside(&database, END), text).unwrap();
            assert_eq!(served_at(&database), None, "{text:?}");
        }
    }
}
