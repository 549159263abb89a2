//! The shim between a server and the system: compiled from `shim.c`, loaded into the server,
//! and told by a file what is to go wrong.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::dice::Dice;
use crate::victim::Victim;

/// The places of the file's fields, eight bytes each, as in `shim.c`.
const FAULTS: u64 = 0;
const ONE_IN: u64 = 8;
const CLOCK: u64 = 16;
const DICE: u64 = 24;
const HITS: u64 = 32;
const LENGTH: u64 = 40;

/// The faults of a file, as in `shim.c`.
pub(super) const WRITE_EIO: u64 = 1;
pub(super) const WRITE_ENOSPC: u64 = 2;
pub(super) const WRITE_SHORT: u64 = 4;
pub(super) const SYNC_EIO: u64 = 8;
pub(super) const TRUNCATE_EIO: u64 = 16;
const EVERY: [u64; 5] = [WRITE_EIO, WRITE_ENOSPC, WRITE_SHORT, SYNC_EIO, TRUNCATE_EIO];

/// The frequencies of faults: one in so many calls.
const FREQUENCIES: [u64; 3] = [1, 2, 7];

/// The shim, as this process sees it.
pub(super) struct Shim {
    library: PathBuf,
    path: PathBuf,
    control: File,
}

impl Shim {
    /// Compiles it into a folder; everything goes well at first.
    pub(super) fn new(folder: &Path, dice: &mut Dice) -> Shim {
        let library = folder.join("shim.so");
        let path = folder.join("shim.control");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/faults/shim.c");
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o"]).arg(&library).arg(source).arg("-ldl");
        assert!(compiler.status().unwrap().success(), "the shim compiles");
        let control = File::options().read(true).write(true).create_new(true).open(&path).unwrap();
        control.set_len(LENGTH).unwrap();
        let shim = Shim { library, path, control };
        shim.set(DICE, dice.roll(u64::MAX));
        shim
    }

    /// Puts it into a server's way.
    pub(super) fn around(&self, server: Victim) -> Victim {
        let folder = server.data();
        let server = server.with("LD_PRELOAD", self.library.to_str().unwrap());
        let server = server.with("CONSORT_SHIM_CONTROL", self.path.to_str().unwrap());
        server.with("CONSORT_SHIM_FOLDER", folder.to_str().unwrap())
    }

    fn set(&self, place: u64, value: u64) {
        self.control.write_all_at(&value.to_ne_bytes(), place).unwrap();
    }

    /// Makes writes fail like this, one time in so many.
    pub(super) fn fail(&self, faults: u64, one_in: u64) {
        self.set(ONE_IN, one_in);
        self.set(FAULTS, faults);
    }

    /// Makes some writes fail, as the dice want it.
    pub(super) fn fail_somehow(&self, dice: &mut Dice) {
        let mut some = || EVERY[dice.roll(EVERY.len() as u64) as usize];
        let faults = some() | some();
        self.fail(faults, FREQUENCIES[dice.roll(FREQUENCIES.len() as u64) as usize]);
    }

    /// Lets everything go well again.
    pub(super) fn lift(&self) {
        self.set(FAULTS, 0);
    }

    /// Shifts the wall clock by so many seconds from the real one.
    pub(super) fn shift_clock(&self, seconds: i64) {
        self.set(CLOCK, seconds.cast_unsigned());
    }

    /// Returns the number of faults so far.
    pub(super) fn hits(&self) -> u64 {
        let mut bytes = [0; 8];
        self.control.read_exact_at(&mut bytes, HITS).unwrap();
        u64::from_ne_bytes(bytes)
    }
}
