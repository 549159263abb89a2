//! The memory of large request bodies, limited for the whole server. Whoever brings one waits until there is room for
//! it, and is asked to come again when there is none for long. What is small is not counted.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::problem::{Code, Problem};

/// The size in bytes up to which a body is not counted.
pub const SMALL: usize = 16 * 1024;
/// The bytes of files, and of bodies with files, that are held at once. The files in a body take as much again.
const FILES_MAX: usize = 24 * 1024 * 1024;
/// The bytes of other bodies that are held at once, as they were sent.
const TEXTS_MAX: usize = 24 * 1024 * 1024;
/// The bytes of bodies of clients that nobody knows yet that are held at once: they are in nobody else's way.
const UNPROVEN_MAX: usize = 8 * 1024 * 1024;
/// The bytes that parsed bodies and frames take at once.
const VALUES_MAX: usize = 32 * 1024 * 1024;
/// The bytes that each value of a large body has on average, at least. Values are far larger in memory than the shortest
/// ones are as text.
const BYTES_PER_VALUE: usize = 8;
/// The time for which a body waits until there is room for it.
const PATIENCE: Duration = Duration::from_secs(20);
/// The time after which a client may try again, in milliseconds.
const RETRY_AFTER_MS: u64 = 5_000;
/// The unit that is counted in, in bytes.
const UNIT: usize = 1024;

/// The bytes that one value, one list and one object of JSON take at most, beside their texts: lists and objects have
/// room for four entries from their first one on, and for twice as many as they have later.
const VALUE_BYTES: usize = 160;
const LIST_BYTES: usize = 300;
const OBJECT_BYTES: usize = 560;

/// The memory of all large bodies.
pub struct BodyMemory {
    files: Pool,
    texts: Pool,
    unproven: Pool,
    values: Pool,
    /// The number of values that a body or a frame may have.
    values_max: usize,
}

/// A number of bytes, for those who hold them.
struct Pool {
    room: Arc<Semaphore>,
    /// The number of units that there are.
    units: usize,
}

/// Bytes that are held.
#[derive(Debug)]
pub struct Hold(OwnedSemaphorePermit);

impl Hold {
    /// Gives back what is not needed for so many bytes.
    pub fn shrink(&mut self, bytes: usize) {
        let excess = self.0.num_permits().saturating_sub(bytes.div_ceil(UNIT));
        drop(self.0.split(excess));
    }
}

/// A body, with the memory that it takes.
pub struct HeldBody {
    /// The body.
    pub body: Bytes,
    /// The memory of the body, and of the values in it.
    pub _holds: (Hold, Option<Hold>),
}

impl AsRef<[u8]> for HeldBody {
    fn as_ref(&self) -> &[u8] {
        &self.body
    }
}

impl BodyMemory {
    /// Creates the room for bodies of which none that is no file is larger than this.
    pub fn new(max_body_bytes: usize) -> BodyMemory {
        BodyMemory {
            files: Pool::new(FILES_MAX),
            texts: Pool::new(TEXTS_MAX),
            unproven: Pool::new(UNPROVEN_MAX),
            values: Pool::new(VALUES_MAX),
            values_max: max_body_bytes / BYTES_PER_VALUE,
        }
    }

    /// Waits until there is room for a file, or a body with files.
    pub async fn file(&self, bytes: usize) -> Result<Hold, Problem> {
        self.files.hold(bytes).await
    }

    /// Waits until there is room for any other body.
    pub async fn text(&self, bytes: usize) -> Result<Hold, Problem> {
        self.texts.hold(bytes).await
    }

    /// Waits until there is room for a body that must prove where it comes from.
    pub async fn unproven(&self, bytes: usize) -> Result<Hold, Problem> {
        self.unproven.hold(bytes).await
    }

    /// Waits until there is room for the values in this JSON. Nobody who holds that room waits for other room, so
    /// that bodies do not wait for each other.
    pub async fn values(&self, json: &[u8]) -> Result<Option<Hold>, Problem> {
        if json.len() <= SMALL {
            return Ok(None);
        }
        let Weight { bytes, values } = weigh(json);
        if values > self.values_max {
            let message = format!("it has more than {} values, counting those in lists and objects", self.values_max);
            return Err(Problem::new(Code::PayloadTooLarge, message));
        }
        self.values.hold(bytes).await.map(Some)
    }
}

impl Pool {
    fn new(bytes: usize) -> Pool {
        let units = bytes / UNIT;
        Pool { room: Arc::new(Semaphore::new(units)), units }
    }

    /// Waits until there is room; what is larger than all of it takes all of it.
    async fn hold(&self, bytes: usize) -> Result<Hold, Problem> {
        let units = u32::try_from(bytes.div_ceil(UNIT).min(self.units)).unwrap_or(u32::MAX);
        let waiting = timeout(PATIENCE, self.room.clone().acquire_many_owned(units)).await;
        let permit = waiting.map_err(|_elapsed| full())?.map_err(|_closed| full())?;
        Ok(Hold(permit))
    }
}

/// Returns the problem of a body that there is no room for.
pub fn full() -> Problem {
    let message = "other large requests are under way, and the time to wait for them is over: try again later";
    Problem::new(Code::Unavailable, message).retried_after(RETRY_AFTER_MS)
}

/// The memory that parsed JSON takes, about.
#[derive(Debug, PartialEq, Eq)]
struct Weight {
    bytes: usize,
    /// The number of its values.
    values: usize,
}

/// Weighs the values in this JSON.
fn weigh(json: &[u8]) -> Weight {
    let mut bytes = json.len();
    let mut values = 1;
    let mut is_text = false;
    let mut is_escaped = false;
    for byte in json {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_text,
            b'"' => is_text = !is_text,
            _ if is_text => {}
            b',' | b'[' | b'{' => {
                values += 1;
                bytes += match byte {
                    b'[' => LIST_BYTES,
                    b'{' => OBJECT_BYTES,
                    _ => VALUE_BYTES,
                };
            }
            _ => {}
        }
    }
    Weight { bytes, values }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: usize = 1024 * 1024;

    #[test]
    fn texts_weigh_what_they_are_and_many_small_values_far_more() {
        for (json, bytes, values) in [
            (&br#""[{,\"[{,""#[..], 10, 1),
            (b"[0,0]", 5 + LIST_BYTES + VALUE_BYTES, 3),
            (br#"{"a":{"b":[]}}"#, 14 + 2 * OBJECT_BYTES + LIST_BYTES, 4),
        ] {
            assert_eq!(weigh(json), Weight { bytes, values });
        }
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_finds_no_room_waits_for_it_and_is_asked_to_come_again_after_a_while() {
        let memory = BodyMemory::new(MAX);
        let first = memory.file(FILES_MAX - UNIT).await.unwrap();
        let small = memory.file(UNIT).await.unwrap();
        let problem = memory.file(1).await.unwrap_err();
        assert_eq!((problem.code(), problem.message().contains("try again")), (Code::Unavailable, true));
        assert!(memory.text(TEXTS_MAX).await.is_ok(), "other bodies have room of their own");
        let waiting = memory.file(usize::MAX);
        let freeing = async {
            tokio::task::yield_now().await;
            drop((first, small));
        };
        let (all, ()) = tokio::join!(waiting, freeing);
        assert!(all.is_ok(), "a body that is larger than the room has it alone");
        assert!(memory.file(1).await.is_err());
        all.unwrap().shrink(FILES_MAX - UNIT);
        assert!(memory.file(FILES_MAX).await.is_ok());
    }

    #[tokio::test(start_paused = true)]
    async fn small_values_are_not_counted_and_a_body_has_so_many_and_no_more() {
        let memory = BodyMemory::new(MAX);
        let dense = |values: usize| [b"[".repeat(values - 1), b" ".repeat(SMALL + 1)].concat();
        let _all = memory.values(&dense(MAX / BYTES_PER_VALUE)).await.unwrap().unwrap();
        assert!(memory.values(b"[0]").await.unwrap().is_none());
        assert_eq!(memory.values(&dense(1)).await.unwrap_err().code(), Code::Unavailable);
        let more = memory.values(&dense(MAX / BYTES_PER_VALUE + 1)).await.unwrap_err();
        assert_eq!(more.code(), Code::PayloadTooLarge);
    }
}
