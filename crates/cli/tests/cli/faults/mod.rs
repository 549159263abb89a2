//! The real binary on a machine that fails it: `disk` writes that fail, `flips` bits that change in
//! its files, `clock` a wall clock that jumps. It may refuse, wait and report, and is never wrong.

mod clock;
mod disk;
mod flips;
mod shim;
