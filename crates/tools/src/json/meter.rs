//! Limits the work of one query. The interpreter has no limits of its own
//! and none of its traits can stop it, so a query has a thread to itself
//! and the meter unwinds it: silently, caught where the query was started.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;

use super::super::own_thread::Patience;

/// The maximum work of a query in bytes copied, which also bounds its memory.
const WORK_MAX: usize = 64 * 1024 * 1024;
/// The cost of one step of the interpreter, in bytes copied.
const STEP_COST: usize = 64;
/// The stack size of a query in bytes, and the part of it that may be used.
pub(super) const STACK_BYTES: usize = 256 * 1024 * 1024;
const STACK_MAX: usize = STACK_BYTES / 8;

thread_local! {
    static WORK: Cell<usize> = const { Cell::new(0) };
    static BOTTOM: Cell<usize> = const { Cell::new(0) };
    static PATIENCE: RefCell<Option<Patience>> = const { RefCell::new(None) };
}

/// The reason why a query was ended.
struct Ended(&'static str);

/// Runs a query until it finishes or exceeds a limit.
pub(super) fn metered<T>(patience: Patience, query: impl FnOnce() -> Result<T, String>) -> Result<T, String> {
    WORK.set(0);
    BOTTOM.set(here());
    PATIENCE.set(Some(patience));
    catch_unwind(AssertUnwindSafe(query)).unwrap_or_else(|thrown| match thrown.downcast::<Ended>() {
        Ok(ended) => Err(ended.0.to_owned()),
        Err(other) => resume_unwind(other),
    })
}

/// Counts one step; unwinds when it exceeds the limit.
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

/// Returns the approximate position of the stack.
fn here() -> usize {
    let mark = 0_u8;
    ptr::from_ref(&mark).addr()
}
