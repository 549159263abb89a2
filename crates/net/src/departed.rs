//! Peers that went away: the newest ones, with the capabilities they shared last.

use std::collections::VecDeque;
use std::sync::Arc;

use consort_core::id::Millis;

use crate::wire::Hello;

/// The maximum number of peers remembered after they went away; the oldest is dropped.
const GONE_MAX: usize = 100;

/// A peer that went away.
#[derive(Clone, Debug, PartialEq)]
pub struct DepartedPeer {
    /// The name of the peer on this side.
    pub name: Arc<str>,
    /// The end of its last link.
    pub at: Millis,
    /// The peer's last description of itself.
    pub hello: Hello,
}

/// The peers that went away and are not back, the newest first.
#[derive(Debug, Default)]
pub(crate) struct Departed(VecDeque<DepartedPeer>);

impl Departed {
    /// Records that a peer went away.
    pub(crate) fn went(&mut self, name: Arc<str>, at: Millis, hello: Hello) {
        self.came(&name);
        self.0.push_front(DepartedPeer { name, at, hello });
        self.0.truncate(GONE_MAX);
    }

    /// Records that a peer is connected again.
    pub(crate) fn came(&mut self, name: &str) {
        self.0.retain(|gone| &*gone.name != name);
    }

    pub(crate) fn list(&self) -> Vec<DepartedPeer> {
        self.0.iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(departed: &Departed) -> Vec<String> {
        departed.list().iter().map(|gone| gone.name.to_string()).collect()
    }

    #[test]
    fn who_went_last_comes_first_and_who_is_back_is_not_gone() {
        let mut departed = Departed::default();
        for (at, name) in ["a", "b", "a", "c"].into_iter().enumerate() {
            departed.went(name.into(), at as Millis, Hello::default());
        }
        assert_eq!(names(&departed), ["c", "a", "b"]);
        assert_eq!(departed.list()[1].at, 2);
        departed.came("c");
        departed.came("nobody");
        assert_eq!(names(&departed), ["a", "b"]);
    }

    #[test]
    fn only_the_newest_are_remembered() {
        let mut departed = Departed::default();
        for number in 0..2 * GONE_MAX {
            departed.went(number.to_string().into(), 0, Hello::default());
        }
        let kept = names(&departed);
        assert_eq!((kept.len(), kept[0].as_str()), (GONE_MAX, "199"));
    }
}
