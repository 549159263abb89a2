//! The limits on what others hand over to be compiled, expanded or validated,
//! all in one place. Whatever passes one is refused in words, before it costs
//! time or memory.

/// Bytes of a schema, as compact JSON.
pub const SCHEMA_BYTES_MAX: usize = 64 * 1024;
/// Levels of a schema, as JSON.
pub const SCHEMA_DEPTH_MAX: usize = 64;
/// Bytes and levels that are added when a schema of others becomes part of one
/// of our own, as an answer that is wrapped in an object does.
pub(crate) const SCHEMA_WRAPPING: (usize, usize) = (1024, 4);
/// References of a schema when every one is replaced by what it points at, one
/// that leads back to itself only once.
pub const REFERENCES_MAX: u64 = 1_000;
/// Subschemas that apply to one and the same value one inside the other, with
/// references replaced. Validators recurse once for each.
pub(crate) const NESTED_MAX: u32 = 64;
/// Subschemas that apply to one and the same value, counted as often as they do.
pub(crate) const APPLIED_MAX: u64 = 10_000;
/// The same, for all values a schema tells apart together.
pub(crate) const APPLIED_TOTAL_MAX: u64 = 200_000;
/// Different patterns of a schema; each takes a fraction of a millisecond to
/// compile, however short it is.
pub const PATTERNS_MAX: usize = 200;
/// Compiled bytes of one pattern.
pub const PATTERN_BYTES_MAX: usize = 256 * 1024;
/// Compiled bytes of all patterns of a schema.
pub const PATTERNS_BYTES_MAX: usize = 1024 * 1024;
/// Bytes read while patterns are translated: every escape has its pattern read
/// once more.
pub(crate) const PATTERN_READING_MAX: usize = 64 * 1024;
/// Steps a validation may take; one is a keyword applied to a value. A value of
/// a megabyte against an ordinary schema takes about as many.
pub const VALIDATION_STEPS_MAX: u64 = 1_000_000;
/// Steps up to which everything that is wrong with a value is listed: the
/// mistakes of all alternatives are kept until the list is made.
pub(crate) const LISTING_STEPS_MAX: u64 = 50_000;
/// Levels of recursion a validation may take; a level costs at most a few
/// hundred bytes of a stack of two megabytes.
pub(crate) const VALIDATION_DEPTH_MAX: u32 = 1_000;
/// Violations listed at once; more would not help anybody.
pub(crate) const VIOLATIONS_MAX: usize = 20;
/// Bytes of one violation: it quotes the value that is wrong.
pub(crate) const VIOLATION_BYTES_MAX: usize = 1_000;
/// Bytes of one text after its variables are replaced.
pub const TEMPLATE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Bytes of all texts of a request after their variables are replaced.
pub const TEMPLATES_BYTES_MAX: usize = 16 * 1024 * 1024;
/// Mistakes of a request that are listed; each may name all that is there.
pub const MISTAKES_MAX: usize = 100;
