//! Files and folders that only their owner may read. Everything this
//! program makes for itself is made here: in folders of mode 0700, in files of
//! mode 0600.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::Path;

/// The mode of a folder.
const FOLDER: u32 = 0o700;
/// The mode of a file.
pub const FILE: u32 = 0o600;

/// Creates a folder, and those above it, unless they exist.
pub fn create_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(FOLDER).create(path)
}

/// Creates a file that does not exist yet.
pub fn create_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).mode(FILE).open(path)
}

/// Opens a file for writing, and creates it unless it exists; its content stays.
pub fn open_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(FILE).open(path)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn only_the_owner_may_read_what_is_made_and_what_was_there_stays_as_it_is() {
        let home = tempfile::tempdir().unwrap();
        let above = home.path().join("a");
        let file = home.path().join("a/b/c");
        create_folder(&home.path().join("a/b")).unwrap();
        create_file(&file).unwrap();
        assert_eq!((mode(&above), mode(&home.path().join("a/b")), mode(&file)), (0o700, 0o700, 0o600));
        assert_eq!(create_file(&file).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        std::fs::write(&file, "x").unwrap();
        drop(open_file(&file).unwrap());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "x");
        drop(open_file(&above.join("d")).unwrap());
        assert_eq!(mode(&above.join("d")), 0o600);
    }
}
