//! The limits on input that is compiled, expanded or validated, all in one place. Input that exceeds one is
//! refused with a message, before it costs time or memory.

/// The number of bytes of a schema, as compact JSON.
pub const SCHEMA_BYTES_MAX: usize = 64 * 1024;
/// The number of levels of a schema, as JSON.
pub const SCHEMA_DEPTH_MAX: usize = 64;
/// The number of bytes and levels that are added when a given schema is embedded in one of our own, for
/// example when an answer is wrapped in an object.
pub(crate) const SCHEMA_WRAPPING: (usize, usize) = (1024, 4);
/// The number of references of a schema when each is replaced by its target, a recursive one only once.
pub const REFERENCES_MAX: u64 = 1_000;
/// The number of subschemas that apply to the same value inside each other, with references replaced.
/// Validators recurse once for each.
pub(crate) const NESTED_MAX: u32 = 64;
/// The number of subschemas that apply to the same value, counted each time they apply.
pub(crate) const APPLIED_MAX: u64 = 10_000;
/// The same number, summed over all values that a schema distinguishes.
pub(crate) const APPLIED_TOTAL_MAX: u64 = 200_000;
/// The number of different patterns of a schema; each takes a fraction of a millisecond to compile, however
/// short it is.
pub const PATTERNS_MAX: usize = 200;
/// The number of bytes of one compiled pattern.
pub const PATTERN_BYTES_MAX: usize = 256 * 1024;
/// The number of bytes of all compiled patterns of a schema.
pub const PATTERNS_BYTES_MAX: usize = 1024 * 1024;
/// The number of bytes read while patterns are translated: every escape causes its pattern to be read once
/// more.
pub(crate) const PATTERN_READING_MAX: usize = 64 * 1024;
/// The number of steps of a validation; a step is one keyword applied to a value. A value of a megabyte
/// against an ordinary schema takes about as many.
pub const VALIDATION_STEPS_MAX: u64 = 1_000_000;
/// The number of steps up to which all violations of a value are listed: those of all alternatives are kept
/// until the list is made.
pub(crate) const LISTING_STEPS_MAX: u64 = 50_000;
/// The number of levels of recursion of a validation; a level costs at most a few hundred bytes of a stack
/// of two megabytes.
pub(crate) const VALIDATION_DEPTH_MAX: u32 = 1_000;
/// The number of violations listed at once; more would not help.
pub(crate) const VIOLATIONS_MAX: usize = 20;
/// The number of bytes of one violation, which quotes the wrong value.
pub(crate) const VIOLATION_BYTES_MAX: usize = 1_000;
/// The number of bytes of one text after its variables are replaced.
pub const TEMPLATE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// The number of bytes of all texts of a request after their variables are replaced.
pub const TEMPLATES_BYTES_MAX: usize = 16 * 1024 * 1024;
/// The number of bytes of an output that a retry or a fork puts in place of another.
pub const EDITED_OUTPUT_BYTES_MAX: usize = 4 * 1024 * 1024;
/// The number of mistakes of a request that are listed; each may list all known names.
pub const MISTAKES_MAX: usize = 100;
/// The number of directives of a run, which keeps them in memory to its end.
pub const DIRECTIVES_MAX: usize = 10_000;
/// The number of bytes of all directives of a run.
pub const DIRECTIVES_BYTES_MAX: usize = 4 * 1024 * 1024;
