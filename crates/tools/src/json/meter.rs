//! How much one query may do. The interpreter has no limits of its own and
//! none of its traits can say "stop", so a query has a thread to itself and
//! the meter unwinds it: silently, caught where the query was begun.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;

use super::super::own_thread::Patience;

/// What a query may spend in all, which also bounds its memory.
const WORK_MAX: usize = 64 * 1024 * 1024;
/// What one step of the interpreter costs, in bytes copied.
const STEP_COST: usize = 64;
/// Bytes of stack a query gets, and how many of them it may use.
pub(super) const STACK_BYTES: usize = 256 * 1024 * 1024;
const STACK_MAX: usize = STACK_BYTES / 8;

thread_local! {
    static WORK: Cell<usize> = const { Cell::new(0) };
    static BOTTOM: Cell<usize> = const { Cell::new(0) };
    static PATIENCE: RefCell<Option<Patience>> = const { RefCell::new(None) };
}

/// Why a query was ended.
struct Ended(&'static str);

/// Runs a query until it ends or is ended.
pub(super) fn metered<T>(patience: Patience, query: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    WORK.set(0);
    BOTTOM.set(here());
    PATIENCE.set(Some(patience));
    catch_unwind(AssertUnwindSafe(query)).unwrap_or_else(|thrown| match thrown.downcast::<Ended>() {
        Ok(ended) => Err(ended.0.to_owned()),
        Err(other) => resume_unwind(other),
    })
}

/// Counts one step; does not come back when it was one too many.
pub(super) fn step() {
    spend(STEP_COST);
    if BOTTOM.get().abs_diff(here()) > STACK_MAX {
        end("the query calls itself too deeply");
    }
    if PATIENCE.with_borrow(|patience| patience.as_ref().is_some_and(Patience::is_over)) {
        end("the query takes too long");
    }
}

/// Counts bytes made or copied.
pub(super) fn spend(cost: usize) {
    let work = WORK.get().saturating_add(cost);
    WORK.set(work);
    if work > WORK_MAX {
        end("the query does too much work");
    }
}

/// Ends the query.
pub(super) fn end(why: &'static str) -> ! {
    resume_unwind(Box::new(Ended(why)))
}

/// Where the stack is now, roughly.
fn here() -> usize {
    let mark = 0_u8;
    ptr::from_ref(&mark).addr()
}
