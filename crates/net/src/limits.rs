//! Every limit on what a peer says. A peer is a stranger: whatever it sends, it takes a bounded amount of
//! memory and time here. What is over a limit is cut, left out, refused or read later, and never an error
//! of others. Schemas have the limits of all schemas (`consort_core::bounds`), JSON 128 levels.

use std::time::Duration;

/// The maximum size in bytes of a name, of an ensemble, a realm, a version, a capability or a tag: people
/// and models read them.
pub(crate) const NAME_MAX: usize = 128;
/// The maximum size in bytes of a request id, or of the requester's name in a request.
pub(crate) const REQUEST_NAME_MAX: usize = 512;
/// The maximum number of ensembles that a request may have passed through: more than anybody configures.
pub(crate) const ANCESTORS_MAX: usize = 64;
/// The maximum number of capabilities of one ensemble.
pub(crate) const CAPABILITIES_MAX: usize = 1000;
/// The maximum size in bytes of all capabilities of one ensemble, their schemas included: 1000 schemas of
/// the largest allowed size would be 64 MB for each link.
pub(crate) const CAPABILITIES_BYTES_MAX: usize = 2 * 1024 * 1024;
/// The maximum number of tags of one capability.
pub(crate) const TAGS_MAX: usize = 32;
/// The maximum size of a description in bytes: every model that may use it reads it.
pub(crate) const DESCRIPTION_MAX: usize = 4096;
/// The shortest and the longest lease that a peer may ask for.
pub(crate) const LEASE_MIN: Duration = Duration::from_millis(100);
pub(crate) const LEASE_MAX: Duration = Duration::from_secs(10 * 60);
/// The maximum size in bytes of one frame to a peer that does not declare a limit, and the smallest and
/// largest limits it may declare. The last one is also the largest frame that is read.
pub(crate) const FRAME_USUAL: u64 = 1024 * 1024;
pub(crate) const FRAME_MIN: u64 = 16 * 1024;
pub(crate) const FRAME_MAX: u64 = 8 * 1024 * 1024;
/// The maximum time until the other side introduces itself.
pub(crate) const HELLO_MAX: Duration = Duration::from_secs(10);
/// The maximum number of requests of one peer that are served at once; more are rejected.
pub(crate) const SERVED_MAX: usize = 1024;
/// The maximum size in bytes of a result: what a model is told of it is shorter anyway, and the whole of it
/// is stored with the run.
pub(crate) const RESULT_MAX: usize = 1024 * 1024;
/// The maximum size in bytes of the reason of a failure, and of each text of a progress report: one
/// sentence, for people.
pub(crate) const WORDS_MAX: usize = 4096;
/// The minimum time between two progress reports about one request that are passed on: every watcher of the
/// run gets them.
pub(crate) const PROGRESS_EVERY: Duration = Duration::from_millis(100);
/// The number of frames of a link that are read each second, and the number read at once after a silence;
/// the rest waits in the connection. It is more than links under load were seen to need.
pub(crate) const FRAMES_PER_SECOND: u32 = 10_000;
pub(crate) const FRAMES_AT_ONCE: u32 = 20_000;
/// The number of frames that an introduction counts for: its schemas are compiled.
pub(crate) const HELLO_WEIGHT: u32 = 1000;

/// Returns the beginning of a text, with a note of what is left out.
pub(crate) fn cut(text: String, max: usize) -> String {
    if text.len() <= max {
        return text;
    }
    let end = text.floor_char_boundary(max);
    let kept = text.get(..end).unwrap_or_default();
    format!("{kept}\n[shortened: {end} of {} bytes]", text.len())
}
